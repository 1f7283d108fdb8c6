//! The shim of a task. It stays until the task has ended. Survivors that hold the pipes of the task become another
//! task, and the shim stays until that task has ended, too.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::unistd::{Pid, getpid};

use super::command_start::TaskFiles;
use super::{ShimProcess, ShimWakeup};
use crate::shim::supervised_command::{SupervisedCommand, TreeTermination};
use crate::shim::survivor_scan::{AGAIN, SETTLE, list_survivors};
use crate::shim::task_client::{ClientRequest, TaskClient};
use crate::shim::task_input_writer::TaskInputWriter;
use crate::shim::task_output_reader::TaskOutputReader;
use crate::shim::task_server::{TaskServer, TaskStart};
use crate::tree;
use crate::tree_limits::LimitWatch;
use protocol::OutputDrain;
use protocol::note_of_silence;
use protocol::task::{TaskLog, TaskSpec, TaskStore, new_id, now_ms};
use protocol::{FromShim, SurvivingProcess, TaskInput, TaskTransfer, TerminationCause};
use sys::{LaunchError, LaunchStep};

/// Longest part of an adopted process's command line that is kept, characters.
const COMMAND_KEPT: usize = 4096;

impl ShimProcess {
    /// Begins to serve a command that was started as a task.
    pub(super) fn begin_task(
        &mut self,
        running: &mut SupervisedCommand,
        files: TaskFiles,
        started_at: u64,
    ) -> io::Result<()> {
        let TaskFiles { spec, log, input } = files;
        let store = TaskStore::at(spec.folder.clone());
        let id = spec.id.clone();
        let outputs = std::mem::take(&mut running.pipes);
        let outputs = outputs.into_iter().map(|pipe| TaskOutputReader::new(pipe, spec.sanitize, &[])).collect();
        let begun = input_writer(input).and_then(|feed| {
            let mark = running.mark.as_deref().unwrap_or_default();
            let cgroup = running.cgroup();
            let start = TaskStart { spec, log, outputs, feed, cgroup };
            TaskServer::begin(start, running.shell.as_raw(), mark, started_at)
        });
        match begun {
            Ok(mut server) => {
                self.confine_task(&mut server, running.mark.as_deref());
                self.record_task(&mut server);
                self.serve_task(server);
                Ok(())
            }
            Err(error) => {
                store.remove(&id);
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                let failure = LaunchError { step: LaunchStep::Files, errno };
                running.kill(Instant::now());
                self.send(FromShim::Failed(failure));
                // The supervisor kills all processes that a shim leaves when it exits with an error.
                Err(error)
            }
        }
    }

    /// Moves the running command to a task.
    pub(super) fn take_over(
        &mut self,
        transfer: TaskTransfer,
        input: Option<TaskInput>,
        running: &mut SupervisedCommand,
    ) {
        let TaskTransfer { spec, resume } = transfer;
        let taken = (|| {
            let log = TaskStore::at(spec.folder.clone()).append_log(&spec.id)?;
            let log = TaskLog::lock_and_continue(log, spec.max_log_bytes)?;
            let limit = running.started + Duration::from_millis(spec.limit_ms);
            let outputs = output_readers(&running.pipes, &spec, &resume)?;
            let feed = input_writer(input)?;
            let started_at = now_ms().saturating_sub(u64::try_from(running.started.elapsed().as_millis()).unwrap_or(0));
            let mark = running.mark.as_deref().unwrap_or_default();
            let cgroup = running.cgroup();
            let start = TaskStart { spec, log, outputs, feed, cgroup };
            let server = TaskServer::begin(start, running.shell.as_raw(), mark, started_at)?;
            io::Result::Ok((server, limit))
        })();
        match taken {
            Ok((mut server, limit)) => {
                running.limit = Some(limit);
                running.pipes.clear();
                self.entries.become_task(server.spec());
                let denials = self.confine_task(&mut server, running.mark.as_deref());
                self.record_task(&mut server);
                if !denials.is_empty() {
                    self.send(FromShim::Denied(denials));
                }
                self.serve_task(server);
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                self.send(FromShim::Refused(errno));
            }
        }
    }

    /// Dedicates this shim to the task. The host becomes a client of the task.
    pub(super) fn serve_task(&mut self, mut server: TaskServer) {
        match self.socket.take() {
            Some(socket) => server.join(TaskClient::with(socket, std::mem::take(&mut self.reader), true)),
            None => server.lose_host(),
        }
        self.server = Some(server);
        sys::lower_own_priority();
    }

    /// Acts on the end of the supervisor or the host, and on the requests of clients.
    pub(super) fn apply_requests(&mut self, ready: &ShimWakeup, running: &mut SupervisedCommand) {
        let detached = self.server.as_ref().is_some_and(TaskServer::is_detached);
        if ready.supervisor_gone {
            running.on_supervisor_gone(detached);
        }
        let Some(server) = &mut self.server else { return };
        let requests = server.take_requests();
        if requests.denied {
            self.collect_denials(running.mark.as_deref());
        }
        if requests.end {
            running.end(TerminationCause::Abort);
        }
        if requests.host_gone && !detached {
            running.end(TerminationCause::Host);
        }
    }

    /// Finishes a task whose shell has exited or whose tree was terminated: drains its pipes and keeps its survivors.
    /// Returns only with an error, since the shim exits with its task.
    pub(super) fn finish_task(&mut self, mut running: SupervisedCommand) -> io::Result<()> {
        loop {
            self.drain(&mut running)?;
            let left = self.settle_survivors(&mut running)?;
            let Some(mut server) = self.server.take() else { return Ok(()) };
            let is_host_gone = running.ending.as_ref().is_some_and(|ending| ending.cause == TerminationCause::Host);
            server.add_denials(
                self.world.as_mut().map(|world| world.end_command(running.mark.as_deref())).unwrap_or_default(),
            );
            server.end_record(self.end_record(running.mark.as_deref(), is_host_gone), left);
            if let Some(TreeTermination { cause: TerminationCause::LimitExceeded(broken), .. }) = &running.ending {
                server.note(broken.note());
            }
            let at_limit = running.ending.as_ref().is_some_and(|ending| ending.cause == TerminationCause::Limit);
            let silence = server.silent_for().filter(|_| at_limit);
            if let Some(most) = silence {
                server.note(note_of_silence(most));
            }
            let cause = running.ending.as_ref().map_or(TerminationCause::Itself, |ending| ending.cause);
            server.conclude(cause.ended_by(silence.is_some()), running.total_usage());
            if let Some(uses) = server.secret_uses() {
                self.entries.add_secrets(uses);
            }
            self.entries.end_task(&running, silence);
            if is_host_gone {
                server.discard();
                return self.linger(running);
            }
            let held = running.ending.is_none() && !holders(&running, &server.pipes()).is_empty();
            let (spec, end) = (server.spec().clone(), running.end_as_task());
            let (outputs, clients) = server.end(end);
            // The shim holds these pipes unless another task takes them, so that no write of the survivors fails or
            // blocks.
            self.flows.unread =
                outputs.iter().filter_map(TaskOutputReader::pipe).filter_map(|pipe| pipe.try_clone().ok()).collect();
            if !held {
                drop((outputs, clients));
                return self.linger(running);
            }
            let spec = TaskSpec { id: new_id(), ..spec };
            let detached = spec.detached;
            match adopt(&mut running, spec, &self.flows.unread, |_| Ok(outputs)) {
                Ok(Some((mut server, adopted))) => {
                    self.flows.unread.clear();
                    self.confine_task(&mut server, adopted.mark.as_deref());
                    clients.into_iter().for_each(|client| server.join(client));
                    self.server = Some(server);
                    running = adopted;
                    self.serve_adopted_task(&mut running)?;
                }
                // The holders have exited meanwhile.
                Ok(None) => return self.linger(running),
                // Without a place for their output, the survivors are left on their own.
                Err(_) if detached => return self.linger(running),
                // If the host's tasks end with the host, the survivors of a task do, too.
                Err(_) => return self.stay_until_host_ends(running, clients),
            }
        }
    }

    /// Waits until a tree that is being terminated has exited, or cannot be terminated.
    fn finish_ending(&mut self, running: &mut SupervisedCommand) -> io::Result<()> {
        while running.ending.is_some() && running.is_alive() && !running.is_killed_long_ago(Instant::now()) {
            let ready = self.wait(running.wake_at())?;
            running.reap();
            self.apply_requests(&ready, running);
            self.enforce_limits(running);
        }
        Ok(())
    }

    /// Waits until a tree that is being terminated has exited. Other survivors may exit for [`SETTLE`] while their
    /// changes are recorded. Returns those that are left.
    fn settle_survivors(&mut self, running: &mut SupervisedCommand) -> io::Result<Vec<SurvivingProcess>> {
        let until = Instant::now() + if self.records.store().is_some() { SETTLE } else { Duration::ZERO };
        loop {
            self.finish_ending(running)?;
            if !running.reap() {
                return Ok(Vec::new());
            }
            let left = list_survivors(running.mark.as_deref(), &[]);
            if !left.is_empty() && (running.ending.is_some() || Instant::now() >= until) {
                return Ok(left);
            }
            let ready = self.wait(Some(until.max(Instant::now() + AGAIN)))?;
            self.apply_requests(&ready, running);
            self.enforce_limits(running);
        }
    }

    /// Stays with survivors that could not become a task, and terminates them at the end of the host.
    fn stay_until_host_ends(&mut self, mut running: SupervisedCommand, clients: Vec<TaskClient>) -> io::Result<()> {
        let mut host = clients.into_iter().find(TaskClient::is_host);
        loop {
            while let Some(client) = &mut host {
                match client.next_request() {
                    ClientRequest::Gone => host = None,
                    ClientRequest::Nothing => break,
                    ClientRequest::End | ClientRequest::Settle | ClientRequest::Other => {}
                }
            }
            if host.is_none() {
                running.end(TerminationCause::Host);
                self.finish_ending(&mut running)?;
                return self.linger(running);
            }
            if self.is_settled(running.mark.as_deref(), running.watch.as_ref().and_then(LimitWatch::wake_at)) {
                return self.linger(running);
            }
            // The shim has no other connection left.
            self.socket = host.as_ref().and_then(|client| client.socket().try_clone_to_owned().ok());
            self.wait(running.watch.as_ref().and_then(LimitWatch::wake_at))?;
            LimitWatch::enforce_on_survivors(&mut running.watch, running.usage, running.mark.as_deref());
        }
    }

    /// Serves the task until the last of the adopted processes has exited.
    pub(super) fn serve_adopted_task(&mut self, running: &mut SupervisedCommand) -> io::Result<()> {
        loop {
            let ready = self.wait(running.wake_at())?;
            running.reap();
            self.apply_requests(&ready, running);
            self.enforce_limits(running);
            let seen =
                running.shell_end.is_some() || !sys::ORPHANS_COME_BACK && sys::living_identity(running.shell).is_none();
            let open = self.server.as_ref().is_some_and(TaskServer::is_open);
            if running.ending.is_none() && seen && !open {
                return Ok(());
            }
            if running.ending.is_some() && (!running.is_alive() || running.is_killed_long_ago(Instant::now())) {
                return Ok(());
            }
        }
    }

    /// Reads the rest of the pipes of an ended task, as after any command.
    fn drain(&mut self, running: &mut SupervisedCommand) -> io::Result<()> {
        running.limit = None;
        if let Some(server) = &mut self.server {
            server.allow_silence();
        }
        let mut drain = OutputDrain::begin(Instant::now());
        while self.server.as_ref().is_some_and(TaskServer::is_open) && !drain.is_over(Instant::now()) {
            let until = running.wake_at().map_or(drain.until(), |at| at.min(drain.until()));
            let ready = self.wait(Some(until))?;
            running.reap();
            self.apply_requests(&ready, running);
            self.enforce_limits(running);
            let Some(server) = &mut self.server else { return Ok(()) };
            let now = Instant::now();
            if now >= drain.until() {
                // The writers may not have been silent: this process may have had no processor time.
                server.read();
                drain.on_emptied(now);
            }
            if let Some(at) = server.last_output() {
                drain.on_output(at.max(drain.began()));
            }
        }
        Ok(())
    }
}

/// Creates the writer of a task's input, if the task has input left.
fn input_writer(input: Option<TaskInput>) -> io::Result<Option<TaskInputWriter>> {
    input.map(|TaskInput { pipe, rest }| TaskInputWriter::new(pipe, rest)).transpose()
}

fn output_readers(pipes: &[OwnedFd], spec: &TaskSpec, resume: &[Vec<u8>]) -> io::Result<Vec<TaskOutputReader>> {
    let resume = resume.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    pipes
        .iter()
        .zip(resume)
        .map(|(pipe, resume)| Ok(TaskOutputReader::new(pipe.try_clone()?, spec.sanitize, resume)))
        .collect()
}

/// Returns the processes of a tree that hold these pipes.
fn holders(running: &SupervisedCommand, pipes: &[BorrowedFd<'_>]) -> Vec<Pid> {
    let pids: Vec<Pid> =
        tree::members(running.mark.as_deref(), &running.spared).iter().map(|member| member.pid).collect();
    sys::pipe_holders(&pids, pipes)
}

/// Turns the survivors of a foreground command into a task. Returns `None` if none of them holds the pipes.
pub fn adopt_released(
    running: &mut SupervisedCommand,
    transfer: TaskTransfer,
) -> io::Result<Option<(TaskServer, SupervisedCommand)>> {
    let TaskTransfer { spec, resume } = transfer;
    let pipes = std::mem::take(&mut running.pipes);
    let adopted = adopt(running, spec, &pipes, |spec| {
        let mut outputs = output_readers(&pipes, spec, &resume)?;
        outputs.iter_mut().for_each(TaskOutputReader::forget_shown);
        Ok(outputs)
    });
    if !matches!(adopted, Ok(Some(_))) {
        running.pipes = pipes;
    }
    adopted
}

/// Returns the command line of an adopted process. A process that is about to exit has no command line any more, and
/// gets the command line of the shell that left it.
fn command_of(pid: Pid, left_by: String) -> String {
    match sys::command_line(pid) {
        Some(line) if !line.starts_with('[') => line.chars().take(COMMAND_KEPT).collect(),
        _ if left_by.starts_with("bash -c ") => left_by,
        _ => format!("bash -c {left_by}"),
    }
}

/// Makes one task of the processes that hold the pipes, with the oldest of them in the place of the shell. All others
/// are left alone from here on. Returns `None` if no process holds the pipes.
fn adopt(
    running: &mut SupervisedCommand,
    spec: TaskSpec,
    pipes: &[OwnedFd],
    outputs: impl FnOnce(&TaskSpec) -> io::Result<Vec<TaskOutputReader>>,
) -> io::Result<Option<(TaskServer, SupervisedCommand)>> {
    let children = tree::descendants_of(getpid(), |_| true);
    // In this order: a process that is reparented to the shim from here on is in neither list, and belongs to the task.
    let pipes: Vec<BorrowedFd<'_>> = pipes.iter().map(AsFd::as_fd).collect();
    let holders = holders(running, &pipes);
    // A shim learns only the exit codes of its own children.
    let (held, spared): (Vec<&tree::TreeMember>, Vec<_>) = children
        .iter()
        .filter(|child| sys::identity(child.pid).is_some_and(|identity| identity.parent == getpid()))
        .partition(|child| {
            holders.contains(&child.pid)
                || tree::descendants_of(child.pid, |_| true).iter().any(|below| holders.contains(&below.pid))
        });
    let eldest = held
        .iter()
        .min_by_key(|child| (child.started(), child.pid))
        .map(|child| child.pid)
        .or_else(|| holders.first().copied());
    let Some(eldest) = eldest else { return Ok(None) };
    let spec = TaskSpec { command: command_of(eldest, spec.command), ..spec };
    let limit = running.started + Duration::from_millis(spec.limit_ms);
    let store = TaskStore::at(spec.folder.clone());
    let id = spec.id.clone();
    let mark = running.mark.as_deref().unwrap_or_default();
    let begun = store.create_log(&id).and_then(|log| {
        let log = TaskLog::lock_and_continue(log, spec.max_log_bytes)?;
        let outputs = outputs(&spec)?;
        // Spared children are in the cgroup as well, and belong to no task.
        let cgroup = running.cgroup().filter(|_| spared.is_empty());
        TaskServer::begin(TaskStart { spec, log, outputs, feed: None, cgroup }, eldest.as_raw(), mark, now_ms())
    });
    let server = begun.inspect_err(|_| store.remove(&id))?;
    let adopted = SupervisedCommand {
        shell: eldest,
        mark: running.mark.clone(),
        limit: Some(limit),
        reported_blocked: false,
        shell_end: None,
        ending: None,
        pipes: Vec::new(),
        dismissed: Vec::new(),
        spared: spared.into_iter().map(|child| child.pid).collect(),
        watch: running.watch.take(),
        group: running.group.clone(),
        tap: running.tap.clone(),
        ..*running
    };
    Ok(Some((server, adopted)))
}
