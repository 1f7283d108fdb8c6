//! Compares a tree with its snapshot, and records the changes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::arrived_things::ArrivedThings;
use super::open_directory::OpenDirectory;
use super::snapshot_tree::{DirectoryListing, SnapshotEntry, SnapshotTree, TreeSnapshot, belongs_to_store};
use crate::change_journal::ChangeJournal;
use crate::path_lookup::{self, read_state};
use crate::path_state::{FileIdentity, FileState as Kept, KnownContents, PathState};

/// Time that a comparison may take. A command may have made any number of things.
const MOST: Duration = Duration::from_secs(10);

/// A comparison at work.
pub(super) struct TreeComparison<'a> {
    pub journal: &'a mut ChangeJournal,
    tree: SnapshotTree,
    pack: File,
    pub until: Instant,
    /// The directories that are to be read: the earlier path, and the current path.
    pub queue: VecDeque<(PathBuf, Option<PathBuf>)>,
    pub places: ArrivedThings,
    /// Files that are not kept, and are not where they were.
    pub unkept: HashSet<FileIdentity>,
    /// Unchanged names of files with several names.
    names: HashMap<FileIdentity, Vec<(PathBuf, SnapshotEntry)>>,
    /// Changed files with several names.
    linked: HashSet<FileIdentity>,
}

pub fn compare(journal: &mut ChangeJournal, snapshot: TreeSnapshot) -> io::Result<()> {
    let TreeSnapshot { tree, pack } = snapshot;
    let root = tree.root.clone();
    let mut comparison = TreeComparison {
        journal,
        pack,
        until: Instant::now() + MOST,
        queue: VecDeque::from([(root.clone(), Some(root.clone()))]),
        places: ArrivedThings::default(),
        unkept: HashSet::new(),
        names: HashMap::new(),
        linked: HashSet::new(),
        tree,
    };
    let now = read_state(&root)?;
    if !now.is_alike(&comparison.tree.state) {
        let before = comparison.tree.state.clone();
        comparison.journal.note_before(root, before)?;
    }
    comparison.read_all()?;
    comparison.write_names()?;
    comparison.write_new()
}

impl TreeComparison<'_> {
    fn read_all(&mut self) -> io::Result<()> {
        loop {
            while let Some((before, now)) = self.queue.pop_front() {
                if Instant::now() > self.until {
                    self.journal.record_gap(&before, "there was no time to compare it with the snapshot")?;
                    continue;
                }
                self.read(&before, now.as_deref())?;
            }
            let Some((before, id)) = self.places.gone.pop_first() else { return Ok(()) };
            let now = self.places.find(&before, id);
            self.queue.push_back((before, now));
        }
    }

    /// Compares the entries of a directory. `now` is `None` if the directory is gone.
    fn read(&mut self, before: &Path, now: Option<&Path>) -> io::Result<()> {
        // An unknown directory is already recorded as missing.
        let Some(DirectoryListing { entries, is_whole }) = self.tree.directories.remove(before) else { return Ok(()) };
        let opened = now.map(OpenDirectory::root).transpose();
        let directory = match opened {
            Ok(directory) => directory,
            Err(error) if is_gone(&error) => None,
            Err(error) => return self.journal.record_gap(before, &error.to_string()),
        };
        let there = now.zip(directory.as_ref());
        for (name, entry) in &entries {
            let path = before.join(name);
            let found = there.map(|(now, directory)| (now.join(name), read_state(&directory.reach(name))));
            match found {
                None => self.compare(path, entry, None)?,
                Some((_, Err(error))) => self.journal.record_gap(&path, &error.to_string())?,
                Some((here, Ok(state))) => self.compare(path, entry, Some((here, state, there)))?,
            }
        }
        let Some((now, directory)) = there.filter(|_| is_whole) else { return Ok(()) };
        let Some(names) = directory.names(self.until)? else {
            return self.journal.record_gap(now, "there was no time to look for new things in it");
        };
        for name in names.into_iter().filter(|name| !entries.contains_key(name)) {
            let path = now.join(&name);
            if belongs_to_store(&path, self.journal.store().path()) {
                continue;
            }
            match read_state(&directory.reach(&name)) {
                Ok(PathState::Absent) => {}
                Ok(state) => self.places.add(path, state, self.until),
                Err(error) => self.journal.record_gap(&path, &error.to_string())?,
            }
        }
        Ok(())
    }

    /// Compares an earlier entry with the current entry.
    fn compare(&mut self, path: PathBuf, entry: &SnapshotEntry, now: Option<CurrentEntry<'_>>) -> io::Result<()> {
        let (here, state, directory) = match now {
            Some((here, state, there)) => (Some(here), state, there.map(|(_, directory)| directory)),
            None => (None, PathState::Absent, None),
        };
        if entry.state.is_directory() {
            if state.is_directory() {
                self.queue.push_back((path.clone(), here.clone()));
            } else if let Some(id) = entry.state.id() {
                self.places.gone.insert(path.clone(), id);
            }
        } else if let Some(here) = here.as_ref().filter(|_| state.is_directory()) {
            self.places.add(here.clone(), state.clone(), self.until);
        }
        let reach = here.as_deref().and_then(Path::file_name).zip(directory);
        let reach = reach.map(|(name, directory)| directory.reach(name));
        if self.is_same(entry, &state, reach.as_deref()) {
            if let PathState::File(file) = &entry.state {
                if file.links > 1 {
                    self.names.entry(file.meta.id).or_default().push((path, entry.clone()));
                } else {
                    self.journal.images().discard_image(file);
                }
            }
            return Ok(());
        }
        let before = match &entry.state {
            PathState::File(file) => PathState::File(self.keep_changed_file(file, entry.at, &state)?),
            other => other.clone(),
        };
        self.journal.note_before(path, before)
    }

    fn is_same(&self, entry: &SnapshotEntry, now: &PathState, reach: Option<&Path>) -> bool {
        match (&entry.state, now) {
            (PathState::File(before), PathState::File(now)) => {
                // A change in the same tick of the clock has the same time.
                let is_certain = !before.ctime.is_recent(self.tree.began);
                before.is_untouched(now)
                    && before.meta == now.meta
                    && (is_certain || self.has_contents(before, entry.at, reach).unwrap_or(false))
            }
            (before, now) => before.is_alike(now),
        }
    }

    fn has_contents(&self, file: &Kept, at: Option<u64>, reach: Option<&Path>) -> Option<bool> {
        let now = path_lookup::open_file(reach?).ok()?;
        let (mut one, mut other) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        let mut done = 0;
        while done < file.size {
            let length = one.len().min(usize::try_from(file.size - done).unwrap_or(usize::MAX));
            self.pack.read_exact_at(&mut one[..length], at? + done).ok()?;
            now.read_exact_at(&mut other[..length], done).ok()?;
            if one[..length] != other[..length] {
                return Some(false);
            }
            done += length as u64;
        }
        Some(true)
    }

    /// Records the other names of changed files, so that they are names of one file again.
    fn write_names(&mut self) -> io::Result<()> {
        for (id, names) in std::mem::take(&mut self.names) {
            for (path, entry) in names {
                let PathState::File(file) = &entry.state else { continue };
                if self.linked.contains(&id) {
                    let file = self.keep_changed_file(file, entry.at, &entry.state)?;
                    self.journal.note_before(path, PathState::File(file))?;
                } else {
                    self.journal.images().discard_image(file);
                }
            }
        }
        Ok(())
    }

    /// Returns an earlier file, with its contents as a kept file.
    fn keep_changed_file(&mut self, file: &Kept, at: Option<u64>, now: &PathState) -> io::Result<Kept> {
        let contents = match (&file.contents, at) {
            (_, Some(at)) => match self.journal.images().keep_from_pack(file, &self.pack, at) {
                Ok(contents) => contents,
                Err(error) => KnownContents::Nothing { why: error.to_string() },
            },
            (KnownContents::Image(_), _) if matches!(now, PathState::File(now) if now.meta.id == file.meta.id && !file.is_unwritten(now)) =>
            {
                self.journal.images().discard_image(file);
                KnownContents::Nothing { why: "it was too large for a copy, and was written to".to_owned() }
            }
            (contents, _) => contents.clone(),
        };
        if file.links > 1 {
            self.linked.insert(file.meta.id);
        }
        if matches!(contents, KnownContents::Nothing { .. }) {
            self.unkept.insert(file.meta.id);
        }
        Ok(Kept { contents, ..file.clone() })
    }
}

/// The path where an earlier entry is expected, the current node there, and its directory.
type CurrentEntry<'a> = (PathBuf, PathState, Option<(&'a Path, &'a OpenDirectory)>);

fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) || error.raw_os_error() == Some(libc::ELOOP)
}
