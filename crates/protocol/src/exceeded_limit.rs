//! A limit over a whole tree that was exceeded.

use serde::{Deserialize, Serialize};

use crate::plan::format_bytes;

/// A limit over the whole tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// CPU time, ms.
    Cpu,
    /// Memory, bytes.
    Memory,
    /// Processes.
    Processes,
    /// Changes of the draft, bytes.
    Draft,
    /// Free space of the draft's disk, bytes. `used` is the free space, and `allowed` the least that has to be free.
    Disk,
}

/// An exceeded limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceededLimit {
    /// The kind of the limit.
    pub limit: LimitKind,
    /// Measured usage, in the unit of the limit.
    pub used: u64,
    /// Highest allowed usage.
    pub allowed: u64,
}

impl ExceededLimit {
    /// Returns whether SIGKILL comes without a grace: all but CPU time may grow faster than processes exit.
    pub fn at_once(&self) -> bool {
        self.limit != LimitKind::Cpu
    }

    /// Returns the first signal that the tree receives.
    pub fn signal(&self) -> i32 {
        if self.at_once() { libc::SIGKILL } else { libc::SIGTERM }
    }

    /// Returns the note for the caller.
    pub fn note(&self) -> String {
        let Self { limit, used, allowed } = *self;
        match limit {
            LimitKind::Cpu => format!(
                "limits.cpuSeconds: the command's processes used {} s of CPU time together, over the limit of {} s; \
                 they were ended",
                seconds(used),
                seconds(allowed),
            ),
            LimitKind::Memory => format!(
                "limits.memoryBytes: the command's processes held {} together, over the limit of {}; they were ended",
                format_bytes(used),
                format_bytes(allowed),
            ),
            // The count stopped at the first process over the limit.
            LimitKind::Processes => {
                format!("limits.processes: the command had more than {allowed} processes at once; they were ended")
            }
            LimitKind::Draft => format!(
                "maxBytes: the draft holds {}, over its limit of {}; the command's processes were ended",
                format_bytes(used),
                format_bytes(allowed),
            ),
            LimitKind::Disk => format!(
                "maxBytes: the disk of the draft has {} left, which is less than a tenth ({}); the command's \
                 processes were ended",
                format_bytes(used),
                format_bytes(allowed),
            ),
        }
    }
}

/// Returns milliseconds as seconds, without trailing zeros.
pub(crate) fn seconds(ms: u64) -> String {
    let text = format!("{}.{:03}", ms / 1000, ms % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
