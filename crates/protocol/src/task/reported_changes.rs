//! The changes that a task's command made, as reported by the process that started the task.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::task_store::{MAX_STATE, RECORD, TaskStore};

impl TaskStore {
    /// Replaces the file with the changes that a task's command made.
    pub fn write_reported_changes(&self, id: &str, record: &impl Serialize) -> io::Result<()> {
        self.replace(id, RECORD, record)
    }

    /// Returns the changes that a task's command made, as its host has reported them. `None`: no report exists.
    pub fn reported_changes<T: DeserializeOwned>(&self, id: &str) -> Option<T> {
        let file = File::options().read(true).custom_flags(libc::O_NOFOLLOW).open(self.file_path(id, RECORD)).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_STATE).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}
