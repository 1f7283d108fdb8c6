//! Sends events to the JavaScript thread that asked for them.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use napi::Status;
use napi::bindgen_prelude::FnArgs;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};

use super::any_task_registry::AnyTaskRegistry;
use super::confinement::Confinement;
use super::evidence::evidence_json;
use super::native_event::NativeEvent;
use super::receipt::{Receipt, UndoCoverage};
use super::result::OutputChunk;
use capture::OutputStream;
use evidence::CommandEvidence;
use protocol::task::Task;
use receipt::recording::RunRecord;
use runner::registry::TaskWatcher;
use runner::run::{BlockedPrompt, CommandListener, LiveView};

/// The dispatcher of one JavaScript thread, called with the number of a call and its event. It is weak: it does not
/// keep the thread alive, and calls after the thread's end do nothing.
pub type EventDispatchFunction =
    ThreadsafeFunction<(u32, NativeEvent), (), FnArgs<(u32, NativeEvent)>, Status, false, true>;

/// The dispatcher, shared by all calls of its thread.
#[derive(Clone)]
pub struct EventDispatcher(Arc<Mutex<EventDispatchFunction>>);

impl EventDispatcher {
    pub fn new(dispatch: EventDispatchFunction) -> Self {
        Self(Arc::new(Mutex::new(dispatch)))
    }

    pub fn lock(&self) -> MutexGuard<'_, EventDispatchFunction> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn emitter(&self, id: u32) -> CallEventEmitter {
        CallEventEmitter { id, dispatcher: self.clone() }
    }
}

/// Sends the events of one call or registry.
pub struct CallEventEmitter {
    pub id: u32,
    dispatcher: EventDispatcher,
}

impl CallEventEmitter {
    pub fn emit(&self, event: NativeEvent) {
        // Events for an ended thread are dropped. Its clean-up hook ends its commands.
        let _ = self.dispatcher.lock().call((self.id, event), ThreadsafeFunctionCallMode::NonBlocking);
    }
}

impl CommandListener for CallEventEmitter {
    fn output(&self, stream: OutputStream, text: String) {
        self.emit(NativeEvent::Output { chunk: OutputChunk { stream: stream.name().to_owned(), text } });
    }

    fn started(&self, pid: i32, cwd: &Path) {
        self.emit(NativeEvent::Started { pid, cwd: cwd.to_string_lossy().into_owned() });
    }

    fn exited(&self) {
        self.emit(NativeEvent::Exited);
    }

    fn input_taken(&self, open: bool) {
        self.emit(NativeEvent::Fed { open });
    }

    fn data(&self, text: String) {
        self.emit(NativeEvent::Data { text });
    }

    fn live_view(&self, view: LiveView) {
        self.emit(NativeEvent::Snapshot { snapshot: view.into() });
    }

    fn prompt(&self, prompt: BlockedPrompt) {
        self.emit(NativeEvent::Prompt { prompt: prompt.into() });
    }

    fn allocate(&self, stream: OutputStream) {
        self.emit(NativeEvent::Allocate { stream: stream.name().to_owned() });
    }
}

/// Sends the events of the tasks of one registry.
pub struct TaskEventEmitter {
    pub emitter: CallEventEmitter,
    pub tasks: AnyTaskRegistry,
}

impl TaskWatcher for TaskEventEmitter {
    fn exit(&self, task: Task, record: Option<Arc<RunRecord>>, evidence: Option<Arc<CommandEvidence>>) {
        let confinement = task.confinement.clone().map(Confinement::from);
        let run_id = task.mark.clone();
        let RunRecord { receipt, undo, .. } = record.map(Arc::unwrap_or_clone).unwrap_or_default();
        self.emitter.emit(NativeEvent::TaskExited {
            task: self.tasks.to_background_task(task),
            confinement,
            run_id,
            receipt: receipt.map(Receipt::from),
            undo: undo.map(UndoCoverage::from),
            evidence: evidence.as_deref().map(evidence_json),
        });
    }

    fn output(&self, task: Task, text: String) {
        self.emitter.emit(NativeEvent::TaskOutput { task: self.tasks.to_background_task(task), text });
    }
}
