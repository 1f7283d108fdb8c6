//! Covers for the files of the host if only some files may be read.

use std::fs;
use std::path::{Path, PathBuf};

use super::mount_layers::{LayerKind, MountLayer};
use super::step_failure::{StepContext, WorldStepFailure};
use confine_policy::{ConfinementPolicy, ReadScope, SYSTEM};
use sys::MountFlags;

/// Returns layers that hide everything in `/` except the policy's readable paths and the existing layers.
pub(super) fn veil_layers(
    policy: &ConfinementPolicy,
    layers: &[MountLayer],
) -> Result<Vec<MountLayer>, WorldStepFailure> {
    let ReadScope::Only(readable) = &policy.read else { return Ok(Vec::new()) };
    let shown = readable.iter().map(PathBuf::as_path).chain(SYSTEM.iter().map(Path::new));
    let shown: Vec<_> = shown.filter(|path| path.exists()).collect();
    let trees = layers.iter().filter(|layer| matches!(layer.what, LayerKind::Tree(_))).map(|layer| layer.at.as_path());
    let shown: Vec<_> = shown.into_iter().chain(trees).collect();
    let mut veils = Vec::new();
    for entry in fs::read_dir("/").at_step(|| "the list of /".into())?.flatten() {
        let at = entry.path();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link || shown.contains(&at.as_path()) {
            continue;
        }
        if shown.iter().any(|path| path.starts_with(&at)) {
            veils.push(MountLayer { at, what: LayerKind::Veil });
        } else {
            veils.push(MountLayer { at, what: LayerKind::Hidden });
        }
    }
    let is_layer = |path: &Path| layers.iter().any(|layer| layer.at == path);
    let veiled = |path: &&Path| !is_layer(path) && veils.iter().any(|veil| path.starts_with(&veil.at));
    let copies = shown.iter().copied().filter(veiled).map(|path| MountLayer::copy(path, path, MountFlags::READ_ONLY));
    let copies = copies.collect::<Result<Vec<_>, _>>()?;
    Ok(veils.into_iter().chain(copies).collect())
}
