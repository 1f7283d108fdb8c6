//! The worlds of a supervisor, and the processes that worlds need besides shims.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use super::blank_world_slot::{BlankGate, BlankWorldSlot};
use super::draft_world_file::DraftWorldFile;
use super::gates::{failed, gate_place, no_gate, open_blank_gate, opens_late};
use crate::shim::shim_world::{ShimWorld, ShimWorldLinks};
use confine_gate::{GateControl, GateError, GateSetup};
use confine_listener::{ListenerEndpoint, ListenerLink, ListenerSettings};
use confine_policy::{ConfinementPart, ConfinementPolicy, ReportedWorldError, WorldError, WorldFacts};
use confine_world::{
    BlankWorld, ConfinedWorld, InitConnection, JoinOutcome, JoinedWorld, PublishedWorld, WorldHostPaths,
    WorldLeftovers, filter::SyscallFilterMode,
};
use protocol::plan::{MARK, WorldId};
use protocol::task::TaskStore;
use protocol::{WORLD_LOST, WorldEntryPoints};
use sys::{ForkOutcome, Signal};

/// Time the first process of a world may take to exit once a descriptor of it is closed, ms.
const ENDING: u16 = 50;

/// Time for an ending world to release its ports, so that a session can follow another session with the same `expose`.
const PORT_RELEASE: Duration = Duration::from_millis(500);
/// Time for the world of a draft to end, before commands with another policy need theirs.
const WORLD_END: Duration = Duration::from_millis(500);
/// Time between two attempts.
const TRY_EVERY: Duration = Duration::from_millis(2);

/// Worlds that watch files, with two of the user's watches each. The kernel permits a user 128 by default.
const WATCHING: usize = 8;

/// A gate that was opened.
struct OpenGate {
    control: GateControl,
    /// The address of a world without namespaces.
    loopback: Option<Ipv4Addr>,
    /// The socket over which the gate asks for the values of secrets.
    values: Option<OwnedFd>,
}

impl From<GateControl> for OpenGate {
    fn from(control: GateControl) -> Self {
        Self { control, loopback: None, values: None }
    }
}

/// The worlds of this host.
#[derive(Default)]
pub struct SupervisorWorlds {
    known: HashMap<WorldId, SupervisedWorld>,
    /// The first processes of worlds, which may be ending already.
    inits: HashMap<Pid, Option<WorldId>>,
    /// The first processes of worlds that watch files.
    watching: HashSet<Pid>,
    /// The blank world for the next world. Its processes are in these lists without a world.
    blank: BlankWorldSlot,
    /// The gates. A world without its gate ends.
    gates: HashMap<Pid, Option<WorldId>>,
    /// The listeners of shims.
    listeners: HashSet<Pid>,
    /// Processes that remove the leftovers of killed worlds.
    sweepers: HashSet<Pid>,
    /// Directories in which killed worlds may have leftovers, as far as they were searched.
    swept: HashSet<PathBuf>,
}

/// A world that is made.
struct SupervisedWorld {
    world: ConfinedWorld,
    gate: Option<GateControl>,
    /// Whether the gate may still be starting.
    opens: bool,
    settings: ListenerSettings,
    /// The socket over which the gate asks for the values of secrets, until the host has it.
    values: Option<OwnedFd>,
    /// The write end of a pipe that only this process holds, and its read end for shims.
    owner: (OwnedFd, OwnedFd),
}

impl SupervisorWorlds {
    /// Makes a world, or joins the world of a running task of a registry, or that of a draft.
    pub fn make(
        &mut self,
        id: WorldId,
        policy: &ConfinementPolicy,
        state: &Path,
        registry: Option<&Path>,
    ) -> Result<WorldFacts, ReportedWorldError> {
        let of_draft = policy.draft.as_ref().map(DraftWorldFile::lock).transpose();
        let mut of_draft = of_draft.map_err(|error| failed("the world of its draft", error))?;
        let mut candidates =
            registry.map(|folder| TaskStore::at(folder.to_owned()).joinable_worlds()).unwrap_or_default();
        candidates.extend(of_draft.as_mut().and_then(DraftWorldFile::home));
        for home in candidates {
            let give_up = Instant::now() + WORLD_END;
            let join = || confine_world::join(policy, state, &home);
            let mut found = join();
            // The world of a draft that was closed, or got other secrets, may be ending.
            let may_end = |found: &JoinOutcome| match found {
                JoinOutcome::Joined(joined) => joined.policy != *policy && self.is_one_ending(),
                JoinOutcome::Other => true,
                JoinOutcome::Gone => false,
            };
            while of_draft.is_some() && may_end(&found) && Instant::now() < give_up {
                // A world that was joined lives on.
                drop(found);
                thread::sleep(TRY_EVERY);
                found = join();
            }
            match found {
                JoinOutcome::Joined(joined) => {
                    let JoinedWorld { world, policy, gate } = *joined;
                    return self.register_world(id, &policy, world, gate.map(|gate| GateControl::from(gate).into()));
                }
                JoinOutcome::Other if of_draft.is_some() => {
                    let busy = io::Error::from_raw_os_error(libc::EBUSY);
                    return Err(failed(
                        "others run commands of the draft with other secrets, or confined differently",
                        busy,
                    ));
                }
                JoinOutcome::Other | JoinOutcome::Gone => {}
            }
        }
        // A later attempt to make the same world must not end with the processes of this attempt.
        let (world, gate) = self.build(id, policy, state).inspect_err(|_| self.detach_processes(id))?;
        if let Some((file, home)) = of_draft.as_mut().zip(world.facts.home.as_deref()) {
            file.name(home).map_err(|error| failed("the world of its draft", error))?;
        }
        self.register_world(id, policy, world, gate)
    }

    /// Removes the leftovers of killed worlds, in a separate process, because there may be many.
    fn sweep(&mut self, state: &Path) {
        let Some(leftovers) = WorldLeftovers::of(state) else { return };
        match sys::fork() {
            Ok(ForkOutcome::Child) => {
                let _ = sys::name_process(c"agent-bash-sweep");
                sys::close_all_but(&leftovers.descriptors());
                leftovers.remove();
                sys::exit_now(0)
            }
            Ok(ForkOutcome::Parent(pid)) => {
                self.sweepers.insert(pid);
            }
            // The next supervisor finds the leftovers again.
            Err(_) => {}
        }
    }

    /// Makes a world with its gate.
    fn build(
        &mut self,
        id: WorldId,
        policy: &ConfinementPolicy,
        state: &Path,
    ) -> Result<(ConfinedWorld, Option<OpenGate>), ReportedWorldError> {
        if self.swept.insert(state.to_owned()) {
            self.sweep(state);
        }
        let watches = self.watching.len() < WATCHING;
        let place = WorldHostPaths { state, readable: &[], watches };
        let blank = self.blank.claim(policy, state, opens_late(policy));
        let (mut world, gate) = match blank.map(|blank| self.finish_blank_world(blank, policy, &place)) {
            Some(Ok(finished)) => finished,
            Some(Err(missing @ WorldError::Missing(_))) => return Err(missing.into()),
            // The blank world may have ended since it was claimed.
            Some(Err(WorldError::Step { .. })) | None => (confine_world::build(policy, &place)?, None),
        };
        if let Some(first) = world.lifetime_process() {
            self.inits.insert(first, Some(id));
            self.watching.extend(watches.then_some(first));
        }
        let gate = match gate {
            Some((pid, gate)) => {
                self.gates.insert(pid, Some(id));
                Some(gate.into())
            }
            None => self.open_gate(id, policy, &mut world)?,
        };
        let published = PublishedWorld::describe_world(policy, &world.facts);
        world
            .publish(&published, gate.as_ref().map(|gate| gate.control.as_fd()))
            .map_err(|error| failed("its description", error))?;
        Ok((world, gate))
    }

    /// Makes a world of the blank one.
    fn finish_blank_world(
        &mut self,
        (begun, gate): (BlankWorld, Option<BlankGate>),
        policy: &ConfinementPolicy,
        place: &WorldHostPaths<'_>,
    ) -> Result<(ConfinedWorld, Option<BlankGate>), WorldError> {
        let init = begun.init;
        let world = confine_world::finish_world(begun, policy, place);
        let is_made = world.as_ref().is_ok_and(|world| world.namespaces.is_some());
        if !is_made {
            // It was reaped, and the gate ends with it.
            self.inits.remove(&init);
        }
        Ok((world?, gate.filter(|_| is_made)))
    }

    /// Keeps a blank world for the next world.
    pub fn keep_blank(&mut self, state: &Path, now: Instant) {
        let gates = &mut self.gates;
        let init = self.blank.keep(state, now, |begun| {
            let (pid, gate) = open_blank_gate(begun).ok()?;
            gates.insert(pid, None);
            Some((pid, gate))
        });
        self.inits.extend(init.map(|init| (init, None)));
    }

    /// Ends a blank world that has waited for too long. Returns the time until the next call.
    pub fn expire_blank(&mut self, now: Instant) -> Option<Duration> {
        self.blank.expire(now);
        self.blank.time_left(now)
    }

    fn register_world(
        &mut self,
        id: WorldId,
        policy: &ConfinementPolicy,
        world: ConfinedWorld,
        gate: Option<OpenGate>,
    ) -> Result<WorldFacts, ReportedWorldError> {
        let (gate, loopback, values) =
            gate.map_or((None, None, None), |gate| (Some(gate.control), gate.loopback, gate.values));
        let facts = world.facts.clone();
        let own_network = world.namespaces.as_ref().is_some_and(|spaces| spaces.network.is_some());
        let policy = ConfinementPolicy { write: facts.write.clone(), ..policy.clone() };
        let mounts = world.namespaces.is_some();
        let held = world.held.as_ref().map(|(held, _)| held.clone());
        let landlock = world.landlock.is_some();
        let (gated, begun) = (gate.is_some(), facts.begun);
        let agent = policy.ssh.as_ref().and(facts.home.as_deref()).map(confine_world::agent_socket);
        let settings =
            ListenerSettings { policy, mounts, landlock, held, own_network, loopback, agent, gate: gated, begun };
        let (read, write) = sys::pipe().map_err(|error| failed("a pipe", error))?;
        let opens = gate.is_some() && opens_late(&settings.policy);
        self.known.insert(id, SupervisedWorld { world, gate, opens, settings, values, owner: (write, read) });
        Ok(facts)
    }

    /// Returns the host's ways into a world.
    pub fn entry_points(&mut self, id: WorldId) -> WorldEntryPoints {
        let Some(SupervisedWorld { world, values, .. }) = self.known.get_mut(&id) else {
            return WorldEntryPoints::default();
        };
        let spaces = world.namespaces.as_ref();
        let terminals = spaces.and_then(|spaces| spaces.terminals.as_ref());
        let init = spaces.and_then(|spaces| spaces.init);
        WorldEntryPoints {
            door: world.open_door().ok().flatten().map(InitConnection::into_fd),
            terminals: terminals.and_then(|terminals| terminals.try_clone().ok()),
            values: values.take(),
            init: init.and_then(|init| sys::open_pid(init).ok()),
        }
    }

    /// Starts the gate of a world, unless the world has the network of the host. Adds notes on ports that cannot be
    /// exposed, if the network is not required.
    fn open_gate(
        &mut self,
        id: WorldId,
        policy: &ConfinementPolicy,
        world: &mut ConfinedWorld,
    ) -> Result<Option<OpenGate>, ReportedWorldError> {
        let give_up = Instant::now() + PORT_RELEASE;
        let mut expose = policy.expose.clone();
        let (setup, control) = loop {
            let place = gate_place(world, policy).map_err(|error| failed("the network of its gate", error))?;
            let Some((network, lifeline)) = place else {
                return match policy.secrets.rules.is_empty() {
                    true => Ok(None),
                    false => Err(failed("a gate for its secrets", io::ErrorKind::Unsupported.into())),
                };
            };
            match GateSetup::new(&policy.network, &expose, network, lifeline, MARK) {
                Err(GateError::Expose { .. }) if self.is_one_ending() && Instant::now() < give_up => {
                    thread::sleep(TRY_EVERY);
                }
                Err(error @ GateError::Expose { port, .. }) if !policy.require.contains(&ConfinementPart::Network) => {
                    world.facts.notes.push(error.to_string());
                    expose.retain(|other| *other != port);
                }
                made => break made.map_err(no_gate)?,
            }
        };
        let setup =
            setup.posting_on(world.board.try_clone().map_err(|error| failed("the descriptors of its gate", error))?);
        let (setup, values) =
            setup.with_secrets(&policy.secrets).map_err(|error| failed("the socket for secrets", error))?;
        let setup = match policy.ssh.as_ref().zip(world.facts.home.as_deref()) {
            Some((ssh, home)) => setup
                .with_agent(ssh.clone(), &confine_world::agent_socket(home))
                .map_err(|error| failed("the socket of its ssh agent", error))?,
            None => setup,
        };
        confine_world::show_agent(policy, &mut world.facts);
        let loopback = setup.loopback();
        world.facts.notes.extend(setup.note());
        match sys::fork().map_err(|error| failed("the process of its gate", error))? {
            ForkOutcome::Child => confine_gate::serve(setup),
            ForkOutcome::Parent(pid) => self.gates.insert(pid, Some(id)),
        };
        drop(setup);
        if !opens_late(policy) {
            control.wait_until_started().map_err(|error| failed("its gate", error))?;
        }
        if !policy.secrets.rules.is_empty() {
            let certificate = control.certificate().and_then(|pem| pem.ok_or(io::ErrorKind::NotFound.into()));
            let shown = certificate.and_then(|pem| confine_world::show_secrets(policy, &mut world.facts, &pem));
            shown.map_err(|error| failed("the authority of its secrets", error))?;
        }
        Ok(Some(OpenGate { control, loopback, values }))
    }

    /// Returns whether the processes of a world are ending, which may still hold its ports.
    fn is_one_ending(&self) -> bool {
        let is_ending = |(init, id): (&Pid, &Option<WorldId>)| match id {
            Some(id) => !self.known.contains_key(id),
            None => !self.blank.has_init(*init),
        };
        self.inits.iter().any(is_ending)
    }

    /// Ends a world as soon as its shims have exited.
    pub fn end(&mut self, id: WorldId) {
        self.known.remove(&id);
        self.detach_processes(id);
    }

    /// Lets the processes of a world end on their own. Another world may get its number.
    fn detach_processes(&mut self, id: WorldId) {
        let all = self.inits.values_mut().chain(self.gates.values_mut());
        all.filter(|of| **of == Some(id)).for_each(|of| *of = None);
    }

    /// Ends all worlds as soon as their shims have exited, or closes this process's copies of them.
    pub fn clear(&mut self) {
        self.known.clear();
        self.blank.clear();
    }

    /// Returns whether a child of the supervisor belongs to a world and is no shim.
    pub fn has_process(&self, pid: Pid) -> bool {
        let is_one = self.inits.contains_key(&pid) || self.gates.contains_key(&pid);
        is_one || self.listeners.contains(&pid) || self.sweepers.contains(&pid)
    }

    /// Handles the exit of a child. Returns the world that this exit ends too early.
    pub fn on_exit(&mut self, pid: Pid) -> Option<WorldId> {
        self.listeners.remove(&pid);
        self.sweepers.remove(&pid);
        self.watching.remove(&pid);
        self.blank.on_exit(pid);
        let id = self.inits.remove(&pid).or_else(|| self.gates.remove(&pid))??;
        self.known.remove(&id).map(|_| id)
    }

    /// Returns whether a world ends or has ended, after a fork into it has failed.
    pub fn is_over(&self, id: WorldId) -> bool {
        let ended = self.known.get(&id).and_then(|made| Some(made.world.namespaces.as_ref()?.ended.as_fd()));
        ended.is_some_and(|ended| {
            let mut fds = [PollFd::new(ended, PollFlags::POLLIN)];
            poll(&mut fds, PollTimeout::from(ENDING)).is_ok_and(|ready| ready > 0)
        })
    }

    /// Returns the pipes that report the end of joined worlds, whose first processes are no children of this process.
    pub fn joined_world_ends(&self) -> impl Iterator<Item = (WorldId, BorrowedFd<'_>)> {
        self.known.iter().filter_map(|(id, made)| {
            let spaces = made.world.namespaces.as_ref().filter(|spaces| spaces.init.is_none())?;
            Some((*id, spaces.ended.as_fd()))
        })
    }

    /// Returns the first processes of all worlds.
    #[cfg(all(test, target_os = "linux"))]
    pub fn inits(&self) -> Vec<Pid> {
        self.inits.keys().copied().collect()
    }

    /// Forks a shim into a world.
    pub fn fork_shim(&mut self, id: WorldId) -> io::Result<ForkedShim> {
        let made = self.known.get_mut(&id).ok_or_else(|| io::Error::from_raw_os_error(WORLD_LOST))?;
        if made.world.is_full() {
            return Err(io::Error::from_raw_os_error(libc::EMFILE));
        }
        let listener =
            made.world.filter.is_some_and(SyscallFilterMode::has_listener).then(|| made.listener()).transpose()?;
        let door = made.world.open_door()?;
        let gate = made
            .gate
            .as_ref()
            .map(|gate| io::Result::Ok((gate.try_clone()?, made.world.board.try_clone()?)))
            .transpose()?;
        let owner = made.owner.1.try_clone()?;
        let home = made.world.facts.home.clone();
        let (link, ends) = listener.unzip();
        let forked = match ends {
            Some(ends) if made.world.namespaces.is_none() => made.fork_below_listener(ends)?,
            Some(ends) => {
                self.listeners.insert(made.fork_listener(ends)?);
                made.fork().map(ShimForkOutcome::of)?
            }
            None => made.fork().map(ShimForkOutcome::of)?,
        };
        match forked {
            ShimForkOutcome::Parent(forked) => {
                let late = made.gate.as_ref().filter(|_| std::mem::take(&mut made.opens));
                let started = made
                    .world
                    .keep_for(forked.shim)
                    .and_then(|()| late.map_or(Ok(()), GateControl::wait_until_started));
                started.inspect_err(|_| sys::signal(forked.child, Signal::SIGKILL))?;
                Ok(ForkedShim::Parent(forked))
            }
            ShimForkOutcome::Child => {
                let SupervisedWorld {
                    world: ConfinedWorld { namespaces, landlock, seatbelt, filter, held, .. },
                    settings,
                    ..
                } = self.known.remove(&id).ok_or(io::ErrorKind::NotFound)?;
                self.clear();
                let world = ShimWorld::enter(
                    namespaces,
                    landlock,
                    ShimWorldLinks {
                        door,
                        listener: link,
                        gate,
                        owner,
                        home,
                        seatbelt,
                        filter,
                        draft: settings.policy.draft,
                        kept: held.map(|(_, keeper)| keeper.kept),
                    },
                )?;
                Ok(ForkedShim::Child(Some(Box::new(world))))
            }
        }
    }
}

impl SupervisedWorld {
    /// Forks into the user and pid namespaces of the world.
    fn fork(&self) -> io::Result<ForkOutcome> {
        match &self.world.namespaces {
            Some(spaces) => sys::fork_into(spaces.user.as_fd(), spaces.processes.as_fd()),
            None => sys::fork(),
        }
    }

    /// Returns the ways of a shim and of its listener to each other.
    fn listener(&self) -> io::Result<(ListenerLink, ListenerEndpoint)> {
        let (link, ends) = ListenerLink::pair()?;
        let gate = self.gate.as_ref().filter(|_| self.settings.loopback.is_some()).map(GateControl::try_clone);
        Ok((link, ends.with_gate(gate.transpose()?)))
    }

    /// Starts the listener of a shim in the namespaces of the world.
    fn fork_listener(&self, ends: ListenerEndpoint) -> io::Result<Pid> {
        match self.fork()? {
            ForkOutcome::Parent(pid) => Ok(pid),
            ForkOutcome::Child => {
                let entered = self.world.entrance().map_or(Ok(()), |entrance| sys::enter_world(&entrance));
                if entered.is_err() {
                    sys::exit_now(1);
                }
                confine_listener::serve(ends, self.settings.clone(), None)
            }
        }
    }

    /// Forks a shim below its listener. Many machines let a process of an ordinary user read the memory of its
    /// descendants alone.
    fn fork_below_listener(&self, ends: ListenerEndpoint) -> io::Result<ShimForkOutcome> {
        let (read, write) = sys::pipe()?;
        match sys::fork()? {
            ForkOutcome::Parent(child) => {
                drop(write);
                let mut pid = [0; size_of::<i32>()];
                File::from(read).read_exact(&mut pid)?;
                Ok(ShimForkOutcome::Parent(ShimPids { child, shim: Pid::from_raw(i32::from_ne_bytes(pid)) }))
            }
            ForkOutcome::Child => match sys::fork() {
                Ok(ForkOutcome::Child) => Ok(ShimForkOutcome::Child),
                Ok(ForkOutcome::Parent(shim)) => {
                    let _ = File::from(write).write_all(&shim.as_raw().to_ne_bytes());
                    confine_listener::serve(ends, self.settings.clone(), Some(shim))
                }
                Err(_) => sys::exit_now(1),
            },
        }
    }
}

/// The pids of a shim.
#[derive(Debug, Clone, Copy)]
pub struct ShimPids {
    /// The child of the supervisor that ends with the shim: the shim itself, or its listener.
    pub child: Pid,
    /// The shim.
    pub shim: Pid,
}

impl From<Pid> for ShimPids {
    fn from(shim: Pid) -> Self {
        Self { child: shim, shim }
    }
}

/// A process that was forked.
enum ShimForkOutcome {
    /// In the supervisor.
    Parent(ShimPids),
    /// In the shim.
    Child,
}

impl ShimForkOutcome {
    fn of(fork: ForkOutcome) -> Self {
        match fork {
            ForkOutcome::Parent(pid) => Self::Parent(pid.into()),
            ForkOutcome::Child => Self::Child,
        }
    }
}

/// A shim that was forked.
pub enum ForkedShim {
    /// In the supervisor: the shim's pids.
    Parent(ShimPids),
    /// In the shim: its world.
    Child(Option<Box<ShimWorld>>),
}
