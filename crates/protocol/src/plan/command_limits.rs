//! Limits on the resources of a command besides its time.

use serde::{Deserialize, Serialize};

/// Words in the output of a program that was refused another descriptor.
const NO_MORE_FILES: [&str; 2] = ["Too many open files", "EMFILE"];
/// Words in the output of a program whose file may not grow.
const NO_LARGER_FILE: [&str; 3] = ["File size limit exceeded", "File too large", "EFBIG"];

/// The limits of a command. `None`: no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandLimits {
    /// CPU time of the whole tree, ms.
    pub cpu: Option<u64>,
    /// Memory of the whole tree, bytes.
    pub memory: Option<u64>,
    /// Processes of the whole tree at once.
    pub processes: Option<u64>,
    /// Open files of each process.
    pub open_files: Option<u64>,
    /// Size of each file that is written, bytes.
    pub file_bytes: Option<u64>,
}

impl CommandLimits {
    /// Returns all limits, in the order of the fields.
    pub fn all(&self) -> [Option<u64>; 5] {
        [self.cpu, self.memory, self.processes, self.open_files, self.file_bytes]
    }

    /// Returns all limits by reference, in the same order.
    pub fn all_mut(&mut self) -> [&mut Option<u64>; 5] {
        [&mut self.cpu, &mut self.memory, &mut self.processes, &mut self.open_files, &mut self.file_bytes]
    }

    /// Returns whether a limit applies to the whole tree, so that the shim has to watch it.
    pub fn apply_to_tree(&self) -> bool {
        self.cpu.is_some() || self.memory.is_some() || self.processes.is_some()
    }

    /// Returns a note for each per-process limit that a failed command seems to have met, by its exit code and output.
    pub fn notes_on_refusals(&self, exit_code: i32, output: [&str; 2]) -> Vec<String> {
        let says = |words: &[&str]| words.iter().any(|word| output.iter().any(|text| text.contains(word)));
        let mut notes = Vec::new();
        if let Some(most) = self.open_files
            && exit_code != 0
            && says(&NO_MORE_FILES)
        {
            notes.push(format!("limits.openFiles: no process of the command may have more than {most} files open"));
        }
        if let Some(most) = self.file_bytes
            && exit_code != 0
            && (exit_code == 128 + libc::SIGXFSZ || says(&NO_LARGER_FILE))
        {
            let most = format_bytes(most);
            notes.push(format!("limits.fileBytes: no file that the command writes may grow beyond {most}"));
        }
        notes
    }
}

/// Returns bytes for a person: `812 MiB`, `1.5 GiB`, `1000 bytes`.
pub fn format_bytes(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (unit, name) in UNITS {
        if bytes >= unit {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            let (whole, tenth) = (tenths / 10, tenths % 10);
            // A tenth does not matter above a hundred.
            return if tenth == 0 || whole >= 100 {
                format!("{whole} {name}")
            } else {
                format!("{whole}.{tenth} {name}")
            };
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_failed_command_has_met_a_limit() {
        let limits = CommandLimits { open_files: Some(20), file_bytes: Some(1 << 20), ..CommandLimits::default() };
        assert!(limits.notes_on_refusals(0, ["Too many open files", "File too large"]).is_empty());
        assert!(limits.notes_on_refusals(1, ["fine", ""]).is_empty());
        assert_eq!(limits.notes_on_refusals(1, ["", "sh: Too many open files"]).len(), 1);
        let [note] = &limits.notes_on_refusals(153, ["", ""])[..] else { panic!("one note") };
        assert!(note.starts_with("limits.fileBytes:") && note.ends_with("1 MiB"), "{note}");
        assert!(CommandLimits::default().notes_on_refusals(153, ["Too many open files", ""]).is_empty());
    }

    #[test]
    fn amounts_read_well() {
        let shown = [1, 1000, 1024, 1536, 512 << 20, (812 << 20) + 400_000, 3 << 29].map(format_bytes);
        assert_eq!(shown, ["1 bytes", "1000 bytes", "1 KiB", "1.5 KiB", "512 MiB", "812 MiB", "1.5 GiB"]);
    }
}
