//! One bridge a JavaScript thread: starts commands for it and tells it of them.

use std::sync::Arc;

use napi::bindgen_prelude::{Function, Uint8Array};
use napi::{Env, Result};
use napi_derive::napi;

use super::calls::Calls;
use super::events::NativeEvent;
use super::request::{NativeOptions, NativeRequest};
use crate::capture::Stream;
use crate::run::Reply;

/// One JavaScript thread's way to the core. The process stays alive while a command of it runs, and not longer.
#[napi]
pub struct Bridge {
    pub(super) calls: Arc<Calls>,
}

#[napi]
impl Bridge {
    /// `dispatch` hears every event of every command of this thread.
    ///
    /// # Errors
    /// When Node refuses to make the means to call it.
    #[napi(constructor)]
    pub fn new(env: Env, dispatch: Function<'_, NativeEvent, ()>) -> Result<Self> {
        let dispatch = dispatch
            .build_threadsafe_function::<NativeEvent>()
            .weak::<true>()
            .build_callback(|context| Ok(context.value))?;
        let calls = Calls::new(dispatch);
        env.add_env_cleanup_hook(Arc::clone(&calls), |calls| calls.end())?;
        Ok(Self { calls })
    }

    /// Starts a command and returns its number. `cwd` is an absolute path, `host_env` `process.env` of the thread as
    /// `NAME=VALUE`, each ended by a NUL, `umask` that of the process. Everything else, errors too, comes as events; one with `result` or
    /// `error` is the last.
    #[napi]
    pub fn start(
        &self,
        command: String,
        cwd: String,
        host_env: String,
        umask: u32,
        options: Option<NativeOptions>,
    ) -> u32 {
        let options = options.unwrap_or_default();
        self.calls.run(NativeRequest { command, cwd, host_env, umask, options }, false)
    }

    /// Has a shell wait for commands like this one, which is not run; returns its number. The answer is an event with
    /// `waits` or `error`.
    #[napi]
    pub fn warm_up(
        &self,
        command: String,
        cwd: String,
        host_env: String,
        umask: u32,
        options: Option<NativeOptions>,
    ) -> u32 {
        let options = options.unwrap_or_default();
        self.calls.warm_up(NativeRequest { command, cwd, host_env, umask, options })
    }

    /// Ends a command's tree. One that has ended already is left alone.
    #[napi]
    pub fn abort(&self, id: u32) {
        self.calls.abort(id);
    }

    /// The listener has taken the last output, or has failed with this error.
    #[napi]
    pub fn heard(&self, id: u32, failure: Option<String>) {
        self.calls.reply(id, Reply::Heard(failure));
    }

    /// The next bytes of the standard input of a command with `NativeOptions.fed`, answered by `fed`; none is their end.
    #[napi]
    pub fn feed(&self, id: u32, bytes: Option<Uint8Array>) {
        self.calls.reply(id, Reply::Feed(bytes.map(|bytes| bytes.to_vec())));
    }

    /// The listener has taken the last snapshot, or has failed with this error.
    #[napi]
    pub fn seen(&self, id: u32, failure: Option<String>) {
        self.calls.reply(id, Reply::Seen(failure));
    }

    /// The listener has heard that the command waits, or has failed with this error.
    #[napi]
    pub fn prompted(&self, id: u32, failure: Option<String>) {
        self.calls.reply(id, Reply::Prompted(failure));
    }

    /// A stream goes to `path`, known as `artifact`, or nowhere because of `failure`.
    #[napi]
    pub fn allocated(
        &self,
        id: u32,
        stream: String,
        artifact: Option<String>,
        path: Option<String>,
        failure: Option<String>,
    ) {
        let stream = if stream == Stream::Stderr.name() { Stream::Stderr } else { Stream::Stdout };
        let answer = match (artifact, path) {
            (Some(artifact), Some(path)) => Ok((artifact, path)),
            _ => Err(failure.unwrap_or_else(|| "no place was allocated".to_owned())),
        };
        self.calls.reply(id, Reply::Allocated(stream, answer));
    }

    /// Keeps the process alive while commands run.
    ///
    /// # Errors
    /// When the thread is ending.
    #[napi]
    pub fn hold(&self, env: Env, on: bool) -> Result<()> {
        let mut dispatch = self.calls.dispatch();
        #[expect(
            deprecated,
            reason = "there is no other way to hold the event loop by a function that is called from outside"
        )]
        if on { dispatch.refer(&env) } else { dispatch.unref(&env) }
    }
}
