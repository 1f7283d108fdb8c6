//! The pipelines and words of a command, for TypeScript. Code there that changes a command asks for these instead of
//! parsing bash itself.

use serde::Serialize;

use super::reader::read;
use super::syntax::{AndOrList, AndOrOperator, CommandNode, CommandNodeKind, PipelineSyntax, WordPart, WordSyntax};
use crate::utf16_offsets::Utf16Offsets;

/// The top level of a command. Spans are half-open UTF-16 offsets into it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScriptOutline {
    /// Whether bash would read the whole text. If not, only the pipelines before the error are listed.
    pub complete: bool,
    /// Whether a heredoc occurs anywhere in the command. The body of a heredoc lies outside of the span of its command.
    pub heredocs: bool,
    /// The pipelines in order.
    pub pipelines: Vec<PipelineOutline>,
}

/// Returns the offsets in bytes at which the statements of a command begin, up to the first error.
#[must_use]
pub fn starts(command: &str) -> Vec<usize> {
    let first = |list: &AndOrList| Some(list.pipelines.first()?.1.commands.first()?.span.start);
    read(command).script.body.iter().filter_map(first).collect()
}

/// One pipeline.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PipelineOutline {
    /// The operator between this pipeline and the one before. Null for the first pipeline and after `;`, `&` or a
    /// newline.
    pub join: Option<&'static str>,
    /// Whether `!` precedes the pipeline.
    pub negated: bool,
    /// Whether `&` ends the list that contains the pipeline.
    pub background: bool,
    /// The commands in order. Empty for a `time` or `!` without a command.
    pub commands: Vec<CommandOutline>,
}

/// One command of a pipeline.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandOutline {
    /// The kind of the command.
    pub kind: &'static str,
    /// Place in the whole command, from the first byte to the end of the last word or redirect.
    pub span: (usize, usize),
    /// Whether the next pipe takes the standard error, too: `|&`.
    pub pipes_stderr: bool,
    /// The words of a simple command, the program first. Empty for a compound command.
    pub words: Vec<WordOutline>,
    /// The number of assignments.
    pub assignments: usize,
    /// The number of redirects.
    pub redirects: usize,
}

/// One word.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WordOutline {
    /// The word's value without quotes, or its source if the value is not known.
    pub text: String,
    /// Whether `text` is the value: nothing in the word is expanded.
    pub known: bool,
    /// Place in the whole command.
    pub span: (usize, usize),
}

/// Reads a command and lists its pipelines.
pub fn outline(text: &str) -> ScriptOutline {
    let read = read(text);
    let units = Utf16Offsets::new(text);
    ScriptOutline {
        complete: read.script.fault.is_none(),
        heredocs: !read.heredocs.is_empty(),
        pipelines: read.script.body.iter().flat_map(|entry| pipelines(text, &units, entry)).collect(),
    }
}

fn pipelines(text: &str, units: &Utf16Offsets, entry: &AndOrList) -> Vec<PipelineOutline> {
    let outline = |(index, (join, pipeline)): (usize, &(AndOrOperator, PipelineSyntax))| PipelineOutline {
        join: match join {
            _ if index == 0 => None,
            AndOrOperator::And => Some("&&"),
            AndOrOperator::Or => Some("||"),
        },
        negated: pipeline.negated,
        background: entry.background,
        commands: pipeline.commands.iter().map(|node| command(text, units, node)).collect(),
    };
    entry.pipelines.iter().enumerate().map(outline).collect()
}

fn command(text: &str, units: &Utf16Offsets, node: &CommandNode) -> CommandOutline {
    let (words, assignments, redirects) = match &node.kind {
        CommandNodeKind::Simple(simple) => (simple.words.as_slice(), simple.assignments.len(), simple.redirects.len()),
        _ => (&[][..], 0, node.redirects.len()),
    };
    CommandOutline {
        kind: kind(&node.kind),
        span: units.span(&node.span),
        pipes_stderr: node.pipes_stderr,
        words: words.iter().map(|each| word(text, units, each)).collect(),
        assignments,
        redirects,
    }
}

fn kind(kind: &CommandNodeKind) -> &'static str {
    match kind {
        CommandNodeKind::Simple(_) => "simple",
        CommandNodeKind::Group(_) => "group",
        CommandNodeKind::Subshell(_) => "subshell",
        CommandNodeKind::If { .. } => "if",
        CommandNodeKind::Loop { .. } => "loop",
        CommandNodeKind::For { .. } => "for",
        CommandNodeKind::Case { .. } => "case",
        CommandNodeKind::Function { .. } => "function",
        CommandNodeKind::Test(_) | CommandNodeKind::Arithmetic(_) => "test",
        CommandNodeKind::Coproc(..) => "coproc",
    }
}

fn word(text: &str, units: &Utf16Offsets, word: &WordSyntax) -> WordOutline {
    let value = value(&word.parts);
    WordOutline {
        known: value.is_some(),
        text: value.unwrap_or_else(|| text.get(word.span.clone()).unwrap_or_default().to_owned()),
        span: units.span(&word.span),
    }
}

/// Returns the value of a word in which nothing is expanded.
fn value(parts: &[WordPart]) -> Option<String> {
    let mut value = String::new();
    for part in parts {
        match part {
            WordPart::Text(text) if text.contains(['*', '?', '[', '{', '~']) => return None,
            WordPart::Text(text) | WordPart::Quoted(text) => value.push_str(text),
            WordPart::Double(inner) => value.push_str(&self::value(inner)?),
            WordPart::Parameter(_)
            | WordPart::Command(_)
            | WordPart::Arithmetic(_)
            | WordPart::Process(_)
            | WordPart::Pattern(..)
            | WordPart::Array(_) => return None,
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::{ScriptOutline, outline};

    /// `join kind:source[words]`, with `?` after a word that is not known.
    fn shown(text: &str) -> String {
        let utf16: Vec<u16> = text.encode_utf16().collect();
        let slice = |(from, to): (usize, usize)| String::from_utf16(&utf16[from..to]).unwrap();
        let ScriptOutline { complete, pipelines, .. } = outline(text);
        let mut shown = vec![if complete { String::new() } else { "incomplete ".to_owned() }];
        for pipeline in pipelines {
            shown.push(format!("{} ", pipeline.join.unwrap_or(";")));
            shown.push(if pipeline.negated { "! ".to_owned() } else { String::new() });
            let commands = pipeline.commands.iter().map(|command| {
                let word = |word: &super::WordOutline| format!("{}{}", word.text, if word.known { "" } else { "?" });
                let words: Vec<String> = command.words.iter().map(word).collect();
                let pipe = if command.pipes_stderr { "&" } else { "" };
                format!("{}:<{}>[{}]{pipe}", command.kind, slice(command.span), words.join(","))
            });
            shown.push(commands.collect::<Vec<_>>().join("|"));
            shown.push(if pipeline.background { "& ".to_owned() } else { " ".to_owned() });
        }
        shown.concat().trim_end().to_owned()
    }

    #[test]
    fn pipelines_are_listed_with_their_words() {
        for (text, wanted) in [
            ("make 2>&1 | tail -5", "; simple:<make 2>&1>[make]|simple:<tail -5>[tail,-5]"),
            ("cd 'a b' && x |& y", "; simple:<cd 'a b'>[cd,a b] && simple:<x>[x]&|simple:<y>[y]"),
            ("! a || b &", "; ! simple:<a>[a]& || simple:<b>[b]&"),
            ("a; b\nc", "; simple:<a>[a] ; simple:<b>[b] ; simple:<c>[c]"),
            ("x=1 a $b *.c {d,e} ~", "; simple:<x=1 a $b *.c {d,e} ~>[a,$b?,*.c?,{d,e}?,~?]"),
            ("for f in *; do g; done > h 2>&1 | tail", "; for:<for f in *; do g; done > h 2>&1>[]|simple:<tail>[tail]"),
            ("(a; b)  | { c; }", "; subshell:<(a; b)>[]|group:<{ c; }>[]"),
            ("echo 漢 \"😀\" | b", "; simple:<echo 漢 \"😀\">[echo,漢,😀]|simple:<b>[b]"),
            ("time make # all", "; simple:<make>[make]"),
            ("a | (", "incomplete"),
            ("", ""),
        ] {
            assert_eq!(shown(text), wanted, "{text}");
        }
        assert!(outline("cat <<EOF\nx\nEOF").heredocs);
        assert!(!outline("cat <<<x").heredocs);
    }
}
