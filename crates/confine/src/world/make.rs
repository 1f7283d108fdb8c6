//! The supervisor's side of making a world.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use super::failure::{Failure, Step};
use super::messages::{self, BUILT, Built, Report, START};
use super::private::Private;
use super::ways::Obstacle;
use super::{Door, Freshness, HostPaths, NAMESPACES, Namespaces, World, fallback, ids, init, ways};
use crate::{AllowEntry, Board, Caches, Git, Network, Policy, Profile, Read, Tmp, Way, WorldError, WorldFacts};
use sys::{Fork, Signal};

/// Time init may take to build a world, ms. A large tree with a cold cache is scanned meanwhile.
const PATIENCE: u16 = 60_000;

/// Makes a world. This process has one thread. It reaps init, whose pid is in [`Namespaces`].
///
/// # Errors
/// [`WorldError::Missing`] if a part that the policy requires cannot be held.
pub fn build(policy: &Policy, place: &HostPaths<'_>) -> Result<World, WorldError> {
    if let Some(world) = without_namespaces(policy, place) {
        return world;
    }
    let private = private_in(place.state)?;
    let listener = private.listen().inspect_err(|_| private.remove()).step(|| "the socket of init".into())?;
    let (tmp, home) = ((policy.tmp == Tmp::Private).then(|| private.tmp()), Some(private.path.clone()));
    let (ours, inits) = sys::socket_pair().step(|| "a socket pair".into())?;
    let board = Board::new().step(|| "a file without a name".into())?;
    let inits_board = board.another().step(|| "a descriptor".into())?;
    let (ended, ends) = sys::pipe().step(|| "a pipe".into())?;
    let init = match sys::fork_world(policy.network != Network::Full) {
        Ok(Fork::Child) => {
            let held = init::Held { control: inits, ends, private, listener, board: inits_board };
            init::run(policy, place, held)
        }
        Ok(Fork::Parent(init)) => init,
        Err(error) => {
            private.remove();
            return ways::after(policy, place, Failure { step: "a user namespace".to_owned(), source: error });
        }
    };
    drop((inits, ends, private, listener, inits_board));
    let built = begin(init, &ours).and_then(|()| receive(init, &ours, ended));
    match built {
        Ok((_, built)) if built.missing.iter().any(|missing| policy.require.contains(&missing.part)) => {
            abandon(init, ours);
            Err(WorldError::Missing(built.missing))
        }
        Ok((received, Built { missing, mut notes, write, .. })) => {
            notes.extend(own_loopback(policy));
            let watched = received.watches.map(|watches| board.another().map(|board| Freshness::new(board, watches)));
            let freshness = watched.transpose().step(|| "a descriptor".into())?;
            let held = policy.held_without(&missing);
            Ok(World {
                namespaces: Some(received.namespaces),
                landlock: received.landlock,
                seatbelt: None,
                filter: World::usual_filter(),
                held: None,
                facts: WorldFacts {
                    held,
                    missing,
                    way: Way::Namespaces,
                    write,
                    tmp,
                    home,
                    notes,
                    ..WorldFacts::default()
                },
                board,
                door: Some(RefCell::new(Door::with(ours, freshness))),
            })
        }
        Err(failure) => {
            abandon(init, ours);
            ways::after(policy, place, failure)
        }
    }
}

/// Makes the private directory of a world.
fn private_in(state: &Path) -> Result<Private, Failure> {
    Private::create(state).step(|| format!("a private directory in {}", state.display()))
}

/// Makes a world on a system that has no namespaces, or for a host that does without them. `None`: they are tried.
fn without_namespaces(policy: &Policy, place: &HostPaths<'_>) -> Option<Result<World, WorldError>> {
    if sys::HAS_SEATBELT {
        return Some(fallback::with_seatbelt(policy, place));
    }
    NAMESPACES.is_off().then(|| ways::without_namespaces(policy, place, &Obstacle::switched_off()))
}

/// Tries to make a world with all parts, and returns the parts that can be held here. This process has one thread.
///
/// # Errors
/// If a step fails that should not fail on this machine.
pub fn probe(state: &Path) -> Result<WorldFacts, WorldError> {
    let policy = Policy {
        profile: Profile::ReadOnly,
        root: PathBuf::from("/"),
        write: Vec::new(),
        git: Git::None,
        protect: Vec::new(),
        hide: Vec::new(),
        read: Read::All,
        network: Network::Allow { entries: Vec::new(), hosts: BTreeMap::new() },
        expose: Vec::new(),
        tmp: Tmp::Private,
        caches: (Caches::None, Vec::new()),
        require: Vec::new(),
    };
    let world = build(&policy, &HostPaths { state, readable: &[], watches: false })?;
    let (facts, first) = (world.facts.clone(), world.first());
    drop(world);
    if let Some(first) = first {
        let _ = nix::sys::wait::waitpid(first, None);
    }
    Ok(facts)
}

/// Returns notes on the entries of `network.allow` that a caller may take for servers of this machine.
fn own_loopback(policy: &Policy) -> Vec<String> {
    let Network::Allow { entries, .. } = &policy.network else { return Vec::new() };
    let loopback = entries.iter().filter(|entry| entry.host.is_own_loopback());
    let note = |entry: &AllowEntry| {
        format!(
            "confine.network.allow: {entry} is the commands' own loopback; for a server of this machine allow a name, \
             and map it in confine.network.hosts"
        )
    };
    loopback.map(note).collect()
}

/// Lets init begin.
fn begin(init: Pid, control: &OwnedFd) -> Result<(), Failure> {
    ids::map_ids(init).step(|| "the map of user ids".into())?;
    messages::send(control, START, 0, &[]).step(|| "the start of init".into())
}

/// Descriptors that init sends.
struct Received {
    namespaces: Namespaces,
    landlock: Option<OwnedFd>,
    watches: Option<[OwnedFd; 2]>,
}

fn receive(init: Pid, control: &OwnedFd, ended: OwnedFd) -> Result<(Received, Built), Failure> {
    let received = || -> io::Result<_> {
        let mut first = messages::expect(control, BUILT, PATIENCE)?.fds.into_iter();
        let mut next = || first.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        let built = match messages::unpack(next()?)? {
            Report::Built(built) => built,
            Report::Failed { step, errno } => return Ok(Err((step, errno))),
        };
        let [user, mounts, processes, ipc, names] = [next()?, next()?, next()?, next()?, next()?];
        let mut second = messages::expect(control, BUILT, PATIENCE)?.fds.into_iter();
        let mut next = || second.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        let proc = next()?;
        let terminals = built.terminals.then(&mut next).transpose()?;
        let network = built.network.then(&mut next).transpose()?;
        let gate = built.gate.then(&mut next).transpose()?;
        let landlock = built.landlock.then(&mut next).transpose()?;
        let watches = if built.watches { Some([next()?, next()?]) } else { None };
        let namespaces =
            Namespaces { init: Some(init), user, mounts, processes, ipc, names, network, gate, proc, terminals, ended };
        Ok(Ok((Received { namespaces, landlock, watches }, built)))
    };
    match received().step(|| "the answer of init".into())? {
        Ok(received) => Ok(received),
        Err((step, errno)) => Err(Failure { step, source: io::Error::from_raw_os_error(errno) }),
    }
}

/// Ends an init whose world cannot be used. Init removes its files.
fn abandon(init: Pid, control: OwnedFd) {
    // Init ends when this is closed. If init is stuck, the kernel ends it, and its files are swept later.
    drop(control);
    let ended = sys::open_pid(init).is_ok_and(|process| messages::is_readable(process.as_fd(), 1_000).unwrap_or(false));
    if !ended {
        sys::signal(init, Signal::SIGKILL);
    }
    let _ = nix::sys::wait::waitpid(init, None);
}
