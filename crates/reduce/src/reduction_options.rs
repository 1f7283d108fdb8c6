//! The options of a reduction.

use std::sync::Arc;

use super::ReductionLevel;
use super::class::{OutputProfile, output_profile};
use super::earlier_results::EarlierLines;
use super::reduced_view::LineVerdict;
use super::rules::{OutputRule, StreamRules};

/// The options of a reduction.
#[derive(Clone, Copy)]
pub struct ReductionOptions<'a> {
    /// The level of the reduction.
    pub level: ReductionLevel,
    /// The command, if it is known.
    pub command: Option<&'a str>,
    /// Tells whether a line must stay.
    pub keep: &'a (dyn Fn(&str) -> bool + Sync),
    /// Rules of the user. A rule with the name of a shipped rule replaces it.
    pub own: &'a [Arc<OutputRule>],
    /// Names of rules that must not apply.
    pub off: &'a [String],
    /// Earlier results that a model still reads.
    pub earlier: Option<&'a EarlierLines<'a>>,
}

impl<'a> ReductionOptions<'a> {
    /// Makes options with a level and nothing else.
    pub fn new(level: ReductionLevel) -> Self {
        Self { level, command: None, keep: &|_| false, own: &[], off: &[], earlier: None }
    }

    /// Returns the parts of the output of the command.
    pub(super) fn output_profile(&self) -> OutputProfile {
        self.command.map(output_profile).unwrap_or_default()
    }

    /// Returns the rules for one stream.
    pub(super) fn rules(&self, printed: &OutputProfile) -> StreamRules<'a> {
        let is_lossless = self.level == ReductionLevel::Lossless || printed.exact;
        if is_lossless { StreamRules::default() } else { StreamRules::of(&printed.programs, self.own, self.off) }
    }

    /// Returns the verdict of the caller and of the rules about a line.
    pub(super) fn verdict(&self, line: &str, rules: &mut StreamRules) -> LineVerdict {
        let LineVerdict { kept, dropped } = rules.judge_line(line);
        if (self.keep)(line) { LineVerdict { kept: true, dropped: None } } else { LineVerdict { kept, dropped } }
    }
}
