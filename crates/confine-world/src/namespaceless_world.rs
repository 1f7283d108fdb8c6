//! Worlds without namespaces: on machines that have or permit none.

use std::path::Path;

use super::git::GitDirectoryGrants;
use super::listener_held_world::environment;
use super::private_directory::PrivateDirectory;
use super::secret_files::secret_files;
use super::step_failure::{StepContext, WorldStepFailure};
use super::usable_mechanisms::{UsableMechanisms, probe_mechanisms};
use super::{
    ConfinedWorld, ListenerHeldWorld, NAMESPACES, WorldCleanupProcess, WorldHostPaths, landlock_rules, remedy,
};
use crate::filter::SyscallFilterMode;
use confine_gate::WorldStatusBoard;
use confine_policy::{
    CacheAccess, ConfinementMechanism, ConfinementPart, ConfinementPolicy, MissingPart, NetworkScope, TmpPlacement,
    WorldError, WorldFacts,
};

/// Why a world has no namespaces, and the remedy, as sentences without their full stops.
#[derive(Debug, Clone)]
pub(super) struct NamespaceObstacle {
    why: String,
    remedy: String,
}

impl NamespaceObstacle {
    /// Returns the obstacle of a host that does without namespaces.
    pub fn switched_off() -> Self {
        let words = NAMESPACES.words();
        Self { why: format!("namespaces are turned off by {words}"), remedy: "unset that variable".to_owned() }
    }

    /// Returns the obstacle of a system that has none.
    pub fn of_system() -> Self {
        Self { why: "this system has no overlays".to_owned(), remedy: "use Linux".to_owned() }
    }

    /// Fails if a policy has a draft, without whose view commands would change the directory itself.
    ///
    /// # Errors
    /// [`WorldError::Missing`]
    pub fn check(&self, policy: &ConfinementPolicy) -> Result<(), WorldError> {
        let Self { why, remedy } = self.clone();
        match policy.draft {
            Some(_) => Err(WorldError::Missing(vec![MissingPart { part: ConfinementPart::Files, why, remedy }])),
            None => Ok(()),
        }
    }

    /// Returns the obstacle behind a failed step, or the failure if this machine is not its cause.
    fn of(failure: WorldStepFailure) -> Result<Self, WorldStepFailure> {
        match remedy::of_failure(&failure) {
            Some(remedy) => Ok(Self { why: failure.describe(), remedy }),
            None => Err(failure),
        }
    }
}

/// Returns a world without namespaces after a step of making them has failed.
///
/// # Errors
/// As [`without_namespaces`]. [`WorldError::Step`] if the machine is not the cause of the failure.
pub(super) fn after_failure(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    failure: WorldStepFailure,
) -> Result<ConfinedWorld, WorldError> {
    without_namespaces(policy, place, &NamespaceObstacle::of(failure)?)
}

/// Returns a world without namespaces in the place of one in which these parts are missing.
///
/// # Errors
/// [`WorldError::Missing`] with these parts, if no other way holds those that the policy requires.
pub(super) fn instead_of(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    missing: Vec<MissingPart>,
) -> Result<ConfinedWorld, WorldError> {
    let Some(MissingPart { why, remedy, .. }) = missing.first().cloned() else {
        return Err(WorldError::Missing(missing));
    };
    match without_namespaces(policy, place, &NamespaceObstacle { why, remedy }) {
        Err(WorldError::Missing(_)) => Err(WorldError::Missing(missing)),
        other => other,
    }
}

/// Returns a world without namespaces, with the first way that holds a part here.
///
/// # Errors
/// [`WorldError::Missing`] if the policy requires a part that the way does not hold. No later way holds more.
pub(super) fn without_namespaces(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    obstacle: &NamespaceObstacle,
) -> Result<ConfinedWorld, WorldError> {
    obstacle.check(policy)?;
    let tried = probe_mechanisms().at_step(|| "a process that tries to confine itself".into())?;
    let missing: Vec<_> = policy.wanted_parts().filter_map(|part| missing_part(tried, part, obstacle)).collect();
    if missing.iter().any(|missing| policy.require.contains(&missing.part)) {
        return Err(WorldError::Missing(missing));
    }
    if tried.performs {
        return listener_held_world(policy, place, tried, missing);
    }
    let place = WorldHostPaths { state: Path::new(""), readable: &[], watches: false };
    let landlock = if tried.landlock { landlock_rules::ruleset(policy, &place, false)? } else { None };
    let facts = WorldFacts {
        held: policy.held_without(&missing),
        missing,
        way: first_usable_mechanism(tried),
        write: policy.write.clone(),
        notes: limit_notes(policy, tried, sys::landlock_version()),
        ..WorldFacts::default()
    };
    let board = WorldStatusBoard::new().at_step(|| "a file without a name".into())?;
    Ok(ConfinedWorld {
        namespaces: None,
        landlock,
        seatbelt: None,
        filter: tried.filter,
        held: None,
        facts,
        board,
        door: None,
    })
}

/// Returns a world whose listeners hold its files.
fn listener_held_world(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    tried: UsableMechanisms,
    missing: Vec<MissingPart>,
) -> Result<ConfinedWorld, WorldError> {
    let git = GitDirectoryGrants::of(policy, place.state);
    let mut policy = git.added_to(policy);
    // A file in a write root could otherwise be moved from under its cover.
    policy.protect.extend(secret_files(&policy).map(|(at, _)| at.to_owned()).collect::<Vec<_>>());
    let mut notes = git.notes.clone();
    notes.extend(of_listener(&policy, tried));
    let landlock = if tried.landlock { landlock_rules::second_guard(&policy)? } else { None };
    let board = WorldStatusBoard::new().at_step(|| "a file without a name".into())?;
    let private = PrivateDirectory::create(place.state);
    let private = private.at_step(|| format!("a private directory in {}", place.state.display()))?;
    let held = ListenerHeldWorld::create(&policy, git, &private).inspect_err(|_| private.remove());
    let held = held.at_step(|| "the private directories".into())?;
    let facts = WorldFacts {
        held: policy.held_without(&missing),
        missing,
        way: ConfinementMechanism::Listener,
        write: policy.write.clone(),
        environment: environment(&policy, &private),
        home: Some(private.path.clone()),
        tmp: (policy.tmp == TmpPlacement::Private).then(|| private.tmp()),
        notes,
        begun: WorldFacts::current_file_time(),
    };
    let keeper =
        WorldCleanupProcess::start(private).at_step(|| "a process that keeps the private directories".into())?;
    let (filter, held) = (Some(SyscallFilterMode::Performed), Some((held, keeper)));
    Ok(ConfinedWorld { namespaces: None, landlock, seatbelt: None, filter, held, facts, board, door: None })
}

/// Returns the first way that works.
fn first_usable_mechanism(tried: UsableMechanisms) -> ConfinementMechanism {
    match tried {
        UsableMechanisms { performs: true, .. } => ConfinementMechanism::Listener,
        UsableMechanisms { filter: None, landlock: false, .. } => ConfinementMechanism::None,
        UsableMechanisms { landlock: true, .. } => ConfinementMechanism::Landlock,
        UsableMechanisms { .. } => ConfinementMechanism::Filter,
    }
}

/// Returns why a part is missing. `None`: it is held.
fn missing_part(tried: UsableMechanisms, part: ConfinementPart, obstacle: &NamespaceObstacle) -> Option<MissingPart> {
    let NamespaceObstacle { why, remedy } = obstacle.clone();
    match part {
        ConfinementPart::Syscalls if tried.filter.is_some() => None,
        ConfinementPart::Files | ConfinementPart::Network | ConfinementPart::Processes if tried.performs => None,
        ConfinementPart::Syscalls => Some(MissingPart {
            part,
            why: "no filter of system calls (seccomp) can be installed".to_owned(),
            remedy: "use a kernel that was built with CONFIG_SECCOMP_FILTER, and a container that permits seccomp"
                .to_owned(),
        }),
        _ => Some(MissingPart { part, why, remedy }),
    }
}

/// Returns notes on the limits of a way. `version` is that of Landlock.
fn limit_notes(policy: &ConfinementPolicy, tried: UsableMechanisms, version: u32) -> Vec<String> {
    let mut notes = Vec::new();
    match (tried.landlock, tried.filter) {
        (true, _) => notes.extend(of_landlock(policy, version)),
        (false, Some(_)) => notes.push("no file is confined: this system has no Landlock".to_owned()),
        (false, None) => notes.push("nothing confines the command".to_owned()),
    }
    if policy.tmp == TmpPlacement::Private {
        notes.push("/tmp, /var/tmp and /dev/shm are those of this machine".to_owned());
    }
    if tried.filter != Some(SyscallFilterMode::Confined) {
        notes.push("denials are not reported: no process can answer the command's system calls here".to_owned());
    }
    notes
}

/// Returns notes on the differences of a world whose listeners hold its files.
fn of_listener(policy: &ConfinementPolicy, tried: UsableMechanisms) -> Vec<String> {
    let mut notes = Vec::new();
    if !tried.landlock {
        notes.push("there is no second guard behind the listener: this system has no Landlock".to_owned());
    }
    if policy.tmp == TmpPlacement::Private {
        notes.push(
            "TMPDIR names a private directory, /tmp and /var/tmp are closed, and /dev/shm has the commands' own entries"
                .to_owned(),
        );
    }
    if policy.caches.0 == CacheAccess::Overlay {
        notes.push("variables name private directories for the caches of package managers".to_owned());
    }
    if secret_files(policy).next().is_some() {
        let note = "the files of secrets are replaced when they are opened; their names, sizes and times are those of \
                    this machine";
        notes.push(note.to_owned());
    }
    notes
}

/// Returns notes on how far this version of Landlock confines a command.
fn of_landlock(policy: &ConfinementPolicy, version: u32) -> Vec<String> {
    let files = "Landlock alone confines the files: contents and names outside cannot be changed, but modes, owners and \
                 times can, and hidden files can be read";
    let mut notes = vec![files.to_owned()];
    if version < 2 {
        notes.push("no file can be moved to another directory (before Linux 5.19)".to_owned());
    }
    if version < 3 {
        notes.push("files outside can be emptied by their paths (before Linux 6.2)".to_owned());
    }
    if version >= 4 && policy.network != NetworkScope::Full {
        notes.push("TCP is refused altogether, the loopback included".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    const LISTENER: UsableMechanisms = UsableMechanisms { performs: true, ..ALL };
    const ALL: UsableMechanisms =
        UsableMechanisms { landlock: true, filter: Some(SyscallFilterMode::Confined), performs: false };
    const SILENT: UsableMechanisms =
        UsableMechanisms { landlock: true, filter: Some(SyscallFilterMode::Silent), performs: false };
    const FILTER: UsableMechanisms =
        UsableMechanisms { landlock: false, filter: Some(SyscallFilterMode::Silent), performs: false };
    const LANDLOCK: UsableMechanisms = UsableMechanisms { landlock: true, filter: None, performs: false };
    const NONE: UsableMechanisms = UsableMechanisms { landlock: false, filter: None, performs: false };

    fn held(tried: UsableMechanisms) -> Vec<ConfinementPart> {
        let policy = ConfinementPolicy::sample(Path::new("/work"));
        let obstacle = NamespaceObstacle::switched_off();
        let missing: Vec<_> = policy.wanted_parts().filter_map(|part| missing_part(tried, part, &obstacle)).collect();
        policy.held_without(&missing)
    }

    #[test]
    fn a_way_holds_what_its_table_says() {
        for tried in [LISTENER, ALL, SILENT, FILTER, NONE] {
            let way = first_usable_mechanism(tried);
            let promised: Vec<_> = ConfinementPart::ALL.into_iter().filter(|part| way.needs(*part).is_some()).collect();
            assert_eq!(held(tried), promised, "{way:?}");
        }
        assert_eq!(first_usable_mechanism(LISTENER), ConfinementMechanism::Listener);
        assert_eq!(
            [ALL, SILENT, FILTER, NONE].map(first_usable_mechanism),
            [
                ConfinementMechanism::Landlock,
                ConfinementMechanism::Landlock,
                ConfinementMechanism::Filter,
                ConfinementMechanism::None
            ]
        );
        // A kernel with Landlock and without seccomp.
        assert_eq!((first_usable_mechanism(LANDLOCK), held(LANDLOCK)), (ConfinementMechanism::Landlock, Vec::new()));
    }

    #[test]
    fn notes_tell_what_is_not_confined() {
        let policy = ConfinementPolicy { tmp: TmpPlacement::Shared, ..ConfinementPolicy::sample(Path::new("/work")) };
        let text = |tried, version| limit_notes(&policy, tried, version).join("\n");
        for (version, has) in
            [(1, [true, true, false]), (2, [false, true, false]), (3, [false; 3]), (4, [false, false, true])]
        {
            let text = text(ALL, version);
            let words = ["moved to another directory", "can be emptied", "TCP is refused"];
            assert_eq!(words.map(|words| text.contains(words)), has, "{version}: {text}");
        }
        assert!(text(ALL, 6).starts_with("Landlock alone confines the files"));
        assert!(!text(ALL, 6).contains("denials") && text(SILENT, 6).contains("denials are not reported"));
        assert!(text(FILTER, 0).starts_with("no file is confined"));
        assert!(text(NONE, 0).starts_with("nothing confines the command"));
        let open = ConfinementPolicy { network: NetworkScope::Full, ..policy.clone() };
        assert!(!limit_notes(&open, ALL, 6).join("").contains("TCP"));
    }

    #[test]
    fn notes_tell_what_is_different_with_a_listener() {
        let policy = ConfinementPolicy::sample(Path::new("/work"));
        let text = of_listener(&policy, LISTENER).join("\n");
        assert!(text.contains("TMPDIR names a private directory") && !text.contains("second guard"), "{text}");
        let text = of_listener(&policy, UsableMechanisms { landlock: false, ..LISTENER }).join("\n");
        assert!(text.contains("no second guard") && !text.contains("TCP"), "{text}");
        let shared = ConfinementPolicy { tmp: TmpPlacement::Shared, network: NetworkScope::Full, ..policy };
        assert!(of_listener(&shared, LISTENER).is_empty());
    }

    #[test]
    fn a_failure_of_another_cause_makes_no_world() {
        let failure =
            |errno| WorldStepFailure { step: "a mount".to_owned(), source: io::Error::from_raw_os_error(errno) };
        assert!(NamespaceObstacle::of(failure(libc::EIO)).is_err());
        let obstacle = NamespaceObstacle::of(failure(libc::ENOSYS)).expect("an obstacle");
        assert!(obstacle.why.starts_with("a mount failed: ") && !obstacle.remedy.is_empty());
    }
}
