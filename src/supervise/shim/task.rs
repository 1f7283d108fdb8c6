//! A shim whose command is a task: it stays until the task has ended, and until what that has left holding its pipes,
//! a task of its own, has ended too.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use nix::unistd::{Pid, getpid};

use super::{Ready, Shim};
use crate::background::{Log, Order, Store, new_id, now_ms};
use crate::supervise::clients::Client;
use crate::supervise::drain::Drain;
use crate::supervise::feed::Feed;
use crate::supervise::frames::{Frame, Writer};
use crate::supervise::keeper::{Beginning, Keeper};
use crate::supervise::outflow::Outflow;
use crate::supervise::protocol::{self, Cause, Transfer};
use crate::supervise::running::{Ending, Running};
use crate::supervise::tree;
use crate::sys::{self, End, LaunchError, LaunchStep};

/// The command line of an adopted process is kept up to here, in characters.
const COMMAND_KEPT: usize = 4096;

impl Shim {
    /// The command was started as a task.
    pub(super) fn begin_task(
        &mut self,
        running: &mut Running,
        order: Order,
        log: Log,
        rest: Vec<OwnedFd>,
        started_at: u64,
    ) -> io::Result<()> {
        let store = Store::at(order.folder.clone());
        let id = order.id.clone();
        let flows = std::mem::take(&mut running.pipes);
        let flows = flows.into_iter().map(|pipe| Outflow::new(pipe, order.sanitize, &[])).collect();
        let begun = feed_of(rest).and_then(|feed| {
            let mark = running.mark.as_deref().unwrap_or_default();
            Keeper::begin(Beginning { order, log, flows, feed }, running.shell.as_raw(), mark, started_at)
        });
        match begun {
            Ok(keeper) => {
                self.keep_with(keeper);
                Ok(())
            }
            Err(error) => {
                store.remove(&id);
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                let failure = LaunchError { step: LaunchStep::Files, errno };
                running.kill(Instant::now());
                self.send(protocol::FAILED, &protocol::encode_failure(failure));
                // The supervisor ends whatever a shim leaves that ends with an error.
                Err(error)
            }
        }
    }

    /// The command becomes a task while it runs.
    pub(super) fn take_over(&mut self, frame: Frame, running: &mut Running) {
        let taken = Transfer::decode(&frame.body).ok_or_else(|| io::Error::from_raw_os_error(libc::EBADMSG));
        let taken = taken.and_then(|Transfer { order, resume }| {
            let log = Store::at(order.folder.clone()).append_log(&order.id)?;
            let log = Log::keep(log, order.max_log_bytes)?;
            let limit = running.started + Duration::from_millis(order.limit_ms);
            let flows = outflows(&running.pipes, &order, &resume)?;
            let feed = feed_of(frame.fds)?;
            let started_at = now_ms().saturating_sub(u64::try_from(running.started.elapsed().as_millis()).unwrap_or(0));
            let mark = running.mark.as_deref().unwrap_or_default();
            let keeper =
                Keeper::begin(Beginning { order, log, flows, feed }, running.shell.as_raw(), mark, started_at)?;
            Ok((keeper, limit))
        });
        match taken {
            Ok((keeper, limit)) => {
                running.limit = Some(limit);
                running.pipes.clear();
                self.keep_with(keeper);
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                let body = Writer::default().number(u64::from(errno.unsigned_abs())).finish();
                self.send(protocol::REFUSED, &body);
            }
        }
    }

    /// From here on this shim is the task's, and the host one among those who hear of it.
    fn keep_with(&mut self, mut keeper: Keeper) {
        match self.socket.take() {
            Some(socket) => keeper.join(Client::with(socket, std::mem::take(&mut self.reader), true)),
            None => keeper.lose_host(),
        }
        self.keeper = Some(keeper);
        sys::stand_back();
    }

    /// Whether a task's shell was killed by somebody else: then all of it ends, since `kill -9 -PGID` is what people are
    /// told to stop it with.
    pub(super) fn is_ended_from_outside(&self, running: &Running) -> bool {
        self.keeper.is_some() && matches!(running.shell_end, Some((End::Signal(libc::SIGKILL), _)))
    }

    /// Does what is wanted from outside: the supervisor's end, the host's, and what was asked for.
    pub(super) fn heed(&mut self, ready: &Ready, running: &mut Running) {
        let detached = self.keeper.as_ref().is_some_and(Keeper::is_detached);
        if ready.supervisor_gone && !running.orphaned && !detached {
            running.end(Cause::Supervisor);
        }
        let Some(keeper) = &mut self.keeper else { return };
        let wishes = keeper.take_wishes();
        if wishes.end {
            running.end(Cause::Abort);
        }
        if wishes.host_gone && !detached {
            running.end(Cause::Host);
        }
    }

    /// The shell of a task has ended, or its tree was ended: what is left is seen through. Does not return but with an
    /// error.
    pub(super) fn see_through(&mut self, mut running: Running) -> io::Result<()> {
        loop {
            self.drain(&mut running)?;
            let Some(mut keeper) = self.keeper.take() else { return Ok(()) };
            if let Some(Ending { cause: Cause::Broken(broken), .. }) = &running.ending {
                keeper.note(broken.note());
            }
            if running.ending.as_ref().is_some_and(|ending| ending.cause == Cause::Host) {
                keeper.discard();
                return self.linger(running);
            }
            let holders = if running.ending.is_none() { holders(&keeper, &running) } else { Vec::new() };
            let (order, end) = (keeper.order().clone(), running.end_as_task());
            let (flows, clients) = keeper.end(end);
            // Should nobody keep them any more, somebody has to hold them: a write must not hurt those that are left.
            self.unread = flows.iter().filter_map(Outflow::pipe).filter_map(|pipe| pipe.try_clone().ok()).collect();
            if holders.is_empty() {
                drop((flows, clients));
                return self.linger(running);
            }
            let order = Order { id: new_id(), ..order };
            match adopt(&mut running, order, &holders, |_| Ok(flows)) {
                Ok((mut keeper, adopted)) => {
                    self.unread.clear();
                    clients.into_iter().for_each(|client| keeper.join(client));
                    self.keeper = Some(keeper);
                    running = adopted;
                    self.keep(&mut running)?;
                }
                // Without a place for its output it is left to itself.
                Err(_) => return self.linger(running),
            }
        }
    }

    /// What a foreground command has left becomes a task.
    pub(super) fn adopt_released(
        &mut self,
        mut running: Running,
        transfer: Transfer,
        pipes: Vec<OwnedFd>,
        holders: &[Pid],
    ) -> io::Result<()> {
        let Transfer { order, resume } = transfer;
        let begun = adopt(&mut running, order, holders, |order| {
            let mut flows = outflows(&pipes, order, &resume)?;
            flows.iter_mut().for_each(Outflow::forget_shown);
            Ok(flows)
        });
        match begun {
            Ok((keeper, mut adopted)) => {
                drop(pipes);
                self.keep_with(keeper);
                self.keep(&mut adopted)?;
                self.see_through(adopted)
            }
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                let body = Writer::default().number(u64::from(errno.unsigned_abs())).finish();
                self.send(protocol::REFUSED, &body);
                self.unread = pipes;
                self.linger(running)
            }
        }
    }

    /// Until the last of the adopted processes has ended.
    fn keep(&mut self, running: &mut Running) -> io::Result<()> {
        loop {
            let ready = self.wait(running.wake_at())?;
            running.reap();
            self.heed(&ready, running);
            self.keep_time(running);
            let seen = running.shell_end.is_some()
                || !sys::ORPHANS_COME_BACK && sys::identity(running.shell).is_none_or(|identity| identity.zombie);
            let open = self.keeper.as_ref().is_some_and(Keeper::is_open);
            if running.ending.is_none() && seen && !open {
                return Ok(());
            }
            if running.ending.is_some() && (!running.is_alive() || running.is_killed_long_ago(Instant::now())) {
                return Ok(());
            }
        }
    }

    /// What is still on the pipes of an ended task belongs to it, as with any command.
    fn drain(&mut self, running: &mut Running) -> io::Result<()> {
        running.limit = None;
        let mut drain = Drain::begin(Instant::now());
        while self.keeper.as_ref().is_some_and(Keeper::is_open) && !drain.is_over(Instant::now()) {
            let until = running.wake_at().map_or(drain.until(), |at| at.min(drain.until()));
            let ready = self.wait(Some(until))?;
            running.reap();
            self.heed(&ready, running);
            self.keep_time(running);
            let Some(keeper) = &mut self.keeper else { return Ok(()) };
            let now = Instant::now();
            if now >= drain.until() {
                // Perhaps this process was kept from the processor, and the silence was its own.
                keeper.read();
                drain.looked(now);
            }
            if let Some(heard) = keeper.heard() {
                drain.heard(heard.max(drain.began()));
            }
        }
        Ok(())
    }
}

/// The other end of a task's input, and what is still to be written there.
fn feed_of(fds: Vec<OwnedFd>) -> io::Result<Option<Feed>> {
    let mut fds = fds.into_iter();
    fds.next().zip(fds.next()).map(|(pipe, rest)| Feed::new(pipe, rest)).transpose()
}

fn outflows(pipes: &[OwnedFd], order: &Order, resume: &[Vec<u8>]) -> io::Result<Vec<Outflow>> {
    let resume = resume.iter().map(Vec::as_slice).chain(std::iter::repeat(&[][..]));
    pipes.iter().zip(resume).map(|(pipe, resume)| Ok(Outflow::new(pipe.try_clone()?, order.sanitize, resume))).collect()
}

/// Those of a task's processes that still hold its pipes.
fn holders(keeper: &Keeper, running: &Running) -> Vec<Pid> {
    let pids: Vec<Pid> =
        tree::members(running.mark.as_deref(), &running.spared).iter().map(|member| member.pid).collect();
    sys::holders(&pids, &keeper.pipes())
}

/// What an adopted process is called: by its command line, or, where it is just ending and has none any more, by that of
/// the shell that has left it.
fn command_of(pid: Pid, left_by: String) -> String {
    match sys::command_line(pid) {
        Some(line) if !line.starts_with('[') => line.chars().take(COMMAND_KEPT).collect(),
        _ if left_by.starts_with("bash -c ") => left_by,
        _ => format!("bash -c {left_by}"),
    }
}

/// Makes what holds the pipes one task, that of its eldest; what does not is left alone from here on.
fn adopt(
    running: &mut Running,
    order: Order,
    holders: &[Pid],
    flows: impl FnOnce(&Order) -> io::Result<Vec<Outflow>>,
) -> io::Result<(Keeper, Running)> {
    let children = tree::below(getpid(), |_| true);
    // Only of its own children a shim learns the exit code.
    let (mut held, spared): (Vec<&tree::Member>, Vec<_>) = children
        .iter()
        .filter(|child| sys::identity(child.pid).is_some_and(|identity| identity.parent == getpid()))
        .partition(|child| {
            holders.contains(&child.pid)
                || tree::below(child.pid, |_| true).iter().any(|below| holders.contains(&below.pid))
        });
    held.sort_by_key(|child| (child.started(), child.pid));
    let eldest = held.first().map(|child| child.pid).or_else(|| holders.first().copied());
    let Some(eldest) = eldest else { return Err(io::Error::from_raw_os_error(libc::ESRCH)) };
    let order = Order { command: command_of(eldest, order.command), ..order };
    let limit = running.started + Duration::from_millis(order.limit_ms);
    let store = Store::at(order.folder.clone());
    let id = order.id.clone();
    let mark = running.mark.as_deref().unwrap_or_default();
    let begun = store.create_log(&id).and_then(|log| {
        let log = Log::keep(log, order.max_log_bytes)?;
        let flows = flows(&order)?;
        Keeper::begin(Beginning { order, log, flows, feed: None }, eldest.as_raw(), mark, now_ms())
    });
    let keeper = begun.inspect_err(|_| store.remove(&id))?;
    let adopted = Running {
        shell: eldest,
        mark: running.mark.clone(),
        limit: Some(limit),
        told: false,
        shell_end: None,
        ending: None,
        pipes: Vec::new(),
        spared: spared.into_iter().map(|child| child.pid).collect(),
        watch: running.watch.take(),
        ..*running
    };
    Ok((keeper, adopted))
}
