//! The canonical form of a command: equal for the source and for what bash prints of it.
//!
//! Bash prints a command from its own tree: redirects behind the words, one kind of quotes, one kind of separators.
//! Both texts are read by the same parser, and the form lists the words and redirects without quotes and blanks.

use std::borrow::Cow;
use std::ops::Range;

use safety::parse::{
    AndOrList, AndOrOperator, CommandList, CommandNode, CommandNodeKind, PipelineSyntax, RedirectSyntax, WordPart,
    WordSyntax, read,
};

/// Returns the form of a command that bash printed.
pub fn of_printed(text: &str) -> String {
    let read = read(text);
    if read.script.fault.is_some() { without_quotes_and_blanks(text) } else { of_commands(&read.script.body, text) }
}

/// Returns the form of commands as bash prints them.
pub fn of_commands(list: &CommandList, text: &str) -> String {
    match list.as_slice() {
        [entry] => match entry.pipelines.as_slice() {
            // Bash prints the `!` in front of a command with it.
            [(_, pipeline)] if pipeline.commands.len() == 1 => of_node(&pipeline.commands[0], text),
            _ => of_and_or(entry, text),
        },
        list => of_list(list, text),
    }
}

/// Returns the form of a list without `&`.
pub fn of_and_or(entry: &AndOrList, text: &str) -> String {
    let mut key = String::new();
    for (at, (join, pipeline)) in entry.pipelines.iter().enumerate() {
        key += match join {
            _ if at == 0 => "",
            AndOrOperator::And => "&&",
            AndOrOperator::Or => "||",
        };
        key += &of_pipeline(pipeline, text);
    }
    key
}

fn of_pipeline(pipeline: &PipelineSyntax, text: &str) -> String {
    let commands: Vec<_> = pipeline.commands.iter().map(|node| of_node(node, text)).collect();
    let negation = if pipeline.negated { "!" } else { "" };
    negation.to_owned() + &commands.join("|")
}

fn of_list(list: &[AndOrList], text: &str) -> String {
    let end = |entry: &AndOrList| if entry.background { "&" } else { ";" };
    list.iter().map(|entry| of_and_or(entry, text) + end(entry)).collect()
}

/// Returns the form of a command.
pub fn of_node(node: &CommandNode, text: &str) -> String {
    let words = |words: &[WordSyntax]| words.iter().map(|word| of_word(word, text) + " ").collect::<String>();
    let mut redirects = String::new();
    let mut key = match &node.kind {
        CommandNodeKind::Simple(simple) => {
            redirects = of_redirects(&simple.redirects, text);
            let assignments =
                simple.assignments.iter().map(|assignment| without_quotes_and_blanks(&assignment.source) + " ");
            assignments.collect::<String>() + &words(&simple.words)
        }
        CommandNodeKind::Group(list) => format!("{{{}}}", of_list(list, text)),
        CommandNodeKind::Subshell(list) => format!("({})", of_list(list, text)),
        CommandNodeKind::If { arms, otherwise } => {
            let arms = arms
                .iter()
                .map(|(condition, body)| format!("if {}then {}", of_list(condition, text), of_list(body, text)));
            format!("{}else {}fi", arms.collect::<String>(), of_list(otherwise, text))
        }
        CommandNodeKind::Loop { condition, expressions, body } => {
            format!("while {}{}do {}done", words(expressions.as_slice()), of_list(condition, text), of_list(body, text))
        }
        CommandNodeKind::For { name, words: items, body } => {
            let items = items.as_deref().map_or_else(|| "$@ ".to_owned(), words);
            format!("for {name} in {items}do {}done", of_list(body, text))
        }
        CommandNodeKind::Case { word, arms } => {
            let arms = arms.iter().map(|(patterns, body)| format!("{}) {}", words(patterns), of_list(body, text)));
            format!("case {} in {}esac", of_word(word, text), arms.collect::<String>())
        }
        CommandNodeKind::Function { name, body } => format!("function {name} {}", of_node(body, text)),
        CommandNodeKind::Test(tested) => format!("[[{}]]", words(tested)),
        CommandNodeKind::Arithmetic(expression) => format!("[[{}]]", words(std::slice::from_ref(expression))),
        // Bash prints the name that it gives to a simple command, too, and reads none there.
        CommandNodeKind::Coproc(_, body) => {
            let body = of_node(body, text);
            format!("coproc {}", body.strip_prefix("COPROC ").unwrap_or(&body))
        }
    };
    key += &redirects;
    key += &of_redirects(&node.redirects, text);
    if node.pipes_stderr {
        key += "2>&1 ";
    }
    key
}

fn of_redirects(redirects: &[RedirectSyntax], text: &str) -> String {
    let form = |redirect: &RedirectSyntax| {
        let standard = u32::from(!redirect.op.starts_with('<'));
        let target = if redirect.heredoc.is_some() { String::new() } else { of_word(&redirect.target, text) };
        format!("{}{}{target} ", redirect.fd.unwrap_or(standard), redirect.op)
    };
    redirects.iter().map(form).collect()
}

fn of_word(word: &WordSyntax, text: &str) -> String {
    without_quotes_and_blanks(text.get(word.span.clone()).unwrap_or_default())
}

/// Returns a text without quotes, blanks and the ends of commands.
fn without_quotes_and_blanks(text: &str) -> String {
    let left_out = |byte: char| byte.is_whitespace() || matches!(byte, ';' | '\'' | '"' | '\\' | '$' | '`' | '(' | ')');
    let bare: String = unescaped(text).chars().filter(|byte| !left_out(*byte)).collect();
    // Bash prints the name that it gives to a coprocess in a substitution.
    if bare.contains("coproc") { bare.replace("coprocCOPROC", "coproc") } else { bare }
}

/// Returns a text with the value of each `$'…'` in its place, as bash prints it.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains("$'") {
        return Cow::Borrowed(text);
    }
    let mut value = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        // The closing quote of what begins here.
        let is_escaped = rest.starts_with("$'");
        let end = match next {
            '\\' => rest[1..].chars().next().map(|behind| 1 + behind.len_utf8()),
            '\'' => rest[1..].find('\'').map(|at| at + 2),
            '"' => end_of_quotes(rest, 1),
            _ if is_escaped => end_of_quotes(rest, 2),
            _ => Some(next.len_utf8()),
        };
        let (piece, behind) = rest.split_at(end.unwrap_or(rest.len()));
        value += &if is_escaped { value_of(piece) } else { None }.unwrap_or_else(|| piece.to_owned());
        rest = behind;
    }
    Cow::Owned(value)
}

/// Returns the end of quotes in which `\` escapes, with the closing quote. `start`: the length of the opening quote.
fn end_of_quotes(text: &str, start: usize) -> Option<usize> {
    let quote = text.as_bytes()[start - 1];
    let mut is_escaped = false;
    let closes = |byte: u8| {
        let closes = byte == quote && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        closes
    };
    text.bytes().skip(start).position(closes).map(|at| start + at + 1)
}

/// Returns the value of a text that is one word.
fn value_of(text: &str) -> Option<String> {
    let read = read(text);
    let [entry] = read.script.body.as_slice() else { return None };
    let CommandNodeKind::Simple(simple) = &entry.pipelines.first()?.1.commands.first()?.kind else { return None };
    literal_value(&simple.words.first()?.parts)
}

/// Returns the place of a list in its text.
pub fn span_of_list(list: &[AndOrList]) -> Range<usize> {
    join(list.iter().map(span_of_and_or))
}

/// Returns the place of joined pipelines in their text.
pub fn span_of_and_or(entry: &AndOrList) -> Range<usize> {
    join(entry.pipelines.iter().map(|(_, pipeline)| span_of_pipeline(pipeline)))
}

/// Returns the place of a pipeline in its text, with its `!`.
pub fn span_of_pipeline(pipeline: &PipelineSyntax) -> Range<usize> {
    let span = join(pipeline.commands.iter().map(|node| node.span.clone()));
    pipeline.negation.unwrap_or(span.start)..span.end
}

fn join(spans: impl Iterator<Item = Range<usize>>) -> Range<usize> {
    spans.reduce(|all, span| all.start.min(span.start)..all.end.max(span.end)).unwrap_or(0..0)
}

/// Returns the value of a word in which nothing is expanded.
pub fn literal_value(parts: &[WordPart]) -> Option<String> {
    parts.iter().try_fold(String::new(), |value, part| match part {
        WordPart::Text(text) | WordPart::Quoted(text) => Some(value + text),
        WordPart::Double(inner) => Some(value + &literal_value(inner)?),
        _ => None,
    })
}
