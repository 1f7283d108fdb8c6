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
    /// How far to go.
    pub level: Level,
    /// The command, if it is known.
    pub command: Option<&'a str>,
    /// Whether a line must stay.
    pub keep: &'a (dyn Fn(&str) -> bool + Sync),
    /// Rules of the user. One with the name of a shipped rule replaces it.
    pub own: &'a [Arc<Rule>],
    /// Names of rules that must not apply.
    pub off: &'a [String],
    /// Earlier results that a model still reads.
    pub earlier: Option<&'a Shown<'a>>,
}

impl<'a> Options<'a> {
    /// A level, and nothing else.
    pub fn new(level: Level) -> Self {
        Self { level, command: None, keep: &|_| false, own: &[], off: &[], earlier: None }
    }

    /// The parts of the output of the command.
    pub(super) fn printed(&self) -> Printed {
        self.command.map(printed).unwrap_or_default()
    }

    /// The rules for one stream.
    pub(super) fn rules(&self, printed: &Printed) -> Rules<'a> {
        let is_lossless = self.level == Level::Lossless || printed.exact;
        if is_lossless { Rules::default() } else { Rules::of(&printed.programs, self.own, self.off) }
    }

    /// The verdict of the caller and of the rules about a line.
    pub(super) fn verdict(&self, line: &str, rules: &mut Rules) -> Verdict {
        let Verdict { kept, dropped } = rules.next(line);
        if (self.keep)(line) { Verdict { kept: true, dropped: None } } else { Verdict { kept, dropped } }
    }
}
