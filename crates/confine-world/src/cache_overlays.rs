//! Caches of package managers in a world.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mount_layers::{LayerKind, MountLayer};
use super::overlay_mount::overlay_of;
use super::private_directory::PrivateDirectory;
use super::step_failure::WorldStepFailure;
use confine_policy::{CacheAccess, ConfinementPolicy};
use sys::MountFlags;

/// An overlay that was made before the policy of its world was known.
#[derive(Debug)]
pub(super) struct PreparedOverlay {
    place: PathBuf,
    /// The device and the inode of the directory that it shows.
    shows: (u64, u64),
    tree: OwnedFd,
}

/// Makes overlays of these caches, as far as this is possible.
pub(super) fn prepare_overlays(places: &[PathBuf], private: &PrivateDirectory) -> Vec<PreparedOverlay> {
    let make = |(number, place): (usize, &PathBuf)| {
        let shows = device_and_inode(place)?;
        let tree = mount_overlay(place, &overlay_directory(private, number)).ok()?;
        Some(PreparedOverlay { place: place.clone(), shows, tree })
    };
    places.iter().enumerate().filter_map(make).collect()
}

/// Returns the layers of caches, and adds a note for each cache that differs from the policy. `before`: the number of
/// overlays that were to be made ahead, and those that were made.
pub(super) fn cache_layers(
    policy: &ConfinementPolicy,
    private: &PrivateDirectory,
    (before, mut made): (usize, Vec<PreparedOverlay>),
    notes: &mut Vec<String>,
) -> Result<Vec<MountLayer>, WorldStepFailure> {
    let (kind, places) = &policy.caches;
    let places = places.iter().filter(|place| place.is_dir());
    match kind {
        CacheAccess::Shared => places.map(|place| MountLayer::copy(place, place, MountFlags::NO_DEVICES)).collect(),
        CacheAccess::Overlay => {
            let mut layers = Vec::new();
            for (number, place) in places.enumerate() {
                let is_same = |one: &PreparedOverlay| one.place == *place && device_and_inode(place) == Some(one.shows);
                if let Some(at) = made.iter().position(is_same) {
                    layers.push(MountLayer { at: place.clone(), what: LayerKind::Tree(made.swap_remove(at).tree) });
                    continue;
                }
                // No two overlays may have one room.
                let own = overlay_directory(private, before + number);
                match mount_overlay(place, &own) {
                    Ok(tree) => layers.push(MountLayer { at: place.clone(), what: LayerKind::Tree(tree) }),
                    Err(error) => {
                        layers.push(MountLayer::copy(&own.join("upper"), place, MountFlags::NO_DEVICES)?);
                        notes.push(format!("{} is empty inside: it cannot be overlaid ({error})", place.display()));
                    }
                }
            }
            Ok(layers)
        }
        CacheAccess::None => Ok(Vec::new()),
    }
}

/// Returns the device and the inode of a directory.
fn device_and_inode(place: &Path) -> Option<(u64, u64)> {
    let data = fs::metadata(place).ok().filter(fs::Metadata::is_dir)?;
    Some((data.dev(), data.ino()))
}

/// Returns the directory for the changes of a cache.
fn overlay_directory(private: &PrivateDirectory, number: usize) -> PathBuf {
    private.path.join(format!("cache-{number}"))
}

/// Makes the directories in which a world keeps the changes of a cache.
fn make_room(own: &Path) -> io::Result<[PathBuf; 2]> {
    let places = ["upper", "work"].map(|name| own.join(name));
    places.iter().try_for_each(fs::create_dir_all)?;
    Ok(places)
}

/// Returns a mount that shows the contents of a directory and keeps changes in a directory of the world.
fn mount_overlay(lower: &Path, own: &Path) -> io::Result<OwnedFd> {
    let [upper, work] = make_room(own)?;
    overlay_of(lower, &upper, &work)
}
