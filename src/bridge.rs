//! One bridge per JavaScript thread: starts its commands and sends it their events.

use std::sync::Arc;

use napi::bindgen_prelude::{FnArgs, Function, Uint8Array};
use napi::{Env, Result};
use napi_derive::napi;

use super::event_emitter::EventDispatcher;
use super::native_event::NativeEvent;
use super::request::NativeRequest;
use super::thread_calls::ThreadCalls;
use capture::OutputStream;
use runner::error::RunError;
use runner::run::{CallerReply, SpillAllocation, runtime};

/// The connection of one JavaScript thread to the core. It keeps the process alive while `hold` is on.
#[napi]
pub struct Bridge {
    pub(super) calls: Arc<ThreadCalls>,
}

#[napi]
impl Bridge {
    /// `dispatch` receives every event of this thread, with the number of its call or registry.
    ///
    /// # Errors
    /// If Node cannot make a threadsafe function.
    #[napi(constructor)]
    pub fn new(env: Env, dispatch: Function<'_, FnArgs<(u32, NativeEvent)>, ()>) -> Result<Self> {
        let dispatch = dispatch
            .build_threadsafe_function::<(u32, NativeEvent)>()
            .weak::<true>()
            .build_callback(|context| Ok(context.value.into()))?;
        let calls = ThreadCalls::new(EventDispatcher::new(dispatch));
        env.add_env_cleanup_hook(Arc::clone(&calls), |calls| calls.end())?;
        Ok(Self { calls })
    }

    /// Starts a command and returns its number; answered by `result` or `error`.
    #[napi]
    pub fn start(&self, request: NativeRequest) -> u32 {
        self.calls.run(request, None)
    }

    /// Starts a warm shell for commands like this one, without running the command; answered by `warm` or `error`.
    #[napi]
    pub fn warm_up(&self, request: NativeRequest) -> u32 {
        self.calls.warm_up(request)
    }

    /// Terminates a command's tree. Does nothing after the command's end.
    #[napi]
    pub fn abort(&self, id: u32) {
        self.calls.abort(id);
    }

    /// Reports that the listener has taken the last output, or has failed with this error.
    #[napi]
    pub fn output_taken(&self, id: u32, failure: Option<String>) {
        self.calls.reply(id, CallerReply::OutputTaken(failure));
    }

    /// Writes to the standard input of a command with the option `fed`; answered by `fed`. Without bytes, closes the
    /// input.
    #[napi]
    pub fn feed(&self, id: u32, bytes: Option<Uint8Array>) {
        self.calls.reply(id, CallerReply::Input(bytes.map(|bytes| bytes.to_vec())));
    }

    /// Reports that the listener has taken the last snapshot, or has failed with this error.
    #[napi]
    pub fn snapshot_taken(&self, id: u32, failure: Option<String>) {
        self.calls.reply(id, CallerReply::ViewTaken(failure));
    }

    /// Reports that the listener has taken the prompt, or has failed with this error.
    #[napi]
    pub fn prompt_taken(&self, id: u32, failure: Option<String>) {
        self.calls.reply(id, CallerReply::PromptTaken(failure));
    }

    /// Answers `allocate`: the stream goes to `path`, with the id `artifact`, or to no file because of `failure`.
    #[napi]
    pub fn allocated(
        &self,
        id: u32,
        stream: String,
        artifact: Option<String>,
        path: Option<String>,
        failure: Option<String>,
    ) {
        let stream = if stream == OutputStream::Stderr.name() { OutputStream::Stderr } else { OutputStream::Stdout };
        let answer = match (artifact, path) {
            (Some(id), Some(path)) => SpillAllocation::File { id, path },
            _ => SpillAllocation::Failed(failure.unwrap_or_else(|| "no place was allocated".to_owned())),
        };
        self.calls.reply(id, CallerReply::Allocated(stream, answer));
    }

    /// Sets whether the bridge keeps the process alive.
    ///
    /// # Errors
    /// If the thread is ending.
    #[napi]
    pub fn hold(&self, env: Env, on: bool) -> Result<()> {
        let mut dispatch = self.calls.dispatcher().lock();
        #[expect(deprecated, reason = "napi has no other way to hold the event loop by a threadsafe function")]
        if on { dispatch.refer(&env) } else { dispatch.unref(&env) }
    }
}

impl Bridge {
    /// Does work on files away from all other threads. `what` names it in an error.
    pub(super) fn blocking(
        &self,
        what: &'static str,
        work: impl FnOnce() -> std::result::Result<NativeEvent, RunError> + Send + 'static,
    ) -> u32 {
        let id = self.calls.next_number();
        let Some(runtime) = self.calls.start_or_report(id, runtime()) else { return id };
        let work = runtime.spawn_blocking(move || work().unwrap_or_else(NativeEvent::from));
        Arc::clone(&self.calls).run_call(id, runtime, None, None, async move {
            work.await.unwrap_or_else(|error| RunError::spawn(error.to_string(), what).into())
        });
        id
    }
}
