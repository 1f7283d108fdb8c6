//! A session as JavaScript sees it: what takes time is answered by an event with the number that was returned.

use std::sync::Arc;

use napi_derive::napi;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::calls::{Calls, failed};
use super::events::NativeEvent;
use super::request::{NativeOptions, NativeRequest};
use super::safety;
use crate::error::Error;
use crate::request::RawOptions;
use crate::run::Run;
use crate::session::{Asked, Session, SessionRun};

/// Shells that follow one another.
#[napi]
pub struct NativeSession {
    calls: Arc<Calls>,
    session: Arc<Session>,
}

/// Variables that only one command has.
#[napi(object, object_to_js = false)]
pub struct NativeGiven {
    /// Names and values in turn.
    pub set: Vec<String>,
    /// Names that it has not.
    pub removed: Vec<String>,
}

#[napi]
impl NativeSession {
    /// `cwd` is an absolute path.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, cwd: String) -> Self {
        Self { calls: Arc::clone(&bridge.calls), session: Session::new(cwd.into()) }
    }

    /// Where the last command has left it.
    #[napi(getter)]
    pub fn cwd(&self) -> String {
        self.session.folder().to_string_lossy().into_owned()
    }

    /// Runs a command as soon as it is its turn, and returns its number; answered as `Bridge.start` is, the result with
    /// `cwd`. An empty `cwd` is the session's own.
    #[napi]
    pub fn run(
        &self,
        command: String,
        cwd: String,
        host_env: String,
        umask: u32,
        options: Option<NativeOptions>,
        given: Option<NativeGiven>,
    ) -> u32 {
        let native = NativeRequest { command, cwd, host_env, umask, options: options.unwrap_or_default() };
        let given = given.map(NativeGiven::into_pairs).unwrap_or_default();
        self.calls.run_in(&self.session, native, given)
    }

    /// Back to the beginning, when it is its turn; answered by `closed`.
    #[napi]
    pub fn reset(&self) -> u32 {
        let id = self.calls.number();
        let entered = self.session.enter().and_then(|turn| Ok((turn, Run::anywhere()?)));
        let Some((turn, runtime)) = self.calls.begun(id, entered) else { return id };
        self.calls.call(id, runtime, None, None, async move {
            let mut turn = turn;
            match turn.come().await {
                Ok(()) => {
                    turn.session().reset();
                    NativeEvent { closed: Some(true), ..NativeEvent::default() }
                }
                Err(error) => failed(error),
            }
        });
        id
    }

    /// Nothing runs in it from here on.
    #[napi]
    pub fn close(&self) {
        self.session.close();
    }
}

impl NativeGiven {
    fn into_pairs(self) -> Vec<(String, Option<String>)> {
        let mut set = self.set.into_iter();
        let mut pairs = Vec::new();
        while let (Some(name), Some(value)) = (set.next(), set.next()) {
            pairs.push((name, Some(value)));
        }
        pairs.extend(self.removed.into_iter().map(|name| (name, None)));
        pairs
    }
}

impl Calls {
    /// Runs a command in a session.
    fn run_in(
        self: &Arc<Self>,
        session: &Arc<Session>,
        native: NativeRequest,
        given: Vec<(String, Option<String>)>,
    ) -> u32 {
        let id = self.number();
        let begun = self.registry_of(&native).and_then(|registry| {
            let guard = safety::guard(native.options.safety.as_ref()).map_err(Error::InvalidArg)?;
            let raw = RawOptions { registry, guard, ..native.into() };
            Ok((SessionRun::begin(session, Asked { raw, given })?, Run::anywhere()?))
        });
        let Some((run, runtime)) = self.begun(id, begun) else { return id };
        let (reply, inbox) = unbounded_channel();
        let teller = self.teller(id);
        self.call(id, runtime, Some(reply), None, async move {
            match run.finish(teller, inbox).await {
                Ok((outcome, cwd)) => NativeEvent {
                    result: Some(outcome.into()),
                    cwd: Some(cwd.to_string_lossy().into_owned()),
                    ..NativeEvent::default()
                },
                Err(error) => failed(error),
            }
        });
        id
    }
}
