//! Parent and subreaper of one command at a time: starts it, waits for it, ends its whole tree.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use super::frames::{self, Frame, Read, Reader};
use super::protocol::{self, Cause, Ended, Survivor};
use super::tree;
use crate::plan::{Plan, Stdin};
use crate::sys::{self, ChildEvents, End, Launch, LaunchError, LaunchStep, Reaped, Usage};

/// From SIGTERM to SIGKILL when nobody is left who could wait for a graceful end.
const GRACE_WITHOUT_HOST: Duration = Duration::from_millis(500);
/// How often what is still there after SIGKILL is looked for again.
const KILL_INTERVAL: Duration = Duration::from_millis(5);
/// What a command leaves behind may be on its way out, like the `tee` of an `exec > >(tee log)`.
const SETTLE: Duration = Duration::from_millis(50);
/// A survivor's command line is shown up to here, in characters.
const COMMAND_SHOWN: usize = 200;

/// Serves one command after another, until the addon or the supervisor is gone.
pub fn serve(socket: OwnedFd, lifeline: OwnedFd) -> io::Result<()> {
    sys::become_subreaper()?;
    let events = ChildEvents::listen()?;
    let mut shim = Shim { socket: Some(socket), lifeline: Some(lifeline), events, reader: Reader::default() };
    while let Some(frame) = shim.next_order()? {
        match frame.kind {
            protocol::RUN => shim.run(frame)?,
            protocol::RELEASE => shim.release(frame.fds, None)?,
            // An abort that crossed with the end of its command.
            _ => {}
        }
    }
    Ok(())
}

struct Shim {
    /// To the addon; `None` once it is gone, since the end of a socket is there to be read for ever.
    socket: Option<OwnedFd>,
    /// Ends with the supervisor; `None` once it has.
    lifeline: Option<OwnedFd>,
    events: ChildEvents,
    reader: Reader,
}

/// Which of a shim's descriptors have something to say.
struct Ready {
    socket: bool,
    supervisor_gone: bool,
    child: bool,
}

/// A command that runs.
struct Running {
    shell: Pid,
    mark: Option<String>,
    started: Instant,
    limit: Option<Instant>,
    grace: Duration,
    usage: Usage,
    shell_end: Option<(End, Duration)>,
    ending: Option<Ending>,
}

/// A tree that is being ended.
struct Ending {
    cause: Cause,
    kill_at: Instant,
}

impl Running {
    /// When the shim has to act without being woken.
    fn wake_at(&self) -> Option<Instant> {
        match &self.ending {
            Some(ending) => Some(ending.kill_at),
            None => self.limit,
        }
    }

    /// Begins to end the tree, or hurries when the reason has become more urgent.
    fn end(&mut self, cause: Cause) {
        let grace = if matches!(cause, Cause::Host | Cause::Supervisor) {
            self.grace.min(GRACE_WITHOUT_HOST)
        } else {
            self.grace
        };
        let kill_at = Instant::now() + grace;
        match &mut self.ending {
            Some(ending) => ending.kill_at = ending.kill_at.min(kill_at),
            None => {
                self.ending = Some(Ending { cause, kill_at });
                if !grace.is_zero() {
                    tree::ask_to_end(&tree::members(self.mark.as_deref()));
                }
            }
        }
    }

    /// Takes what children have ended. Returns whether any process is left.
    fn reap(&mut self) -> bool {
        loop {
            match sys::reap(false) {
                Reaped::Ended(pid, end, usage) => {
                    self.usage.add(usage);
                    if pid == self.shell {
                        self.shell_end = Some((end, self.started.elapsed()));
                    }
                }
                Reaped::Stopped(_) => {}
                Reaped::Nothing => return true,
                Reaped::NoChildren => {
                    return !sys::ORPHANS_COME_BACK && !tree::members(self.mark.as_deref()).is_empty();
                }
            }
        }
    }
}

impl Shim {
    fn wait(&mut self, until: Option<Instant>) -> io::Result<Ready> {
        let received = self.reader.has_frame();
        let until = if received { Some(Instant::now()) } else { until };
        let timeout = match until.map(|until| until.saturating_duration_since(Instant::now())) {
            // Rounded up, so that a wait of less than a millisecond does not spin.
            Some(left) if left.is_zero() => PollTimeout::ZERO,
            Some(left) => PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX),
            None => PollTimeout::NONE,
        };
        let watched =
            [Some(self.events.as_fd()), self.socket.as_ref().map(AsFd::as_fd), self.lifeline.as_ref().map(AsFd::as_fd)];
        let mut fds: Vec<_> = watched.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut answers = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let [child, socket, supervisor_gone] = watched.map(|fd| fd.is_some() && answers.next().unwrap_or(false));
        if child {
            self.events.clear();
        }
        if supervisor_gone {
            self.lifeline = None;
        }
        Ok(Ready { socket: socket || received, supervisor_gone, child })
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
        loop {
            let ready = self.wait(None)?;
            // Looked at first: a command that was not taken yet can be given to the shim of a new supervisor.
            if self.lifeline.is_none() {
                return Ok(None);
            }
            if ready.child {
                while matches!(sys::reap(false), Reaped::Ended(..)) {}
            }
            if ready.socket {
                match self.read() {
                    Read::Frame(frame) => return Ok(Some(frame)),
                    Read::Pending => {}
                    Read::Closed => return Ok(None),
                }
            }
        }
    }

    fn send(&self, kind: u8, body: &[u8]) {
        // A host that is gone is seen as the end of the socket, which is where it is dealt with.
        if let Some(socket) = &self.socket {
            let _ = frames::send(socket, kind, body, &[]);
        }
    }

    fn run(&mut self, frame: Frame) -> io::Result<()> {
        let started = Instant::now();
        let plan = Plan::decode(&frame.body);
        let launched =
            plan.as_ref().ok_or(LaunchError { step: LaunchStep::Exec, errno: libc::EBADMSG }).and_then(|plan| {
                let (launch, script) = prepare(plan, frame.fds)?;
                // The script stays open here, since bash reads it through this process.
                sys::launch(&launch.0).map(|shell| (shell, script))
            });
        let (plan, (shell, _script)) = match (plan, launched) {
            (Some(plan), Ok(launched)) => (plan, launched),
            (_, failed) => {
                let failure = failed.err().unwrap_or(LaunchError { step: LaunchStep::Exec, errno: libc::EBADMSG });
                self.send(protocol::FAILED, &protocol::encode_failure(failure));
                return Ok(());
            }
        };
        self.send(
            protocol::STARTED,
            &frames::Writer::default().number(u64::from(shell.as_raw().unsigned_abs())).finish(),
        );
        let mut running = Running {
            shell,
            mark: mark_of(&plan.env),
            started,
            limit: plan.limit.map(|limit| started + limit),
            grace: plan.grace,
            usage: Usage::default(),
            shell_end: None,
            ending: None,
        };
        let alive = self.supervise(&mut running)?;
        let (end, duration) = running.shell_end.unwrap_or((End::Signal(libc::SIGKILL), started.elapsed()));
        let cause = running.ending.map_or(Cause::Itself, |ending| ending.cause);
        let ended = Ended { end, usage: running.usage, duration, cause, alive };
        self.send(protocol::ENDED, &ended.encode());
        if alive { self.after_end(running.mark) } else { Ok(()) }
    }

    /// Until the shell has ended by itself, or its whole tree was ended. Returns whether anything is left.
    fn supervise(&mut self, running: &mut Running) -> io::Result<bool> {
        loop {
            let ready = self.wait(running.wake_at())?;
            let alive = running.reap();
            if running.shell_end.is_some() && (running.ending.is_none() || !alive) {
                return Ok(alive);
            }
            if ready.supervisor_gone {
                running.end(Cause::Supervisor);
            }
            if ready.socket {
                match self.read() {
                    Read::Frame(frame) if frame.kind == protocol::END => running.end(Cause::Abort),
                    Read::Frame(_) | Read::Pending => {}
                    Read::Closed => running.end(Cause::Host),
                }
            }
            let now = Instant::now();
            match &mut running.ending {
                Some(ending) if now >= ending.kill_at => {
                    tree::kill(&tree::members(running.mark.as_deref()));
                    ending.kill_at = now + KILL_INTERVAL;
                }
                None if running.limit.is_some_and(|limit| now >= limit) => running.end(Cause::Limit),
                _ => {}
            }
        }
    }

    /// The shell has ended and something is left: it is the command's until the addon has drained its pipes.
    fn after_end(&mut self, mark: Option<String>) -> io::Result<()> {
        loop {
            let ready = self.wait(None)?;
            if ready.child {
                while matches!(sys::reap(false), Reaped::Ended(..)) {}
            }
            if ready.socket {
                match self.read() {
                    Read::Frame(frame) if frame.kind == protocol::RELEASE => return self.release(frame.fds, mark),
                    Read::Frame(_) | Read::Pending => {}
                    Read::Closed => return end_the_rest(mark.as_deref()),
                }
            }
        }
    }

    /// What is left now is on its own: its output is read and dropped, so that no write ever hurts it.
    fn release(&mut self, mut pipes: Vec<OwnedFd>, mark: Option<String>) -> io::Result<()> {
        for pipe in &pipes {
            sys::set_nonblocking(pipe)?;
        }
        let settled_at = Instant::now() + SETTLE;
        while self.rest(&mut pipes, mark.as_deref(), Some(settled_at))? && Instant::now() < settled_at {}
        let survivors: Vec<Survivor> = tree::members(mark.as_deref())
            .into_iter()
            .filter_map(|member| {
                let command = sys::command_line(member.pid)?.chars().take(COMMAND_SHOWN).collect();
                Some(Survivor { pid: member.pid.as_raw(), command })
            })
            .collect();
        self.send(protocol::RELEASED, &protocol::encode_survivors(&survivors));
        if !self.rest(&mut pipes, mark.as_deref(), Some(Instant::now()))? {
            return Ok(());
        }
        // Nobody is to hear of this shim again; it ends with the last of them, host or no host.
        self.socket = None;
        while self.rest(&mut pipes, mark.as_deref(), None)? {}
        sys::exit_now(0)
    }

    /// Waits for a change among what is left, and drains. Returns whether anything is left.
    fn rest(&mut self, pipes: &mut Vec<OwnedFd>, mark: Option<&str>, until: Option<Instant>) -> io::Result<bool> {
        let mut children = true;
        loop {
            match sys::reap(false) {
                Reaped::Ended(..) | Reaped::Stopped(_) => {}
                Reaped::Nothing => break,
                Reaped::NoChildren => {
                    children = !sys::ORPHANS_COME_BACK && !tree::members(mark).is_empty();
                    break;
                }
            }
        }
        if !children && pipes.is_empty() {
            return Ok(false);
        }
        let timeout = until.map_or(PollTimeout::NONE, |until| {
            PollTimeout::try_from(until.saturating_duration_since(Instant::now())).unwrap_or(PollTimeout::MAX)
        });
        let mut fds = vec![PollFd::new(self.events.as_fd(), PollFlags::POLLIN)];
        fds.extend(pipes.iter().map(|pipe| PollFd::new(pipe.as_fd(), PollFlags::POLLIN)));
        match poll(&mut fds, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        drop(fds);
        self.events.clear();
        let mut buffer = vec![0_u8; 64 * 1024];
        pipes.retain(|pipe| !matches!(nix::unistd::read(pipe, &mut buffer), Ok(0)));
        Ok(true)
    }
}

/// The host went while the command's pipes were being drained: what is left goes with it.
fn end_the_rest(mark: Option<&str>) -> io::Result<()> {
    tree::ask_to_end(&tree::members(mark));
    let kill_at = Instant::now() + GRACE_WITHOUT_HOST;
    loop {
        while matches!(sys::reap(false), Reaped::Ended(..)) {}
        let members = tree::members(mark);
        if members.is_empty() {
            return Ok(());
        }
        if Instant::now() >= kill_at {
            tree::kill(&members);
        }
        std::thread::sleep(KILL_INTERVAL);
    }
}

/// Keeps the descriptors of a launch open until it has happened.
struct Prepared(Launch, #[expect(dead_code, reason = "held open, not used")] Vec<OwnedFd>);

/// From a plan and its descriptors to a launch; the script is handed back, to be kept open.
fn prepare(plan: &Plan, fds: Vec<OwnedFd>) -> Result<(Prepared, Option<OwnedFd>), LaunchError> {
    let damaged = LaunchError { step: LaunchStep::Stdio, errno: libc::EBADMSG };
    let mut fds = fds.into_iter();
    let mut held = Vec::with_capacity(sys::MAX_FDS);
    let mut stdio = [0, 1, 2];
    if plan.stdin == Stdin::Pipe {
        let fd = fds.next().ok_or(damaged)?;
        stdio[0] = fd.as_raw_fd();
        held.push(fd);
    }
    let stdout = fds.next().ok_or(damaged)?;
    stdio[1] = stdout.as_raw_fd();
    stdio[2] = stdio[1];
    held.push(stdout);
    if !plan.merge {
        let stderr = fds.next().ok_or(damaged)?;
        stdio[2] = stderr.as_raw_fd();
        held.push(stderr);
    }
    let script = fds.next();
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| damaged);
    let mut argv = plan.argv.iter().map(|argument| text(argument)).collect::<Result<Vec<_>, _>>()?;
    if let (Some(at), Some(script)) = (plan.script_at, &script) {
        let path = text(sys::script_path(script).as_os_str().as_bytes())?;
        *argv.get_mut(at as usize).ok_or(damaged)? = path;
    }
    let launch = Launch {
        program: text(&plan.program)?,
        argv,
        env: plan.env.clone(),
        cwd: text(&plan.cwd)?,
        umask: plan.umask,
        stdio,
    };
    Ok((Prepared(launch, held), script))
}

/// The mark that a command's processes carry, out of its environment.
fn mark_of(env: &[u8]) -> Option<String> {
    let prefix = format!("{}=", tree::MARK);
    env.split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(prefix.as_bytes()))
        .map(|mark| String::from_utf8_lossy(mark).into_owned())
}
