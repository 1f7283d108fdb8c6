//! From a plan to a running child: pipes, a shim, and another try where nothing was started yet.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use super::child::{Child, Sent};
use super::helpers::{HelperError, Helpers};
use crate::background;
use crate::plan::{Plan, Stdin};
use crate::sys;

/// How often a start is tried again when a shim was killed before it took the plan. Nothing was started then.
const TRIES: u32 = 100;
/// The first of them at once, since one dead shim says nothing of the next.
const AT_ONCE: u32 = 3;
/// Between tries when descriptors are short: other commands end meanwhile.
const PAUSE: Duration = Duration::from_millis(20);
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
}

/// A plan that was sent.
pub struct Begun {
    sent: Sent,
    pipes: Pipes,
}

impl Begun {
    /// Sends the plan without waiting, if a shim is at hand.
    pub fn now(helpers: &'static Helpers, order: &Order) -> io::Result<Option<Self>> {
        let Some(shim) = helpers.take() else { return Ok(None) };
        match open_pipes(order) {
            Ok((pipes, theirs)) => {
                Ok(Some(Self { sent: Sent::send(shim, &order.plan, order.task.as_ref(), theirs), pipes }))
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
        loop {
            match Self::once(helpers, order).await {
                Err(HelperError::Spawn(libc::EMFILE | libc::ENFILE | libc::EAGAIN)) if tries < SHORT_OF_DESCRIPTORS => {
                    tries += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                other => return other,
            }
        }
    }

    async fn once(helpers: &'static Helpers, order: &Order) -> Result<Self, HelperError> {
        let shim = helpers.shim().await?;
        match open_pipes(order) {
            Ok((pipes, theirs)) => Ok(Self { sent: Sent::send(shim, &order.plan, order.task.as_ref(), theirs), pipes }),
            Err(error) => {
                helpers.give_back(shim);
                Err(HelperError::Spawn(error.raw_os_error().unwrap_or(libc::EIO)))
            }
        }
    }

    /// Goes on where news can be waited for.
    pub fn follow(self) -> io::Result<(Child, Pipes)> {
        Ok((self.sent.follow()?, self.pipes))
    }

    /// Whether a start may be tried again, once it may.
    pub async fn may_retry(tries: u32) -> bool {
        if tries >= AT_ONCE {
            tokio::time::sleep(PAUSE).await;
        }
        tries < TRIES
    }
}

fn open_pipes(order: &Order) -> io::Result<(Pipes, Vec<OwnedFd>)> {
    let mut theirs = Vec::with_capacity(sys::MAX_FDS);
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
    Ok((Pipes { stdin, stdout, stderr }, theirs))
}
