//! A second reading, for tests alone: tree-sitter-bash finds the programs of a text by a grammar that shares no code
//! with our reader. A program that the reader missed would run without being judged.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Parser;

use super::reader::{ParsedScript, read};
use super::syntax::{ByteSpan, CommandNode, CommandNodeKind, SubstitutedCommands, WordPart, WordSyntax};
use super::syntax_visitor::{SyntaxVisitor, visit};

/// The first bytes of the programs that tree-sitter finds. `None` if its tree has an error in it: the grammar does not
/// know all of bash, so such a tree says nothing about the text.
fn program_starts(text: &str) -> Option<Vec<usize>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).unwrap();
    let tree = parser.parse(text, None)?;
    if tree.root_node().has_error() {
        return None;
    }
    let mut starts = Vec::new();
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if node.kind() == "command_name" && may_begin(text.as_bytes(), node.byte_range()) {
            starts.push(node.start_byte());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Some(starts);
            }
        }
    }
}

/// Words that are no programs: the grammar takes reserved words for programs behind some assignments and behind `time`.
const RESERVED: &str = "if then elif else fi for while until do done case esac select function { } [[ ]] ! time";

/// Whether a program can begin here. None begins within a word, though the grammar ends some words early (`x=$a/$1`).
fn may_begin(bytes: &[u8], name: Range<usize>) -> bool {
    let before = name.start.checked_sub(1).map(|at| bytes[at]);
    let quoted = matches!(bytes.get(name.start), Some(b'"' | b'\''));
    let apart = before.is_none_or(|byte| b" \t\r\n;&|(){}!".contains(&byte) || (byte == b'`' && !quoted));
    let text = &bytes[name];
    let word = text.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let reserved = RESERVED.split(' ').any(|reserved| reserved.as_bytes() == word);
    apart && !reserved && !text.starts_with(b"((") && !text.starts_with(b"))")
}

/// The programs that our reader finds, and the places where the grammar is known to be wrong.
struct ReaderPrograms {
    starts: HashSet<usize>,
    /// Arithmetic, backticks, coprocesses and `[`: the grammar finds programs in them that bash does not run.
    doubtful: Vec<ByteSpan>,
}

impl ReaderPrograms {
    fn of(read: &ParsedScript) -> Self {
        let mut programs = Self { starts: HashSet::new(), doubtful: Vec::new() };
        visit(read, &mut programs);
        let doubtful = read.heredocs.iter().filter(|heredoc| is_doubtful(&heredoc.parts));
        programs.doubtful.extend(doubtful.map(|heredoc| heredoc.span.clone()));
        programs
    }

    fn has(&self, start: usize) -> bool {
        self.starts.contains(&start) || self.doubtful.iter().any(|span| span.contains(&start))
    }
}

impl SyntaxVisitor for ReaderPrograms {
    fn add_node(&mut self, node: &CommandNode) {
        match &node.kind {
            CommandNodeKind::Simple(simple) => {
                let program = simple.words.first();
                self.starts.extend(program.map(|word| word.span.start));
                if program.and_then(WordSyntax::bare) == Some("[") {
                    self.doubtful.push(simple.span.clone());
                }
            }
            CommandNodeKind::Coproc(..) => self.doubtful.push(node.span.clone()),
            CommandNodeKind::Arithmetic(word) | CommandNodeKind::Loop { expressions: Some(word), .. } => {
                self.doubtful.push(word.span.clone());
            }
            _ => {}
        }
    }

    fn word(&mut self, word: &WordSyntax) {
        if is_doubtful(&word.parts) {
            self.doubtful.push(word.span.clone());
        }
    }

    /// Commands between backticks have their places in another text.
    fn may_enter(&mut self, nested: &SubstitutedCommands) -> bool {
        nested.text.is_none()
    }
}

fn is_doubtful(parts: &[WordPart]) -> bool {
    parts.iter().any(|part| match part {
        WordPart::Arithmetic(_) => true,
        WordPart::Command(nested) => nested.text.is_some(),
        WordPart::Double(inner) => is_doubtful(inner),
        WordPart::Parameter(parameter) => {
            is_doubtful(&parameter.word) || parameter.index.as_deref().is_some_and(is_doubtful)
        }
        WordPart::Text(_) | WordPart::Quoted(_) | WordPart::Process(_) | WordPart::Pattern(..) | WordPart::Array(_) => {
            false
        }
    })
}

/// The source of each program that tree-sitter finds in a text and our reader does not. None if either cannot read it.
pub fn missed_programs(text: &str) -> Vec<&str> {
    let read = read(text);
    let Some(starts) = program_starts(text).filter(|_| read.script.fault.is_none()) else { return Vec::new() };
    let programs = ReaderPrograms::of(&read);
    let missed = starts.into_iter().filter(|start| !programs.has(*start));
    missed.map(|start| text[start..].split_whitespace().next().unwrap_or_default()).collect()
}

#[test]
fn a_missed_program_is_noticed() {
    let programs = ReaderPrograms::of(&read("echo 'git push'"));
    let starts = program_starts("echo a; git push").unwrap();
    assert_eq!(starts.iter().filter(|start| !programs.has(**start)).count(), 1);
}
