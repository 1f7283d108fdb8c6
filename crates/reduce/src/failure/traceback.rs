//! The errors of tracebacks, whose names need not sound like one: `django.core.exceptions.ImproperlyConfigured: …`.

use super::Severity;

/// Follows the frames of tracebacks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tracebacks {
    /// The indentation of the traceback whose frames are read.
    open: Option<usize>,
}

impl Tracebacks {
    /// Takes the next line. Returns its severity: the line behind the frames is a failure.
    pub fn next(&mut self, line: &str, severity: Severity) -> Severity {
        let Some(outer) = self.open else {
            if severity == Severity::Failure && line.trim_end().ends_with("(most recent call last):") {
                self.open = Some(indent(line));
            }
            return severity;
        };
        if indent(line) > outer {
            return severity;
        }
        self.open = None;
        if line.trim().is_empty() { severity } else { Severity::Failure }
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
        let mut tracebacks = Tracebacks::default();
        let lines = [
            "Traceback (most recent call last):",
            "  File \"manage.py\", line 22, in main",
            "django.core.exceptions.ImproperlyConfigured: Requested setting",
            "next",
        ];
        let severities = lines.map(|line| tracebacks.next(line, severity(line)));
        assert_eq!(severities, [Severity::Failure, Severity::None, Severity::Failure, Severity::None]);
    }
}
