//! What a command wrote before it runs it: script files, and aliases of git.

use super::evaluator::CommandEvaluator;
use super::program_call::ProgramCall;
use super::simulated_shell::SimulatedShell;
use crate::path::resolved;
use crate::programs;
use crate::simple_command_view::{ExpandedRedirect, SimpleCommandView};
use crate::unwrap::{InnerCommand, unwrap};
use crate::verdict::AnalysisConfidence;
use crate::word_value::{ValuePiece, WordValue};

/// Longest script that is remembered, bytes.
const MAX_SCRIPT: usize = 1 << 16;
/// Most scripts and aliases that are remembered.
const MAX_REMEMBERED: usize = 64;

impl CommandEvaluator<'_> {
    /// Notes the text that a call writes into a file, and the alias that it gives to git.
    pub(super) fn note_written_files(
        &mut self,
        shell: &SimulatedShell,
        call: &ProgramCall,
        output: Option<&WordValue>,
    ) {
        if self.remembered.files.len() + self.remembered.aliases.len() >= MAX_REMEMBERED {
            return;
        }
        for redirect in call.redirects.iter().filter(|redirect| redirect.takes_output()) {
            self.note_written_file(&redirect.target, redirect, output);
        }
        let Some((last, words)) = call.argv.split_last() else { return };
        match words.first().and_then(WordValue::known) {
            Some("tee") if !last.prefix().starts_with('-') => {
                if let (Some(path), Some(text)) = (absolute_path(shell, last), call.input.text()) {
                    self.remembered.files.insert(path, text.clone());
                }
            }
            Some("git") if words.get(1).and_then(WordValue::known) == Some("config") => {
                if let Some(alias) =
                    words.last().and_then(WordValue::known).and_then(|name| name.strip_prefix("alias."))
                {
                    self.remembered.aliases.insert(alias.to_owned(), last.clone());
                }
            }
            _ => {}
        }
    }

    fn note_written_file(&mut self, target: &WordValue, redirect: &ExpandedRedirect, output: Option<&WordValue>) {
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
    pub(super) fn inner_commands(
        &self,
        shell: &SimulatedShell,
        call: &ProgramCall,
        command: &SimpleCommandView<'_>,
    ) -> Vec<InnerCommand> {
        if call.dead || call.argv.is_empty() {
            return Vec::new();
        }
        let mut inners = unwrap(command, &call.input, self.custom);
        inners.extend(self.run_of_written_script(shell, call));
        if let Some(name) = self.git_alias_named(call) {
            let option =
                WordValue::of(format!("alias.{name}={}", self.remembered.aliases[name].known().unwrap_or_default()));
            let argv: Vec<WordValue> = [call.argv[0].clone(), WordValue::of("-c"), option]
                .into_iter()
                .chain(call.argv[1..].iter().cloned())
                .collect();
            inners.extend(unwrap(&SimpleCommandView { argv: &argv, ..*command }, &call.input, self.custom));
        }
        inners
    }

    /// The alias that a call of git names.
    fn git_alias_named<'c>(&self, call: &'c ProgramCall) -> Option<&'c str> {
        let name = call.argv.get(1)?.known()?;
        (call.argv[0].known() == Some("git") && self.remembered.aliases.contains_key(name)).then_some(name)
    }

    /// The command that runs a script which was written before.
    fn run_of_written_script(&self, shell: &SimulatedShell, call: &ProgramCall) -> Option<InnerCommand> {
        if self.remembered.files.is_empty() {
            return None;
        }
        let name = call.argv[0].base_name()?;
        let direct = call.argv[0].prefix().contains('/');
        let operand = call.argv[1..].iter().position(|word| !word.prefix().starts_with('-')).map(|at| at + 1);
        let at = if direct { 0 } else { operand? };
        let text = self.remembered.files.get(&absolute_path(shell, &call.argv[at])?)?;
        let first = text.prefix().lines().next().unwrap_or_default();
        let program = if direct { first.strip_prefix("#!").map_or("bash", shebang_program) } else { name };
        let same_shell = matches!(program, "." | "source");
        let args: Vec<WordValue> = call.argv[at..].to_vec();
        let via = call.argv[at].known().unwrap_or("script").to_owned();
        if same_shell || is_shell(program) {
            let (confidence, text) = (AnalysisConfidence::Exact, text.clone());
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
        let argv = vec![WordValue::of(program), WordValue::of(format!("-{option}")), text.clone()];
        Some(InnerCommand::Argv {
            argv,
            via,
            confidence: AnalysisConfidence::Exact,
            cwd: None,
            elsewhere: false,
            stdin: true,
        })
    }
}

/// The program of a script's first line: `bash` in `/usr/bin/env bash -e`.
fn shebang_program(line: &str) -> &str {
    let base = |word: &'_ str| word.rsplit('/').next().map(str::len).unwrap_or_default();
    let mut words = line.split_whitespace().map(|word| &word[word.len() - base(word)..]);
    words.find(|word| *word != "env" && !word.starts_with('-')).unwrap_or("sh")
}

fn is_shell(name: &str) -> bool {
    matches!(name, "ash" | "bash" | "dash" | "ksh" | "mksh" | "sh" | "zsh")
}

/// The absolute path of a file.
fn absolute_path(shell: &SimulatedShell, word: &WordValue) -> Option<String> {
    let is_text = word.pieces().iter().all(|piece| matches!(piece, ValuePiece::Text(_)));
    resolved(shell.cwd(), word).known().filter(|_| is_text).map(str::to_owned)
}
