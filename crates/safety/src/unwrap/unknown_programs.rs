//! Programs in no table. They may run their words.

use super::inner_command::InnerCommand;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::AnalysisConfidence;
use crate::word_value::WordValue;

/// Most words that are taken for the beginning of a command.
const MAX_STARTS: usize = 4;

/// Returns the commands that an unknown program would run if it ran its words.
pub(super) fn unknown(command: &SimpleCommandView) -> Vec<InnerCommand> {
    let argv = command.argv;
    let starts = (1..argv.len()).filter(|at| starts_command(&argv[*at], argv.get(at + 1))).take(MAX_STARTS);
    let partial = |at| InnerCommand::Words {
        from: at,
        to: argv.len(),
        assignments: Vec::new(),
        cwd: None,
        items: Vec::new(),
        via: command.name().unwrap_or_default().to_owned(),
        confidence: AnalysisConfidence::Partial,
        prefix: false,
        elsewhere: false,
        stdin: false,
    };
    starts.map(partial).collect()
}

/// Returns whether a word looks like a command with words of its own.
fn starts_command(word: &WordValue, next: Option<&WordValue>) -> bool {
    let Some(next) = next else { return false };
    let Some(text) = word.known() else { return false };
    let name = text.rsplit('/').next().unwrap_or(text);
    match name {
        "git" => text == "git" || text.starts_with('/'),
        "rm" | "bash" | "sh" | "zsh" | "dash" | "ksh" | "ash" | "sudo" | "doas" | "env" | "nohup" | "timeout"
        | "setsid" | "nice" | "stdbuf" | "xargs" | "busybox" | "eval" => true,
        // The name of a language alone is often just a name.
        "python" | "python3" | "perl" | "ruby" | "node" | "fish" | "su" | "ssh" => next.prefix().starts_with('-'),
        _ => false,
    }
}
