//! The supervisor's side of making a world.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::begun::{Begun, NotBegun};
use super::failure::{Failure, Step};
use super::messages::{self, BUILT, Built, Order, POLICY, Report};
use super::ways::Obstacle;
use super::{Door, Freshness, HostPaths, NAMESPACES, Namespaces, World, fallback, ways};
use crate::{AllowEntry, Caches, Git, Network, Policy, Profile, Read, Tmp, Way, WorldError, WorldFacts};

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
    match Begun::now(place.state, policy.network != Network::Full, &[]) {
        Ok(begun) => finish(begun, policy, place),
        Err(NotBegun::NoNamespaces(failure)) => ways::after(policy, place, failure),
        Err(NotBegun::Step(failure)) => Err(failure.into()),
    }
}

/// Makes a world of a blank one that [`Begun::fits`].
///
/// # Errors
/// As [`build`].
pub fn finish(begun: Begun, policy: &Policy, place: &HostPaths<'_>) -> Result<World, WorldError> {
    let built = apply(&begun, policy, place).and_then(|()| receive(&begun));
    match built {
        Ok((_, built)) if built.missing.iter().any(|missing| policy.require.contains(&missing.part)) => {
            begun.abandon();
            ways::instead_of(policy, place, built.missing)
        }
        Ok((received, Built { missing, mut notes, write, .. })) => {
            let Begun { init, board, ended, control, private: [home, tmp], .. } = begun;
            let tmp = (policy.tmp == Tmp::Private).then_some(tmp);
            notes.extend(own_loopback(policy));
            let watched = received.watches.map(|watches| board.another().map(|board| Freshness::new(board, watches)));
            let freshness = watched.transpose().step(|| "a descriptor".into())?;
            let held = policy.held_without(&missing);
            let (way, home) = (Way::Namespaces, Some(home));
            let Received {
                spaces: [user, mounts, processes, ipc, names],
                proc,
                terminals,
                network,
                gate,
                landlock,
                ..
            } = received;
            let init = Some(init);
            let namespaces =
                Namespaces { init, user, mounts, processes, ipc, names, network, gate, proc, terminals, ended };
            Ok(World {
                namespaces: Some(namespaces),
                landlock,
                seatbelt: None,
                filter: World::usual_filter(),
                held: None,
                facts: WorldFacts {
                    held,
                    missing,
                    way,
                    write,
                    tmp,
                    home,
                    environment: Vec::new(),
                    notes,
                    begun: WorldFacts::now(),
                },
                board,
                door: Some(RefCell::new(Door::with(control, freshness))),
            })
        }
        Err(failure) => {
            begun.abandon();
            ways::after(policy, place, failure)
        }
    }
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

/// Gives init the policy. If init has failed before, its report says why.
fn apply(begun: &Begun, policy: &Policy, place: &HostPaths<'_>) -> Result<(), Failure> {
    let order = Order { policy: policy.clone(), readable: place.readable.to_vec(), watches: place.watches };
    let order = messages::pack(&order).step(|| "the policy of a world".into())?;
    let _ = messages::send(&begun.control, POLICY, 0, &[order.as_fd()]);
    Ok(())
}

/// Descriptors that init sends.
struct Received {
    spaces: [OwnedFd; 5],
    proc: OwnedFd,
    terminals: Option<OwnedFd>,
    network: Option<OwnedFd>,
    gate: Option<OwnedFd>,
    landlock: Option<OwnedFd>,
    watches: Option<[OwnedFd; 2]>,
}

fn receive(begun: &Begun) -> Result<(Received, Built), Failure> {
    let received = || -> io::Result<_> {
        let mut first = messages::expect(&begun.control, BUILT, PATIENCE)?.fds.into_iter();
        let mut next = || first.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        let built = match messages::unpack(next()?)? {
            Report::Built(built) => built,
            Report::Failed { step, errno } => return Ok(Err((step, errno))),
        };
        let spaces = [next()?, next()?, next()?, next()?, next()?];
        let mut second = messages::expect(&begun.control, BUILT, PATIENCE)?.fds.into_iter();
        let mut next = || second.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        let proc = next()?;
        let terminals = built.terminals.then(&mut next).transpose()?;
        let network = built.network.then(&mut next).transpose()?;
        let gate = built.gate.then(&mut next).transpose()?;
        let landlock = built.landlock.then(&mut next).transpose()?;
        let watches = if built.watches { Some([next()?, next()?]) } else { None };
        Ok(Ok((Received { spaces, proc, terminals, network, gate, landlock, watches }, built)))
    };
    match received().step(|| "the answer of init".into())? {
        Ok(received) => Ok(received),
        Err((step, errno)) => Err(Failure { step, source: io::Error::from_raw_os_error(errno) }),
    }
}
