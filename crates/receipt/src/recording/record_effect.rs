//! From the record of a run to its net effect.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::kept_run_files::KeptRunFiles;
use crate::net::{ChangeReplay, ContentIdentity, NetEffect, ObservedFile, PathListing};
use undo::RunManifest;
use undo::path_state::{self, FileIdentity};

/// The entry of a work tree that leads to its repository.
const GIT: &str = ".git";

/// Computes the net effect of a run. Files of its store are left out.
pub fn effect(kept: &KeptRunFiles<'_>, store: &Path) -> NetEffect {
    let point = kept.point;
    let after = CurrentFiles::new(kept, store);
    let place = |path: &Path| {
        let is_hidden = is_in_git(path) || point.is_own(store, path);
        if is_hidden { PathListing::Hidden } else { PathListing::Listed }
    };
    if point.moved.is_empty() {
        return NetEffect::of_places(touched_places(point, &after), place);
    }
    let mut replay = ChangeReplay::new();
    for (path, before) in after.earlier_places() {
        replay.record_before(path, before.as_ref());
    }
    for path in replay_renames(point, &mut replay) {
        replay.remove(&path);
        if point.states_after_run.contains_key(&path) {
            replay.record_before(&path, None);
        }
    }
    // Files in new directories have no earlier entry.
    let is_own = |path: &Path| point.is_own(store, path);
    let new =
        point.states_after_run.keys().filter(|path| !is_own(path) && point.names.earlier_path_of_entry(path).is_none());
    new.for_each(|path| replay.record_before(path, None));
    replay.effect(|path| after.node(path), place)
}

/// Returns the places that a run has touched, which has moved nothing, with the files of before and of now.
fn touched_places<'a>(
    point: &'a RunManifest,
    after: &'a CurrentFiles<'a>,
) -> impl Iterator<Item = (&'a Path, Option<ObservedFile>, Option<ObservedFile>)> {
    let there = after.earlier_places().map(|(path, before)| (path, before, after.node(path)));
    let mut made = MadeDirectoryCheck::default();
    let is_new = move |path: &&'a Path| !point.states_before.contains_key(path) && made.is_made_by_run(point, path);
    there.chain(point.states_after_run.keys().filter(is_new).map(|path| (path, None, after.node(path))))
}

/// The directory that was asked about last, and whether the run made it. Neighbours are asked about one after another.
#[derive(Default)]
struct MadeDirectoryCheck<'a>(Option<(&'a Path, bool)>);

impl<'a> MadeDirectoryCheck<'a> {
    /// Returns whether the directory of a path has no earlier path.
    fn is_made_by_run(&mut self, point: &RunManifest, path: &'a Path) -> bool {
        let Some(directory) = path.parent() else { return false };
        let known = self.0.filter(|(known, _)| known.as_os_str() == directory.as_os_str());
        let (_, is_made) =
            known.unwrap_or_else(|| (directory, point.names.earlier_path_of_directory(directory).is_none()));
        self.0 = Some((directory, is_made));
        is_made
    }
}

/// Returns whether a path lies in a `.git`, or is one.
fn is_in_git(path: &Path) -> bool {
    memchr::memmem::find(path.as_os_str().as_bytes(), b"/.git").is_some() && path.iter().any(|name| name == GIT)
}

/// Replays the renames. Returns the last paths of files that are gone.
fn replay_renames(point: &RunManifest, replay: &mut ChangeReplay) -> Vec<PathBuf> {
    let mut places: BTreeMap<PathBuf, FileIdentity> = BTreeMap::new();
    for moved in &point.moved {
        let (from, to) = (&moved.from, &moved.to);
        let below = |places: &BTreeMap<PathBuf, FileIdentity>, directory: &Path| -> Vec<PathBuf> {
            let all = places.range(directory.to_owned()..).map(|(path, _)| path);
            all.take_while(|path| path.starts_with(directory)).cloned().collect()
        };
        let (leaving, mut returning) = (below(&places, from), below(&places, to));
        if moved.swap.is_some() {
            replay.exchange(from, to);
        } else {
            replay.rename(from, to);
            // The file at the new path was replaced.
            for path in returning.drain(..) {
                places.remove(&path);
            }
        }
        let mut next = Vec::new();
        let there = leaving.into_iter().map(|path| (path, from, to));
        for (path, old, new) in there.chain(returning.into_iter().map(|path| (path, to, from))) {
            let (Some(id), Ok(rest)) = (places.remove(&path), path.strip_prefix(old)) else { continue };
            next.push((if rest.as_os_str().is_empty() { new.clone() } else { new.join(rest) }, id));
        }
        places.extend(next);
        places.insert(to.clone(), moved.id);
    }
    let is_gone = |path: &Path, id: FileIdentity| {
        point.states_after_run.get(path).and_then(path_state::PathState::id) != Some(id)
    };
    places.into_iter().filter(|(path, id)| is_gone(path, *id)).map(|(path, _)| path).collect()
}

/// The current files, and numbers for the contents of the earlier ones.
struct CurrentFiles<'a> {
    kept: &'a KeptRunFiles<'a>,
    store: &'a Path,
    index: OnceCell<EarlierFiles<'a>>,
}

/// The earlier files, once one of them is compared.
struct EarlierFiles<'a> {
    numbers: HashMap<&'a OsStr, u128>,
    /// An earlier path of each file.
    by_id: HashMap<FileIdentity, &'a Path>,
}

impl<'a> CurrentFiles<'a> {
    fn new(kept: &'a KeptRunFiles<'a>, store: &'a Path) -> Self {
        Self { kept, store, index: OnceCell::new() }
    }

    /// Returns the touched places of before without those of the store, with their numbers.
    fn numbered_earlier_places(&self) -> impl Iterator<Item = (&'a Path, &'a path_state::PathState, u128)> {
        let (point, store) = (self.kept.point, self.store);
        let before = point.states_before.iter().filter(move |(path, _)| !point.is_own(store, path));
        before.zip(1..).map(|((path, node), number)| (path, node, number))
    }

    /// Returns the touched places of before, with the files that were there.
    fn earlier_places(&self) -> impl Iterator<Item = (&'a Path, Option<ObservedFile>)> {
        self.numbered_earlier_places()
            .map(|(path, node, number)| (path, ObservedFile::of(node, ContentIdentity::Hash(number))))
    }

    fn index(&self) -> &EarlierFiles<'a> {
        self.index.get_or_init(|| EarlierFiles {
            numbers: self.numbered_earlier_places().map(|(path, _, number)| (path.as_os_str(), number)).collect(),
            by_id: self.numbered_earlier_places().filter_map(|(path, node, _)| Some((node.id()?, path))).collect(),
        })
    }

    /// Returns the file at a current path. Its contents have the number of the earlier contents that they equal.
    fn node(&self, path: &Path) -> Option<ObservedFile> {
        let node = self.kept.point.states_after_run.get(path)?;
        let path_state::PathState::File(file) = node else { return ObservedFile::of(node, ContentIdentity::Unread) };
        let partner = self.earlier_partner(path, file.meta.id);
        let contents = match partner {
            Some((number, before)) if before.size == file.size => match self.kept.is_same(before, file, path) {
                Some(true) => ContentIdentity::Hash(number),
                Some(false) => ContentIdentity::Hash(0),
                None => ContentIdentity::Unread,
            },
            _ => ContentIdentity::Hash(0),
        };
        ObservedFile::of(node, contents)
    }

    /// Returns the file to compare with: the earlier file at this place, or else the file itself at its earlier place,
    /// or else the earlier file at this path, whose directory was replaced.
    fn earlier_partner(&self, path: &Path, id: FileIdentity) -> Option<(u128, &'a path_state::FileState)> {
        if self.kept.point.states_before.is_empty() {
            return None;
        }
        let own = self.kept.point.names.earlier_path_of_entry(path);
        let own = own.and_then(|entry| self.file(&entry));
        own.or_else(|| self.file(self.index().by_id.get(&id)?)).or_else(|| self.file(path))
    }

    fn file(&self, entry: &Path) -> Option<(u128, &'a path_state::FileState)> {
        match self.kept.point.states_before.get(entry)? {
            path_state::PathState::File(file) => Some((*self.index().numbers.get(entry.as_os_str())?, file)),
            _ => None,
        }
    }
}

/// Returns the tops of the work trees whose `.git` a run touched.
pub fn repositories(point: &RunManifest) -> BTreeSet<PathBuf> {
    let moved = point.moved.iter().flat_map(|moved| [&moved.from, &moved.to]);
    let paths = point.states_before.keys().chain(point.states_after_run.keys()).chain(moved.map(PathBuf::as_path));
    let top = |path: &Path| {
        let outermost = path.ancestors().filter(|above| above.file_name().is_some_and(|name| name == GIT)).last();
        outermost.and_then(Path::parent).map(Path::to_owned)
    };
    paths.filter(|path| is_in_git(path)).filter_map(top).collect()
}
