//! Reads the ledger.
//!
//! | file | what |
//! |---|---|
//! | `backward_reader` | a file from its end, in blocks |
//! | `ledger_history` | what is there, the newest entry first |
//! | `ledger_tail`, `ledger_follower` | what is added |
//! | `ledger_entry`, `ledger_query`, `entry_format` | the records of a run together, the filters, the form |
//! | `shim_liveness` | whether a run can still get an end |

mod backward_reader;
mod entry_format;
mod ledger_entry;
mod ledger_follower;
mod ledger_history;
mod ledger_query;
mod ledger_tail;
mod shim_liveness;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use entry_format::EntryFormat;
pub use ledger_history::PassedOverLines;
pub use ledger_query::LedgerQuery;

use ledger_entry::LedgerEntry;
use ledger_follower::LedgerFollower;
use ledger_history::LedgerHistory;
use ledger_query::LedgerFilter;

/// Bytes of entries after which a batch is full.
const BATCH: usize = 1024 * 1024;

/// A reader of the ledger.
pub struct LedgerReader {
    shape: EntryFormat,
    stage: ReadingStage,
}

enum ReadingStage {
    /// The newest entry first.
    History(Box<LedgerHistory>),
    /// The oldest entry first: all that is there is read before the first entry is given.
    Oldest(Box<LedgerHistory>),
    /// The entries of that which were not given yet, the newest first.
    Given(Box<LedgerFollower>, Vec<String>),
    /// What is added.
    Live(Box<LedgerFollower>),
    /// No entry follows.
    Over(PassedOverLines),
}

/// Entries that were read.
#[derive(Debug, Default)]
pub struct EntryBatch {
    /// The entries, one line each.
    pub text: String,
    /// Whether no more follow.
    pub is_over: bool,
    /// Whether more follow only once they are written.
    pub waits: bool,
}

impl LedgerReader {
    /// Begins to read. A directory that does not exist is an empty ledger.
    #[must_use]
    pub fn new(directory: PathBuf, query: LedgerQuery, shape: EntryFormat) -> Self {
        let follows = query.follow;
        let history = Box::new(LedgerHistory::new(directory, LedgerFilter::new(query), follows));
        Self { shape, stage: if follows { ReadingStage::Oldest(history) } else { ReadingStage::History(history) } }
    }

    /// Reads the next entries. There are none at the end, or if none was written.
    pub fn read(&mut self) -> EntryBatch {
        let shape = self.shape;
        let write = move |entry: &LedgerEntry<'_>| {
            let mut text = String::with_capacity(512);
            shape.write(entry, &mut text);
            text
        };
        let mut batch = EntryBatch::default();
        self.stage = match std::mem::replace(&mut self.stage, ReadingStage::Over(PassedOverLines::default())) {
            ReadingStage::History(mut history) => {
                let mut goes_on = true;
                while goes_on && batch.text.len() < BATCH {
                    goes_on = history.read(&write, &mut |text| batch.text.push_str(&text));
                }
                if goes_on { ReadingStage::History(history) } else { ReadingStage::Over(history.passed) }
            }
            ReadingStage::Oldest(history) => Self::read_oldest_first(*history, &write),
            ReadingStage::Given(live, mut rest) => {
                while batch.text.len() < BATCH
                    && let Some(text) = rest.pop()
                {
                    batch.text.push_str(&text);
                }
                if rest.is_empty() { ReadingStage::Live(live) } else { ReadingStage::Given(live, rest) }
            }
            ReadingStage::Live(mut live) => {
                let goes_on = live.read(&write, &mut |text| batch.text.push_str(&text));
                if goes_on { ReadingStage::Live(live) } else { ReadingStage::Over(live.passed) }
            }
            over @ ReadingStage::Over(_) => over,
        };
        batch.is_over = matches!(self.stage, ReadingStage::Over(_));
        batch.waits = matches!(self.stage, ReadingStage::Live(_));
        batch
    }

    /// Reads all that is there.
    fn read_oldest_first(mut history: LedgerHistory, write: &impl Fn(&LedgerEntry<'_>) -> String) -> ReadingStage {
        let limit = history.limit();
        let mut all = Vec::new();
        while history.read(write, &mut |text| all.push(text)) {}
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        all.drain(..all.len().saturating_sub(most));
        let live = Box::new(LedgerFollower::behind(history, all.len() as u64));
        if all.is_empty() { ReadingStage::Live(live) } else { ReadingStage::Given(live, all) }
    }

    /// Returns what was passed over so far.
    pub fn passed_over(&self) -> &PassedOverLines {
        match &self.stage {
            ReadingStage::History(history) | ReadingStage::Oldest(history) => &history.passed,
            ReadingStage::Given(live, _) | ReadingStage::Live(live) => &live.passed,
            ReadingStage::Over(passed) => passed,
        }
    }
}
