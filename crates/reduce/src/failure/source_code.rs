//! Tells source code from messages of tools.

/// First words of lines of code.
const STARTS: [&str; 59] = [
    "// ",
    "///",
    "/*",
    "* ",
    "#[",
    "<!--",
    "return ",
    "throw ",
    "raise ",
    "if ",
    "if(",
    "} ",
    "else ",
    "elif ",
    "except",
    "catch",
    "const ",
    "let ",
    "var ",
    "def ",
    "fn ",
    "func ",
    "function ",
    "pub ",
    "class ",
    "struct ",
    "enum ",
    "impl ",
    "type ",
    "interface ",
    "import ",
    "from ",
    "export ",
    "use ",
    "echo ",
    "print",
    "console.",
    "log.",
    "logger.",
    "fmt.",
    "t.",
    "expect(",
    "assert",
    "self.",
    "this.",
    "await ",
    "case ",
    "match ",
    "async ",
    "static ",
    "private ",
    "public ",
    "for ",
    "while ",
    "try ",
    "with ",
    "- `",
    "| `",
    "package ",
];

/// Returns whether a line is code or a comment, which may quote the words of a tool.
pub(super) fn is_source(line: &str) -> bool {
    let text = line.trim();
    let Some(last) = text.bytes().next_back() else { return false };
    let text = diff_row(line).unwrap_or(text);
    if STARTS.iter().any(|start| text.starts_with(start)) {
        // Messages of tools begin with such words, too: `assertion failed: a == b`.
        return !text.starts_with("assertion") && !is_sentence(text);
    }
    match last {
        b'{' | b';' => true,
        b',' | b'(' | b'[' => text.contains(['"', '\'', '`', '=', '(']),
        b')' | b'}' => text.contains(['"', '`']) && has_call(text),
        _ => false,
    }
}

/// Returns the text of a row of a diff.
fn diff_row(line: &str) -> Option<&str> {
    let row = line.strip_prefix(['+', '-'])?;
    row.starts_with([' ', '\t']).then(|| row.trim())
}

/// Returns whether a text has only words and no sign of code: `class file has wrong version`.
fn is_sentence(text: &str) -> bool {
    !text.contains(['(', '=', '"', '`', '{', ';', '/', '\'', '<', '*']) && !text.ends_with(':')
}

/// Returns whether a text calls something: `f(`.
fn has_call(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[1] == b'(' && (pair[0].is_ascii_alphanumeric() || pair[0] == b'_'))
}
