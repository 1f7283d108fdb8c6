//! Passes a link to the program that it belongs to.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use nix::unistd::geteuid;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::door::{WELCOME, WORDS};
use crate::link::Link;
use crate::messages::Resume;

/// Time the other program may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Passes the link on, and waits until the other program has no more use for it. This process must stay as long, since
/// a transport ends a link with the process that it has started.
///
/// # Errors
/// The link, if no program at this place has the token.
pub async fn pass(link: Link, resume: &Resume) -> Result<(), Link> {
    let Ok(Ok(other)) = timeout(ANSWER, visit(resume)).await else { return Err(link) };
    // The host sends nothing before the other program has answered.
    let Some(ends) = link.ends() else { return Err(link) };
    let passed = timeout(ANSWER, hand_over(&other, resume, &ends.map(|end| end.as_raw_fd()))).await;
    if !matches!(passed, Ok(Ok(()))) {
        return Err(link);
    }
    drop(link);
    let mut byte = [0];
    while let Ok(1..) =
        other.async_io(Interest::READABLE, || sys::receive(other.as_fd(), &mut byte, &mut Vec::new())).await
    {}
    Ok(())
}

async fn visit(resume: &Resume) -> io::Result<UnixStream> {
    let other = UnixStream::connect(&resume.socket).await?;
    if other.peer_cred()?.uid() == geteuid().as_raw() { Ok(other) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

async fn hand_over(other: &UnixStream, resume: &Resume, ends: &[i32]) -> io::Result<()> {
    let mut words = [0; WORDS];
    words[..32].copy_from_slice(&resume.token.0);
    words[32..].copy_from_slice(&resume.received.to_le_bytes());
    let sent = other.async_io(Interest::WRITABLE, || sys::send(other.as_fd(), &words, ends)).await?;
    if sent != WORDS {
        return Err(io::ErrorKind::WriteZero.into());
    }
    let mut answer = [0];
    let count =
        other.async_io(Interest::READABLE, || sys::receive(other.as_fd(), &mut answer, &mut Vec::new())).await?;
    if count == 1 && answer == [WELCOME] { Ok(()) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}
