//! The processes of a world without namespaces: all descendants of its shims.

use std::collections::BTreeSet;
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

/// The deepest descendant that counts.
const DEPTH: usize = 4096;

/// A process, and when it started: another process may have its pid later.
type RosterProcess = (Pid, u64);

/// The shims of a world, in a file that its listeners read, and a directory that lists their descendants.
#[derive(Debug, Clone)]
pub struct ProcessRoster {
    shims: PathBuf,
    list: PathBuf,
    /// The device and inode of that directory.
    id: (u64, u64),
}

impl ProcessRoster {
    /// Returns a roster without shims, with its files in a directory that no command can change.
    pub(crate) fn create(home: &Path) -> io::Result<Self> {
        let list = home.join("processes");
        fs::create_dir(&list)?;
        let data = fs::metadata(&list)?;
        Ok(Self { shims: home.join("shims"), list, id: (data.dev(), data.ino()) })
    }

    /// Adds a shim. Called by the supervisor alone, before the shim starts anything.
    pub(crate) fn add(&self, shim: Pid) -> io::Result<()> {
        let started = sys::identity(shim).ok_or(io::ErrorKind::NotFound)?.started;
        let lines: Vec<_> = self.living_shims().into_iter().chain([(shim, started)]).map(roster_line).collect();
        let next = self.shims.with_extension("next");
        fs::write(&next, lines.concat())?;
        fs::rename(next, &self.shims)
    }

    /// Returns the living shims.
    fn living_shims(&self) -> Vec<RosterProcess> {
        let text = fs::read_to_string(&self.shims).unwrap_or_default();
        let known = text.lines().filter_map(|line| {
            let (pid, started) = line.split_once(' ')?;
            Some((Pid::from_raw(pid.parse().ok()?), started.parse().ok()?))
        });
        known.filter(|(pid, started)| sys::identity(*pid).is_some_and(|now| now.started == *started)).collect()
    }

    /// Returns whether a process belongs to the world. Its line of parents is read twice: it changes if a process on it
    /// ends meanwhile, and another process gets its pid.
    pub fn has(&self, process: Pid) -> bool {
        let shims = self.living_shims();
        let found = ancestors_below_shim(process, &shims);
        found.is_some() && found == ancestors_below_shim(process, &shims)
    }

    /// Returns the processes of the world, including zombies.
    pub fn all(&self) -> Vec<Pid> {
        let mut waiting: Vec<_> = self.living_shims().into_iter().map(|(shim, _)| shim).collect();
        let mut found = Vec::new();
        while let Some(parent) = waiting.pop() {
            let children = sys::children(parent);
            found.extend_from_slice(&children);
            waiting.extend(children);
        }
        found
    }

    /// Returns the directory that stands for `/proc` where a command lists it.
    pub fn list_directory(&self) -> &Path {
        &self.list
    }

    /// Returns whether a directory with this device and inode is that one.
    pub fn is_list(&self, id: (u64, u64)) -> bool {
        id == self.id
    }

    /// Lets the directory list the processes that there are now, and whatever else `/proc` has. Several listeners may
    /// do so at once.
    pub fn update(&self) -> io::Result<()> {
        let mut missing: BTreeSet<_> = self.all().iter().map(ToString::to_string).collect();
        let mut is_new = true;
        for entry in fs::read_dir(&self.list)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            is_new = false;
            if name.parse::<i32>().is_ok() && !missing.remove(&name) {
                let _ = fs::remove_dir(entry.path());
            }
        }
        missing.iter().try_for_each(|pid| unless_there(fs::create_dir(self.list.join(pid))))?;
        if is_new {
            for entry in fs::read_dir("/proc")?.flatten() {
                self.list_other_entry(&entry)?;
            }
        }
        Ok(())
    }

    /// Lists an entry of `/proc` that is no process.
    fn list_other_entry(&self, entry: &DirEntry) -> io::Result<()> {
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        let there = self.list.join(&name);
        if name.to_string_lossy().parse::<i32>().is_ok() {
            return Ok(());
        }
        unless_there(if kind.is_symlink() {
            symlink(entry.path(), there)
        } else if kind.is_dir() {
            fs::create_dir(there)
        } else {
            fs::write(there, "")
        })
    }
}

fn roster_line((pid, started): RosterProcess) -> String {
    format!("{pid} {started}\n")
}

fn unless_there(made: io::Result<()>) -> io::Result<()> {
    made.or_else(|error| if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
}

/// Returns a process and its parents below a shim. `None`: no shim is above it.
fn ancestors_below_shim(process: Pid, shims: &[RosterProcess]) -> Option<Vec<RosterProcess>> {
    let mut line = Vec::new();
    let mut at = process;
    while line.len() < DEPTH {
        let identity = sys::identity(at)?;
        let known = (at, identity.started);
        if shims.contains(&known) {
            return (!line.is_empty()).then_some(line);
        }
        line.push(known);
        at = identity.parent;
    }
    None
}
