//! The ledger: a record on disk of every command, which survives its host.
//!
//! Runs in shims, which write the start and the end of their command, and in the host, which adds what it alone knows,
//! and reads. Begin with `ledger_record.rs`.
//!
//! | file | what |
//! |---|---|
//! | `ledger_record`, `ledger_line` | the records, and their lines with checksums |
//! | `run_start`, `run_note` | what the host puts into a record, cut to its size |
//! | `ledger_day`, `ledger_files`, `ledger_writer`, `ledger_sweep` | the files |
//! | `read/` | from the files to entries |
//!
//! - **One `write` per record, at the end of a file, without a lock.** A line that is damaged costs itself alone.
//! - **A run has one entry,** however many records it has. A later record adds to an earlier one.
//! - **Nothing that fails here changes a command.** It costs the entry, and the shim reports the reason with the exit.

mod ledger_day;
mod ledger_files;
mod ledger_line;
mod ledger_record;
mod ledger_sweep;
mod ledger_writer;
mod pending_record;
mod read;
mod run_note;
mod run_start;

pub use ledger_files::{LedgerError, ledger_directory};
pub use ledger_line::LedgerLine;
pub use ledger_record::{
    Actor, LedgerRunChanges, LedgerRunEnd, LedgerRunHost, LedgerRunNote, LedgerRunSecret, LedgerRunSilence,
    LedgerRunStart, LedgerRunState, LedgerRunTask, ShimId, in_milliseconds, own_shim,
};
pub use ledger_sweep::{LedgerSweepSchedule, sweep_files};
pub use ledger_writer::LedgerWriter;
pub use pending_record::{PendingLedgerRecord, wait_for_pending};
pub use read::{EntryBatch, EntryFormat, LedgerQuery, LedgerReader, PassedOverLines};
pub use run_note::{note_line, run_changes, run_secrets};
pub use run_start::{own_host, to_json_within_record};
