//! Reads the ledger.
//!
//! | file | what |
//! |---|---|
//! | `backward` | a file from its end, in blocks |
//! | `history` | what is there, the newest entry first |
//! | `tail`, `live` | what is added |
//! | `entry`, `query`, `shape` | the records of a run together, the filters, the form |
//! | `living` | whether a run can still get an end |

mod backward;
mod entry;
mod history;
mod live;
mod living;
mod query;
mod shape;
mod tail;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use history::Passed;
pub use query::Query;
pub use shape::Shape;

use entry::Entry;
use history::History;
use live::Live;
use query::Filter;

/// Bytes of entries after which a batch is full.
const BATCH: usize = 1024 * 1024;

/// A reader of the ledger.
pub struct Reader {
    shape: Shape,
    stage: Stage,
}

enum Stage {
    /// The newest entry first.
    History(Box<History>),
    /// The oldest entry first: all that is there is read before the first entry is given.
    Oldest(Box<History>),
    /// The entries of that which were not given yet, the newest first.
    Given(Box<Live>, Vec<String>),
    /// What is added.
    Live(Box<Live>),
    /// No entry follows.
    Over(Passed),
}

/// Entries that were read.
#[derive(Debug, Default)]
pub struct Batch {
    /// The entries, one line each.
    pub text: String,
    /// Whether no more follow.
    pub is_over: bool,
    /// Whether more follow only once they are written.
    pub waits: bool,
}

impl Reader {
    /// Begins to read. A directory that does not exist is an empty ledger.
    #[must_use]
    pub fn new(directory: PathBuf, query: Query, shape: Shape) -> Self {
        let follows = query.follow;
        let history = Box::new(History::new(directory, Filter::new(query), follows));
        Self { shape, stage: if follows { Stage::Oldest(history) } else { Stage::History(history) } }
    }

    /// Reads the next entries. There are none at the end, or if none was written.
    pub fn read(&mut self) -> Batch {
        let shape = self.shape;
        let write = move |entry: &Entry<'_>| {
            let mut text = String::with_capacity(512);
            shape.write(entry, &mut text);
            text
        };
        let mut batch = Batch::default();
        self.stage = match std::mem::replace(&mut self.stage, Stage::Over(Passed::default())) {
            Stage::History(mut history) => {
                let mut goes_on = true;
                while goes_on && batch.text.len() < BATCH {
                    goes_on = history.read(&write, &mut |text| batch.text.push_str(&text));
                }
                if goes_on { Stage::History(history) } else { Stage::Over(history.passed) }
            }
            Stage::Oldest(history) => Self::oldest(*history, &write),
            Stage::Given(live, mut rest) => {
                while batch.text.len() < BATCH
                    && let Some(text) = rest.pop()
                {
                    batch.text.push_str(&text);
                }
                if rest.is_empty() { Stage::Live(live) } else { Stage::Given(live, rest) }
            }
            Stage::Live(mut live) => {
                let goes_on = live.read(&write, &mut |text| batch.text.push_str(&text));
                if goes_on { Stage::Live(live) } else { Stage::Over(live.passed) }
            }
            over @ Stage::Over(_) => over,
        };
        batch.is_over = matches!(self.stage, Stage::Over(_));
        batch.waits = matches!(self.stage, Stage::Live(_));
        batch
    }

    /// Reads all that is there.
    fn oldest(mut history: History, write: &impl Fn(&Entry<'_>) -> String) -> Stage {
        let limit = history.limit();
        let mut all = Vec::new();
        while history.read(write, &mut |text| all.push(text)) {}
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        all.drain(..all.len().saturating_sub(most));
        let live = Box::new(Live::behind(history, all.len() as u64));
        if all.is_empty() { Stage::Live(live) } else { Stage::Given(live, all) }
    }

    /// Returns what was passed over so far.
    pub fn passed(&self) -> &Passed {
        match &self.stage {
            Stage::History(history) | Stage::Oldest(history) => &history.passed,
            Stage::Given(live, _) | Stage::Live(live) => &live.passed,
            Stage::Over(passed) => passed,
        }
    }
}
