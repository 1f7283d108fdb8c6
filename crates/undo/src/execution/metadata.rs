//! Gives a thing its mode, owner and attributes.

use std::io;
use std::os::unix::fs::lchown;
use std::path::Path;

use crate::path_state::{FileMeta, PathState, UNSEEN};

/// Returns the number of differences.
fn differences(now: &FileMeta, wanted: &FileMeta) -> usize {
    usize::from(now.mode != wanted.mode)
        + usize::from(!now.has_owner_of(wanted))
        + usize::from(now.xattrs != wanted.xattrs) * (now.xattrs.len() + wanted.xattrs.len())
}

/// Returns whether the change takes more than one system call.
pub fn takes_several_calls(now: &FileMeta, wanted: &FileMeta) -> bool {
    differences(now, wanted) > 1
}

/// Sets the values that differ. A link has no mode.
///
/// # Errors
/// If the system refuses it.
pub fn apply_metadata(path: &Path, now: &PathState, wanted: &FileMeta) -> io::Result<()> {
    let Some(meta) = now.meta() else { return Err(io::ErrorKind::NotFound.into()) };
    let is_link = matches!(now, PathState::Link { .. });
    let owner = !meta.has_owner_of(wanted);
    if owner {
        let seen = |number: u32| Some(number).filter(|number| *number != UNSEEN);
        lchown(path, seen(wanted.uid), seen(wanted.gid))?;
    }
    if meta.xattrs != wanted.xattrs || owner {
        set_attributes(path, meta, wanted)?;
    }
    // A new owner or a new access list may have changed the mode as well.
    if !is_link && (meta.mode != wanted.mode || owner || meta.xattrs != wanted.xattrs) {
        sys::set_mode(path, wanted.mode)?;
    }
    Ok(())
}

fn set_attributes(path: &Path, now: &FileMeta, wanted: &FileMeta) -> io::Result<()> {
    for attribute in &wanted.xattrs {
        // A new owner takes the capabilities of a program away.
        if !now.xattrs.contains(attribute) || attribute.name == "security.capability" {
            sys::set_attribute(path, &attribute.name, &attribute.value)?;
        }
    }
    for attribute in &now.xattrs {
        if !wanted.xattrs.iter().any(|other| other.name == attribute.name) {
            sys::remove_attribute(path, &attribute.name)?;
        }
    }
    Ok(())
}
