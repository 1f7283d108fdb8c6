//! The traces of undos: changes to things that other records know.
//!
//! A kept file that an undo puts back itself gets the current time, and a directory that it makes again is a new
//! directory. All records of the same thing have to know that.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::manifest::{RecordFrames, encode};
use super::path_state::{FileIdentity, FileState, FileTime};

/// An action of an undo that other records must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum UndoTrace {
    /// A file gets another time.
    Dated { id: FileIdentity, from: FileTime, to: FileTime },
    /// A directory is made again.
    Again { was: FileIdentity, now: FileIdentity, at: FileTime },
}

/// All traces of a store.
#[derive(Debug, Default)]
pub struct UndoTraces {
    dated: HashMap<(FileIdentity, FileTime), Vec<FileTime>>,
    again: HashMap<FileIdentity, Vec<FileIdentity>>,
    newest: Option<FileTime>,
    /// Bytes of the file that hold whole traces.
    length: u64,
    /// The file, once it is written to.
    file: Option<fs::File>,
}

impl UndoTraces {
    /// Reads the file of a store, which may be missing. A torn end is left out.
    pub fn read(path: &Path) -> Self {
        let mut traces = Self::default();
        let Ok(file) = fs::File::open(path) else { return traces };
        let mut frames = RecordFrames::new(BufReader::new(file));
        while let Some(trace) = frames.next_one() {
            traces.add(trace);
        }
        traces.length = frames.length;
        traces
    }

    fn add(&mut self, trace: UndoTrace) {
        let at = match trace {
            UndoTrace::Dated { id, from, to } => {
                self.dated.entry((id, from)).or_default().push(to);
                to
            }
            UndoTrace::Again { was, now, at } => {
                self.again.entry(was).or_default().push(now);
                at
            }
        };
        self.newest = self.newest.max(Some(at));
    }

    fn append(&mut self, path: &Path, trace: UndoTrace) -> io::Result<()> {
        let mut frame = Vec::new();
        encode(&trace, &mut frame)?;
        if self.file.is_none() {
            let file = fs::File::options().append(true).create(true).mode(0o600).open(path)?;
            if file.metadata()?.len() > self.length {
                file.set_len(self.length)?;
            }
            self.file = Some(file);
        }
        if let Some(file) = &mut self.file {
            file.write_all(&frame)?;
        }
        self.length += frame.len() as u64;
        self.add(trace);
        Ok(())
    }

    /// Records, in memory and in the file of the store, that a file is about to get another time.
    ///
    /// # Errors
    /// If the file of the store cannot be written.
    pub fn note_time(&mut self, path: &Path, id: FileIdentity, from: FileTime, to: FileTime) -> io::Result<()> {
        self.append(path, UndoTrace::Dated { id, from, to })
    }

    /// Records that an earlier directory is made again.
    ///
    /// # Errors
    /// If the file of the store cannot be written.
    pub fn note_successor(&mut self, path: &Path, was: FileIdentity, now: FileIdentity) -> io::Result<()> {
        self.append(path, UndoTrace::Again { was, now, at: FileTime::now() })
    }

    /// Returns whether a file, recorded as `then`, can have the time of `now` without having been written to.
    pub fn is_unwritten(&self, then: &FileState, now: &FileState) -> bool {
        (then.meta.id, then.size) == (now.meta.id, now.size)
            && self.is_time_reached(then.meta.id, then.mtime, now.mtime)
    }

    /// Returns whether undos alone can have changed the time of a file from the first time to the second.
    pub fn is_time_reached(&self, id: FileIdentity, from: FileTime, to: FileTime) -> bool {
        is_reached(from, to, |time| self.dated.get(&(id, *time)))
    }

    /// Returns whether a directory is the recorded directory, or was made again in its place.
    pub fn is_directory(&self, recorded: FileIdentity, now: FileIdentity) -> bool {
        is_reached(recorded, now, |id| self.again.get(id))
    }

    /// Returns the recorded directory, and the directories that were made again in its place.
    pub fn successors_of(&self, recorded: FileIdentity) -> Vec<FileIdentity> {
        let mut found = vec![recorded];
        let mut at = 0;
        while let Some(id) = found.get(at).copied() {
            let new = self.again.get(&id).into_iter().flatten().filter(|id| !found.contains(id));
            found.extend(new.copied().collect::<Vec<_>>());
            at += 1;
        }
        found
    }

    /// Removes the file if all traces are too old to matter.
    pub fn remove_if_old(path: &Path, oldest: FileTime) {
        if Self::read(path).newest.is_some_and(|newest| newest < oldest) {
            let _none = fs::remove_file(path);
        }
    }
}

/// Returns whether steps lead from one thing to another.
fn is_reached<'a, T: Copy + Eq + std::hash::Hash + 'a>(
    from: T,
    to: T,
    steps: impl Fn(&T) -> Option<&'a Vec<T>>,
) -> bool {
    let (mut next, mut seen) = (vec![from], HashSet::new());
    while let Some(at) = next.pop() {
        if at == to {
            return true;
        }
        if seen.insert(at) {
            next.extend(steps(&at).into_iter().flatten());
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> FileTime {
        FileTime { seconds, nanoseconds: 7 }
    }

    const fn id(inode: u64) -> FileIdentity {
        FileIdentity { device: 1, inode }
    }

    #[test]
    fn times_lead_from_one_to_the_next_and_never_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("traces");
        let mut traces = UndoTraces::read(&path);
        traces.note_time(&path, id(2), at(1), at(5)).expect("written");
        traces.note_time(&path, id(2), at(5), at(-6)).expect("written");
        traces.note_time(&path, id(3), at(1), at(1)).expect("written");
        for traces in [&traces, &UndoTraces::read(&path)] {
            for (file, from, to, expected) in [
                (2, 1, 5, true),
                (2, 1, -6, true),
                (2, 5, 1, false),
                (2, 2, 5, false),
                (3, 1, 5, false),
                (3, 1, 1, true),
                (3, 9, 9, true),
            ] {
                assert_eq!(traces.is_time_reached(id(file), at(from), at(to)), expected, "{file} {from} {to}");
            }
        }
    }

    #[test]
    fn a_directory_that_was_made_again_is_the_recorded_one() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("traces");
        let mut traces = UndoTraces::read(&path);
        traces.note_successor(&path, id(1), id(2)).expect("written");
        traces.note_successor(&path, id(2), id(3)).expect("written");
        let traces = UndoTraces::read(&path);
        let pairs = [(1, 1, true), (1, 2, true), (1, 3, true), (3, 1, false), (4, 1, false)];
        assert!(pairs.iter().all(|(was, now, same)| traces.is_directory(id(*was), id(*now)) == *same));
    }

    #[test]
    fn a_torn_end_is_left_out_and_the_next_trace_is_whole() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("traces");
        UndoTraces::default().note_time(&path, id(2), at(1), at(2)).expect("written");
        let bytes = fs::read(&path).expect("read");
        fs::write(&path, [&bytes[..], &bytes[..bytes.len() - 1]].concat()).expect("written");
        UndoTraces::read(&path).note_time(&path, id(2), at(2), at(3)).expect("written");
        assert!(UndoTraces::read(&path).is_time_reached(id(2), at(1), at(3)));
    }

    #[test]
    fn only_old_traces_are_swept() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("traces");
        let mut traces = UndoTraces::read(&path);
        traces.note_time(&path, id(2), at(1), at(2)).expect("written");
        traces.note_time(&path, id(2), at(2), at(9)).expect("written");
        UndoTraces::remove_if_old(&path, at(9));
        assert!(path.exists());
        UndoTraces::remove_if_old(&path, at(10));
        assert!(!path.exists());
    }
}
