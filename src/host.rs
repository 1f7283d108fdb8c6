//! Questions for the people who watch this process, and the directory in which they find it.

use std::sync::Arc;

use napi_derive::napi;
use tokio::sync::oneshot;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use super::result::NativeAnswer;
use runner::live::{ApprovalQuestion, asks};
use runner::run::runtime;

/// Returns the directory in which the hosts of this user listen, whether it exists or not. `None` if something else is
/// in its place.
#[napi]
pub fn hosts_directory() -> Option<String> {
    host::directory().map(|path| path.to_string_lossy().into_owned())
}

/// Returns whether a page is there that may answer questions.
#[napi]
pub fn page_answers() -> bool {
    asks().has_answering_page()
}

#[napi]
impl Bridge {
    /// Lets people watch this process before its first command, from which on they may in any case.
    #[napi]
    pub fn listen(&self) {
        // A host that has no threads runs nothing that could be watched.
        if let Ok(runtime) = runtime() {
            host::keep_listening(runtime);
        }
    }

    /// Asks the people who watch; answered by `answered`. `abort` withdraws the question. `question` is JSON with this
    /// type: `{ command: string; cwd: string; actor?: object; verdict?: Verdict; rules?: string[]; reasons?: string[];
    /// undo?: 'full' | 'part' | 'none'; stays?: boolean }`. One that `stays` waits for people who come later, too.
    ///
    /// # Errors
    /// If a part of the question has another type.
    #[napi]
    pub fn ask(&self, question: String) -> napi::Result<u32> {
        let question: ApprovalQuestion =
            serde_json::from_str(&question).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        let id = self.calls.next_number();
        let Some(runtime) = self.calls.start_or_report(id, runtime()) else { return Ok(id) };
        host::keep_listening(runtime);
        let (give_up, withdrawn) = oneshot::channel();
        let waits = asks().ask(question);
        Arc::clone(&self.calls).run_call(id, runtime, None, Some(give_up), async move {
            let Some(waits) = waits else { return NativeEvent::Answered { answer: None } };
            let answer = tokio::select! {
                answer = waits.answer() => answer,
                _ = withdrawn => None,
            };
            NativeEvent::Answered {
                answer: answer.map(|answer| NativeAnswer { approved: answer.approved, reason: answer.reason }),
            }
        });
        Ok(id)
    }
}
