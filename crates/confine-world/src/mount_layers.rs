//! Mounts on top of the read-only files of the host, in an order in which no mount covers another by mistake.

use std::ffi::CStr;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::empty_covers::EmptyCovers;
use super::step_failure::{StepContext, WorldStepFailure};
use confine_policy::DraftedDirectory;
use sys::MountFlags;

/// The kinds of layers.
#[derive(Debug)]
pub(super) enum LayerKind {
    /// A detached tree.
    Tree(OwnedFd),
    /// An empty directory in which nothing exists but the layers below it.
    Veil,
    /// Nothing readable. Layers below the path can still be reached.
    Hidden,
}

/// A mount at a path.
#[derive(Debug)]
pub(super) struct MountLayer {
    pub at: PathBuf,
    pub what: LayerKind,
}

impl MountLayer {
    /// Mounts the files at and below `source`.
    pub fn copy(source: &Path, at: &Path, flags: MountFlags) -> Result<Self, WorldStepFailure> {
        Self::of(sys::copy_tree(source), at, flags).at_step(|| format!("the mount of {}", source.display()))
    }

    /// Mounts a detached tree, with these flags.
    pub fn of(tree: io::Result<OwnedFd>, at: &Path, flags: MountFlags) -> io::Result<Self> {
        let tree = tree?;
        sys::restrict_tree(&tree, flags)?;
        Ok(Self { at: at.to_owned(), what: LayerKind::Tree(tree) })
    }
}

/// Attaches layers. A layer below another is attached after it. At the same path, hiding layers come last.
pub(super) fn attach_layers(
    mut layers: Vec<MountLayer>,
    drafted: &[DraftedDirectory],
    blanks: &EmptyCovers,
) -> Result<(), WorldStepFailure> {
    let rank = |what: &LayerKind| match what {
        LayerKind::Veil => 0,
        LayerKind::Tree(_) => 1,
        LayerKind::Hidden => 2,
    };
    layers.sort_by_cached_key(|layer| (layer.at.components().count(), rank(&layer.what)));
    let trees: Vec<_> = layers.iter().filter(|layer| matches!(layer.what, LayerKind::Tree(_))).collect();
    let trees: Vec<_> = trees.into_iter().map(|layer| layer.at.clone()).collect();
    let mut veils = Vec::new();
    for MountLayer { at, what } in layers {
        let has_trees = || trees.iter().any(|tree| *tree != at && tree.starts_with(&at));
        let attached = match what {
            LayerKind::Tree(tree) => attach_tree(tree, &at, drafted),
            LayerKind::Veil => mount_veil(c"0755", &at).map(|()| veils.push(at.clone())),
            LayerKind::Hidden if at.is_dir() && has_trees() => {
                mount_veil(c"0111", &at).map(|()| veils.push(at.clone()))
            }
            LayerKind::Hidden => blanks.cover(&at),
        };
        attached.at_step(|| format!("the mount at {}", at.display()))?;
    }
    for veil in veils {
        sys::restrict_path(&veil, MountFlags::READ_ONLY, false).at_step(|| "a read-only mount".into())?;
    }
    Ok(())
}

fn attach_tree(tree: OwnedFd, at: &Path, drafted: &[DraftedDirectory]) -> io::Result<()> {
    let tree = File::from(tree);
    make_place(at, tree.metadata()?.is_dir(), drafted)?;
    sys::attach_tree(&tree, at)
}

fn mount_veil(mode: &CStr, at: &Path) -> io::Result<()> {
    sys::attach_tree(&sys::new_mount(c"tmpfs", &[(c"mode", Some(mode))], MountFlags::NO_DEVICES)?, at)
}

/// Creates a missing place for a mount in a private directory, with all directories above it. Below a drafted directory
/// it would be a change.
fn make_place(at: &Path, is_directory: bool, drafted: &[DraftedDirectory]) -> io::Result<()> {
    let in_draft = || drafted.iter().any(|drafted| at != drafted.base && at.starts_with(&drafted.base));
    match at.symlink_metadata() {
        Ok(_) => return Ok(()),
        Err(error) if in_draft() => return Err(error),
        Err(_) => {}
    }
    let directories = if is_directory { Some(at) } else { at.parent() };
    if let Some(directory) = directories {
        DirBuilder::new().recursive(true).mode(0o755).create(directory)?;
    }
    if !is_directory {
        File::options().write(true).create_new(true).mode(0o600).open(at)?;
    }
    Ok(())
}
