//! The first program of a command, whose output can go through another filter.

use reduce::class::{find_producer, whole_command_producer};
use safety::Utf16Offsets;
use safety::parse::{CommandNodeKind, read};

/// The first program of a pipeline, or a program alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineSource {
    /// The text up to its end: with a `cd` before it, and `|&` written as `2>&1`.
    pub text: String,
    /// Its place in the command, in UTF-16 units.
    pub span: (usize, usize),
    /// Whether its errors go where its output goes, or into a file.
    pub takes_errors: bool,
    /// The filter behind its pipe.
    pub filter: Option<PipelineFilter>,
}

/// The commands behind the pipe of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineFilter {
    /// Its source.
    pub source: String,
    /// The command without the source.
    pub command: String,
}

impl PipelineSource {
    /// Returns the source of a command, alone or behind `cd X &&`. `None`: it has another shape, or a source that is
    /// not worth it.
    pub fn of(command: &str) -> Option<Self> {
        let found =
            find_producer(command).or_else(|| whole_command_producer(command)).filter(|found| found.why.is_none())?;
        let (before, own) = (command.get(..found.span.start)?, command.get(found.span.clone())?);
        let behind = command.get(found.span.end..)?.trim_start_matches([' ', '\t']);
        let (joins, filter) = match behind.strip_prefix('|') {
            Some(rest) => match rest.strip_prefix('&') {
                Some(rest) => (true, Some(rest.trim())),
                None => (false, Some(rest.trim())),
            },
            None if behind.trim().is_empty() => (false, None),
            None => return None,
        };
        let text = format!("{}{own}{}", before.trim_start(), if joins { " 2>&1" } else { "" });
        let filter =
            filter.map(|source| PipelineFilter { source: source.to_owned(), command: format!("{before}{source}") });
        let takes_errors = joins || redirects_errors(own);
        Some(Self { text, span: Utf16Offsets::new(command).span(&found.span), takes_errors, filter })
    }
}

fn redirects_errors(source: &str) -> bool {
    let parsed = read(source);
    let commands = parsed.script.body.iter().flat_map(|list| &list.pipelines).flat_map(|(_, line)| &line.commands);
    commands.into_iter().any(|command| match &command.kind {
        CommandNodeKind::Simple(simple) => {
            simple.redirects.iter().any(|redirect| redirect.fd == Some(2) && redirect.op.contains('>'))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_the_same_whatever_its_filter_is() {
        for (command, text, filter, takes_errors) in [
            ("npm test", "npm test", None, false),
            ("npm test 2>&1", "npm test 2>&1", None, true),
            ("npm test 2>&1 | tail -5", "npm test 2>&1", Some("tail -5"), true),
            ("npm test |& grep x | wc -l", "npm test 2>&1", Some("grep x | wc -l"), true),
            ("npm test 2>/dev/null|tail", "npm test 2>/dev/null", Some("tail"), true),
            ("cd app && npm test | tail", "cd app && npm test", Some("cd app && tail"), false),
            (" make é |\n while read x; do echo $x; done", "make é", Some(" while read x; do echo $x; done"), false),
        ] {
            let source = PipelineSource::of(command).unwrap_or_else(|| panic!("{command}"));
            assert_eq!((source.text.as_str(), source.takes_errors), (text, takes_errors), "{command}");
            assert_eq!(source.filter.map(|filter| filter.command).as_deref(), filter, "{command}");
        }
    }

    #[test]
    fn other_shapes_have_no_source() {
        for command in [
            "npm test; make",
            "npm test | tail; make",
            "npm test $(ls) | tail",
            "cat log | tail",
            "grep -rn x .",
            "! npm test | tail",
            "npm test \\\n | tail",
            "npm test # all",
            "npm test &",
        ] {
            assert_eq!(PipelineSource::of(command), None, "{command}");
        }
    }
}
