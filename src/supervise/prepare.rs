//! From a plan, as it came over the socket, to what the system needs to start it.

use std::ffi::CString;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use crate::plan::{MARK, Plan, Stdin};
use crate::sys::{self, Launch, LaunchError, LaunchStep};

/// A launch, and the descriptors that came with its plan.
pub struct Prepared {
    /// What to start.
    pub launch: Launch,
    /// Bash reads a long command through this process, so it stays open as long as the shell runs.
    pub script: Option<OwnedFd>,
    /// The reading ends of the output pipes, the same that the addon reads: with them open here too, no write of the
    /// command ever fails because the host has gone.
    pub pipes: Vec<OwnedFd>,
    /// The command's own ends, to be closed once it has them.
    pub theirs: Vec<OwnedFd>,
    /// What came besides: for a task the other end of its input and what goes there.
    pub rest: Vec<OwnedFd>,
}

/// From a plan and its descriptors to a launch.
pub fn prepare(plan: &Plan, fds: Vec<OwnedFd>) -> Result<Prepared, LaunchError> {
    let damaged = LaunchError { step: LaunchStep::Stdio, errno: libc::EBADMSG };
    let mut fds = fds.into_iter();
    let mut theirs = Vec::with_capacity(3);
    let mut pipes = Vec::with_capacity(2);
    let mut stdio = [0, 1, 2];
    if plan.terminal.is_some() {
        let terminal = fds.next().ok_or(damaged)?;
        stdio = [terminal.as_raw_fd(); 3];
        // Nobody but the addon has its other end: it hangs up when the host is gone.
        theirs.push(terminal);
    } else if plan.stdin == Stdin::Pipe {
        let fd = fds.next().ok_or(damaged)?;
        stdio[0] = fd.as_raw_fd();
        theirs.push(fd);
    }
    for number in plan.outputs() {
        let write = fds.next().ok_or(damaged)?;
        stdio[number] = write.as_raw_fd();
        theirs.push(write);
        pipes.push(fds.next().ok_or(damaged)?);
    }
    if plan.merge && plan.terminal.is_none() {
        stdio[2] = stdio[1];
    }
    let script = if plan.script_at.is_some() { Some(fds.next().ok_or(damaged)?) } else { None };
    let text = |bytes: &[u8]| CString::new(bytes).map_err(|_| damaged);
    let mut argv = plan.argv.iter().map(|argument| text(argument)).collect::<Result<Vec<_>, _>>()?;
    if let (Some(at), Some(script)) = (plan.script_at, &script) {
        let path = text(sys::script_path(script).as_os_str().as_bytes())?;
        *argv.get_mut(at as usize).ok_or(damaged)? = path;
    }
    let (program, cwd) = (text(&plan.program)?, text(&plan.cwd)?);
    let launch = Launch {
        program,
        argv,
        env: plan.env.clone(),
        cwd,
        umask: plan.umask,
        stdio,
        terminal: plan.terminal.is_some(),
        open_files: plan.limits.open_files,
        file_bytes: plan.limits.file_bytes,
    };
    Ok(Prepared { launch, script, pipes, theirs, rest: fds.collect() })
}

/// The mark that a command's processes carry, out of its environment.
pub fn mark_of(env: &[u8]) -> Option<String> {
    let prefix = format!("{MARK}=");
    env.split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(prefix.as_bytes()))
        .map(|mark| String::from_utf8_lossy(mark).into_owned())
}
