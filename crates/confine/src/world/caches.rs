//! Caches of package managers in a world.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::layers::{Layer, What};
use super::private::Private;
use crate::{Caches, Policy};
use sys::MountFlags;

/// Returns the layers of caches, and adds a note for each cache that differs from the policy.
pub(super) fn layers(policy: &Policy, private: &Private, notes: &mut Vec<String>) -> Result<Vec<Layer>, Failure> {
    let (kind, places) = &policy.caches;
    let places = places.iter().filter(|place| place.is_dir());
    match kind {
        Caches::Shared => places.map(|place| Layer::copy(place, place, MountFlags::NO_DEVICES)).collect(),
        Caches::Overlay => {
            let mut layers = Vec::new();
            for (number, place) in places.enumerate() {
                let own = room(private, number);
                match overlay(place, &own) {
                    Ok(tree) => layers.push(Layer { at: place.clone(), what: What::Tree(tree) }),
                    Err(error) => {
                        layers.push(Layer::copy(&own.join("upper"), place, MountFlags::NO_DEVICES)?);
                        notes.push(format!("{} is empty inside: it cannot be overlaid ({error})", place.display()));
                    }
                }
            }
            Ok(layers)
        }
        Caches::None => Ok(Vec::new()),
    }
}

/// Makes the directories for this many caches ahead.
pub(super) fn prepare(private: &Private, rooms: usize) -> io::Result<()> {
    (0..rooms).try_for_each(|number| make_room(&room(private, number)).map(drop))
}

/// Returns the directory for the changes of a cache.
fn room(private: &Private, number: usize) -> PathBuf {
    private.path.join(format!("cache-{number}"))
}

/// Makes the directories in which a world keeps the changes of a cache, unless they are there.
fn make_room(own: &Path) -> io::Result<[PathBuf; 2]> {
    let places = ["upper", "work"].map(|name| own.join(name));
    places.iter().try_for_each(fs::create_dir_all)?;
    Ok(places)
}

/// Returns a mount that shows the contents of a directory and keeps changes in a directory of the world. The changes
/// end with the world, so its end does not write them to the disk.
fn overlay(lower: &Path, own: &Path) -> io::Result<OwnedFd> {
    let [upper, work] = make_room(own)?;
    // The mount uses descriptors, because commas and colons in a path would have a meaning.
    let opened = [sys::open_unread(lower)?, sys::open_unread(&upper)?, sys::open_unread(&work)?];
    let paths = opened.each_ref().map(|file| CString::new(format!("/proc/self/fd/{}", file.as_raw_fd())));
    let [lower, upper, work] = paths;
    let (lower, upper, work) = (lower?, upper?, work?);
    let options = [
        (c"lowerdir", Some(lower.as_c_str())),
        (c"upperdir", Some(upper.as_c_str())),
        (c"workdir", Some(work.as_c_str())),
        (c"userxattr", None),
        (c"volatile", None),
    ];
    let mount = |options: &[_]| sys::new_mount(c"overlay", options, MountFlags::NO_DEVICES);
    // Before Linux 5.10 the last option is unknown.
    mount(&options).or_else(|_| mount(&options[..options.len() - 1]))
}
