//! The options of a reduction.

use std::sync::Arc;

use super::Level;
use super::class::{Printed, printed};
use super::rules::{Rule, Rules};
use super::seen::Shown;
use super::types::Verdict;

/// The options of a reduction.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The level of the reduction.
    pub level: Level,
    /// The command, if it is known.
    pub command: Option<&'a str>,
    /// Tells whether a line must stay.
    pub keep: &'a (dyn Fn(&str) -> bool + Sync),
    /// Rules of the user. A rule with the name of a shipped rule replaces it.
    pub own: &'a [Arc<Rule>],
    /// Names of rules that must not apply.
    pub off: &'a [String],
    /// Earlier results that a model still reads.
    pub earlier: Option<&'a Shown<'a>>,
}

impl<'a> Options<'a> {
    /// Makes options with a level and nothing else.
    pub fn new(level: Level) -> Self {
        Self { level, command: None, keep: &|_| false, own: &[], off: &[], earlier: None }
    }

    /// Returns the parts of the output of the command.
    pub(super) fn printed(&self) -> Printed {
        self.command.map(printed).unwrap_or_default()
    }

    /// Returns the rules for one stream.
    pub(super) fn rules(&self, printed: &Printed) -> Rules<'a> {
        let is_lossless = self.level == Level::Lossless || printed.exact;
        if is_lossless { Rules::default() } else { Rules::of(&printed.programs, self.own, self.off) }
    }

    /// Returns the verdict of the caller and of the rules about a line.
    pub(super) fn verdict(&self, line: &str, rules: &mut Rules) -> Verdict {
        let Verdict { kept, dropped } = rules.next(line);
        if (self.keep)(line) { Verdict { kept: true, dropped: None } } else { Verdict { kept, dropped } }
    }
}
