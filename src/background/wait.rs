//! Waiting for a task: for its end, for something that it says, for a port that it opens.

use std::fs::File;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::check::Check;
use super::pattern::{Pattern, Search};
use super::registry::Registry;
use crate::error::Error;

/// For a killed task to end: the longest grace, and what SIGKILL takes.
pub(super) const KILL_BOUND: Duration = Duration::from_secs(20);
/// How often a task is looked at whose shim cannot tell.
pub(super) const LOOK: Duration = Duration::from_millis(200);
/// How often a port is tried.
const KNOCK: Duration = Duration::from_millis(50);
/// For a port to answer.
const ANSWER: Duration = Duration::from_secs(1);
/// However short the time, for the first look at what is there.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// For a shim to write an unfinished line down.
const SETTLED: Duration = Duration::from_secs(1);

/// Where something was found.
enum Found {
    InLog,
    /// In an unfinished line that is not in the log yet.
    InPending,
    Nowhere,
}

/// What is waited for besides the end.
#[derive(Debug, Default)]
pub struct Wait {
    /// No longer than this.
    pub timeout: Option<Duration>,
    /// For output that matches.
    pub pattern: Option<Pattern>,
    /// For a port of this machine that accepts.
    pub port: Option<u16>,
}

impl Registry {
    /// Waits until a task has ended, or for what else is wanted. Reads from the shared cursor.
    ///
    /// # Errors
    /// [`Error::UnknownTask`], [`Error::Closed`], [`Error::Store`]
    pub async fn wait(
        self: &Arc<Self>,
        named: &str,
        wait: Wait,
        mut given_up: oneshot::Receiver<()>,
    ) -> Result<Check, Error> {
        let id = self.find(named)?.id;
        let until = wait.timeout.map(|timeout| Instant::now() + timeout);
        let unread = self.inner().entries.get(&id).map_or(0, |entry| entry.cursor);
        let search = wait.pattern.map(|pattern| Search::new(pattern, unread));
        let looked = Notify::new();
        let matched = tokio::select! {
            biased;
            matched = self.until_there(&id, search, &looked) => matched?,
            () = port_accepts(wait.port) => true,
            () = time_is_up(until, &looked) => false,
            _ = &mut given_up => false,
        };
        self.read(&id, None, matched).await
    }

    /// Until the task has ended, or has said what is looked for; whether that is so. Tells when it has looked once.
    async fn until_there(
        self: &Arc<Self>,
        id: &str,
        mut search: Option<Search>,
        looked: &Notify,
    ) -> Result<bool, Error> {
        let closed = || Error::Closed;
        let mut progress =
            self.open_inner()?.entries.get(id).map(|entry| entry.progress.subscribe()).ok_or_else(closed)?;
        loop {
            let speaker = self.link(id);
            let (ended, pending) = {
                let now = progress.borrow_and_update();
                (now.ended, now.pending.clone())
            };
            let mut bytes = 0;
            if search.is_none() {
                looked.notify_one();
            }
            if let Some(searching) = search.take() {
                let (task, file, end) = self.store.readable(id)?.ok_or_else(closed)?;
                bytes = end;
                let (found, searched) = self.look_for(searching, file, end, pending).await?;
                search = Some(searched);
                looked.notify_one();
                match found {
                    Found::InLog => return Ok(true),
                    Found::InPending if !ended => {
                        if let Some(speaker) = &speaker {
                            self.settle_line(speaker, end, &mut progress).await;
                        }
                        return Ok(true);
                    }
                    Found::InPending | Found::Nowhere => {}
                }
                if !task.is_running() && !ended && !self.is_closing(&task) {
                    let mut inner = self.open_inner()?;
                    self.take_in(&mut inner, task, None);
                    continue;
                }
            }
            if ended {
                return Ok(false);
            }
            match &speaker {
                Some(speaker) if search.is_some() => speaker.watch(bytes, true),
                _ => {}
            }
            let changed = timeout(LOOK, progress.changed()).await;
            match changed {
                Ok(Ok(())) => {}
                // Nobody will say any more how it ends: the registry was closed.
                Ok(Err(_)) => return Err(Error::Closed),
                Err(_) if speaker.is_none() => {
                    let mut inner = self.open_inner()?;
                    self.look(&mut inner);
                }
                Err(_) => {}
            }
        }
    }

    /// Matching may take long, for ever with some patterns: it has a thread of its own, which is not waited for when time
    /// is up.
    async fn look_for(
        &self,
        mut search: Search,
        file: File,
        end: u64,
        pending: Vec<String>,
    ) -> Result<(Found, Search), Error> {
        let found = tokio::task::spawn_blocking(move || {
            let found = match search.in_log(file, end)? {
                true => Found::InLog,
                false if search.in_pending(&pending) => Found::InPending,
                false => Found::Nowhere,
            };
            Ok((found, search))
        });
        let failed = |source| Error::Store(super::StoreError::Folder { path: self.store.path().to_owned(), source });
        found.await.map_err(std::io::Error::other).flatten().map_err(failed)
    }

    /// What was found in an unfinished line is to be part of the output.
    async fn settle_line(
        &self,
        speaker: &crate::supervise::Speaker,
        bytes: u64,
        progress: &mut tokio::sync::watch::Receiver<super::registry::Progress>,
    ) {
        speaker.watch(bytes, false);
        speaker.settle();
        let _ = timeout(SETTLED, progress.wait_for(|progress| progress.bytes > bytes || progress.ended)).await;
    }
}

/// What is there already counts, even when there is no time.
async fn time_is_up(until: Option<Instant>, looked: &Notify) {
    let Some(until) = until else { return std::future::pending().await };
    sleep_until(until).await;
    let _ = timeout(FIRST_LOOK, looked.notified()).await;
}

async fn port_accepts(port: Option<u16>) {
    let Some(port) = port else { return std::future::pending().await };
    let places = [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    loop {
        for place in places {
            if matches!(timeout(ANSWER, TcpStream::connect(place)).await, Ok(Ok(_))) {
                return;
            }
        }
        sleep(KNOCK).await;
    }
}
