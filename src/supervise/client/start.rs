//! From a plan to a running child: pipes, a shim, and another try where nothing was started yet.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use nix::unistd::Pid;

use super::child::{Child, News, Sent};
use super::helpers::{HelperError, Helpers};
use super::idle::Shim;
use super::ready::Stale;
use crate::background;
use crate::plan::{Kind, Plan, Stdin};
use crate::sys;

/// How often a start is tried again when a shim was killed before it took the plan. Nothing was started then.
const TRIES: u32 = 100;
/// The first of them at once, since one dead shim says nothing of the next.
const AT_ONCE: u32 = 3;
/// Between tries when descriptors are short: other commands end meanwhile.
const PAUSE: Duration = Duration::from_millis(20);
/// For a shell to start up.
const STARTED_UP: Duration = Duration::from_secs(5);
/// For how long descriptors may be short before that is an error.
const SHORT_OF_DESCRIPTORS: u32 = 500;

/// The addon's ends of a command's pipes.
pub struct Pipes {
    /// To its standard input, if the plan has one.
    pub stdin: Option<OwnedFd>,
    /// Its standard output.
    pub stdout: OwnedFd,
    /// Its standard error; `None` when merged.
    pub stderr: Option<OwnedFd>,
    /// Of a terminal the end that its programs have: open, so that it does not end while its shell runs.
    pub other_end: Option<OwnedFd>,
}

/// What a start needs; kept for another try.
pub struct Order {
    /// What to start.
    pub plan: Plan,
    /// The command as a file, when it is too long for an argument.
    pub script: Option<Arc<OwnedFd>>,
    /// It is to be a task from its start.
    pub task: Option<background::Order>,
    /// What a task reads on its standard input, if its plan has one: its shim writes it.
    pub input: Option<Arc<OwnedFd>>,
    /// The open end of the terminal that it runs in.
    pub terminal: Option<Arc<OwnedFd>>,
    /// A shell that waits can run it.
    pub warm: Option<Warm>,
}

/// What a shell that waits is told.
pub struct Warm {
    /// Which one it can be.
    pub kind: Arc<Kind>,
    /// The command.
    pub command: Vec<u8>,
    /// What the shell reads before it.
    pub prologue: Vec<u8>,
    /// Where none waits, one is made to.
    pub made: bool,
}

/// A plan that was sent, or a command that a waiting shell was given.
pub struct Begun {
    sent: Sent,
    pipes: Pipes,
    /// The shell that waited, and its mark.
    shell: Option<(i32, String)>,
}

/// A command that was started, or is just being.
pub struct Started {
    /// It.
    pub child: Child,
    /// The addon's ends of its pipes.
    pub pipes: Pipes,
    /// Where a waiting shell runs it: its pid, and its mark, which is the command's.
    pub shell: Option<(i32, String)>,
}

impl Begun {
    /// Sends the plan without waiting, if a shim is at hand.
    pub fn now(helpers: &'static Helpers, order: &Order) -> io::Result<Option<Self>> {
        let Some(shim) = helpers.take(order.warm.as_ref().map(|warm| &*warm.kind)) else { return Ok(None) };
        match Self::given(helpers, shim, order) {
            Given::Begun(begun) => Ok(Some(begun)),
            // Its shell has to start up first, which is not waited for here.
            Given::Not(shim) if order.warm.as_ref().is_some_and(|warm| warm.made) => {
                helpers.give_back(shim);
                Ok(None)
            }
            Given::Not(shim) => Self::cold(helpers, shim, order).map(Some),
            Given::Lost => Ok(None),
        }
    }

    /// Has the shell that waits below this shim run it, if one does.
    fn given(helpers: &'static Helpers, mut shim: Shim, order: &Order) -> Given {
        let Some(warm) = &order.warm else { return Given::Not(shim) };
        let Some((ready, mark)) = shim.take_ready(&warm.kind) else { return Given::Not(shim) };
        let shell = ready.shell();
        // Its shell would run without it: a shim that was killed a moment ago may still be there.
        if sys::is_dying(Pid::from_raw(shim.pid)) {
            helpers.stale(Stale::Gone);
            helpers.replace();
            return Given::Lost;
        }
        match ready.give(&shim.socket, &order.plan, warm) {
            Ok(pipes) => {
                helpers.used();
                Given::Begun(Self { sent: Sent::nothing(shim), pipes, shell: Some((shell, mark)) })
            }
            Err(why) => {
                helpers.stale(why);
                if why == Stale::Gone {
                    // The shim may believe that it was given: it ends with its socket.
                    helpers.replace();
                    return Given::Lost;
                }
                Given::Not(shim)
            }
        }
    }

    /// Sends the plan to this shim.
    fn cold(helpers: &'static Helpers, shim: Shim, order: &Order) -> io::Result<Self> {
        match open_pipes(order) {
            Ok((pipes, theirs)) => {
                let sent = Sent::send(shim, &order.plan, order.task.as_ref(), theirs);
                Ok(Self { sent, pipes, shell: None })
            }
            Err(error) => {
                helpers.give_back(shim);
                Err(error)
            }
        }
    }

    /// Sends the plan when a shim and descriptors are to be had.
    pub async fn later(helpers: &'static Helpers, order: &Order) -> Result<Self, HelperError> {
        let mut tries = 0;
        let mut cold = false;
        loop {
            match Self::once(helpers, order, cold).await {
                Err(HelperError::Spawn(libc::EMFILE | libc::ENFILE | libc::EAGAIN)) if tries < SHORT_OF_DESCRIPTORS => {
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                // Somebody ends shells that wait: this one is not to.
                Ok(None) if !cold => cold = true,
                Ok(begun) => return begun.ok_or(HelperError::Lost),
                Err(error) => return Err(error),
            }
        }
    }

    /// `None`: the shim was gone, and another one can be tried.
    async fn once(helpers: &'static Helpers, order: &Order, cold: bool) -> Result<Option<Self>, HelperError> {
        let failed = |error: io::Error| HelperError::Spawn(error.raw_os_error().unwrap_or(libc::EIO));
        let mut shim = match helpers.take(order.warm.as_ref().map(|warm| &*warm.kind)) {
            Some(shim) => shim,
            None => helpers.shim().await?,
        };
        if cold {
            return Self::cold(helpers, shim, order).map(Some).map_err(failed);
        }
        if let Some(warm) = order.warm.as_ref().filter(|warm| warm.made) {
            shim = made(helpers, shim, &warm.kind).await.map_err(failed)?;
        }
        match Self::given(helpers, shim, order) {
            Given::Begun(begun) => Ok(Some(begun)),
            Given::Not(shim) => Self::cold(helpers, shim, order).map(Some).map_err(failed),
            Given::Lost => Ok(None),
        }
    }

    /// Goes on where news can be waited for.
    pub fn follow(self) -> io::Result<Started> {
        let Self { sent, pipes, shell } = self;
        let mut child = sent.follow()?;
        if shell.is_some() {
            child.has_started();
        }
        Ok(Started { child, pipes, shell })
    }

    /// Whether a start may be tried again, once it may.
    pub async fn may_retry(tries: u32) -> bool {
        if tries >= AT_ONCE {
            tokio::time::sleep(PAUSE).await;
        }
        tries < TRIES
    }
}

/// What came of giving a command to a waiting shell.
enum Given {
    /// It runs.
    Begun(Begun),
    /// None waits; the shim can start one.
    Not(Shim),
    /// The shim is not to be used any more.
    Lost,
}

/// Has a shell of this kind wait below this shim, unless one does; it may not come about.
async fn made(helpers: &'static Helpers, mut shim: Shim, kind: &Arc<Kind>) -> io::Result<Shim> {
    shim.hear();
    if shim.is_ready(kind) || !helpers.shells_can_wait() {
        return Ok(shim);
    }
    if !shim.has(kind) {
        shim.prepare(Arc::clone(kind));
    }
    let Some(shell) = shim.shell.take() else { return Ok(shim) };
    let mut child = Sent::nothing(shim).follow()?;
    child.prepares();
    let arrived = async {
        loop {
            match child.news().await {
                News::Prepared(mark, ready) if mark == shell.mark => return ready,
                // Of a shell that was there before.
                News::Prepared(..) => {}
                _ => return None,
            }
        }
    };
    let ready = tokio::time::timeout(STARTED_UP, arrived).await.ok().flatten();
    let mut shim = child.into_shim();
    shim.shell = ready.map(|ready| shell.arrived(ready));
    Ok(shim)
}

/// Has a shell of this kind wait, unless one does. Returns whether one waits then.
pub async fn warm_up(helpers: &'static Helpers, kind: Arc<Kind>) -> Result<bool, HelperError> {
    let shim = match helpers.take_any(&kind) {
        Some(shim) => shim,
        None => helpers.shim().await?,
    };
    let shim = made(helpers, shim, &kind).await.map_err(|error| HelperError::of(&error))?;
    let waits = shim.is_ready(&kind);
    helpers.give_back(shim);
    Ok(waits)
}

fn open_pipes(order: &Order) -> io::Result<(Pipes, Vec<OwnedFd>)> {
    let mut theirs = Vec::with_capacity(sys::MAX_FDS);
    if let Some(terminal) = &order.terminal {
        let other_end = sys::open_other_end(terminal)?;
        theirs.push(other_end.try_clone()?);
        if let Some(script) = &order.script {
            theirs.push(script.try_clone()?);
        }
        let stdout = terminal.try_clone()?;
        return Ok((Pipes { stdin: None, stdout, stderr: None, other_end: Some(other_end) }, theirs));
    }
    let stdin = match order.plan.stdin {
        Stdin::Null => None,
        Stdin::Pipe => {
            let (read, write) = sys::pipe()?;
            sys::set_nonblocking(&write)?;
            theirs.push(read);
            Some(write)
        }
    };
    let mut output = || {
        let (read, write) = sys::pipe()?;
        sys::set_nonblocking(&read)?;
        theirs.push(write);
        // The shim holds it too: should this process go, its command still has somebody to write to.
        theirs.push(read.try_clone()?);
        io::Result::Ok(read)
    };
    let stdout = output()?;
    let stderr = if order.plan.merge { None } else { Some(output()?) };
    if let Some(script) = &order.script {
        theirs.push(script.try_clone()?);
    }
    let stdin = match (stdin, &order.input) {
        (Some(write), Some(input)) => {
            theirs.extend([write, input.try_clone()?]);
            None
        }
        (stdin, _) => stdin,
    };
    Ok((Pipes { stdin, stdout, stderr, other_end: None }, theirs))
}
