//! Links to the shims of running tasks: what they tell is taken in as it comes.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::registry::{Linked, Registry};
use super::task::Task;
use crate::supervise::{self, Link, LinkNews, Speaker};

/// After a link has ended, for the lock of its shim to go too.
const GOING: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// For the processes of a tree whose helpers were all killed.
const SWEEP_BOUND: Duration = Duration::from_secs(2);

impl Registry {
    /// A task of this process, from its start on.
    pub fn own(self: &Arc<Self>, link: Link, task: Task) {
        self.follow(link, task, true);
        self.sweep_soon();
    }

    /// A task whose shim was killed before it could tell of it; `None` when nothing was started.
    pub async fn lost(&self, id: &str) -> Option<Task> {
        self.until_unkept(id).await;
        let mut inner = self.inner();
        self.look(&mut inner);
        inner.entries.get(id).map(|entry| entry.task.clone())
    }

    /// Until nobody has the lock of a task's log, though it may take a moment to go with its shim.
    async fn until_unkept(&self, id: &str) {
        let until = Instant::now() + GOING;
        let is_running = || self.inner().entries.get(id).is_none_or(|entry| entry.task.is_running());
        while is_running() && self.store.is_kept(id) && Instant::now() < until {
            sleep(LOOK_AGAIN).await;
        }
    }

    /// To a task that runs, if its shim can be reached.
    pub(super) fn link(self: &Arc<Self>, id: &str) -> Option<Speaker> {
        let task = {
            let inner = self.inner();
            let entry = inner.entries.get(id)?;
            if let Some(linked) = &entry.link {
                return Some(linked.speaker.clone());
            }
            entry.task.clone()
        };
        if !task.is_running() || !task.detached {
            return None;
        }
        let _runtime = self.runtime().enter();
        let link = supervise::connect(&self.store.socket_path(id)).ok()?;
        let speaker = link.speaker();
        self.follow(link, task, false);
        Some(speaker)
    }

    /// `new`: nobody has heard of the task yet.
    fn follow(self: &Arc<Self>, mut link: Link, task: Task, new: bool) {
        let speaker = link.speaker();
        let mut current = task.id.clone();
        let mut inner = self.inner();
        let weak = Arc::downgrade(self);
        let listener = self.runtime().spawn(async move {
            loop {
                let news = link.news().await;
                let Some(registry) = weak.upgrade() else { return };
                match news {
                    LinkNews::Task(task) => {
                        let next = task.id.clone();
                        registry.hear_of(*task, &current);
                        current = next;
                    }
                    LinkNews::Ended(task) => registry.take_in(&mut registry.inner(), *task, None),
                    LinkNews::Grew(bytes, pending) => registry.hear_growth(&current, bytes, pending),
                    LinkNews::Lost => return registry.unlink(&current).await,
                }
            }
        });
        let id = task.id.clone();
        self.take_in(&mut inner, task, None);
        if let Some(entry) = inner.entries.get_mut(&id) {
            entry.link = Some(Linked { speaker, listener: listener.abort_handle() });
        }
        if new {
            self.tell_of_new(&mut inner, &id);
        }
    }

    /// The shim keeps another task from here on: what the shell of the first has left.
    fn hear_of(self: &Arc<Self>, task: Task, before: &str) {
        let id = task.id.clone();
        if id == before {
            return;
        }
        let mut inner = self.inner();
        let linked = inner.entries.get_mut(before).and_then(|entry| entry.link.take());
        self.take_in(&mut inner, task, None);
        if let Some(entry) = inner.entries.get_mut(&id) {
            entry.link = linked;
        }
        self.tell_of_new(&mut inner, &id);
    }

    fn hear_growth(&self, id: &str, bytes: u64, pending: Vec<String>) {
        if let Some(entry) = self.inner().entries.get(id) {
            entry.progress.send_modify(|progress| {
                progress.bytes = progress.bytes.max(bytes);
                progress.pending = pending;
                progress.news += 1;
            });
        }
    }

    /// The link has ended: the task has too, or its shim was killed, or it only speaks with this process no more.
    async fn unlink(self: Arc<Self>, id: &str) {
        self.until_unkept(id).await;
        let mut inner = self.inner();
        if let Some(entry) = inner.entries.get_mut(id) {
            // The listener is this very task, and there is nothing below that it could be stopped at.
            entry.link = None;
            entry.progress.send_modify(|progress| progress.news += 1);
            if entry.task.is_running() {
                self.look(&mut inner);
            }
        }
    }

    fn sweep_soon(self: &Arc<Self>) {
        let weak = Arc::downgrade(self);
        self.runtime().spawn_blocking(move || weak.upgrade().map(|registry| registry.sweep()));
    }
}

/// Ends whatever carries this mark: the shim is gone, and perhaps the supervisor too, which would have cleaned up.
pub async fn end_marked(mark: &str) {
    let mark = mark.to_owned();
    let swept = tokio::task::spawn_blocking(move || {
        let until = std::time::Instant::now() + SWEEP_BOUND;
        loop {
            let members = supervise::marked(&mark);
            supervise::kill(&members);
            if members.is_empty() || std::time::Instant::now() >= until {
                return;
            }
            std::thread::sleep(LOOK_AGAIN * 2);
        }
    });
    let _ = swept.await;
}
