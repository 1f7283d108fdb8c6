//! The start of a command: its files, if it starts as a task, then its shell.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use nix::unistd::Pid;

use crate::cgroup::ShimCgroup;
use crate::launch::{self, mark_of};
use crate::pipeline_tap_names::PipelineTapNames;
use protocol::plan::ChildPlan;
use protocol::task::{Task, TaskLog, TaskSpec, TaskStore, now_ms};
use protocol::{RunDescriptors, TaskInput};
use sys::{ChildRestriction, LaunchError, LaunchStep};

/// A command that has just started.
pub struct LaunchedCommand {
    pub shell: Pid,
    pub pipes: Vec<OwnedFd>,
    /// The script, open until bash has opened it by its path.
    pub _script: Option<OwnedFd>,
    pub task: Option<TaskFiles>,
    /// Why the changes are not recorded, though a filter for them was prepared.
    pub unrecorded: Option<io::Error>,
    /// The pipes of the shell's tap, if it has one.
    pub tap: Option<PipelineTapNames>,
}

/// The parts of a command that starts as a task, besides its shell.
pub struct TaskFiles {
    pub spec: TaskSpec,
    pub log: TaskLog,
    pub input: Option<TaskInput>,
}

/// The bounds of a command, and the channel of its calls.
pub struct CommandRestraint {
    /// The confinement, or a filter alone.
    pub bounds: ChildRestriction,
    /// The child's end of the socket of a filter alone.
    pub socket: Option<OwnedFd>,
    /// Whether nothing starts if the changes cannot be recorded.
    pub required: bool,
}

/// Starts the command of a plan in a cgroup. If the cgroup cannot be entered, this command and the next commands start
/// without one. If the filter for a record cannot be installed, the command starts without a record, unless the record
/// is required.
pub fn start(
    plan: &ChildPlan,
    task: Option<TaskSpec>,
    descriptors: RunDescriptors,
    (group, restraint): (&mut Option<Rc<ShimCgroup>>, CommandRestraint),
) -> Result<LaunchedCommand, LaunchError> {
    let launch::PreparedLaunch { mut launch, script, pipes, theirs, input, tap } =
        launch::prepare_launch(plan, descriptors)?;
    let CommandRestraint { bounds, socket: _socket, required } = restraint;
    launch.bounds = bounds;
    // The files come first. A task without files is not started, and a task that kills its shim at once still has its
    // files.
    let log = task.as_ref().map(|spec| create_files(spec, plan, group.as_deref())).transpose()?;
    let mut unrecorded = None;
    let started = match launch::launch_in(&mut launch, group) {
        Err(LaunchError { step: LaunchStep::Filter, errno })
            if matches!(launch.bounds, ChildRestriction::Filtered(_)) =>
        {
            unrecorded = Some(io::Error::from_raw_os_error(errno));
            launch.bounds = ChildRestriction::None;
            if required {
                Err(LaunchError { step: LaunchStep::Record, errno })
            } else {
                launch::launch_in(&mut launch, group)
            }
        }
        started => started,
    };
    let shell = started.inspect_err(|_| {
        if let Some(spec) = &task {
            TaskStore::at(spec.folder.clone()).remove(&spec.id);
        }
    })?;
    // These descriptors would hide the end of the output if they stayed open.
    drop(theirs);
    let task = task.zip(log).map(|(spec, log)| TaskFiles { spec, log, input });
    Ok(LaunchedCommand { shell, pipes, _script: script, task, unrecorded, tap })
}

fn create_files(spec: &TaskSpec, plan: &ChildPlan, group: Option<&ShimCgroup>) -> Result<TaskLog, LaunchError> {
    let store = TaskStore::at(spec.folder.clone());
    let mut task = Task::begin(spec, 0, 0, &mark_of(&plan.env).unwrap_or_default(), now_ms());
    task.cgroup = group.map(|group| group.path().to_owned());
    let created = store.create_log(&spec.id).and_then(|log| {
        let log = TaskLog::lock_and_continue(log, spec.max_log_bytes)?;
        store.write(&task).inspect_err(|_| store.remove(&spec.id))?;
        Ok(log)
    });
    created.map_err(|error| LaunchError { step: LaunchStep::Files, errno: error.raw_os_error().unwrap_or(libc::EIO) })
}
