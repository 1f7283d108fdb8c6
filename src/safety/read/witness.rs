//! The witness: where tree-sitter's tree of a text has the heads of simple commands.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser};

/// A text that takes the parser longer than this is hostile.
const PATIENCE: Duration = Duration::from_millis(40);

thread_local! {
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

/// Where heads begin, in bytes, in no certain order. `None` where the tree has an error in it: the grammar does not know all
/// of bash, so this says nothing of the text.
pub fn heads(text: &str) -> Option<Vec<usize>> {
    PARSER.with_borrow_mut(|parser| {
        if parser.is_none() {
            let mut fresh = Parser::new();
            fresh.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *parser = Some(fresh);
        }
        let parser = parser.as_mut()?;
        let start = Instant::now();
        let mut patience = |_: &tree_sitter::ParseState| {
            if start.elapsed() > PATIENCE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let bytes = text.as_bytes();
        let options = ParseOptions::new().progress_callback(&mut patience);
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        let Some(tree) = tree else {
            parser.reset();
            return None;
        };
        if tree.root_node().has_error() {
            return None;
        }
        let mut heads = Vec::new();
        let mut cursor = tree.walk();
        loop {
            let node = cursor.node();
            if node.kind() == "command_name" && may_begin(bytes, node.byte_range()) {
                heads.push(node.start_byte());
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Some(heads);
                }
            }
        }
    })
}

/// Reserved words: the grammar takes them for commands behind some assignments and behind `time`.
static RESERVED: [&[u8]; 19] = [
    b"if",
    b"then",
    b"elif",
    b"else",
    b"fi",
    b"for",
    b"while",
    b"until",
    b"do",
    b"done",
    b"case",
    b"esac",
    b"select",
    b"function",
    b"{",
    b"}",
    b"[[",
    b"]]",
    b"!",
];

/// Whether a command can begin there at all. Within a word none does, though the grammar ends some words early (`x=$a/$1`).
fn may_begin(bytes: &[u8], name: Range<usize>) -> bool {
    let before = name.start.checked_sub(1).map(|at| bytes[at]);
    let quoted = matches!(bytes.get(name.start), Some(b'"' | b'\''));
    let apart = before.is_none_or(|byte| b" \t\r\n;&|(){}!".contains(&byte) || (byte == b'`' && !quoted));
    let text = &bytes[name];
    let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    apart && !RESERVED.contains(&word) && !text.starts_with(b"((") && !text.starts_with(b"))")
}
