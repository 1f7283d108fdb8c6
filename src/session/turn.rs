//! One command of a session: from its turn to the state that it leaves.

use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use super::exchange::Exchange;
use super::session::{Session, Turn};
use super::state::State;
use super::{is_complete, mentions_trap};
use crate::error::Error;
use crate::outcome::{Outcome, Status};
use crate::plan::{Boot, Kind, Startup};
use crate::request::{RawOptions, Request};
use crate::run::{Listener, Ran, Reply, Rest, Run, aborted};
use crate::snapshot::{self, Snapshot, Wanted};
use crate::supervise::{Admission, Child, Helpers, News, Slot};
use crate::sys::End;

/// For a shell to write its state down and end. One that takes longer has its traps or its output stand in the way.
const SAVED: Duration = Duration::from_secs(2);

/// A command of a session, as it was asked for.
pub struct Asked {
    /// The options; `cwd` is empty where it is the session's.
    pub raw: RawOptions,
    /// Variables that only this command has.
    pub given: Vec<(String, Option<String>)>,
}

/// A command of a session on its way.
pub struct SessionRun {
    turn: Turn,
    /// Until its turn has come.
    asked: Option<Asked>,
    /// From then on.
    ready: Option<Ready>,
}

/// A command that can be run.
struct Ready {
    run: Run,
    exchange: Exchange,
    given: Vec<(String, Option<String>)>,
    before: Option<Arc<State>>,
    slot: Slot,
}

impl SessionRun {
    /// Gets in line, and starts the command if it is its turn.
    ///
    /// # Errors
    /// When nothing could be run.
    pub fn begin(session: &Arc<Session>, asked: Asked) -> Result<Self, Error> {
        let turn = session.enter()?;
        if turn.is_here()
            && let Ok(snapshot) = snapshot_of(session, &asked)?
            && let Some(slot) = Admission::shared().try_enter_session()
        {
            let ready = Ready::of(session, asked, snapshot, slot)?;
            return Ok(Self { turn, asked: None, ready: Some(ready) });
        }
        Ok(Self { turn, asked: Some(asked), ready: None })
    }

    /// Sees it through. Gives its outcome and the folder that the session is in then.
    ///
    /// # Errors
    /// When nothing could be run.
    pub async fn finish(
        mut self,
        listener: impl Listener,
        mut replies: UnboundedReceiver<Reply>,
    ) -> Result<(Outcome, PathBuf), Error> {
        let session = Arc::clone(self.turn.session());
        if let Some(mut asked) = self.asked.take() {
            let mut slot = None;
            if !asked.raw.aborted {
                let come = async {
                    self.turn.come().await?;
                    slot = Admission::shared().enter_session().await;
                    Ok::<(), Error>(())
                };
                tokio::select! {
                    biased;
                    () = aborted(&mut replies) => asked.raw.aborted = true,
                    come = come => come?,
                }
            }
            let Some(slot) = slot else {
                if session.is_closed() {
                    return Err(Error::SessionClosed);
                }
                return Ok((Outcome::not_started(&Request::check(asked.raw)?), session.folder()));
            };
            let snapshot = match snapshot_of(&session, &asked)? {
                Ok(snapshot) => snapshot,
                Err(wanted) => snapshot::taken(&mut asked.raw, wanted, &mut replies).await,
            };
            self.ready = Some(Ready::of(&session, asked, snapshot, slot)?);
        }
        let Some(Ready { run, exchange, given, before, slot }) = self.ready.take() else {
            return Err(Error::SessionClosed);
        };
        let kind = run.kind();
        let Ran { outcome, rest: Rest { child, folder } } = run.finish(listener, replies).await?;
        let kept = Kept { session: Arc::clone(&session), exchange, given, before, kind, _slot: slot };
        match child {
            // The command has ended, its shell still writes: the next command waits for that, nobody else does.
            Some(child) => {
                if let Some(folder) = folder {
                    session.moved_to(&folder);
                }
                let (folder, turn) = (session.folder(), self.turn);
                tokio::spawn(async move {
                    kept.follow(child).await;
                    drop(turn);
                });
                Ok((outcome, folder))
            }
            None => {
                match outcome.status {
                    Status::Exited => kept.keep(),
                    Status::Signaled => kept.exchange.give_back(),
                    _ => kept.exchange.hold(outcome.pid),
                }
                Ok((outcome, session.folder()))
            }
        }
    }
}

/// What a command needs to leave its state to the session.
struct Kept {
    session: Arc<Session>,
    exchange: Exchange,
    given: Vec<(String, Option<String>)>,
    before: Option<Arc<State>>,
    kind: Option<Arc<Kind>>,
    _slot: Slot,
}

impl Kept {
    /// Waits for the shell to write its state down and to end.
    async fn follow(self, mut child: Child) {
        let Ok(helpers) = Helpers::shared() else { return };
        if let Some(kind) = self.kind.as_ref().filter(|_| !self.session.is_closed()) {
            // Most commands change nothing: a shell for the next one starts up meanwhile.
            helpers.prepare(kind);
        }
        let mut news = timeout(SAVED, child.news()).await;
        while let Ok(News::Waits(..)) = news {
            // The answer to a question about the command.
            news = timeout(SAVED, child.news()).await;
        }
        match news {
            Ok(News::Ended(ended)) => {
                if ended.alive {
                    child.release(None);
                    let _ = timeout(SAVED, child.news()).await;
                    helpers.replace();
                } else if ended.last {
                    child.leave(helpers);
                } else {
                    child.give_back(helpers, None);
                }
                if matches!(ended.end, End::Code(_)) {
                    self.keep();
                }
            }
            _ => child.abandon(helpers),
        }
    }

    /// Takes over what was written, if it is whole, and has a shell wait that begins with it.
    fn keep(self) {
        let Self { session, exchange, given, before, kind, .. } = self;
        if let Some(mut state) = exchange.state() {
            state.forget_given(before.as_deref(), &given);
            let next = kind.map(|kind| Arc::new(kind.with(state.cwd(), |env| boot(&state, env))));
            let stays = session.left(state, next.clone());
            if let (true, Some(next), Ok(helpers)) = (stays, next, Helpers::shared()) {
                helpers.prepare(&next);
            }
        }
        exchange.give_back();
    }
}

fn is_bash(shell: Option<&str>) -> bool {
    shell.is_none_or(|shell| shell.rsplit('/').next() == Some("bash"))
}

fn boot(state: &State, env: &[u8]) -> Boot {
    Boot { early: state.restore_early(env).into(), late: state.restore_late().into() }
}

/// What a session begins with: afterwards its own state holds it. The other way what has to be taken first.
fn snapshot_of(session: &Session, asked: &Asked) -> Result<Result<Option<Snapshot>, Wanted>, Error> {
    if session.state().is_some() { Ok(Ok(None)) } else { snapshot::at_hand(&asked.raw) }
}

impl Ready {
    fn of(session: &Arc<Session>, asked: Asked, snapshot: Option<Snapshot>, slot: Slot) -> Result<Self, Error> {
        let Asked { mut raw, given } = asked;
        let mut notes = Vec::new();
        let own_folder = !raw.cwd.is_empty();
        if !own_folder {
            let (folder, moved) = session.place();
            raw.cwd = folder.to_string_lossy().into_owned();
            notes.extend(moved);
        }
        let failed = |error: std::io::Error| {
            Error::spawn("the files of the session could not be made", error.raw_os_error(), &raw.command)
        };
        let exchange = Exchange::take().map_err(failed)?;
        let report = exchange.report().map_err(failed)?;
        let before = session.state();
        let own_trap = mentions_trap(&raw.command)
            || before.as_ref().is_some_and(|state| state.mentions_trap())
            || snapshot.as_ref().is_some_and(Snapshot::mentions_trap);
        // What goes to the background from the start leaves nothing to the session.
        let saves = raw.mode.as_deref() != Some("background");
        let tail = (saves && own_trap && is_complete(&raw.command)).then(|| exchange.call(true));
        // A shell that a signal ends runs its EXIT trap, too: it is not believed before it has ended.
        let early = saves && !own_trap && !raw.command.contains("kill");
        let at_exit = (saves && !own_trap).then(|| exchange.call(false));
        if !is_bash(raw.shell.as_deref()) {
            notes.push("the session keeps no state of a shell that is not bash".to_owned());
        }
        raw.startup = Some(Startup { boot: Boot::default(), given: given.clone(), at_exit, tail });
        let mut request = Request::check(raw)?;
        request.notes.extend(notes);
        let begins_with = snapshot.map(|snapshot| snapshot.boot(&mut request));
        if let Some(startup) = &mut request.startup {
            startup.boot.early = begins_with.unwrap_or_default();
            let folder = request.cwd.as_os_str().as_bytes();
            if let Some(state) = &before {
                let moved = own_folder.then(|| state.in_folder(folder));
                startup.boot = boot(moved.as_ref().unwrap_or(state), &request.environment.block(folder));
            }
        }
        request.report = early.then_some(report);
        Ok(Self { run: Run::begin(request)?, exchange, given, before, slot })
    }
}
