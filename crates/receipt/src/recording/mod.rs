//! The recording of a run, from right before its start to its end, and its part in the result.
//!
//! | part | where | what |
//! |---|---|---|
//! | wanted | `wanted.rs` | what the caller asked for |
//! | risk | `risk.rs` | the facts known of the command before it runs |
//! | choice | `choice.rs` | how the run is recorded; pure |
//! | prepare | `prepare.rs` | finds out the facts needed for the choice |
//! | room | `room.rs` | makes room in the undo store |
//! | recording | `recording.rs` | the recording while the run goes on |
//! | exact | `exact.rs` | reads the record of a run that has ended |
//! | effect | `effect.rs`, `contents.rs` | from that record to the net effect |
//! | other names | `other_names.rs` | of files that have several |
//! | run record | `run_record.rs` | what a result says |

mod choice;
mod contents;
mod effect;
mod exact;
mod other_names;
mod prepare;
#[expect(clippy::module_inception, reason = "the noun of this directory")]
mod recording;
mod risk;
mod room;
mod run_record;
mod wanted;

pub use choice::Method;
pub use exact::Exact;
pub use prepare::{Prepared, Subject, no_point, no_record, prepare, tree};
pub use recording::Recording;
pub use risk::Risk;
pub use run_record::{Coverage, RunRecord};
pub use wanted::{Detail, Undo, Wanted, When};
