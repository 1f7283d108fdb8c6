//! The socket by which a later program of the same host passes its link on.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::unistd::geteuid;
use tokio::io::Interest;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Mutex;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::installed_program::{directory_entries, is_dead};
use crate::messages::ProgramToken;
use crate::random::{random, random_name};
use capture::private_parent;

/// Time a visitor has for its words.
const VISITOR_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes that a visitor says: the token, and the number of the last frame that its host has received.
pub const HANDOVER_MESSAGE_LEN: usize = 32 + 8;
/// What the name of a socket begins and ends with.
const SOCKET_NAME: [&str; 2] = ["host-", ".sock"];
/// Most files that are looked at.
const MAX_SCANNED_FILES: usize = 4096;
/// The answer to a visitor with the right token.
pub const WELCOME: u8 = 1;
/// The answer to a visitor with another token.
pub const REFUSED: u8 = 0;

/// The socket. Its file is removed with it.
pub struct LinkHandoverSocket {
    path: PathBuf,
    token: ProgramToken,
    visits: Mutex<Receiver<HandedOverLink>>,
    /// Hears visitors to their end, whatever else happens meanwhile.
    task: JoinHandle<()>,
}

/// A link that a later program has passed on.
pub struct HandedOverLink {
    /// Its ends: to read, to write.
    pub ends: [OwnedFd; 2],
    /// The number of the last frame that the host has received.
    pub received: u64,
    /// The later program, which stays until this is closed.
    pub visitor: UnixStream,
}

impl LinkHandoverSocket {
    /// Opens the socket in the first place that takes one.
    pub fn open() -> io::Result<Self> {
        let token = random()?;
        let mut failed = io::Error::from(io::ErrorKind::NotFound);
        for place in private_directory_candidates() {
            match Self::open_in(&place) {
                Ok((listener, path)) => {
                    let (sender, visits) = channel(1);
                    let task = tokio::spawn(receive(listener, token, sender));
                    return Ok(Self { path, token: ProgramToken(token), visits: Mutex::new(visits), task });
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn open_in(place: &Path) -> io::Result<(UnixListener, PathBuf)> {
        let name = format!("{}{}{}", SOCKET_NAME[0], random_name::<8>()?, SOCKET_NAME[1]);
        let parent = private_parent(place).map_err(io::Error::other)?;
        remove_dead_sockets(&parent);
        let path = parent.join(name);
        // Until it listens, a socket looks like one that was left.
        let unready = path.with_extension("new");
        let listener = UnixListener::bind(&unready)?;
        std::fs::set_permissions(&unready, PermissionsExt::from_mode(0o600))?;
        std::fs::rename(&unready, &path)?;
        Ok((listener, path))
    }

    /// Returns the path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the secret of this program.
    pub fn token(&self) -> ProgramToken {
        self.token
    }

    /// Waits for the next link that is passed on.
    pub async fn next_link(&self) -> HandedOverLink {
        match self.visits.lock().await.recv().await {
            Some(passed) => passed,
            // The task has ended with the runtime.
            None => std::future::pending().await,
        }
    }
}

/// Receives visitors, and hands on the links of those with the token.
async fn receive(listener: UnixListener, token: [u8; 32], passed: Sender<HandedOverLink>) {
    loop {
        let Ok((visitor, _)) = listener.accept().await else {
            // Too many open files. One may be closed by then.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let is_ours = visitor.peer_cred().is_ok_and(|peer| peer.uid() == geteuid().as_raw());
        if is_ours
            && let Ok(Some(link)) = timeout(VISITOR_TIMEOUT, read_visitor(visitor, &token)).await
            && passed.send(link).await.is_err()
        {
            return;
        }
    }
}

async fn read_visitor(visitor: UnixStream, own: &[u8; 32]) -> Option<HandedOverLink> {
    let mut words = [0; HANDOVER_MESSAGE_LEN];
    let (mut count, mut ends) = (0, Vec::new());
    while count < HANDOVER_MESSAGE_LEN {
        let step =
            visitor.async_io(Interest::READABLE, || sys::receive(visitor.as_fd(), &mut words[count..], &mut ends));
        match step.await {
            Ok(0) | Err(_) => return None,
            Ok(more) => count += more,
        }
    }
    let (token, received) = words.split_first_chunk::<32>()?;
    let received = u64::from_le_bytes(received.try_into().ok()?);
    let ends = <[OwnedFd; 2]>::try_from(ends).ok()?;
    let answer = if is_same(token, own) { WELCOME } else { REFUSED };
    visitor.async_io(Interest::WRITABLE, || sys::send(visitor.as_fd(), &[answer], &[])).await.ok()?;
    (answer == WELCOME).then_some(HandedOverLink { ends, received, visitor })
}

impl Drop for LinkHandoverSocket {
    fn drop(&mut self) {
        self.task.abort();
        // A cleaner of temporary files may have removed it.
        let _gone = std::fs::remove_file(&self.path);
    }
}

/// Removes the sockets of programs that were killed: nobody listens there.
fn remove_dead_sockets(parent: &Path) {
    let is_ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(SOCKET_NAME[0]) && name.ends_with(SOCKET_NAME[1])
    };
    for path in directory_entries(parent).take(MAX_SCANNED_FILES).filter(|path| is_ours(path) && is_dead(path)) {
        // Another program may be faster.
        let _gone = std::fs::remove_file(path);
    }
}

/// Compares two secrets in a time that does not depend on them.
fn is_same(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |differ, (one, other)| differ | (one ^ other)) == 0
}

/// Returns the directories in which a private directory may be made, the best first.
pub fn private_directory_candidates() -> Vec<PathBuf> {
    let named = ["XDG_RUNTIME_DIR", "TMPDIR"].map(std::env::var_os);
    let [runtime, temp] = named.map(|place| place.map(PathBuf::from).filter(|place| place.is_absolute()));
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".cache")).filter(|place| place.is_absolute());
    let fixed = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
    runtime.into_iter().chain(temp).chain(fixed).chain(home).collect()
}
