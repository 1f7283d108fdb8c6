//! Wrappers from the table: `sudo -u me rm`, `docker exec box rm`, `watch 'rm …'`.

use super::inner_command::InnerCommand;
use super::stdin_scripts::from_stdin;
use super::words::{joined, split_assignment};
use crate::name_lists::{has_word, paths, words};
use crate::options::{OptionSpec, ParsedArguments, parse};
use crate::programs;
use crate::programs::wrapper::{CommandMarkMeaning, LoginShellCondition, WrappedCommandForm, WrapperSpec};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::verdict::AnalysisConfidence;
use crate::word_value::WordValue;

/// Most turns of options and assignments.
const TURNS: usize = 8;

/// Returns the commands that a wrapper runs. `None` if the command has another subcommand.
pub(super) fn exec_rest(
    command: &SimpleCommandView,
    name: &str,
    input: &CommandStdin,
    wrapper: &WrapperSpec,
) -> Option<Vec<InnerCommand>> {
    let (start, via) = subcommand(command.argv, name, wrapper)?;
    Some(WrapperReading::new(command, wrapper, start, via).read(input))
}

/// Returns the index of the first word that a wrapper runs.
pub(super) fn command_start(command: &SimpleCommandView, name: &str, wrapper: &WrapperSpec) -> Option<usize> {
    let (start, via) = subcommand(command.argv, name, wrapper)?;
    let mut reading = WrapperReading::new(command, wrapper, start, via);
    reading.leading().then_some(reading.from)
}

/// Returns the index of the first word behind the subcommand, and the name with the subcommand.
fn subcommand(argv: &[WordValue], name: &str, wrapper: &WrapperSpec) -> Option<(usize, String)> {
    if wrapper.sub.is_empty() {
        return Some((1, name.to_owned()));
    }
    let mut forms: Vec<Vec<&str>> = paths(wrapper.sub).map(|path| words(path).collect()).collect();
    // The longest form is tried first: `tool run` before `run`.
    forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
    let longest = forms.first().map_or(0, Vec::len);
    let options = &programs::of(name).options;
    let mut found: Vec<(usize, &str)> = Vec::new();
    let mut from = 1;
    while found.len() < longest {
        let Some(first) = parse(&argv[from..], options).operands.first().map(|at| from + at) else { break };
        let Some(word) = argv[first].known() else { break };
        from = first + 1;
        found.push((from, word));
    }
    for form in forms {
        if found.len() >= form.len() && found.iter().zip(&form).all(|((_, word), part)| word == part) {
            let (from, _) = found[form.len() - 1];
            return Some((from, format!("{name} {}", form.join(" "))));
        }
    }
    None
}

/// The state of reading a wrapper's words.
struct WrapperReading<'a> {
    command: &'a SimpleCommandView<'a>,
    wrapper: &'a WrapperSpec,
    via: String,
    /// The first word that has not been read.
    from: usize,
    assignments: Vec<(String, WordValue)>,
    cwd: Option<WordValue>,
    found: Vec<InnerCommand>,
    /// Whether an option in `switch` was given.
    switched: bool,
    /// Whether an option that starts a shell was given.
    login: bool,
    /// Whether the last option cannot have taken the first word of the command as its value.
    plain: bool,
}

impl<'a> WrapperReading<'a> {
    fn new(command: &'a SimpleCommandView<'a>, wrapper: &'a WrapperSpec, from: usize, via: String) -> Self {
        Self {
            command,
            wrapper,
            via,
            from,
            assignments: Vec::new(),
            cwd: None,
            found: Vec::new(),
            switched: false,
            login: wrapper.login == LoginShellCondition::Alone,
            plain: true,
        }
    }

    fn read(mut self, input: &CommandStdin) -> Vec<InnerCommand> {
        let argv = self.command.argv;
        let mut needed = true;
        if self.wrapper.dashes != CommandMarkMeaning::End
            && let Some(dashes) = argv[self.from..]
                .iter()
                .position(|word| word.known().is_some_and(|text| has_word(self.wrapper.marks, text)))
        {
            let end = self.from + dashes;
            let spec = OptionSpec { permute: true, ..self.wrapper.spec };
            if self.options(&parse(&argv[self.from..end], &spec)) {
                return Vec::new();
            }
            self.from = end + 1;
            self.plain = true;
            needed = false;
        } else if !self.leading() {
            return Vec::new();
        }
        if self.wrapper.assignments {
            self.take_assignments();
        }
        if needed && self.wrapper.dashes == CommandMarkMeaning::Need {
            return self.found;
        }
        if self.from >= argv.len() {
            if self.login && self.found.is_empty() {
                return from_stdin(input, &self.via, Vec::new(), false, self.wrapper.elsewhere);
            }
            return self.found;
        }
        self.command_words();
        self.found
    }

    /// Reads options, operands and assignments before the command. Returns false if the wrapper runs nothing.
    fn leading(&mut self) -> bool {
        let argv = self.command.argv;
        let mut operands = self.wrapper.operands;
        for _ in 0..TURNS {
            let parsed = parse(&argv[self.from..], &self.wrapper.spec);
            if self.options(&parsed) {
                return false;
            }
            let Some(first) = parsed.operands.first() else {
                self.from = argv.len();
                return true;
            };
            let ended = parsed.dashes.is_some_and(|dashes| dashes < *first);
            self.from += first;
            // `env - cmd`, `su -`
            if argv[self.from].known() == Some("-") && self.wrapper.assignments {
                self.from += 1;
            }
            let before = self.from;
            if self.wrapper.assignments {
                self.take_assignments();
            }
            let taken = operands.min(argv.len() - self.from);
            self.from += taken;
            operands -= taken;
            self.script_option();
            let more = argv.get(self.from).is_some_and(|word| word.prefix().starts_with('-'));
            if !self.wrapper.again || ended || !more || self.from == before {
                return true;
            }
        }
        true
    }

    /// Reads a script option behind the operands: `flock FILE -c 'script'`.
    fn script_option(&mut self) {
        let argv = self.command.argv;
        if self.wrapper.operands == 0 || self.wrapper.script.is_empty() || self.wrapper.again {
            return;
        }
        let rest = argv.get(self.from..).unwrap_or_default();
        if rest.first().is_some_and(|word| word.prefix().starts_with('-')) {
            let parsed = parse(rest, &self.wrapper.spec);
            if parsed.has(self.wrapper.script) {
                self.options(&parsed);
                self.from = argv.len();
            }
        }
    }

    /// Notes the meaning of options. Returns true if the wrapper runs nothing.
    fn options(&mut self, parsed: &ParsedArguments) -> bool {
        let wrapper = self.wrapper;
        for given in &parsed.options {
            let name = given.name.as_str();
            if has_word(wrapper.stop, name) {
                return true;
            }
            self.switched |= has_word(wrapper.switch, name);
            self.login |= matches!(wrapper.login, LoginShellCondition::With(names) if has_word(names, name));
            if has_word(wrapper.chdir, name) {
                self.cwd.clone_from(&given.value);
            }
            if has_word(wrapper.script, name)
                && let Some(text) = &given.value
            {
                self.script(text.clone(), &format!("{} {}", self.via, dashed(name)), AnalysisConfidence::Exact);
            }
        }
        // An unknown option right before the command may take the first word of the command as its value.
        self.plain = parsed.options.last().is_none_or(|given| {
            let attached = given.value.is_some();
            given.listed || attached || parsed.operands.first().is_none_or(|first| *first != given.at + 1)
        });
        false
    }

    fn take_assignments(&mut self) {
        while let Some(assignment) = self.command.argv.get(self.from).and_then(split_assignment) {
            self.assignments.push(assignment);
            self.from += 1;
        }
    }

    /// Reads the command itself.
    fn command_words(&mut self) {
        let argv = self.command.argv;
        let words = &argv[self.from..];
        let form = match (self.wrapper.form, self.switched) {
            (WrappedCommandForm::Rest, true) => WrappedCommandForm::Joined,
            (WrappedCommandForm::Joined, true) => WrappedCommandForm::Rest,
            (WrappedCommandForm::Rest, false) if self.wrapper.line && words.len() == 1 => WrappedCommandForm::Joined,
            (form, _) => form,
        };
        // These are options for the program that the image starts.
        if self.wrapper.elsewhere && words.first().is_some_and(|word| word.prefix().starts_with('-')) {
            return;
        }
        match form {
            WrappedCommandForm::Rest => {
                self.command(self.from, AnalysisConfidence::Exact);
                let program = |word: &WordValue| word.base_name().is_some_and(|name| programs::of(name).is_known());
                if !self.plain && words.len() > 1 && !program(&words[0]) {
                    self.command(self.from + 1, AnalysisConfidence::Partial);
                }
                // `sudo -s 'a b'`: sudo escapes the blanks with backslashes, but people mean a script.
                if self.login
                    && words.len() == 1
                    && words[0].known().is_some_and(|text| text.contains(char::is_whitespace))
                {
                    self.script(words[0].clone(), &self.via.clone(), AnalysisConfidence::Partial);
                }
            }
            WrappedCommandForm::Joined => self.script(joined(words), &self.via.clone(), AnalysisConfidence::Exact),
            WrappedCommandForm::Each => {
                let parsed = parse(words, &self.wrapper.spec);
                self.options(&parsed);
                for at in parsed.operands {
                    self.script(words[at].clone(), &self.via.clone(), AnalysisConfidence::Exact);
                }
            }
        }
    }

    fn command(&mut self, start: usize, sure: AnalysisConfidence) {
        let mut inner = InnerCommand::words(start, self.command.argv.len(), self.via.as_str());
        if let InnerCommand::Words { assignments, cwd, confidence, prefix, elsewhere, .. } = &mut inner {
            assignments.clone_from(&self.assignments);
            cwd.clone_from(&self.cwd);
            *confidence = sure;
            *prefix = self.wrapper.prefix;
            *elsewhere = self.wrapper.elsewhere;
        }
        self.found.push(inner);
    }

    fn script(&mut self, text: WordValue, via: &str, sure: AnalysisConfidence) {
        let Some(mut inner) = InnerCommand::script(text, via) else { return };
        if let InnerCommand::Script { elsewhere, confidence, .. } = &mut inner {
            *elsewhere = self.wrapper.elsewhere;
            *confidence = sure;
        }
        self.found.push(inner);
    }
}

/// Returns an option as it is written.
fn dashed(name: &str) -> String {
    if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }
}
