//! Worlds on macOS.

use super::private_directory::{PrivateDirectory, WorldLeftovers};
use super::step_failure::{StepContext, WorldStepFailure};
use super::{ConfinedWorld, SeatbeltProfileSource, WorldHostPaths};
use confine_gate::WorldStatusBoard;
use confine_policy::{
    CacheAccess, ConfinementMechanism, ConfinementPart, ConfinementPolicy, MissingPart, NetworkScope, TmpPlacement,
    WorldError, WorldFacts,
};

/// Returns a world whose commands have profiles of Seatbelt.
///
/// # Errors
/// [`WorldError::Missing`] if the policy requires a part that Seatbelt cannot hold.
pub(super) fn with_seatbelt(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
) -> Result<ConfinedWorld, WorldError> {
    let missing = missing_parts(policy);
    if missing.iter().any(|missing| policy.require.contains(&missing.part)) {
        return Err(WorldError::Missing(missing));
    }
    if let Some(leftovers) = WorldLeftovers::of(place.state) {
        leftovers.remove();
    }
    let is_private = policy.tmp == TmpPlacement::Private;
    let private = is_private.then(|| PrivateDirectory::create(place.state)).transpose();
    let private = private.at_step(|| format!("a private directory in {}", place.state.display()))?;
    let tmp = private.as_ref().map(PrivateDirectory::tmp);
    let mut seatbelt = SeatbeltProfileSource::new(policy, private);
    // A path that no profile can name is reported now.
    seatbelt.profile().map_err(|source| WorldStepFailure { step: "a profile of Seatbelt".to_owned(), source })?;
    let facts = WorldFacts {
        held: policy.held_without(&missing),
        missing,
        way: ConfinementMechanism::Seatbelt,
        write: policy.write.clone(),
        environment: tmp.iter().map(|tmp| ("TMPDIR".to_owned(), Some(tmp.display().to_string()))).collect(),
        tmp,
        home: None,
        notes: limit_notes(policy),
        begun: WorldFacts::current_file_time(),
    };
    let board = WorldStatusBoard::new().at_step(|| "a file without a name".into())?;
    Ok(ConfinedWorld {
        namespaces: None,
        landlock: None,
        seatbelt: Some(seatbelt),
        filter: None,
        held: None,
        facts,
        board,
        door: None,
    })
}

/// Returns the parts that a policy asks for and Seatbelt cannot hold.
fn missing_parts(policy: &ConfinementPolicy) -> Vec<MissingPart> {
    let mut missing = Vec::new();
    if matches!(policy.network, NetworkScope::Allow { .. }) {
        let remedy = match policy.secrets.rules.is_empty() {
            true => {
                "use network: 'none', or leave 'network' out of require: then every host can be reached at the ports of \
                 the list"
            }
            false => "use Linux: secrets need it",
        };
        let (why, remedy) = ("Seatbelt knows ports and no hosts".to_owned(), remedy.to_owned());
        missing.push(MissingPart { part: ConfinementPart::Network, why, remedy });
    }
    missing.push(MissingPart {
        part: ConfinementPart::Syscalls,
        why: "Seatbelt judges operations and no system calls".to_owned(),
        remedy: "leave 'syscalls' out of require".to_owned(),
    });
    missing
}

fn limit_notes(policy: &ConfinementPolicy) -> Vec<String> {
    let mut notes = vec!["Seatbelt confines the command, and reports no denials".to_owned()];
    if policy.tmp == TmpPlacement::Private {
        notes.push("/tmp and /var/tmp are read-only, and TMPDIR names a private directory".to_owned());
    }
    if policy.caches.0 == CacheAccess::Overlay {
        notes.push("caches of package managers are read-only".to_owned());
    }
    if policy.network != NetworkScope::Full {
        notes.push("the loopback is that of this machine, and only the ports of expose can be used".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::*;
    use confine_policy::{AllowEntry, AllowHost};

    fn policy(root: &Path) -> ConfinementPolicy {
        ConfinementPolicy {
            protect: [".git/hooks", ".git/config", ".vscode", ".idea/x"].map(PathBuf::from).into(),
            require: vec![ConfinementPart::Files, ConfinementPart::Network, ConfinementPart::Processes],
            ..ConfinementPolicy::sample(root)
        }
    }

    fn world(policy: &ConfinementPolicy, state: &Path) -> Result<ConfinedWorld, WorldError> {
        with_seatbelt(policy, &WorldHostPaths { state, readable: &[], watches: false })
    }

    fn protecting(world: &mut ConfinedWorld) -> (String, String) {
        let text = world.seatbelt.as_mut().expect("Seatbelt").profile().expect("a profile");
        let text = text.into_string().expect("UTF-8").replace("\n  ", " ");
        let rules = |start| text.lines().filter(|line| line.starts_with(start)).collect::<Vec<_>>().join("\n");
        (rules("(deny file-write* "), rules("(deny file-write-unlink "))
    }

    #[test]
    fn new_repositories_are_protected_before_the_next_command() {
        let scene = tempfile::tempdir().expect("a directory");
        let root = scene.path().canonicalize().expect("a path").join("work");
        fs::create_dir(&root).expect("made");
        let mut world = world(&policy(&root), &scene.path().join("state")).expect("a world");
        let (protected, pinned) = protecting(&mut world);
        let at = |path: &str| format!("\"{}\"", root.join(path).display());
        assert!(protected.contains(&at(".vscode")) && !protected.contains(".git/hooks"), "{protected}");
        // The directory above does not exist, and another directory with the rest in it could take its place.
        assert!(protected.contains(&at(".idea")) && !protected.contains(&at(".idea/x")), "{protected}");
        assert!(!pinned.contains(".git"), "{pinned}");
        for directory in ["sub/.git/hooks", "sub/.git/objects", ".idea"] {
            fs::create_dir_all(root.join(directory)).expect("made");
        }
        std::os::unix::fs::symlink("elsewhere", root.join("sub/.vscode")).expect("linked");
        fs::write(root.join("sub/elsewhere"), "").expect("written");
        let (protected, pinned) = protecting(&mut world);
        for path in ["sub/.git/hooks", "sub/.git/config", "sub/.vscode", "sub/elsewhere", ".idea/x"] {
            assert!(protected.contains(&at(path)), "{path}: {protected}");
        }
        assert!(pinned.contains(&at("sub/.git")) && pinned.contains(&at("sub")), "{pinned}");
    }

    #[test]
    fn what_cannot_be_held_is_refused_or_told() {
        let scene = tempfile::tempdir().expect("a directory");
        let root = scene.path().canonicalize().expect("a path");
        let state = root.join("state");
        let all = ConfinementPolicy { require: ConfinementPart::ALL.into(), ..policy(&root) };
        let Err(WorldError::Missing(missing)) = world(&all, &state) else { panic!("a world") };
        assert_eq!(missing.iter().map(|missing| missing.part).collect::<Vec<_>>(), [ConfinementPart::Syscalls]);
        let entry = AllowEntry { host: AllowHost::Name("example.org".into()), port: None };
        let listed = NetworkScope::Allow { entries: vec![entry], hosts: std::collections::BTreeMap::new() };
        assert!(world(&ConfinementPolicy { network: listed.clone(), ..policy(&root) }, &state).is_err());
        let told = world(
            &ConfinementPolicy { network: listed, require: vec![ConfinementPart::Files], ..policy(&root) },
            &state,
        );
        let facts = told.expect("a world").facts;
        assert_eq!(facts.held, [ConfinementPart::Files, ConfinementPart::Processes]);
        assert_eq!(facts.missing.len(), 2);
    }

    #[test]
    fn the_private_tmp_is_named_by_a_variable_and_swept_after_the_world() {
        let scene = tempfile::tempdir().expect("a directory");
        let root = scene.path().canonicalize().expect("a path");
        let state = root.join("state");
        let first = world(&policy(&root), &state).expect("a world");
        let tmp = first.facts.tmp.clone().expect("a directory");
        assert_eq!(first.facts.environment, [("TMPDIR".to_owned(), tmp.to_str().map(str::to_owned))]);
        drop(world(&policy(&root), &state).expect("another world"));
        assert!(tmp.is_dir());
        drop(first);
        drop(world(&ConfinementPolicy { tmp: TmpPlacement::Shared, ..policy(&root) }, &state).expect("a third world"));
        assert!(!tmp.exists());
    }
}
