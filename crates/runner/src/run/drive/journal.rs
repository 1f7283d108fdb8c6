//! The output of a command so far, of both streams in the order of arrival: the beginning of its log, should it move to
//! the background.

use std::io;
use std::sync::Arc;

use crate::registry::Registry;
use crate::request::Request;
use protocol::task::{Log, TaskSpec};

/// The journal is kept in memory up to this size, bytes; then in the file that may become the log.
const IN_MEMORY: usize = 1024 * 1024;

/// The beginning of a log.
pub struct Journal {
    registry: Arc<Registry>,
    spec: TaskSpec,
    text: String,
    log: Option<Log>,
    /// The file exists and belongs to no task yet.
    owns_file: bool,
    /// Why the beginning is not whole: nothing more is gathered.
    failure: Option<io::Error>,
}

impl Journal {
    /// The journal of a command that may move to the background.
    pub fn of(request: &Request) -> Option<Self> {
        let registry = request.registry.clone().filter(|_| request.may_move())?;
        let spec = request.later_task()?;
        Some(Self { registry, spec, text: String::new(), log: None, owns_file: false, failure: None })
    }

    /// The id of the task that the command may become.
    pub fn id(&self) -> &str {
        &self.spec.id
    }

    /// Appends output.
    pub fn push(&mut self, text: &str) {
        if self.failure.is_some() {
            return;
        }
        self.text.push_str(text);
        if self.text.len() >= IN_MEMORY
            && let Err(error) = self.write_down()
        {
            // The caller learns of it at the limit.
            self.text = String::new();
            self.failure = Some(error);
        }
    }

    fn write_down(&mut self) -> io::Result<()> {
        if self.log.is_none() {
            let file = self.registry.store().create_log(&self.spec.id)?;
            self.owns_file = true;
            self.log = Some(Log::keep(file, self.spec.max_log_bytes)?);
        }
        if let Some(log) = &mut self.log {
            log.write(&self.text);
            self.text.clear();
            if let Some(failure) = log.failure() {
                return Err(io::Error::other(failure.to_owned()));
            }
        }
        Ok(())
    }

    /// Writes everything to the file and closes it, for the shim to open.
    pub fn finish(&mut self) -> io::Result<TaskSpec> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        self.write_down()?;
        // The lock goes with the journal. A command that was silent for long has an old file, which another process
        // would sweep before the shim has the lock.
        if let Some(log) = self.log.take() {
            log.renew()?;
        }
        Ok(self.spec.clone())
    }

    /// The file is the log of a task now.
    pub fn on_taken(&mut self) {
        self.owns_file = false;
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.owns_file {
            self.registry.store().remove(&self.spec.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::registry::RegistryOptions;
    use crate::request::RawOptions;

    fn age(log: &Path) {
        let long_ago = SystemTime::now() - Duration::from_secs(3600);
        let file = std::fs::File::options().append(true).open(log).expect("a log");
        file.set_modified(long_ago).expect("an older file");
    }

    #[test]
    fn the_file_of_a_command_that_was_silent_for_long_is_not_swept_before_its_shim_has_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let options = RegistryOptions {
            dir: Some(directory.path().to_owned()),
            temp: directory.path().to_owned(),
            max_tasks: 1,
            max_log_bytes: 1 << 30,
            retention: Duration::from_secs(60),
        };
        let registry = Some(Registry::open(options).expect("opened"));
        let raw = RawOptions {
            command: "x".into(),
            cwd: "/".into(),
            host_env: "PATH=/bin\0".into(),
            registry,
            to_background: true,
            timeout_ms: Some(5_000.0),
            ..RawOptions::default()
        };
        let mut journal = Journal::of(&Request::check(raw).expect("valid")).expect("a journal");
        let store = journal.registry.store().clone();
        let log = store.log_path(journal.id());
        journal.push(&"x\n".repeat(IN_MEMORY));
        age(&log);
        store.remove_unstarted();
        let spec = journal.finish().expect("written");
        store.remove_unstarted();
        let shims = store.append_log(&spec.id).and_then(|file| Log::keep(file, spec.max_log_bytes));
        assert_eq!(shims.expect("a log").written(), 2 * IN_MEMORY as u64);
    }
}
