//! The shim's side of a warm shell. The shell reports when it has started up, and then waits until it is resumed.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use nix::unistd::Pid;

use crate::cgroup::ShimCgroup;
use crate::launch::{PreparedLaunch, launch_in, mark_of, prepare_launch};
use crate::pipeline_tap_names::PipelineTapNames;
use crate::tree;
use protocol::plan::{self, ChildPlan, InheritedDescriptor, ROOM, ShellBootCode, StdinSource, WarmShellKind};
use protocol::{OutputPipe, RunDescriptors, WarmCommandPlace, WarmShellEnds};
use sys::{ChildExit, ChildRestriction, DeviceInode, LaunchError, LaunchStep, ResourceUsage, Signal};

/// A warm shell, ready or still starting up.
pub struct WarmShell {
    pub shell: Pid,
    pub plan: ChildPlan,
    /// Whether the changes of its command can be recorded.
    pub recorded: bool,
    /// The read ends of the shell's output pipes.
    pub pipes: Vec<OwnedFd>,
    /// The descriptors of the start, until the shell is ready.
    start: Option<WarmUpDescriptors>,
    /// How the shell exited, if it was ready. The shell may have run its command already.
    pub ended: Option<(ChildExit, ResourceUsage, Instant)>,
    /// The pipes of its tap, if it has one.
    pub tap: Option<PipelineTapNames>,
}

/// Descriptors that a shell needs until it is ready.
struct WarmUpDescriptors {
    /// The pipe on which the shell reports that it is ready.
    ready: OwnedFd,
    /// Files that the shell opens by path meanwhile.
    _files: Vec<OwnedFd>,
    /// The pipe on which the shell waits. Closing it resumes the shell.
    resume: OwnedFd,
    /// The write end of the shell's standard input, if it has one.
    stdin: Option<OwnedFd>,
}

/// The paths by which a warm shell opens descriptors of its shim.
struct WarmShellPaths {
    /// The descriptors that the shell inherits, if it is confined.
    inherits: Option<Vec<(RawFd, InheritedDescriptor)>>,
}

impl WarmShellPaths {
    fn of(&mut self, fd: &OwnedFd, inherited: InheritedDescriptor) -> PathBuf {
        match &mut self.inherits {
            Some(inherits) => {
                inherits.push((fd.as_raw_fd(), inherited));
                inherited.path()
            }
            None => sys::script_path(fd),
        }
    }

    fn closes(&self) -> Vec<InheritedDescriptor> {
        self.inherits.iter().flatten().map(|(_, inherited)| *inherited).collect()
    }
}

impl WarmShell {
    /// Starts a warm shell.
    pub fn start(
        kind: WarmShellKind,
        files: Vec<OwnedFd>,
        group: &mut Option<Rc<ShimCgroup>>,
        bounds: ChildRestriction,
    ) -> Result<Self, LaunchError> {
        let failed = |error: io::Error| LaunchError {
            step: LaunchStep::Stdio,
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        };
        let WarmShellKind { mut plan, boot, recorded } = kind;
        let (waits, resume) = sys::pipe().map_err(failed)?;
        sys::set_nonblocking(&resume).map_err(failed)?;
        let (ready, reports) = sys::pipe().map_err(failed)?;
        let mut paths = WarmShellPaths { inherits: plan.world.map(|_| Vec::new()) };
        let (waits_at, reports_at) =
            (paths.of(&waits, InheritedDescriptor::Resume), paths.of(&reports, InheritedDescriptor::Ready));
        let ShellBootCode { early, late } = boot;
        let boot = (!early.is_empty()).then(|| sys::anonymous_file(&early)).transpose().map_err(failed)?;
        let boot_at = boot.as_ref().map(|boot| paths.of(boot, InheritedDescriptor::Boot));
        let scripts: Vec<_> = boot_at.iter().map(AsRef::as_ref).collect();
        let mut closes = paths.closes();
        closes.extend(plan.world.map(|_| InheritedDescriptor::Script));
        let script = plan::warm_script(&scripts, &late, &waits_at, &reports_at, &closes);
        let script = sys::anonymous_file(&script).map_err(failed)?;
        plan.read_first(&paths.of(&script, InheritedDescriptor::Script));
        plan.argv.extend([b"-c".to_vec(), vec![b' '; ROOM]]);
        let mut descriptors = RunDescriptors { files, ..RunDescriptors::default() };
        let mut stdin = None;
        if plan.stdin == StdinSource::Pipe {
            let (read, write) = sys::pipe().map_err(failed)?;
            sys::set_nonblocking(&write).map_err(failed)?;
            descriptors.stdin = Some(read);
            stdin = Some(write);
        }
        for _ in plan.outputs() {
            let (read, write) = sys::pipe().map_err(failed)?;
            sys::set_nonblocking(&read).map_err(failed)?;
            descriptors.outputs.push(OutputPipe { write, read });
        }
        let PreparedLaunch { mut launch, pipes, theirs, tap, .. } = prepare_launch(&plan, descriptors)?;
        launch.bounds = bounds;
        launch.limits.core_bytes = recorded.then_some(0);
        launch.inherits.extend(paths.inherits.iter().flatten().map(|(fd, file)| (*fd, file.number())));
        let shell = launch_in(&mut launch, group)?;
        drop(theirs);
        let files = [Some(waits), Some(reports), boot, Some(script)].into_iter().flatten().collect();
        let start = Some(WarmUpDescriptors { ready, _files: files, resume, stdin });
        Ok(Self { shell, plan, recorded, pipes, start, ended: None, tap })
    }

    /// Returns the mark of the shell.
    pub fn mark(&self) -> Option<String> {
        mark_of(&self.plan.env)
    }

    /// Returns the pipe on which the shell reports that it is ready. `None` once it is ready.
    pub fn ready(&self) -> Option<BorrowedFd<'_>> {
        self.start.as_ref().map(|start| start.ready.as_fd())
    }

    /// Records that the shell is ready. Returns the place for its command, and the descriptors for the addon, which
    /// alone can resume the shell from here on. `None` if the shell was ready before, or if the place is unknown.
    pub fn take_ready_descriptors(&mut self) -> Option<(WarmCommandPlace, WarmShellEnds)> {
        let WarmUpDescriptors { resume, stdin, .. } = self.start.take()?;
        let (start, end) = sys::argument_addresses(self.shell)?;
        let command = start + self.plan.argv.iter().rev().skip(1).map(|argument| argument.len() + 1).sum::<usize>();
        let (directory, program) = DeviceInode::of_process(self.shell).ok()?;
        let ends = self.pipes.iter().map(OwnedFd::try_clone).collect::<io::Result<Vec<_>>>().ok()?;
        let shell = sys::host_pid(self.shell)?.as_raw();
        let place = WarmCommandPlace { shell, command: command as u64, directory, program };
        let ends = WarmShellEnds {
            resume: Some(resume),
            streams: stdin.into_iter().chain(ends).collect(),
            freshness: Vec::new(),
        };
        (command + ROOM < end).then_some((place, ends))
    }

    /// Returns whether the command is still the blanks that the shell was started with, so that no command was given.
    pub fn is_blank(&self) -> bool {
        sys::command_line(self.shell).is_some_and(|line| line.ends_with(&" ".repeat(ROOM)))
    }

    /// Kills the shell and what it has started. Returns them for the caller to reap, the shell first. Empty if the
    /// shell was reaped already.
    pub fn dismiss(self) -> Vec<Pid> {
        if self.ended.is_some() {
            return Vec::new();
        }
        let below = tree::descendants_of(self.shell, |_| true);
        sys::signal(self.shell, Signal::SIGKILL);
        tree::kill_members(&below);
        std::iter::once(self.shell).chain(below.iter().map(|member| member.pid)).collect()
    }
}
