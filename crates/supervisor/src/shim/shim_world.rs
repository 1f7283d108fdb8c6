//! The world of a shim: how its commands enter the world, and their denials.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::denial_news::DenialNews;
use confine_gate::{GateControl, WorldStatusBoard, WorldStatusSlot};
use confine_listener::{ListenerLink, ListenerReport};
use confine_policy::{CommandDenials, DraftedTree};
use confine_world::{
    InitConnection, NameGuards, SeatbeltProfileSource, WorldNamespaces, filter, filter::SyscallFilterMode,
};
use sys::{ChildConfinement, SyscallArchitecture, SyscallFilter, WorldEntrance};

/// Time the first process of a world may take to exit once a descriptor of it is closed, ms.
const ENDING: u16 = 50;

/// The world of a shim.
pub struct ShimWorld {
    entrance: Option<WorldEntrance>,
    landlock: Option<RawFd>,
    filters: WorldSyscallFilters,
    /// Profiles of Seatbelt, on macOS alone.
    seatbelt: Option<SeatbeltProfileSource>,
    /// The way to init. `None` without namespaces.
    door: Option<InitConnection>,
    /// The listener beside this shim. `None` where the kernel supports no listener.
    listener: Option<ListenerLink>,
    /// Whether the listener has ended, and whether the world has lost its owner.
    ended: [bool; 2],
    /// The gate, the board on which the gate posts, and its post when its record was taken last.
    gate: Option<(GateControl, WorldStatusBoard, u64)>,
    /// A pipe that ends when the world has no owner.
    owner: Option<OwnedFd>,
    /// The number of the last command, for the listener.
    command: u64,
    /// The directory by which other supervisors join the world.
    home: Option<PathBuf>,
    /// The draft of the commands, and its locked file from right before a command until nothing of it runs.
    draft: Option<(DraftedTree, Option<File>)>,
    /// Descriptors that stay open as long as commands enter through them.
    descriptors: (Option<WorldNamespaces>, Option<OwnedFd>, Option<OwnedFd>),
}

/// The filters of system calls of a world.
struct WorldSyscallFilters {
    /// The usual filter. `None`: the machine supports no filter.
    plain: Option<Rc<SyscallFilter>>,
    variant: SyscallFilterMode,
    /// The filter for commands whose changes are recorded, after the first such command.
    recorded: Option<Rc<SyscallFilter>>,
}

impl WorldSyscallFilters {
    fn recorded(&mut self) -> Option<Rc<SyscallFilter>> {
        let machine = SyscallArchitecture::HERE?;
        let program = || Rc::new(filter::program(machine, self.variant.with_recording()));
        Some(Rc::clone(self.recorded.get_or_insert_with(program)))
    }
}

/// The ways of a shim to the other processes of its world.
pub struct ShimWorldLinks {
    /// The way to the first process.
    pub door: Option<InitConnection>,
    /// The way to the listener of the shim.
    pub listener: Option<ListenerLink>,
    /// The way to the gate, and the board on which the gate posts.
    pub gate: Option<(GateControl, WorldStatusBoard)>,
    /// A pipe that ends when the world has no owner.
    pub owner: OwnedFd,
    /// The directory by which other supervisors join the world.
    pub home: Option<PathBuf>,
    /// The profiles of the world's commands, on macOS alone.
    pub seatbelt: Option<SeatbeltProfileSource>,
    /// The filter of the world's commands.
    pub filter: Option<SyscallFilterMode>,
    /// The draft of the world's commands.
    pub draft: Option<DraftedTree>,
    /// The descriptor that keeps the files of a world without namespaces.
    pub kept: Option<OwnedFd>,
}

impl ShimWorld {
    /// Makes a process that was just forked into a world the shim of the world's commands.
    pub fn enter(
        namespaces: Option<WorldNamespaces>,
        landlock: Option<OwnedFd>,
        ways: ShimWorldLinks,
    ) -> io::Result<Self> {
        if let Some(spaces) = &namespaces {
            sys::read_processes_in(spaces.proc.try_clone()?);
            // Otherwise each child would have to do this.
            sys::drop_bounding_capabilities().map_err(io::Error::from_raw_os_error)?;
        }
        let ShimWorldLinks { door, listener, gate, owner, home, seatbelt, filter, draft, kept } = ways;
        let landlock_fd = landlock.as_ref().map(AsRawFd::as_raw_fd);
        let entrance = namespaces.as_ref().map(|spaces| spaces.entrance(landlock_fd));
        let variant = filter.unwrap_or(SyscallFilterMode::Silent);
        let filter = filter.zip(SyscallArchitecture::HERE).map(|(variant, machine)| filter::program(machine, variant));
        Ok(Self {
            entrance,
            landlock: landlock_fd,
            filters: WorldSyscallFilters { plain: filter.map(Rc::new), variant, recorded: None },
            seatbelt,
            door,
            listener,
            ended: [false; 2],
            gate: gate.map(|(gate, board)| (gate, board, 0)),
            owner: Some(owner),
            command: 0,
            home,
            draft: draft.map(|draft| (draft, None)),
            descriptors: (namespaces, landlock, kept),
        })
    }

    /// Returns whether a listener answers calls of the shim's commands.
    pub fn has_listener(&self) -> bool {
        self.listener.is_some()
    }

    /// Protects the paths that are new since the last command, and announces the next command, with the journal of its
    /// changes. Returns the confinement of that command. An error means that no command may start.
    pub fn begin(&mut self, journal: Option<OwnedFd>) -> io::Result<Rc<ChildConfinement>> {
        self.refresh()?;
        self.command += 1;
        if let Some((listener, journal)) = self.listener.as_ref().zip(journal.as_ref()) {
            listener.send_journal(self.command, journal)?;
        }
        let begin = |listener: &ListenerLink| {
            io::Result::Ok((listener.descriptor(), listener.begin_message(self.command, &self.guards())?))
        };
        let listener = self.listener.as_ref().map(begin).transpose()?;
        let profile = self.seatbelt.as_mut().map(SeatbeltProfileSource::profile).transpose()?;
        let filter = if journal.is_some() { self.filters.recorded() } else { self.filters.plain.clone() };
        let Self { entrance, landlock, .. } = *self;
        Ok(Rc::new(ChildConfinement { entrance, landlock, profile, filter, listener }))
    }

    /// Takes the pipe that ends when the world has no owner.
    pub fn take_owner(&mut self) -> Option<OwnedFd> {
        self.owner.take()
    }

    /// Protects the paths that are new since the start of a warm shell, which now gets its command. The shell's denials
    /// until then are forgotten.
    pub fn protect_new_paths(&mut self) -> io::Result<()> {
        self.refresh()?;
        self.listener.as_ref().map_or(Ok(()), |listener| listener.replace_guards(self.command, &self.guards()))
    }

    /// Returns the draft of the commands.
    pub fn draft(&self) -> Option<&DraftedTree> {
        self.draft.as_ref().map(|(draft, _)| draft)
    }

    /// Keeps others from changing the draft of the commands.
    pub fn hold_draft(&mut self, lock: OwnedFd) {
        if let Some((_, held)) = &mut self.draft {
            *held = Some(lock.into());
        }
    }

    /// Lets others change the draft of the commands, of which none runs any more.
    pub fn release_draft(&mut self) {
        if let Some((_, held)) = &mut self.draft {
            *held = None;
        }
    }

    fn refresh(&mut self) -> io::Result<()> {
        if let Some((draft, held @ None)) = &mut self.draft {
            let file = sys::open_regular(&draft.lock(), File::options().read(true))?;
            file.try_lock_shared()?;
            *held = Some(file);
        }
        self.door.as_mut().map_or(Ok(()), InitConnection::refresh)
    }

    fn guards(&self) -> NameGuards {
        self.door.as_ref().map(|door| door.guards().clone()).unwrap_or_default()
    }

    /// Forgets the denials of a warm shell that has started up. Returns the number of the guards, and the descriptors
    /// of the `GuardFreshness` that shows whether the world has changed when the shell gets its command.
    pub fn warmed_up(&self) -> Option<(u64, Vec<OwnedFd>)> {
        self.listener.as_ref().map_or(Ok(()), |listener| listener.replace_guards(self.command, &self.guards())).ok()?;
        let (number, freshness) = self.door.as_ref()?.freshness()?;
        Some((number, freshness.try_clone().ok()?.into_list()))
    }

    /// Returns the descriptors that show the end of the listener and of the owner, until [`ShimWorld::on_ends`].
    pub fn end_descriptors(&self) -> [Option<BorrowedFd<'_>>; 2] {
        let [listener, owner] = self.ended;
        let listener = self.listener.as_ref().filter(|_| !listener).map(AsFd::as_fd);
        [listener, self.owner.as_ref().filter(|_| !owner).map(AsFd::as_fd)]
    }

    /// Records that the listener or the owner has ended.
    pub fn on_ends(&mut self, ends: [bool; 2]) {
        self.ended = [self.ended[0] || ends[0], self.ended[1] || ends[1]];
    }

    /// Returns whether no other command may start here. Without a listener a command could create nothing. Without an
    /// owner, another world may be in the place of this world.
    pub fn is_over(&self) -> bool {
        self.ended.contains(&true)
    }

    /// Returns whether the listener has ended.
    pub fn has_lost_listener(&self) -> bool {
        self.ended[0]
    }

    /// Returns whether the processes that commands need are alive: the first process of the world, and the process that
    /// answers calls. Called after a failure. Waits for the end of the first process, which may be under way.
    pub fn is_intact(&self) -> bool {
        let ended = self.descriptors.0.as_ref().is_some_and(|spaces| {
            let mut fds = [PollFd::new(spaces.ended.as_fd(), PollFlags::POLLIN)];
            poll(&mut fds, PollTimeout::from(ENDING)).is_ok_and(|ready| ready > 0)
        });
        !ended && self.listener.as_ref().is_none_or(ListenerLink::is_open)
    }

    /// Returns the directory by which other supervisors join the world.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Lets the world read a file at its own path. If a command has put another file in the way, the world reads that
    /// file.
    pub fn show_file(&mut self, path: &Path) {
        if let Some(door) = &mut self.door {
            let _ = door.show(path);
        } else if let Some(home) = &self.home {
            let _ = confine_world::show_file(home, path);
        }
    }

    /// Returns the news of denials that the command has after [`ShimWorld::take_denials`].
    pub fn denial_news(&self) -> DenialNews {
        let listener = self.listener.as_ref().filter(|_| !self.ended[0]);
        let board = self.gate.as_ref().and_then(|(_, board, _)| board.try_clone().ok());
        DenialNews::new(listener.and_then(|listener| listener.announcements().ok()), board, Instant::now())
    }

    /// Returns the denials of the command with this mark since the last call. The command goes on.
    pub fn take_denials(&mut self, mark: Option<&str>) -> CommandDenials {
        let report = self.listener.as_ref().and_then(|listener| listener.take(self.command).ok());
        self.add_gate_refusals(report, mark)
    }

    /// Ends the command with this mark, and with it the journal of its changes. Returns its denials.
    pub fn end_command(&mut self, mark: Option<&str>) -> CommandDenials {
        let report = self.listener.as_ref().map(|listener| listener.end_command(self.command));
        let is_lost = matches!(report, Some(Err(_)));
        self.ended[0] |= is_lost;
        let report = report.and_then(Result::ok).flatten();
        let mut denials = self.add_gate_refusals(report, mark);
        denials.unsettled |= is_lost;
        denials
    }

    /// Adds the gate's refusals to the command with this mark.
    fn add_gate_refusals(&mut self, report: Option<ListenerReport>, mark: Option<&str>) -> CommandDenials {
        let refused = self.gate.as_mut().and_then(|(gate, board, taken)| {
            let posted = board.read(WorldStatusSlot::Refusals).ok()?;
            // The gate may still have to read messages of the command.
            let may_follow = report.is_some();
            (std::mem::replace(taken, posted) != posted || may_follow).then(|| gate.take(mark).ok()).flatten()
        });
        let ListenerReport { mut denials, attempts } = report.unwrap_or_default();
        denials.merge(refused.map(|refused| refused.into_denials(&attempts)).unwrap_or_default());
        denials
    }
}
