//! The words of a text that bash refuses: as good as can be, without nesting.

use std::ops::Range;

/// Returns the words of the commands from this place on, each as its span.
pub fn split_commands(text: &str, from: usize) -> Vec<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    // Behind its last quote no quote of a kind is closed.
    let last = [b'\'', b'"'].map(|quote| memchr::memrchr(quote, bytes).unwrap_or(0));
    let mut commands = Vec::new();
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    let mut at = from;
    while at < bytes.len() {
        let byte = bytes[at];
        let is_end = byte.is_ascii_whitespace() || b";&|()<>".contains(&byte);
        if is_end {
            words.extend(start.take().map(|start| start..at));
            if byte == b'\n' || b";&|()".contains(&byte) {
                commands.push(std::mem::take(&mut words));
            }
            at += 1;
            continue;
        }
        start.get_or_insert(at);
        at = match byte {
            b'\\' => at + 2,
            b'\'' if at < last[0] => closing_quote(bytes, at, b'\''),
            b'"' if at < last[1] => closing_quote(bytes, at, b'"'),
            _ => at + 1,
        };
    }
    words.extend(start.map(|start| start..bytes.len()));
    commands.push(words);
    commands.retain(|words| !words.is_empty());
    commands
}

/// Returns the place behind the quote that closes the one at `open`.
fn closing_quote(bytes: &[u8], open: usize, quote: u8) -> usize {
    let mut at = open + 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' && quote == b'"' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whatever_is_wrong() {
        let text = "a 'b c'; d \"e f | g (h\n'i";
        let found: Vec<Vec<&str>> = split_commands(text, 0)
            .into_iter()
            .map(|words| words.into_iter().map(|word| &text[word]).collect())
            .collect();
        assert_eq!(found, [vec!["a", "'b c'"], vec!["d", "\"e", "f"], vec!["g"], vec!["h"], vec!["'i"]]);
    }
}
