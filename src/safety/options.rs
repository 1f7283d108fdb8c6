//! Arguments to options and operands, by a program's option spec.

use super::value::Value;

/// The options that a program knows, as data.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// One letter an option; `:` after it: with a value, `::` with a value only if attached.
    pub short: &'static str,
    /// Long options without their dashes; `=` after it: with a value, `=?` with a value only if attached.
    pub long: &'static [&'static str],
    /// Options count behind operands too, as GNU programs have it.
    pub permute: bool,
    /// An unambiguous beginning of a long option is that option.
    pub abbreviate: bool,
}

impl Spec {
    /// Most programs: options anywhere, long ones abbreviated.
    pub const fn gnu(short: &'static str, long: &'static [&'static str]) -> Self {
        Self { short, long, permute: true, abbreviate: true }
    }

    /// Options end at the first operand: what follows is another command.
    pub const fn leading(short: &'static str, long: &'static [&'static str]) -> Self {
        Self { short, long, permute: false, abbreviate: true }
    }
}

/// One option that was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// `f` or `force`, in full; as written where the spec does not know it.
    pub name: String,
    /// Its value.
    pub value: Option<Value>,
    /// Which argument it stands in.
    pub at: usize,
    /// Whether the spec knows it.
    pub listed: bool,
}

/// Arguments, told apart.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// In the order given.
    pub options: Vec<Given>,
    /// Where the operands stand among the arguments.
    pub operands: Vec<usize>,
    /// Where `--` stands.
    pub dashes: Option<usize>,
    /// A word that may be an option, an operand or several of them.
    pub unclear: bool,
}

impl Parsed {
    /// Whether one of these options was given.
    pub fn has(&self, names: &[&str]) -> bool {
        self.options.iter().any(|given| names.contains(&given.name.as_str()))
    }

    /// The last one of these options.
    pub fn last(&self, names: &[&str]) -> Option<&Given> {
        self.options.iter().rev().find(|given| names.contains(&given.name.as_str()))
    }

    /// The value of the last one of these options.
    pub fn value(&self, names: &[&str]) -> Option<&Value> {
        self.last(names).and_then(|given| given.value.as_ref())
    }
}

/// Tells options from operands.
pub fn parse(args: &[Value], spec: &Spec) -> Parsed {
    let mut parsed = Parsed::default();
    let mut at = 0;
    while at < args.len() {
        let word = &args[at];
        let text = match word.pattern() {
            Some(text) => text.into_owned(),
            None => word.prefix().to_owned(),
        };
        if parsed.dashes.is_some() {
            parsed.operands.push(at);
        } else if text == "--" && !word.has_hole() {
            parsed.dashes = Some(at);
        } else if let Some(long) = text.strip_prefix("--") {
            at += parsed.long(long, args, at, spec);
        } else if text.len() > 1 && text.starts_with('-') {
            at += parsed.short(&text[1..], args, at, spec);
        } else {
            parsed.unclear |= text.is_empty() && word.has_hole();
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

impl Parsed {
    /// Returns how many further words it took.
    fn long(&mut self, text: &str, args: &[Value], at: usize, spec: &Spec) -> usize {
        let (name, attached) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let plain = |entry: &'static str| entry.trim_end_matches('?').trim_end_matches('=');
        let exact = spec.long.iter().copied().find(|entry| plain(entry) == name);
        let entry = exact.or_else(|| {
            let mut meant = spec.long.iter().copied().filter(|entry| spec.abbreviate && plain(entry).starts_with(name));
            let first = meant.next()?;
            // As getopt: one that is the beginning of several options is none of them.
            meant.all(|other| plain(other) == plain(first)).then_some(first)
        });
        let listed = entry.is_some();
        let takes = entry.is_some_and(|entry| entry.ends_with('=')) && attached.is_none();
        let value = match attached {
            Some(_) => Some(args[at].after(name.len() + 3)),
            None if takes => args.get(at + 1).cloned(),
            None => None,
        };
        let name = entry.map_or(name, plain).to_owned();
        self.options.push(Given { name, value, at, listed });
        usize::from(takes)
    }

    fn short(&mut self, cluster: &str, args: &[Value], at: usize, spec: &Spec) -> usize {
        for (index, letter) in cluster.char_indices() {
            let place = spec.short.char_indices().find(|(_, known)| *known == letter && letter != ':');
            let behind = place.map_or("", |(place, known)| &spec.short[place + known.len_utf8()..]);
            let mut given = Given { name: letter.to_string(), value: None, at, listed: place.is_some() };
            let rest = index + letter.len_utf8();
            if behind.starts_with("::") {
                if rest < cluster.len() || args[at].has_hole() {
                    given.value = Some(args[at].after(rest + 1));
                }
                self.options.push(given);
                return 0;
            }
            if behind.starts_with(':') {
                let attached = rest < cluster.len() || args[at].has_hole();
                given.value = if attached { Some(args[at].after(rest + 1)) } else { args.get(at + 1).cloned() };
                self.options.push(given);
                return usize::from(!attached);
            }
            self.options.push(given);
        }
        0
    }
}
