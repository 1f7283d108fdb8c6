//! The answer to a call.

use std::os::fd::{BorrowedFd, OwnedFd};

use nix::errno::Errno;

use sys::{NotificationResponse, SyscallNotification};

/// The answer to a call.
#[derive(Debug)]
pub(super) enum SyscallReply {
    /// A value, an error, or leave to the kernel to perform the call.
    Answer(NotificationResponse),
    /// A new descriptor for a file, and whether it is closed on exec.
    File(OwnedFd, bool),
    /// A thread answers.
    Later,
}

impl SyscallReply {
    pub const DONE: Self = Self::Answer(NotificationResponse::Value(0));
    pub const CONTINUE: Self = Self::Answer(NotificationResponse::Continue);

    pub fn value(value: i64) -> Self {
        Self::Answer(NotificationResponse::Value(value))
    }

    pub fn fail(errno: Errno) -> Self {
        Self::Answer(NotificationResponse::Fail(errno))
    }

    /// Sends the answer.
    pub fn send(self, listener: BorrowedFd<'_>, call: &SyscallNotification) {
        match self {
            Self::Answer(answer) => sys::respond(listener, call.id, answer),
            Self::File(file, cloexec) => {
                if let Err(errno) = sys::respond_with_file(listener, call, file, cloexec) {
                    sys::respond(listener, call.id, NotificationResponse::Fail(errno));
                }
            }
            Self::Later => {}
        }
    }
}
