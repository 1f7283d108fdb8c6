//! What has changed in a registry's folder: tasks of other processes, ends that nobody told of.

use std::time::Instant;

use tokio::sync::watch;

use super::registry::{Entry, Inner, Registry};
use super::store::Stamp;
use super::task::{State, Task};
use crate::supervise;

impl Registry {
    /// Takes in what has changed in the folder, and which tasks nobody keeps any more.
    pub(super) fn look(&self, inner: &mut Inner) {
        self.read_folder(inner);
        inner.looked = Some(Instant::now());
        let unlinked = inner.entries.iter().filter(|(_, entry)| entry.task.is_running() && entry.link.is_none());
        let gone: Vec<String> = unlinked.map(|(id, _)| id.clone()).filter(|id| !self.store.is_kept(id)).collect();
        for id in gone {
            self.settle(inner, &id);
        }
    }

    fn read_folder(&self, inner: &mut Inner) {
        let stamp = self.store.stamp();
        if stamp.is_some() && stamp == inner.seen {
            return;
        }
        let ids = match self.store.ids() {
            Ok(ids) => ids,
            Err(error) => {
                inner.note(format!("{}: {error}", self.store.path().display()));
                return;
            }
        };
        inner.entries.retain(|id, entry| ids.contains_key(id) || entry.task.is_running() && entry.link.is_some());
        inner.damaged.retain(|id, _| ids.contains_key(id));
        let mut all = true;
        for (id, stamp) in ids {
            if inner.entries.get(&id).is_some_and(|entry| entry.stamp == Some(stamp)) {
                continue;
            }
            if inner.damaged.get(&id) == Some(&stamp) {
                continue;
            }
            match self.store.read(&id) {
                // Its shim is just writing the closing line: until then it counts as running.
                Ok(Some(task)) if self.is_closing(&task) => {
                    all = false;
                    self.take_in(inner, task.before_its_end(), None);
                }
                Ok(Some(task)) => {
                    let known = inner.entries.contains_key(&id);
                    // Whoever kept it may have been killed before its last word.
                    let unclosed = !known && !task.is_running();
                    self.take_in(inner, task, Some(stamp));
                    if unclosed {
                        let _ = self.store.settle_unclosed(&id);
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    inner.note(error.to_string());
                    inner.damaged.insert(id, stamp);
                }
            }
        }
        inner.seen = stamp.filter(|_| all);
    }

    /// Whether a task has ended and its log is still to say so.
    pub(super) fn is_closing(&self, task: &Task) -> bool {
        !task.is_running() && self.store.is_kept(&task.id)
    }

    /// Nobody keeps a task that counted as running: it is brought to its end.
    fn settle(&self, inner: &mut Inner, id: &str) {
        match self.store.settle(id) {
            Ok(Some(task)) => {
                if task.state == State::Lost {
                    self.clear_away(task.mark.clone());
                }
                self.take_in(inner, task, None);
            }
            Ok(None) => {
                inner.entries.remove(id);
            }
            Err(error) => inner.note(error.to_string()),
        }
    }

    /// With its shim a task has lost whoever would have ended its processes.
    fn clear_away(&self, mark: String) {
        supervise::kill(&supervise::marked(&mark));
        // What was being forked meanwhile.
        self.runtime().spawn(async move { super::end_marked(&mark).await });
    }

    /// Takes in what is known of a task now.
    pub(super) fn take_in(&self, inner: &mut Inner, task: Task, stamp: Option<Stamp>) {
        let id = task.id.clone();
        let ended = !task.is_running();
        let entry = inner.entries.entry(id.clone()).or_insert_with(|| Entry {
            task: task.clone(),
            stamp,
            cursor: 0,
            link: None,
            progress: watch::Sender::default(),
            told: None,
            exit_told: false,
        });
        entry.stamp = stamp.or(entry.stamp);
        let was_running = entry.task.is_running();
        // A link may be behind the folder, but no end is ever taken back.
        if was_running {
            entry.task = task;
        }
        if ended {
            entry.progress.send_if_modified(|progress| !std::mem::replace(&mut progress.ended, true));
            // Of one that had ended before it was seen first nobody needs to hear.
            if was_running && entry.told.is_none() {
                inner.tell_exit(&id);
            }
        }
    }
}
