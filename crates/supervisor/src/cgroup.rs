//! Cgroups of version 2. Each shim has one, and every process of its command starts there.
//!
//! A supervisor divides the cgroup of its host: it creates a directory of its own, and below that each shim creates a
//! cgroup for its commands. The names contain pid and start time of supervisor and shim, so that later supervisors
//! recognize the cgroups of dead ones.
//!
//! - **A cgroup belongs to a shim, not to a command.** A shim takes the next command only if no process of the last
//!   command is left, so the cgroup always contains exactly one tree. Creating and removing the cgroup takes about 70
//!   µs, once for all commands of the shim. A start in a cgroup takes about 35 µs more than a start outside. CPU time
//!   counts from the command's start.
//! - **No process escapes by its start.** clone3 with CLONE_INTO_CGROUP creates it inside. If a filter forbids clone3,
//!   the child enters before exec. If it cannot, the shim runs this command and all later commands without a cgroup.
//! - **Who kills:** the shim with each round of SIGKILL for the whole tree, the supervisor when a shim has died, the
//!   addon when it has lost the shim, and the next supervisor if all of them are dead. Spared children of a task share
//!   its cgroup, so a tree with spared children is killed process by process.
//! - **Who removes:** the shim when it exits, or the supervisor if the shim was killed. The last of the supervisor and
//!   its shims removes the supervisor's cgroup. The state file of a task names its cgroup, so any process that settles
//!   a lost task can kill the rest.
//! - **No hierarchy of another program is changed.** Only directories below the host's cgroup are created. A sibling of
//!   the host's cgroup is created only if the parent is the border of a delegation and already passes controllers on.
//! - **Pidfds are not kept.** A pidfd of each process of a tree would have to be opened after each fork, which no
//!   process can observe in time. A cgroup contains a process from its first instruction.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use nix::unistd::{Pid, getpid};

use protocol::plan::CommandLimits;
use sys::{CgroupControllers, FeatureSwitch, ResourceUsage};

/// Turns cgroups off.
pub static SWITCH: FeatureSwitch = FeatureSwitch::new("AGENT_BASH_CGROUP", "0");
/// Beginning of the names of all supervisors' cgroups.
const PREFIX: &str = "agent-bash.";
/// Processes and threads that a tree may have beyond its limit of processes. The kernel counts threads, too, which the
/// limit does not, so this only slows a fork bomb down until it is killed.
const BEYOND: u64 = 4096;
/// Attempts to create a cgroup anew.
const TRIES: u32 = 20;
/// Time between two attempts, in which killed processes exit.
const PAUSE: Duration = Duration::from_millis(1);
/// The most bytes that are read of a cgroup's file.
const READ: usize = 4096;

/// The cgroup of a supervisor, which contains the cgroups of its shims.
pub struct SupervisorCgroup {
    directory: PathBuf,
    controllers: CgroupControllers,
    killed: Vec<PathBuf>,
}

impl SupervisorCgroup {
    /// Creates the cgroup of this supervisor, and clears away the cgroups of dead supervisors. `None` if commands have
    /// no cgroups: they are switched off, the system refuses, or a child that starts in a cgroup does not live.
    pub fn begin() -> Option<Self> {
        if SWITCH.is_off() {
            return None;
        }
        // Messages and state files contain the path as text.
        let place = sys::cgroup_place().ok().filter(|place| place.directory.to_str().is_some())?;
        let killed = remove_dead_cgroups(&place.directory);
        let namespace = sys::pid_namespace().map_or(0, |namespace| namespace.id);
        let directory = place.directory.join(format!("{PREFIX}{}.{namespace}", cgroup_name_of(getpid())?));
        fs::create_dir(&directory).ok()?;
        // The test comes before the cgroup passes controllers on, because it may contain no process after that.
        if !File::open(&directory).is_ok_and(|group| sys::can_start_in(group.as_fd())) {
            let _ = fs::remove_dir(&directory);
            return None;
        }
        let offered = sys::listed_controllers(&directory, "cgroup.controllers");
        for (offered, name) in [(offered.memory, "+memory"), (offered.pids, "+pids")] {
            if offered {
                let _ = write_control_file(&directory.join("cgroup.subtree_control"), name);
            }
        }
        let controllers = sys::listed_controllers(&directory, "cgroup.subtree_control");
        Some(Self { directory, controllers, killed })
    }

    /// Takes the cgroups of dead shims that were killed, to be removed once their processes have exited.
    pub fn take_killed(&mut self) -> Vec<PathBuf> {
        std::mem::take(&mut self.killed)
    }

    /// Returns the path of a shim's cgroup.
    pub fn path_of(&self, shim: Pid) -> Option<PathBuf> {
        Some(self.directory.join(cgroup_name_of(shim)?))
    }

    /// Creates the cgroup of this process, a shim. `None` if the system refuses, for example because of a limit on
    /// cgroups.
    pub fn create_for_this_shim(&self) -> Option<ShimCgroup> {
        ShimCgroup::create(&self.path_of(sys::own_host_pid())?, self.controllers).ok()
    }

    /// Removes the cgroup of this supervisor, unless it contains cgroups of shims.
    pub fn remove(&self) {
        let _ = fs::remove_dir(&self.directory);
    }
}

/// The cgroup of a shim.
pub struct ShimCgroup {
    path: PathBuf,
    directory: File,
    cpu: File,
    controllers: CgroupControllers,
    /// CPU time that all processes used before the command.
    before: Cell<ResourceUsage>,
    /// Processes that the kernel had killed for their memory before the command.
    killed_before: Cell<u64>,
    /// Whether the kernel bounds the memory of the command.
    bounds_memory: Cell<bool>,
    /// Whether the cgroup serves one command only: limits are set, or its processes were killed at once.
    spent: Cell<bool>,
}

impl ShimCgroup {
    fn create(path: &Path, controllers: CgroupControllers) -> io::Result<Self> {
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        Ok(Self {
            path: path.to_owned(),
            directory: File::open(path)?,
            cpu: File::open(path.join("cpu.stat"))?,
            controllers,
            before: Cell::default(),
            killed_before: Cell::default(),
            bounds_memory: Cell::new(false),
            spent: Cell::new(false),
        })
    }

    /// Prepares the cgroup for a command, or creates a new cgroup in its place for two reasons. Memory of earlier
    /// commands may still be charged to the old cgroup, such as files in a `tmpfs`, so a limit that the kernel enforces
    /// begins with a new cgroup. And some kernels (seen on Linux 6.18) kill every process that starts by
    /// CLONE_INTO_CGROUP in a cgroup that was killed more often than its parent's cgroup. Leaves none if the system
    /// refuses.
    pub fn prepare_for_command(group: &mut Option<Rc<Self>>, limits: CommandLimits) {
        let Some(last) = group else { return };
        let limited =
            last.controllers.memory && limits.memory.is_some() || last.controllers.pids && limits.processes.is_some();
        if limited || last.spent.get() {
            *group = last.create_anew().map(Rc::new);
        }
        if let Some(group) = group {
            if limited {
                group.limit(limits);
            }
            group.note_beginning();
        }
    }

    fn note_beginning(&self) {
        self.before.set(self.total_cpu_usage().unwrap_or_default());
        if self.bounds_memory.get() {
            self.killed_before.set(self.killed_for_memory());
        }
    }

    /// Removes the cgroup and creates it again. A warm shell that was just killed may still be in it for a moment.
    fn create_anew(&self) -> Option<Self> {
        for _ in 0..TRIES {
            if remove(&self.path) {
                return Self::create(&self.path, self.controllers).ok();
            }
            std::thread::sleep(PAUSE);
        }
        None
    }

    /// Sets the limits that the kernel can enforce here.
    fn limit(&self, limits: CommandLimits) {
        let set = |file: &str, text: &str| write_control_file(&self.path.join(file), text).is_ok();
        self.spent.set(true);
        if let Some(most) = limits.memory.filter(|_| self.controllers.memory) {
            // The kernel kills all processes together, and does not move their memory to a disk instead.
            self.bounds_memory.set(set("memory.oom.group", "1") && set("memory.max", &most.to_string()));
            set("memory.swap.max", "0");
        }
        if let Some(most) = limits.processes.filter(|_| self.controllers.pids) {
            set("pids.max", &most.saturating_add(BEYOND).to_string());
        }
    }

    /// Returns the directory, for a child that starts in it.
    pub fn descriptor(&self) -> RawFd {
        self.directory.as_fd().as_raw_fd()
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sends SIGKILL to every process of the cgroup at once, so that no process can start another that escapes.
    pub fn kill(&self) {
        self.spent.set(true);
        kill(&self.path);
    }

    /// Removes the cgroup if no process is left in it, and the supervisor's cgroup if it was the last one.
    pub fn remove(&self) {
        remove_with_parent(&self.path);
    }

    /// Returns the CPU time of the command: of all its processes, alive or not, reaped or not. `None` if it cannot be
    /// read.
    pub fn usage(&self) -> Option<ResourceUsage> {
        let (now, before) = (self.total_cpu_usage()?, self.before.get());
        Some(ResourceUsage {
            user_us: now.user_us.saturating_sub(before.user_us),
            system_us: now.system_us.saturating_sub(before.system_us),
            max_rss: 0,
        })
    }

    fn total_cpu_usage(&self) -> Option<ResourceUsage> {
        let mut buffer = [0; READ];
        let size = self.cpu.read_at(&mut buffer, 0).ok()?;
        let text = std::str::from_utf8(&buffer[..size]).ok()?;
        Some(ResourceUsage {
            user_us: flat_file_value(text, "user_usec")?,
            system_us: flat_file_value(text, "system_usec")?,
            max_rss: 0,
        })
    }

    /// Returns whether the kernel bounds the memory of the command.
    pub fn bounds_memory(&self) -> bool {
        self.bounds_memory.get()
    }

    /// Returns the peak memory of the command, if the kernel has killed the command for its memory.
    pub fn exceeded_memory(&self) -> Option<u64> {
        let killed = self.bounds_memory.get() && self.killed_for_memory() > self.killed_before.get();
        killed.then(|| {
            read_control_file(&self.path.join("memory.peak")).and_then(|text| text.trim().parse().ok()).unwrap_or(0)
        })
    }

    fn killed_for_memory(&self) -> u64 {
        read_control_file(&self.path.join("memory.events"))
            .and_then(|text| flat_file_value(&text, "oom_kill"))
            .unwrap_or(0)
    }
}

/// Returns the name of the cgroup of a supervisor or shim, which distinguishes it from later processes with the same
/// pid.
fn cgroup_name_of(process: Pid) -> Option<String> {
    sys::identity_on_host(process).map(|identity| format!("{process}.{}", identity.started))
}

/// Returns whether the process with this name lives.
fn is_alive(pid: &str, started: &str) -> bool {
    let identity = pid.parse().ok().and_then(|pid| sys::identity_on_host(Pid::from_raw(pid)));
    identity.is_some_and(|identity| !identity.zombie && identity.started.to_string() == started)
}

/// Removes the cgroups of dead supervisors. A shim may outlive its supervisor, with its command. If the shim is dead,
/// too, its processes belong to no host, and are killed. Returns the cgroups with processes that are still exiting.
fn remove_dead_cgroups(place: &Path) -> Vec<PathBuf> {
    let mut killed = Vec::new();
    let namespace = sys::pid_namespace().map_or(0, |namespace| namespace.id).to_string();
    for supervisor in directories(place) {
        let Some([pid, started, theirs]) = supervisor_of(&supervisor) else { continue };
        // Pids of another namespace name other processes here.
        if theirs != namespace || is_alive(pid, started) {
            continue;
        }
        for shim in directories(&supervisor) {
            let name = shim.file_name().and_then(|name| name.to_str()).and_then(split_at_dots);
            if !name.is_some_and(|[pid, started]| is_alive(pid, started)) {
                kill(&shim);
                if !remove(&shim) {
                    killed.push(shim);
                }
            }
        }
        let _ = fs::remove_dir(&supervisor);
    }
    killed
}

/// Splits a name at its dots.
fn split_at_dots<const N: usize>(name: &str) -> Option<[&str; N]> {
    name.split('.').collect::<Vec<_>>().try_into().ok()
}

fn directories(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.flatten().filter(is_directory).map(|entry| entry.path()).collect()
}

/// Returns pid, start time and pid namespace of the supervisor with this cgroup. `None` for any other cgroup.
fn supervisor_of(path: &Path) -> Option<[&str; 3]> {
    split_at_dots(path.file_name()?.to_str()?.strip_prefix(PREFIX)?)
}

/// Returns whether this is the cgroup of a dead shim, whose processes belong to nobody. A task file may name any other
/// path, which must not be trusted.
pub fn is_abandoned(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(split_at_dots);
    let is_shim = path.parent().is_some_and(|above| supervisor_of(above).is_some());
    is_shim && sys::is_cgroup(path) && name.is_some_and(|[pid, started]| !is_alive(pid, started))
}

/// Sends SIGKILL to every process in a shim's cgroup.
pub fn kill(path: &Path) {
    if path.parent().is_some_and(|above| supervisor_of(above).is_some()) {
        let _ = write_control_file(&path.join("cgroup.kill"), "1");
    }
}

/// Removes a shim's cgroup, with the cgroups that its command has left in it. Returns whether it is gone. A cgroup with
/// a process stays.
pub fn remove(path: &Path) -> bool {
    match fs::remove_dir(path) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(_) => {
            let below = directories(path);
            !below.is_empty() && below.iter().all(|group| remove(group)) && fs::remove_dir(path).is_ok()
        }
    }
}

/// Removes a shim's cgroup if no process is left in it, and the cgroup of a dead supervisor if it was the last one. A
/// living supervisor keeps its cgroup for its next shim. Returns whether the shim's cgroup is gone.
pub fn remove_with_parent(path: &Path) -> bool {
    let Some((above, [pid, started, _])) = path.parent().and_then(|above| Some((above, supervisor_of(above)?))) else {
        return true;
    };
    let removed = remove(path);
    if removed && !is_alive(pid, started) {
        let _ = fs::remove_dir(above);
    }
    removed
}

/// Returns the processes in a shim's cgroup, and in the cgroups that its command has created in it.
pub fn members(path: &Path) -> Vec<Pid> {
    let listed = read_control_file(&path.join("cgroup.procs")).unwrap_or_default();
    // A process of another pid namespace is listed as 0.
    let pids = listed.lines().filter_map(|line| line.parse().ok()).filter(|pid| *pid > 0).map(Pid::from_raw);
    pids.chain(directories(path).iter().flat_map(|group| members(group))).collect()
}

/// Returns the number after a key of a flat file.
fn flat_file_value(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))?.trim().parse().ok()
}

fn read_control_file(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

/// Writes a value in one system call, as these files require. Creates no file.
fn write_control_file(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(text.as_bytes())
}

#[cfg(test)]
#[path = "group_tests.rs"]
mod tests;
