//! Commands that want a snapshot: those that can be started at once, and those that wait for it.

use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;

use super::asked::{Asked, Wanted};
use super::known::Snapshot;
use crate::error::Error;
use crate::plan::{Boot, Startup};
use crate::request::{RawOptions, Request};
use crate::run::{Listener, Ran, Reply, Run, aborted};

/// A command on its way, perhaps after its snapshot was taken.
pub enum Start {
    /// It has begun.
    Begun(Box<Run>),
    /// It waits.
    Waits(Box<(RawOptions, Wanted)>),
}

impl Start {
    /// Starts a command as [`Run::begin`] does, where its snapshot is known.
    ///
    /// # Errors
    /// When nothing could be run.
    pub fn begin(raw: RawOptions) -> Result<Self, Error> {
        Ok(match at_hand(&raw)? {
            Ok(snapshot) => Self::Begun(Box::new(Run::begin(request(raw, snapshot)?)?)),
            Err(wanted) => Self::Waits(Box::new((raw, wanted))),
        })
    }

    /// Where [`Start::finish`] is to be driven.
    ///
    /// # Errors
    /// When the system gives no threads.
    pub fn runtime(&self) -> Result<&'static Handle, Error> {
        match self {
            Self::Begun(run) => Ok(run.runtime()),
            Self::Waits(_) => Run::anywhere(),
        }
    }

    /// Sees the command through to its outcome.
    ///
    /// # Errors
    /// When nothing could be run.
    pub async fn finish(self, listener: impl Listener, mut replies: UnboundedReceiver<Reply>) -> Result<Ran, Error> {
        let run = match self {
            Self::Begun(run) => *run,
            Self::Waits(waits) => {
                let (mut raw, wanted) = *waits;
                let snapshot = taken(&mut raw, wanted, &mut replies).await;
                Run::begin(request(raw, snapshot)?)?
            }
        };
        run.finish(listener, replies).await
    }
}

/// The snapshot that a command wants, where it is known; `None` where it wants none. The other way what has to be taken.
///
/// # Errors
/// [`Error::InvalidArg`] for a path without a file.
pub fn at_hand(raw: &RawOptions) -> Result<Result<Option<Snapshot>, Wanted>, Error> {
    Ok(match Asked::of(raw)? {
        Asked::Nothing => Ok(None),
        Asked::Unfit(why) => Ok(Some(Snapshot::none(why))),
        Asked::Wanted(wanted) => wanted.at_hand().map(Some).ok_or(wanted),
    })
}

/// The snapshot for this command, which may be given up meanwhile.
pub async fn taken(raw: &mut RawOptions, wanted: Wanted, replies: &mut UnboundedReceiver<Reply>) -> Option<Snapshot> {
    tokio::select! {
        biased;
        () = aborted(replies) => {
            raw.aborted = true;
            None
        }
        snapshot = wanted.take() => Some(snapshot),
    }
}

/// The request of a command, with its snapshot taken.
///
/// # Errors
/// As [`Request::check`], and for a path without a file.
pub async fn request_of(raw: RawOptions) -> Result<Request, Error> {
    let snapshot = match at_hand(&raw)? {
        Ok(snapshot) => snapshot,
        Err(wanted) => Some(wanted.take().await),
    };
    request(raw, snapshot)
}

fn request(raw: RawOptions, snapshot: Option<Snapshot>) -> Result<Request, Error> {
    let mut request = Request::check(raw)?;
    if let Some(snapshot) = snapshot {
        let boot = snapshot.boot(&mut request);
        request.startup =
            (!boot.is_empty()).then(|| Startup { boot: Boot { early: boot, ..Boot::default() }, ..Startup::default() });
    }
    Ok(request)
}
