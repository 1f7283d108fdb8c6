//! Process 1 of a world.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::wait::WaitPidFlag;
use nix::unistd::{Pid, getpid};

use super::WorldHostPaths;
use super::construct::{BlankWorldBase, BlankWorldOptions, ConstructedWorld, build_world};
use super::init_messages::{
    self, BUILT, DOOR, GUARDS, JOIN, KEEP, POLICY, PUBLISH, REACH, REFRESH, SHOW, SHOWN, START, WorldBuildOrder,
    WorldBuildReport,
};
use super::joined_world;
use super::private_directory::PrivateDirectory;
use super::step_failure::{StepContext, WorldStepFailure};
use confine_gate::{WorldStatusBoard, WorldStatusSlot};
use sys::{NamespaceKind, Signal};

/// Time the maker may take to map ids, ms.
const PATIENCE: u16 = 10_000;

/// Time between two scans of unwatched protected files, ms: the first after a command began, and the longest. Each
/// interval is twice the one before.
const BLIND: [u16; 2] = [200, 800];

/// Descriptors that init keeps free: for shims that it does not know yet, and for its own short-lived needs.
const SPARE: i64 = 24;

/// Descriptors that init keeps from its maker.
pub(super) struct InitDescriptors {
    /// The first door.
    pub control: OwnedFd,
    /// The write end of a pipe that reports the end of init.
    pub ends: OwnedFd,
    /// The private files of the world.
    pub private: PrivateDirectory,
    /// The socket by which other supervisors join the world.
    pub listener: UnixListener,
    /// The place for the number of the guards.
    pub board: WorldStatusBoard,
}

/// Runs init in a process that was just forked into its namespaces. `state` is the directory of [`WorldHostPaths`].
pub(super) fn run(ground: BlankWorldOptions, state: &Path, held: InitDescriptors) -> ! {
    let kept = [held.control.as_fd(), held.ends.as_fd(), held.listener.as_fd(), held.board.as_fd()];
    let mut kept: Vec<_> = kept.iter().map(AsRawFd::as_raw_fd).collect();
    kept.extend(held.private.descriptors());
    sys::close_all_but(&kept);
    let built = detach_and_wait_for_ids(&held.control).is_ok().then(|| build_when_ordered(&ground, state, &held));
    match built {
        Some(Ok(Some(made))) if hand_out(&held.control, &made).is_ok() => {
            let InitDescriptors { control, private, listener, ends, board } = held;
            let (owners, doors, kept) = (vec![control], Vec::new(), Vec::new());
            let (published, ends) = (Vec::new(), vec![ends]);
            let blind = BLIND[0];
            let mut init =
                WorldInit { owners, doors, kept, listener, world: made, published, ends, board, blind, full: false };
            init.serve();
            init.end_world(&private);
            sys::exit_now(0)
        }
        Some(Err(failure)) => {
            let errno = failure.source.raw_os_error().unwrap_or(libc::EIO);
            // If sending fails, the maker notices the end of this process.
            let _ = send_report(&held.control, &WorldBuildReport::Failed { step: failure.step, errno }, &[]);
        }
        Some(Ok(_)) | None => {}
    }
    held.private.remove();
    sys::exit_now(1)
}

/// Builds the world. `None`: its maker has dropped it before it had a policy.
fn build_when_ordered(
    ground: &BlankWorldOptions,
    state: &Path,
    held: &InitDescriptors,
) -> Result<Option<ConstructedWorld>, WorldStepFailure> {
    let base = BlankWorldBase::prepare(ground, &held.private)?;
    let received = init_messages::wait_for(&held.control, POLICY).map(|message| message.fds.into_iter().next());
    let Ok(Some(order)) = received else { return Ok(None) };
    let WorldBuildOrder { policy, readable, watches } =
        init_messages::unpack(order).at_step(|| "the policy of a world".into())?;
    build_world(&policy, &WorldHostPaths { state, readable: &readable, watches }, &held.private, base).map(Some)
}

/// Leaves the maker's session and output, and waits until ids are mapped.
fn detach_and_wait_for_ids(control: &OwnedFd) -> io::Result<()> {
    sys::reset_signals()?;
    sys::detach_output()?;
    nix::unistd::setsid()?;
    nix::sys::stat::umask(nix::sys::stat::Mode::empty());
    sys::name_process(c"agent-bash-init")?;
    // Each shim and each question costs descriptors here. No program is started from this process.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    init_messages::receive_within(control, START, PATIENCE)?;
    // Commands cannot look into this process, which keeps its capabilities. Earlier, the maker could not have mapped
    // the ids.
    sys::refuse_tracers()
}

fn send_report(control: &OwnedFd, report: &WorldBuildReport, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let report = init_messages::pack(report)?;
    let fds: Vec<_> = std::iter::once(report.as_fd()).chain(fds.iter().copied()).collect();
    init_messages::send(control, BUILT, 0, &fds)
}

/// Sends the descriptors of the world to its maker.
fn hand_out(control: &OwnedFd, made: &ConstructedWorld) -> io::Result<()> {
    let spaces = own_namespaces()?;
    let spaces: Vec<_> = spaces.iter().map(AsFd::as_fd).collect();
    send_report(control, &WorldBuildReport::Built(made.built.clone()), &spaces)?;
    let ConstructedWorld { terminals, network, gate, landlock, drafted, .. } = made;
    let more = [Some(&made.proc), terminals.as_ref(), network.as_ref(), gate.as_ref(), landlock.as_ref()];
    let more = more.into_iter().flatten().map(AsFd::as_fd);
    let more = more.chain(made.protection.watches().into_iter().flatten());
    let more: Vec<_> = more.chain(drafted.iter().map(AsFd::as_fd)).collect();
    init_messages::send(control, BUILT, 0, &more)
}

/// Makes a socket that reaches the server of a TCP port of this process's loopback.
fn answer_reach(door: &OwnedFd, port: u64) -> io::Result<()> {
    let server = u16::try_from(port).ok().and_then(|port| sys::loopback_server(nix::unistd::getpid(), port));
    let Some(server) = server else { return init_messages::send(door, REACH, 0, &[]) };
    // Without a free descriptor the answer has none.
    let socket = sys::stream_socket(server.is_ipv6()).ok();
    let fds: Vec<_> = socket.iter().map(AsFd::as_fd).collect();
    init_messages::send(door, REACH, if server.is_ipv6() { 6 } else { 4 }, &fds)
}

/// Returns the namespaces of this process, in the order of [`BUILT`].
fn own_namespaces() -> io::Result<Vec<OwnedFd>> {
    const SPACES: [NamespaceKind; 5] = [
        NamespaceKind::User,
        NamespaceKind::Mounts,
        NamespaceKind::Processes,
        NamespaceKind::Ipc,
        NamespaceKind::Names,
    ];
    SPACES.into_iter().map(sys::own_namespace).collect()
}

/// Init after the world is built.
struct WorldInit {
    /// The doors of the maker, until it drops the world, and the doors of other supervisors that have joined it.
    owners: Vec<OwnedFd>,
    /// The other doors.
    doors: Vec<OwnedFd>,
    /// Pidfds of processes that the world is kept for.
    kept: Vec<OwnedFd>,
    /// The socket by which other supervisors join the world.
    listener: UnixListener,
    world: ConstructedWorld,
    /// The facts that a joining supervisor receives, and the way to the gate, if there is one.
    published: Vec<OwnedFd>,
    /// The write ends of pipes that report the end of this process.
    ends: Vec<OwnedFd>,
    board: WorldStatusBoard,
    /// Time until the next scan of files that are not watched, ms.
    blind: u16,
    /// Whether there was no room for another shim at the last check.
    full: bool,
}

/// The descriptors of [`WorldInit`] that are ready.
struct ReadyDescriptors {
    changes: bool,
    joins: bool,
    owners: Vec<bool>,
    doors: Vec<bool>,
    kept: Vec<bool>,
}

impl WorldInit {
    /// Serves until the world has no owner and no process that it is kept for.
    fn serve(&mut self) {
        if self.post_guard_number().is_err() {
            return;
        }
        while !self.owners.is_empty() || !self.kept.is_empty() {
            let Ok(ready) = self.wait() else { return };
            // Commands must not start if a path cannot be protected.
            if self.protect(ready.changes).is_err() {
                return;
            }
            // An owner may add another door, which was not polled.
            let (owners, doors) = (std::mem::take(&mut self.owners), std::mem::take(&mut self.doors));
            for (owner, is_ready) in owners.into_iter().zip(ready.owners) {
                if !is_ready || self.answer(&owner) {
                    self.owners.push(owner);
                }
            }
            if ready.joins {
                // A supervisor is an owner as soon as it connects.
                self.owners.extend(self.listener.accept().map(|(stream, _)| OwnedFd::from(stream)));
            }
            for (door, is_ready) in doors.into_iter().zip(ready.doors) {
                if !is_ready || self.answer(&door) {
                    self.doors.push(door);
                }
            }
            if ready.kept.contains(&true) {
                let mut exited = ready.kept.into_iter();
                // Processes that the owner added meanwhile come after the polled processes.
                self.kept.retain(|_| !exited.next().unwrap_or(false));
                kill_orphans();
            }
            self.post_room();
        }
    }

    /// Protects files that are new or were replaced.
    fn protect(&mut self, changes: bool) -> io::Result<()> {
        let protection = &mut self.world.protection;
        if protection.is_behind() {
            protection.search_repositories()?;
            self.post_guard_number()?;
        }
        let protection = &mut self.world.protection;
        if changes || protection.is_blind() {
            self.board.post(WorldStatusSlot::Guards, 0)?;
            protection.on_change()?;
            self.blind = BLIND[1].min(self.blind * 2);
            self.post_guard_number()?;
        }
        Ok(())
    }

    /// Posts the number of the guards, unless a change could go unnoticed.
    fn post_guard_number(&self) -> io::Result<()> {
        let protection = &self.world.protection;
        if protection.is_watching() {
            self.board.post(WorldStatusSlot::Guards, protection.guard_number())
        } else {
            Ok(())
        }
    }

    /// Posts whether there is room for another shim, if that has changed.
    fn post_room(&mut self) {
        let full = !has_room();
        // Without this post, shims that cannot reach this process fail.
        if full != self.full && self.board.post(WorldStatusSlot::Full, u64::from(full)).is_ok() {
            self.full = full;
        }
    }

    /// Waits until a descriptor is ready. Does not wait while there is work to do.
    fn wait(&self) -> io::Result<ReadyDescriptors> {
        let changes = self.world.protection.change_descriptor();
        let counts = [changes.iter().count(), 1, self.owners.len(), self.doors.len()];
        let fds = changes.into_iter().chain([self.listener.as_fd()]);
        let fds = fds.chain(self.owners.iter().chain(&self.doors).chain(&self.kept).map(AsFd::as_fd));
        let mut fds: Vec<_> = fds.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let timeout = match (self.world.protection.is_behind(), self.world.protection.is_blind()) {
            (true, _) => PollTimeout::ZERO,
            (false, true) => PollTimeout::from(self.blind),
            (false, false) => PollTimeout::NONE,
        };
        while let Err(error) = poll(&mut fds, timeout) {
            if error != nix::errno::Errno::EINTR {
                return Err(error.into());
            }
        }
        let mut ready = fds.iter().map(|fd| fd.any().unwrap_or(true));
        let mut next = |count: usize| ready.by_ref().take(count).collect::<Vec<_>>();
        Ok(ReadyDescriptors {
            changes: next(counts[0]).contains(&true),
            joins: next(counts[1]).contains(&true),
            owners: next(counts[2]),
            doors: next(counts[3]),
            kept: next(usize::MAX),
        })
    }

    /// Answers the next message of a door. Returns whether the door is still open.
    fn answer(&mut self, door: &OwnedFd) -> bool {
        let message = match init_messages::receive(door) {
            Ok(Some(message)) => message,
            // This process had no free descriptors for the message. Its shim then cannot reach this process, and starts
            // no command.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => return true,
            Err(error) => return matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted),
            Ok(None) => return false,
        };
        match message.kind {
            DOOR => self.doors.extend(message.fds),
            KEEP => self.kept.extend(message.fds),
            REFRESH => return self.refresh(door, message.number).is_ok(),
            SHOW => return self.show(door, message.fds).is_ok(),
            REACH => return answer_reach(door, message.number).is_ok(),
            PUBLISH => self.published = message.fds,
            JOIN => return self.hand_out(door).is_ok(),
            _ => return false,
        }
        true
    }

    /// Protects new repositories. If that fails, the door is closed, so that no command starts.
    fn refresh(&mut self, door: &OwnedFd, known: u64) -> io::Result<()> {
        self.blind = BLIND[0];
        self.board.post(WorldStatusSlot::Guards, 0)?;
        // The kernel remembers the names of a drafted directory, in which others may have changed them since.
        self.world.drafted.iter().try_for_each(|drafted| sys::drop_found_names(drafted, false))?;
        self.world.protection.refresh()?;
        self.post_guard_number()?;
        let protection = &self.world.protection;
        let number = protection.guard_number();
        if number == known {
            return init_messages::send(door, GUARDS, number, &[]);
        }
        let guards = init_messages::pack(protection.guards())?;
        init_messages::send(door, GUARDS, number, &[guards.as_fd()])
    }

    /// Shows a file to the world.
    fn show(&mut self, door: &OwnedFd, mut fds: Vec<OwnedFd>) -> io::Result<()> {
        let path: PathBuf = init_messages::unpack(fds.pop().ok_or(io::ErrorKind::InvalidData)?)?;
        let ConstructedWorld { protection, shown, landlock, .. } = &mut self.world;
        let shown = shown.show(&path, protection.hidden_covers(), landlock.as_ref());
        let errno = shown.map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |()| 0);
        init_messages::send(door, SHOWN, errno.unsigned_abs().into(), &[])
    }

    /// Sends another supervisor everything that it needs to use the world.
    fn hand_out(&mut self, door: &OwnedFd) -> io::Result<()> {
        let ConstructedWorld { proc, network, gate, landlock, terminals, protection, .. } = &self.world;
        let (ended, ends) = sys::pipe()?;
        let [first, second] = protection.watches().map_or([None; 2], |watches| watches.map(Some));
        let control = self.published.get(1);
        let optional = [network.as_ref(), gate.as_ref(), landlock.as_ref(), control, terminals.as_ref()];
        let [network, gate, landlock, control, terminals] = optional.map(|fd| fd.map(AsFd::as_fd));
        let optional = [network, gate, landlock, control, terminals, first, second];
        let number = joined_world::presence_bits(optional.map(|fd| fd.is_some()));
        let send = |fds: &[BorrowedFd<'_>]| init_messages::send(door, JOIN, number, fds);
        let published = self.published.first().ok_or(io::ErrorKind::NotFound)?;
        send(&[published.as_fd(), proc.as_fd(), ended.as_fd(), self.board.as_fd()])?;
        let spaces = own_namespaces()?;
        send(&spaces.iter().map(AsFd::as_fd).collect::<Vec<_>>())?;
        send(&optional.into_iter().flatten().collect::<Vec<_>>())?;
        self.ends.push(ends);
        Ok(())
    }

    /// Ends every process of the world, and removes its files.
    fn end_world(&self, private: &PrivateDirectory) {
        // A process that asks from here on learns that the world has ended. If the post fails, the kill below still
        // ends every process that could ask.
        let _ = self.board.post(WorldStatusSlot::Guards, 0);
        // The kernel spares the caller.
        let _ = nix::sys::signal::kill(Pid::from_raw(-1), nix::sys::signal::Signal::SIGKILL);
        while nix::sys::wait::waitpid(None, None).is_ok() {}
        self.world.protection.detach_private_files();
        private.remove();
    }
}

/// Returns whether more than [`SPARE`] descriptors are free. The kernel gives out the lowest free number.
fn has_room() -> bool {
    let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| i64::try_from(soft).unwrap_or(i64::MAX));
    nix::unistd::dup(std::io::stdin()).is_ok_and(|lowest| i64::from(lowest.as_raw_fd()) < limit - SPARE)
}

/// Kills all children of this process, and then their children, which become its own. Their shim has exited.
fn kill_orphans() {
    let own = getpid();
    let is_child = |pid: &Pid| sys::identity(*pid).is_some_and(|process| process.parent == own);
    loop {
        let children: Vec<_> = sys::every_process().into_iter().filter(is_child).collect();
        children.iter().for_each(|orphan| sys::signal(*orphan, Signal::SIGKILL));
        // A child that has arrived since the scan was not killed, and is not awaited.
        let flags = children.is_empty().then_some(WaitPidFlag::WNOHANG);
        if nix::sys::wait::waitpid(None, flags).is_err() {
            return;
        }
        // The next scan finds the children that they have left to this process.
        while nix::sys::wait::waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|state| state.pid().is_some()) {}
    }
}
