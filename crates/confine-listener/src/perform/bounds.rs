//! What the commands of a world without mounts may read and change, by the paths of things that are open.
//!
//! A path here is the path of an open file or directory, as the kernel shows it, so no link and no race is in it. A
//! name in an open directory has the path of that directory and the name.

use std::collections::{BTreeSet, HashSet};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use confine_policy::{CacheAccess, ConfinementPolicy, OF_MACHINE, ReadScope, SYSTEM, TmpPlacement};
use confine_world::{ListenerHeldWorld, ProtectedPaths};

/// Directories for temporary files of the machine.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// Devices that every command may open.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The bounds of a world's commands.
pub(crate) struct WorldBounds {
    held: ListenerHeldWorld,
    /// Paths that may be changed.
    write: Vec<PathBuf>,
    hide: HashSet<PathBuf>,
    /// The only paths that may be read. `None`: all.
    read: Option<Vec<PathBuf>>,
    /// Directories that can be neither read nor changed, but for paths that are named.
    closed: Vec<PathBuf>,
    /// The directory of the owner, which may be read.
    root: PathBuf,
    protected: BTreeSet<PathBuf>,
    pinned: BTreeSet<PathBuf>,
}

impl WorldBounds {
    /// Returns the bounds of a policy, whose write roots are those in effect. Nothing is protected yet.
    pub fn new(policy: &ConfinementPolicy, held: ListenerHeldWorld) -> Self {
        let shared = |caches: &CacheAccess| *caches == CacheAccess::Shared;
        let caches = policy.caches.1.iter().filter(|_| shared(&policy.caches.0));
        let private = policy.tmp == TmpPlacement::Private;
        let temporary = || TEMPORARY.iter().map(PathBuf::from);
        let write = policy.write.iter().chain(caches).cloned();
        let read = match &policy.read {
            ReadScope::All => None,
            ReadScope::Only(paths) => Some(paths.iter().cloned().chain(SYSTEM.iter().map(PathBuf::from)).collect()),
        };
        Self {
            held,
            write: write.chain(temporary().filter(|_| !private)).collect(),
            hide: policy.hide.iter().cloned().collect(),
            read,
            closed: temporary().filter(|_| private).collect(),
            root: policy.root.clone(),
            protected: BTreeSet::new(),
            pinned: BTreeSet::new(),
        }
    }

    /// Returns the world's own files.
    pub fn held_world(&self) -> &ListenerHeldWorld {
        &self.held
    }

    /// Looks for repositories and hidden files, and protects what a command that starts now finds.
    pub fn refresh_protection(&mut self) {
        let ProtectedPaths { protected, pinned } = self.held.protected_paths();
        self.hide = self.held.hidden_paths();
        let pinned = pinned.iter().map(PathBuf::as_path);
        let above_hidden = self.hide.iter().flat_map(|path| path.ancestors().skip(1));
        let roots = self.write.iter().map(PathBuf::as_path);
        self.pinned = pinned.chain(above_hidden).chain(roots).map(comparable_path).collect();
        self.protected = protected.iter().map(|path| comparable_path(path)).collect();
    }

    /// Returns the paths below which files may be changed.
    pub fn changeable_roots(&self) -> impl Iterator<Item = &Path> {
        self.write.iter().map(PathBuf::as_path).chain(self.held.own_directories())
    }

    /// Returns whether a path belongs to the world alone.
    pub fn is_own(&self, path: &Path) -> bool {
        self.held.own_directories().any(|own| path.starts_with(own))
    }

    /// Returns whether the file at a path may be changed, and a name may be created there.
    pub fn may_change(&self, path: &Path) -> bool {
        self.is_own(path) || (is_below_any(&self.write, path) && !self.is_hidden(path) && !self.is_protected(path))
    }

    /// Returns whether the file at a path may be renamed or removed.
    pub fn may_move(&self, path: &Path) -> bool {
        let is_root = self.held.own_directories().any(|own| own == path);
        self.may_change(path) && !is_root && !self.pinned.contains(&comparable_path(path))
    }

    /// Returns whether a path lies in a write root.
    pub fn is_in_root(&self, path: &Path) -> bool {
        is_below_any(&self.write, path)
    }

    fn is_hidden(&self, path: &Path) -> bool {
        is_of_machine(path) || path.ancestors().any(|path| self.hide.contains(path))
    }

    fn is_protected(&self, path: &Path) -> bool {
        comparable_path(path).ancestors().any(|path| self.protected.contains(path))
    }

    /// Returns whether the file or the directory at a path may be read.
    pub fn may_read(&self, path: &Path) -> bool {
        self.is_own(path) || self.is_visible(path) || self.held.is_shown(path)
    }

    fn is_visible(&self, path: &Path) -> bool {
        if self.is_hidden(path) {
            return false;
        }
        if is_below_any(&self.write, path) || path.starts_with(&self.root) {
            return true;
        }
        match &self.read {
            Some(paths) => is_named(paths, path) || (is_below_any(paths, path) && !is_below_any(&self.closed, path)),
            None => !is_below_any(&self.closed, path),
        }
    }
}

/// Returns whether a path in `/proc` tells of the whole machine. A world without namespaces has no objects of System V
/// of its own, so the list of them is one of others.
fn is_of_machine(path: &Path) -> bool {
    let name = path.strip_prefix("/proc").ok().and_then(|rest| rest.iter().next());
    name.is_some_and(|name| name == "sysvipc" || OF_MACHINE.iter().any(|one| name == *one))
}

/// Returns whether a path lies below one of these that is no directory of the system.
fn is_named(paths: &[PathBuf], path: &Path) -> bool {
    paths.iter().any(|one| path.starts_with(one) && !SYSTEM.iter().any(|system| one == Path::new(system)))
}

fn is_below_any(roots: &[PathBuf], path: &Path) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// Returns a path as it is compared: a file system may ignore the case of letters.
fn comparable_path(path: &Path) -> PathBuf {
    let mut bytes = path.as_os_str().as_bytes().to_vec();
    bytes.make_ascii_lowercase();
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

/// Returns whether a path is that of a device for everyone.
pub(super) fn is_device(path: &Path) -> bool {
    DEVICES.iter().any(|device| path == Path::new(device))
}

/// Returns whether the path of an open file shows that it has no name anywhere: a pipe, a socket, a file in memory.
pub(super) fn is_nameless(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    !bytes.starts_with(b"/") && !bytes.starts_with(b"(") || bytes.starts_with(b"/memfd:")
}

/// Returns the process, or its thread, in whose directory of `/proc` a path lies.
pub(super) fn process_of(path: &Path) -> Option<i32> {
    path.strip_prefix("/proc").ok()?.iter().next()?.to_str()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// A path, and whether it may be read, changed, and moved away.
    type Row = (&'static str, [bool; 3]);

    const NO: [bool; 3] = [false; 3];
    const READ: [bool; 3] = [true, false, false];
    const KEPT: [bool; 3] = [true, true, false];
    const ALL: [bool; 3] = [true; 3];

    fn check(policy: &ConfinementPolicy, rows: &[Row]) {
        let (_state, held, own) = confine_world::testing::held(policy);
        let mut bounds = WorldBounds::new(policy, held);
        bounds.refresh_protection();
        for (path, expected) in rows {
            let path = &PathBuf::from(path.replace("OWN", &own.to_string_lossy()));
            let found = [bounds.may_read(path), bounds.may_change(path), bounds.may_move(path)];
            assert_eq!(found, *expected, "{}", path.display());
        }
    }

    #[test]
    fn paths_are_judged_as_the_policy_says() {
        let root = tempfile::tempdir_in("/var/lib").or_else(|_| tempfile::tempdir()).expect("a directory");
        let root = root.path().canonicalize().expect("a path");
        let sample = ConfinementPolicy::sample(&root);
        let (at, root) = (|name: &str| root.join(name), root.to_string_lossy().into_owned());
        for name in [".git/objects", ".git/refs", "a/b", "deep/hidden"] {
            std::fs::create_dir_all(at(name)).expect("made");
        }
        std::fs::write(at(".git/HEAD"), "ref: refs/heads/main").expect("written");
        let policy = ConfinementPolicy {
            protect: [".git/hooks", ".git/config", ".envrc"].map(PathBuf::from).into(),
            hide: vec![at("deep/hidden"), PathBuf::from("/home/me/.ssh")],
            ..sample
        };
        let row = |name: &str, expected| (&*Box::leak(format!("{root}{name}").into_boxed_str()), expected);
        check(
            &policy,
            &[
                row("", KEPT),
                row("/a/b", ALL),
                row("/a/.envrc", ALL),
                row("/.envrc", READ),
                row("/.ENVRC", READ),
                row("/.git", KEPT),
                row("/.git/index", ALL),
                row("/.git/config", READ),
                row("/.git/hooks/pre-commit", READ),
                row("/deep", KEPT),
                row("/deep/hidden", NO),
                row("/deep/hidden/x", NO),
                row("x", READ),
                ("/usr/bin/env", READ),
                ("/proc/meminfo", READ),
                ("/proc/keys", NO),
                ("/proc/sysvipc/shm", NO),
                ("/home/me/.ssh/id", NO),
                ("/home/me", READ),
                ("/tmp/x", NO),
                ("/dev/shm/x", NO),
                ("OWN", KEPT),
                ("OWN/x/.envrc", ALL),
            ],
        );
        let listed = ConfinementPolicy { read: ReadScope::Only(vec![PathBuf::from("/srv/data")]), ..policy.clone() };
        check(
            &listed,
            &[
                row("/a", ALL),
                ("/srv/data/x", READ),
                ("/srv/other", NO),
                ("/usr/bin/env", READ),
                ("/dev/shm/x", NO),
                ("/home/me/notes", NO),
            ],
        );
        check(
            &ConfinementPolicy { tmp: TmpPlacement::Shared, ..policy },
            &[("/tmp/x", ALL), ("/tmp", KEPT), ("/usr/x", READ)],
        );
    }

    #[test]
    fn paths_of_processes_are_told_apart() {
        let of = |path: &str| process_of(Path::new(path));
        for path in ["/proc/7", "/proc/7/stat", "/proc/7/task/8/status", "/proc/7/fd/1"] {
            assert_eq!(of(path), Some(7), "{path}");
        }
        assert_eq!([of("/proc"), of("/proc/meminfo"), of("/proc/sys/7"), of("/x/proc/7")], [None; 4]);
    }

    #[test]
    fn files_without_a_name_are_known_by_their_paths() {
        for (path, is) in [
            ("pipe:[7]", true),
            ("socket:[7]", true),
            ("/memfd:x (deleted)", true),
            ("/x", false),
            ("(unreachable)/x", false),
        ] {
            assert_eq!(is_nameless(Path::new(path)), is, "{path}");
        }
    }
}
