//! A command as the addon sees it: a plan on its way to a shim, and the shim's news of it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use super::helpers::Helpers;
use super::idle::Shim;
use super::link::Link;
use super::ready::Ready;
use crate::background::{self, Task};
use crate::plan::{Kind, Plan};
use crate::supervise::frames::{self, Fields, Read, Reader, Writer};
use crate::supervise::limits::Broken;
use crate::supervise::protocol::{self, Ended, Failure, Survivor, Transfer};
use crate::supervise::waits::Wait;
use crate::sys;

/// What a shim has to say of its command.
#[derive(Debug)]
pub enum News {
    /// The program runs.
    Started(i32),
    /// It could not be started.
    Failed(Failure),
    /// The shell has ended.
    Ended(Ended),
    /// What it left has broken a limit and was ended.
    Broken(Broken),
    /// Who waits for what nobody gives; `true`: at its limit.
    Waits(bool, Option<Wait>),
    /// What is left is on its own now.
    Released(Vec<Survivor>),
    /// It is a task now: the shim is its own, see [`Child::into_link`].
    Task(Box<Task>),
    /// It could not be made a task.
    Refused(i32),
    /// The shell with this mark waits; `None`: it does not.
    Prepared(String, Option<Ready>),
    /// The shim is gone. `untaken`: it never saw the plan, so that nothing was started.
    Lost {
        /// Whether the plan was never read.
        untaken: bool,
    },
}

/// A plan that was given to a shim.
pub struct Sent {
    shim: Shim,
    rest: Vec<u8>,
    /// The command's ends of its pipes, kept until they have arrived with the first byte.
    fds: Vec<OwnedFd>,
}

impl Sent {
    /// Sends a plan and the command's ends of its pipes without waiting; what does not fit is sent later.
    pub fn send(shim: Shim, plan: &Plan, task: Option<&background::Order>, fds: Vec<OwnedFd>) -> Self {
        let bytes = frames::encode(protocol::RUN, &protocol::encode_run(plan, task), fds.len());
        // An error shows itself again when the shim's news are read.
        let sent = sys::send(shim.socket.as_fd(), &bytes, &frames::raw(&fds)).unwrap_or(0);
        let fds = if sent > 0 { Vec::new() } else { fds };
        Self { shim, rest: bytes[sent..].to_vec(), fds }
    }

    /// Only listens.
    pub fn nothing(shim: Shim) -> Self {
        Self { shim, rest: Vec::new(), fds: Vec::new() }
    }

    /// Goes on where news can be waited for.
    pub fn follow(self) -> io::Result<Child> {
        let pid = self.shim.pid;
        let socket = sys::watch(self.shim.socket, Interest::READABLE | Interest::WRITABLE)?;
        Ok(Child {
            pid,
            socket,
            reader: Reader::default(),
            rest: self.rest,
            fds: self.fds,
            started: false,
            prepares: false,
        })
    }
}

/// A command that a shim was given.
pub struct Child {
    pid: i32,
    socket: AsyncFd<OwnedFd>,
    reader: Reader,
    rest: Vec<u8>,
    fds: Vec<OwnedFd>,
    started: bool,
    /// What is waited for is a shell that waits.
    prepares: bool,
}

impl Child {
    /// No command: a shell that is to wait for one.
    pub fn prepares(&mut self) {
        self.prepares = true;
    }

    /// Its program runs already: a shell that waited for it.
    pub fn has_started(&mut self) {
        self.started = true;
    }

    /// The next piece of news. May be dropped while it waits; nothing is lost.
    pub async fn news(&mut self) -> News {
        loop {
            if !self.rest.is_empty() {
                if self.send_rest().await.is_err() {
                    return News::Lost { untaken: !self.started };
                }
                continue;
            }
            if let Some(news) = self.news_now() {
                return news;
            }
            match self.socket.readable().await {
                Ok(mut guard) => guard.clear_ready(),
                Err(_) => return News::Lost { untaken: false },
            }
        }
    }

    /// The next piece of news that is there already.
    pub fn news_now(&mut self) -> Option<News> {
        loop {
            match self.reader.read(self.socket.get_ref()) {
                Ok(Read::Frame(mut frame)) => {
                    if let Some(news) = self.understand(&mut frame) {
                        return Some(news);
                    }
                }
                Ok(Read::Pending) => return None,
                Ok(Read::Closed) => return Some(News::Lost { untaken: false }),
                // A reset says that the shim ended with the plan still unread in its socket.
                Err(error) => {
                    let untaken = !self.started && error.kind() == io::ErrorKind::ConnectionReset;
                    return Some(News::Lost { untaken });
                }
            }
        }
    }

    fn understand(&mut self, frame: &mut frames::Frame) -> Option<News> {
        match frame.kind {
            protocol::STARTED => {
                self.started = true;
                let pid = Fields(&frame.body).number().and_then(|pid| i32::try_from(pid).ok())?;
                Some(News::Started(pid))
            }
            protocol::FAILED => protocol::decode_failure(&frame.body).map(News::Failed),
            protocol::ENDED => Ended::decode(&frame.body).map(News::Ended),
            protocol::BROKEN => Broken::decode(&frame.body).map(News::Broken),
            protocol::WAITS => {
                let (at_limit, wait) = protocol::decode_waits(&frame.body);
                Some(News::Waits(at_limit, wait))
            }
            protocol::RELEASED => Some(News::Released(protocol::decode_survivors(&frame.body))),
            protocol::TASK => serde_json::from_slice(&frame.body).ok().map(|task| News::Task(Box::new(task))),
            protocol::REFUSED => Some(News::Refused(errno_of(frame))),
            // Of a shell that waited before this command, unless it is what is waited for.
            protocol::PREPARED if self.prepares => Ready::of(frame).map(|(mark, ready)| News::Prepared(mark, ready)),
            _ => None,
        }
    }

    async fn send_rest(&mut self) -> io::Result<()> {
        let mut guard = self.socket.writable().await?;
        match sys::send(self.socket.get_ref().as_fd(), &self.rest, &frames::raw(&self.fds)) {
            Ok(count) => {
                self.rest.drain(..count);
                self.fds.clear();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                guard.clear_ready();
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Whether nothing runs below its shim but this shell, which runs nothing itself.
    pub fn runs_only(&self, shell: Pid) -> bool {
        sys::first_children(shell).is_empty() && sys::first_children(Pid::from_raw(self.pid)) == [shell]
    }

    /// Signals its shell's group, and the one that its terminal's keys go to.
    pub fn signal(&self, signal: Signal, foreground: Option<i32>) {
        let body = protocol::encode_signal(signal, foreground);
        let _ = frames::send(self.socket.get_ref(), protocol::SIGNAL, &body, &[]);
    }

    /// Has its shim look who waits for what nobody gives. Answered by [`News::Waits`], unless it has just ended.
    pub fn look(&self) {
        let _ = frames::send(self.socket.get_ref(), protocol::LOOK, &[], &[]);
    }

    /// Answers that who waits at the limit was heeded: what waits may be signalled now.
    pub fn heeded(&self) {
        let _ = frames::send(self.socket.get_ref(), protocol::HEEDED, &[], &[]);
    }

    /// Has the tree ended: SIGTERM, grace, SIGKILL.
    pub fn end(&self) {
        let _ = frames::send(self.socket.get_ref(), protocol::END, &[], &[]);
    }

    /// Has the tree ended because its time is up.
    pub fn end_at_limit(&self) {
        let _ = frames::send(self.socket.get_ref(), protocol::END, &Writer::default().number(1).finish(), &[]);
    }

    /// Leaves what is left to itself: the shim reads its output from now on. Answered by [`News::Released`]; with a
    /// transfer, and somebody who holds the pipes, then by [`News::Task`] or [`News::Refused`].
    pub fn release(&self, transfer: Option<&Transfer>) {
        let body = transfer.map(Transfer::encode).unwrap_or_default();
        let _ = frames::send(self.socket.get_ref(), protocol::RELEASE, &body, &[]);
    }

    /// Has the command go on as a task, with the other end of its input and a file with the rest of that. Answered by
    /// [`News::Task`] or [`News::Refused`], unless it has just ended.
    pub fn hand_over(&self, transfer: &Transfer, input: &[OwnedFd]) {
        let _ = frames::send(self.socket.get_ref(), protocol::HAND_OVER, &transfer.encode(), &frames::raw(input));
    }

    /// Goes on as one of those who hear of a task.
    pub fn into_link(self) -> Link {
        Link::new(self.socket, self.reader)
    }

    /// To its shim.
    pub fn socket(&self) -> &OwnedFd {
        self.socket.get_ref()
    }

    /// Nothing runs below it.
    pub fn into_shim(self) -> Shim {
        Shim::new(self.pid, self.socket.into_inner())
    }

    /// Gives the shim back for the next command, which may well be of this kind.
    pub fn give_back(self, helpers: &'static Helpers, kind: Option<&Arc<Kind>>) {
        let shim = self.into_shim();
        match kind {
            Some(kind) => helpers.give_back_for(shim, Arc::clone(kind)),
            None => helpers.give_back(shim),
        }
    }

    /// Leaves a shim that takes no further command.
    pub fn leave(self, helpers: &'static Helpers) {
        drop(self.socket);
        helpers.replace();
    }

    /// Gives the shim up, and has it killed should it still be there.
    pub fn abandon(self, helpers: &'static Helpers) {
        helpers.end(self.pid);
        helpers.replace();
    }
}

fn errno_of(frame: &frames::Frame) -> i32 {
    Fields(&frame.body).number().and_then(|errno| i32::try_from(errno).ok()).unwrap_or(0)
}
