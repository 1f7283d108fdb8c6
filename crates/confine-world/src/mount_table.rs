//! Other names of a path: the same directory of a file system may be mounted at several places.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A mount, as `/proc/self/mountinfo` shows it.
#[derive(Debug, PartialEq, Eq)]
struct MountPoint {
    /// The device of the file system, `MAJOR:MINOR`.
    device: String,
    /// The directory of the file system that is mounted.
    root: PathBuf,
    /// The path at which it is mounted.
    at: PathBuf,
    /// Whether the file system is a procfs.
    is_proc: bool,
}

/// The mounts of a namespace, in their order: a later mount may cover an earlier one.
#[derive(Debug, Default)]
pub(super) struct MountTable(Vec<MountPoint>);

impl MountTable {
    /// Returns the mounts of this process's namespace. Without `/proc` there are none.
    pub fn of_this_namespace() -> Self {
        Self::parse(&fs::read("/proc/self/mountinfo").unwrap_or_default())
    }

    fn parse(text: &[u8]) -> Self {
        let mount = |line: &[u8]| {
            let mut words = line.split(|byte| *byte == b' ').skip(2);
            let device = String::from_utf8_lossy(words.next()?).into_owned();
            let (root, at) = (unescape(words.next()?), unescape(words.next()?));
            // The type follows the options, of which there may be any number.
            let is_proc = words.skip_while(|word| *word != b"-").nth(1) == Some(b"proc");
            Some(MountPoint { device, root, at, is_proc })
        };
        Self(text.split(|byte| *byte == b'\n').filter_map(mount).collect())
    }

    /// Returns where the processes of this machine can be seen besides `/proc`: in another procfs, such as below a
    /// directory for chroot.
    pub fn other_procfs_mounts(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().filter(|mount| mount.is_proc && !mount.at.starts_with("/proc")).map(|mount| &mount.at)
    }

    /// Returns the other paths of a file or directory, and of the mounted parts of it.
    pub fn aliases(&self, path: &Path) -> Vec<PathBuf> {
        let within = self.0.iter().enumerate().filter(|(_, mount)| path.starts_with(&mount.at));
        // The longest mount point counts, and of equal ones the last.
        let Some((own, mount)) = within.max_by_key(|(at, mount)| (mount.at.components().count(), *at)) else {
            return Vec::new();
        };
        let Ok(rest) = path.strip_prefix(&mount.at) else { return Vec::new() };
        let inside = mount.root.join(rest);
        let others = self.0.iter().enumerate().filter(|(at, other)| *at != own && other.device == mount.device);
        let alias = |(_, other): (usize, &MountPoint)| match inside.strip_prefix(&other.root) {
            Ok(rest) => Some(join(&other.at, rest)),
            Err(_) => other.root.starts_with(&inside).then(|| other.at.clone()),
        };
        others.filter_map(alias).filter(|alias| alias != path && !alias.starts_with(path)).collect()
    }
}

/// Joins two paths without a slash at the end.
fn join(directory: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { directory.to_owned() } else { directory.join(rest) }
}

/// Decodes spaces and the like, which are octal numbers in `mountinfo`.
fn unescape(word: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &[u8] = b"27 1 254:0 / / rw - ext4 /dev/vda rw
30 27 254:0 /home/u /mnt/a\\040b rw - ext4 /dev/vda rw
31 27 254:0 /home/u/.ssh/keys /mnt/keys rw - ext4 /dev/vda rw
32 27 254:0 / /mnt/all rw - ext4 /dev/vda rw
33 27 0:40 / /home/v rw - tmpfs none rw
34 27 0:5 / /proc rw shared:1 - proc proc rw
35 27 0:5 / /srv/jail/proc rw shared:1 master:2 - proc proc rw
";

    #[test]
    fn a_path_has_a_name_in_each_mount_that_contains_it() {
        let mounts = MountTable::parse(MOUNTS);
        for (path, expected) in [
            ("/home/u/.ssh", vec!["/mnt/a b/.ssh", "/mnt/keys", "/mnt/all/home/u/.ssh"]),
            ("/home/u", vec!["/mnt/a b", "/mnt/keys", "/mnt/all/home/u"]),
            ("/mnt/a b/.ssh", vec!["/home/u/.ssh", "/mnt/keys", "/mnt/all/home/u/.ssh"]),
            ("/home/v/.ssh", vec![]),
            ("/root/.ssh", vec!["/mnt/all/root/.ssh"]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(PathBuf::from).collect();
            assert_eq!(mounts.aliases(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn another_procfs_is_found() {
        let mounts = MountTable::parse(MOUNTS);
        assert_eq!(mounts.other_procfs_mounts().collect::<Vec<_>>(), [Path::new("/srv/jail/proc")]);
    }
}
