//! Waits for a task: for its end, for a pattern in its output, or for a port.

use std::fs::File;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::Pid;
use tokio::net::TcpStream;
use tokio::sync::watch::Receiver;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::error::RegistryError;
use super::foreign_port_owner::foreign_owner_of_port;
use super::task_check::TaskCheck;
use super::task_registry::{SCAN_EVERY, TaskProgress, TaskRegistry};
use crate::pattern::{JsPattern, LogSearch};
use crate::supervise::TaskSender;
use confine_gate::servers_of;

/// Time between two attempts to connect to a port.
const TRY_EVERY: Duration = Duration::from_millis(50);
/// Time that a port has to answer.
const ANSWER: Duration = Duration::from_secs(1);
/// Time for the first search, however short the time limit is.
const FIRST_SEARCH: Duration = Duration::from_millis(100);
/// Time that a shim has to write an unfinished line to the log.
const SETTLED: Duration = Duration::from_secs(1);

/// The place of a match.
enum TaskMatchPlace {
    InLog,
    /// The match is in an unfinished line that is not in the log yet.
    InPending,
    Nowhere,
}

/// The result of a search.
struct TaskSearchResult {
    matched: bool,
    /// The end of the part of the log that was searched.
    bytes: u64,
    /// Whether the task has ended since the last report.
    ended: bool,
    search: Option<LogSearch>,
}

/// The conditions that end a wait besides the end of its task.
#[derive(Debug, Default)]
pub struct TaskWaitOptions {
    /// The time limit.
    pub timeout: Option<Duration>,
    /// A pattern in output that was not read yet.
    pub pattern: Option<JsPattern>,
    /// A port of this machine that accepts a connection.
    pub port: Option<u16>,
}

impl TaskRegistry {
    /// Waits until a task has ended, or until a condition of the options holds. Reads from the shared cursor.
    ///
    /// # Errors
    /// [`RegistryError::UnknownTask`], [`RegistryError::Closed`], [`RegistryError::Store`]
    pub async fn wait(
        self: &Arc<Self>,
        named: &str,
        wait: TaskWaitOptions,
        mut given_up: oneshot::Receiver<()>,
    ) -> Result<TaskCheck, RegistryError> {
        let (task, _reading) = self.find(named)?;
        // A process elsewhere has no pid here.
        let process = (!task.is_elsewhere()).then_some(Pid::from_raw(task.pid));
        let id = task.id.clone();
        let until = wait.timeout.map(|timeout| Instant::now() + timeout);
        let unread = self.lock_state().entries.get(&id).map_or(0, |entry| entry.cursor);
        let search = wait.pattern.map(|pattern| LogSearch::new(pattern, unread));
        let searched = Notify::new();
        let mut stranger = None;
        let matched = tokio::select! {
            biased;
            matched = self.wait_until_matched(&id, search, &searched) => matched?,
            port = port_accepts(wait.port, process, task.world.as_deref()) => {
                let look = move || port.and_then(|port| foreign_owner_of_port(port, &task));
                stranger = tokio::task::spawn_blocking(look).await.ok().flatten();
                true
            }
            () = wait_for_timeout(until, &searched) => false,
            _ = &mut given_up => false,
        };
        Ok(TaskCheck { stranger, ..self.read_new_output(&id, None, matched).await? })
    }

    /// Waits until the task has ended, or its output matches. Returns whether it matches. Notifies `searched` after the
    /// first search.
    async fn wait_until_matched(
        self: &Arc<Self>,
        id: &str,
        mut search: Option<LogSearch>,
        searched: &Notify,
    ) -> Result<bool, RegistryError> {
        let entry = self.open_inner()?.entries.get(id).map(|entry| entry.progress.subscribe());
        let mut progress = entry.ok_or(RegistryError::Closed)?;
        loop {
            let sender = self.link_to_task(id);
            let ended = progress.borrow_and_update().ended;
            let seen = match search.take() {
                Some(before) => {
                    let seen = self.search_now(id, before, sender.as_ref(), &mut progress).await?;
                    searched.notify_one();
                    seen
                }
                None => {
                    searched.notify_one();
                    TaskSearchResult { matched: false, bytes: 0, ended: false, search: None }
                }
            };
            if seen.matched || ended {
                return Ok(seen.matched);
            }
            search = seen.search;
            if seen.ended {
                continue;
            }
            if let (Some(sender), Some(_)) = (&sender, &search) {
                sender.watch(seen.bytes, true);
            }
            match timeout(SCAN_EVERY, progress.changed()).await {
                Ok(Ok(())) => {}
                // The registry was closed, so no end will be reported.
                Ok(Err(_)) => return Err(RegistryError::Closed),
                Err(_) if sender.is_none() => self.scan(&mut *self.open_inner()?),
                Err(_) => {}
            }
        }
    }

    /// Searches the log and the unfinished lines as they are now.
    async fn search_now(
        &self,
        id: &str,
        search: LogSearch,
        sender: Option<&TaskSender>,
        progress: &mut Receiver<TaskProgress>,
    ) -> Result<TaskSearchResult, RegistryError> {
        let (ended, pending) = {
            let now = progress.borrow();
            (now.ended, now.pending.clone())
        };
        let (task, file, end) = self.store.read_with_log(id)?.ok_or(RegistryError::Closed)?;
        let (found, search) = self.search_log(search, file, end, pending).await?;
        let matched = match found {
            TaskMatchPlace::InLog => true,
            // The last unfinished line of an ended task is in its log.
            TaskMatchPlace::InPending if ended => false,
            TaskMatchPlace::InPending => {
                if let Some(sender) = sender {
                    self.settle_line(sender, end, progress).await;
                }
                true
            }
            TaskMatchPlace::Nowhere => false,
        };
        let ends_now = !matched && !task.is_running() && !ended && !self.is_closing(&task);
        if ends_now {
            self.update_task(&mut *self.open_inner()?, task, None);
        }
        Ok(TaskSearchResult { matched, bytes: end, ended: ends_now, search: Some(search) })
    }

    /// Searches on a thread of its own. With some patterns matching may take forever, and the thread is left behind
    /// when the time is up.
    async fn search_log(
        &self,
        mut search: LogSearch,
        file: File,
        end: u64,
        pending: Vec<String>,
    ) -> Result<(TaskMatchPlace, LogSearch), RegistryError> {
        let found = tokio::task::spawn_blocking(move || {
            let found = match search.matches_log(file, end)? {
                true => TaskMatchPlace::InLog,
                false if search.matches_pending(&pending) => TaskMatchPlace::InPending,
                false => TaskMatchPlace::Nowhere,
            };
            Ok((found, search))
        });
        let failed = |source| {
            RegistryError::Store(protocol::task::TaskStoreError::Folder { path: self.store.path().to_owned(), source })
        };
        found.await.map_err(std::io::Error::other).flatten().map_err(failed)
    }

    /// Makes an unfinished line part of the output.
    async fn settle_line(&self, sender: &TaskSender, bytes: u64, progress: &mut Receiver<TaskProgress>) {
        sender.watch(bytes, false);
        sender.settle();
        let _ = timeout(SETTLED, progress.wait_for(|progress| progress.bytes > bytes || progress.ended)).await;
    }
}

/// Waits until the time is up. Existing output already counts, even if the time limit is 0.
async fn wait_for_timeout(until: Option<Instant>, searched: &Notify) {
    let Some(until) = until else { return std::future::pending().await };
    sleep_until(until).await;
    let _ = timeout(FIRST_SEARCH, searched.notified()).await;
}

/// Waits until a server accepts connections at a port of the task's loopback. A confined task has its world's loopback.
/// Returns the port if any process of this machine may have it.
async fn port_accepts(port: Option<u16>, process: Option<Pid>, world: Option<&Path>) -> Option<u16> {
    let Some(port) = port else { return std::future::pending().await };
    while let Some(servers) = world.and_then(servers_of) {
        if servers.into_iter().any(|(server, asked)| asked.port() == port && sys::listens_at(server)) {
            return None;
        }
        sleep(TRY_EVERY).await;
    }
    if let Some(process) = process.filter(|process| sys::has_other_network(*process)) {
        while !sys::listens(process, port) {
            sleep(TRY_EVERY).await;
        }
        return None;
    }
    let places = [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    loop {
        for place in places {
            if matches!(timeout(ANSWER, TcpStream::connect(place)).await, Ok(Ok(_))) {
                return Some(port);
            }
        }
        sleep(TRY_EVERY).await;
    }
}
