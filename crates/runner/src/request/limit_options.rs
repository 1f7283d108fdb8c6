//! `limits`: limits on the resources of a command besides its time.

use serde::Deserialize;

use super::error::RequestError;
#[cfg(test)]
use super::field_order::fields_of;
use super::number_option::{MAX_SAFE, NumberOption, number};
use protocol::plan::CommandLimits;

/// `limits.memoryBytes`. No process fits into less, and the caller has meant another unit.
pub const MEMORY_BYTES: NumberOption = NumberOption { least: 65_536, ..NumberOption::from_one("limits.memoryBytes") };
/// `limits.processes`
pub const PROCESSES: NumberOption = NumberOption::from_one("limits.processes");
/// `limits.openFiles`
pub const OPEN_FILES: NumberOption = NumberOption::from_one("limits.openFiles");
/// `limits.fileBytes`
pub const FILE_BYTES: NumberOption = NumberOption::from_one("limits.fileBytes");

/// Limits of a command in addition to its time limit. No limit can raise a limit of the system.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "BashLimits", extend("x-order" = fields_of::<RawLimits>())))]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RawLimits {
    /// CPU time in seconds that all processes of the command may use together, a number above 0. Above the limit the
    /// tree is ended: SIGTERM, `graceMs`, SIGKILL.
    ///
    /// @default none
    /// @example await bash('npm test', { limits: { cpuSeconds: 0.5 } });
    #[serde(deserialize_with = "number")]
    pub cpu_seconds: Option<f64>,
    /// Memory in bytes that all processes of the command may hold together, shared memory counted once. Above the limit
    /// the tree is ended at once by SIGKILL.
    ///
    /// @default none
    /// @example await bash('npm test', { limits: { memoryBytes: 2 * 1024 ** 3 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = MEMORY_BYTES.least, max = MEMORY_BYTES.most)))]
    pub memory_bytes: Option<f64>,
    /// How many processes the command may have at once, its shell included. Above the limit the tree is ended at once
    /// by SIGKILL.
    ///
    /// @default none
    /// @example await bash('make -j', { limits: { processes: 64 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = PROCESSES.least, max = PROCESSES.most)))]
    pub processes: Option<f64>,
    /// How many files each process may have open, standard streams included. The system refuses more (EMFILE).
    ///
    /// @default none
    /// @example await bash('./server', { limits: { openFiles: 256 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = OPEN_FILES.least, max = OPEN_FILES.most)))]
    pub open_files: Option<f64>,
    /// How large in bytes a file may become by a write of the command. The system refuses more (SIGXFSZ, EFBIG).
    ///
    /// @default none
    /// @example await bash('./export', { limits: { fileBytes: 100 * 1024 ** 2 } });
    #[serde(deserialize_with = "number")]
    #[cfg_attr(test, schemars(range(min = FILE_BYTES.least, max = FILE_BYTES.most)))]
    pub file_bytes: Option<f64>,
}

/// Checks every limit.
///
/// # Errors
/// [`RequestError::NotInRange`] and [`RequestError::CpuSeconds`] for a value, [`RequestError::TreeLimits`] where limits
/// over a tree cannot be held.
pub fn check_limits(raw: &RawLimits) -> Result<CommandLimits, RequestError> {
    let limits = CommandLimits {
        cpu: raw.cpu_seconds.map(check_seconds).transpose()?,
        memory: MEMORY_BYTES.check_given(raw.memory_bytes)?,
        processes: PROCESSES.check_given(raw.processes)?,
        open_files: OPEN_FILES.check_given(raw.open_files)?,
        file_bytes: FILE_BYTES.check_given(raw.file_bytes)?,
    };
    if limits.apply_to_tree() && !sys::can_sample() { Err(RequestError::TreeLimits) } else { Ok(limits) }
}

/// Returns seconds as milliseconds. A fraction of a millisecond counts as a whole one.
fn check_seconds(value: f64) -> Result<u64, RequestError> {
    if value > 0.0 && value <= MAX_SAFE as f64 / 1000.0 {
        return Ok((value * 1000.0).ceil() as u64);
    }
    Err(RequestError::CpuSeconds(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_named() {
        for (name, value, raw) in [
            ("memoryBytes", "200", RawLimits { memory_bytes: Some(200.0), ..RawLimits::default() }),
            ("processes", "1.5", RawLimits { processes: Some(1.5), ..RawLimits::default() }),
            ("openFiles", "-1", RawLimits { open_files: Some(-1.0), ..RawLimits::default() }),
            ("fileBytes", "NaN", RawLimits { file_bytes: Some(f64::NAN), ..RawLimits::default() }),
            ("cpuSeconds", "0", RawLimits { cpu_seconds: Some(0.0), ..RawLimits::default() }),
            ("cpuSeconds", "Infinity", RawLimits { cpu_seconds: Some(f64::INFINITY), ..RawLimits::default() }),
            ("cpuSeconds", "NaN", RawLimits { cpu_seconds: Some(f64::NAN), ..RawLimits::default() }),
        ] {
            let error = check_limits(&raw).unwrap_err().to_string();
            assert!(error.starts_with(&format!("limits.{name}: {value} is not ")), "{error}");
        }
    }

    #[test]
    fn cpu_seconds_may_be_a_fraction() {
        let cpu = |value| check_limits(&RawLimits { cpu_seconds: Some(value), ..RawLimits::default() }).unwrap().cpu;
        assert_eq!([cpu(0.25), cpu(2.0), cpu(1e-9)], [Some(250), Some(2000), Some(1)]);
    }
}
