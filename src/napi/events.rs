//! What a running command tells the thread that started it.

use std::path::Path;
use std::sync::Arc;

use napi::Status;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use super::calls::Calls;
use super::prompt::BashPrompt;
use super::result::{BackgroundCheck, BackgroundTask, BashResult, BashSnapshot, NativeError, OutputChunk};
use super::terminal::TerminalWaited;
use crate::background::{Store, Task, Watcher};
use crate::capture::Stream;
use crate::run::{Listener, Prompt, Snapshot};

/// One event of one command: exactly one field besides `id` (and `cwd`) is set.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct NativeEvent {
    /// The command, as `Bridge.start` numbered it.
    pub id: u32,
    /// Live output; answered by `Bridge.heard`.
    pub output: Option<OutputChunk>,
    /// A live view; answered by `Bridge.seen`.
    pub snapshot: Option<BashSnapshot>,
    /// It waits for somebody; answered by `Bridge.prompted`.
    pub prompt: Option<BashPrompt>,
    /// The stream that is to be written out whole; answered by `Bridge.allocated`.
    #[napi(ts_type = "'stdout' | 'stderr'")]
    pub allocate: Option<String>,
    /// It has ended. The last event.
    pub result: Option<BashResult>,
    /// With `result`: the folder that the session is in now. With `started`: the one that it runs in.
    pub cwd: Option<String>,
    /// Nothing could be run, or a registry could not do what it was asked for. The last event.
    pub error: Option<NativeError>,
    /// A task was started. The last event.
    pub task: Option<BackgroundTask>,
    /// What a look at a task has found. The last event.
    pub check: Option<BackgroundCheck>,
    /// The registry was closed. The last event.
    pub closed: Option<bool>,
    /// Whether a shell waits. The last event.
    pub waits: Option<bool>,
    /// It runs, with this pid, where somebody wants to hear of it; of a terminal answered by `NativeTerminal.known`.
    pub started: Option<i32>,
    /// A command with `NativeOptions.streams` is over; what it left in its pipes and `result` are still to come.
    pub over: Option<bool>,
    /// All of the last `Bridge.feed` is written; `false`: nobody reads it any more.
    pub fed: Option<bool>,
    /// What it has written, as it is; answered by `NativeTerminal.heard`.
    pub data: Option<String>,
    /// What a wait for a terminal has come to. The last event.
    pub waited: Option<TerminalWaited>,
    /// A task of the registry with this number has ended.
    pub exit: Option<BackgroundTask>,
    /// A task of the registry with this number has written; answered by `NativeRegistry.took`.
    pub grown: Option<NativeGrowth>,
}

/// What a task has written.
#[napi(object, object_from_js = false)]
pub struct NativeGrowth {
    /// The task.
    pub task: BackgroundTask,
    /// At most 64 KiB of UTF-8.
    pub text: String,
}

/// The way to one JavaScript thread. It holds nothing alive there, and calls after the thread's end go nowhere.
pub type Dispatch = ThreadsafeFunction<NativeEvent, (), NativeEvent, Status, false, true>;

/// The listener of one command.
pub struct Teller {
    pub id: u32,
    pub calls: Arc<Calls>,
}

impl Teller {
    pub fn tell(&self, event: NativeEvent) {
        // A thread that has ended hears nothing; its commands are ended by the clean-up hook.
        let _ =
            self.calls.dispatch().call(NativeEvent { id: self.id, ..event }, ThreadsafeFunctionCallMode::NonBlocking);
    }
}

impl Listener for Teller {
    fn output(&self, stream: Stream, text: String) {
        let output = Some(OutputChunk { stream: stream.name().to_owned(), text });
        self.tell(NativeEvent { output, ..NativeEvent::default() });
    }

    fn started(&self, pid: i32, cwd: &Path) {
        let cwd = Some(cwd.to_string_lossy().into_owned());
        self.tell(NativeEvent { started: Some(pid), cwd, ..NativeEvent::default() });
    }

    fn ended(&self) {
        self.tell(NativeEvent { over: Some(true), ..NativeEvent::default() });
    }

    fn fed(&self, open: bool) {
        self.tell(NativeEvent { fed: Some(open), ..NativeEvent::default() });
    }

    fn data(&self, text: String) {
        self.tell(NativeEvent { data: Some(text), ..NativeEvent::default() });
    }

    fn snapshot(&self, snapshot: Snapshot) {
        self.tell(NativeEvent { snapshot: Some(snapshot.into()), ..NativeEvent::default() });
    }

    fn prompt(&self, prompt: Prompt) {
        self.tell(NativeEvent { prompt: Some(prompt.into()), ..NativeEvent::default() });
    }

    fn allocate(&self, stream: Stream) {
        self.tell(NativeEvent { allocate: Some(stream.name().to_owned()), ..NativeEvent::default() });
    }
}

/// Who hears of the tasks of one registry.
pub struct TaskTeller {
    pub teller: Teller,
    pub store: Store,
}

impl Watcher for TaskTeller {
    fn exit(&self, task: Task) {
        self.teller.tell(NativeEvent { exit: Some(BackgroundTask::of(task, &self.store)), ..NativeEvent::default() });
    }

    fn output(&self, task: Task, text: String) {
        let grown = Some(NativeGrowth { task: BackgroundTask::of(task, &self.store), text });
        self.teller.tell(NativeEvent { grown, ..NativeEvent::default() });
    }
}
