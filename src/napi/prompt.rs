//! A command that waits for somebody, as plain data.

use napi_derive::napi;

use crate::run::Prompt;

/// A command waits for input that only somebody outside of it can give.
#[napi(object, object_from_js = false)]
pub struct BashPrompt {
    /// The process that waits: the deepest one, not the shell above it. That shell where only its last line tells.
    pub pid: i32,
    /// Its command line, at most about 100 characters, without control characters.
    pub command: String,
    /// The line that the command has written and not ended, at most its last 200 characters, without control characters: «Password: ». `''` when there is none.
    pub text: String,
}

impl From<Prompt> for BashPrompt {
    fn from(Prompt { pid, command, text }: Prompt) -> Self {
        Self { pid, command, text }
    }
}
