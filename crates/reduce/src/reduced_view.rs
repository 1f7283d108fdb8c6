//! Arguments and results of a reduction.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::class::OutputClass;

/// The name of a fold or of a rule. The name of a user's rule is owned.
pub type ViewRuleName = Cow<'static, str>;

/// A stream of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandStream {
    /// The standard output.
    #[default]
    Stdout,
    /// The standard error.
    Stderr,
}

impl CommandStream {
    /// Returns the index of the stream.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// How far a reduction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionLevel {
    /// Only folds that lose nothing.
    Lossless,
    /// Lines are left out, too, so that the rest stays within the budget.
    Salient {
        /// The budget in tokens. A failed output gets four times as much.
        budget: usize,
    },
}

/// Budget in tokens if the caller gives none.
pub const DEFAULT_BUDGET: usize = 1_000;

/// How a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitOutcome {
    /// Not known.
    #[default]
    Unknown,
    /// With the exit code 0.
    Succeeded,
    /// With another exit code, through a signal or at a limit.
    Failed,
}

/// The reason why lines are not shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ElisionReason {
    /// Other lines tell more.
    Salience,
    /// The middle of a long line.
    Long,
    /// A rule drops the lines.
    Rule(ViewRuleName),
    /// An earlier result shows the lines.
    Seen,
}

impl ElisionReason {
    /// Returns the name in results.
    pub fn name(&self) -> &str {
        match self {
            Self::Salience => "budget",
            Self::Long => "long",
            Self::Rule(rule) => rule,
            Self::Seen => "seen",
        }
    }
}

/// The verdict of a caller and of the rules about a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct LineVerdict {
    /// Whether the line must stay.
    pub kept: bool,
    /// The rule that drops the line.
    pub dropped: Option<DroppingRule>,
}

/// A rule drops a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct DroppingRule {
    /// The number of the rule.
    pub rule: u32,
    /// Whether the rule also drops the line of a failed output.
    pub always: bool,
}

impl DroppingRule {
    /// Returns whether the rule drops the line of an output. `red`: something failed.
    pub fn applies(self, red: bool) -> bool {
        self.always || !red
    }
}

/// Lines that are not shown, or shown in part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElidedRange {
    /// The stream of the lines.
    pub stream: CommandStream,
    /// The first line, from 1, in the stream.
    pub from: usize,
    /// The last line.
    pub to: usize,
    /// The reason.
    pub why: ElisionReason,
}

/// The text that a model reads in place of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReducedView {
    /// The text, without the closing line that names the place of the whole.
    pub text: String,
    /// The tokens of the output.
    pub before: usize,
    /// The tokens of the text.
    pub after: usize,
    /// The class of the output.
    pub class: OutputClass,
    /// Lines that are not shown, in order.
    pub elided: Vec<ElidedRange>,
    /// Folds and rules that were used.
    pub rules: Vec<ViewRuleName>,
    /// The lines of standard output and of standard error.
    pub lines: [usize; 2],
}

/// Returns the line behind a view that names the place of the whole: `[#12: 1,204 lines whole in PATH; recall
/// "12:40-95"]`, with the lines of the first gap. Without a number, the output cannot be recalled: `[1,204 lines whole
/// in PATH]`.
pub fn closing_line(total: usize, (from, to): (usize, usize), id: Option<u64>, path: Option<&str>) -> String {
    let total = grouped(total);
    let place = path.map_or_else(|| " in all".to_owned(), |path| format!(" whole in {path}"));
    match id {
        Some(id) => format!("[#{id}: {total} lines{place}; recall \"{id}:{from}-{to}\"]"),
        None => format!("[{total} lines{place}]"),
    }
}

/// Returns a number with separators for thousands: `1,204`.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!([grouped(0), grouped(999), grouped(1_204), grouped(1_000_000)], ["0", "999", "1,204", "1,000,000"]);
    }
}
