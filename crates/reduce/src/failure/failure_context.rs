//! Lines that only the lines above explain. The error of a traceback is a failure, whatever its name
//! (`django.core.exceptions.ImproperlyConfigured: …`). What tested code wrote to its console is no failure.

use super::FailureSeverity;

/// Follows the lines of an output.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct FailureContext {
    /// The indentation of the traceback whose frames are read.
    frames: Option<usize>,
    /// The console whose text is read.
    console: Option<QuotedConsole>,
}

/// What a test runner shows of a console.
#[derive(Clone, Copy, Debug, Hash)]
enum QuotedConsole {
    /// `console.error` of Jest: the text is indented more.
    Indented(usize),
    /// `stderr | a.test.ts > sums` of Vitest: the text ends with a blank line.
    Paragraph,
}

impl FailureContext {
    /// Takes the next line. Returns its severity.
    pub fn next(&mut self, line: &str, severity: FailureSeverity) -> FailureSeverity {
        if self.is_quoted(line) {
            return severity.min(FailureSeverity::Mention);
        }
        let Some(outer) = self.frames else {
            if severity == FailureSeverity::Failure && line.trim_end().ends_with("(most recent call last):") {
                self.frames = Some(indent(line));
            }
            return severity;
        };
        if indent(line) > outer {
            return severity;
        }
        self.frames = None;
        if line.trim().is_empty() { severity } else { FailureSeverity::Failure }
    }

    /// Returns whether a line is the text of a console.
    fn is_quoted(&mut self, line: &str) -> bool {
        let is_over = match self.console {
            None => true,
            Some(QuotedConsole::Indented(outer)) => indent(line) <= outer && !line.trim().is_empty(),
            Some(QuotedConsole::Paragraph) => line.trim().is_empty(),
        };
        if !is_over {
            return true;
        }
        const CALLS: [&str; 5] = ["console.error", "console.warn", "console.log", "console.info", "console.debug"];
        self.console = match line.as_bytes().first() {
            Some(b' ') if CALLS.contains(&line.trim()) => Some(QuotedConsole::Indented(indent(line))),
            Some(b's') if line.starts_with("stderr | ") || line.starts_with("stdout | ") => {
                Some(QuotedConsole::Paragraph)
            }
            _ => None,
        };
        false
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::severity;

    #[test]
    fn the_line_behind_the_frames_of_a_traceback_is_its_error() {
        let mut context = FailureContext::default();
        let lines = [
            "Traceback (most recent call last):",
            "  File \"manage.py\", line 22, in main",
            "django.core.exceptions.ImproperlyConfigured: Requested setting",
            "next",
        ];
        let severities = lines.map(|line| context.next(line, severity(line)));
        assert_eq!(
            severities,
            [FailureSeverity::Failure, FailureSeverity::None, FailureSeverity::Failure, FailureSeverity::None]
        );
    }

    #[test]
    fn what_tested_code_wrote_to_its_console_is_no_failure() {
        let mut context = FailureContext::default();
        let jest = ["    console.error", "      Error: no", "", "      at f (a.js:3:9)", "PASS a.test.js", "Error: no"];
        let severities = jest.map(|line| context.next(line, severity(line)));
        assert_eq!(severities[..5].iter().max(), Some(&FailureSeverity::Mention));
        assert_eq!(severities[5], FailureSeverity::Failure);
        let vitest = ["stderr | a.test.ts > sums", "Error: no", "", "Error: no"];
        let severities = vitest.map(|line| context.next(line, severity(line)));
        assert_eq!([severities[1], severities[3]], [FailureSeverity::Mention, FailureSeverity::Failure]);
    }
}
