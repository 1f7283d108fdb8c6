//! The log of a task on its way to one watcher.

use std::os::unix::fs::FileExt;
use std::sync::Weak;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use super::task_source::TaskSource;
use super::watcher_queue::WatcherQueue;
use capture::OutputStream;

/// Bytes before the end of a log that a watcher gets first, and most that it may lag behind.
const MAX_LAG_BYTES: u64 = 256 * 1024;
/// Time between two reads of a log.
const LOG_READ_INTERVAL: Duration = Duration::from_millis(50);

/// Passes a task's log to a tap until the task has ended, or the tap is gone.
pub async fn follow_log(source: Weak<dyn TaskSource>, id: String, tap: Weak<WatcherQueue>) {
    let mut at = None;
    loop {
        let Some(open) = tap.upgrade() else { return };
        let room = open.room() as u64;
        if room > 0 {
            let Some(source) = source.upgrade() else { return open.end() };
            let id = id.clone();
            let read = spawn_blocking(move || read(source.as_ref(), &id, at, room)).await;
            match read.ok().flatten() {
                None => return open.end(),
                Some(TaskLogPart { from, bytes, ended }) => {
                    if at.is_none() {
                        open.set_bytes_before_watching(from);
                    }
                    let dropped = from - at.unwrap_or(from);
                    at = Some(from + bytes.len() as u64);
                    open.count_left_out(dropped);
                    if !bytes.is_empty() {
                        open.push(OutputStream::Stdout, &bytes);
                    }
                    if ended {
                        return open.end();
                    }
                }
            }
        }
        drop(open);
        sleep(LOG_READ_INTERVAL).await;
    }
}

/// A part of a log.
struct TaskLogPart {
    from: u64,
    bytes: Vec<u8>,
    /// The task has ended.
    ended: bool,
}

/// Reads the next part of a log. `None`: its files are gone.
fn read(source: &dyn TaskSource, id: &str, at: Option<u64>, room: u64) -> Option<TaskLogPart> {
    let (task, log, end) = source.readable(id)?;
    let earliest = end.saturating_sub(MAX_LAG_BYTES);
    let from = at.map_or(earliest, |at| at.max(earliest)).min(end);
    let length = (end - from).min(room);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    log.read_exact_at(&mut bytes, from).ok()?;
    let ended = !task.is_running() && from + length == end;
    Some(TaskLogPart { from, bytes, ended })
}
