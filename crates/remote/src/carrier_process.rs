//! The process that holds a transport, and what the transport says on standard error. It belongs to a host, or to the
//! program of the target through which a host reaches another one.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::frame_link::read;
use runner::supervise::carrier;

/// Most bytes that are kept of what a transport says.
pub const MAX_STDERR: usize = 4 * 1024;
/// Time a carrier whose link has ended may take to end, too.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time to read what a transport has said before it ended.
const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

/// A running carrier. When its frames end, it says goodbye to the program there.
pub struct CarrierProcess {
    /// The socket by which the transport is dropped.
    control: OwnedFd,
    messages: TransportStderr,
    /// Completes with the exit code of the transport. `None` after a signal.
    ended: JoinHandle<Option<i32>>,
}

/// What the transport says. It is read as long as this lives, so that a transport never waits for its reader.
struct TransportStderr {
    said: Arc<Mutex<Vec<u8>>>,
    /// Completes when no process can say anything more.
    reader: JoinHandle<()>,
}

impl Drop for TransportStderr {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl CarrierProcess {
    /// Starts a transport with its arguments. `frames` are read from this end, and its output is written to the other.
    pub fn start(argv: &[String], frames: &impl AsRawFd, output: OwnedFd) -> io::Result<Self> {
        let (control, theirs) = sys::socket_pair()?;
        sys::send(control.as_fd(), &[0], &[frames.as_raw_fd()])?;
        let mut child = carrier(argv).stdin(theirs).stdout(output).stderr(Stdio::piped()).spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let messages = child.stderr.take().map(OwnedFd::from).ok_or_else(missing)?;
        let ended = tokio::task::spawn_blocking(move || child.wait().ok().and_then(|status| status.code()));
        sys::set_nonblocking(&messages)?;
        let messages = TransportStderr::read(sys::watch(messages, Interest::READABLE)?);
        Ok(Self { control, messages, ended })
    }

    /// Returns what the transport has said so far: the first 4 KiB.
    pub fn stderr_text(&self) -> String {
        let said = self.messages.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Waits until the transport has ended, whose frames have.
    pub async fn wait(self) {
        // A fault in the thread that waits is no reason to wait for it.
        let _exit_code = self.ended.await;
    }

    /// Waits for the exit of a transport whose output has ended. Returns its exit code and its messages.
    pub async fn last_words(mut self) -> (Option<i32>, String) {
        let code = timeout(EXIT_TIMEOUT, &mut self.ended).await;
        // A process that it has left behind may hold its standard error for longer.
        let _held = timeout(STDERR_TIMEOUT, &mut self.messages.reader).await;
        (code.ok().and_then(Result::ok).flatten(), self.stderr_text())
    }

    /// Ends the transport, without a goodbye to the program there. Waits for nothing.
    pub fn drop_link(&self) {
        // It may have ended by itself.
        let _gone = sys::send(self.control.as_fd(), &[0], &[]);
    }
}

impl TransportStderr {
    fn read(messages: AsyncFd<OwnedFd>) -> Self {
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&said);
        let reader = tokio::spawn(async move {
            let mut buffer = [0; 1024];
            while let Ok(count) = read(&messages, &mut buffer).await {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let room = MAX_STDERR - kept.len();
                kept.extend(&buffer[..count.min(room)]);
            }
        });
        Self { said, reader }
    }
}
