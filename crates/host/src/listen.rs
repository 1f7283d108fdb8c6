//! Listens from the first command on.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use nix::unistd::{geteuid, getpid};
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::client::Client;
use super::message::{Code, Failure, Greeting, PROTOCOL};
use super::place::{Bound, Surroundings, bind};
use super::running::Running;
use protocol::task::now_ms;
use runner::live::shown_directory;

/// Most clients at a time.
const CLIENTS: usize = 16;
/// Time between two looks at the socket, each made when a command begins.
const RENEW_NS: u64 = 60_000_000_000;
/// Pause after a failed accept, as without descriptors.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// When the next look at the socket is due, monotonic, ns. 0 before the first command.
static DUE: AtomicU64 = AtomicU64::new(0);
static HOST: Mutex<Host> = Mutex::new(Host { users: 0, listening: None });

/// The socket of this process.
struct Host {
    /// The threads of JavaScript that use it.
    users: usize,
    /// The socket, and the task that accepts its clients.
    listening: Option<(Bound, Running)>,
}

fn host() -> MutexGuard<'static, Host> {
    HOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread of JavaScript that runs commands. The socket is removed with the last one, when nothing is left to see.
pub struct User(());

impl User {
    /// Counts a thread.
    pub fn new() -> Self {
        host().users += 1;
        Self(())
    }
}

impl Default for User {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for User {
    fn drop(&mut self) {
        let mut host = host();
        host.users -= 1;
        if host.users == 0 {
            DUE.store(0, Ordering::Relaxed);
            host.listening = None;
        }
    }
}

/// Returns the directory in which the hosts of this user listen. `None` if something else is in its place.
pub fn directory() -> Option<PathBuf> {
    Surroundings::here().directory()
}

/// Listens, unless this process does. Never waits, and costs a look at the clock where there is nothing to do. Called by
/// a thread of JavaScript when a command begins.
pub fn keep_listening(runtime: &Handle) {
    let now = sys::monotonic_ns();
    let due = DUE.load(Ordering::Relaxed);
    if now < due || DUE.compare_exchange(due, now + RENEW_NS, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    let here = Surroundings::here();
    let renewal = runtime.clone();
    // A host that cannot listen runs its commands as well.
    runtime.spawn_blocking(move || renew(&renewal, &here));
}

fn renew(runtime: &Handle, here: &Surroundings) -> std::io::Result<()> {
    let mut host = host();
    if host.users == 0 || host.listening.as_ref().is_some_and(|(bound, _)| bound.is_found(here)) {
        return Ok(());
    }
    host.listening = None;
    let (listener, bound) = bind(here)?;
    let _runtime = runtime.enter();
    let listener = UnixListener::from_std(listener)?;
    host.listening = Some((bound, Running::spawn(accept(listener))));
    Ok(())
}

async fn accept(listener: UnixListener) {
    let [places, refusals] = [(); 2].map(|()| Arc::new(Semaphore::new(CLIENTS)));
    loop {
        match listener.accept().await {
            Ok((stream, _)) if sys::peer_user(&stream).is_ok_and(|user| user == geteuid()) => {
                let client = Client::new(stream);
                if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                    tokio::spawn(async move {
                        client.serve(&greeting()).await;
                        drop(place);
                    });
                } else if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                    let message = format!("this host has {CLIENTS} clients; close one first");
                    tokio::spawn(async move {
                        client.leave(Failure::new(Code::Busy, message)).await;
                        drop(place);
                    });
                }
            }
            // The directory keeps other users out. One that has got the socket elsewhere learns nothing.
            Ok(_) => {}
            Err(_) => sleep(EXHAUSTED).await,
        }
    }
}

fn greeting() -> Greeting {
    static STARTED: OnceLock<u64> = OnceLock::new();
    let started_at = STARTED.get_or_init(|| {
        let age = sys::age(getpid()).map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(0));
        now_ms().saturating_sub(age)
    });
    let cwd = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    Greeting {
        protocol: PROTOCOL,
        pid: std::process::id(),
        program: ledger::host().program.clone().into_owned(),
        cwd: shown_directory(cwd),
        started_at: *started_at,
        version: env!("CARGO_PKG_VERSION"),
    }
}
