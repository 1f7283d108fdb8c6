//! Results that are given again: a stored run in place of a new one, while nothing that it depends on is known to have
//! changed.
//!
//! | file | what |
//! |---|---|
//! | `reuse_candidate.rs` | a run on its way into the store |
//! | `output_copy.rs` | the output of a run as it was written |
//! | `pipeline_source.rs` | the first program of a command, whose output can go through another filter |
//! | `stored_run.rs` | a run that has ended, and what its result depends on |
//! | `reuse_store.rs` | the runs of this process, by their trees |
//! | `varying_results.rs` | commands whose result varies although no file changes |

mod output_copy;
mod pipeline_source;
mod reuse_candidate;
mod reuse_store;
mod stored_run;
mod varying_results;

use std::time::Duration;

use safety::decide::NamedCommandRules;

pub use output_copy::{SharedOutputCopy, WholeOutputCopy};
pub use pipeline_source::PipelineSource;
pub use reuse_candidate::{ReuseCandidate, StorableRun};
pub use reuse_store::find_run;
pub use stored_run::{ReuseGround, ReuseKey, ReusedRun, SourceOutput, StoredRun};
pub use varying_results::{is_vouched, only_reads, varies, writes};

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
