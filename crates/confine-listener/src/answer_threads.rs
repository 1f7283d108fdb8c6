//! Answers that take time: opening a FIFO, connecting a socket. Each answer has a thread, so that other calls go on.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use nix::errno::Errno;

use super::syscall_reply::SyscallReply;
use sys::SyscallNotification;

/// The most answers that may be under way at once.
const MOST: usize = 64;

struct RunningAnswer {
    thread: JoinHandle<()>,
    listener: Arc<OwnedFd>,
    call: SyscallNotification,
    /// Whether the work is done. While the call is being answered, it may already look as if it did not wait.
    answers: Arc<AtomicBool>,
}

/// The answers that are under way.
#[derive(Default)]
pub(super) struct AnswerThreads(Vec<RunningAnswer>);

impl AnswerThreads {
    /// Returns whether [`AnswerThreads::sweep`] has work to do.
    pub fn are_running(&self) -> bool {
        !self.0.is_empty()
    }

    /// Answers a call with the result of work that may block.
    pub fn answer_in_thread(
        &mut self,
        listener: &Arc<OwnedFd>,
        call: SyscallNotification,
        work: impl FnOnce() -> Result<SyscallReply, Errno> + Send + 'static,
    ) -> Result<SyscallReply, Errno> {
        if self.0.len() >= MOST {
            return Err(Errno::EAGAIN);
        }
        let shared = Arc::clone(listener);
        let answers = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&answers);
        let run = move || {
            let reply = work().unwrap_or_else(SyscallReply::fail);
            mark.store(true, Ordering::SeqCst);
            reply.send(shared.as_fd(), &call);
        };
        let thread = std::thread::Builder::new().stack_size(64 * 1024).spawn(run).map_err(|_| Errno::EAGAIN)?;
        self.0.push(RunningAnswer { thread, listener: Arc::clone(listener), call, answers });
        Ok(SyscallReply::Later)
    }

    /// Forgets threads that have answered, and wakes threads whose caller is gone.
    pub fn sweep(&mut self) {
        let (done, running): (Vec<_>, _) = self.0.drain(..).partition(|running| running.thread.is_finished());
        self.0 = running;
        done.into_iter().for_each(|running| drop(running.thread.join()));
        for RunningAnswer { thread, listener, call, answers } in &self.0 {
            // The order matters. A signal would interrupt an answer with a file, and its caller would get the
            // descriptor 0.
            if !sys::still_waits(listener.as_fd(), call.id) && !answers.load(Ordering::SeqCst) {
                sys::wake_thread(thread);
            }
        }
    }
}
