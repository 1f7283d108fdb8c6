//! A blocked command, as plain data.

use napi_derive::napi;

use runner::run::BlockedPrompt;

/// A command is blocked on input that only a person or another program can give.
#[napi(object, object_from_js = false)]
pub struct BashPrompt {
    /// The blocked process: the deepest process, not the shell above it. If only the last line of the output shows the
    /// prompt, this is the shell.
    pub pid: i32,
    /// The command line of the process, at most about 100 characters, without control characters.
    pub command: String,
    /// The unfinished line that the command has written, at most its last 200 characters, without control characters:
    /// `Password: `. `''` if there is none.
    pub text: String,
}

impl From<BlockedPrompt> for BashPrompt {
    fn from(BlockedPrompt { pid, command, text }: BlockedPrompt) -> Self {
        Self { pid, command, text }
    }
}
