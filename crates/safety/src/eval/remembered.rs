//! What a command wrote before it runs it: script files, and aliases of git.

use super::call::Call;
use super::evaluator::Evaluator;
use super::shell::Shell;
use crate::command::{Command, Redirect};
use crate::level::Confidence;
use crate::path::resolved;
use crate::programs;
use crate::unwrap::{InnerCommand, unwrap};
use crate::value::{Piece, Value};

/// Longest script that is remembered, bytes.
const MAX_SCRIPT: usize = 1 << 16;
/// Most scripts and aliases that are remembered.
const MAX_REMEMBERED: usize = 64;

impl Evaluator<'_> {
    /// Notes the text that a call writes into a file, and the alias that it gives to git.
    pub(super) fn remember(&mut self, shell: &Shell, call: &Call, output: Option<&Value>) {
        if self.remembered.files.len() + self.remembered.aliases.len() >= MAX_REMEMBERED {
            return;
        }
        for redirect in call.redirects.iter().filter(|redirect| redirect.takes_output()) {
            self.wrote(&redirect.target, redirect, output);
        }
        let Some((last, words)) = call.argv.split_last() else { return };
        match words.first().and_then(Value::known) {
            Some("tee") if !last.prefix().starts_with('-') => {
                if let (Some(path), Some(text)) = (path(shell, last), call.input.text()) {
                    self.remembered.files.insert(path, text.clone());
                }
            }
            Some("git") if words.get(1).and_then(Value::known) == Some("config") => {
                if let Some(alias) = words.last().and_then(Value::known).and_then(|name| name.strip_prefix("alias.")) {
                    self.remembered.aliases.insert(alias.to_owned(), last.clone());
                }
            }
            _ => {}
        }
    }

    fn wrote(&mut self, target: &Value, redirect: &Redirect, output: Option<&Value>) {
        let Some(path) = resolved(&redirect.cwd, target).known().map(str::to_owned) else { return };
        let before = self.remembered.files.remove(&path).filter(|_| redirect.op == ">>");
        let appends = redirect.op == ">>" && before.is_none();
        if let Some(text) = output.filter(|text| !appends && text.weight() < MAX_SCRIPT) {
            let mut whole = before.unwrap_or_default();
            whole.extend(text);
            self.remembered.files.insert(path, whole);
        }
    }

    /// The commands that a call runs: those of its words, of a script that was written before, of an alias.
    pub(super) fn inners(&self, shell: &Shell, call: &Call, command: &Command<'_>) -> Vec<InnerCommand> {
        if call.dead || call.argv.is_empty() {
            return Vec::new();
        }
        let mut inners = unwrap(command, &call.input, self.custom);
        inners.extend(self.written(shell, call));
        if let Some(name) = self.aliased(call) {
            let option =
                Value::of(format!("alias.{name}={}", self.remembered.aliases[name].known().unwrap_or_default()));
            let argv: Vec<Value> = [call.argv[0].clone(), Value::of("-c"), option]
                .into_iter()
                .chain(call.argv[1..].iter().cloned())
                .collect();
            inners.extend(unwrap(&Command { argv: &argv, ..*command }, &call.input, self.custom));
        }
        inners
    }

    /// The alias that a call of git names.
    fn aliased<'c>(&self, call: &'c Call) -> Option<&'c str> {
        let name = call.argv.get(1)?.known()?;
        (call.argv[0].known() == Some("git") && self.remembered.aliases.contains_key(name)).then_some(name)
    }

    /// The command that runs a script which was written before.
    fn written(&self, shell: &Shell, call: &Call) -> Option<InnerCommand> {
        if self.remembered.files.is_empty() {
            return None;
        }
        let name = call.argv[0].base_name()?;
        let direct = call.argv[0].prefix().contains('/');
        let operand = call.argv[1..].iter().position(|word| !word.prefix().starts_with('-')).map(|at| at + 1);
        let at = if direct { 0 } else { operand? };
        let text = self.remembered.files.get(&path(shell, &call.argv[at])?)?;
        let first = text.prefix().lines().next().unwrap_or_default();
        let program = if direct { first.strip_prefix("#!").map_or("bash", interpreter) } else { name };
        let same_shell = matches!(program, "." | "source");
        let args: Vec<Value> = call.argv[at..].to_vec();
        let via = call.argv[at].known().unwrap_or("script").to_owned();
        if same_shell || is_shell(program) {
            let (confidence, text) = (Confidence::Exact, text.clone());
            return Some(InnerCommand::Script {
                text,
                args,
                via,
                confidence,
                same_shell,
                elsewhere: false,
                stdin: true,
            });
        }
        let option = programs::of_any_version(program).interpreters.first()?.code.split(' ').next()?;
        let argv = vec![Value::of(program), Value::of(format!("-{option}")), text.clone()];
        Some(InnerCommand::Argv { argv, via, confidence: Confidence::Exact, cwd: None, elsewhere: false, stdin: true })
    }
}

/// The program of a script's first line: `bash` in `/usr/bin/env bash -e`.
fn interpreter(line: &str) -> &str {
    let base = |word: &'_ str| word.rsplit('/').next().map(str::len).unwrap_or_default();
    let mut words = line.split_whitespace().map(|word| &word[word.len() - base(word)..]);
    words.find(|word| *word != "env" && !word.starts_with('-')).unwrap_or("sh")
}

fn is_shell(name: &str) -> bool {
    matches!(name, "ash" | "bash" | "dash" | "ksh" | "mksh" | "sh" | "zsh")
}

/// The absolute path of a file.
fn path(shell: &Shell, word: &Value) -> Option<String> {
    let is_text = word.pieces().iter().all(|piece| matches!(piece, Piece::Text(_)));
    resolved(shell.cwd(), word).known().filter(|_| is_text).map(str::to_owned)
}
