//! What a running command tells the thread that started it.

use std::sync::{Arc, Mutex, PoisonError};

use napi::Status;
use napi::threadsafe_function::{ThreadsafeFunction, ThreadsafeFunctionCallMode};
use napi_derive::napi;

use super::result::{BashResult, BashSnapshot, NativeError, OutputChunk};
use crate::capture::Stream;
use crate::run::{Listener, Snapshot};

/// One event of one command: exactly one field besides `id` is set.
#[napi(object, object_from_js = false)]
#[derive(Default)]
pub struct NativeEvent {
    /// The command, as `Bridge.start` numbered it.
    pub id: u32,
    /// Live output; answered by `Bridge.heard`.
    pub output: Option<OutputChunk>,
    /// A live view; answered by `Bridge.seen`.
    pub snapshot: Option<BashSnapshot>,
    /// The stream that is to be written out whole; answered by `Bridge.allocated`.
    #[napi(ts_type = "'stdout' | 'stderr'")]
    pub allocate: Option<String>,
    /// It has ended. The last event.
    pub result: Option<BashResult>,
    /// Nothing could be run. The last event.
    pub error: Option<NativeError>,
}

/// The way to one JavaScript thread. It holds nothing alive there, and calls after the thread's end go nowhere.
pub type Dispatch = ThreadsafeFunction<NativeEvent, (), NativeEvent, Status, false, true>;

/// The listener of one command.
pub struct Teller {
    pub id: u32,
    pub dispatch: Arc<Mutex<Dispatch>>,
}

impl Teller {
    pub fn tell(&self, event: NativeEvent) {
        // A thread that has ended hears nothing; its commands are ended by the clean-up hook.
        let dispatch = self.dispatch.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = dispatch.call(NativeEvent { id: self.id, ..event }, ThreadsafeFunctionCallMode::NonBlocking);
    }
}

impl Listener for Teller {
    fn output(&self, stream: Stream, text: String) {
        let output = Some(OutputChunk { stream: stream.name().to_owned(), text });
        self.tell(NativeEvent { output, ..NativeEvent::default() });
    }

    fn snapshot(&self, snapshot: Snapshot) {
        self.tell(NativeEvent { snapshot: Some(snapshot.into()), ..NativeEvent::default() });
    }

    fn allocate(&self, stream: Stream) {
        self.tell(NativeEvent { allocate: Some(stream.name().to_owned()), ..NativeEvent::default() });
    }
}
