//! A command as it crosses from JavaScript.

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;

use runner::request::{RawOptions, RequestError};

/// A command with its options.
#[napi(object, object_to_js = false)]
pub struct NativeRequest {
    /// The command.
    pub command: String,
    /// An absolute path. In a session an empty one is the session's own directory.
    pub cwd: String,
    /// `process.env` of the calling thread: `NAME=VALUE`, each ended by a NUL. Left out if it equals the environment of
    /// the process itself, and for a target, which has its own.
    pub host_env: Option<String>,
    /// `process.umask()`. A target has its own.
    pub umask: u32,
    /// The options as JSON, with the names of the contract: see `RawOptions`.
    pub options: String,
    /// Bytes for standard input.
    pub stdin: Option<Uint8Array>,
}

impl NativeRequest {
    /// Reads the options.
    ///
    /// # Errors
    /// [`RequestError`] for an unknown option, and for unknown rules.
    pub fn read(self) -> Result<RawOptions, RequestError> {
        let Self { command, cwd, host_env, umask, options, stdin } = self;
        let given = RawOptions::from_json(&options)?;
        Ok(RawOptions {
            command,
            cwd,
            host_env: host_env.unwrap_or_else(sys::environment),
            umask,
            stdin: stdin.map(|bytes| bytes.to_vec()),
            guard: given.safety.guard()?,
            ..given
        })
    }
}
