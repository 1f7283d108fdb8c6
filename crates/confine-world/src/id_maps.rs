//! User and group ids of a world, which equal the host's.

use std::fs;
use std::io;

use nix::unistd::{Pid, getegid, geteuid};

/// Maps as many ids of a process in a new user namespace to themselves as this process may map: all ids for a
/// privileged process, else its own.
pub(super) fn map_ids(child: Pid) -> io::Result<()> {
    let write = |name: &str, text: &str| fs::write(format!("/proc/{child}/{name}"), text);
    if geteuid().is_root() {
        let all = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).map(|map| identity_map(&map));
        let mapped = all("uid_map").and_then(|map| write("uid_map", &map));
        // In a container, this process may lack the capability.
        if mapped.is_ok() && all("gid_map").and_then(|map| write("gid_map", &map)).is_ok() {
            return Ok(());
        }
        if mapped.is_ok() {
            return map_own_group(child);
        }
    }
    let uid = geteuid();
    write("uid_map", &format!("{uid} {uid} 1\n"))?;
    map_own_group(child)
}

fn map_own_group(child: Pid) -> io::Result<()> {
    let gid = getegid();
    // The kernel requires this before an unprivileged process may map its group.
    fs::write(format!("/proc/{child}/setgroups"), "deny")?;
    fs::write(format!("/proc/{child}/gid_map"), format!("{gid} {gid} 1\n"))
}

/// Returns a map of every id of this namespace to itself, from the map of this namespace.
fn identity_map(map: &str) -> String {
    let range = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        Some((words.next()?.to_owned(), words.nth(1)?.to_owned()))
    };
    map.lines().filter_map(range).map(|(first, count)| format!("{first} {first} {count}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::identity_map;

    #[test]
    fn ids_are_mapped_to_themselves() {
        for (map, expected) in [
            ("         0          0 4294967295\n", "0 0 4294967295\n"),
            ("0 1000 1\n1 100000 65536\n", "0 0 1\n1 1 65536\n"),
            ("", ""),
        ] {
            assert_eq!(identity_map(map), expected);
        }
    }
}
