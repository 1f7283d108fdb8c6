//! The beginning of a line before its text: blanks, times, tags, places.

/// Most parts of a prefix that are read.
const PARTS: usize = 6;
/// Longest tag in brackets, in bytes.
const TAG: usize = 40;

/// Signs of failed tests and steps.
const SIGNS: [&str; 9] = ["✗", "✕", "✘", "❌", "✖", "⨯", "×", "🔴", "⛔"];

/// Returns whether the text of a line begins with a sign of failure.
pub(super) fn has_sign(line: &str) -> bool {
    !line.is_ascii() && after_sign(strip_prefixes(line)).is_some()
}

/// Returns the text behind a sign of failure.
pub(super) fn after_sign(text: &str) -> Option<&str> {
    // Jest puts this sign before the path of a failed test. Other tools put it before any item of a list.
    if let Some(rest) = text.strip_prefix("● ").filter(|rest| rest.contains(" › ") || rest.contains("failed")) {
        return Some(rest);
    }
    SIGNS.iter().find_map(|sign| text.strip_prefix(sign))
}

/// Returns the text of a line without its indentation, times, counters and tags.
pub(super) fn strip_prefixes(line: &str) -> &str {
    let mut rest = line.trim_start();
    for _ in 0..PARTS {
        let Some(next) = part(rest) else { break };
        rest = next;
    }
    rest
}

fn part(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let first = *bytes.first()?;
    match first {
        b'[' => tag(text),
        b'0'..=b'9' => time(text),
        b'#' => {
            let digits = digits(&bytes[1..]);
            (digits > 0 && bytes.get(1 + digits) == Some(&b' ')).then(|| text[digits + 2..].trim_start())
        }
        b'>' | b'|' | b'*' => (bytes.get(1) == Some(&b' ')).then(|| text[2..].trim_start()),
        b'a'..=b'z' | b'A'..=b'Z' => source(text),
        _ => tree(text),
    }
}

/// Removes `│ ├── └─ ➤ ❯ •`.
fn tree(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(['│', '├', '└', '─', '┃', '┌', '╭', '╰', '❯', '➤', '•', '⎯', '▶', ' ']);
    (rest.len() < text.len()).then_some(rest)
}

/// Removes `[12:34:56]` or `[worker-1]`. A tag that names a level is text.
fn tag(text: &str) -> Option<&str> {
    let end = text.bytes().take(TAG).position(|byte| byte == b']')?;
    let inside = &text[1..end];
    let word = inside.trim();
    let is_level = ["error", "fatal", "fail", "failed", "failure", "panic", "critical", "err", "e", "crit", "emerg"]
        .iter()
        .any(|level| word.eq_ignore_ascii_case(level));
    (!is_level).then(|| text[end + 1..].trim_start_matches([' ', ':', '-', '\t']))
}

/// Removes `2026-01-02T03:04:05.678Z`, `03:04:05,678` or `0.345`: digits and at least one sign of a time.
fn time(text: &str) -> Option<&str> {
    let end = text
        .bytes()
        .position(|byte| !matches!(byte, b'0'..=b'9' | b':' | b'.' | b',' | b'-' | b'+' | b'T' | b'Z' | b'/'));
    let end = end?;
    let token = &text[..end];
    let is_time = token.bytes().any(|byte| !byte.is_ascii_digit());
    (is_time && text.as_bytes()[end] == b' ' && !token.ends_with([':', ',']))
        .then(|| text[end..].trim_start_matches([' ', '|', '\t']))
}

/// Removes the name of a service: `web-1  | text`, `stderr | text`.
fn source(text: &str) -> Option<&str> {
    let end = text.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')))?;
    let rest = text[end..].trim_start_matches(' ');
    let behind = rest.strip_prefix("| ")?;
    (rest.len() < text.len() - end).then(|| behind.trim_start())
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns the text behind a place with a blank: `src/a.c:12:5: text`, `a.ts(3,4): text`, `File.java:[3,4] text`.
pub(super) fn after_place(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|&byte| matches!(byte, b':' | b'(' | b' ' | b'"'))?;
    if end == 0 || end > 250 || matches!(bytes[end], b' ' | b'"') {
        return None;
    }
    let path = &text[..end];
    if !path.contains(['.', '/']) && !path.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
        return None;
    }
    let mut at = end + 1;
    if bytes[end] == b':' && bytes.get(at) == Some(&b'[') {
        at += 1;
    }
    let first = digits(&bytes[at..]);
    if first == 0 {
        return None;
    }
    at += first;
    if matches!(bytes.get(at), Some(b':' | b',' | b'.')) && digits(&bytes[at + 1..]) > 0 {
        at += 1 + digits(&bytes[at + 1..]);
    }
    at += bytes[at..].iter().take_while(|byte| matches!(byte, b')' | b']' | b':' | b',')).count();
    (bytes.get(at) == Some(&b' ')).then(|| text[at..].trim_start_matches([' ', '-']))
}

/// Returns whether a line is a row of a search: `path:12:text`, `path-12-text`, `12:text`, `12→text`, with no blank
/// behind the place.
pub(super) fn is_search_row(line: &str) -> bool {
    let bytes = line.as_bytes();
    let lead = line.len() - line.trim_start().len();
    let number = digits(&bytes[lead..]);
    if number > 0 {
        let at = lead + number;
        return match bytes.get(at) {
            Some(b':' | b'-') => lead == 0 && is_text(&line[at + 1..]),
            Some(b'\t') => true,
            _ => line[at..].starts_with('→'),
        };
    }
    lead == 0 && has_place_of_match(line)
}

fn has_place_of_match(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut from = 0;
    while let Some(found) = bytes[from..].iter().position(|&byte| matches!(byte, b':' | b'-')) {
        let sign = from + found;
        if sign > 250 || bytes[..sign].contains(&b' ') {
            return false;
        }
        let number = digits(&bytes[sign + 1..]);
        let behind = sign + 1 + number;
        if number > 0 && bytes.get(behind) == Some(&bytes[sign]) && line[..sign].contains(['.', '/']) {
            return is_text(&line[behind + 1..]);
        }
        from = sign + 1;
    }
    false
}

/// Returns whether the text after `path:line:` is text of the file. Code is indented by at least two blanks. Tools put
/// one blank before a message, or another number.
fn is_text(text: &str) -> bool {
    let is_said = text.starts_with(' ') && !text.starts_with("  ") || text.starts_with(|c: char| c.is_ascii_digit());
    !is_said
        && !["error:", "error ", "fatal error", "fatal:", "in `", "in '"].iter().any(|start| text.starts_with(start))
}
