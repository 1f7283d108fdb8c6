//! Takes secrets out of a command before it is written: by the structure of the script where the parser sees it, and by
//! the shapes of tokens and of text everywhere.
//!
//! | file | what |
//! |---|---|
//! | `triggers` | whether a text could hold a secret at all |
//! | `text` | secrets that any text shows: tokens, addresses, pairs, headers |
//! | `script` | commands, assignments, heredocs, scripts within scripts |
//! | `command`, `programs` | options and operands of a command |
//! | `names` | names whose values are secrets |
//! | `decoded` | words without quotes, with the places in the script |
//!
//! The value alone is taken out: flag, user and header name stay. An expansion (`$TOKEN`) is no secret. The work grows
//! with the length of the command, and not faster.

mod command;
mod decoded;
mod lenient;
mod names;
mod programs;
mod script;
mod spans;
mod text;
mod triggers;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use spans::Spans;

/// A command without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'t> {
    /// The command.
    pub text: Cow<'t, str>,
    /// Whether something was taken out.
    pub redacted: bool,
}

/// Whether a command could hold a secret. Takes a fraction of a microsecond.
pub fn may_hold_secret(command: &str) -> bool {
    triggers::may_hold(command)
}

/// Takes the secrets out of a command.
pub fn redact(command: &str) -> Redacted<'_> {
    let mut spans = Spans::default();
    if may_hold_secret(command) {
        script::scan(command, &mut spans);
    }
    match spans.apply(command) {
        Some(text) => Redacted { text: Cow::Owned(text), redacted: true },
        None => Redacted { text: Cow::Borrowed(command), redacted: false },
    }
}
