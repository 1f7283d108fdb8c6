//! From a plan to a running child: pipes, a shim, and another try where nothing was started yet.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use super::child::{Child, News, Sent};
use super::helpers::{HelperError, Helpers};
use super::idle::Shim;
use crate::background;
use crate::plan::{self, Kind, Plan, Stdin};
use crate::supervise::protocol::Given;
use crate::sys::{self, LaunchError, LaunchStep};

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
    /// A shell that waits can run it.
    pub warm: Option<Warm>,
}

/// What a shell that waits is told.
pub struct Warm {
    /// Which one it can be.
    pub kind: Arc<Kind>,
    /// The command, and what is read before it.
    pub given: Given,
    /// Where none waits, one is made to.
    pub made: bool,
}

/// A plan that was sent.
pub struct Begun {
    sent: Sent,
    way: Way,
}

/// How its pipes come about.
enum Way {
    Cold(Pipes),
    /// They come with the news that the shell with this mark runs it; `waited`: it was there before.
    Waiting {
        mark: String,
        waited: bool,
    },
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
        Self::with(helpers, shim, order).map(Some)
    }

    /// Sends what there is to send to this shim.
    fn with(helpers: &'static Helpers, mut shim: Shim, order: &Order) -> io::Result<Self> {
        if let Some(warm) = &order.warm {
            let waited = shim.shell.is_some();
            if !waited && warm.made {
                shim.prepare(Arc::clone(&warm.kind), plan::next_mark(), false);
            }
            if let Some(shell) = shim.shell.take() {
                let way = Way::Waiting { mark: shell.mark, waited };
                return Ok(Self { sent: Sent::give(shim, &warm.given), way });
            }
        }
        match open_pipes(order) {
            Ok((pipes, theirs)) => {
                let sent = Sent::send(shim, &order.plan, order.task.as_ref(), theirs);
                Ok(Self { sent, way: Way::Cold(pipes) })
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
        let shim = match helpers.take(order.warm.as_ref().map(|warm| &*warm.kind)) {
            Some(shim) => shim,
            None => helpers.shim().await?,
        };
        Self::with(helpers, shim, order)
            .map_err(|error| HelperError::Spawn(error.raw_os_error().unwrap_or(libc::EIO)))
    }

    /// Goes on where news can be waited for, once there are pipes. The news otherwise, of a waiting shell that does not
    /// run it: nothing was started.
    pub async fn follow(self, helpers: &'static Helpers, plan: &Plan) -> io::Result<Result<Started, News>> {
        let mut child = self.sent.follow()?;
        let (mark, waited) = match self.way {
            Way::Cold(pipes) => return Ok(Ok(Started { child, pipes, shell: None })),
            Way::Waiting { mark, waited } => (mark, waited),
        };
        Ok(match child.news().await {
            News::Started(pid, ends) => match pipes_of(plan, ends) {
                Some(pipes) => Ok(Started { child, pipes, shell: Some((pid, mark)) }),
                // Descriptors were short, so that some of them were lost on the way. Its shim ends it with the socket.
                None => Err(News::Failed(LaunchError { step: LaunchStep::Stdio, errno: libc::EMFILE })),
            },
            // A shim says that it begins before it does.
            News::Lost { .. } => Err(News::Lost { untaken: true }),
            News::Stale(errno) => {
                helpers.stale(waited, errno);
                child.give_back(helpers, None);
                Err(News::Stale(errno))
            }
            news => Err(news),
        })
    }

    /// Whether a start may be tried again, once it may.
    pub async fn may_retry(tries: u32) -> bool {
        if tries >= AT_ONCE {
            tokio::time::sleep(PAUSE).await;
        }
        tries < TRIES
    }
}

/// Has a shell of this kind wait, unless one does. Returns whether one waits then.
pub async fn warm_up(helpers: &'static Helpers, kind: Arc<Kind>) -> Result<bool, HelperError> {
    let mut shim = match helpers.take_waiting(&kind) {
        Some(shim) => {
            helpers.give_back(shim);
            return Ok(true);
        }
        None => helpers.shim().await?,
    };
    shim.prepare(kind, plan::next_mark(), true);
    let shell = shim.shell.take();
    let mut child = Sent::nothing(shim).follow().map_err(|error| HelperError::of(&error))?;
    let waits = matches!(child.news().await, News::Prepared(true));
    let mut shim = child.into_shim();
    shim.shell = shell.filter(|_| waits);
    helpers.give_back(shim);
    Ok(waits)
}

/// The addon's ends as a shim sends them.
fn pipes_of(plan: &Plan, ends: Vec<OwnedFd>) -> Option<Pipes> {
    let mut ends = ends.into_iter();
    let stdin = if plan.stdin == Stdin::Pipe { Some(ends.next()?) } else { None };
    let stdout = ends.next()?;
    let stderr = if plan.merge { None } else { Some(ends.next()?) };
    Some(Pipes { stdin, stdout, stderr })
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
