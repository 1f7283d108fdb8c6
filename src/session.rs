//! A session for JavaScript. Slow calls return a number, and an event with that number answers them.

use std::sync::Arc;

use napi_derive::napi;
use tokio::sync::mpsc::unbounded_channel;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use super::request::NativeRequest;
use super::thread_calls::ThreadCalls;
use runner::run::runtime;
use runner::session::{SessionRun, ShellSession};

/// A sequence of shells that share their state.
#[napi]
pub struct NativeSession {
    calls: Arc<ThreadCalls>,
    pub(super) session: Arc<ShellSession>,
}

#[napi]
impl NativeSession {
    /// `cwd` is an absolute path.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, cwd: String) -> Self {
        Self { calls: Arc::clone(&bridge.calls), session: ShellSession::new(cwd.into()) }
    }

    /// Returns the directory that the last command has left.
    #[napi(getter)]
    pub fn cwd(&self) -> String {
        self.session.directory().to_string_lossy().into_owned()
    }

    /// Runs a command when its turn comes, and returns its number. Answered as `Bridge.start` is, with `cwd` in the
    /// result.
    #[napi]
    pub fn run(&self, request: NativeRequest) -> u32 {
        self.calls.run_in(&self.session, request)
    }

    /// Forgets all state when its turn comes. Answered by `done`.
    #[napi]
    pub fn reset(&self) -> u32 {
        let id = self.calls.next_number();
        let entered = self.session.enter_queue().and_then(|turn| Ok((turn, runtime()?)));
        let Some((turn, runtime)) = self.calls.start_or_report(id, entered) else { return id };
        self.calls.run_call(id, runtime, None, None, async move {
            let mut turn = turn;
            match turn.wait_for_turn().await {
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

impl ThreadCalls {
    /// Runs a command in a session.
    fn run_in(self: &Arc<Self>, session: &Arc<ShellSession>, native: NativeRequest) -> u32 {
        let id = self.next_number();
        let started = self.read_options(native).and_then(|raw| Ok((SessionRun::start(session, raw)?, runtime()?)));
        let Some((run, runtime)) = self.start_or_report(id, started) else { return id };
        let (reply, inbox) = unbounded_channel();
        let emitter = self.emitter(id);
        self.run_call(id, runtime, Some(reply), None, async move {
            match run.finish(emitter, inbox).await {
                Ok((outcome, cwd)) => NativeEvent::result(outcome, Some(cwd.to_string_lossy().into_owned()), None),
                Err(error) => error.into(),
            }
        });
        id
    }
}
