//! What has to be known of a command's text before it runs in a session.

use std::borrow::Cow;

use crate::safety::read::read;

/// Whether the text mentions the word trap, quoted in whatever way: then the EXIT trap is not ours to set.
pub fn mentions_trap(text: &str) -> bool {
    has_word_trap(text.as_bytes())
}

pub(super) fn has_word_trap(text: &[u8]) -> bool {
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

/// Whether a line can follow this text without becoming a part of it. False where that is not sure.
pub fn is_complete(text: &str) -> bool {
    // Of a coprocess's words the reader cannot always say whether one opens a group.
    if text.contains("coproc") {
        return false;
    }
    let read = read(text);
    let open = |end: usize| end >= text.len();
    read.script.fault.is_none() && !text.ends_with('\\') && !read.heredocs.iter().any(|heredoc| open(heredoc.span.end))
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
