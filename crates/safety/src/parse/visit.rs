//! Visits every command and every word of a script, including nested commands and words.

use super::reader::ParsedScript;
use super::syntax::{AndOr, Kind, Nested, Node, Parameter, Part, Pipeline, Redirection, Word};

/// Receives the parts of a script in the order of the text.
pub trait Visitor {
    /// A pipeline, before its commands.
    fn pipeline(&mut self, _pipeline: &Pipeline) {}

    /// A command, before anything nested in it.
    fn node(&mut self, _node: &Node) {}

    /// A word, before anything nested in it.
    fn word(&mut self, _word: &Word) {}

    /// The parts of a word, of the body of a heredoc, or of any other text that bash expands.
    fn parts(&mut self, _parts: &[Part]) {}

    /// A substitution. Returns whether to visit the commands in it.
    fn enters(&mut self, _nested: &Nested) -> bool {
        true
    }
}

/// Visits all of a parsed text.
pub fn visit(read: &ParsedScript, visitor: &mut impl Visitor) {
    visit_list(&read.script.body, visitor);
    for heredoc in &read.heredocs {
        parts(&heredoc.parts, visitor);
    }
}

/// Visits commands with everything nested in them, but the bodies of their heredocs.
pub fn visit_list(all: &[AndOr], visitor: &mut impl Visitor) {
    let pipelines = all.iter().flat_map(|entry| &entry.pipelines);
    for (_, pipeline) in pipelines {
        visitor.pipeline(pipeline);
        for command in &pipeline.commands {
            node(command, visitor);
        }
    }
}

fn node(command: &Node, visitor: &mut impl Visitor) {
    visitor.node(command);
    match &command.kind {
        Kind::Simple(simple) => {
            for assignment in &simple.assignments {
                parts(assignment.index.as_deref().unwrap_or_default(), visitor);
                word(&assignment.value, visitor);
            }
            words(&simple.words, visitor);
            redirects(&simple.redirects, visitor);
        }
        Kind::Group(body) | Kind::Subshell(body) => visit_list(body, visitor),
        Kind::If { arms, otherwise } => {
            for (condition, body) in arms {
                visit_list(condition, visitor);
                visit_list(body, visitor);
            }
            visit_list(otherwise, visitor);
        }
        Kind::Loop { condition, expressions, body } => {
            words(expressions.as_slice(), visitor);
            visit_list(condition, visitor);
            visit_list(body, visitor);
        }
        Kind::For { name: _, words: items, body } => {
            words(items.as_deref().unwrap_or_default(), visitor);
            visit_list(body, visitor);
        }
        Kind::Case { word: subject, arms } => {
            word(subject, visitor);
            for (patterns, body) in arms {
                words(patterns, visitor);
                visit_list(body, visitor);
            }
        }
        Kind::Function { name: _, body } => node(body, visitor),
        Kind::Test(tested) => words(tested, visitor),
        Kind::Arithmetic(expression) => word(expression, visitor),
        Kind::Coproc(_, body) => node(body, visitor),
    }
    redirects(&command.redirects, visitor);
}

fn redirects(all: &[Redirection], visitor: &mut impl Visitor) {
    for redirection in all {
        word(&redirection.target, visitor);
    }
}

fn words(all: &[Word], visitor: &mut impl Visitor) {
    for each in all {
        word(each, visitor);
    }
}

fn word(one: &Word, visitor: &mut impl Visitor) {
    visitor.word(one);
    parts(&one.parts, visitor);
}

fn parts(all: &[Part], visitor: &mut impl Visitor) {
    visitor.parts(all);
    nested(all, visitor);
}

/// Visits everything nested in parts that have been visited.
fn nested(all: &[Part], visitor: &mut impl Visitor) {
    for part in all {
        match part {
            Part::Text(_) | Part::Quoted(_) => {}
            // Text in double quotes belongs to the same word.
            Part::Double(inner) => nested(inner, visitor),
            Part::Parameter(parameter) => {
                let Parameter { index, word, .. } = &**parameter;
                parts(index.as_deref().unwrap_or_default(), visitor);
                parts(word, visitor);
            }
            Part::Command(substitution) | Part::Process(substitution) => {
                if visitor.enters(substitution) {
                    visit_list(&substitution.list, visitor);
                }
            }
            Part::Arithmetic(inner) => parts(inner, visitor),
            Part::Pattern(pattern) => parts(&pattern.parts, visitor),
            Part::Array(items) => words(items, visitor),
        }
    }
}
