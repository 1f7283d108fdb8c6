//! Passes a link to the program that it belongs to.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use nix::unistd::geteuid;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::link_handover_socket::{HANDOVER_MESSAGE_LEN, REFUSED, WELCOME};
use crate::frame_link::FrameLink;
use crate::messages::ResumeRequest;

/// Time the other program may take to answer.
const HANDOVER_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a link was not passed on.
pub enum HandoverError {
    /// No program has the token: what ran in it is gone. The link is still this program's.
    Gone(FrameLink),
    /// The other program may be there, and did not take the link over.
    Unclear(io::Error),
}

/// Passes the link on, and waits until the other program has no more use for it. This process must stay as long, since
/// a transport ends a link with the process that it has started.
///
/// # Errors
/// If no program at this place has the token, or the other program does not answer.
pub async fn hand_over(link: FrameLink, resume: &ResumeRequest) -> Result<(), HandoverError> {
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    let other = match timeout(HANDOVER_TIMEOUT, visit(resume)).await.unwrap_or_else(|elapsed| Err(late(elapsed))) {
        Ok(other) => other,
        Err(error) if is_gone(&error) => return Err(HandoverError::Gone(link)),
        Err(error) => return Err(HandoverError::Unclear(error)),
    };
    // The host sends nothing before the other program has answered.
    let Some(ends) = link.ends() else { return Err(HandoverError::Unclear(io::ErrorKind::InvalidData.into())) };
    let passed = timeout(HANDOVER_TIMEOUT, send_link(&other, resume, &ends.map(|end| end.as_raw_fd()))).await;
    match passed.unwrap_or_else(|elapsed| Err(late(elapsed))) {
        Ok(WELCOME) => {}
        Ok(REFUSED) => return Err(HandoverError::Gone(link)),
        Ok(_) => return Err(HandoverError::Unclear(io::ErrorKind::InvalidData.into())),
        Err(error) => return Err(HandoverError::Unclear(error)),
    }
    drop(link);
    let mut byte = [0];
    while let Ok(1..) =
        other.async_io(Interest::READABLE, || sys::receive(other.as_fd(), &mut byte, &mut Vec::new())).await
    {}
    Ok(())
}

/// Returns whether nobody listens at the socket, or somebody else.
fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::PermissionDenied)
}

async fn visit(resume: &ResumeRequest) -> io::Result<UnixStream> {
    let other = UnixStream::connect(&resume.socket).await?;
    if other.peer_cred()?.uid() == geteuid().as_raw() { Ok(other) } else { Err(io::ErrorKind::PermissionDenied.into()) }
}

/// Returns the answer of the other program.
async fn send_link(other: &UnixStream, resume: &ResumeRequest, ends: &[i32]) -> io::Result<u8> {
    let mut words = [0; HANDOVER_MESSAGE_LEN];
    words[..32].copy_from_slice(&resume.token.0);
    words[32..].copy_from_slice(&resume.received.to_le_bytes());
    let sent = other.async_io(Interest::WRITABLE, || sys::send(other.as_fd(), &words, ends)).await?;
    if sent != HANDOVER_MESSAGE_LEN {
        return Err(io::ErrorKind::WriteZero.into());
    }
    let mut answer = [0];
    let count =
        other.async_io(Interest::READABLE, || sys::receive(other.as_fd(), &mut answer, &mut Vec::new())).await?;
    if count == 1 { Ok(answer[0]) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}
