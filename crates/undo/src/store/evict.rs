//! Makes room: removes old points, and the oldest points if there are too many.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::time::SystemTime;

use super::{EVICTED, Evicted, KEPT, Store, StoreError, Summary};
use crate::images::{Limits, has_room};
use crate::manifest::RETENTION;
use crate::node::Time;
use crate::traces::Traces;

impl Store {
    /// Returns whether a tenth of the store's disk is free.
    pub fn has_room(&self) -> bool {
        has_room(&self.path, 0).unwrap_or(true)
    }

    /// Removes points that are too old, and then the oldest points until `limits` and the disk have room for a new run.
    /// Points of running commands stay. Does nothing while an undo is at work.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn evict(&self, limits: Limits, now: SystemTime) -> Result<Evicted, StoreError> {
        let lock = self.lock_file()?;
        if lock.try_lock().is_err() {
            return Ok(Evicted::default());
        }
        let now_ms = u64::try_from(now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis());
        let now_ms = now_ms.unwrap_or(u64::MAX);
        let mut points: Vec<Summary> = self.runs()?.iter().filter_map(|run| self.summary(run)).collect();
        points.sort_by(|one, two| (one.at, &one.run).cmp(&(two.at, &two.run)));
        let mut total: u64 = points.iter().map(|point| point.bytes).sum();
        let mut evicted = Vec::new();
        for mut point in points {
            let old = u128::from(now_ms.saturating_sub(point.at)) > RETENTION.as_millis();
            let full = point.bytes > 0 && !self.has_room();
            point.why = if old {
                "older than 7 days".into()
            } else if total > limits.store_bytes {
                format!("the store holds at most {} bytes", limits.store_bytes)
            } else if full {
                "the last tenth of the disk stays free".into()
            } else {
                continue;
            };
            if self.is_running(&point.run) {
                continue;
            }
            total -= point.bytes;
            self.note(&point)?;
            self.remove(&point.run)?;
            evicted.push(point);
        }
        self.sweep_kept(now);
        let oldest = i64::try_from(now_ms / 1000).unwrap_or(i64::MAX) - RETENTION.as_secs().cast_signed();
        Traces::sweep(&self.traces(), Time { seconds: oldest, nanoseconds: 0 });
        Ok(Evicted { points: evicted, left: Some(total) })
    }

    fn note(&self, evicted: &Summary) -> Result<(), StoreError> {
        let path = self.path.join(EVICTED);
        let failed = |source| StoreError::System { path: path.clone(), source };
        let mut line = serde_json::to_vec(evicted).map_err(io::Error::other).map_err(failed)?;
        line.push(b'\n');
        let file = fs::File::options().append(true).create(true).mode(0o600).open(&path);
        file.and_then(|mut file| file.write_all(&line)).map_err(failed)
    }

    /// Removes files that were kept for conflicts, once they are older than the retention of points.
    fn sweep_kept(&self, now: SystemTime) {
        let Ok(entries) = fs::read_dir(self.path.join(KEPT)) else { return };
        for entry in entries.flatten() {
            let age = entry.metadata().and_then(|data| data.modified()).map(|time| now.duration_since(time));
            if age.is_ok_and(|age| age.is_ok_and(|age| age > RETENTION)) {
                let _gone = fs::remove_dir_all(entry.path());
            }
        }
    }
}
