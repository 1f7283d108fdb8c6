//! The options of a registry as they cross from JavaScript.

use std::path::PathBuf;
use std::time::Duration;

use napi_derive::napi;

use remote::RegistryOpening;
use runner::registry::{DEFAULT_MAX_LOG_BYTES, DEFAULT_MAX_TASKS, DEFAULT_RETENTION, RegistryOptions};

/// The options of a registry. Ranges have been checked.
#[napi(object, object_to_js = false)]
pub struct NativeRegistryOptions {
    /// The target whose tasks these are. If left out, they are those of this machine.
    pub target: Option<u32>,
    /// Absolute directory of tasks that outlive the host. If left out, tasks do not outlive it.
    pub dir: Option<String>,
    /// The directory for temporary files.
    pub temp: String,
    /// Most tasks. Default 64.
    pub max_tasks: Option<f64>,
    /// Most bytes of a log. Default 1 GiB.
    pub max_log_bytes: Option<f64>,
    /// Time to keep ended tasks, in ms. Default 7 days.
    pub retention_ms: Option<f64>,
}

impl NativeRegistryOptions {
    fn max_log_bytes(&self) -> u64 {
        whole(self.max_log_bytes).unwrap_or(DEFAULT_MAX_LOG_BYTES)
    }

    fn retention(&self) -> Duration {
        whole(self.retention_ms).map_or(DEFAULT_RETENTION, Duration::from_millis)
    }

    /// Returns the options of a registry on this machine.
    pub fn here(self) -> RegistryOptions {
        let max_tasks = whole(self.max_tasks).unwrap_or(DEFAULT_MAX_TASKS);
        RegistryOptions {
            max_tasks: usize::try_from(max_tasks).unwrap_or(usize::MAX),
            max_log_bytes: self.max_log_bytes(),
            retention: self.retention(),
            dir: self.dir.map(PathBuf::from),
            temp: self.temp.into(),
        }
    }

    /// Returns the options of a registry on a target.
    pub fn there(self) -> RegistryOpening {
        RegistryOpening {
            max_tasks: whole(self.max_tasks).unwrap_or(DEFAULT_MAX_TASKS),
            max_log_bytes: self.max_log_bytes(),
            retention: self.retention(),
            dir: self.dir.map(PathBuf::from),
            output: false,
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
fn whole(value: Option<f64>) -> Option<u64> {
    value.map(|value| value as u64)
}
