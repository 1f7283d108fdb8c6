//! A session for JavaScript. Slow calls return a number, and an event with that number answers them.

use std::sync::Arc;

use napi_derive::napi;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::calls::Calls;
use super::events::NativeEvent;
use super::request::{NativeOptions, NativeRequest};
use super::safety;
use runner::request::RawOptions;
use runner::run::Run;
use runner::session::{Session, SessionCommand, SessionRun};

/// A sequence of shells that share their state.
#[napi]
pub struct NativeSession {
    calls: Arc<Calls>,
    session: Arc<Session>,
}

/// Variables of one command alone.
#[napi(object, object_to_js = false)]
pub struct NativeOwnEnv {
    /// Names and values in turn.
    pub set: Vec<String>,
    /// Names that the command does not have.
    pub removed: Vec<String>,
}

#[napi]
impl NativeSession {
    /// `cwd` is an absolute path.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, cwd: String) -> Self {
        Self { calls: Arc::clone(&bridge.calls), session: Session::new(cwd.into()) }
    }

    /// The directory that the last command has left.
    #[napi(getter)]
    pub fn cwd(&self) -> String {
        self.session.directory().to_string_lossy().into_owned()
    }

    /// Runs a command when its turn comes, and returns its number. Answered as `Bridge.start` is, with `cwd` in the
    /// result. An empty `cwd` is the session's own.
    #[napi]
    pub fn run(
        &self,
        command: String,
        cwd: String,
        host_env: Option<String>,
        umask: u32,
        options: Option<NativeOptions>,
        own_env: Option<NativeOwnEnv>,
    ) -> u32 {
        let native = NativeRequest { command, cwd, host_env, umask, options: options.unwrap_or_default() };
        let own_env = own_env.map(NativeOwnEnv::into_pairs).unwrap_or_default();
        self.calls.run_in(&self.session, native, own_env)
    }

    /// Forgets all state when its turn comes. Answered by `done`.
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
                    NativeEvent::Done
                }
                Err(error) => error.into(),
            }
        });
        id
    }

    /// Refuses further commands.
    #[napi]
    pub fn close(&self) {
        self.session.close();
    }
}

impl NativeOwnEnv {
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
        own_env: Vec<(String, Option<String>)>,
    ) -> u32 {
        let id = self.number();
        let begun = self.registry_of(&native).and_then(|registry| {
            let guard = safety::guard(native.options.safety.as_ref())?;
            let raw = RawOptions { registry, guard, ..native.into() };
            Ok((SessionRun::begin(session, SessionCommand { raw, env: own_env })?, Run::anywhere()?))
        });
        let Some((run, runtime)) = self.begun(id, begun) else { return id };
        let (reply, inbox) = unbounded_channel();
        let emitter = self.emitter(id);
        self.call(id, runtime, Some(reply), None, async move {
            match run.finish(emitter, inbox).await {
                Ok((outcome, cwd)) => NativeEvent::result(outcome, Some(cwd.to_string_lossy().into_owned())),
                Err(error) => error.into(),
            }
        });
        id
    }
}
