//! Questions about a command's text before it runs in a session.

use std::borrow::Cow;

use safety::parse::{mentions, read};

/// Programs and functions that send signals.
const SIGNAL_SENDERS: [&str; 7] = ["kill", "pkill", "killall", "killall5", "skill", "killpg", "tgkill"];

/// Returns whether the text mentions the word trap, however it is quoted. The EXIT trap may then be the command's.
pub fn mentions_trap(text: &str) -> bool {
    mentions(text, &["trap"])
}

/// Returns whether the text mentions a program that sends signals, which may terminate the command's own shell.
pub fn mentions_signals(text: &str) -> bool {
    mentions(text, &SIGNAL_SENDERS)
}

/// Returns whether code as bash prints it mentions the word trap. The code is searched before every command, so it is
/// not parsed.
pub fn code_mentions_trap(text: &[u8]) -> bool {
    let is_quote = |byte: &u8| matches!(byte, b'\\' | b'\'' | b'"');
    let text = if text.iter().any(is_quote) {
        let joined = memchr::memmem::find_iter(text, b"\\\n").map(|at| at + 1).collect::<Vec<_>>();
        let kept = text.iter().enumerate().filter(|(at, byte)| !is_quote(byte) && joined.binary_search(at).is_err());
        Cow::Owned(kept.map(|(_, byte)| *byte).collect())
    } else {
        Cow::Borrowed(text)
    };
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    memchr::memmem::find_iter(&text, b"trap")
        .any(|at| !is_part(at.checked_sub(1).and_then(|before| text.get(before))) && !is_part(text.get(at + 4)))
}

/// Returns whether a line can follow this text without becoming a part of it. `false` if that is not sure.
pub fn is_complete(text: &str) -> bool {
    // The reader cannot always tell whether a word of a coprocess opens a group.
    if mentions(text, &["coproc"]) {
        return false;
    }
    let read = read(text);
    let open = |end: usize| end >= text.len();
    read.script.fault.is_none() && !text.ends_with('\\') && !read.heredocs.iter().any(|heredoc| open(heredoc.span.end))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
