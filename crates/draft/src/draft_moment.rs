//! Snapshots of the changes of a draft. The receipt of a command compares the one before it with the one after it.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use super::difference::DraftDifference;
use super::draft_effect::{find_renames, listing_of, moved_paths};
use super::draft_repositories::DraftRepositories;
use super::layer::{DraftLayer, LayerChange, LayerThing};
use receipt::FileRename;
use receipt::git::RepositoryComparison;
use receipt::net::{ContentIdentity, NetEffect, ObservedFile, PathListing};
use undo::path_lookup::has_equal_contents;
use undo::path_state::{FileIdentity, PathState};

/// What a draft has changed at one moment.
#[derive(Debug, Default)]
pub struct DraftMoment {
    /// The things in its root.
    things: BTreeMap<PathBuf, MomentThing>,
    repositories: DraftRepositories,
}

/// A thing of a draft, and that of the base.
#[derive(Debug)]
struct MomentThing {
    place: PathBuf,
    draft: LayerThing,
    base: PathState,
}

impl DraftMoment {
    /// Reads the moment. `layers`: those of the draft, that of its root first.
    ///
    /// # Errors
    /// If a directory cannot be read.
    pub fn read(layers: &[DraftLayer]) -> io::Result<Self> {
        let (mut things, mut elsewhere) = (BTreeMap::new(), Vec::new());
        for (number, layer) in layers.iter().enumerate() {
            for LayerChange { path, draft, base } in layer.changes(&|_| true)? {
                if number > 0 {
                    elsewhere.push(path);
                    continue;
                }
                let place = layer.place_of(&path).unwrap_or_default();
                things.insert(path, MomentThing { place, draft, base });
            }
        }
        let changed = things.keys().chain(&elsewhere).map(PathBuf::as_path);
        let repositories = DraftRepositories::read(layers, changed);
        Ok(Self { things, repositories })
    }

    /// Returns the changes in repositories between this moment and a later one.
    pub fn repositories_until(&self, later: &Self) -> Vec<RepositoryComparison> {
        later.repositories.since(&self.repositories)
    }

    /// Returns the changes between this moment and a later one. Paths in `.git` are in no list.
    ///
    /// # Errors
    /// If contents cannot be read.
    pub fn changes_until(&self, later: &Self) -> io::Result<NetEffect> {
        let mut fresh = Vec::new();
        let mut others = Vec::new();
        for (path, now) in &later.things {
            let then = self.things.get(path);
            let base = then.map_or(&now.base, |then| &then.draft.state).clone();
            let (path, place, draft) = (path.clone(), now.place.clone(), now.draft.clone());
            let to = if then.is_some() { &mut others } else { &mut fresh };
            to.push(DraftDifference { path, place, draft, base, conflict: None });
        }
        // The base shows again where the draft has removed a thing of its own.
        for (path, then) in self.things.iter().filter(|(path, _)| !later.things.contains_key(*path)) {
            let draft = LayerThing { state: then.base.clone(), ..LayerThing::ABSENT };
            let (path, place, base) = (path.clone(), then.place.clone(), then.draft.state.clone());
            others.push(DraftDifference { path, place, draft, base, conflict: None });
        }
        let mut renamed = find_renames(&fresh)?;
        renamed.extend(kept_things(&fresh, &others));
        renamed.retain(|one| listing_of(&one.to) == PathListing::Listed);
        renamed.sort_by(|one, other| one.to.cmp(&other.to));
        let all = fresh.iter().map(|one| (one, true)).chain(others.iter().map(|one| (one, false)));
        let mut places = Vec::new();
        {
            let is_moved = moved_paths(&renamed);
            for (one, is_fresh) in all.filter(|(one, _)| !is_moved(&one.path)) {
                let [then, now] = identities(one, is_fresh)?;
                places.push((&*one.path, ObservedFile::of(&one.base, then), ObservedFile::of(&one.draft.state, now)));
            }
        }
        let effect = NetEffect::of_places(places.into_iter(), listing_of);
        Ok(NetEffect { renamed, ..effect })
    }
}

/// Returns the renames of things that were the draft's own before: they keep their identity.
fn kept_things(fresh: &[DraftDifference], others: &[DraftDifference]) -> Vec<FileRename> {
    let all = || fresh.iter().chain(others);
    let has_left = |one: &&DraftDifference| one.base.id().is_some() && one.base.id() != one.draft.state.id();
    let left: HashMap<FileIdentity, &Path> =
        others.iter().filter(has_left).filter_map(|one| Some((one.base.id()?, &*one.path))).collect();
    // A directory comes before its entries, which have moved with it.
    let new: BTreeMap<&Path, &DraftDifference> =
        all().filter(|one| one.base.is_absent()).map(|one| (&*one.path, one)).collect();
    let mut found: Vec<FileRename> = Vec::new();
    for (path, one) in new {
        let Some(from) = one.draft.state.id().and_then(|id| left.get(&id)) else { continue };
        if found.last().is_none_or(|above| !path.starts_with(&above.to)) {
            found.push(FileRename { from: from.to_path_buf(), to: path.to_owned() });
        }
    }
    found
}

/// Returns the contents of a file before and now.
fn identities(one: &DraftDifference, is_fresh: bool) -> io::Result<[ContentIdentity; 2]> {
    let (Some(then), Some(now)) = (one.base.file(), one.draft.state.file()) else {
        return Ok([ContentIdentity::Unread; 2]);
    };
    // The draft has copied it just now.
    if is_fresh && then.size == now.size {
        let is_equal = has_equal_contents(&one.place, &one.path)?;
        return Ok([ContentIdentity::Hash(0), ContentIdentity::Hash(u128::from(!is_equal))]);
    }
    Ok([then, now].map(|file| {
        let mut hasher = DefaultHasher::new();
        (file.meta.id, file.mtime.seconds, file.mtime.nanoseconds, file.ctime.seconds, file.ctime.nanoseconds)
            .hash(&mut hasher);
        ContentIdentity::Version(hasher.finish())
    }))
}
