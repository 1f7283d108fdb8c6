//! Builds a world from inside, in init.

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use super::WorldHostPaths;
use super::cache_overlays::PreparedOverlay;
use super::devices::DeviceCopies;
use super::git::GitDirectoryGrants;
use super::init_messages::BuiltWorldFacts;
use super::private_directory::PrivateDirectory;
use super::protection::PathProtection;
use super::shown_files::ShownFiles;
use super::step_failure::{StepContext, WorldStepFailure};
use super::{cache_overlays, devices, files, landlock_rules, network, remedy};
use confine_policy::{ConfinementPart, ConfinementPolicy, MissingPart, NetworkScope};
use sys::{NamespaceKind, NetworkSettings};

/// A world as init has built it.
pub(super) struct ConstructedWorld {
    pub built: BuiltWorldFacts,
    pub proc: OwnedFd,
    pub terminals: Option<OwnedFd>,
    pub network: Option<OwnedFd>,
    pub gate: Option<OwnedFd>,
    pub landlock: Option<OwnedFd>,
    pub protection: PathProtection,
    pub shown: ShownFiles,
    /// The file systems of the directories of which the world has a view.
    pub drafted: Vec<OwnedFd>,
}

/// The choices that are made before the policy of a world is known.
#[derive(Debug, Clone)]
pub(super) struct BlankWorldOptions {
    /// Whether the world has a network of its own.
    pub network: bool,
    /// The caches that are likely to be overlaid.
    pub caches: Vec<PathBuf>,
}

/// The parts of a world that no policy decides.
pub(super) struct BlankWorldBase {
    /// The network namespace, unless it is the host's.
    network: Option<OwnedFd>,
    /// The settings of the network, whose loopback is started.
    settings: Option<Result<NetworkSettings, WorldStepFailure>>,
    proc: OwnedFd,
    devices: DeviceCopies,
    /// The number of caches of the ground, and the overlays of those.
    caches: (usize, Vec<PreparedOverlay>),
}

impl BlankWorldBase {
    /// Makes the parts in this process, which is alone in its namespaces.
    pub fn prepare(ground: &BlankWorldOptions, private: &PrivateDirectory) -> Result<Self, WorldStepFailure> {
        let network = ground.network.then(|| sys::own_namespace(NamespaceKind::Network)).transpose();
        let network = network.at_step(|| "the network namespace".into())?;
        let settings = ground.network.then(network::start_loopback);
        let caches = (ground.caches.len(), cache_overlays::prepare_overlays(&ground.caches, private));
        Ok(Self { network, settings, proc: files::new_proc()?, devices: devices::copy_devices()?, caches })
    }
}

/// Builds the world in this process, on its base.
///
/// # Errors
/// If a step fails that every world needs. A step that belongs to one part only makes that part missing.
pub(super) fn build_world(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    private: &PrivateDirectory,
    base: BlankWorldBase,
) -> Result<ConstructedWorld, WorldStepFailure> {
    let BlankWorldBase { network, settings, proc, devices, caches } = base;
    let git = GitDirectoryGrants::of(policy, place.state);
    let policy = &git.added_to(policy);
    let mut built =
        BuiltWorldFacts { write: policy.write.clone(), notes: git.notes.clone(), ..BuiltWorldFacts::default() };
    let own_network = policy.network != NetworkScope::Full;
    let linked = settings.zip(network.as_ref()).map(|(settings, own)| network::connect_gate(policy, &settings?, own));
    let gate = match linked.transpose() {
        Ok(gate) => gate.flatten(),
        Err(failure) => {
            built.missing.push(missing_part(ConfinementPart::Network, failure)?);
            None
        }
    };
    let (protection, shown, terminals) =
        match files::arrange_mounts(policy, (git, devices, caches), (place, private), &mut built.notes) {
            Ok((protection, shown)) => (protection, shown, Some(files::mount_terminals()?)),
            Err(failure) => {
                built.missing.push(missing_part(ConfinementPart::Files, failure)?);
                (PathProtection::none(), ShownFiles::none(), None)
            }
        };
    let landlock = landlock_rules::ruleset(policy, place, own_network)?;
    (built.network, built.gate, built.landlock) = (network.is_some(), gate.is_some(), landlock.is_some());
    (built.terminals, built.watches) = (terminals.is_some(), protection.watches().is_some());
    // A git directory may not be granted any more.
    let drafted = policy.drafted().iter().map(|drafted| &drafted.base).filter(|base| policy.write.contains(base));
    let file_system = |base: &PathBuf| sys::file_system_of(&sys::open_unread(base)?);
    let drafted = drafted.map(file_system).collect::<io::Result<Vec<_>>>().at_step(|| "a drafted directory".into())?;
    built.drafted = drafted.len();
    Ok(ConstructedWorld { built, proc, terminals, network, gate, landlock, protection, shown, drafted })
}

/// Turns a failure into a missing part if this machine lacks a feature. Any other failure stays a failure.
fn missing_part(part: ConfinementPart, failure: WorldStepFailure) -> Result<MissingPart, WorldStepFailure> {
    match remedy::of_failure(&failure) {
        Some(remedy) => Ok(MissingPart { part, why: failure.describe(), remedy }),
        None => Err(failure),
    }
}
