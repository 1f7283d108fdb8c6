//! A command whose result may be given again: its stored run, or what it takes to store its run.

use std::fs::metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::spawn_blocking;
use twox_hash::XxHash3_128;

use super::drive::replay::replay;
use super::entry::has_receipt;
use super::guard::in_context;
use super::listener::{Listener, Reply};
use super::outcome::{Outcome, Status};
use super::{Finished, Launch, elsewhere};
use crate::error::Error;
use crate::live::runs;
use crate::request::Request;
use crate::reuse::{self, Candidate, Key, Storable, Stored, is_vouched, varies, writes};
use confine::{Confine, Tmp};
use protocol::plan::Startup;
use protocol::task::now_ms;
use receipt::watch::Watch;
use receipt::{Attribution, Receipt};
use safety::{Policy, analyze};

/// Where a command may write by its confinement.
type Places = Vec<String>;

/// What becomes of a command whose result may be given again.
enum Again {
    /// The result of this run, in the tree with this root, is given.
    Given(Arc<Stored>, PathBuf),
    /// It runs, and its run may be stored.
    Runs(Box<Candidate>),
}

impl Launch {
    /// Gives the result of the command's stored run, if there is one. Otherwise prepares the storing of its run.
    pub(super) async fn give_again(
        &mut self,
        listener: &impl Listener,
        replies: &mut UnboundedReceiver<Reply>,
    ) -> Result<Option<Finished>, Error> {
        match self.look_again().await {
            None => Ok(None),
            Some(Again::Runs(candidate)) => {
                self.request.copy = Some(Arc::clone(candidate.copy()));
                self.candidate = Some(candidate);
                Ok(None)
            }
            Some(Again::Given(stored, root)) => self.give(stored, &root, listener, replies).await.map(Some),
        }
    }

    /// Looks for the stored run of the command. `None`: its result must not be given again.
    async fn look_again(&mut self) -> Option<Again> {
        let wanted = self.request.reuse.take()?;
        let places = eligible(&self.request, &wanted)?;
        let (command, cwd) = (self.request.command.clone(), self.request.cwd.clone());
        let surroundings = surroundings(&self.request, &self.order.plan.program);
        let (temp, own) = (self.request.temp.clone(), self.request.live_run.as_ref().map(|run| run.number()));
        let looked = spawn_blocking(move || {
            let root = Watch::root_of(&cwd).ok()?;
            let is_inside = places.iter().flatten().all(|place| Path::new(place).starts_with(&root));
            let found = metadata(&cwd).ok().filter(|_| is_inside)?;
            let key = Key { command, directory: (found.dev(), found.ino()), surroundings };
            if !wanted.fresh
                && !runs().any_in(&root, own)
                && let Some(stored) = reuse::find(&root, &key, wanted.max_age)
            {
                return Some(Again::Given(stored, root));
            }
            let candidate = Candidate::begin(key, (&cwd, root), wanted.store_bytes, &temp);
            Some(Again::Runs(Box::new(candidate)))
        });
        looked.await.ok().flatten()
    }

    async fn give(
        &mut self,
        stored: Arc<Stored>,
        root: &Path,
        listener: &impl Listener,
        replies: &mut UnboundedReceiver<Reply>,
    ) -> Result<Finished, Error> {
        self.open_entry();
        let replayed = replay(&self.request, Arc::clone(&stored), listener, replies).await;
        let mut outcome = Outcome::of(&self.request, replayed.map_err(|error| self.unwatched(error))?);
        outcome.receipt = has_receipt(&self.request).then(|| Receipt::new(Attribution::Command));
        if outcome.status == Status::Exited {
            outcome.evidence = Some(stored.evidence.clone());
            outcome.reused = Some(stored.reused(root));
        } else {
            outcome.evidence = Outcome::not_started(&self.request).evidence;
        }
        outcome.notes.extend(elsewhere::hints(&self.request, &outcome));
        self.note_reuse(&outcome).await;
        if let Some(world) = self.order.plan.world {
            self.helpers.show(world, outcome.files()).await;
        }
        Ok(outcome.into())
    }

    /// Stores the run of the command, which has just ended, if its result may be given again. The run of a session is
    /// returned instead: it is stored if it leaves the session as it was.
    pub(super) async fn keep_run(&mut self, outcome: &Outcome) -> Option<Storable> {
        let storable = self.storable(outcome).await?;
        if self.request.startup.as_ref().is_some_and(Startup::saves) {
            return Some(storable);
        }
        let _ = spawn_blocking(move || storable.store()).await;
        None
    }

    async fn storable(&mut self, outcome: &Outcome) -> Option<Storable> {
        let candidate = self.candidate.take()?;
        let is_over = outcome.status == Status::Exited && outcome.ended_by.is_none();
        let is_alone = outcome.survivors.is_empty() && outcome.background.is_none();
        let (code, evidence) = (outcome.exit_code?, outcome.evidence.as_ref()?);
        let by_signal = |signal: &Option<String>| signal.as_ref().is_some_and(|signal| signal != "SIGPIPE");
        if !is_over || !is_alone || evidence.parts.iter().any(|part| by_signal(&part.signal)) {
            return None;
        }
        let (evidence, run, cwd) = (evidence.clone(), outcome.run.clone(), self.request.cwd.clone());
        let denials = outcome.confinement.as_ref().map(|held| held.denials.clone()).unwrap_or_default();
        let (at, ended) = (now_ms(), Instant::now());
        let stored = move |output| Stored { run, at, ended, code, evidence, output, denials };
        spawn_blocking(move || candidate.end(&cwd, stored)).await.ok().flatten()
    }
}

/// Returns where a command may write, by its confinement, if its result may be given again at all. `None` otherwise.
fn eligible(request: &Request, wanted: &reuse::Wanted) -> Option<Option<Places>> {
    let is_plain = request.terminal.is_none() && request.streams.is_none() && !request.background;
    if !is_plain {
        return None;
    }
    let analysis = in_context(request, |context| analyze(&request.command, context, &Policy::default()));
    if varies(&analysis) {
        return None;
    }
    if is_vouched(&analysis, &wanted.commands) {
        return Some(None);
    }
    let places = places(request.confine.as_deref()?)?;
    (analysis.complete && !analysis.commands.iter().any(writes)).then_some(Some(places))
}

/// Returns where a confined command may write, if it reaches no host and has its own place for temporary files.
fn places(confine: &Confine) -> Option<Places> {
    let reach = confine.policy.reach(&confine.policy.root);
    (reach.offline && confine.policy.tmp == Tmp::Private).then_some(reach.write)
}

/// Returns a hash of all that a command is given besides its text and its directory. The code by which a session saves
/// its state names other files each time, and is none of it.
fn surroundings(request: &Request, program: &[u8]) -> u128 {
    let Request { args, cwd, environment, startup, stdin, umask, limits, confine, merge, .. } = request;
    let state = startup.as_ref().map(|startup| (&startup.boot, &startup.given, startup.saves()));
    let all = (program, args, cwd, environment.text(), state, stdin, umask, limits, confine, merge);
    XxHash3_128::oneshot(format!("{all:?}").as_bytes())
}
