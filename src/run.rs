//! The spine, the whole way of a command: request → safety → start → capture → outcome.

mod deliver;
mod drive;
mod ending;
mod feed;
mod guard;
mod journal;
mod listener;
mod moving;
mod replies;
mod report;
mod snapshots;
mod stream;
mod waits;
mod warm;

use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

pub use ending::{Driven, Unsettled};
pub use listener::{Listener, Prompt, Reply, Snapshot, aborted};
pub use report::Rest;
pub use warm::warm_up;

use crate::background::Place;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::plan::{self, Kind, Plan, Startup, Stdin};
use crate::pty::{Terminal, TerminalError};
use crate::request::Request;
use crate::supervise::{Admission, Begun, Child, Helpers, News, Order, Slot, Started};
use crate::{supervise, sys};
use drive::Drive;

/// For another terminal to end, when as many are open as there is room for.
const TERMINAL_PLACE: std::time::Duration = std::time::Duration::from_secs(10);
/// Within this time any shell has started up.
const STARTED_UP: std::time::Duration = std::time::Duration::from_secs(10);

/// A command that has ended.
pub struct Ran {
    /// How.
    pub outcome: Outcome,
    /// What it has left to its shell.
    pub rest: Rest,
}

impl Ran {
    fn only(outcome: Outcome) -> Self {
        Self { outcome, rest: Rest::default() }
    }
}

/// A command on its way.
pub struct Run {
    request: Request,
    order: Order,
    helpers: &'static Helpers,
    begun: Option<(Begun, Slot)>,
    /// What its shell reads first where it starts cold, for as long as it may.
    files: Vec<sys::Shared>,
    /// Its place among the terminals, if it has one.
    terminal_slot: Option<Slot>,
    /// Held until a task is there that counts itself.
    _place: Option<Place>,
}

impl Run {
    /// Starts a command as far as that goes without waiting: with a shim at hand it is on its way when this returns.
    ///
    /// # Errors
    /// When nothing could be run.
    pub fn begin(mut request: Request) -> Result<Self, Error> {
        let takes_long = guard::takes_long(&request);
        if !takes_long && !request.aborted {
            guard::judge(&mut request)?;
        }
        let failed = |error: supervise::HelperError| Error::helper(&error, &request.command);
        let helpers = Helpers::shared().map_err(failed)?;
        let task = if request.background && !request.aborted { request.order(request.limit) } else { None };
        let place = request.registry.as_ref().zip(task.as_ref());
        let place = place.map(|(registry, task)| registry.reserve(&task.id)).transpose()?;
        let input = match (&task, &request.stdin) {
            (Some(_), Some(bytes)) => Some(Arc::new(sys::anonymous_file(bytes).map_err(|error| {
                Error::spawn("the standard input could not be kept", error.raw_os_error(), &request.command)
            })?)),
            _ => None,
        };
        let plan = plan_of(&request)?;
        let warm = warm::of(&request, &plan, helpers);
        let terminal = request.terminal.as_ref().filter(|_| !request.aborted);
        let terminal = terminal.map(|terminal| opened(terminal)).transpose()?;
        let order = Order { plan, script: None, task, input, warm, terminal };
        // A terminal is made where that may take its time, and waits for a place of its own.
        let ready = (order.warm.is_some() || request.startup.is_none()) && request.terminal.is_none();
        let mut run =
            Self { request, order, helpers, begun: None, files: Vec::new(), terminal_slot: None, _place: place };
        // A script is megabytes long, and not written down on the caller's thread.
        if !run.request.aborted
            && !takes_long
            && ready
            && !run.request.is_script()
            && let Some(slot) = Admission::shared().try_enter()
        {
            // Without descriptors now there may be some when it is this command's turn.
            run.begun = Begun::now(helpers, &run.order).ok().flatten().map(|begun| (begun, slot));
        }
        Ok(run)
    }

    /// Where things are to be driven that need no command.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn anywhere() -> Result<&'static tokio::runtime::Handle, Error> {
        Helpers::shared().map(Helpers::runtime).map_err(|error| Error::helper(&error, ""))
    }

    /// Which shells can run it; `None` where it starts cold.
    pub fn kind(&self) -> Option<Arc<Kind>> {
        self.order.warm.as_ref().map(|warm| Arc::clone(&warm.kind))
    }

    /// Where [`Run::finish`] is to be driven.
    pub fn runtime(&self) -> &'static tokio::runtime::Handle {
        self.helpers.runtime()
    }

    /// Sees the command through to its outcome.
    ///
    /// # Errors
    /// When nothing could be run.
    pub async fn finish(
        mut self,
        listener: impl Listener,
        mut replies: UnboundedReceiver<Reply>,
    ) -> Result<Ran, Error> {
        if self.request.aborted {
            return Ok(Ran::only(Outcome::not_started(&self.request)));
        }
        guard::judge(&mut self.request)?;
        self.write_script()?;
        let mut begun = self.begun.take();
        let mut tries = 0;
        let mut looked_again = false;
        loop {
            let (sent, _slot) = match begun.take() {
                Some(begun) => begun,
                None => {
                    let aborted = tokio::select! {
                        biased;
                        () = listener::aborted(&mut replies) => None,
                        begun = self.begin_later() => Some(begun?),
                    };
                    match aborted {
                        Some(begun) => begun,
                        None => return Ok(Ran::only(Outcome::not_started(&self.request))),
                    }
                }
            };
            let started = sent.follow().map_err(|error| self.system(&error))?;
            let ran = if self.request.background {
                self.become_task(started.child).await
            } else {
                self.drive(started, &listener, &mut replies).await
            };
            match ran? {
                Ok(ran) => return Ok(ran),
                Err(News::Lost { .. }) if Begun::may_retry(tries).await => tries += 1,
                // The shell that was found before is gone: perhaps there is another one.
                Err(News::Failed(failure)) if is_gone(&failure) && !looked_again => {
                    looked_again = true;
                    plan::forget();
                    self.order.plan = plan_of(&self.request)?;
                    self.files.clear();
                }
                Err(News::Failed(failure)) => return Err(self.refusal(&failure)),
                Err(_) => return Err(Error::spawn("the helper processes were killed", None, &self.request.command)),
            }
        }
    }

    async fn drive(
        &mut self,
        mut started: Started,
        listener: &impl Listener,
        replies: &mut UnboundedReceiver<Reply>,
    ) -> Result<Result<Ran, News>, Error> {
        if let Some((_, mark)) = &mut started.shell {
            self.request.mark = std::mem::take(mark);
        }
        let drive = Drive::new(&self.request, started, listener, replies).map_err(|error| self.system(&error))?;
        // What the shell of a session is like after the command is not known yet.
        let saves = self.request.startup.as_ref().is_some_and(Startup::saves);
        let kind = self.order.warm.as_ref().map(|warm| &warm.kind).filter(|_| !saves);
        Ok(drive.run(self.helpers, kind).await.map(|mut driven| {
            let rest = std::mem::take(&mut driven.rest);
            Ran { rest, outcome: Outcome::of(&self.request, driven) }
        }))
    }

    /// From its start on the command is its shim's.
    async fn become_task(&mut self, mut child: Child) -> Result<Result<Ran, News>, Error> {
        let files = std::mem::take(&mut self.files);
        if !files.is_empty() {
            // Its shell has just begun to start up, and nobody says when it has read them.
            tokio::spawn(async move {
                tokio::time::sleep(STARTED_UP).await;
                drop(files);
            });
        }
        match (child.news().await, &self.request.registry) {
            (News::Task(task), Some(registry)) => {
                registry.own(child.into_link(), (*task).clone());
                self.helpers.replace();
                Ok(Ok(Ran::only(Outcome::started(&self.request, *task))))
            }
            // Its shim had begun with it: what became of it stands in the folder.
            (News::Lost { untaken: false }, Some(registry)) => {
                let task = match &self.order.task {
                    Some(order) => registry.lost(&order.id).await,
                    None => None,
                };
                let killed = || Error::spawn("the helper processes were killed", None, &self.request.command);
                task.ok_or_else(killed).map(|task| Ok(Ran::only(Outcome::started(&self.request, task))))
            }
            (news, _) => Ok(Err(news)),
        }
    }

    fn system(&self, error: &std::io::Error) -> Error {
        Error::spawn("the pipes could not be watched", error.raw_os_error(), &self.request.command)
    }

    /// A command that is too long for an argument goes to the shell as a file without a name.
    fn write_script(&mut self) -> Result<(), Error> {
        if self.request.is_script() {
            let failed = |error: std::io::Error| {
                Error::spawn("the command could not be kept for the shell", error.raw_os_error(), &self.request.command)
            };
            let file = sys::anonymous_file(self.request.text().as_bytes()).map_err(failed)?;
            self.order.script = Some(Arc::new(file));
        }
        Ok(())
    }

    /// A shell that starts cold, and is more than a plain one, finds what it reads first in files.
    fn write_startup(&mut self) -> Result<(), Error> {
        let Some(startup) = &self.request.startup else { return Ok(()) };
        if !self.files.is_empty() {
            return Ok(());
        }
        let plan = &mut self.order.plan;
        let own = [plan.take("BASH_ENV"), plan.take("POSIXLY_CORRECT")];
        let files = || {
            let boot = sys::Shared::file(&startup.boot.early)?;
            let prologue = sys::Shared::file(&plan::prologue(&self.request.command, Some(startup)))?;
            let script = plan::boot_script(&[boot.path(), prologue.path()], &startup.boot.late, own);
            std::io::Result::Ok(vec![sys::Shared::file(&script)?, boot, prologue])
        };
        self.files = files().map_err(|error| {
            Error::spawn("the state of its shell could not be kept", error.raw_os_error(), &self.request.command)
        })?;
        plan.read_first(self.files[0].path());
        Ok(())
    }

    async fn begin_later(&mut self) -> Result<(Begun, Slot), Error> {
        let closed = || Error::spawn("no place among the running commands", None, &self.request.command);
        if self.request.terminal.is_some() && self.terminal_slot.is_none() {
            let full = "as many terminals are open as this process has descriptors for; end one first";
            let slot = Admission::shared().enter_terminal(TERMINAL_PLACE).await;
            self.terminal_slot = Some(slot.ok_or_else(|| Error::spawn(full, None, &self.request.command))?);
        }
        let slot = Admission::shared().enter().await.ok_or_else(closed)?;
        self.write_startup()?;
        let begun = Begun::later(self.helpers, &self.order).await;
        let begun = begun.map_err(|error| Error::helper(&error, &self.request.command))?;
        Ok((begun, slot))
    }

    /// Why nothing was started, in the caller's terms.
    fn refusal(&self, failure: &supervise::Failure) -> Error {
        let request = &self.request;
        match (failure.step, failure.errno) {
            (sys::LaunchStep::Chdir, libc::ENOENT) => Error::CwdNotFound(request.cwd.clone()),
            (sys::LaunchStep::Chdir, libc::ENOTDIR) if request.cwd.exists() => {
                Error::CwdNotDirectory(request.cwd.clone())
            }
            (sys::LaunchStep::Chdir, libc::ENOTDIR) => Error::CwdNotFound(request.cwd.clone()),
            (step, errno) => {
                let what = match step {
                    sys::LaunchStep::Fork => "no process could be made".to_owned(),
                    sys::LaunchStep::Chdir => {
                        format!("the working directory {} could not be entered", request.cwd.display())
                    }
                    sys::LaunchStep::Exec => {
                        format!("{} could not be executed", String::from_utf8_lossy(&self.order.plan.program))
                    }
                    sys::LaunchStep::Limits => "its limits could not be set".to_owned(),
                    sys::LaunchStep::Stdio => "the standard streams could not be set up".to_owned(),
                    sys::LaunchStep::Files => "the files of its task could not be made".to_owned(),
                };
                Error::spawn(what, Some(errno), &request.command)
            }
        }
    }
}

fn is_gone(failure: &supervise::Failure) -> bool {
    failure.step == sys::LaunchStep::Exec && matches!(failure.errno, libc::ENOENT | libc::ENOTDIR)
}

/// The open end of a terminal that the command is to run in.
fn opened(terminal: &Terminal) -> Result<Arc<OwnedFd>, Error> {
    terminal.open()?;
    let master = terminal.master().inspect_err(|_| terminal.take_back());
    master.map(Arc::new).map_err(|error| TerminalError::None(error).into())
}

fn plan_of(request: &Request) -> Result<Plan, Error> {
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
