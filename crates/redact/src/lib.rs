//! Takes secrets out of a command before it is written: by the structure of the script where the parser sees it, and by
//! the shapes of tokens and of text everywhere.
//!
//! | file | what |
//! |---|---|
//! | `secret_triggers` | whether a text could hold a secret at all |
//! | `text_secrets` | secrets that any text shows: tokens, addresses, pairs, headers |
//! | `script_secrets` | commands, assignments, heredocs, scripts within scripts |
//! | `unquoted_command` | options and operands of a command |
//! | `program_secrets` | what is known of programs, as usage lines in `data/programs.txt` |
//! | `secret_functions` | functions that take secrets |
//! | `secret_names` | names whose values are secrets |
//! | `value_sources` | where the values of variables come from |
//! | `unquoted_word` | words without quotes, with their places in the script |
//! | `lenient_words` | words of a text that bash refuses |
//! | `step_count` | how much is looked at, in tests |
//!
//! Runs in the host, on the thread of the caller, and touches no process, clock or file. Begin with [`redact`].
//!
//! The value alone is taken out: flag, user and header name stay. An expansion (`$TOKEN`) is no secret. The work grows
//! with the length of the command, and not faster.

mod lenient_words;
mod program_secrets;
mod script_secrets;
mod secret_functions;
mod secret_names;
mod secret_spans;
mod secret_triggers;
mod step_count;
mod text_secrets;
mod unquoted_command;
mod unquoted_word;
mod value_sources;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use secret_spans::{MARKER, SecretSpans};
use secret_triggers::SecretKinds;

/// A command without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedCommand<'t> {
    /// The command.
    pub text: Cow<'t, str>,
    /// Whether something was taken out.
    pub redacted: bool,
}

/// Returns whether a command could hold a secret, in a fraction of a microsecond.
pub fn may_hold_secret(command: &str) -> bool {
    secret_triggers::possible_kinds(command) != SecretKinds::NONE
}

/// Bytes of a long command that are read, if even less of it is kept.
const BEGINNING: usize = 64 * 1024;
/// Bytes at the end of that part which may hold half a secret.
const MARGIN: usize = 1024;

/// Returns the part of a command that [`redact_beginning`] reads, and whether the command is longer.
pub fn beginning_to_redact(command: &str) -> (&str, bool) {
    let part = &command[..command.floor_char_boundary(BEGINNING)];
    (part, part.len() < command.len())
}

/// Takes the secrets out of the beginning of a command. Of a command that is longer, the end of that part is left out.
pub fn redact_beginning((part, is_longer): (&str, bool)) -> RedactedCommand<'_> {
    let RedactedCommand { mut text, redacted } = redact(part);
    if is_longer {
        let kept = text.floor_char_boundary(text.len().saturating_sub(MARGIN));
        text = match text {
            Cow::Borrowed(text) => Cow::Borrowed(&text[..kept]),
            Cow::Owned(text) => Cow::Owned(text[..kept].to_owned()),
        };
    }
    RedactedCommand { text, redacted }
}

/// Most rounds of [`redact`]. Behind a marker a text may read otherwise than before.
const MAX_ROUNDS: usize = 4;

/// Takes the secrets out of a command. What it returns has none to take out.
pub fn redact(command: &str) -> RedactedCommand<'_> {
    redact_until_settled(command, MAX_ROUNDS)
}

/// Takes out what is found until nothing is. Of a text that needs more rounds, what follows the first marker is left
/// out, and if that does not help all of it.
fn redact_until_settled(command: &str, rounds: usize) -> RedactedCommand<'_> {
    let mut text = Cow::Borrowed(command);
    for _ in 0..rounds {
        let Some(less) = redact_once(&text) else {
            let redacted = matches!(text, Cow::Owned(_));
            return RedactedCommand { text, redacted };
        };
        text = Cow::Owned(less);
    }
    let beginning = text[..text.find(MARKER).unwrap_or_default()].to_owned() + MARKER;
    let text = if redact_once(&beginning).is_none() { beginning } else { MARKER.to_owned() };
    RedactedCommand { text: Cow::Owned(text), redacted: true }
}

/// Takes out what is found at once. `None` if nothing is.
fn redact_once(command: &str) -> Option<String> {
    let mut spans = SecretSpans::default();
    let kinds = secret_triggers::possible_kinds(command);
    if kinds != SecretKinds::NONE {
        script_secrets::find_script_secrets(command, kinds, &mut spans);
    }
    spans.apply(command)
}
