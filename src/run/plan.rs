//! From a request to an order: the plan of the process, and the files that travel with it.

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::time::Duration;

use super::warm;
use crate::error::Error;
use crate::plan::{self, Plan, Stdin};
use crate::pty::{Terminal, TerminalError};
use crate::request::Request;
use crate::supervise::{Failure, Helpers, Order};
use crate::sys::{self, LaunchStep};
use crate::task::TaskSpec;

/// The order of a command; `task` if it is a task from its start.
///
/// # Errors
/// When there is no shell, or a file or a terminal cannot be made.
pub fn order_of(request: &Request, helpers: &Helpers, task: Option<TaskSpec>) -> Result<Order, Error> {
    let input = match (&task, &request.stdin) {
        (Some(_), Some(bytes)) => Some(Arc::new(
            sys::anonymous_file(bytes)
                .map_err(|error| Error::system("the standard input could not be kept", error, &request.command))?,
        )),
        _ => None,
    };
    let plan = plan_of(request)?;
    let warm = warm::of(request, &plan, helpers);
    let terminal = request.terminal.as_ref().filter(|_| !request.aborted);
    let terminal = terminal.map(|terminal| open(terminal)).transpose()?;
    Ok(Order { plan, script: None, task, input, warm, terminal })
}

/// The plan of a command.
///
/// # Errors
/// [`Error::ShellNotFound`]
pub fn plan_of(request: &Request) -> Result<Plan, Error> {
    let shell = plan::find(request.shell.as_deref(), request.environment.host_path.as_deref(), &request.cwd)?;
    let (argv, script_at) = request.argv();
    let mut plan = Plan {
        program: shell.as_os_str().as_bytes().to_vec(),
        argv,
        script_at,
        env: request.environment.block(request.cwd.as_os_str().as_bytes()),
        cwd: request.cwd.as_os_str().as_bytes().to_vec(),
        umask: request.umask,
        stdin: if request.stdin.is_some() { Stdin::Pipe } else { Stdin::Null },
        merge: request.merge,
        terminal: request.terminal.as_ref().map(|terminal| terminal.size()),
        limit: request.shim_limit(),
        grace: request.grace,
        limits: request.limits,
    };
    plan.mark(&request.mark);
    Ok(plan)
}

/// The open end of the terminal that the command runs in.
fn open(terminal: &Terminal) -> Result<Arc<OwnedFd>, Error> {
    terminal.open()?;
    let master = terminal.master().inspect_err(|_| terminal.take_back());
    master.map(Arc::new).map_err(|error| TerminalError::None(error).into())
}

/// A file without a name with the command, if that is too long for an argument.
///
/// # Errors
/// When the file cannot be made.
pub fn script_of(request: &Request) -> Result<Option<Arc<OwnedFd>>, Error> {
    if !request.is_script() {
        return Ok(None);
    }
    let file = sys::anonymous_file(request.text().as_bytes())
        .map_err(|error| Error::system("the command could not be kept for the shell", error, &request.command))?;
    Ok(Some(Arc::new(file)))
}

/// Files without names that a cold shell reads before its command, where it is more than a plain one.
#[derive(Default)]
pub struct StartupFiles(Vec<sys::Shared>);

impl StartupFiles {
    /// Writes the files, unless they are written, and lets the plan name them.
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn write(&mut self, request: &Request, plan: &mut Plan) -> Result<(), Error> {
        let Some(startup) = &request.startup else { return Ok(()) };
        if !self.0.is_empty() {
            return Ok(());
        }
        let own = [plan.take("BASH_ENV"), plan.take("POSIXLY_CORRECT")];
        let files = || {
            let boot = sys::Shared::file(&startup.boot.early)?;
            let prologue = sys::Shared::file(&plan::prologue(&request.command, Some(startup)))?;
            let script = plan::boot_script(&[boot.path(), prologue.path()], &startup.boot.late, own);
            std::io::Result::Ok(vec![sys::Shared::file(&script)?, boot, prologue])
        };
        self.0 = files()
            .map_err(|error| Error::system("the state of its shell could not be kept", error, &request.command))?;
        plan.read_first(self.0[0].path());
        Ok(())
    }

    /// Closes the files after a while: a shell that is a task does not report when it has read them.
    pub fn drop_after(&mut self, time: Duration) {
        let files = std::mem::take(&mut self.0);
        if !files.is_empty() {
            tokio::spawn(async move {
                tokio::time::sleep(time).await;
                drop(files);
            });
        }
    }
}

/// Whether the shell is not where it was found before.
pub fn is_shell_gone(failure: &Failure) -> bool {
    failure.step == LaunchStep::Exec && matches!(failure.errno, libc::ENOENT | libc::ENOTDIR)
}

/// Why nothing was started, in the terms of the caller.
pub fn refusal(request: &Request, plan: &Plan, failure: &Failure) -> Error {
    let what = match (failure.step, failure.errno) {
        (LaunchStep::Chdir, libc::ENOTDIR) if request.cwd.exists() => {
            return Error::CwdNotDirectory(request.cwd.clone());
        }
        (LaunchStep::Chdir, libc::ENOENT | libc::ENOTDIR) => return Error::CwdNotFound(request.cwd.clone()),
        (LaunchStep::Chdir, _) => format!("the working directory {} could not be entered", request.cwd.display()),
        (LaunchStep::Exec, _) => format!("{} could not be executed", String::from_utf8_lossy(&plan.program)),
        (LaunchStep::Fork, _) => "no process could be made".to_owned(),
        (LaunchStep::Limits, _) => "its limits could not be set".to_owned(),
        (LaunchStep::Stdio, _) => "the standard streams could not be set up".to_owned(),
        (LaunchStep::Files, _) => "the files of its task could not be made".to_owned(),
        (LaunchStep::Group, _) => "its cgroup could not be entered".to_owned(),
    };
    Error::system(what, std::io::Error::from_raw_os_error(failure.errno), &request.command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RawOptions;

    fn request(cwd: &str) -> Request {
        let raw = RawOptions { command: "x".into(), cwd: cwd.into(), ..RawOptions::default() };
        Request::check(raw).expect("valid")
    }

    #[test]
    fn each_failed_step_has_its_error() {
        let there = request("/dev/null");
        let missing = request("/no/such/directory");
        let plan = plan_of(&there).expect("bash");
        let code = |request: &Request, step, errno| {
            let error = refusal(request, &plan, &Failure { step, errno });
            (error.code(), error.to_string())
        };
        for (request, errno, expected) in [
            (&missing, libc::ENOENT, "ERR_BASH_CWD_NOT_FOUND"),
            (&missing, libc::ENOTDIR, "ERR_BASH_CWD_NOT_FOUND"),
            (&there, libc::ENOTDIR, "ERR_BASH_CWD_NOT_DIRECTORY"),
            (&there, libc::EACCES, "ERR_BASH_SPAWN"),
        ] {
            assert_eq!(code(request, LaunchStep::Chdir, errno).0, expected, "{errno}");
        }
        let (code, message) = code(&there, LaunchStep::Fork, libc::EAGAIN);
        assert_eq!(code, "ERR_BASH_SPAWN");
        assert!(message.starts_with("could not start the command (no process could be made: EAGAIN"), "{message}");
        assert!(message.ends_with("): x"), "{message}");
    }

    #[test]
    fn only_a_shell_that_is_not_there_is_searched_again() {
        let gone = |step, errno| is_shell_gone(&Failure { step, errno });
        assert!(gone(LaunchStep::Exec, libc::ENOENT) && gone(LaunchStep::Exec, libc::ENOTDIR));
        assert!(!gone(LaunchStep::Exec, libc::EACCES) && !gone(LaunchStep::Chdir, libc::ENOENT));
    }
}
