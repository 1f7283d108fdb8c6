//! Secrets in the words of one command.

use std::ops::Range;

use crate::decoded::Decoded;
use crate::names::{holds_secret, is_header};
use crate::programs::{self, Flag, Operand, Program};
use crate::spans::Spans;

/// Programs that run another program, which is among their words.
const WRAPPERS: &[&str] = &[
    "adb",
    "asdf",
    "aws-vault",
    "builtin",
    "bwrap",
    "caffeinate",
    "chroot",
    "chronic",
    "command",
    "compose",
    "direnv",
    "doas",
    "docker",
    "docker-compose",
    "doppler",
    "dotenv",
    "entr",
    "env",
    "exec",
    "find",
    "firejail",
    "flock",
    "fly",
    "gcloud",
    "heroku",
    "incus",
    "ionice",
    "kubectl",
    "lxc",
    "mise",
    "multipass",
    "nice",
    "nix",
    "nix-shell",
    "nohup",
    "npx",
    "nsenter",
    "oc",
    "op",
    "parallel",
    "pipenv",
    "pipx",
    "pnpm",
    "podman",
    "poetry",
    "proxychains",
    "runuser",
    "setpriv",
    "setsid",
    "ssh",
    "sshpass",
    "stdbuf",
    "strace",
    "su",
    "sudo",
    "systemd-run",
    "time",
    "timeout",
    "torsocks",
    "tsocks",
    "unshare",
    "uvx",
    "vagrant",
    "watch",
    "winpty",
    "wsl",
    "xargs",
];

/// Shells, whose `-c` is followed by a script.
const SHELLS: &[&str] =
    &["ash", "bash", "dash", "fish", "ksh", "mksh", "rbash", "sh", "su", "runuser", "zsh", "script", "flock"];

/// Programs whose words of several words are scripts.
const RUNNERS: &[&str] = &[
    "adb",
    "alias",
    "at",
    "concurrently",
    "entr",
    "eval",
    "multipass",
    "nix-shell",
    "nodemon",
    "parallel",
    "screen",
    "ssh",
    "tmux",
    "trap",
    "vagrant",
    "watch",
    "wsl",
];

/// Programs whose `--secret` is followed by a name.
const NAME_SECRETS: &[&str] = &["buildah", "docker", "podman", "pulumi"];

/// Words of one command that are taken for programs, at most. Each reads all words behind it.
const MAX_PROGRAMS: usize = 8;

/// The words of a command, without their quotes.
pub struct Words<'t>(pub Vec<Decoded<'t>>);

impl<'t> Words<'t> {
    /// Takes the quotes off these words of a script.
    pub fn of(script: &'t str, spans: impl Iterator<Item = Range<usize>>) -> Self {
        Self(spans.map(|span| Decoded::of(script, span)).collect())
    }

    /// Finds the secrets among the words.
    pub fn scan(&self, spans: &mut Spans) {
        for (at, word) in self.0.iter().enumerate() {
            pair(word, spans);
            self.flag(at, spans);
        }
        for at in self.programs() {
            for program in programs::find(basename(&self.0[at].text)) {
                self.program(program, at + 1, spans);
            }
        }
    }

    /// The places of the programs: the first word, and behind a wrapper every word that could be one.
    fn programs(&self) -> Vec<usize> {
        let first = self.0.iter().position(|word| !is_assignment(&word.text));
        let Some(first) = first else { return Vec::new() };
        let wraps = WRAPPERS.contains(&basename(&self.0[first].text));
        let is_known = |at: &usize| {
            let name = basename(&self.0[*at].text);
            wraps && (!programs::find(name).is_empty() || SHELLS.contains(&name) || RUNNERS.contains(&name))
        };
        std::iter::once(first).chain((first + 1..self.0.len()).filter(is_known)).take(MAX_PROGRAMS).collect()
    }

    /// The words that are scripts.
    pub fn scripts(&self) -> Vec<&Decoded<'t>> {
        let is_shell = |word: &Decoded<'_>| SHELLS.contains(&basename(&word.text));
        let has = |names: &[&str]| {
            let programs = self.programs();
            programs.iter().any(|at| names.contains(&basename(&self.0[*at].text)))
        };
        let mut scripts = Vec::new();
        if let Some(shell) = self.0.iter().position(is_shell) {
            let is_switch = |word: &str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
            let switch = self.0[shell..].iter().position(|word| is_switch(&word.text));
            scripts.extend(switch.and_then(|at| self.0.get(shell + at + 1)));
        }
        if has(RUNNERS) {
            scripts.extend(self.0.iter().skip(1).filter(|word| word.text.contains(char::is_whitespace)));
        }
        scripts
    }

    /// Whether the command reads a script, or a secret, from its standard input.
    pub fn reads(&self) -> Reads {
        let places = self.programs();
        let names = || places.iter().map(|at| basename(&self.0[*at].text));
        let has = |wanted: &str| self.0.iter().any(|word| word.text == wanted);
        let is_sink = |program: &&Program| program.sinks.iter().any(|sink| has(sink));
        if names().flat_map(programs::find).any(is_sink) {
            Reads::Secret
        } else if names().any(|name| SHELLS.contains(&name) || name == "ssh") {
            Reads::Script
        } else {
            Reads::Other
        }
    }

    /// `--name=value`, `--name value`.
    fn flag(&self, at: usize, spans: &mut Spans) {
        let word = &self.0[at];
        let text = &*word.text;
        let name = text.trim_start_matches('-');
        let lead = text.len() - name.len();
        let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
        if lead == 0 || text.len() < 4 || !is_name(name.split('=').next().unwrap_or_default()) {
            return;
        }
        if let Some(sign) = name.find('=') {
            let value = lead + sign + 1..text.len();
            if holds_secret(&name[..sign], &text[value.clone()]) {
                add(word, value, spans);
            }
            return;
        }
        let Some(next) = self.0.get(at + 1) else { return };
        // `docker build --secret id=x` names a secret that is elsewhere.
        let program = basename(&self.0[0].text);
        let is_named = name == "secret" && (next.text.contains('=') || NAME_SECRETS.contains(&program));
        if !next.text.starts_with('-') && !is_named && holds_secret(name, &next.text) {
            add(next, behind_kind(&next.text)..next.text.len(), spans);
        }
    }

    /// The options and operands of a program whose arguments begin here.
    fn program(&self, program: &Program, from: usize, spans: &mut Spans) {
        let arguments = &self.0[from..];
        if !program.when.is_empty() && !arguments.iter().any(|word| program.when.contains(&&*word.text)) {
            return;
        }
        for (at, word) in arguments.iter().enumerate() {
            for flag in program.flags {
                option(flag, word, arguments.get(at + 1), spans);
            }
            if program.named
                && programs::names_next(&word.text)
                && let Some(next) = arguments.get(at + 1)
            {
                add(next, 0..next.text.len(), spans);
            }
        }
        for operand in program.operands {
            operands(operand, arguments, spans);
        }
    }
}

/// What a command does with its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// It is a secret.
    Secret,
    /// It is a script.
    Script,
    /// Something else.
    Other,
}

/// `NAME=value` and `Header: value` as a whole word.
fn pair(word: &Decoded<'_>, spans: &mut Spans) {
    let text = &*word.text;
    let Some(sign) = text.find(['=', ':']) else { return };
    let name = text[..sign].trim_end_matches('+');
    let is_name = |next: char| next.is_ascii_alphanumeric() || "_-.[]".contains(next);
    if name.is_empty() || !name.chars().all(is_name) || name.starts_with('-') {
        return;
    }
    let value = &text[sign + 1..];
    if text.as_bytes()[sign] == b':' {
        if word.is_argument() && is_header(name) {
            add(word, behind_scheme(text, sign + 1)..text.len(), spans);
        }
        return;
    }
    if holds_secret(name, value) {
        add(word, sign + 1..sign + 1 + length_of(value), spans);
    }
}

/// The start of a credential: behind blanks, and behind the scheme before it.
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

/// The length of a value in a word: up to the next pair, if one follows.
fn length_of(value: &str) -> usize {
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

/// An option of a program.
fn option(flag: &Flag, word: &Decoded<'_>, next: Option<&Decoded<'_>>, spans: &mut Spans) {
    let text = &*word.text;
    let Some(rest) = text.strip_prefix(flag.name) else { return };
    let (holder, from) = match rest.as_bytes().first() {
        None if flag.separate => match next {
            Some(next) if !next.text.starts_with('-') => (next, 0),
            _ => return,
        },
        None => return,
        Some(b'=') if flag.name.len() > 2 => (word, flag.name.len() + 1),
        Some(_) if flag.joined && !flag.name.starts_with("--") => (word, flag.name.len()),
        Some(_) => return,
    };
    let value = &holder.text[from..];
    if let Some(secret) = programs::secret_in(flag.part, value) {
        add(holder, from + secret.start..from + secret.end, spans);
    }
}

/// The operands of a program behind certain words.
fn operands(operand: &Operand, arguments: &[Decoded<'_>], spans: &mut Spans) {
    let mut behind = operand.behind.iter().peekable();
    let mut skip = operand.skip;
    for word in arguments {
        let text = &*word.text;
        if let Some(wanted) = behind.peek() {
            let rest = text.strip_prefix(**wanted);
            if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) {
                behind.next();
            }
            continue;
        }
        if text.starts_with('-') || text.is_empty() {
            continue;
        }
        if skip > 0 {
            skip -= 1;
            continue;
        }
        if let Some(secret) = programs::secret_in(operand.part, text) {
            add(word, secret, spans);
        }
        if !operand.all {
            return;
        }
    }
}

/// The start of a secret in a value that may say where it is: `pass:X`, `env:NAME`, `file:PATH`.
fn behind_kind(value: &str) -> usize {
    match value.split_once(':') {
        Some(("pass", _)) => 5,
        Some(("env" | "file" | "fd", _)) => value.len(),
        _ => 0,
    }
}

/// Adds a part of a word, unless it is an expansion.
fn add(word: &Decoded<'_>, part: Range<usize>, spans: &mut Spans) {
    if !part.is_empty() && !word.is_reference(part.clone()) {
        spans.add(word.place(part));
    }
}

/// The name of a program without its directory.
pub fn basename(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    name.strip_suffix(".exe").unwrap_or(name)
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}
