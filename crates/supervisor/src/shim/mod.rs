//! The shim: the parent and subreaper of one command at a time. It starts the command, waits for it and terminates its
//! tree.
//!
//! One rule decides to whom the processes of a command belong. **Until the shim has sent `Released`, they are the
//! host's:** its end terminates the whole tree, and so does an abort. Afterwards they are a task, or on their own.
//! `linger`, in which a shim has closed all its connections and exits with the last process, is reached only by
//! processes that are on their own, and after a termination.
//!
//! | state of the shim | host closed | `End` | `Release` | last process exits | supervisor gone |
//! |---|---|---|---|---|---|
//! | idle, perhaps with a warm shell | exits ¹ | – | – | – | exits ¹ |
//! | running (`supervise`) | T | T | – | sends `Ended`, → held or idle | T, unless it was dying before the start |
//! | held: `Ended` sent, addon drains (`after_end`) | T | T | → settling | waits for `Release` | goes on, later exits |
//! | settling: survivors may exit for 50 ms | T | T | starts again | sends `Released`, → idle | goes on |
//! | task (`supervise`, `keep`, `drain`) | T ² | T | – | ends the task ³ | T ² |
//! | unadopted survivors of a task (`stay_until_host_ends`) | T ⁴ | – | – | exits | goes on |
//! | linger | – | – | – | exits | – |
//!
//! - The record of a command's changes ends with `Ended` if no process is left, else with `Released`, or with T.
//! - **T** terminates: SIGTERM, grace, SIGKILL until no process is left or the rest cannot be signalled. The shim stays
//!   in the state until then. A shim that goes on and later exits does so after the command. **–**: ignored.
//! - ¹ Kills the warm shell with its tree. If the supervisor is gone, waits a second for a late `WarmStart` before.
//! - ² With a directory, goes on. Without one, the shim also removes the files when the host is closed.
//! - ³ Holders of the pipes of the task become a task, other processes linger. ⁴ With a directory, they are on their
//!   own from the start.

mod blocked;
mod change_journal;
mod command_journal;
mod command_run;
mod command_start;
mod command_state;
mod denial_news;
#[cfg(all(test, target_os = "linux"))]
mod ends_tests;
mod idle_warm_shell;
mod ledger_entries;
mod pipeline;
mod pipeline_tap;
mod process_control;
mod reader_deferral;
#[cfg(all(test, target_os = "linux"))]
mod record_tests;
mod shim_confinement;
pub(super) mod shim_world;
pub(super) mod supervised_command;
mod survivor_release;
pub(super) mod survivor_scan;
mod task;
mod task_client;
mod task_input_writer;
pub(super) mod task_output_reader;
mod task_server;
mod unattended_pipes;

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{Pid, getppid};

use super::cgroup::ShimCgroup;
use super::warm_shell::WarmShell;
use change_journal::ChangeJournals;
use ledger_entries::ShimLedgerEntries;
use pipeline_tap::TapForwarder;
use protocol::{FrameReader, FromShim, ReceiveOutcome, TerminationCause, ToShim};
use shim_world::ShimWorld;
use supervised_command::{DueAction, SupervisedCommand};
use sys::{ChildEvents, InheritedLimits, Signal};
use task_server::TaskServer;
use unattended_pipes::UnattendedPipes;

/// Time the addon may take to notice that the supervisor is gone. It then closes the socket of this shim.
const LATE: Duration = Duration::from_secs(1);

/// Serves one command after another, until the addon or the supervisor is gone. Their processes start in the cgroup.
pub fn serve(socket: OwnedFd, lifeline: OwnedFd, group: Option<ShimCgroup>, place: ShimPlace) -> io::Result<()> {
    sys::become_subreaper()?;
    let events = ChildEvents::listen()?;
    let reader = FrameReader::default();
    let supervisor =
        SupervisorLink { pid: place.supervisor, lifeline: Some(lifeline), inheritance: InheritedLimits::now() };
    let mut shim = ShimProcess {
        socket: Some(socket),
        supervisor,
        events,
        reader,
        flows: UnattendedPipes::default(),
        server: None,
        watches: false,
        warm: None,
        group: group.map(Rc::new),
        world: place.world,
        records: ChangeJournals::default(),
        entries: ShimLedgerEntries::default(),
    };
    while let Some(message) = shim.next_message()? {
        // The warm shell gets its command now.
        let precedes_command = matches!(message, ToShim::Protect(_) | ToShim::HoldDraft { .. });
        match message {
            ToShim::Run(run) => shim.run(*run)?,
            ToShim::Prepare { kind, files } => shim.prepare(*kind, files),
            ToShim::Protect(record) => shim.protect(record.as_deref()),
            ToShim::HoldDraft { lock } => shim.hold_draft(lock),
            ToShim::WarmStart(start) => shim.on_warm_start(start)?,
            ToShim::Dismiss => shim.dismiss(),
            // The addon sent these before it knew that their command had exited.
            ToShim::Signal { .. }
            | ToShim::End { .. }
            | ToShim::Release(_)
            | ToShim::HandOver { .. }
            | ToShim::Tap { .. }
            | ToShim::Scan
            | ToShim::Denials
            | ToShim::Acknowledged => {}
        }
        if let Some(world) = shim.world.as_mut().filter(|_| !precedes_command) {
            world.release_draft();
        }
    }
    shim.abandon()?;
    shim.records.wait();
    shim.group.iter().for_each(|group| group.remove());
    // A command may have stopped the supervisor, which could then not exit with its host. No command of a world can
    // stop it, and there the supervisor has no pid.
    if getppid() == shim.supervisor.pid {
        sys::signal(shim.supervisor.pid, Signal::SIGCONT);
    }
    Ok(())
}

/// The place of a shim.
pub struct ShimPlace {
    /// The pid of the supervisor on the host.
    pub supervisor: Pid,
    /// The world of the shim's commands.
    pub world: Option<ShimWorld>,
}

/// The supervisor of a shim.
struct SupervisorLink {
    /// The pid on the host.
    pid: Pid,
    /// The pipe that ends with the supervisor. `None` once it has ended.
    lifeline: Option<OwnedFd>,
    /// What each command is to inherit of this shim, as the supervisor gave it.
    inheritance: InheritedLimits,
}

struct ShimProcess {
    /// The socket to the addon. `None` once the addon is gone, since a closed socket stays readable.
    socket: Option<OwnedFd>,
    supervisor: SupervisorLink,
    events: ChildEvents,
    reader: FrameReader,
    /// The pipes that the shim looks after.
    flows: UnattendedPipes,
    /// The task server, if this shim's command is a task. The shim serves no other command from then on.
    server: Option<TaskServer>,
    /// Whether the shim checks the limits of a tree. The tree must not keep the shim from the processor.
    watches: bool,
    /// A shell that is ready for the next command, or still starts up.
    warm: Option<WarmShell>,
    /// The cgroup of the command and of the warm shell. `None` where commands have no cgroups.
    group: Option<Rc<ShimCgroup>>,
    /// The world of the shim's commands. `None`: they are not confined.
    world: Option<ShimWorld>,
    /// The records of the commands' changes.
    records: ChangeJournals,
    /// The entries of the commands in the ledger.
    entries: ShimLedgerEntries,
}

/// Which descriptors of a shim are ready.
struct ShimWakeup {
    socket: bool,
    supervisor_gone: bool,
    /// Whether the warm shell has started up.
    shell: bool,
}

impl ShimProcess {
    /// Waits until a descriptor is ready, and serves the pipes that the shim looks after.
    fn wait(&mut self, until: Option<Instant>) -> io::Result<ShimWakeup> {
        let received = self.reader.has_frame() || self.server.as_ref().is_some_and(TaskServer::has_work);
        let until = [until, self.server.as_ref().and_then(TaskServer::wake_at)].into_iter().flatten().min();
        let until = if received { Some(Instant::now()) } else { until };
        let timeout = match until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) if left.is_zero() => PollTimeout::ZERO,
            // Rounded up, so that a wait of less than a millisecond does not spin.
            Some(left) => PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX),
            None => PollTimeout::NONE,
        };
        let ours = [Some(&self.socket), Some(&self.supervisor.lifeline)]
            .map(|fd| fd.and_then(Option::as_ref).map(AsFd::as_fd));
        let ends = self.world.as_ref().map(ShimWorld::end_descriptors).unwrap_or_default();
        let mut fds = vec![PollFd::new(self.events.as_fd(), PollFlags::POLLIN)];
        fds.extend(ends.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::empty())));
        fds.extend(ours.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)));
        let arrives = self.warm.as_ref().and_then(WarmShell::ready);
        fds.extend(arrives.map(|ready| PollFd::new(ready, PollFlags::POLLIN)));
        let flowing = self.flows.poll_fds(&mut fds);
        if let Some(server) = &self.server {
            server.poll_fds(&mut fds);
        }
        let polled = {
            let _realtime = self.watches.then(sys::RealtimeGuard::begin);
            poll(&mut fds, timeout)
        };
        match polled {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut answers = fds.iter().map(|fd| fd.any().unwrap_or(false));
        let child = answers.next().unwrap_or(false);
        let ends = ends.map(|fd| fd.is_some() && answers.next().unwrap_or(false));
        let [socket, supervisor_gone] = ours.map(|fd| fd.is_some() && answers.next().unwrap_or(false));
        let shell = arrives.is_some() && answers.next().unwrap_or(false);
        let flows: Vec<bool> = answers.by_ref().take(flowing).collect();
        let kept: Vec<bool> = answers.collect();
        drop(fds);
        if child {
            self.events.clear();
        }
        if supervisor_gone {
            self.supervisor.lifeline = None;
        }
        if let Some(world) = &mut self.world {
            world.on_ends(ends);
        }
        self.flows.serve(&flows);
        if let Some(server) = &mut self.server {
            server.serve(kept.into_iter());
        }
        Ok(ShimWakeup { socket: socket || received, supervisor_gone, shell })
    }

    /// Receives the next message of the addon. Returns [`Received::Closed`] once, when the addon is gone.
    fn receive(&mut self) -> ReceiveOutcome<ToShim> {
        let Some(socket) = &self.socket else { return ReceiveOutcome::Pending };
        let read = self.reader.receive(socket).unwrap_or(ReceiveOutcome::Closed);
        if matches!(read, ReceiveOutcome::Closed) {
            self.socket = None;
        }
        read
    }

    /// Returns the next message while no command runs. `None` when the addon or the supervisor is gone, or the
    /// world takes no other command.
    fn next_message(&mut self) -> io::Result<Option<ToShim>> {
        loop {
            // A message that this shim has read goes to no other shim. Several messages may have been read at once.
            if self.socket.is_some() && self.reader.has_frame() {
                if let ReceiveOutcome::Message(message) = self.receive() {
                    return Ok(Some(message));
                }
                continue;
            }
            // The lifeline is checked before the socket: a command that was not read goes to a shim of the next
            // supervisor.
            if self.supervisor.lifeline.is_none() || self.socket.is_none() || self.is_over() {
                break;
            }
            let ready = self.wait(None)?;
            if self.supervisor.lifeline.is_some()
                && ready.socket
                && !self.is_over()
                && let ReceiveOutcome::Message(message) = self.receive()
            {
                return Ok(Some(message));
            }
            // A warm shell may run its command and exit before this shim has read `WarmStart`, so messages are read
            // first.
            self.reap_idle();
            if ready.shell {
                self.on_warm_shell_ready();
            }
        }
        // A warm shell could no longer create files.
        if self.world.as_ref().is_some_and(ShimWorld::has_lost_listener) {
            return Ok(None);
        }
        // The supervisor or the world is gone, and the addon may not know that yet. The addon may just have given the
        // warm shell its command, so the shim still listens for `WarmStart`. If it reads a plan instead, it has to run
        // the plan, since the addon does not send a message that was read again.
        let until = Instant::now() + LATE;
        while self.warm.as_ref().is_some_and(|warm| warm.ready().is_none())
            && self.socket.is_some()
            && Instant::now() < until
        {
            if self.wait(Some(until))?.socket
                && let ReceiveOutcome::Message(message @ (ToShim::WarmStart(_) | ToShim::Run(_))) = self.receive()
            {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    fn is_over(&self) -> bool {
        self.world.as_ref().is_some_and(ShimWorld::is_over)
    }

    /// Sends a message. A lost host shows as the end of the socket, and is handled there.
    fn send(&self, message: FromShim) {
        let _ = self.try_send(message);
    }

    /// Sends a message. An error means that the host is gone.
    fn try_send(&self, message: FromShim) -> io::Result<()> {
        let socket = self.socket.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        protocol::send(socket, message)
    }

    /// Runs until the shell has exited by itself or its whole tree was terminated. Returns whether a process is left.
    fn supervise(&mut self, running: &mut SupervisedCommand) -> io::Result<bool> {
        // A warm shell may have exited before this function begins.
        if let Some(alive) = running.settle(self.server.is_some()) {
            return Ok(alive);
        }
        self.entries.start();
        loop {
            let ready = self.wait(running.wake_at())?;
            if let Some(alive) = running.settle(self.server.is_some()) {
                return Ok(alive);
            }
            self.apply_requests(&ready, running);
            if ready.socket {
                match self.receive() {
                    ReceiveOutcome::Message(message) => self.dispatch(message, running),
                    ReceiveOutcome::Pending => {}
                    ReceiveOutcome::Closed => {
                        running.end(TerminationCause::Host);
                        self.flows.unread.append(&mut running.pipes);
                    }
                }
            }
            self.enforce_limits(running);
            if running.is_given_up(Instant::now()) {
                return Ok(true);
            }
        }
    }

    /// Handles a message of the addon while a command runs.
    fn dispatch(&mut self, message: ToShim, running: &mut SupervisedCommand) {
        match message {
            ToShim::End { at_limit: true } => self.end_at_limit(running),
            ToShim::End { at_limit: false } => running.end(TerminationCause::Abort),
            ToShim::Signal { signal, foreground } => running.signal(signal, foreground.map(Pid::from_raw)),
            ToShim::Scan => {
                self.report_blocked(running, false);
            }
            ToShim::Denials => self.answer_denials(running.mark.as_deref()),
            ToShim::Acknowledged => running.on_acknowledged(),
            ToShim::HandOver { transfer, input } => {
                self.report_blocked(running, true);
                self.take_over(transfer, input, running);
            }
            ToShim::Tap { ends } => self.flows.tap = ends.map(TapForwarder::new),
            // The addon sent these before it knew that this command had started, or after a command that has exited.
            ToShim::Run(_)
            | ToShim::Release(_)
            | ToShim::Prepare { .. }
            | ToShim::Protect(_)
            | ToShim::HoldDraft { .. }
            | ToShim::WarmStart(_)
            | ToShim::Dismiss => {}
        }
    }

    /// Checks the limits, and acts when one is reached or the grace is over.
    fn enforce_limits(&mut self, running: &mut SupervisedCommand) {
        let now = Instant::now();
        if let Some(broken) = running.check_limits(now) {
            // The addon has already received the exit of the shell, without this limit.
            if running.shell_end.is_some() && running.ending.is_none() {
                self.send(FromShim::LimitExceeded(broken));
            }
            running.end(TerminationCause::LimitExceeded(broken));
        }
        let now = Instant::now();
        match running.due_action(now) {
            DueAction::Kill => running.kill(now),
            DueAction::Limit => self.end_at_limit(running),
            DueAction::Readers => running.signal_readers(),
            DueAction::Nothing
                if self.server.as_mut().is_some_and(|server| server.is_silent(running.ending.is_some(), now)) =>
            {
                self.end_at_limit(running);
            }
            DueAction::Nothing => {}
        }
    }
}
