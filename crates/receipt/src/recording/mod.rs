//! The recording of a run, from right before its start to its end, and its part in the result.
//!
//! | part | where | what |
//! |---|---|---|
//! | wanted | `recording_request.rs` | the caller's wishes |
//! | risk | `command_risk.rs` | the facts known of the command before it runs |
//! | choice | `recording_method.rs` | how the run is recorded; pure |
//! | prepare | `prepared_recording.rs` | finds out the facts needed for the choice |
//! | recording | `run_recording.rs` | the recording while the run goes on |
//! | exact | `exact_recording.rs` | reads the record of a run that has ended |
//! | effect | `record_effect.rs`, `kept_run_files.rs` | from that record to the net effect |
//! | other names | `other_names.rs` | other names of files with several names |
//! | run record | `run_record.rs` | the part of a result |
//!
//! - **A command without these options starts as if there were none.** A command with them starts in the runtime, as
//!   reading the tree, the repositories and the ports may block. It may still run in a warm shell.
//! - **The addon composes the receipt.** The shim writes the states before and after each change to the store. The
//!   addon adds repositories and ports, which no change shows and which it reads before and after the run. It removes
//!   the record unless the run can be undone.
//! - **Repositories are read before the run:** the repository of the run's directory, and of each directory in which
//!   the words of the command run git. A change by another program in another repository makes the receipt partial.
//! - **A change of a file with several names counts for all its names.** Names that the record does not know are
//!   searched for below the repository. If not all are found, the receipt is partial.

mod command_risk;
mod exact_recording;
mod kept_run_files;
mod other_names;
mod prepared_recording;
mod record_effect;
mod recording_method;
mod recording_request;
mod run_record;
mod run_recording;

pub use command_risk::CommandRisk;
pub use exact_recording::ExactRecording;
pub use prepared_recording::{
    PreparedRecording, RecordedCommand, prepare, recording_obstacle, snapshot_tree, undo_obstacle,
};
pub use recording_method::{NotUndoable, RecordingMethod};
pub use recording_request::{ReceiptSource, RecordingRequest, RequestedUndo, UndoCondition};
pub use run_record::{RunRecord, RunUndoCoverage};
pub use run_recording::{RunRecording, mark};
