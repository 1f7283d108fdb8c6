//! The files of a world without namespaces, and the paths that its listeners protect.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nix::unistd::Pid;

use super::file_covers::FileCovers;
use super::git::GitDirectoryGrants;
use super::mount_table::MountTable;
use super::path_ends::PathEnds;
use super::private_directory::PrivateDirectory;
use super::process_roster::ProcessRoster;
use super::protection_targets::{ProtectedPaths, ProtectionTargets};
use super::secret_files::cover_secret_files;
use confine_gate::{RESOLV_CONF, hosts_lines};
use confine_policy::{CacheAccess, ConfinementPolicy, NetworkScope, TmpPlacement};
use sys::ForkOutcome;

/// Variables that name caches of package managers, each with a directory of the world.
const CACHES: [(&str, &str); 9] = [
    ("XDG_CACHE_HOME", "cache"),
    ("npm_config_cache", "cache/npm"),
    ("PNPM_HOME", "cache/pnpm"),
    ("YARN_CACHE_FOLDER", "cache/yarn"),
    ("PIP_CACHE_DIR", "cache/pip"),
    ("UV_CACHE_DIR", "cache/uv"),
    ("CARGO_HOME", "cache/cargo"),
    ("GOMODCACHE", "cache/go-mod"),
    ("GOCACHE", "cache/go-build"),
];

/// Covers the files by which programs look up names. That of hosts has the lines of the machine's, and covers it unless
/// the policy hides it.
fn cover_name_files(policy: &ConfinementPolicy, private: &PrivateDirectory, covers: &mut FileCovers) -> io::Result<()> {
    let resolver = private.path.join("resolv.conf");
    // Datagrams do not reach the resolver.
    std::fs::write(&resolver, format!("{RESOLV_CONF}options use-vc\n"))?;
    covers.add(Path::new("/etc/resolv.conf"), resolver);
    let of_machine = Path::new("/etc/hosts");
    let ends_at = of_machine.canonicalize().unwrap_or_else(|_| of_machine.to_owned());
    if policy.hide.iter().any(|hidden| of_machine.starts_with(hidden) || ends_at.starts_with(hidden)) {
        return Ok(());
    }
    let hosts = private.path.join("hosts");
    let lines = std::fs::read(of_machine).unwrap_or_default();
    std::fs::write(&hosts, [hosts_lines(&policy.network).as_bytes(), &lines].concat())?;
    covers.add(of_machine, hosts);
    Ok(())
}

/// The files and processes of a world without namespaces.
#[derive(Debug, Clone)]
pub struct ListenerHeldWorld {
    /// Directories that belong to the world alone.
    own: Vec<PathBuf>,
    /// The directory in the place of `/dev/shm`.
    memory: Option<PathBuf>,
    /// The list of files that are shown.
    shown: PathBuf,
    covers: FileCovers,
    targets: Rc<RefCell<ProtectionTargets>>,
    /// The hidden paths as they are named, and the write roots.
    named: [Vec<PathBuf>; 2],
    roster: ProcessRoster,
}

impl ListenerHeldWorld {
    /// Makes the private directories of a policy, which has the granted git directories among its write roots.
    pub(super) fn create(
        policy: &ConfinementPolicy,
        git: GitDirectoryGrants,
        private: &PrivateDirectory,
    ) -> io::Result<Self> {
        let mut own = Vec::new();
        let mut memory = None;
        if policy.tmp == TmpPlacement::Private {
            let place = private.path.join("shm");
            std::fs::create_dir(&place)?;
            own.extend([private.tmp(), place.clone()]);
            memory = Some(place);
        }
        if policy.caches.0 == CacheAccess::Overlay {
            for (_, name) in CACHES {
                std::fs::create_dir_all(private.path.join(name))?;
            }
            own.push(private.path.join("cache"));
        }
        let shown = private.path.join(SHOWN);
        let mut covers = FileCovers::default();
        if policy.network != NetworkScope::Full {
            cover_name_files(policy, private, &mut covers)?;
        }
        cover_secret_files(policy, private, &mut covers)?;
        let targets = Rc::new(RefCell::new(ProtectionTargets::of(policy, git, false)));
        let named = [policy.hide.clone(), policy.write.clone()];
        Ok(Self { own, memory, shown, covers, targets, named, roster: ProcessRoster::create(&private.path)? })
    }

    /// Returns the directories that belong to the world alone.
    pub fn own_directories(&self) -> impl Iterator<Item = &Path> {
        self.own.iter().map(PathBuf::as_path)
    }

    /// Returns the directory in the place of `/dev/shm`. `None`: that of the machine.
    pub fn shared_memory_directory(&self) -> Option<&Path> {
        self.memory.as_deref()
    }

    /// Returns the files in the place of those of the machine.
    pub fn covers(&self) -> &FileCovers {
        &self.covers
    }

    /// Returns the processes of the world.
    pub fn roster(&self) -> &ProcessRoster {
        &self.roster
    }

    /// Returns whether a file of the private directory may be read: a cover, or one that was shown with [`show_file`].
    pub fn is_shown(&self, path: &Path) -> bool {
        if self.covers.has(path) {
            return true;
        }
        let list = std::fs::read(&self.shown).unwrap_or_default();
        list.split(|byte| *byte == 0).any(|shown| shown == path.as_os_str().as_bytes())
    }

    /// Looks for repositories. Returns the paths that are protected now.
    pub fn protected_paths(&self) -> ProtectedPaths {
        self.targets.borrow_mut().protected_paths()
    }

    /// Returns the paths that are hidden now, wherever they lead.
    pub fn hidden_paths(&self) -> HashSet<PathBuf> {
        let [named, roots] = &self.named;
        let named: Vec<_> = named.iter().cloned().chain(self.targets.borrow().hidden_stores()).collect();
        PathEnds::of(&named, roots, &MountTable::of_this_namespace()).all().cloned().collect()
    }
}

/// The name of a list in the private directory of a world.
const SHOWN: &str = "shown";

/// Lets the commands of a world without namespaces read a file at its own path. `home` is the directory of the world's
/// private files.
pub fn show_file(home: &Path, path: &Path) -> io::Result<()> {
    let mut list = File::options().append(true).create(true).open(home.join(SHOWN))?;
    list.write_all(&[path.as_os_str().as_bytes(), &[0]].concat())
}

/// Returns the variables by which programs find the private directories.
pub(super) fn environment(policy: &ConfinementPolicy, private: &PrivateDirectory) -> Vec<(String, Option<String>)> {
    let named = |name: &str, path: PathBuf| (name.to_owned(), Some(path.display().to_string()));
    let tmp = (policy.tmp == TmpPlacement::Private).then(|| named("TMPDIR", private.tmp()));
    let caches = CACHES.iter().filter(|_| policy.caches.0 == CacheAccess::Overlay);
    tmp.into_iter().chain(caches.map(|(name, below)| named(name, private.path.join(below)))).collect()
}

/// The process that removes the files of a world once no other process keeps them.
#[derive(Debug)]
pub struct WorldCleanupProcess {
    /// The process, a child of the process that made the world.
    pub pid: Pid,
    /// The write end of a pipe. The supervisor and the shims of the world have copies.
    pub kept: OwnedFd,
    /// The read end, which reports the end of the world.
    pub ended: OwnedFd,
}

impl WorldCleanupProcess {
    /// Starts the process.
    pub(super) fn start(private: PrivateDirectory) -> io::Result<Self> {
        let (read, kept) = sys::pipe()?;
        let ended = read.try_clone()?;
        match sys::fork()? {
            ForkOutcome::Child => {
                drop((kept, ended));
                let _ = sys::name_process(c"agent-bash-keep");
                let [lock, parent] = private.descriptors();
                sys::close_all_but(&[lock, parent, read.as_raw_fd()]);
                let _ = File::from(read).read(&mut [0]);
                private.remove();
                sys::exit_now(0)
            }
            ForkOutcome::Parent(pid) => Ok(Self { pid, kept, ended }),
        }
    }
}
