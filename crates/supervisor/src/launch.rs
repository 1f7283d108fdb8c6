//! From a plan, as received from the socket, to a launch.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use nix::unistd::Pid;

use super::cgroup::ShimCgroup;
use super::pipeline_tap_names::PipelineTapNames;
use protocol::plan::{ChildPlan, InheritedDescriptor, MARK, StdinSource};
use protocol::{OutputPipe, RunDescriptors, TaskInput};
use sys::{ChildRestriction, LaunchError, LaunchLimits, LaunchStep, ProgramLaunch};

/// A launch, and the descriptors that came with its plan.
pub struct PreparedLaunch {
    /// The program to start.
    pub launch: ProgramLaunch,
    /// Bash reads a long command through this process, so the script stays open as long as the shell runs.
    pub script: Option<OwnedFd>,
    /// The read ends of the output pipes, shared with the addon. Because they are open here too, no write of the
    /// command fails if the host dies.
    pub pipes: Vec<OwnedFd>,
    /// The command's ends of the pipes, which are closed once the command has them.
    pub theirs: Vec<OwnedFd>,
    /// The rest of a task's input.
    pub input: Option<TaskInput>,
    /// The pipes of the shell's tap, if it has one.
    pub tap: Option<PipelineTapNames>,
}

/// Prepares the launch of a plan with its descriptors.
pub fn prepare_launch(plan: &ChildPlan, descriptors: RunDescriptors) -> Result<PreparedLaunch, LaunchError> {
    let damaged = LaunchError { step: LaunchStep::Stdio, errno: libc::EBADMSG };
    let RunDescriptors { terminal, stdin, outputs, script, files, input } = descriptors;
    let complete = terminal.is_some() == plan.terminal.is_some()
        && (stdin.is_some() || plan.terminal.is_some() || plan.stdin == StdinSource::Null)
        && outputs.len() == plan.outputs().len()
        && script.is_some() == plan.script_at.is_some()
        && files.len() == plan.files.len();
    if !complete {
        return Err(damaged);
    }
    let tap = PipelineTapNames::of(plan, &files);
    let mut stdio = terminal.as_ref().map_or([0, 1, 2], |terminal| [terminal.as_raw_fd(); 3]);
    if let Some(stdin) = &stdin {
        stdio[0] = stdin.as_raw_fd();
    }
    for (number, pipe) in plan.outputs().zip(&outputs) {
        stdio[number] = pipe.write.as_raw_fd();
    }
    if plan.merge && plan.terminal.is_none() {
        stdio[2] = stdio[1];
    }
    let (writes, pipes): (Vec<_>, Vec<_>) = outputs.into_iter().map(|OutputPipe { write, read }| (write, read)).unzip();
    // Only the host holds the other end of a terminal, so that the terminal hangs up when the host is gone.
    let mut inherits: Vec<_> =
        plan.files.iter().zip(&files).map(|(file, fd)| (fd.as_raw_fd(), file.number())).collect();
    let theirs = terminal.into_iter().chain(stdin).chain(writes).chain(files).collect();
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| damaged);
    let mut argv = plan.argv.iter().map(|argument| text(argument)).collect::<Result<Vec<_>, _>>()?;
    if let (Some(at), Some(script)) = (plan.script_at, &script) {
        let path = if plan.world.is_some() {
            inherits.push((script.as_raw_fd(), InheritedDescriptor::Command.number()));
            InheritedDescriptor::Command.path()
        } else {
            sys::script_path(script)
        };
        let path = text(path.as_os_str().as_bytes())?;
        *argv.get_mut(at as usize).ok_or(damaged)? = path;
    }
    let (program, cwd) = (text(&plan.program)?, text(&plan.cwd)?);
    let launch = ProgramLaunch {
        program,
        argv,
        env: plan.executed_env(),
        cwd,
        umask: plan.umask,
        stdio,
        terminal: plan.terminal.is_some(),
        limits: LaunchLimits {
            open_files: plan.limits.open_files,
            file_bytes: plan.limits.file_bytes,
            core_bytes: plan.record.as_ref().map(|_| 0),
        },
        group: None,
        inherits,
        bounds: ChildRestriction::None,
    };
    Ok(PreparedLaunch { launch, script, pipes, theirs, input, tap })
}

/// Starts a program in a cgroup. If the cgroup cannot be entered, the program starts without it, and the cgroup is
/// given up.
pub fn launch_in(launch: &mut ProgramLaunch, group: &mut Option<Rc<ShimCgroup>>) -> Result<Pid, LaunchError> {
    launch.group = group.as_ref().map(|group| group.descriptor());
    match sys::launch(launch) {
        Err(LaunchError { step: LaunchStep::Group, .. }) => {
            *group = None;
            launch.group = None;
            sys::launch(launch)
        }
        launched => launched,
    }
}

/// Returns the mark that a command's processes carry, from its environment.
pub fn mark_of(env: &[u8]) -> Option<String> {
    let prefix = format!("{MARK}=");
    env.split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(prefix.as_bytes()))
        .map(|mark| String::from_utf8_lossy(mark).into_owned())
}
