//! Parses arguments into options and operands, by the option spec of a program.

use super::name_lists::{has_word, words_starting};
use super::word_value::WordValue;

/// The options that a program knows, as data.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// One letter per option. `:` after the letter: the option takes a value. `::`: the option takes only an attached
    /// value.
    pub short: &'static str,
    /// Long options without their dashes, as a list of words. An option with `=` takes a value, an option with `=?`
    /// only an attached value.
    pub long: &'static str,
    /// Whether options count behind operands, too, as in GNU programs.
    pub permute: bool,
    /// Whether an unambiguous prefix of a long option stands for the option.
    pub abbreviate: bool,
    /// Whether one dash or two mean the same and options are not clustered, as in Go programs: `-chdir=x`.
    pub go: bool,
}

impl OptionSpec {
    /// No options: every word is an operand or an unknown option.
    pub const NONE: Self = Self::leading("", "");

    /// Most programs: options anywhere, long ones abbreviated.
    pub const fn gnu(short: &'static str, long: &'static str) -> Self {
        Self { short, long, permute: true, abbreviate: true, go: false }
    }

    /// Options end at the first operand, which begins another command.
    pub const fn leading(short: &'static str, long: &'static str) -> Self {
        Self { short, long, permute: false, abbreviate: true, go: false }
    }

    #[cfg(test)]
    /// Returns whether the spec has this option, by one letter or by its long name.
    pub fn has(&self, name: &str) -> bool {
        let long = words_starting(self.long, name).any(|entry| entry.trim_end_matches(['=', '?']) == name);
        long || name != ":" && name.chars().count() == 1 && self.short.contains(name)
    }
}

/// One option that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenOption {
    /// The option's full name: `f` or `force`. Its source if the spec does not know the option.
    pub name: String,
    /// The option's value, if it has one.
    pub value: Option<WordValue>,
    /// The index of the option's argument.
    pub at: usize,
    /// Whether the spec knows the option.
    pub listed: bool,
}

/// Parsed arguments.
#[derive(Clone, Debug, Default)]
pub struct ParsedArguments {
    /// The options in order.
    pub options: Vec<GivenOption>,
    /// The indices of the operands among the arguments.
    pub operands: Vec<usize>,
    /// The index of `--`.
    pub dashes: Option<usize>,
    /// Whether a word may be an option, an operand or several of them.
    pub unclear: bool,
}

impl ParsedArguments {
    /// Returns whether one of these options was given.
    pub fn has(&self, names: &str) -> bool {
        self.options.iter().any(|given| has_word(names, &given.name))
    }

    /// Returns the last given option among these.
    pub fn last(&self, names: &str) -> Option<&GivenOption> {
        self.options.iter().rev().find(|given| has_word(names, &given.name))
    }

    /// Returns the value of the last given option among these.
    pub fn value(&self, names: &str) -> Option<&WordValue> {
        self.last(names).and_then(|given| given.value.as_ref())
    }
}

/// Returns whether a word that is partly unknown may turn out to be an option.
pub fn may_be_option(word: &WordValue) -> bool {
    word.has_unknown() && (word.prefix().is_empty() || word.prefix().starts_with('-'))
}

/// Parses arguments.
pub fn parse(args: &[WordValue], spec: &OptionSpec) -> ParsedArguments {
    let mut parsed = ParsedArguments::default();
    let mut at = 0;
    while at < args.len() {
        let word = &args[at];
        let text = match word.pattern() {
            Some(text) => text.into_owned(),
            None => word.prefix().to_owned(),
        };
        if parsed.dashes.is_some() {
            parsed.operands.push(at);
        } else if text == "--" && !word.has_unknown() {
            parsed.dashes = Some(at);
        } else if let Some(long) = text.strip_prefix("--") {
            at += parsed.long(long, args, at, spec);
        } else if let Some(long) = text.strip_prefix('-').filter(|long| spec.go && !long.is_empty()) {
            at += parsed.long(long, args, at, spec);
        } else if text.len() > 1 && text.starts_with('-') {
            at += parsed.short(&text[1..], args, at, spec);
        } else {
            parsed.unclear |= text.is_empty() && word.has_unknown();
            parsed.operands.push(at);
            if !spec.permute {
                parsed.operands.extend(at + 1..args.len());
                break;
            }
        }
        at += 1;
    }
    parsed
}

impl ParsedArguments {
    /// Adds a long option. Returns the number of further words that it takes.
    fn long(&mut self, text: &str, args: &[WordValue], at: usize, spec: &OptionSpec) -> usize {
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let plain = |entry: &'static str| entry.trim_end_matches('?').trim_end_matches('=');
        let entries = || words_starting(spec.long, name);
        let entry = entries().find(|entry| plain(entry) == name).or_else(|| {
            let mut meant = entries().filter(|_| spec.abbreviate);
            let first = meant.next()?;
            // As in getopt, an ambiguous prefix stands for no option.
            meant.all(|other| plain(other) == plain(first)).then_some(first)
        });
        let listed = entry.is_some();
        let takes = entry.is_some_and(|entry| entry.ends_with('=')) && attached.is_none();
        let value = match attached {
            Some(_) => {
                let dashes = 1 + usize::from(args[at].prefix().starts_with("--"));
                Some(args[at].after(dashes + name.len() + 1))
            }
            None if takes => args.get(at + 1).cloned(),
            None => None,
        };
        let name = entry.map_or(name, plain).to_owned();
        self.options.push(GivenOption { name, value, at, listed });
        usize::from(takes)
    }

    fn short(&mut self, cluster: &str, args: &[WordValue], at: usize, spec: &OptionSpec) -> usize {
        // How often each letter was given. A program may count up to two, as `git clean -ff`. No program has options
        // that are not ASCII, so all of these count as one.
        let mut times = [0; 128];
        for (index, letter) in cluster.char_indices() {
            let times = &mut times[if letter.is_ascii() { letter as usize } else { 0 }];
            *times += 1;
            if *times > 2 {
                continue;
            }
            let place = spec.short.char_indices().find(|(_, known)| *known == letter && letter != ':');
            let behind = place.map_or("", |(place, known)| &spec.short[place + known.len_utf8()..]);
            let mut given = GivenOption { name: letter.to_string(), value: None, at, listed: place.is_some() };
            let rest = index + letter.len_utf8();
            if behind.starts_with("::") {
                if rest < cluster.len() || args[at].has_unknown() {
                    given.value = Some(args[at].after(rest + 1));
                }
                self.options.push(given);
                return 0;
            }
            if behind.starts_with(':') {
                let attached = rest < cluster.len() || args[at].has_unknown();
                given.value = if attached { Some(args[at].after(rest + 1)) } else { args.get(at + 1).cloned() };
                self.options.push(given);
                return usize::from(!attached);
            }
            self.options.push(given);
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the given options as text, and the indices of the operands.
    fn read(line: &str, spec: &OptionSpec) -> (String, Vec<usize>) {
        let args: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
        let parsed = parse(&args, spec);
        let shown = |given: &GivenOption| match given.value.as_ref().and_then(WordValue::known) {
            Some(value) => format!("{}={value}", given.name),
            None => given.name.clone(),
        };
        (parsed.options.iter().map(shown).collect::<Vec<_>>().join(" "), parsed.operands)
    }

    #[test]
    fn each_style_tells_options_from_operands() {
        let gnu = OptionSpec::gnu("fn:o::", "force name= color=? no-force");
        let leading = OptionSpec { permute: false, ..gnu };
        let go = OptionSpec { abbreviate: false, go: true, ..OptionSpec::leading("", "chdir= auto-approve") };
        for (line, spec, options, operands) in [
            ("-fn x a --forc b", &gnu, "f n=x force", vec![2, 4]),
            ("a --name=x --no", &gnu, "name=x no-force", vec![0]),
            ("--name x -oy -o y", &gnu, "name=x o=y o", vec![4]),
            ("--color always -- -f", &gnu, "color", vec![1, 3]),
            ("-f a -n x", &leading, "f", vec![1, 2, 3]),
            ("-chdir=x destroy -auto-approve", &go, "chdir=x", vec![1, 2]),
            ("-chdir x --auto-approve destroy", &go, "chdir=x auto-approve", vec![3]),
        ] {
            assert_eq!(read(line, spec), (options.to_owned(), operands), "{line}");
        }
    }
}
