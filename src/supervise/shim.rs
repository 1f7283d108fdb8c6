//! Parent and subreaper of one command at a time: starts it, waits for it, ends its whole tree.

mod idle;
mod leftovers;
mod task;
mod waits;

use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};

use super::frames::{self, Fields, Frame, Read, Reader, Writer};
use super::keeper::Keeper;
use super::limits::{Watch, used_by_living};
use super::prepare::{Prepared, mark_of, prepare};
use super::protocol::{self, Cause, Ended};
use super::running::Running;
use super::waiting::Waiting;
use crate::background::{Log, Order, Store, Task, now_ms};
use crate::plan::Plan;
use crate::sys::{self, ChildEvents, End, LaunchError, LaunchStep, Usage};

/// For the addon to notice that the supervisor is gone; it lets go of this shim then.
const LATE: Duration = Duration::from_secs(1);
/// What is read at once of output that nobody wants any more.
const DROPPED: usize = 64 * 1024;

/// Serves one command after another, until the addon or the supervisor is gone.
pub fn serve(socket: OwnedFd, lifeline: OwnedFd) -> io::Result<()> {
    sys::become_subreaper()?;
    let events = ChildEvents::listen()?;
    let reader = Reader::default();
    let (socket, lifeline) = (Some(socket), Some(lifeline));
    let mut shim = Shim {
        socket,
        lifeline,
        supervisor: getppid(),
        events,
        reader,
        unread: Vec::new(),
        keeper: None,
        watches: false,
        waiting: None,
    };
    while let Some(frame) = shim.next_order()? {
        match frame.kind {
            protocol::RUN => shim.run(frame)?,
            protocol::PREPARE => shim.prepare(&frame),
            protocol::GIVEN => shim.given(&frame)?,
            protocol::DISMISS => shim.dismiss(),
            // An abort that crossed with the end of its command.
            _ => {}
        }
    }
    shim.abandon()?;
    // A command may have stopped the supervisor, which could then not end with its host.
    if getppid() == shim.supervisor {
        sys::signal(shim.supervisor, Signal::SIGCONT);
    }
    Ok(())
}

struct Shim {
    /// To the addon; `None` once it is gone, since the end of a socket is there to be read for ever.
    socket: Option<OwnedFd>,
    /// Ends with the supervisor; `None` once it has.
    lifeline: Option<OwnedFd>,
    supervisor: Pid,
    events: ChildEvents,
    reader: Reader,
    /// Output pipes that nobody else reads any more: what comes is dropped.
    unread: Vec<OwnedFd>,
    /// What it does for a task; it serves nothing else from then on.
    keeper: Option<Keeper>,
    /// It watches over a tree, and is not to be kept waiting by it.
    watches: bool,
    /// A shell that has started up for the next command.
    waiting: Option<Waiting>,
}

/// Which of a shim's descriptors have something to say.
struct Ready {
    socket: bool,
    supervisor_gone: bool,
    /// The shell that was to wait does.
    shell: bool,
}

impl Shim {
    /// Waits for news, and drops what came on pipes that nobody reads.
    fn wait(&mut self, until: Option<Instant>) -> io::Result<Ready> {
        let received = self.reader.has_frame() || self.keeper.as_ref().is_some_and(Keeper::has_news);
        let until = [until, self.keeper.as_ref().and_then(Keeper::wake_at)].into_iter().flatten().min();
        let until = if received { Some(Instant::now()) } else { until };
        let timeout = match until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) if left.is_zero() => PollTimeout::ZERO,
            // Rounded up, so that a wait of less than a millisecond does not spin.
            Some(left) => PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX),
            None => PollTimeout::NONE,
        };
        let ours = [Some(&self.socket), Some(&self.lifeline)].map(|fd| fd.and_then(Option::as_ref).map(AsFd::as_fd));
        let mut fds = vec![PollFd::new(self.events.as_fd(), PollFlags::POLLIN)];
        fds.extend(ours.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)));
        let arrives = self.waiting.as_ref().and_then(Waiting::ready);
        fds.extend(arrives.map(|ready| PollFd::new(ready, PollFlags::POLLIN)));
        fds.extend(self.unread.iter().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
        if let Some(keeper) = &self.keeper {
            keeper.poll_fds(&mut fds);
        }
        let polled = {
            let _hurry = self.watches.then(sys::Hurry::begin);
            poll(&mut fds, timeout)
        };
        match polled {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut answers = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let child = answers.next().unwrap_or(false);
        let [socket, supervisor_gone] = ours.map(|fd| fd.is_some() && answers.next().unwrap_or(false));
        let shell = arrives.is_some() && answers.next().unwrap_or(false);
        let dropped = answers.by_ref().take(self.unread.len()).fold(false, |any, one| any | one);
        let kept: Vec<bool> = answers.collect();
        drop(fds);
        if child {
            self.events.clear();
        }
        if supervisor_gone {
            self.lifeline = None;
        }
        if dropped {
            self.drop_output();
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.serve(kept.into_iter());
        }
        Ok(Ready { socket: socket || received, supervisor_gone, shell })
    }

    /// Reads what there is on pipes that nobody wants, and closes those that have ended.
    fn drop_output(&mut self) {
        let mut buffer = vec![0_u8; DROPPED];
        self.unread.retain(|pipe| !matches!(nix::unistd::read(pipe, &mut buffer), Ok(0)));
    }

    /// What the addon says; [`Read::Closed`] once, when it is gone.
    fn read(&mut self) -> Read {
        let Some(socket) = &self.socket else { return Read::Pending };
        let read = self.reader.read(socket).unwrap_or(Read::Closed);
        if matches!(read, Read::Closed) {
            self.socket = None;
        }
        read
    }

    /// The next frame while nothing runs; `None` when the addon or the supervisor is gone.
    fn next_order(&mut self) -> io::Result<Option<Frame>> {
        // The lifeline is looked at first: a command that was not taken yet goes to a shim of the next supervisor.
        while self.lifeline.is_some() && self.socket.is_some() {
            let ready = self.wait(None)?;
            if self.lifeline.is_some()
                && ready.socket
                && let Read::Frame(frame) = self.read()
            {
                return Ok(Some(frame));
            }
            // A shell that was given its command may have ended before this is known here: first what the addon says.
            self.reap_idle();
            if ready.shell {
                self.arrived();
            }
        }
        // The supervisor is gone, and the addon may not know it yet: a shell that waits can just have been given its command. Who
        // listens for the word of that has to run a plan, too: what was read here is not sent again.
        let until = Instant::now() + LATE;
        while self.waiting.as_ref().is_some_and(|waiting| waiting.ready().is_none())
            && self.socket.is_some()
            && Instant::now() < until
        {
            if self.wait(Some(until))?.socket
                && let Read::Frame(frame) = self.read()
                && matches!(frame.kind, protocol::GIVEN | protocol::RUN)
            {
                return Ok(Some(frame));
            }
        }
        Ok(None)
    }

    fn send(&self, kind: u8, body: &[u8]) {
        self.send_with(kind, body, &[]);
    }

    fn send_with(&self, kind: u8, body: &[u8], fds: &[RawFd]) {
        // A host that is gone is seen as the end of the socket, which is where it is dealt with.
        if let Some(socket) = &self.socket {
            let _ = frames::send(socket, kind, body, fds);
        }
    }

    fn run(&mut self, frame: Frame) -> io::Result<()> {
        let started = Instant::now();
        let damaged = LaunchError { step: LaunchStep::Exec, errno: libc::EBADMSG };
        let dismissed = self.waiting.take().and_then(Waiting::dismiss);
        let launched = protocol::decode_run(&frame.body).ok_or(damaged).and_then(|(plan, order)| {
            let Prepared { launch, script, pipes, theirs, rest } = prepare(&plan, frame.fds)?;
            // A task that can have no files is not started, and one that kills its shim at once is known all the same.
            let log = order.as_ref().map(|order| create_files(order, &plan)).transpose()?;
            let shell = sys::launch(&launch).inspect_err(|_| {
                if let Some(order) = &order {
                    Store::at(order.folder.clone()).remove(&order.id);
                }
            })?;
            // Held any longer they would hide the end of the output.
            drop(theirs);
            Ok((plan, shell, pipes, script, order.zip(log), rest))
        });
        let (plan, shell, pipes, _script, task, rest) = match launched {
            Ok(launched) => launched,
            Err(failure) => {
                self.send(protocol::FAILED, &protocol::encode_failure(failure));
                return Ok(());
            }
        };
        let mut running = self.running(shell, &plan, pipes, started);
        running.dismissed = dismissed;
        match task {
            None => self.send(protocol::STARTED, &pid_of(shell)),
            Some((order, log)) => self.begin_task(&mut running, order, log, rest, now_ms())?,
        }
        self.attend(running)
    }

    fn running(&mut self, shell: Pid, plan: &Plan, pipes: Vec<OwnedFd>, started: Instant) -> Running {
        let watch = Watch::begin(plan.limits, started);
        self.watches = watch.is_some();
        Running {
            shell,
            // Asked while bash starts: a supervisor that was killed before this command is not killed under it.
            orphaned: sys::is_dying(self.supervisor),
            mark: mark_of(&plan.env),
            started,
            limit: plan.limit.map(|limit| started + limit),
            told: false,
            grace: plan.grace,
            terminal: plan.terminal.is_some(),
            usage: Usage::default(),
            shell_end: None,
            ending: None,
            pipes,
            spared: Vec::new(),
            dismissed: None,
            watch,
        }
    }

    /// Sees a command through that was started.
    fn attend(&mut self, mut running: Running) -> io::Result<()> {
        let alive = self.supervise(&mut running)?;
        if self.keeper.is_some() {
            return self.see_through(running);
        }
        let (end, duration) = running.shell_end.unwrap_or((End::Signal(libc::SIGKILL), running.started.elapsed()));
        let cause = running.ending.take().map_or(Cause::Itself, |ending| ending.cause);
        let last = self.lifeline.is_none();
        let mut usage = running.usage;
        if alive {
            usage.add(used_by_living(running.mark.as_deref()));
        }
        let ended = Ended { end, usage, duration, cause, alive, last };
        self.send(protocol::ENDED, &ended.encode());
        self.unread.clear();
        if alive {
            self.after_end(running)?;
        }
        self.watches = false;
        Ok(())
    }

    /// Until the shell has ended by itself, or its whole tree was ended. Returns whether anything is left.
    fn supervise(&mut self, running: &mut Running) -> io::Result<bool> {
        // A shell that waited may have ended before this began.
        if let Some(alive) = self.look(running) {
            return Ok(alive);
        }
        loop {
            let ready = self.wait(running.wake_at())?;
            if let Some(alive) = self.look(running) {
                return Ok(alive);
            }
            self.heed(&ready, running);
            if ready.socket {
                match self.read() {
                    Read::Frame(frame) => self.obey(frame, running),
                    Read::Pending => {}
                    Read::Closed => {
                        running.end(Cause::Host);
                        self.unread.append(&mut running.pipes);
                    }
                }
            }
            self.keep_time(running);
            if running.is_given_up(Instant::now()) {
                return Ok(true);
            }
        }
    }

    /// Takes what has ended. Whether anything is left, once the shell has ended by itself or its whole tree was ended.
    fn look(&self, running: &mut Running) -> Option<bool> {
        let alive = running.reap();
        if running.shell_end.is_some() && running.ending.is_none() && self.is_ended_from_outside(running) {
            running.end_at_once();
        }
        (running.shell_end.is_some() && (running.ending.is_none() || !alive)).then_some(alive)
    }

    fn obey(&mut self, frame: Frame, running: &mut Running) {
        match frame.kind {
            protocol::END if Fields(&frame.body).number() == Some(1) => self.end_at_limit(running),
            protocol::END => running.end(Cause::Abort),
            protocol::SIGNAL => {
                if let Some((signal, foreground)) = protocol::decode_signal(&frame.body) {
                    running.signal(signal, foreground);
                }
            }
            protocol::LOOK => {
                self.tell_waits(running, false);
            }
            protocol::HEEDED => Self::heeded(running),
            protocol::HAND_OVER => {
                self.tell_waits(running, true);
                self.take_over(frame, running);
            }
            _ => {}
        }
    }

    /// Does what is due: the end at the limit, SIGKILL after the grace.
    fn keep_time(&self, running: &mut Running) {
        let now = Instant::now();
        if let Some(broken) = running.look(now) {
            // The addon has heard how the shell ended already, which is not the whole truth now.
            if running.shell_end.is_some() && running.ending.is_none() {
                self.send(protocol::BROKEN, &broken.encode());
            }
            running.end(Cause::Broken(broken));
        }
        let now = Instant::now();
        match &running.ending {
            Some(ending) if now >= ending.kill_at => running.kill(now),
            None if running.limit.is_some_and(|limit| now >= limit) => self.end_at_limit(running),
            _ => {}
        }
    }
}

fn pid_of(shell: Pid) -> Vec<u8> {
    Writer::default().number(u64::from(shell.as_raw().unsigned_abs())).finish()
}

fn create_files(order: &Order, plan: &Plan) -> Result<Log, LaunchError> {
    let store = Store::at(order.folder.clone());
    let task = Task::begin(order, 0, 0, &mark_of(&plan.env).unwrap_or_default(), now_ms());
    let created = store.create_log(&order.id).and_then(|log| {
        let log = Log::keep(log, order.max_log_bytes)?;
        store.write(&task).inspect_err(|_| store.remove(&order.id))?;
        Ok(log)
    });
    created.map_err(|error| LaunchError { step: LaunchStep::Files, errno: error.raw_os_error().unwrap_or(libc::EIO) })
}
