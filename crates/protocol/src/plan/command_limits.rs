//! Limits on the resources of a command besides its time.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// The largest value of a limit: the largest whole number that JavaScript counts exactly.
const MOST: f64 = 9_007_199_254_740_991.0;
/// The least memory that a limit may leave, bytes. No process fits into less, and the caller has meant another unit.
const LEAST_MEMORY: f64 = 65_536.0;
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

/// Limits as the caller gave them.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawLimits {
    /// Seconds, above 0.
    #[serde(deserialize_with = "number")]
    pub cpu_seconds: Option<f64>,
    /// At least 1.
    #[serde(deserialize_with = "number")]
    pub memory_bytes: Option<f64>,
    /// At least 1.
    #[serde(deserialize_with = "number")]
    pub processes: Option<f64>,
    /// At least 1.
    #[serde(deserialize_with = "number")]
    pub open_files: Option<f64>,
    /// At least 1.
    #[serde(deserialize_with = "number")]
    pub file_bytes: Option<f64>,
}

/// Reads a number of a caller. JSON cannot represent NaN and the infinities, which cross as text.
///
/// # Errors
/// For a text that is no number.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum GivenNumber {
        Number(f64),
        Text(String),
    }
    match GivenNumber::deserialize(from)? {
        GivenNumber::Number(number) => Ok(Some(number)),
        GivenNumber::Text(text) => text.parse().map(Some).map_err(D::Error::custom),
    }
}

/// A limit has a value out of its range.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum LimitError {
    /// A count has a fraction, or is too small or too large.
    #[error("limits.{name}: {value} is not a whole number from {least} to {MOST}")]
    NotWhole {
        /// The least value.
        least: f64,
        /// The name of the limit.
        name: &'static str,
        /// The value.
        value: f64,
    },
    /// A time is 0, negative, infinite or not a number.
    #[error("limits.cpuSeconds: {value} is not a number above 0")]
    NotPositive {
        /// The value.
        value: f64,
    },
}

impl CommandLimits {
    /// Checks every value.
    ///
    /// # Errors
    /// [`LimitError`] for the first value that is out of its range.
    pub fn check(raw: &RawLimits) -> Result<Self, LimitError> {
        Ok(Self {
            cpu: raw.cpu_seconds.map(seconds).transpose()?,
            memory: count("memoryBytes", LEAST_MEMORY, raw.memory_bytes)?,
            processes: count("processes", 1.0, raw.processes)?,
            open_files: count("openFiles", 1.0, raw.open_files)?,
            file_bytes: count("fileBytes", 1.0, raw.file_bytes)?,
        })
    }

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

fn count(name: &'static str, least: f64, value: Option<f64>) -> Result<Option<u64>, LimitError> {
    let Some(value) = value else { return Ok(None) };
    if value.fract() == 0.0 && (least..=MOST).contains(&value) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be whole and in range"
        )]
        return Ok(Some(value as u64));
    }
    Err(LimitError::NotWhole { least, name, value })
}

fn seconds(value: f64) -> Result<u64, LimitError> {
    if value > 0.0 && value <= MOST / 1000.0 {
        // A fraction of a millisecond counts as a whole millisecond.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
        return Ok((value * 1000.0).ceil() as u64);
    }
    Err(LimitError::NotPositive { value })
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
    use proptest::prelude::*;

    #[test]
    fn values_out_of_range_are_named() {
        for (name, value, raw) in [
            ("memoryBytes", "200", RawLimits { memory_bytes: Some(200.0), ..RawLimits::default() }),
            ("processes", "1.5", RawLimits { processes: Some(1.5), ..RawLimits::default() }),
            ("openFiles", "-1", RawLimits { open_files: Some(-1.0), ..RawLimits::default() }),
            ("fileBytes", "NaN", RawLimits { file_bytes: Some(f64::NAN), ..RawLimits::default() }),
            ("cpuSeconds", "0", RawLimits { cpu_seconds: Some(0.0), ..RawLimits::default() }),
            ("cpuSeconds", "inf", RawLimits { cpu_seconds: Some(f64::INFINITY), ..RawLimits::default() }),
            ("cpuSeconds", "NaN", RawLimits { cpu_seconds: Some(f64::NAN), ..RawLimits::default() }),
        ] {
            let error = CommandLimits::check(&raw).unwrap_err().to_string();
            assert!(error.starts_with(&format!("limits.{name}: {value} is not ")), "{error}");
        }
    }

    #[test]
    fn cpu_seconds_may_be_a_fraction() {
        let cpu =
            |value| CommandLimits::check(&RawLimits { cpu_seconds: Some(value), ..RawLimits::default() }).unwrap().cpu;
        assert_eq!([cpu(0.25), cpu(2.0), cpu(1e-9)], [Some(250), Some(2000), Some(1)]);
    }

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

    proptest! {
        #[test]
        fn whole_numbers_are_kept(value in 1_u64..=9_007_199_254_740_991) {
            #[expect(clippy::cast_precision_loss, reason = "exact in this range")]
            let raw = RawLimits { memory_bytes: Some(value as f64), ..RawLimits::default() };
            prop_assert_eq!(CommandLimits::check(&raw).unwrap().memory, Some(value));
        }
    }
}
