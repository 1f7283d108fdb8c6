//! Reads the ledger for JavaScript, and records refusals.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use napi_derive::napi;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::sleep;

use super::bridge::Bridge;
use super::ledger::NativeLedgerBatch;
use super::native_event::NativeEvent;
use super::thread_calls::ThreadCalls;
use ledger::{EntryBatch, EntryFormat, LedgerQuery, LedgerReader, PassedOverLines, wait_for_pending};
use runner::error::RunError;
use runner::request::ledger_directory;
use runner::run::{RefusedCommand, record_refusal, runtime};

/// Time between two scans for new entries.
const POLL: Duration = Duration::from_millis(100);
/// Time for which a reader waits for records that are on their way from this process.
const SETTLED: Duration = Duration::from_millis(250);

/// A reader of the ledger.
#[napi]
pub struct NativeLedger {
    calls: Arc<ThreadCalls>,
    reading: Arc<Mutex<LedgerReadProgress>>,
    ahead: Arc<Mutex<Option<LedgerReadTask>>>,
}

/// Entries that are being read.
type LedgerReadTask = JoinHandle<(EntryBatch, PassedOverLines)>;

/// How far the ledger was read.
enum LedgerReadProgress {
    /// Nothing was read yet. Without a directory there is nothing.
    Unread(Option<PathBuf>, LedgerQuery, EntryFormat),
    /// Something was read.
    Begun(LedgerReader),
}

#[napi]
impl NativeLedger {
    /// `query` are the filters as JSON, with absolute paths. `host_env` as for `Bridge.start`. With `colours`, true or
    /// false, the text is for people, and otherwise JSON.
    ///
    /// # Errors
    /// If a filter has another type.
    #[napi(constructor)]
    pub fn new(bridge: &Bridge, query: String, host_env: Option<String>, colours: Option<bool>) -> napi::Result<Self> {
        let query: LedgerQuery =
            serde_json::from_str(&query).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        let shape = colours.map_or(EntryFormat::Json, |colours| EntryFormat::Row { colours });
        let directory = ledger_directory(&host_env.unwrap_or_else(sys::environment));
        let reading = Arc::new(Mutex::new(LedgerReadProgress::Unread(directory, query, shape)));
        Ok(Self { calls: Arc::clone(&bridge.calls), reading, ahead: Arc::default() })
    }

    /// Reads on; answered by `ledger`. A reader that follows answers once there is an entry, or after `Bridge.abort`.
    /// While the caller uses these entries, the next ones are read.
    #[napi]
    pub fn next(&self) -> u32 {
        let id = self.calls.next_number();
        let Some(runtime) = self.calls.start_or_report(id, runtime()) else { return id };
        let (give_up, mut given_up) = oneshot::channel();
        let (reading, ahead) = (Arc::clone(&self.reading), Arc::clone(&self.ahead));
        self.calls.run_call(id, runtime, None, Some(give_up), async move {
            loop {
                let begun = ahead.lock().unwrap_or_else(PoisonError::into_inner).take();
                let read = begun.unwrap_or_else(|| begin(&reading)).await;
                let Ok((batch, passed)) = read else { return RunError::spawn("the ledger was not read", "").into() };
                if !batch.text.is_empty() || batch.is_over {
                    if !batch.is_over {
                        *ahead.lock().unwrap_or_else(PoisonError::into_inner) = Some(begin(&reading));
                    }
                    return NativeEvent::Ledger { batch: NativeLedgerBatch::of(batch, &passed) };
                }
                if batch.waits {
                    tokio::select! {
                        _ = &mut given_up => {
                            return NativeEvent::Ledger { batch: NativeLedgerBatch::of(EntryBatch { is_over: true, ..batch }, &passed) };
                        }
                        () = sleep(POLL) => {}
                    }
                }
            }
        });
        id
    }
}

fn begin(reading: &Arc<Mutex<LedgerReadProgress>>) -> LedgerReadTask {
    let reading = Arc::clone(reading);
    spawn_blocking(move || read(&reading))
}

fn read(reading: &Mutex<LedgerReadProgress>) -> (EntryBatch, PassedOverLines) {
    let mut reading = reading.lock().unwrap_or_else(PoisonError::into_inner);
    if let LedgerReadProgress::Unread(directory, query, shape) = &mut *reading {
        let Some(directory) = directory.take() else {
            return (EntryBatch { is_over: true, ..EntryBatch::default() }, PassedOverLines::default());
        };
        wait_for_pending(SETTLED);
        *reading = LedgerReadProgress::Begun(LedgerReader::new(directory, std::mem::take(query), *shape));
    }
    match &mut *reading {
        LedgerReadProgress::Begun(reader) => (reader.read(), reader.passed_over().clone()),
        LedgerReadProgress::Unread(..) => {
            (EntryBatch { is_over: true, ..EntryBatch::default() }, PassedOverLines::default())
        }
    }
}

#[napi]
impl Bridge {
    /// Records a command that was refused, and so did not run. Returns its run. `cwd` is an absolute path, `host_env`
    /// as for `start`. `entry` is JSON with this type: `{ actor?: object; verdict?: Verdict; rules?: string[];
    /// decidedBy?: 'host' | 'page' }`.
    ///
    /// # Errors
    /// If a part of the entry has another type, or the system gives no threads.
    #[napi]
    pub fn record_refusal(
        &self,
        command: String,
        cwd: String,
        host_env: Option<String>,
        entry: String,
    ) -> napi::Result<String> {
        let refusal: RefusedCommand =
            serde_json::from_str(&entry).map_err(|error| napi::Error::from_reason(error.to_string()))?;
        let directory = ledger_directory(&host_env.unwrap_or_else(sys::environment));
        record_refusal(RefusedCommand { command, cwd, directory, ..refusal })
            .map_err(|error| napi::Error::from_reason(error.to_string()))
    }
}
