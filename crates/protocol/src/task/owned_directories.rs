//! Names of directories in shared places. Each name identifies the process that owns the directory, so that a later
//! process can remove the leftovers of a killed process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process;

use nix::unistd::{Pid, geteuid};

use super::machine_identity::{MachineIdentity, TaskWhereabouts};

/// The bits of a start time that a name contains.
const START: u64 = 0xffff;

/// Returns the part of a name that distinguishes this process from any other, even from a later process with the same
/// pid: `PID.START.PLACE`, with the last four hexadecimal digits of the start time.
pub fn own_process_name() -> String {
    let pid = process::id();
    let started = sys::identity(Pid::this()).map_or(0, |identity| identity.started);
    format!("{pid}.{:04x}.{}", started & START, MachineIdentity::here().tag())
}

/// Removes the directories `PREFIX` + [`own_process_name`] + `-…` of processes that are gone. Leaves directories of
/// other users, and of other machines and containers, whose processes cannot be seen from here.
pub fn remove_abandoned(parent: &Path, prefix: &str) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split('-').next());
        let is_ours = || entry.metadata().is_ok_and(|data| data.is_dir() && data.uid() == geteuid().as_raw());
        if owner.and_then(is_gone) == Some(true) && is_ours() {
            // Another process may remove the directory at the same time.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns whether the process with this name is known to be gone. `None` for any other name.
fn is_gone(name: &str) -> Option<bool> {
    let [pid, started, tag] = name.splitn(3, '.').collect::<Vec<_>>().try_into().ok()?;
    let (pid, started): (i32, u64) = (pid.parse().ok()?, u64::from_str_radix(started, 16).ok()?);
    Some(match MachineIdentity::here().whereabouts_of(tag)? {
        TaskWhereabouts::Here => {
            sys::living_identity(Pid::from_raw(pid)).is_none_or(|now| now.started & START != started)
        }
        TaskWhereabouts::BeforeRestart => true,
        TaskWhereabouts::Elsewhere => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_that_is_known_to_be_gone_is_gone() {
        let ours = own_process_name();
        let [pid, started, tag]: [&str; 3] = ours.splitn(3, '.').collect::<Vec<_>>().try_into().expect("three parts");
        for (name, expected) in [
            (ours.clone(), Some(false)),
            (format!("{pid}.1{started}.{tag}"), Some(true)),
            (format!("{}.1.{tag}", i32::MAX), Some(true)),
            (format!("{}.1.000000", i32::MAX), Some(false)),
            (format!("{pid}.{started}"), None),
            (format!("{pid}.x.{tag}"), None),
            (format!("x.1.{tag}"), None),
            (format!("{pid}.1.x"), None),
            (String::new(), None),
        ] {
            assert_eq!(is_gone(&name), expected, "{name}");
        }
    }

    #[test]
    fn directories_of_gone_processes_are_removed_and_nothing_else() {
        let parent = tempfile::tempdir().expect("a folder");
        let (ours, tag) = (own_process_name(), MachineIdentity::here().tag());
        let gone = format!("{}.1.{tag}", i32::MAX);
        let names = [format!("a-{gone}-1"), format!("b-{gone}-1"), format!("a-{ours}-1"), "a-1".to_owned()];
        names.iter().for_each(|name| fs::create_dir_all(parent.path().join(name).join("x")).expect("made"));
        let file = parent.path().join(format!("a-{gone}-2"));
        fs::write(&file, "").expect("written");
        let link = parent.path().join(format!("a-{gone}-3"));
        std::os::unix::fs::symlink(parent.path().join(&names[2]), &link).expect("linked");
        remove_abandoned(parent.path(), "a-");
        assert_eq!(names.map(|name| parent.path().join(name).join("x").exists()), [false, true, true, true]);
        assert!(file.exists() && link.is_symlink());
    }
}
