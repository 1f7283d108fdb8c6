//! Decides which snapshot a command wants. The key of the snapshot covers everything that the rc files can depend on.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::SnapshotError;
use super::rc_environment::{RcEnvironment, rc_environment};
use crate::error::RunError;
use crate::request::{RawOptions, RawSnapshot, RequestError, check_world};
use protocol::plan;

/// The files of a login shell, which reads the first existing one.
const LOGIN: [&str; 3] = [".bash_profile", ".bash_login", ".profile"];
/// The file of an interactive shell.
const INTERACTIVE: &str = ".bashrc";

/// A command's demand on the user's shell.
pub enum SnapshotDemand {
    /// No snapshot.
    Nothing,
    /// A snapshot that the command cannot have.
    Impossible(SnapshotError),
    /// A snapshot.
    Wanted(SnapshotRequest),
}

/// A snapshot that is wanted.
pub struct SnapshotRequest {
    /// The shell, absolute.
    pub shell: PathBuf,
    /// The environment of the shell that reads the rc files.
    pub environment: RcEnvironment,
    /// The rc files that exist, in the order in which they are read.
    pub files: Vec<PathBuf>,
    /// The rc file that the file before may have read already.
    pub bashrc: Option<PathBuf>,
    /// The umask.
    pub umask: u32,
    /// Key of the snapshot.
    pub key: u128,
    /// Whether the caller gave the PATH of the command.
    pub own_path: bool,
}

impl SnapshotDemand {
    /// Reads the options of a command.
    ///
    /// # Errors
    /// [`RunError::InvalidArg`] for a path without a file.
    pub fn of(raw: &RawOptions) -> Result<Self, RunError> {
        let Some(snapshot) = &raw.snapshot else { return Ok(Self::Nothing) };
        if let RawSnapshot::File(file) = snapshot {
            check_path(file)?;
        }
        if raw.aborted {
            return Ok(Self::Nothing);
        }
        let name = raw.shell.as_deref().map_or("bash", |shell| shell.rsplit('/').next().unwrap_or_default());
        if name != "bash" {
            return Ok(Self::Impossible(SnapshotError::OtherShell { shell: name.to_owned() }));
        }
        let path = raw.host_env.split('\0').find_map(|entry| entry.strip_prefix("PATH="));
        // A missing shell is reported when the command is started.
        let Ok(shell) = plan::find_shell(raw.shell.as_deref(), path, Path::new(&raw.cwd)) else {
            return Ok(Self::Nothing);
        };
        let Ok(shell) = std::path::absolute(shell) else { return Ok(Self::Nothing) };
        let environment = rc_environment(raw)?;
        let wanted = SnapshotRequest::of(snapshot, shell, environment, raw);
        Ok(match wanted.changeable_source(raw)? {
            Some(path) => Self::Impossible(SnapshotError::Changeable { path }),
            None => Self::Wanted(wanted),
        })
    }
}

impl SnapshotRequest {
    fn of(snapshot: &RawSnapshot, shell: PathBuf, environment: RcEnvironment, raw: &RawOptions) -> Self {
        let mut hash = SnapshotKeyHasher::new();
        env!("CARGO_PKG_VERSION").hash(&mut hash);
        (&shell, &environment.block, &environment.home, raw.umask).hash(&mut hash);
        hash.file(&shell);
        let mut files = Vec::new();
        let mut bashrc = None;
        match snapshot {
            RawSnapshot::File(file) => {
                hash.file(Path::new(file));
                files.push(file.into());
            }
            RawSnapshot::User => {
                for name in LOGIN {
                    let file = environment.home.join(name);
                    if hash.file(&file) && files.is_empty() {
                        files.push(file);
                    }
                }
                let file = environment.home.join(INTERACTIVE);
                if hash.file(&file) {
                    bashrc = (!files.is_empty()).then(|| file.clone());
                    files.push(file);
                }
            }
        }
        let own_path = raw.env.iter().any(|(name, _)| name == "PATH");
        Self { shell, environment, files, bashrc, umask: raw.umask, key: hash.key(), own_path }
    }

    /// Returns a path that commands of the same confinement may change. The rc files are read outside of the
    /// confinement, and the files that they source are usually in the home.
    fn changeable_source(&self, raw: &RawOptions) -> Result<Option<PathBuf>, RunError> {
        let Some(world) = &raw.confine else { return Ok(None) };
        let policy = &check_world(world, &raw.cwd, &raw.host_env).map_err(RequestError::from)?.policy;
        let reaches = |path: &&PathBuf| path.canonicalize().is_ok_and(|path| policy.permits_change(&path));
        let home = self.environment.home.to_path_buf();
        Ok([&self.shell].into_iter().chain(&self.files).chain([&home]).find(reaches).cloned())
    }
}

fn check_path(file: &str) -> Result<(), RunError> {
    let wrong = |why: &str| Err(RunError::InvalidArg(format!("snapshot: {file:?} {why}")));
    if file.contains('\0') {
        return wrong("holds a NUL character");
    }
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_dir() => wrong("is a directory"),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        Err(_) => wrong("does not exist"),
    }
}

/// Two hashes of the same data, because the 64 bits of one hash are too few for a key.
struct SnapshotKeyHasher([DefaultHasher; 2]);

impl SnapshotKeyHasher {
    fn new() -> Self {
        let mut hashes = [DefaultHasher::new(), DefaultHasher::new()];
        hashes[1].write_u8(1);
        Self(hashes)
    }

    /// Adds a file. Returns whether it exists.
    fn file(&mut self, path: &Path) -> bool {
        let metadata = fs::metadata(path).ok();
        path.hash(self);
        metadata.as_ref().map(identity).hash(self);
        metadata.is_some()
    }

    fn key(&self) -> u128 {
        u128::from(self.0[0].finish()) << 64 | u128::from(self.0[1].finish())
    }
}

impl Hasher for SnapshotKeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|hash| hash.write(bytes));
    }

    fn finish(&self) -> u64 {
        self.0[0].finish()
    }
}

/// Returns an identity that changes whenever the file is written to or replaced.
fn identity(metadata: &Metadata) -> [i128; 5] {
    let time = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    [
        metadata.dev().into(),
        metadata.ino().into(),
        metadata.size().into(),
        time(metadata.mtime(), metadata.mtime_nsec()),
        time(metadata.ctime(), metadata.ctime_nsec()),
    ]
}
