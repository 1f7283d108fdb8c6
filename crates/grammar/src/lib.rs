//! Reads commands with tree-sitter-bash, whose tree is tolerant: the parts that a person tells apart by colour, and the
//! statements of a text that bash refuses.
//!
//! The crate `safety` judges the effects of a command. It reads a text as bash does, and asks this crate about text
//! that it cannot read.
//!
//! Pure, runs in the host, uses no other crate of this repository. Begin with [`highlight`] and [`statements`].

use std::ops::ControlFlow;
use std::ops::Range;

use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// Most bytes that are read of a command. The rest has no tokens.
pub const READ: usize = 8 * 1024;

/// Most bytes that are parsed at once. The parser recovers from an error in one step, whose time grows with the square
/// of the text: 0.3 s for 8 KiB of `a|`, 1 ms for this much.
pub const PARSED: usize = 512;

/// Parts of a command that are read although they have errors. A part that is cut has one.
const WITH_ERRORS: usize = 4;

/// Bytes for each step of the parser, of 100 operations. A script takes a step for 20 to 60 bytes.
const BYTES_PER_STEP: usize = 12;

/// Kinds of nodes that bash can run alone.
const STATEMENTS: [&str; 15] = [
    "c_style_for_statement",
    "case_statement",
    "command",
    "compound_statement",
    "declaration_command",
    "for_statement",
    "function_definition",
    "if_statement",
    "list",
    "negated_command",
    "pipeline",
    "redirected_statement",
    "subshell",
    "variable_assignment",
    "while_statement",
];

/// The class of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HighlightClass {
    /// The name of a program, a builtin or a function that is called.
    Program,
    /// A word that begins with a hyphen.
    Option,
    /// Quoted text, or the text of a here-document.
    String,
    /// A variable, in an assignment or expanded.
    Variable,
    /// A reserved word, or a builtin that declares variables.
    Keyword,
    /// A separator, a pipe, a redirection, a bracket.
    Operator,
    /// A comment.
    Comment,
    /// A number, or a file descriptor.
    Number,
    /// The name of a function that is defined.
    Function,
}

impl HighlightClass {
    /// Returns the name of the class in the public API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Option => "option",
            Self::String => "string",
            Self::Variable => "variable",
            Self::Keyword => "keyword",
            Self::Operator => "operator",
            Self::Comment => "comment",
            Self::Number => "number",
            Self::Function => "function",
        }
    }
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HighlightToken {
    /// The token's bytes in the text.
    pub span: Range<usize>,
    /// The class of the token.
    pub class: HighlightClass,
}

/// Returns the tokens of a command, in order and without overlap. Text between them, such as arguments, has no class.
/// `starts` are the offsets of its statements, as bash reads it; without them the command is one statement.
///
/// Of a statement that is longer than [`PARSED`] the rest has no tokens, nor has what follows several statements that
/// the parser cannot read.
#[must_use]
pub fn highlight(command: &str, starts: &[usize]) -> Vec<HighlightToken> {
    let text = &command[..command.floor_char_boundary(READ)];
    let mut painter = HighlightPainter::default();
    let mut errors = 0;
    let mut from = 0;
    while from < text.len() && errors < WITH_ERRORS {
        let mut later = starts.iter().copied().filter(|start| (from + 1..text.len()).contains(start)).peekable();
        let next = later.peek().copied().unwrap_or(text.len());
        let to = later.take_while(|start| *start <= from + PARSED).last().unwrap_or(next);
        let end = text.floor_char_boundary(to.min(from + PARSED));
        if let Some(tree) = tree_of(&text[from..end]) {
            painter.paint(&tree, text, from);
            errors += usize::from(tree.root_node().has_error());
        }
        from = to;
    }
    painter.tokens
}

/// Offers the statements of a text that contain no error, in order, the outermost first. `take` returns whether to skip
/// the statements inside the offered one. If the text is longer than [`PARSED`] bytes, only these are read.
pub fn statements(text: &str, mut take: impl FnMut(Range<usize>) -> bool) {
    let text = &text[..text.floor_char_boundary(PARSED)];
    let Some(tree) = tree_of(text) else { return };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        let whole = STATEMENTS.contains(&node.kind()) && !node.has_error() && !node.byte_range().is_empty();
        if !(whole && take(node.byte_range())) && cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
        }
    }
}

fn tree_of(text: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let mut steps = 0;
    let mut bound = |_: &_| {
        steps += 1;
        if steps > 64 + text.len() / BYTES_PER_STEP { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut bound);
    let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

/// Collects tokens. Text that no child of a node covers, such as the blanks in a string, has the class of the node.
#[derive(Default)]
struct HighlightPainter {
    tokens: Vec<HighlightToken>,
    /// The place of the tree's text in the whole text.
    from: usize,
    /// The end of the text that is painted.
    at: usize,
}

impl HighlightPainter {
    /// Adds the tokens of a tree, whose text begins at an offset.
    fn paint(&mut self, tree: &Tree, text: &str, from: usize) {
        (self.from, self.at) = (from, from);
        let text = &text[from..];
        let mut cursor = tree.walk();
        // The classes of the nodes above the cursor and of the node itself.
        let mut classes = vec![None];
        loop {
            let node = cursor.node();
            self.until(node.start_byte(), classes.last().copied().flatten());
            classes.push(class_of(node, text, classes.last().copied().flatten()));
            if cursor.goto_first_child() {
                continue;
            }
            loop {
                self.until(cursor.node().end_byte(), classes.pop().flatten());
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Paints the tree's text up to an offset in it.
    fn until(&mut self, end: usize, class: Option<HighlightClass>) {
        let span = self.at..self.from + end;
        if span.is_empty() {
            return;
        }
        self.at = span.end;
        let Some(class) = class else { return };
        match self.tokens.last_mut() {
            Some(last) if last.class == class && last.span.end == span.start => last.span.end = span.end,
            _ => self.tokens.push(HighlightToken { span, class }),
        }
    }
}

/// Returns the class of a node, given the class of its parent.
fn class_of(node: Node<'_>, text: &str, outer: Option<HighlightClass>) -> Option<HighlightClass> {
    if !node.is_named() {
        return match node.kind() {
            "\"" | "'" => outer,
            _ if outer == Some(HighlightClass::Variable) => outer,
            kind if kind.starts_with(|first: char| first.is_ascii_alphabetic()) => Some(HighlightClass::Keyword),
            _ => Some(HighlightClass::Operator),
        };
    }
    match node.kind() {
        "comment" => Some(HighlightClass::Comment),
        "command_name" => Some(HighlightClass::Program),
        "string" | "raw_string" | "ansi_c_string" | "translated_string" | "heredoc_start" | "heredoc_body"
        | "heredoc_end" => Some(HighlightClass::String),
        "variable_name" | "special_variable_name" | "simple_expansion" | "expansion" => Some(HighlightClass::Variable),
        "number" if text[node.byte_range()].starts_with('-') => Some(HighlightClass::Option),
        "file_descriptor" | "number" => Some(HighlightClass::Number),
        "test_operator" | "file_redirect" | "herestring_redirect" | "heredoc_redirect" => None,
        "command_substitution" | "process_substitution" | "arithmetic_expansion" => None,
        "word" => word_class(node, text, outer),
        _ => outer.filter(|class| *class != HighlightClass::Variable),
    }
}

fn word_class(node: Node<'_>, text: &str, outer: Option<HighlightClass>) -> Option<HighlightClass> {
    let is_name = node.parent().is_some_and(|parent| {
        parent.kind() == "function_definition" && parent.child_by_field_name("name") == Some(node)
    });
    if is_name {
        return Some(HighlightClass::Function);
    }
    let is_option = outer.is_none() && text[node.byte_range()].starts_with('-');
    if is_option { Some(HighlightClass::Option) } else { outer }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the tokens as `class:text`.
    fn tokens(command: &str) -> Vec<String> {
        highlight(command, &[])
            .iter()
            .map(|token| format!("{}:{}", token.class.name(), &command[token.span.clone()]))
            .collect()
    }

    /// Returns the starts of statements that have a length.
    fn every(length: usize) -> Vec<usize> {
        (0..READ).step_by(length).collect()
    }

    #[test]
    fn each_part_has_its_class() {
        for (command, expected) in [
            ("", vec![]),
            ("ls", vec!["program:ls"]),
            ("git push --force origin main", vec!["program:git", "option:--force"]),
            (
                "FOO=bar make -j4 # build",
                vec!["variable:FOO", "operator:=", "program:make", "option:-j4", "comment:# build"],
            ),
            (
                r#"echo "a $B c" 'd e'"#,
                vec!["program:echo", "string:\"a ", "variable:$B", "string: c\"", "string:'d e'"],
            ),
            ("rm -rf ${DIR:-/tmp}/x", vec!["program:rm", "option:-rf", "variable:${DIR:-/tmp}"]),
            (
                "make 2>&1 | tail -5",
                vec!["program:make", "number:2", "operator:>&", "number:1", "operator:|", "program:tail", "option:-5"],
            ),
            (
                "if true; then f; fi",
                vec![
                    "keyword:if",
                    "program:true",
                    "operator:;",
                    "keyword:then",
                    "program:f",
                    "operator:;",
                    "keyword:fi",
                ],
            ),
            ("f() { ls; }", vec!["function:f", "operator:()", "operator:{", "program:ls", "operator:;", "operator:}"]),
            ("echo $(date -u)", vec!["program:echo", "operator:$(", "program:date", "option:-u", "operator:)"]),
            (
                "cat <<E\nhi $X\nE\n",
                vec!["program:cat", "operator:<<", "string:E", "string:hi ", "variable:$X", "string:\nE"],
            ),
        ] {
            assert_eq!(tokens(command), expected, "{command}");
        }
    }

    /// Returns the outermost statements.
    fn outermost(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        statements(text, |span| {
            found.push(&text[span]);
            true
        });
        found
    }

    #[test]
    fn statements_are_found_around_errors() {
        for (text, expected) in [
            ("", vec![]),
            ("ls; rm x", vec!["ls", "rm x"]),
            ("ls && rm x | cat", vec!["ls && rm x | cat"]),
            ("if true; then rm -rf x", vec!["true", "rm -rf x"]),
            ("git push -f; )(", vec!["git push -f"]),
            ("echo $(rm x", vec!["rm x"]),
            ("(cd a; make", vec!["cd a", "make"]),
        ] {
            assert_eq!(outermost(text), expected, "{text}");
        }
    }

    #[test]
    fn statements_inside_are_offered_where_the_outer_one_is_left() {
        let mut found = Vec::new();
        let text = "a && b $(c)";
        statements(text, |span| {
            found.push(&text[span]);
            false
        });
        assert_eq!(found, ["a && b $(c)", "a", "b $(c)", "c"]);
    }

    #[test]
    fn a_text_with_errors_has_tokens_for_the_rest() {
        assert_eq!(tokens("git status; )(")[..2], ["program:git", "operator:;"]);
    }

    #[test]
    fn a_long_text_is_read_statement_by_statement() {
        let text = format!("ls -a\n: '{}'\nrm -f x", "x".repeat(2 * PARSED));
        let [second, third] = [6, text.len() - 7];
        let shown = |starts: &[usize]| -> Vec<String> {
            highlight(&text, starts).iter().map(|token| text[token.span.clone()].chars().take(4).collect()).collect()
        };
        assert_eq!(shown(&[0, second, third]), ["ls", "-a", ":", "rm", "-f"]);
        assert_eq!(shown(&[]), ["ls", "-a", ":"]);
    }

    #[test]
    fn a_long_or_deep_text_takes_bounded_time() {
        let deep = "$(".repeat(20_000);
        let long = "echo 'a b' \"$x\" | cat -n; ".repeat(10_000);
        assert!(highlight(&deep, &[]).len() <= deep.len());
        assert!(highlight(&long, &every(25)).iter().all(|token| token.span.end <= READ));
    }

    #[test]
    #[ignore = "stress: it measures time"]
    fn no_text_takes_the_parser_long() {
        let units = "a|·a|\n·f(){·a=(·((·$(·`·<<E\n·if ·[[ ·{ ·\"$(·a&&·! ·)·<<<·${·{a,·'·\"·a[·}·@(·<(·case a in\n";
        for unit in units.split('·') {
            let text = unit.repeat(READ / unit.len());
            let begin = std::time::Instant::now();
            assert!(highlight(&text, &every(700)).len() <= text.len());
            let time = begin.elapsed();
            assert!(time.as_millis() < 200, "{unit:?} took {time:?}");
        }
    }

    proptest! {
        #[test]
        fn tokens_are_in_order_and_within_the_text(command in "[a-z $(){}'\"`<>|&;=#\\\\\n\u{e9}-]{0,60}") {
            let mut at = 0;
            let starts: Vec<_> = command.match_indices(';').map(|(at, _)| at + 1).collect();
            for HighlightToken { span, .. } in highlight(&command, &starts) {
                prop_assert!(span.start >= at && span.start < span.end);
                prop_assert!(command.is_char_boundary(span.start) && command.is_char_boundary(span.end));
                at = span.end;
            }
            prop_assert!(at <= command.len());
        }
    }
}
