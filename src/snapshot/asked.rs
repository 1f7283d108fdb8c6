//! What a command asks for, and by what it is known: everything that the rc files can go by.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::environment::{Given, given};
use crate::error::Error;
use crate::plan;
use crate::request::{RawOptions, RawSnapshot};

/// Of these bash reads the first that is there when somebody logs in.
const LOGIN: [&str; 3] = [".bash_profile", ".bash_login", ".profile"];
const INTERACTIVE: &str = ".bashrc";

/// What a command wants of the user's shell.
pub enum Asked {
    /// Nothing.
    Nothing,
    /// What it cannot have; says why.
    Unfit(String),
    /// A snapshot.
    Wanted(Wanted),
}

/// A snapshot that is wanted.
pub struct Wanted {
    /// The shell, absolute.
    pub shell: PathBuf,
    /// What the rc files are read with.
    pub given: Given,
    /// The rc files that are there, in the order in which they are read.
    pub files: Vec<PathBuf>,
    /// Of them, the one that the one before it may have read already.
    pub bashrc: Option<PathBuf>,
    /// The mask of new files.
    pub umask: u32,
    /// Tells it from others.
    pub key: u128,
    /// The caller says which PATH the command has.
    pub own_path: bool,
}

impl Asked {
    /// What these options ask for.
    ///
    /// # Errors
    /// [`Error::InvalidArg`] for a path without a file.
    pub fn of(raw: &RawOptions) -> Result<Self, Error> {
        let Some(snapshot) = &raw.snapshot else { return Ok(Self::Nothing) };
        if let RawSnapshot::File(file) = snapshot {
            check_path(file)?;
        }
        if raw.aborted {
            return Ok(Self::Nothing);
        }
        let name = raw.shell.as_deref().map_or("bash", |shell| shell.rsplit('/').next().unwrap_or_default());
        if name != "bash" {
            return Ok(Self::Unfit(format!("only bash can read it, and the shell is {name}")));
        }
        let path = raw.host_env.split('\0').find_map(|entry| entry.strip_prefix("PATH="));
        // A shell that is not there is told where the command is started.
        let Ok(shell) = plan::find(raw.shell.as_deref(), path, Path::new(&raw.cwd)) else { return Ok(Self::Nothing) };
        let Ok(shell) = std::path::absolute(shell) else { return Ok(Self::Nothing) };
        let given = given(raw)?;
        Ok(Self::Wanted(Wanted::of(snapshot, shell, given, raw)))
    }
}

impl Wanted {
    fn of(snapshot: &RawSnapshot, shell: PathBuf, given: Given, raw: &RawOptions) -> Self {
        let mut hash = Hashes::new();
        env!("CARGO_PKG_VERSION").hash(&mut hash);
        (&shell, &given.block, &given.home, raw.umask).hash(&mut hash);
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
                    let file = given.home.join(name);
                    if hash.file(&file) && files.is_empty() {
                        files.push(file);
                    }
                }
                let file = given.home.join(INTERACTIVE);
                if hash.file(&file) {
                    bashrc = (!files.is_empty()).then(|| file.clone());
                    files.push(file);
                }
            }
        }
        let own_path = raw.env.iter().any(|(name, _)| name == "PATH");
        Self { shell, given, files, bashrc, umask: raw.umask, key: hash.key(), own_path }
    }
}

fn check_path(file: &str) -> Result<(), Error> {
    let wrong = |why: &str| Err(Error::InvalidArg(format!("snapshot: {file:?} {why}")));
    if file.contains('\0') {
        return wrong("holds a NUL character");
    }
    match fs::metadata(file) {
        Ok(metadata) if metadata.is_dir() => wrong("is a folder"),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Ok(()),
        Err(_) => wrong("does not exist"),
    }
}

/// Two hashes of the same, since one has too few bits to stand for what it was made of.
struct Hashes([DefaultHasher; 2]);

impl Hashes {
    fn new() -> Self {
        let mut hashes = [DefaultHasher::new(), DefaultHasher::new()];
        hashes[1].write_u8(1);
        Self(hashes)
    }

    /// Takes in which file is there, and whether it is.
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

impl Hasher for Hashes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|hash| hash.write(bytes));
    }

    fn finish(&self) -> u64 {
        self.0[0].finish()
    }
}

/// Another one whenever the file was written to, or replaced.
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
