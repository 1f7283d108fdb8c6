//! Secrets in the words of one command.

use std::ops::Range;

use crate::program_secrets::{
    self, OptionValuePlace, ProgramSecretForms, SecretForm, SecretOperand, SecretOption, SecretPart,
};
use crate::secret_names::{behind_user, holds_secret, is_header, is_header_value, is_random};
use crate::secret_spans::SecretSpans;
use crate::step_count;
use crate::unquoted_word::UnquotedWord;

/// Programs whose `--secret` is followed by a name.
const NAME_SECRETS: &[&str] = &["buildah", "docker", "podman", "pulumi"];

/// Words of one command that are taken for programs, at most. Each reads all words behind it.
const MAX_PROGRAMS: usize = 8;

/// The words of a command, without their quotes.
pub struct UnquotedCommand<'t> {
    /// The words.
    pub words: Vec<UnquotedWord<'t>>,
    /// The places of the programs: the first word, and behind a program that runs others every word that could be one.
    programs: Vec<usize>,
}

impl<'t> UnquotedCommand<'t> {
    /// Takes the quotes off these words of a script.
    pub fn unquote(script: &'t str, spans: impl Iterator<Item = Range<usize>>) -> Self {
        let words: Vec<_> = spans.map(|span| UnquotedWord::unquote(script, span)).collect();
        let programs = places_of_programs(&words);
        Self { words, programs }
    }

    /// Returns the name of the program, without its directory.
    pub fn program_name(&self) -> Option<&str> {
        self.programs.first().map(|at| basename(&self.words[*at].text))
    }

    /// Finds the secrets among the words.
    pub fn find_secrets(&self, spans: &mut SecretSpans) {
        let scripts = self.script_words();
        for (at, word) in self.words.iter().enumerate() {
            if !scripts.contains(&at) {
                find_pair_secret(word, spans);
            }
            self.find_flag_secret(at, spans);
        }
        for at in &self.programs {
            for row in program_secrets::rows_of(self.basename_at(*at)) {
                self.find_row_secrets(row, at + 1, spans);
            }
        }
    }

    /// Returns the places of the words that are scripts.
    pub fn script_words(&self) -> Vec<usize> {
        let mut scripts = Vec::new();
        for program in &self.programs {
            for form in program_secrets::forms_of(self.basename_at(*program)) {
                match form {
                    SecretForm::Script(option) => scripts.extend(self.behind_option(*program, option)),
                    SecretForm::Scripts => {
                        let has_blank = |at: &usize| self.words[*at].text.contains(char::is_whitespace);
                        scripts.extend((program + 1..self.words.len()).filter(has_blank));
                    }
                    _ => {}
                }
            }
        }
        scripts.sort_unstable();
        scripts.dedup();
        scripts
    }

    /// Returns what the command does with its standard input.
    pub fn stdin_meaning(&self) -> StdinMeaning {
        let has = |wanted: &Option<&str>| wanted.is_none_or(|wanted| self.words.iter().any(|word| word.text == wanted));
        let forms = || self.programs.iter().flat_map(|at| program_secrets::forms_of(self.basename_at(*at)));
        let secret = forms().find_map(|form| match form {
            SecretForm::Sink(word, part) if has(word) => Some(*part),
            _ => None,
        });
        if let Some(part) = secret {
            return StdinMeaning::Secret(part);
        }
        // `read -r PASSWORD <<< X`
        let reads_secret =
            self.program_name() == Some("read") && self.words.iter().any(|word| holds_secret(&word.text, "x1"));
        if reads_secret {
            return StdinMeaning::Secret(SecretPart::Last);
        }
        let find = |wanted: fn(&SecretForm) -> bool| {
            self.programs.iter().find(|at| program_secrets::forms_of(self.basename_at(**at)).any(wanted))
        };
        if find(|form| matches!(form, SecretForm::ReadsScript)).is_some() {
            StdinMeaning::Script
        } else {
            find(|form| matches!(form, SecretForm::ReadsLines))
                .map_or(StdinMeaning::Other, |at| StdinMeaning::Lines(*at))
        }
    }

    /// Returns the name of the word at a place, without its directory.
    pub fn basename_at(&self, at: usize) -> &str {
        basename(&self.words[at].text)
    }

    /// Returns the place of the word behind a short option, alone or at the end of a group: `-lc`.
    fn behind_option(&self, program: usize, option: &str) -> Option<usize> {
        let letter = option.trim_start_matches('-');
        let is_option = |word: &UnquotedWord<'_>| {
            word.text == option || is_group(&word.text, letter) && !word.text.starts_with("--")
        };
        let found = self.words[program + 1..].iter().position(is_option)?;
        Some(program + found + 2).filter(|at| *at < self.words.len())
    }

    /// Finds the secret of `--name=value`, `--name value` and `/name:value`.
    fn find_flag_secret(&self, at: usize, spans: &mut SecretSpans) {
        let word = &self.words[at];
        let text = &*word.text;
        if let Some((name, value)) = text.strip_prefix('/').and_then(|option| option.split_once(':')) {
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if is_name && is_random(value) && holds_secret(name, value) {
                spans.add_secret(word, text.len() - value.len()..text.len());
            }
            return;
        }
        let name = text.trim_start_matches('-');
        let lead = text.len() - name.len();
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        if lead == 0 || text.len() < 4 || !is_name(name.split('=').next().unwrap_or_default()) {
            return;
        }
        if let Some(sign) = name.find('=') {
            let value = lead + sign + 1..text.len();
            if holds_secret(&name[..sign], &text[value.clone()]) {
                spans.add_secret(word, value.start + behind_kind(&name[..sign], &text[value.clone()])..value.end);
            }
            return;
        }
        let Some(next) = self.words.get(at + 1) else { return };
        // `docker build --secret id=x` names a secret that is elsewhere.
        let is_named = name == "secret" && (next.text.contains('=') || NAME_SECRETS.contains(&self.basename_at(0)));
        if !next.text.starts_with('-') && !is_named && holds_secret(name, &next.text) {
            spans.add_secret(next, behind_kind(name, &next.text)..next.text.len());
        }
    }

    /// Finds the secrets in the options and operands of a program whose arguments begin here.
    fn find_row_secrets(&self, row: &ProgramSecretForms, from: usize, spans: &mut SecretSpans) {
        let arguments = &self.words[from..];
        step_count::add(arguments.len() * (1 + row.forms.len()));
        if !row.applies_to(arguments.iter().map(|word| &word.text)) {
            return;
        }
        for form in &row.forms {
            match form {
                SecretForm::Flag(flag) => {
                    for (at, word) in arguments.iter().enumerate() {
                        find_option_secret(flag, word, arguments.get(at + 1), spans);
                    }
                }
                SecretForm::Operand(operand) => find_operand_secrets(operand, arguments, spans),
                SecretForm::Named(option) => find_named_secrets(*option, arguments, spans),
                _ => {}
            }
        }
    }
}

/// What a command does with its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdinMeaning {
    /// It is a secret, or has one in each line.
    Secret(SecretPart),
    /// It is a script.
    Script,
    /// Its lines are read like arguments of the program at this place.
    Lines(usize),
    /// Something else.
    Other,
}

fn places_of_programs(words: &[UnquotedWord<'_>]) -> Vec<usize> {
    let Some(first) = words.iter().position(|word| !is_before_program(&word.text)) else { return Vec::new() };
    let mut behind = None;
    for form in program_secrets::forms_of(basename(&words[first].text)) {
        let SecretForm::Command(option) = form else { continue };
        let from = option.map_or(Some(first), |option| words.iter().position(|word| word.text.starts_with(option)));
        behind = behind.or(from);
    }
    let is_known = |at: &usize| !program_secrets::rows_of(basename(&words[*at].text)).is_empty();
    let others = behind.into_iter().flat_map(|from| from + 1..words.len()).filter(is_known);
    std::iter::once(first).chain(others).take(MAX_PROGRAMS).collect()
}

/// Finds the secret of `NAME=value` and `Header: value` as a whole word.
fn find_pair_secret(word: &UnquotedWord<'_>, spans: &mut SecretSpans) {
    let text = &*word.text;
    let Some(sign) = text.find(['=', ':']) else { return };
    let name = text[..sign].trim_end_matches('+');
    let is_name = |next: char| next.is_ascii_alphanumeric() || "_-.[]".contains(next);
    if name.is_empty() || !name.chars().all(is_name) || name.starts_with('-') {
        return;
    }
    let value = &text[sign + 1..];
    if text.as_bytes()[sign] == b':' {
        if word.is_argument() && is_header(name) && is_header_value(name, value.trim_start()) {
            spans.add_secret(word, behind_scheme(text, sign + 1)..text.len());
        }
        return;
    }
    // A quoted value belongs to a program in another language: `a.token = 'X'; b()`. `name==1.2` is a version.
    if value.starts_with(['"', '\'', '=']) {
        return;
    }
    // `def login(user, password=None, …)`
    let value = value[..value_length(value)].trim_end_matches(',');
    if holds_secret(name, value) {
        spans.add_secret(word, sign + 1 + behind_kind(name, value)..sign + 1 + value.len());
    }
}

/// Returns the start of a credential: behind blanks, and behind the scheme before it.
fn behind_scheme(text: &str, from: usize) -> usize {
    let value = text[from..].trim_start();
    let start = text.len() - value.len();
    match value.split_once(' ') {
        Some((scheme, rest)) if !rest.trim().is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            start + scheme.len() + 1
        }
        _ => start,
    }
}

/// Returns the length of a value in a word: up to the next pair, if one follows.
fn value_length(value: &str) -> usize {
    let mut from = 0;
    while let Some(at) = value[from..].find([' ', ';', '&', ',']) {
        let rest = &value[from + at + 1..];
        let name = rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte)).count();
        if name > 0 && rest.as_bytes().get(name) == Some(&b'=') {
            return from + at;
        }
        from += at + 1 + name;
    }
    value.len()
}

/// Finds the secret of an option of a program.
fn find_option_secret(
    flag: &SecretOption,
    word: &UnquotedWord<'_>,
    next: Option<&UnquotedWord<'_>>,
    spans: &mut SecretSpans,
) {
    let text = &*word.text;
    let in_next = next.filter(|next| !next.text.starts_with('-')).map(|next| (next, 0));
    let found = match (flag.place, text.strip_prefix(flag.name)) {
        (OptionValuePlace::Grouped, _) => in_next.filter(|_| is_group(text, flag.name)),
        (_, None | Some("")) if flag.place == OptionValuePlace::Joined || text != flag.name => None,
        (_, Some("")) => in_next,
        // `--user=me:X`, and `-p=X` of programs that allow it.
        (_, Some(rest)) if rest.starts_with('=') => Some((word, flag.name.len() + 1)),
        (OptionValuePlace::Joined, Some(rest)) if !is_port_mapping(rest) => Some((word, flag.name.len())),
        _ => None,
    };
    let Some((holder, from)) = found else { return };
    if let Some(secret) = program_secrets::secret_in(flag.part, &holder.text[from..]) {
        spans.add_secret(holder, from + secret.start..from + secret.end);
    }
}

/// Returns whether a word is a group of short options that ends with this letter: `-su`.
fn is_group(word: &str, letter: &str) -> bool {
    let rest = word.strip_prefix('-').and_then(|group| group.strip_suffix(letter));
    rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Returns whether a value joined to `-p` is that of `docker run -p80:80`.
fn is_port_mapping(value: &str) -> bool {
    value.contains(':') && value.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte))
}

/// Finds the secrets behind words that name them.
fn find_named_secrets(option: Option<&str>, arguments: &[UnquotedWord<'_>], spans: &mut SecretSpans) {
    for (at, pair) in arguments.windows(2).enumerate() {
        let is_behind = option.is_none_or(|option| at > 0 && arguments[at - 1].text == option);
        if is_behind && program_secrets::names_next(&pair[0].text, &pair[1].text) && !pair[1].text.starts_with('-') {
            spans.add_secret(&pair[1], 0..pair[1].text.len());
        }
    }
}

/// Finds the operands of a program behind certain words.
fn find_operand_secrets(operand: &SecretOperand, arguments: &[UnquotedWord<'_>], spans: &mut SecretSpans) {
    for (at, secret) in secret_operands(operand, arguments.iter().map(|word| &*word.text)) {
        spans.add_secret(&arguments[at], secret);
    }
}

/// Returns the operands that are secrets: the places of their words, and the secrets in them.
fn secret_operands<'w>(operand: &SecretOperand, words: impl Iterator<Item = &'w str>) -> Vec<(usize, Range<usize>)> {
    let mut behind = operand.behind.iter().peekable();
    let mut found = Vec::new();
    for (at, text) in words.enumerate() {
        if let Some(wanted) = behind.peek() {
            let rest = text.split_at_checked(wanted.len()).filter(|(lead, _)| lead.eq_ignore_ascii_case(wanted));
            if rest.is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('.')) {
                behind.next();
            }
        } else if !text.starts_with('-') && !text.is_empty() {
            found.push((at, text));
        }
    }
    let skip = if operand.lenient { operand.skip.min(found.len().saturating_sub(1)) } else { operand.skip };
    let most = if operand.all { usize::MAX } else { 1 };
    let secrets = found.into_iter().skip(skip).take(most);
    secrets.filter_map(|(at, text)| Some((at, program_secrets::secret_in(operand.part, text)?))).collect()
}

/// Finds the secrets in the lines that a program reads, each of them like its arguments.
pub fn find_line_secrets(program: &str, text: &UnquotedWord<'_>, spans: &mut SecretSpans) {
    for line in text.text.split('\n') {
        // `printf 'USER a\\r\\nPASS X\\r\\n'`
        for part in line.split("\\n") {
            let words: Vec<&str> = part.split_ascii_whitespace().collect();
            for form in program_secrets::forms_of(program) {
                let SecretForm::Operand(operand) = form else { continue };
                for (at, secret) in secret_operands(operand, words.iter().copied()) {
                    let word = words[at].as_ptr() as usize - text.text.as_ptr() as usize;
                    let end = words[at].strip_suffix("\\r").unwrap_or(words[at]).len().min(secret.end);
                    spans.add_secret(text, word + secret.start..word + end);
                }
            }
        }
    }
}

/// Returns the start of a secret in the value of a name: behind what says where it is (`pass:X`, `env:NAME`,
/// `file:PATH`), and behind the user of `--creds user:X`.
fn behind_kind(name: &str, value: &str) -> usize {
    match value.split_once(':') {
        Some(("pass", _)) => 5,
        Some(("password", _)) => 9,
        Some(("env" | "file" | "fd", _)) => value.len(),
        _ => behind_user(name, value),
    }
}

/// Returns the name of a program without its directory.
fn basename(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Returns whether a word stands before a program: an assignment, or a part of the times of a crontab.
fn is_before_program(word: &str) -> bool {
    let is_time = word.bytes().all(|byte| byte.is_ascii_digit() || b"*/,-".contains(&byte));
    is_time
        || word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        })
}
