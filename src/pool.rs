//! Pools of targets for the people who watch. The pools themselves are JavaScript.

use std::sync::{Arc, Mutex, PoisonError};

use napi_derive::napi;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use runner::live::{LivePool, PoolReport, pools};
use runner::run::runtime;

/// A pool of this process, for the people who watch.
#[napi]
pub struct NativePool {
    number: u32,
    /// `None`: it was closed.
    pool: Mutex<Option<Arc<LivePool>>>,
}

#[napi]
impl NativePool {
    /// Lets people see the pool. The event `watched` with its `number` asks for reports.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge) -> Self {
        let number = bridge.calls.next_number();
        if let Ok(runtime) = runtime() {
            host::keep_listening(runtime);
        }
        let emitter = bridge.calls.emitter(number);
        let pool = pools().add(move || emitter.emit(NativeEvent::Watched));
        Self { number, pool: Mutex::new(Some(pool)) }
    }

    /// Returns the number of its events.
    #[napi(getter)]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Takes a report as JSON: `{ perTarget, waiting, count, places: PlaceStats[] }`. Returns whether someone watches,
    /// and wants another one in a second.
    ///
    /// # Errors
    /// If a part of the report has another type.
    #[napi]
    pub fn report(&self, report: String) -> napi::Result<bool> {
        let report: PoolReport =
            serde_json::from_str(&report).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(pool.as_ref().is_some_and(|pool| pool.report(report)))
    }

    /// Hides the pool.
    #[napi]
    pub fn close(&self) {
        *self.pool.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
