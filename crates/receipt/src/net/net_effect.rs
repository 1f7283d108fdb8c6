//! The comparison of the earlier files with the present files.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::change_replay::{ChangeReplay, FileOrigin, PathBytes};
use super::observed_file::{FileComparison, ObservedFile};
use crate::{FileChange, FileRename, MAX_LISTED_CHANGES, ReceiptCounts, RunReceipt};
use undo::coverage_gaps::named;
use undo::path_map::prefixes;

/// The place of a path in a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathListing {
    /// The path is in the lists.
    Listed,
    /// The path counts as a part of this directory, which is large and ignored.
    SummedUpIn(PathBuf),
    /// The path is in no list: `.git` has a summary of its own.
    Hidden,
}

/// All changes, by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetEffect {
    /// Created files and directories.
    pub created: Vec<FileChange>,
    /// Files and directories with other content, mode, owner or attributes.
    pub modified: Vec<FileChange>,
    /// Deleted files and directories.
    pub deleted: Vec<FileChange>,
    /// Files and directories with another path.
    pub renamed: Vec<FileRename>,
    /// Directories that are summed up, and below which something changed.
    pub directories: Vec<PathBuf>,
    /// Files that are listed as modified, though the contents may be equal.
    pub unsure: Vec<PathBuf>,
}

impl NetEffect {
    /// Returns a sentence on the files that may be listed as modified though they are unchanged. `None`: no such file.
    #[must_use]
    pub fn doubt_sentence(&self) -> Option<String> {
        let (path, others) = self.unsure.split_first()?;
        let others = match others.len() {
            0 => String::new(),
            1 => " and one other file".to_owned(),
            others => format!(" and {others} other files"),
        };
        Some(format!("{}{others} may have been rewritten with the same content", named(path)))
    }

    /// Returns the numbers of all changes.
    #[must_use]
    pub fn counts(&self) -> ReceiptCounts {
        ReceiptCounts {
            created: self.created.len() as u64,
            modified: self.modified.len() as u64,
            deleted: self.deleted.len() as u64,
            renamed: self.renamed.len() as u64,
        }
    }

    /// Puts the changes into a receipt: the first entries of each list, and the number of all.
    pub fn fill(self, receipt: &mut RunReceipt) {
        fn first<T>(mut list: Vec<T>) -> Vec<T> {
            list.truncate(MAX_LISTED_CHANGES);
            list
        }
        receipt.counts = self.counts();
        receipt.created = first(self.created);
        receipt.modified = first(self.modified);
        receipt.deleted = first(self.deleted);
        receipt.renamed = first(self.renamed);
        receipt.directories = self.directories;
    }
}

impl ChangeReplay {
    /// Returns the present paths whose files [`Self::effect`] asks for.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        let locations = PresentPaths::of(self);
        let present = self.before.keys().filter_map(|start| locations.of_file(start));
        let paths: BTreeSet<_> =
            self.before.keys().cloned().chain(present).chain(self.overlay.keys().cloned()).collect();
        paths.into_iter().map(path_of).collect()
    }

    /// Compares both states. `after` returns the file that a path names now, `place` says where a path is shown.
    ///
    /// A path that named something before and names something now is compared, whatever file it is. A rename is listed
    /// in addition. Its old path is then not listed as deleted, and its new path not as created. A file created at the
    /// old path of a rename is listed as created.
    pub fn effect(
        &self,
        after: impl Fn(&Path) -> Option<ObservedFile>,
        place: impl Fn(&Path) -> PathListing,
    ) -> NetEffect {
        let after = |path: &[u8]| after(Path::new(OsStr::from_bytes(path)));
        let mut comparer =
            EffectComparer { replay: self, locations: PresentPaths::of(self), after, lists: EffectLists::new(place) };
        for (start, before) in &self.before {
            comparer.compare_known_path(start, before);
        }
        for (path, origin) in &self.overlay {
            comparer.compare_unknown_path(path, origin);
        }
        comparer.lists.finish()
    }
}

impl NetEffect {
    /// Compares the places of a run that has moved nothing: each path once, with the file that it named before and the
    /// file that it names now.
    pub fn of_places<'a>(
        places: impl Iterator<Item = (&'a Path, Option<ObservedFile>, Option<ObservedFile>)>,
        place: impl Fn(&Path) -> PathListing,
    ) -> Self {
        let mut lists = EffectLists::new(place);
        for (path, before, now) in places {
            let path = path.as_os_str().as_bytes();
            match (before, now) {
                (Some(before), Some(now)) if before.kind == now.kind => lists.compared(path, &before, &now),
                (before, now) => {
                    before.iter().for_each(|before| lists.deleted(path, before));
                    now.iter().for_each(|now| lists.created(path, now));
                }
            }
        }
        lists.finish()
    }
}

fn path_of(path: PathBytes) -> PathBuf {
    std::ffi::OsString::from_vec(path).into()
}

/// The present paths of the files that existed when the run began.
struct PresentPaths<'a> {
    replay: &'a ChangeReplay,
    /// The present paths of the renamed files, by the path when the run began.
    moved: BTreeMap<&'a [u8], &'a PathBytes>,
}

impl<'a> PresentPaths<'a> {
    fn of(replay: &'a ChangeReplay) -> Self {
        let moved = replay.overlay.iter().filter_map(|(path, origin)| match origin {
            FileOrigin::Moved(start) => Some((start.as_slice(), path)),
            _ => None,
        });
        Self { replay, moved: moved.collect() }
    }

    /// Returns the present path of a file. `None`: it was removed.
    fn of_file(&self, start: &[u8]) -> Option<PathBytes> {
        let moved = prefixes(start).find_map(|end| Some([self.moved.get(&start[..end])?, &start[end..]].concat()));
        let path = moved.unwrap_or_else(|| start.to_vec());
        (self.replay.path_at_start(&path).as_deref() == Some(start)).then_some(path)
    }

    /// Returns whether the directory of a file is at another path now, so that another directory is at its own. If the
    /// directory was removed, the nearest one above it that is still there decides.
    fn has_lost_directory(&self, start: &[u8]) -> bool {
        let there = prefixes(start).skip(1).find_map(|end| Some((end, self.of_file(&start[..end])?)));
        there.is_some_and(|(end, path)| path != start[..end])
    }

    /// Returns whether a file is where it is because a directory above it was renamed.
    fn follows_directory(&self, start: &[u8], path: &[u8]) -> bool {
        let split = |path: &[u8]| path.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
        let (from, to) = (split(start), split(path));
        start[from..] == path[to..] && self.replay.path_at_start(&path[..to]).as_deref() == Some(&start[..from])
    }
}

struct EffectComparer<'a, A, P> {
    replay: &'a ChangeReplay,
    locations: PresentPaths<'a>,
    after: A,
    lists: EffectLists<P>,
}

impl<A: Fn(&[u8]) -> Option<ObservedFile>, P: Fn(&Path) -> PathListing> EffectComparer<'_, A, P> {
    /// Compares a path at which a file existed when the run began.
    fn compare_known_path(&mut self, start: &PathBytes, before: &ObservedFile) {
        let now = (self.after)(start);
        let elsewhere = self.locations.of_file(start).filter(|path| path != start);
        let elsewhere = elsewhere.and_then(|path| Some(((self.after)(&path)?, path)));
        if let Some((node, path)) = &elsewhere {
            let replaced = self.replay.before.get(path);
            if !self.locations.follows_directory(start, path) {
                self.lists.renamed(start, path, (now.is_none().then_some(before), replaced.is_none().then_some(node)));
            }
            // Otherwise the file is compared with the file that it replaced.
            if replaced.is_none_or(|replaced| replaced.kind != node.kind) || self.locations.has_lost_directory(path) {
                self.lists.compared(path, before, node);
            }
        }
        let is_moved = matches!(self.replay.overlay.get(start), Some(FileOrigin::Moved(_)));
        match now {
            None if elsewhere.is_some() => {}
            None => self.lists.deleted(start, before),
            Some(now) if elsewhere.is_some() && !is_moved => self.lists.created(start, &now),
            Some(now) if now.kind == before.kind && !self.locations.has_lost_directory(start) => {
                self.lists.compared(start, before, &now);
            }
            Some(now) => {
                if elsewhere.is_none() {
                    self.lists.deleted(start, before);
                }
                if self.replay.path_at_start(start).is_none_or(|origin| origin == *start) {
                    self.lists.created(start, &now);
                }
            }
        }
    }

    /// Compares a path at which nothing existed when the run began, or which only a rename mentions.
    fn compare_unknown_path(&mut self, path: &PathBytes, origin: &FileOrigin) {
        let is_known = self.replay.before.contains_key(path);
        let Some(now) = (self.after)(path) else { return };
        match origin {
            FileOrigin::New if !is_known => self.lists.created(path, &now),
            FileOrigin::Moved(start)
                if start != path
                    && !self.replay.before.contains_key(start)
                    && !self.locations.follows_directory(start, path) =>
            {
                self.lists.renamed(start, path, (None, (!is_known).then_some(&now)));
            }
            _ => {}
        }
    }
}

/// The lists so far.
struct EffectLists<P> {
    place: P,
    effect: NetEffect,
    directories: BTreeSet<PathBuf>,
}

impl<P: Fn(&Path) -> PathListing> EffectLists<P> {
    fn new(place: P) -> Self {
        Self { place, effect: NetEffect::default(), directories: BTreeSet::new() }
    }

    /// Returns the path, if it is listed.
    fn listed(&mut self, path: &[u8]) -> Option<PathBuf> {
        let path = path_of(path.to_vec());
        match (self.place)(&path) {
            PathListing::Listed => return Some(path),
            PathListing::SummedUpIn(directory) => drop(self.directories.insert(directory)),
            PathListing::Hidden => {}
        }
        None
    }

    fn created(&mut self, path: &[u8], now: &ObservedFile) {
        let Some(path) = self.listed(path) else { return };
        self.effect.created.push(FileChange { path, bytes: now.receipt_size(), bytes_before: None, kind: now.kind });
    }

    fn deleted(&mut self, path: &[u8], before: &ObservedFile) {
        let Some(path) = self.listed(path) else { return };
        self.effect.deleted.push(FileChange {
            path,
            bytes: None,
            bytes_before: before.receipt_size(),
            kind: before.kind,
        });
    }

    fn compared(&mut self, path: &[u8], before: &ObservedFile, now: &ObservedFile) {
        let comparison = now.compare(before);
        if comparison == FileComparison::Equal {
            return;
        }
        let Some(path) = self.listed(path) else { return };
        if comparison == FileComparison::Unsure {
            self.effect.unsure.push(path.clone());
        }
        let (bytes, bytes_before) = (now.receipt_size(), before.receipt_size());
        self.effect.modified.push(FileChange { path, bytes, bytes_before, kind: now.kind });
    }

    /// Lists a rename. If only one half of it is listed, that half becomes a deletion or a creation. The nodes are for
    /// those: the old node if the old path names nothing now, and the new node if the new path named nothing before.
    fn renamed(&mut self, start: &[u8], path: &[u8], (before, now): (Option<&ObservedFile>, Option<&ObservedFile>)) {
        match (self.listed(start), self.listed(path)) {
            (Some(from), Some(to)) => self.effect.renamed.push(FileRename { from, to }),
            (Some(_), None) => before.into_iter().for_each(|before| self.deleted(start, before)),
            (None, Some(_)) => now.into_iter().for_each(|now| self.created(path, now)),
            (None, None) => {}
        }
    }

    fn finish(mut self) -> NetEffect {
        let by_path = |one: &FileChange, other: &FileChange| one.path.cmp(&other.path);
        self.effect.created.sort_by(by_path);
        self.effect.modified.sort_by(by_path);
        self.effect.deleted.sort_by(by_path);
        self.effect.renamed.sort_by(|one, other| one.to.cmp(&other.to));
        self.effect.unsure.sort();
        self.effect.directories = self.directories.into_iter().collect();
        self.effect
    }
}
