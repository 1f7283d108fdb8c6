//! The ruleset of Landlock for a world. It is a second line of defence behind the world's mounts, and the first line
//! without them.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::WorldHostPaths;
use super::step_failure::{StepContext, WorldStepFailure};
use confine_policy::{CacheAccess, ConfinementPolicy, NetworkScope, ReadScope, SYSTEM};
use sys::{FileRight, LandlockRestrictions, LandlockRuleset};

/// Returns the ruleset, with paths as they are in this process's mount namespace. `None`: this kernel's Landlock is
/// missing or too old. `has_world`: whether namespaces confine the network and processes already.
pub(super) fn ruleset(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    has_world: bool,
) -> Result<Option<OwnedFd>, WorldStepFailure> {
    // Version 1 refuses every rename between directories, and mounts confine the files of a world without it.
    if sys::landlock_version() < if has_world { 2 } else { 1 } {
        return Ok(None);
    }
    let own_network = has_world && policy.network != NetworkScope::Full;
    let with = LandlockRestrictions {
        reads: true,
        tcp: !has_world && policy.network != NetworkScope::Full,
        abstract_sockets: !own_network,
        // A later command must be able to end processes that an earlier command left. A pid namespace has no other
        // processes.
        signals: !has_world,
    };
    let ruleset = LandlockRuleset::new(with).at_step(|| "a ruleset of Landlock".into())?;
    for (path, right) in granted_rights(policy, place, has_world) {
        let Ok(opened) = sys::open_unread(&path) else { continue };
        let is_directory = opened.metadata().is_ok_and(|data| data.is_dir());
        ruleset.grant(&opened, right, is_directory).at_step(|| format!("a rule for {}", path.display()))?;
    }
    Ok(Some(ruleset.into_fd()))
}

/// Returns the ruleset of commands whose listener performs what opens, changes or names a file. They may change nothing
/// by themselves, and each descriptor keeps the rights of the process that has opened it. `None`: there is no Landlock.
pub(super) fn second_guard(policy: &ConfinementPolicy) -> Result<Option<OwnedFd>, WorldStepFailure> {
    if sys::landlock_version() == 0 {
        return Ok(None);
    }
    // A command may execute any program, and the kernel reads it then.
    let with = LandlockRestrictions {
        reads: false,
        tcp: policy.network != NetworkScope::Full,
        abstract_sockets: true,
        signals: true,
    };
    Ok(Some(LandlockRuleset::new(with).at_step(|| "a ruleset of Landlock".into())?.into_fd()))
}

/// Returns all paths with the rights that commands have there. Mounts restrict some rights further.
fn granted_rights(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    has_world: bool,
) -> Vec<(PathBuf, FileRight)> {
    let mut grants: Vec<(PathBuf, FileRight)> = Vec::new();
    let mut grant = |right: FileRight, paths: &mut dyn Iterator<Item = &Path>| {
        grants.extend(paths.map(|path| (path.to_owned(), right)));
    };
    match &policy.read {
        ReadScope::All => grant(FileRight::Read, &mut [Path::new("/")].into_iter()),
        ReadScope::Only(paths) => {
            grant(FileRight::Read, &mut paths.iter().map(PathBuf::as_path));
            grant(FileRight::Read, &mut SYSTEM.iter().map(Path::new));
            if has_world {
                // Other entries of `/` are covered.
                grant(FileRight::List, &mut [Path::new("/")].into_iter());
            }
        }
    }
    grant(FileRight::Read, &mut place.readable.iter().map(PathBuf::as_path));
    grant(FileRight::Change, &mut policy.write.iter().map(PathBuf::as_path));
    if policy.caches.0 == CacheAccess::Shared || (has_world && policy.caches.0 == CacheAccess::Overlay) {
        grant(FileRight::Change, &mut policy.caches.1.iter().map(PathBuf::as_path));
    }
    // Without a world these are the machine's directories, because programs cannot work without them.
    grant(FileRight::Change, &mut ["/tmp", "/var/tmp", "/dev/shm"].into_iter().map(Path::new));
    grant(FileRight::Use, &mut ["/dev"].into_iter().map(Path::new));
    if has_world {
        // Processes may write their own files. The machine's files are mounted read-only.
        grant(FileRight::Use, &mut ["/proc"].into_iter().map(Path::new));
    }
    grants
}
