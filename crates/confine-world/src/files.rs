//! The files of a world: the host's, read-only, with writable, private and hidden places in them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::WorldHostPaths;
use super::cache_overlays::PreparedOverlay;
use super::devices::DeviceCopies;
use super::empty_covers::EmptyCovers;
use super::git::GitDirectoryGrants;
use super::hidden_covers::{HiddenPathCovers, OverlaidDirectory, StandInFiles};
use super::mount_layers::{LayerKind, MountLayer};
use super::mount_table::MountTable;
use super::path_ends::PathEnds;
use super::private_directory::PrivateDirectory;
use super::protection::PathProtection;
use super::secret_files::{self, is_secret_file};
use super::shown_files::ShownFiles;
use super::step_failure::{StepContext, WorldStepFailure};
use super::{cache_overlays, devices, mount_layers, overlay_mount, read_scope_veils};
use confine_policy::{ConfinementPolicy, NetworkScope, OF_MACHINE, ReadScope, TmpPlacement, outermost_paths};
use sys::MountFlags;

/// Arranges the mounts of this process's namespace. `policy` has the granted git directories among its write roots.
/// Adds a note for each difference from the policy.
pub(super) fn arrange_mounts(
    policy: &ConfinementPolicy,
    (git, devices, before): (GitDirectoryGrants, DeviceCopies, (usize, Vec<PreparedOverlay>)),
    (place, private): (&WorldHostPaths<'_>, &PrivateDirectory),
    notes: &mut Vec<String>,
) -> Result<(PathProtection, ShownFiles), WorldStepFailure> {
    sys::stop_propagation().at_step(|| "the mounts of a world".into())?;
    let mounts = MountTable::of_this_namespace();
    // Copies come first, because the later steps cover their sources or make them read-only.
    let mut found = writable_layers(policy, &git)?;
    found.extend(temporary_layers(policy, private)?);
    found.extend(cache_overlays::cache_layers(policy, private, before, notes)?);
    let mut stand_ins = StandInFiles::new();
    found.extend(secret_files::secret_layers(policy, private, &mut stand_ins)?);
    let own = private_mounts(policy);
    found.extend(readable_layers(policy, place)?);
    let shared = devices::shared_memory(policy.tmp)?;
    let whole = policy.write.iter().any(|root| root == Path::new("/"));
    let flags = MountFlags { read_only: !whole, ..MountFlags::NO_DEVICES };
    sys::restrict_path(Path::new("/"), flags, true).at_step(|| "read-only mounts".into())?;
    let blanks = EmptyCovers::new()?;
    add_resolver(policy, &blanks, &mut stand_ins)?;
    found.extend(stand_in_layers(&stand_ins)?);
    attach_proc(&blanks)?;
    devices::mount_devices(devices, shared)?;
    let (mut named, mut aims) = hidden_paths(policy, place, &mounts);
    named.retain(|path| is_there(path, policy, &found));
    aims.present.retain(|path, _| is_there(path, policy, &found));
    found.extend(aims.present.keys().map(|at| MountLayer { at: at.clone(), what: LayerKind::Hidden }));
    found.extend(read_scope_veils::veil_layers(policy, &found)?);
    let shown = ShownFiles::open_before_covering(policy, &found);
    let overlaid = open_overlaid(policy, &stand_ins);
    mount_layers::attach_layers(found, policy.drafted(), &blanks)?;
    let hidden = HiddenPathCovers::new(named, &policy.write, (mounts, aims), (blanks, stand_ins, overlaid));
    let hidden = hidden.at_step(|| "the hidden files".into())?;
    let protection = PathProtection::new(policy, git, (own, hidden), place.watches);
    let protection = protection.at_step(|| "the protected files".into())?;
    Ok((protection, shown))
}

/// Returns the mounts through which files of the world can be changed. No other mount permits changes.
fn writable_layers(policy: &ConfinementPolicy, git: &GitDirectoryGrants) -> Result<Vec<MountLayer>, WorldStepFailure> {
    let roots = policy.write.iter().filter(|root| *root != Path::new("/"));
    let layer = |root: &PathBuf| match (policy.drafted_at(root), git.open(root)) {
        (Some(drafted), _) => MountLayer::of(overlay_mount::view_of(drafted), root, MountFlags::NO_DEVICES)
            .at_step(|| format!("the draft of {}", root.display())),
        (None, Some(directory)) => {
            let tree = sys::copy_tree_at(directory.as_fd(), Path::new(""));
            MountLayer::of(tree, root, MountFlags::NO_DEVICES).at_step(|| format!("the mount of {}", root.display()))
        }
        (None, None) => MountLayer::copy(root, root, MountFlags::NO_DEVICES),
    };
    roots.map(layer).collect()
}

fn temporary_layers(
    policy: &ConfinementPolicy,
    private: &PrivateDirectory,
) -> Result<Vec<MountLayer>, WorldStepFailure> {
    const PLACES: [(&str, &str); 2] = [("/tmp", "tmp"), ("/var/tmp", "var-tmp")];
    let mut found = Vec::new();
    for (at, name) in PLACES {
        let at = Path::new(at);
        // One path may be a link to the other.
        if fs::canonicalize(at).is_ok_and(|real| real == at) && !policy.write.iter().any(|root| root == at) {
            let source = match policy.tmp {
                TmpPlacement::Private => private.path.join(name),
                TmpPlacement::Shared => at.to_owned(),
            };
            found.push(MountLayer::copy(&source, at, MountFlags::NO_DEVICES)?);
        }
    }
    Ok(found)
}

/// Returns the places at which private files are or may be mounted.
fn private_mounts(policy: &ConfinementPolicy) -> Vec<PathBuf> {
    policy.caches.1.iter().cloned().chain(["/tmp", "/var/tmp"].map(PathBuf::from)).collect()
}

/// Returns files and directories that can be read although a private directory would cover them.
fn readable_layers(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
) -> Result<Vec<MountLayer>, WorldStepFailure> {
    let is_writable = |path: &Path| policy.write.iter().any(|root| path.starts_with(root));
    let is_covered = |path: &&PathBuf| path.starts_with("/tmp") || path.starts_with("/var/tmp");
    let listed = match &policy.read {
        ReadScope::All => &[][..],
        ReadScope::Only(paths) => paths,
    };
    let own = listed.iter().chain([&policy.root]).filter(is_covered);
    let all = place.readable.iter().chain(own).filter(|path| path.exists() && !is_writable(path));
    all.map(|path| MountLayer::copy(path, path, MountFlags::READ_ONLY)).collect()
}

/// Returns the hidden paths as they are named, with the processes of the host, and where they lead. Paths inside write
/// roots are hidden there.
fn hidden_paths(
    policy: &ConfinementPolicy,
    place: &WorldHostPaths<'_>,
    mounts: &MountTable,
) -> (Vec<PathBuf>, PathEnds) {
    let state = fs::canonicalize(place.state).ok();
    let hide = policy.hide.iter().filter(|path| !is_secret_file(policy, path));
    // What is shown below a hidden path would be hidden by a second cover.
    let named = outermost_paths(hide.chain(&state).chain(mounts.other_procfs_mounts()).cloned().collect());
    let aims = PathEnds::of(&named, &policy.write, mounts);
    (named, aims)
}

/// Returns whether a path of the host can lead to the same file in the world. A private directory covers the path
/// unless a layer shows it.
fn is_there(path: &Path, policy: &ConfinementPolicy, layers: &[MountLayer]) -> bool {
    let is_tmp = |at: &Path| at == Path::new("/tmp") || at == Path::new("/var/tmp");
    let covered = policy.tmp == TmpPlacement::Private && path.ancestors().any(is_tmp);
    !covered || layers.iter().any(|layer| path.starts_with(&layer.at) && !is_tmp(&layer.at))
}

/// Names the gate as the resolver, unless the world has the network of the host.
fn add_resolver(
    policy: &ConfinementPolicy,
    blanks: &EmptyCovers,
    stand_ins: &mut StandInFiles,
) -> Result<(), WorldStepFailure> {
    if let Ok(at) = fs::canonicalize("/etc/resolv.conf")
        && policy.network != NetworkScope::Full
    {
        stand_ins.insert(at, blanks.resolver_file().at_step(|| "the resolver's configuration".into())?);
    }
    Ok(())
}

/// Opens the directories of the host of which the world is about to have views: drafted ones, and those in which a file
/// is missing.
fn open_overlaid(policy: &ConfinementPolicy, stand_ins: &StandInFiles) -> Vec<OverlaidDirectory> {
    let drafts = policy
        .drafted()
        .iter()
        .map(|drafted| &*drafted.base)
        .filter(|base| policy.write.iter().any(|root| root == base));
    let missing = stand_ins.keys().filter(|at| at.symlink_metadata().is_err()).filter_map(|at| at.parent());
    let all: BTreeSet<_> = drafts.map(|at| (at, true)).chain(missing.map(|at| (at, false))).collect();
    let open = |(at, is_writable): (&Path, bool)| {
        Some(OverlaidDirectory { at: at.to_owned(), below: sys::open_unread(at).ok()?, is_writable })
    };
    all.into_iter().filter_map(open).collect()
}

/// Returns the mounts of the files that stand in the place of those of the host. A file that the host does not have is
/// in a view of its directory.
fn stand_in_layers(stand_ins: &StandInFiles) -> Result<Vec<MountLayer>, WorldStepFailure> {
    let present = stand_ins.iter().filter(|(at, _)| at.symlink_metadata().is_ok());
    let layer = |(at, file): (&PathBuf, &File)| {
        let tree = sys::copy_tree_at(file.as_fd(), Path::new(""));
        MountLayer::of(tree, at, MountFlags::READ_ONLY).at_step(|| format!("the mount at {}", at.display()))
    };
    present.map(layer).collect()
}

/// Returns a detached mount of the procfs of this process's pid namespace.
pub(super) fn new_proc() -> Result<OwnedFd, WorldStepFailure> {
    let flags = MountFlags { no_exec: true, ..MountFlags::NO_DEVICES };
    sys::new_mount(c"proc", &[], flags).at_step(|| "a procfs".into())
}

/// Returns the mounted directory with the pseudo-terminals of the world.
pub(super) fn mount_terminals() -> Result<OwnedFd, WorldStepFailure> {
    sys::open_unread(Path::new("/dev/pts")).map(OwnedFd::from).at_step(|| "the terminals".into())
}

/// Mounts `/proc`. Files that would change the machine are read-only, because a process with the user id of root may
/// write them without any capability. These are all writable files that belong to no process.
fn attach_proc(blanks: &EmptyCovers) -> Result<(), WorldStepFailure> {
    let proc = Path::new("/proc");
    let attached = || -> io::Result<()> {
        for entry in fs::read_dir(proc)? {
            let entry = entry?;
            let (path, data) = (entry.path(), entry.metadata()?);
            let is_of_process = entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
            let is_changeable = data.is_dir() || (data.is_file() && data.permissions().mode() & 0o222 != 0);
            if !is_of_process && is_changeable {
                let tree = sys::copy_tree(&path)?;
                sys::restrict_tree(&tree, MountFlags::READ_ONLY)?;
                sys::attach_tree(&tree, &path)?;
            }
        }
        for name in OF_MACHINE {
            blanks.cover(&proc.join(name))?;
        }
        Ok(())
    };
    sys::attach_tree(&new_proc()?, proc).and_then(|()| attached()).at_step(|| "/proc".into())
}
