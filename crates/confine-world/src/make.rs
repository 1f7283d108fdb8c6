//! The supervisor's side of making a world.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::blank_world::{BlankWorld, BlankWorldError};
use super::init_messages::{self, BUILT, BuiltWorldFacts, POLICY, WorldBuildOrder, WorldBuildReport};
use super::namespaceless_world::NamespaceObstacle;
use super::step_failure::{StepContext, WorldStepFailure};
use super::{
    ConfinedWorld, GuardFreshness, InitConnection, NAMESPACES, WorldHostPaths, WorldNamespaces, macos_world,
    namespaceless_world,
};
use confine_policy::{
    AllowEntry, CacheAccess, ConfinementMechanism, ConfinementPolicy, GitScope, NetworkScope, PolicyProfile, ReadScope,
    TmpPlacement, WorldError, WorldFacts, WorldSecrets,
};

/// Time init may take to build a world, ms. A large tree with a cold cache is scanned meanwhile.
const PATIENCE: u16 = 60_000;

/// Makes a world. This process has one thread. It reaps init, whose pid is in [`WorldNamespaces`].
///
/// # Errors
/// [`WorldError::Missing`] if a part that the policy requires cannot be held.
pub fn build(policy: &ConfinementPolicy, place: &WorldHostPaths<'_>) -> Result<ConfinedWorld, WorldError> {
    if let Some(world) = without_namespaces(policy, place) {
        return world;
    }
    match BlankWorld::begin(place.state, policy.network != NetworkScope::Full, &[]) {
        Ok(begun) => finish_world(begun, policy, place),
        Err(BlankWorldError::NoNamespaces(failure)) => namespaceless_world::after_failure(policy, place, failure),
        Err(BlankWorldError::Step(failure)) => Err(failure.into()),
    }
}

/// Makes a world of a blank one that [`BlankWorld::fits`].
///
/// # Errors
/// As [`build`].
pub fn finish_world(
    begun: BlankWorld,
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
) -> Result<ConfinedWorld, WorldError> {
    let built = send_policy(&begun, policy, place).and_then(|()| receive(&begun));
    match built {
        Ok((_, built)) if built.missing.iter().any(|missing| policy.require.contains(&missing.part)) => {
            begun.abandon();
            namespaceless_world::instead_of(policy, place, built.missing)
        }
        Ok((received, BuiltWorldFacts { missing, mut notes, write, .. })) => {
            let BlankWorld { init, board, ended, control, private: [home, tmp], .. } = begun;
            let tmp = (policy.tmp == TmpPlacement::Private).then_some(tmp);
            notes.extend(own_loopback(policy));
            let drafted = received.drafted;
            let fresh = |watches| io::Result::Ok(GuardFreshness::new(board.try_clone()?, watches, drafted));
            let freshness = received.watches.map(fresh).transpose().at_step(|| "a descriptor".into())?;
            let held = policy.held_without(&missing);
            let (way, home) = (ConfinementMechanism::Namespaces, Some(home));
            let WorldDescriptors {
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
                WorldNamespaces { init, user, mounts, processes, ipc, names, network, gate, proc, terminals, ended };
            Ok(ConfinedWorld {
                namespaces: Some(namespaces),
                landlock,
                seatbelt: None,
                filter: ConfinedWorld::usual_filter(),
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
                    begun: WorldFacts::current_file_time(),
                },
                board,
                door: Some(RefCell::new(InitConnection::from_socket(control, freshness))),
            })
        }
        Err(failure) => {
            begun.abandon();
            namespaceless_world::after_failure(policy, place, failure)
        }
    }
}

/// Makes a world on a system that has no namespaces, or for a host that does without them. `None`: they are tried.
fn without_namespaces(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
) -> Option<Result<ConfinedWorld, WorldError>> {
    if sys::HAS_SEATBELT {
        let made = NamespaceObstacle::of_system().check(policy);
        return Some(made.and_then(|()| macos_world::with_seatbelt(policy, place)));
    }
    NAMESPACES
        .is_off()
        .then(|| namespaceless_world::without_namespaces(policy, place, &NamespaceObstacle::switched_off()))
}

/// Tries to make a world with all parts, and returns the parts that can be held here. This process has one thread.
///
/// # Errors
/// If a step fails that should not fail on this machine.
pub fn probe(state: &Path) -> Result<WorldFacts, WorldError> {
    let policy = ConfinementPolicy {
        profile: PolicyProfile::ReadOnly,
        root: PathBuf::from("/"),
        write: Vec::new(),
        draft: None,
        git: GitScope::None,
        protect: Vec::new(),
        hide: Vec::new(),
        read: ReadScope::All,
        network: NetworkScope::Allow { entries: Vec::new(), hosts: BTreeMap::new() },
        expose: Vec::new(),
        tmp: TmpPlacement::Private,
        caches: (CacheAccess::None, Vec::new()),
        require: Vec::new(),
        secrets: WorldSecrets::default(),
        ssh: None,
    };
    let world = build(&policy, &WorldHostPaths { state, readable: &[], watches: false })?;
    let (facts, first) = (world.facts.clone(), world.lifetime_process());
    drop(world);
    if let Some(first) = first {
        let _ = nix::sys::wait::waitpid(first, None);
    }
    Ok(facts)
}

/// Returns notes on the entries of `network.allow` that a caller may take for servers of this machine.
fn own_loopback(policy: &ConfinementPolicy) -> Vec<String> {
    let NetworkScope::Allow { entries, .. } = &policy.network else { return Vec::new() };
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
fn send_policy(
    begun: &BlankWorld,
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
) -> Result<(), WorldStepFailure> {
    let order = WorldBuildOrder { policy: policy.clone(), readable: place.readable.to_vec(), watches: place.watches };
    let order = init_messages::pack(&order).at_step(|| "the policy of a world".into())?;
    let _ = init_messages::send(&begun.control, POLICY, 0, &[order.as_fd()]);
    Ok(())
}

/// Descriptors that init sends.
struct WorldDescriptors {
    spaces: [OwnedFd; 5],
    proc: OwnedFd,
    terminals: Option<OwnedFd>,
    network: Option<OwnedFd>,
    gate: Option<OwnedFd>,
    landlock: Option<OwnedFd>,
    watches: Option<[OwnedFd; 2]>,
    drafted: Vec<OwnedFd>,
}

fn receive(begun: &BlankWorld) -> Result<(WorldDescriptors, BuiltWorldFacts), WorldStepFailure> {
    let received = || -> io::Result<_> {
        let mut first = init_messages::receive_within(&begun.control, BUILT, PATIENCE)?.fds.into_iter();
        let mut next = || first.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        let built = match init_messages::unpack(next()?)? {
            WorldBuildReport::Built(built) => built,
            WorldBuildReport::Failed { step, errno } => return Ok(Err((step, errno))),
        };
        let spaces = [next()?, next()?, next()?, next()?, next()?];
        let mut second = init_messages::receive_within(&begun.control, BUILT, PATIENCE)?.fds.into_iter();
        let mut next = || second.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
        let proc = next()?;
        let terminals = built.terminals.then(&mut next).transpose()?;
        let network = built.network.then(&mut next).transpose()?;
        let gate = built.gate.then(&mut next).transpose()?;
        let landlock = built.landlock.then(&mut next).transpose()?;
        let watches = if built.watches { Some([next()?, next()?]) } else { None };
        let drafted = (0..built.drafted).map(|_| next()).collect::<Result<_, _>>()?;
        Ok(Ok((WorldDescriptors { spaces, proc, terminals, network, gate, landlock, watches, drafted }, built)))
    };
    match received().at_step(|| "the answer of init".into())? {
        Ok(received) => Ok(received),
        Err((step, errno)) => Err(WorldStepFailure { step, source: io::Error::from_raw_os_error(errno) }),
    }
}
