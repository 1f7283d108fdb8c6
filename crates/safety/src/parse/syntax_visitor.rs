//! Visits every command and every word of a script, including nested commands and words.

use super::reader::ParsedScript;
use super::syntax::{
    AndOrList, CommandNode, CommandNodeKind, ParameterExpansion, PipelineSyntax, RedirectSyntax, SubstitutedCommands,
    WordPart, WordSyntax,
};

/// Receives the parts of a script in the order of the text.
pub trait SyntaxVisitor {
    /// A pipeline, before its commands.
    fn visit_pipeline(&mut self, _pipeline: &PipelineSyntax) {}

    /// A command, before anything nested in it.
    fn add_node(&mut self, _node: &CommandNode) {}

    /// A word, before anything nested in it.
    fn word(&mut self, _word: &WordSyntax) {}

    /// The parts of a word, of the body of a heredoc, or of any other text that bash expands.
    fn parts(&mut self, _parts: &[WordPart]) {}

    /// A substitution. Returns whether to visit the commands in it.
    fn may_enter(&mut self, _nested: &SubstitutedCommands) -> bool {
        true
    }
}

/// Visits all of a parsed text.
pub fn visit(read: &ParsedScript, visitor: &mut impl SyntaxVisitor) {
    visit_list(&read.script.body, visitor);
    for heredoc in &read.heredocs {
        parts(&heredoc.parts, visitor);
    }
}

/// Visits commands with everything nested in them, but the bodies of their heredocs.
pub fn visit_list(all: &[AndOrList], visitor: &mut impl SyntaxVisitor) {
    let pipelines = all.iter().flat_map(|entry| &entry.pipelines);
    for (_, pipeline) in pipelines {
        visitor.visit_pipeline(pipeline);
        for command in &pipeline.commands {
            node(command, visitor);
        }
    }
}

fn node(command: &CommandNode, visitor: &mut impl SyntaxVisitor) {
    visitor.add_node(command);
    match &command.kind {
        CommandNodeKind::Simple(simple) => {
            for assignment in &simple.assignments {
                parts(assignment.index.as_deref().unwrap_or_default(), visitor);
                word(&assignment.value, visitor);
            }
            words(&simple.words, visitor);
            redirects(&simple.redirects, visitor);
        }
        CommandNodeKind::Group(body) | CommandNodeKind::Subshell(body) => visit_list(body, visitor),
        CommandNodeKind::If { arms, otherwise } => {
            for (condition, body) in arms {
                visit_list(condition, visitor);
                visit_list(body, visitor);
            }
            visit_list(otherwise, visitor);
        }
        CommandNodeKind::Loop { condition, expressions, body } => {
            words(expressions.as_slice(), visitor);
            visit_list(condition, visitor);
            visit_list(body, visitor);
        }
        CommandNodeKind::For { name: _, words: items, body } => {
            words(items.as_deref().unwrap_or_default(), visitor);
            visit_list(body, visitor);
        }
        CommandNodeKind::Case { word: subject, arms } => {
            word(subject, visitor);
            for (patterns, body) in arms {
                words(patterns, visitor);
                visit_list(body, visitor);
            }
        }
        CommandNodeKind::Function { name: _, body } => node(body, visitor),
        CommandNodeKind::Test(tested) => words(tested, visitor),
        CommandNodeKind::Arithmetic(expression) => word(expression, visitor),
        CommandNodeKind::Coproc(_, body) => node(body, visitor),
    }
    redirects(&command.redirects, visitor);
}

fn redirects(all: &[RedirectSyntax], visitor: &mut impl SyntaxVisitor) {
    for redirection in all {
        word(&redirection.target, visitor);
    }
}

fn words(all: &[WordSyntax], visitor: &mut impl SyntaxVisitor) {
    for each in all {
        word(each, visitor);
    }
}

fn word(one: &WordSyntax, visitor: &mut impl SyntaxVisitor) {
    visitor.word(one);
    parts(&one.parts, visitor);
}

fn parts(all: &[WordPart], visitor: &mut impl SyntaxVisitor) {
    visitor.parts(all);
    nested(all, visitor);
}

/// Visits everything nested in parts that have been visited.
fn nested(all: &[WordPart], visitor: &mut impl SyntaxVisitor) {
    for part in all {
        match part {
            WordPart::Text(_) | WordPart::Quoted(_) => {}
            // Text in double quotes belongs to the same word.
            WordPart::Double(inner) => nested(inner, visitor),
            WordPart::Parameter(parameter) => {
                let ParameterExpansion { index, word, .. } = &**parameter;
                parts(index.as_deref().unwrap_or_default(), visitor);
                parts(word, visitor);
            }
            WordPart::Command(substitution) | WordPart::Process(substitution) => {
                if visitor.may_enter(substitution) {
                    visit_list(&substitution.list, visitor);
                }
            }
            WordPart::Arithmetic(inner) => parts(inner, visitor),
            WordPart::Pattern(pattern) => parts(&pattern.parts, visitor),
            WordPart::Array(items) => words(items, visitor),
        }
    }
}
