//! The machine or container of this process.

use serde::{Deserialize, Serialize};

/// The pid namespace of a process, which gives its pids their meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PidNamespace {
    /// Number of the namespace, which a later namespace may have again.
    pub id: u64,
    /// The start time of the namespace's first process, in ticks since boot. `None` if `/proc` hides that process.
    pub init_started: Option<u64>,
}

impl PidNamespace {
    /// The number of the namespace that the machine starts with (PROC_PID_INIT_INO in the kernel).
    pub const WHOLE_MACHINE: u64 = 0xEFFF_FFFC;

    /// Returns whether this is the namespace that the machine starts with, and not a container's.
    pub fn is_whole_machine(self) -> bool {
        self.id == Self::WHOLE_MACHINE
    }

    /// Returns whether both are the same namespace, as far as is known.
    pub fn is_same(self, other: Self) -> bool {
        let started = self.init_started.zip(other.init_started);
        self.id == other.id && started.is_none_or(|(ours, theirs)| ours == theirs)
    }
}

/// Returns the name of this machine or container.
pub fn host_name() -> Option<String> {
    let mut buffer = [0_u8; 256];
    // SAFETY: the buffer has the given size.
    let failed = unsafe { libc::gethostname(buffer.as_mut_ptr().cast(), buffer.len()) };
    let length = buffer.iter().position(|byte| *byte == 0).filter(|length| failed == 0 && *length > 0)?;
    Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
}
