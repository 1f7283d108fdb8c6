//! The supervisor, one per host process: forks shims, hands them over to the addon, and cleans up after shims that have
//! exited.

#[cfg(all(test, target_os = "linux"))]
mod blank_tests;
mod blank_world_slot;
mod draft_world_file;
mod gates;
pub(super) mod worlds;

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{Pid, getpid};

use super::cgroup::{self, SupervisorCgroup};
use super::{shim, tree};
use confine_policy::ReportedWorldError;
use protocol::plan::WorldId;
use protocol::task::MachineIdentity;
use protocol::{FrameReader, FromSupervisor, ReceiveOutcome, ToSupervisor, WORLD_LOST, WorldEntryPoints};
use shim::ShimPlace;
use sys::{ChildEvents, ForkOutcome, ReapOutcome, Signal};
use worlds::{ForkedShim, ShimPids, SupervisorWorlds};

/// Interval between attempts to kill orphans, ms.
const ORPHAN_INTERVAL: u16 = 5;
/// Time after the end of the host that tasks without `detached` may take to end.
const WITH_TASKS: Duration = Duration::from_secs(2);
/// Interval between checks for the end of these tasks, ms.
const DIRECTORY_INTERVAL: u16 = 100;
/// Most attempts to kill orphans. An orphan that has changed its user cannot be killed.
const ORPHAN_TRIES: u32 = 400;

/// Runs the supervisor. Its standard input is the socket to the addon.
pub fn main() -> io::Result<()> {
    sys::close_inherited();
    let control = sys::take_stdin()?;
    sys::reset_signals()?;
    // The supervisor leaves the host's terminal and process group, whose signals are meant for the host.
    let _ = nix::unistd::setsid();
    // Commands have sessions of their own.
    sys::put_session_ahead();
    nix::unistd::chdir("/")?;
    // The score is read once here, so that no shim has to read it while a command starts.
    let _ = sys::oom_score();
    // Shims of worlds would see another pid namespace.
    let _ = MachineIdentity::here();
    sys::become_subreaper()?;
    // The supervisor may be stopped when the host ends. Then no other process is left to continue it and, through it,
    // its shims.
    sys::go_on_without_parent()?;
    let (lifeline, held) = sys::pipe()?;
    let events = ChildEvents::listen()?;
    let mut groups = SupervisorCgroup::begin();
    let emptied = groups.as_mut().map(SupervisorCgroup::take_killed).unwrap_or_default();
    SupervisorProcess {
        control: Some(control),
        lifeline,
        held: Some(held),
        events,
        reader: FrameReader::default(),
        shims: HashMap::new(),
        groups,
        worlds: SupervisorWorlds::default(),
        emptied,
        directories: Vec::new(),
        remove_at: None,
    }
    .serve()
}

struct SupervisorProcess {
    control: Option<OwnedFd>,
    /// The read end of the pipe, shared by all shims. Its end of file reports that the supervisor is gone.
    lifeline: OwnedFd,
    /// The write end of the pipe, held by the supervisor alone.
    held: Option<OwnedFd>,
    events: ChildEvents,
    reader: FrameReader,
    /// The shims with their cgroups, if they have cgroups, by the child that ends with the shim.
    shims: HashMap<Pid, (Pid, Option<PathBuf>)>,
    groups: Option<SupervisorCgroup>,
    worlds: SupervisorWorlds,
    /// The cgroups of dead shims, which have to be removed.
    emptied: Vec<PathBuf>,
    /// Directories to remove after the end of the host.
    directories: Vec<PathBuf>,
    /// The latest time at which these directories are removed.
    remove_at: Option<Instant>,
}

impl SupervisorProcess {
    fn serve(&mut self) -> io::Result<()> {
        let mut orphans = !self.emptied.is_empty();
        let mut tries = 0;
        loop {
            let received = self.reader.has_frame();
            let blank_left = self.worlds.expire_blank(Instant::now());
            let timeout = if received {
                PollTimeout::ZERO
            } else if orphans {
                PollTimeout::from(ORPHAN_INTERVAL)
            } else if self.remove_at.is_some() {
                PollTimeout::from(DIRECTORY_INTERVAL)
            } else if let Some(left) = blank_left {
                // Rounded up, so that the time is over then.
                PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
            } else {
                PollTimeout::NONE
            };
            let joined: Vec<_> = self.worlds.joined_world_ends().collect();
            let mut fds = vec![PollFd::new(self.events.as_fd(), PollFlags::POLLIN)];
            fds.extend(self.control.as_ref().map(|control| PollFd::new(control.as_fd(), PollFlags::POLLIN)));
            // Without a host there are no worlds, because worlds need the host's socket.
            fds.extend(joined.iter().map(|(_, ended)| PollFd::new(*ended, PollFlags::POLLIN)));
            match poll(&mut fds, timeout) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let asked = fds.get(1).is_some_and(|fd| fd.any().unwrap_or(false));
            let ended = joined.iter().zip(fds.iter().skip(2)).filter(|(_, fd)| fd.any().unwrap_or(false));
            let ended: Vec<WorldId> = ended.map(|((id, _), _)| *id).collect();
            drop((fds, joined));
            ended.into_iter().for_each(|id| self.lose_world(id));
            self.events.clear();
            let (left, shim_ended) = self.reap();
            tries = if shim_ended { 0 } else { tries + 1 };
            if shim_ended || orphans {
                let left = self.end_orphans();
                orphans = (self.remove_groups() || left) && tries < ORPHAN_TRIES;
            }
            if asked || received {
                self.on_readable()?;
            }
            if self.remove_at.is_some_and(|at| !left || Instant::now() >= at) {
                self.remove_at = None;
                for directory in &self.directories {
                    let _ = std::fs::remove_dir_all(directory);
                }
            }
            if self.control.is_none() && !left {
                self.remove_groups();
                self.groups.iter().for_each(SupervisorCgroup::remove);
                return Ok(());
            }
        }
    }

    /// Reaps children that have exited, and continues shims that were stopped. Returns whether a child is left and
    /// whether a shim has exited.
    fn reap(&mut self) -> (bool, bool) {
        let mut ended = false;
        loop {
            match sys::reap(true) {
                ReapOutcome::Ended(pid, ..) => {
                    if let Some(id) = self.worlds.on_exit(pid) {
                        self.lose_world(id);
                    }
                    let Some((_, group)) = self.shims.remove(&pid) else { continue };
                    ended = true;
                    // Killing the cgroup reaches processes that are in no list of children, and none of them can start
                    // another process.
                    group.iter().for_each(|group| cgroup::kill(group));
                    self.emptied.extend(group);
                }
                // A command has stopped its shim or a listener. Both would wait forever, and the host with them.
                ReapOutcome::Stopped(pid) if self.shims.contains_key(&pid) || self.worlds.has_process(pid) => {
                    sys::signal(pid, Signal::SIGCONT);
                }
                ReapOutcome::Stopped(_) => {}
                ReapOutcome::Nothing => return (true, ended),
                ReapOutcome::NoChildren => return (false, ended),
            }
        }
    }

    /// Reports a world that has ended too early.
    fn lose_world(&mut self, id: WorldId) {
        self.worlds.end(id);
        let made =
            Err(ReportedWorldError::Step { step: "its first process was killed".to_owned(), errno: libc::ECHILD });
        self.send(FromSupervisor::world(id, made, WorldEntryPoints::default()));
    }

    /// Kills orphans: children other than shims, left by a shim that was killed or could not terminate them. Returns
    /// whether there were any.
    fn end_orphans(&self) -> bool {
        let orphans =
            tree::descendants_of(getpid(), |child| !self.shims.contains_key(&child) && !self.worlds.has_process(child));
        tree::kill_members(&orphans);
        !orphans.is_empty()
    }

    /// Removes the cgroups of dead shims. Returns whether any of them still contains a process.
    fn remove_groups(&mut self) -> bool {
        self.emptied.retain(|group| !cgroup::remove_with_parent(group));
        !self.emptied.is_empty()
    }

    /// Handles the next message of the addon.
    fn on_readable(&mut self) -> io::Result<()> {
        let Some(control) = &self.control else { return Ok(()) };
        match self.reader.receive(control) {
            Ok(ReceiveOutcome::Message(message)) => self.dispatch(message),
            Ok(ReceiveOutcome::Pending) => {}
            // The host is gone. The shims notice that themselves, and this process stays until the last of them has
            // exited.
            Ok(ReceiveOutcome::Closed) | Err(_) => self.lose_host(),
        }
        Ok(())
    }

    fn lose_host(&mut self) {
        self.control = None;
        self.worlds.clear();
        self.remove_at = Some(Instant::now() + WITH_TASKS);
    }

    fn dispatch(&mut self, message: ToSupervisor) {
        match message {
            ToSupervisor::WantShim { world } => self.hand_over_shim(world),
            ToSupervisor::World { id, policy, state, registry } => {
                let made = self.worlds.make(id, &policy, &state, registry.as_deref());
                let ways = self.worlds.entry_points(id);
                self.send(FromSupervisor::world(id, made, ways));
            }
            ToSupervisor::KeepBlank(state) => self.worlds.keep_blank(&state, Instant::now()),
            ToSupervisor::EndWorld(id) => self.worlds.end(id),
            ToSupervisor::EndShim(pid) => {
                let pid = Pid::from_raw(pid);
                for child in self.shims.iter().filter(|(_, (shim, _))| *shim == pid).map(|(child, _)| *child) {
                    // If the child is the listener, its shim becomes an orphan, and is killed as such.
                    sys::signal(child, Signal::SIGKILL);
                }
            }
            ToSupervisor::RemoveAtEnd(directory) => self.directories.push(directory),
            ToSupervisor::AlreadyRemoved(gone) => self.directories.retain(|directory| *directory != gone),
        }
    }

    fn send(&mut self, message: FromSupervisor) {
        let Some(control) = &self.control else { return };
        if protocol::send(control, message).is_err() {
            self.lose_host();
        }
    }

    fn hand_over_shim(&mut self, world: Option<WorldId>) {
        let made = self.make_shim(world);
        let message = match made {
            Ok((child, socket)) => {
                let (pid, group) = self.shims.get(&child).cloned().unwrap_or((child, None));
                FromSupervisor::Shim { pid: pid.as_raw(), world, group, socket: Some(socket) }
            }
            Err(error) => {
                let over = world.filter(|id| self.worlds.is_over(*id));
                over.into_iter().for_each(|id| self.lose_world(id));
                let errno = over.map_or(error.raw_os_error().unwrap_or(libc::EIO), |_| WORLD_LOST);
                FromSupervisor::NoShim { world, errno }
            }
        };
        self.send(message);
    }

    fn make_shim(&mut self, world: Option<WorldId>) -> io::Result<(Pid, OwnedFd)> {
        let (ours, addons) = sys::socket_pair()?;
        let supervisor = getpid();
        let forked = match world {
            Some(world) => self.worlds.fork_shim(world)?,
            None => match sys::fork()? {
                ForkOutcome::Parent(pid) => ForkedShim::Parent(pid.into()),
                ForkOutcome::Child => {
                    self.worlds.clear();
                    ForkedShim::Child(None)
                }
            },
        };
        match forked {
            ForkedShim::Parent(ShimPids { child, shim }) => {
                let group = self.groups.as_ref().and_then(|groups| groups.path_of(shim));
                self.shims.insert(child, (shim, group));
                Ok((child, addons))
            }
            ForkedShim::Child(world) => {
                // Copies of these descriptors in the child would hide the end of the supervisor from other processes.
                self.control = None;
                self.held = None;
                drop(addons);
                let group = self.groups.as_ref().and_then(SupervisorCgroup::create_for_this_shim);
                let place = ShimPlace { supervisor, world: world.map(|world| *world) };
                let lifeline = self.lifeline.try_clone();
                let code = match lifeline.and_then(|lifeline| shim::serve(ours, lifeline, group, place)) {
                    Ok(()) => 0,
                    Err(_) => 1,
                };
                sys::exit_now(code)
            }
        }
    }
}
