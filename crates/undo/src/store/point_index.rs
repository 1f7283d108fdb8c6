//! The index of a store: what lists and evictions need of its points, in one file.
//!
//! One line of JSON per event is appended under a shared lock. Once most lines are obsolete, the process that makes
//! room rewrites the file under an exclusive lock. A process remembers the lines that it has read, and reads new ones
//! only.
//!
//! The index only saves time. A line that is lost or torn is skipped, and a point without a line is read from its
//! manifest and gets its line from the next process that makes room.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::point_summary::PointSummary;
use crate::run_images::cost_of;
use protocol::plan::next_mark;

/// Evicted points that are listed.
const EVICTED: usize = 1_000;
/// Bytes at the beginning that tell an index from the one that replaced it.
const HEAD: usize = 64;
/// Obsolete lines beside which the index is not rewritten.
const OBSOLETE: usize = 500;
/// How often a process tries to add a line while the index is rewritten, and the pause between two tries.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(2);

/// A line of the index. `P`: the part of a point's summary that a reader needs.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum IndexLine<P> {
    /// The first line of a rewritten index, different in each.
    Index(String),
    /// The summary of a point that has ended, or whose files have changed since.
    Point(P),
    /// A point was evicted.
    Evicted { run: String, why: String },
    /// A point is gone for another reason.
    Gone { run: String },
}

/// The part of a summary that evictions need.
#[derive(Debug, Deserialize)]
struct EvictionFacts {
    run: String,
    cwd: String,
    at: u64,
    bytes: u64,
    cost: u64,
    undoable: bool,
    of: Option<String>,
}

/// A point as the index has it.
#[derive(Debug, Clone)]
pub(super) struct IndexedPoint {
    pub cwd: Arc<str>,
    pub bytes: u64,
    pub cost: u64,
    pub undoable: bool,
    /// Where its summary is in the file.
    line: Range<u64>,
}

/// An evicted point.
#[derive(Debug)]
pub(super) struct EvictedPoint {
    pub run: Arc<str>,
    pub why: String,
    pub point: IndexedPoint,
}

/// Start of a run, and its id: the order of eviction.
pub(super) type EvictionKey = (u64, Arc<str>);

/// What this process has read of an index.
#[derive(Debug, Default)]
pub(super) struct PointIndex {
    inode: u64,
    head: Vec<u8>,
    /// Bytes that were read: whole lines.
    length: u64,
    lines: usize,
    living: BTreeMap<EvictionKey, IndexedPoint>,
    starts: HashMap<Arc<str>, u64>,
    evicted: VecDeque<EvictedPoint>,
    /// The undos of each run that has any, in the order of their ends.
    undos: HashMap<Arc<str>, Vec<Arc<str>>>,
    cost: u64,
    bytes: u64,
    /// The directory of the last point. Many runs share one.
    cwd: Arc<str>,
}

impl PointIndex {
    /// Reads what was added to the file since the last time. Returns the file, in which the summaries are.
    pub fn refresh(&mut self, path: &Path) -> io::Result<Option<File>> {
        let mut file = match sys::open_regular(path, File::options().read(true)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                *self = Self::default();
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        self.read_rest(&mut file)?;
        Ok(Some(file))
    }

    fn read_rest(&mut self, file: &mut File) -> io::Result<()> {
        let data = file.metadata()?;
        let mut head = [0; HEAD];
        let read = file.read_at(&mut head, 0)?;
        let head = &head[..read];
        if self.inode != data.ino() || self.length > data.len() || !head.starts_with(&self.head) {
            *self = Self { inode: data.ino(), ..Self::default() };
        }
        self.head = head.to_vec();
        if data.len() == self.length {
            return Ok(());
        }
        let mut rest = Vec::new();
        file.seek(SeekFrom::Start(self.length))?;
        file.read_to_end(&mut rest)?;
        for line in rest.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let place = self.length..self.length + line.len() as u64;
            self.length = place.end;
            if line == b"\n" {
                continue;
            }
            self.lines += 1;
            #[cfg(test)]
            crate::work_counts::add(crate::work_counts::WorkKind::Line);
            if let Ok(line) = serde_json::from_slice(line) {
                self.add(line, place);
            }
        }
        Ok(())
    }

    fn add(&mut self, line: IndexLine<EvictionFacts>, place: Range<u64>) {
        match line {
            IndexLine::Index(_) => {}
            IndexLine::Point(EvictionFacts { run, cwd, at, bytes, cost, undoable, of }) => {
                let run: Arc<str> = run.into();
                self.take(&run);
                if *self.cwd != *cwd {
                    self.cwd = cwd.into();
                }
                if let Some(of) = of {
                    let undos = self.undos.entry(of.into()).or_default();
                    undos.retain(|undo| *undo != run);
                    undos.push(Arc::clone(&run));
                }
                self.starts.insert(Arc::clone(&run), at);
                self.cost = self.cost.saturating_add(cost);
                self.bytes = self.bytes.saturating_add(bytes);
                let cwd = Arc::clone(&self.cwd);
                self.living.insert((at, run), IndexedPoint { cwd, bytes, cost, undoable, line: place });
            }
            IndexLine::Evicted { run, why } => {
                let run: Arc<str> = run.into();
                if let Some(point) = self.take(&run)
                    && point.undoable
                {
                    self.evicted.push_back(EvictedPoint { run, why, point });
                    let excess = self.evicted.len().saturating_sub(EVICTED);
                    self.evicted.drain(..excess);
                }
            }
            IndexLine::Gone { run } => drop(self.take(&run)),
        }
    }

    fn take(&mut self, run: &str) -> Option<IndexedPoint> {
        let (run, at) = self.starts.remove_entry(run)?;
        let point = self.living.remove(&(at, run))?;
        self.cost = self.cost.saturating_sub(point.cost);
        self.bytes = self.bytes.saturating_sub(point.bytes);
        Some(point)
    }

    /// Returns the points that exist, the oldest first.
    pub fn living(&self) -> impl DoubleEndedIterator<Item = (&EvictionKey, &IndexedPoint)> {
        self.living.iter()
    }

    /// Returns the oldest point that is younger than another.
    pub fn after(&self, age: Option<&EvictionKey>) -> Option<(&EvictionKey, &IndexedPoint)> {
        use std::ops::Bound::{Excluded, Unbounded};
        let from = age.map_or(Unbounded, Excluded);
        self.living.range::<EvictionKey, _>((from, Unbounded)).next()
    }

    /// Returns whether the index has a point.
    pub fn has(&self, run: &str) -> bool {
        self.starts.contains_key(run)
    }

    /// Returns the listed evicted points, in the order of their evictions.
    pub fn evicted(&self) -> impl Iterator<Item = &EvictedPoint> {
        self.evicted.iter()
    }

    /// Returns the undos of a run, the newest first.
    pub fn undos_of(&self, run: &str) -> impl Iterator<Item = &Arc<str>> {
        self.undos.get(run).into_iter().flatten().rev().filter(|undo| self.has(undo))
    }

    /// Returns the bytes of disk that all points take, with the index.
    pub fn cost(&self) -> u64 {
        self.cost.saturating_add(cost_of(self.length))
    }

    /// Returns the bytes of all kept files.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether it is worth while to rewrite the file.
    pub fn is_mostly_obsolete(&self) -> bool {
        self.lines > 2 * (self.living.len() + 2 * self.evicted.len()) + OBSOLETE
    }

    /// Writes the file anew without its obsolete lines.
    pub fn rewrite(&mut self, path: &Path) -> io::Result<()> {
        // NFS locks no file that cannot be written.
        let mut file = File::options().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
        file.lock()?;
        self.read_rest(&mut file)?;
        let old = whole(&file)?;
        let mut new = line_of(&IndexLine::<&PointSummary>::Index(next_mark()))?;
        for EvictedPoint { run, why, point, .. } in &self.evicted {
            new.extend_from_slice(&old[range(&point.line)]);
            let (run, why) = (run.to_string(), why.clone());
            new.append(&mut line_of(&IndexLine::<&PointSummary>::Evicted { run, why })?);
        }
        for point in self.living.values() {
            new.extend_from_slice(&old[range(&point.line)]);
        }
        let next = path.with_extension("new");
        let mut to = File::options().write(true).create(true).truncate(true).mode(0o600).open(&next)?;
        to.write_all(&new)?;
        fs::rename(&next, path)?;
        self.refresh(path).map(drop)
    }
}

/// Reads summaries at their places in an index.
pub(super) fn summaries<'a>(
    file: &File,
    points: impl Iterator<Item = (&'a IndexedPoint, &'a str)>,
) -> io::Result<Vec<PointSummary>> {
    let text = whole(file)?;
    let read = points.filter_map(|(point, why)| {
        let IndexLine::Point(summary) = serde_json::from_slice(text.get(range(&point.line))?).ok()? else {
            return None;
        };
        Some(PointSummary { why: why.to_owned(), ..summary })
    });
    Ok(read.collect())
}

/// Adds a line. A line that cannot be added while the index is rewritten is left out.
pub(super) fn append(path: &Path, line: &IndexLine<&PointSummary>) -> io::Result<()> {
    let line = line_of(line)?;
    // NFS shares no lock of a file that cannot be read.
    let mut options = File::options();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    for _ in 0..TRIES {
        let mut file = options.open(path)?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => sleep(PAUSE),
            Err(TryLockError::Error(error)) => return Err(error),
            // The file may have been replaced between the two calls.
            Ok(()) if file.metadata()?.nlink() == 0 => {}
            Ok(()) => return file.write_all(&line),
        }
    }
    Err(io::ErrorKind::WouldBlock.into())
}

/// Returns a line. An empty one comes first, so that a torn line before it harms no other.
fn line_of<P: Serialize>(line: &IndexLine<P>) -> io::Result<Vec<u8>> {
    let mut text = vec![b'\n'];
    serde_json::to_writer(&mut text, line)?;
    text.push(b'\n');
    Ok(text)
}

fn whole(file: &File) -> io::Result<Vec<u8>> {
    let mut file = file;
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut text)?;
    Ok(text)
}

fn range(place: &Range<u64>) -> Range<usize> {
    let number = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    number(place.start)..number(place.end)
}
