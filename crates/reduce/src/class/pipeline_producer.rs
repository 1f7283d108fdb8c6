//! Finds the program whose whole output is worth keeping, though a filter behind it passes on a part.

use safety::parse::{
    AndOrList, AndOrOperator, ByteSpan, CommandNode, CommandNodeKind, PipelineSyntax, RedirectSyntax,
    UnexpandedCommand, WordPart, WordSyntax, read,
};

use super::output_profile::{LONGEST, output_profile};

/// The first program of a pipeline, and whether a tap can be in its first pipe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineProducer {
    /// The source of the program.
    pub command: String,
    /// Its place in the command, in bytes.
    pub span: ByteSpan,
    /// Why no tap can be there. `None`: one can.
    pub why: Option<&'static str>,
}

/// Why a pipeline has no tap.
const NOT_ALONE: &str = "The pipeline is not the whole command, but for a cd before it.";
/// Likewise.
const NOT_SIMPLE: &str = "What is before its first pipe is not one simple command without a substitution or heredoc.";

/// Returns the producer of the first pipeline that has one worth keeping: no contents of files, rows of a search, or
/// text of `echo`.
pub fn find_producer(command: &str) -> Option<PipelineProducer> {
    // Most commands have no pipe.
    if command.len() > LONGEST || !command.split("||").any(|part| part.contains('|')) {
        return None;
    }
    let parsed = read(command);
    if parsed.script.fault.is_some() {
        return None;
    }
    let body = &parsed.script.body;
    let pipelines = body.iter().flat_map(|list| &list.pipelines).map(|(_, pipeline)| pipeline);
    let first = pipelines.filter(|pipeline| pipeline.commands.len() > 1).find_map(|pipeline| {
        let span = pipeline.commands.first()?.span.clone();
        let source = command.get(span.clone())?;
        output_profile(source).is_messages().then(|| (pipeline, span, source.to_owned()))
    });
    let (pipeline, span, source) = first?;
    let why = if !is_alone(command, body, pipeline) {
        Some(NOT_ALONE)
    } else if !pipeline.commands.first().is_some_and(is_simple) {
        Some(NOT_SIMPLE)
    } else {
        None
    };
    Some(PipelineProducer { command: source, span, why })
}

/// Returns the producer that a command without a pipeline is itself, once a filter was taken away behind it.
pub fn whole_command_producer(command: &str) -> Option<PipelineProducer> {
    find_producer(&format!("{command} | cat")).filter(|producer| producer.why.is_none())
}

/// Returns whether a pipeline is the whole command, alone or behind `cd X &&`. Only then the first pipe is its own.
fn is_alone(command: &str, body: &[AndOrList], pipeline: &PipelineSyntax) -> bool {
    let [AndOrList { pipelines, background: false }] = body else { return false };
    let before = match pipelines.as_slice() {
        [(_, only)] if std::ptr::eq(only, pipeline) => 0,
        [(_, first), (AndOrOperator::And, second)] if std::ptr::eq(second, pipeline) && is_cd(first) => {
            first.commands.last().map_or(0, |cd| cd.span.end)
        }
        _ => return false,
    };
    let start = pipeline.commands.first().map_or(0, |first| first.span.start);
    // `time` is in front of a pipeline, and no part of it.
    let between = command.get(before..start).unwrap_or("time");
    !pipeline.negated && !between.contains("time")
}

fn is_cd(pipeline: &PipelineSyntax) -> bool {
    let [CommandNode { kind: CommandNodeKind::Simple(cd), .. }] = pipeline.commands.as_slice() else { return false };
    cd.words.first().and_then(WordSyntax::bare) == Some("cd") && is_plain(cd) && cd.redirects.is_empty()
}

fn is_simple(node: &CommandNode) -> bool {
    match &node.kind {
        CommandNodeKind::Simple(command) => {
            !command.words.is_empty() && is_plain(command) && !leaves(&command.redirects)
        }
        _ => false,
    }
}

/// Returns whether a command has no substitution and no heredoc, for which bash makes pipes, too.
fn is_plain(command: &UnexpandedCommand) -> bool {
    let values = command.assignments.iter().map(|assignment| &assignment.value);
    let targets = command.redirects.iter().map(|redirect| &redirect.target);
    !command.redirects.iter().any(|redirect| redirect.op.starts_with("<<"))
        && !command.assignments.iter().any(|assignment| assignment.index.is_some())
        && command.words.iter().chain(values).chain(targets).all(|word| is_known(&word.parts))
}

/// Returns whether words start no commands.
fn is_known(parts: &[WordPart]) -> bool {
    parts.iter().all(|part| match part {
        WordPart::Text(_) | WordPart::Quoted(_) => true,
        WordPart::Double(parts) => is_known(parts),
        WordPart::Parameter(parameter) => {
            is_known(&parameter.word) && parameter.index.as_deref().is_none_or(is_known) && !parameter.indirect
        }
        WordPart::Arithmetic(parts) => is_known(parts),
        WordPart::Pattern(pattern) => is_known(&pattern.parts),
        WordPart::Array(words) => words.iter().all(|word| is_known(&word.parts)),
        WordPart::Command(_) | WordPart::Process(_) => false,
    })
}

/// Returns whether the output of a command does not reach its pipe.
fn leaves(redirects: &[RedirectSyntax]) -> bool {
    redirects.iter().any(|redirect| redirect.op.contains('>') && redirect.fd.is_none_or(|fd| fd == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipeline_alone_or_behind_cd_has_a_tap_at_its_producer() {
        for (command, source) in [
            ("npm test 2>&1 | tail -5", "npm test 2>&1"),
            ("cd app && npm test | grep -v ok | tail", "npm test"),
            ("cd \"$HOME/app\" && CI=1 make -j2 check 2>/dev/null | tail", "CI=1 make -j2 check 2>/dev/null"),
            ("yes | head", "yes"),
            ("pytest -q |& tail -3", "pytest -q"),
            ("  cargo test --lib '$(x)' |\n while read line; do echo \"$line\"; done", "cargo test --lib '$(x)'"),
            ("make < input | (head -1; cat)", "make < input"),
            ("make \"${1:-all}\" | tail # a comment", "make \"${1:-all}\""),
        ] {
            let found = find_producer(command).unwrap_or_else(|| panic!("{command}"));
            assert_eq!((found.command.as_str(), found.why), (source, None), "{command}");
            assert_eq!(&command[found.span], source);
        }
    }

    #[test]
    fn a_pipeline_of_another_shape_says_why_it_has_none() {
        for (command, why) in [
            ("npm test | tail; echo done", NOT_ALONE),
            ("npm ci && npm test | tail", NOT_ALONE),
            ("npm test | tail || true", NOT_ALONE),
            ("npm test | tail &", NOT_ALONE),
            ("! npm test | tail", NOT_ALONE),
            ("time npm test | tail", NOT_ALONE),
            ("cd app; npm test | tail", NOT_ALONE),
            ("cd $(git rev-parse --show-toplevel) && npm test | tail", NOT_ALONE),
            ("cd app <<< x && npm test | tail", NOT_ALONE),
            ("npm test $(ls) | tail", NOT_SIMPLE),
            ("X=`ls` npm test | tail", NOT_SIMPLE),
            ("make <(ls) | tail", NOT_SIMPLE),
            ("make \"${x:-$(ls)}\" | tail", NOT_SIMPLE),
            ("python3 - <<E | tail\nprint(1)\nE", NOT_SIMPLE),
            ("{ npm test; make; } | tail", NOT_SIMPLE),
            ("(npm test) | tail", NOT_SIMPLE),
        ] {
            assert_eq!(find_producer(command).and_then(|found| found.why), Some(why), "{command}");
        }
    }

    #[test]
    fn a_command_whose_filter_was_taken_away_is_a_producer_itself() {
        let source = |command| whole_command_producer(command).map(|producer| producer.command);
        assert_eq!(source("cd app && npm test 2>&1").as_deref(), Some("npm test 2>&1"));
        for command in ["cat log", "make; npm test", "npm test $(ls)", "npm test # all"] {
            assert_eq!(source(command), None, "{command}");
        }
    }

    #[test]
    fn what_is_not_worth_keeping_is_no_producer() {
        for command in [
            "npm test",
            "npm test || true",
            "cat log | tail",
            "grep -rn x . | head",
            "ls -la | wc -l",
            "git log --oneline | head",
            "git diff | head",
            "echo 'npm test' | cat",
            "npm ls --json | jq .",
            "npm test | tail 'unfinished",
            "true | cat",
            "sleep 1 | cat",
        ] {
            assert_eq!(find_producer(command), None, "{command}");
        }
    }
}
