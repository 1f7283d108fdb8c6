//! The ledger: a record on disk of every command, which survives its host.
//!
//! Runs in shims, which write the start and the end of their command, and in the host, which adds what it alone knows,
//! and reads. Begin with `record.rs`.
//!
//! | file | what |
//! |---|---|
//! | `record`, `line` | the records, and their lines with checksums |
//! | `start`, `note` | what the host puts into a record, cut to its size |
//! | `day`, `place`, `write`, `sweep` | the files |
//! | `read/` | from the files to entries |
//!
//! - **One `write` per record, at the end of a file, without a lock.** A line that is damaged costs itself alone.
//! - **A run has one entry,** however many records it has. A later record adds to an earlier one.
//! - **Nothing that fails here changes a command.** It costs the entry, and the shim reports the reason with the exit.

mod day;
mod line;
mod note;
mod pending;
mod place;
mod read;
mod record;
mod start;
mod sweep;
mod write;

pub use line::LedgerLine;
pub use note::{note_line, run_changes};
pub use pending::{PendingLedgerRecord, wait_for_pending};
pub use place::{LedgerError, ledger_directory};
pub use read::{EntryBatch, EntryFormat, LedgerQuery, LedgerReader, PassedOverLines};
pub use record::{
    Actor, LedgerRunChanges, LedgerRunEnd, LedgerRunHost, LedgerRunNote, LedgerRunSilence, LedgerRunStart,
    LedgerRunState, LedgerRunTask, ShimId, in_milliseconds, own_shim,
};
pub use start::{own_host, to_json_within_record};
pub use sweep::{LedgerSweepSchedule, sweep_files};
pub use write::LedgerWriter;
