//! Keys for a program in another terminal: `tmux send-keys`, `screen -X stuff`. Their effect there is a guess.

use super::inner_command::InnerCommand;
use crate::options::{OptionSpec, parse};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::AnalysisConfidence;
use crate::word_value::{ValuePiece, WordValue};

/// Reads `tmux send-keys -t pane 'git status' Enter`. `None` for other subcommands.
pub(super) fn tmux(command: &SimpleCommandView) -> Option<Vec<InnerCommand>> {
    let args = command.args();
    let sends = |word: &WordValue| matches!(word.known(), Some("send-keys" | "send"));
    let start = args.iter().position(sends)? + 1;
    let end =
        args[start..].iter().position(|word| word.known() == Some(";")).map_or(args.len(), |length| start + length);
    let words = &args[start..end];
    let parsed = parse(words, &OptionSpec::leading("FHKlMRXc:N:t:", ""));
    let mut text = WordValue::default();
    for word in parsed.operands.iter().map(|at| &words[*at]) {
        match word.known() {
            Some("Enter" | "C-m" | "C-j" | "KPEnter") => text.push(ValuePiece::Text("\n".to_owned())),
            Some("Space") => text.push(ValuePiece::Text(" ".to_owned())),
            Some(key) if is_key(key) => {}
            _ => text.extend(word),
        }
    }
    Some(guess(text, "tmux send-keys"))
}

/// Returns whether the text names a key.
fn is_key(key: &str) -> bool {
    let control =
        key.strip_prefix("C-").or_else(|| key.strip_prefix("M-")).is_some_and(|rest| rest.chars().count() == 1);
    control
        || matches!(key, "Escape" | "Tab" | "BTab" | "BSpace" | "Up" | "Down" | "Left" | "Right" | "Home" | "End" | "q")
}

/// Reads `screen -S name -X stuff 'git status\n'`. `None` if screen starts a command.
pub(super) fn screen(command: &SimpleCommandView) -> Option<Vec<InnerCommand>> {
    let args = command.args();
    let at = args.iter().position(|word| word.known() == Some("-X"))?;
    let text = match (args.get(at + 1).and_then(WordValue::known), args.get(at + 2)) {
        (Some("stuff"), Some(text)) => text,
        _ => return Some(Vec::new()),
    };
    let mut plain = WordValue::default();
    for piece in text.pieces() {
        plain.push(match piece {
            ValuePiece::Text(text) => ValuePiece::Text(
                text.replace("\\n", "\n").replace("^M", "\n").replace("\\015", "\n").replace('\r', "\n"),
            ),
            piece => piece.clone(),
        });
    }
    Some(guess(plain, "screen -X"))
}

fn guess(text: WordValue, via: &str) -> Vec<InnerCommand> {
    let Some(mut inner) = InnerCommand::script(text, via) else { return Vec::new() };
    match &mut inner {
        InnerCommand::Script { confidence, stdin, .. } => {
            *confidence = AnalysisConfidence::Partial;
            *stdin = false;
        }
        // Unknown text for an unknown program is common.
        _ => return Vec::new(),
    }
    vec![inner]
}
