//! The process that holds the transport, and what it says on standard error.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::frame_link::{FrameLink, read};
use runner::supervise::carrier;

/// Most bytes that are kept of what a transport says.
const MAX_STDERR: usize = 4 * 1024;
/// Time a carrier whose link has ended may take to end, too.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time to read what a transport has said before it ended.
const STDERR_TIMEOUT: Duration = Duration::from_secs(1);

/// A running transport.
pub struct TransportProcess {
    /// The link through it.
    pub link: FrameLink,
    /// The socket by which it is dropped.
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

impl TransportProcess {
    /// Starts a transport with its arguments.
    pub fn start(argv: &[String]) -> io::Result<Self> {
        let (control, theirs) = sys::socket_pair()?;
        let (frames, output) = sys::pipe()?;
        sys::send(control.as_fd(), &[0], &[frames.as_raw_fd()])?;
        let mut child = carrier(argv).stdin(theirs).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = child.stdout.take().map(OwnedFd::from).ok_or_else(missing)?;
        let messages = child.stderr.take().map(OwnedFd::from).ok_or_else(missing)?;
        let ended = tokio::task::spawn_blocking(move || child.wait().ok().and_then(|status| status.code()));
        sys::set_nonblocking(&messages)?;
        let messages = TransportStderr::read(sys::watch(messages, Interest::READABLE)?);
        Ok(Self { link: FrameLink::new(input, output)?, control, messages, ended })
    }

    /// Returns what the transport has said so far: the first 4 KiB, cleaned.
    pub fn stderr_text(&self) -> String {
        let said = self.messages.said.lock().unwrap_or_else(PoisonError::into_inner);
        clean(&String::from_utf8_lossy(&said))
    }

    /// Says goodbye to the program there, and waits until the transport has ended.
    pub async fn goodbye(self) {
        let Self { link, control: _control, messages: _messages, ended } = self;
        drop(link);
        // A fault in the thread that waits is no reason to wait for it.
        let _exit_code = ended.await;
    }

    /// Waits until the transport has ended, since its link has. Returns its exit code, and what it has said.
    pub async fn last_words(mut self) -> (Option<i32>, String) {
        let code = timeout(EXIT_TIMEOUT, &mut self.ended).await;
        // A process that it has left behind may hold its standard error for longer.
        let _held = timeout(STDERR_TIMEOUT, &mut self.messages.reader).await;
        (code.ok().and_then(Result::ok).flatten(), self.stderr_text())
    }

    /// Ends the transport, without a goodbye to the program there. Waits for nothing.
    pub fn drop_link(self) {
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

/// Removes the escape sequences and control characters of a program that connects or of a login shell. A carriage
/// return ends a line. Output of commands is cleaned by `capture`, which can do so in parts.
pub(super) fn clean(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").replace('\t', " ");
    strip_ansi_escapes::strip_str(lines).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn the_words_of_a_transport_have_no_control_characters() {
        let said = "\x1b[1;31mssh:\x1b[0m no\troute\r\n\x1b]0;title\x07try 1\rtry\x08 2\x1b[K\u{9b}31m\r\n\r\n";
        let cleaned = clean(said);
        assert!(cleaned.starts_with("ssh: no route\ntry 1\ntry 2"), "{cleaned:?}");
        assert!(!cleaned.chars().any(|c| c.is_control() && c != '\n'), "{cleaned:?}");
    }
}
