//! Results that are given again: a stored run in place of a new one, while nothing that it depends on is known to have
//! changed.
//!
//! | file | what |
//! |---|---|
//! | `candidate.rs` | a run on its way into the store |
//! | `copy.rs` | the output of a run as it was written |
//! | `source.rs` | the first program of a command, whose output can go through another filter |
//! | `stored.rs` | a run that has ended, and what its result depends on |
//! | `store.rs` | the runs of this process, by their trees |
//! | `varying.rs` | commands whose result varies although no file changes |

mod candidate;
mod copy;
mod source;
mod store;
mod stored;
mod varying;

use std::time::Duration;

use safety::decide::NamedCommandRules;

pub use candidate::{ReuseCandidate, StorableRun};
pub use copy::{SharedOutputCopy, WholeOutputCopy};
pub use source::PipelineSource;
pub use store::find_run;
pub use stored::{ReuseGround, ReuseKey, ReusedRun, SourceOutput, StoredRun};
pub use varying::{is_vouched, only_reads, varies, writes};

/// The re-use that a caller wants.
#[derive(Debug)]
pub struct ReuseRequest {
    /// Rules that name commands whose results depend on their tree alone: the host vouches for them.
    pub commands: NamedCommandRules,
    /// The highest age of a result.
    pub max_age: Duration,
    /// The most bytes of all outputs.
    pub store_bytes: u64,
    /// Whether the command runs whatever is stored.
    pub fresh: bool,
}
