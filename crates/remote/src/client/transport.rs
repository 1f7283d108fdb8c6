//! The process that holds the transport, and what it says on standard error.

use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use crate::link::Link;
use runner::supervise::carrier;
use wire::Kind;

/// Most bytes that are kept of what a transport says.
const SAID: usize = 4 * 1024;

/// A running transport.
pub struct Transport {
    /// The link through it.
    pub link: Link,
    said: Arc<Mutex<Vec<u8>>>,
    /// Completes with the exit code of the transport. `None` after a signal.
    pub ended: tokio::task::JoinHandle<Option<i32>>,
}

impl Transport {
    /// Starts a transport with its arguments.
    pub fn start(argv: &[String]) -> io::Result<Self> {
        let mut child = carrier(argv).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let input = child.stdout.take().map(OwnedFd::from).ok_or_else(missing)?;
        let output = child.stdin.take().map(OwnedFd::from).ok_or_else(missing)?;
        let messages = child.stderr.take().ok_or_else(missing)?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&said);
        // Messages are read to their end, so that a transport never waits for their reader.
        let ended = tokio::task::spawn_blocking(move || {
            keep(messages, &kept);
            child.wait().ok().and_then(|status| status.code())
        });
        Ok(Self { link: Link::new(input, output)?, said, ended })
    }

    /// Returns what the transport has said so far: the first 4 KiB, cleaned.
    pub fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        clean(&String::from_utf8_lossy(&said))
    }

    /// Says goodbye to the program there, and waits until the transport has ended.
    pub async fn goodbye(self) {
        let Self { link, ended, .. } = self;
        drop(link);
        // A fault in the thread that waits is no reason to wait for it.
        let _exit_code = ended.await;
    }

    /// Ends the transport, without a goodbye to the program there.
    pub async fn drop_link(mut self) {
        // It may have ended by itself.
        let _gone = self.link.control(Kind::Drop, &[]).await;
    }
}

fn keep(mut messages: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 1024];
    while let Ok(count @ 1..) = messages.read(&mut buffer) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        let room = SAID - kept.len();
        kept.extend(&buffer[..count.min(room)]);
    }
}

/// Removes what a terminal would not show as text.
fn clean(text: &str) -> String {
    let mut capture =
        capture::Capture::new("stderr", capture::Truncate::default(), Some(capture::Sanitize::default()), false);
    capture.push(text.as_bytes());
    capture.end();
    capture.finish().text.trim_end().to_owned()
}
