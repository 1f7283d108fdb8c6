//! Listens from the first command on, or earlier on request.

use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::Duration;

use nix::unistd::{geteuid, getpid};
use tokio::net::UnixListener;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::abort_on_drop::AbortOnDropTask;
use super::host_client::HostClient;
use super::host_message::{FailureCode, HostGreeting, PROTOCOL, RequestFailure};
use super::socket_directory::{BoundSocket, RuntimeDirectories, bind};
use protocol::task::now_ms;
use runner::live::{asks, shown_directory};

/// Most clients at a time.
const CLIENTS: usize = 16;
/// Time between two checks of the socket, each made when a command begins.
const RENEW_NS: u64 = 60_000_000_000;
/// Pause after a failed accept, as without descriptors.
const EXHAUSTED: Duration = Duration::from_millis(200);

/// When the next check of the socket is due, monotonic, ns. 0 before the first command.
static DUE: AtomicU64 = AtomicU64::new(0);
static HOST: Mutex<HostSocketState> = Mutex::new(HostSocketState::Silent);

/// This process, as clients find it.
enum HostSocketState {
    /// No command has begun yet, or the socket cannot be made.
    Silent,
    /// The socket, and the task that accepts its clients.
    Listening(BoundSocket, AbortOnDropTask),
    /// The process exits.
    Exits,
}

fn host() -> MutexGuard<'static, HostSocketState> {
    HOST.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the socket.
extern "C" fn remove_socket_at_exit() {
    let before = mem::replace(&mut *host(), HostSocketState::Exits);
    if let HostSocketState::Listening(bound, accepts) = before {
        drop(bound);
        // The runtime cannot be used by a thread that exits.
        mem::forget(accepts);
    }
}

/// Returns the directory in which the hosts of this user listen. `None` if something else is in its place.
pub fn directory() -> Option<PathBuf> {
    RuntimeDirectories::here().directory()
}

/// Listens, unless this process already does. Never waits, and only reads the clock if there is nothing to do. Called
/// by a thread of JavaScript when a command begins, or earlier if the page is to be asked about the first command.
pub fn keep_listening(runtime: &Handle) {
    let now = sys::monotonic_ns();
    let due = DUE.load(Ordering::Relaxed);
    if now < due || DUE.compare_exchange(due, now + RENEW_NS, Ordering::Relaxed, Ordering::Relaxed).is_err() {
        return;
    }
    asks().set_discoverable();
    let here = RuntimeDirectories::here();
    let renewal = runtime.clone();
    // A host that cannot listen runs its commands as well.
    runtime.spawn_blocking(move || renew_socket(&renewal, &here));
}

fn renew_socket(runtime: &Handle, here: &RuntimeDirectories) -> std::io::Result<()> {
    static AT_EXIT: Once = Once::new();
    let mut host = host();
    match &*host {
        HostSocketState::Exits => return Ok(()),
        HostSocketState::Listening(bound, _) if bound.is_found(here) => return Ok(()),
        HostSocketState::Listening(..) | HostSocketState::Silent => *host = HostSocketState::Silent,
    }
    let (listener, bound) = bind(here)?;
    let _runtime = runtime.enter();
    let listener = UnixListener::from_std(listener)?;
    *host = HostSocketState::Listening(bound, AbortOnDropTask::spawn(accept(listener)));
    AT_EXIT.call_once(|| sys::at_exit(remove_socket_at_exit));
    Ok(())
}

async fn accept(listener: UnixListener) {
    let [places, refusals] = [(); 2].map(|()| Arc::new(Semaphore::new(CLIENTS)));
    loop {
        match listener.accept().await {
            Ok((stream, _)) if sys::peer_user(&stream).is_ok_and(|user| user == geteuid()) => {
                let client = HostClient::new(stream);
                if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                    tokio::spawn(async move {
                        client.serve(&greeting()).await;
                        drop(place);
                    });
                } else if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                    let message = format!("this host has {CLIENTS} clients; close one first");
                    tokio::spawn(async move {
                        client.close_with_reason(RequestFailure::new(FailureCode::Busy, message)).await;
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

fn greeting() -> HostGreeting {
    static STARTED: OnceLock<u64> = OnceLock::new();
    let started_at = STARTED.get_or_init(|| {
        let age = sys::age(getpid()).map_or(0, |age| u64::try_from(age.as_millis()).unwrap_or(0));
        now_ms().saturating_sub(age)
    });
    let cwd = std::env::current_dir().unwrap_or_default().to_string_lossy().into_owned();
    HostGreeting {
        protocol: PROTOCOL,
        pid: std::process::id(),
        program: ledger::own_host().program.clone().into_owned(),
        cwd: shown_directory(cwd),
        started_at: *started_at,
        version: env!("CARGO_PKG_VERSION"),
    }
}
