//! Generated histories on real files.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::testing::{ObservedTree, RecordedProgram, UndoScene};

/// Few names, so that changes meet.
const NAMES: &[&str] = &[
    "a", "b", "c", "d", "d/f", "d/g", "d/e", "d/e/h", "d/e/i", "k", "k/l", "k/d", "k/d/f", "n", "n/a", "n/d", "n/d/e",
    "s",
];

#[derive(Debug, Clone)]
enum RandomOperation {
    Write(usize),
    Replace(usize),
    Remove(usize),
    RemoveAll(usize),
    Rename(usize, usize),
    Swap(usize, usize),
    MakeDirectory(usize),
    Link(usize, usize),
    Symlink(usize),
    Mode(usize, u32),
    Attribute(usize),
    Time(usize, i64),
}

fn op() -> impl Strategy<Value = RandomOperation> {
    let name = || 0..NAMES.len();
    prop_oneof![
        3 => name().prop_map(RandomOperation::Write),
        2 => name().prop_map(RandomOperation::Replace),
        2 => name().prop_map(RandomOperation::Remove),
        1 => name().prop_map(RandomOperation::RemoveAll),
        4 => (name(), name()).prop_map(|(from, to)| RandomOperation::Rename(from, to)),
        1 => (name(), name()).prop_map(|(one, other)| RandomOperation::Swap(one, other)),
        3 => name().prop_map(RandomOperation::MakeDirectory),
        1 => (name(), name()).prop_map(|(from, to)| RandomOperation::Link(from, to)),
        1 => name().prop_map(RandomOperation::Symlink),
        1 => (name(), prop_oneof![Just(1_000), Just(4_000_000_000)]).prop_map(|(name, time)| RandomOperation::Time(name, time)),
        1 => (name(), prop_oneof![Just(0o600), Just(0o755), Just(0o4755)]).prop_map(|(name, mode)| RandomOperation::Mode(name, mode)),
        1 => name().prop_map(RandomOperation::Attribute),
    ]
}

fn ops(most: usize) -> impl Strategy<Value = Vec<RandomOperation>> {
    prop::collection::vec(op(), 1..=most)
}

fn begun() -> UndoScene {
    let scene = UndoScene::new();
    for (name, text) in
        [("a", "one"), ("b", "two"), ("d/f", "three"), ("d/g", "four"), ("d/e/h", "five"), ("k/l", "six")]
    {
        scene.write(name, text);
    }
    fs::create_dir(scene.path("n")).expect("made");
    std::os::unix::fs::symlink("d/f", scene.path("s")).expect("linked");
    scene
}

/// Returns whether no directory of a path is a link, since a recorder takes no other paths.
fn is_plain(scene: &UndoScene, name: &str) -> bool {
    let path = scene.path(name);
    let parent = path.parent().expect("a parent");
    fs::canonicalize(parent).is_ok_and(|real| real == parent)
}

/// Makes the changes that are possible, as a recorded run.
fn run(scene: &UndoScene, run: &mut RecordedProgram, ops: &[RandomOperation]) {
    for (at, op) in ops.iter().enumerate() {
        let text = format!("run {at}");
        let plain = |index: &usize| is_plain(scene, NAMES[*index]);
        let _failed = match op {
            RandomOperation::Write(name) if plain(name) => run.write(NAMES[*name], &text),
            RandomOperation::Replace(name) if plain(name) => run.replace(NAMES[*name], &text),
            RandomOperation::Remove(name) if plain(name) => run.remove(NAMES[*name]),
            RandomOperation::RemoveAll(name) if plain(name) => run.remove_all(NAMES[*name]),
            RandomOperation::Rename(from, to) if plain(from) && plain(to) => run.rename(NAMES[*from], NAMES[*to]),
            RandomOperation::Swap(one, other) if plain(one) && plain(other) => run.swap(NAMES[*one], NAMES[*other]),
            RandomOperation::MakeDirectory(name) if plain(name) => run.make_directory(NAMES[*name]),
            RandomOperation::Link(from, to) if plain(from) && plain(to) => run.link(NAMES[*from], NAMES[*to]),
            RandomOperation::Symlink(name) if plain(name) => run.symlink("a", NAMES[*name]),
            RandomOperation::Mode(name, mode) if plain(name) => run.set_mode(NAMES[*name], *mode),
            RandomOperation::Attribute(name) if plain(name) => run.set_attribute(NAMES[*name], "value"),
            RandomOperation::Time(name, seconds) if plain(name) => run.set_time(NAMES[*name], *seconds),
            _ => Ok(()),
        };
    }
}

/// The same without a record, as a user.
fn use_it(scene: &UndoScene, ops: &[RandomOperation]) {
    for (at, op) in ops.iter().enumerate() {
        let text = format!("user {at}");
        let path = |index: &usize| scene.path(NAMES[*index]);
        let _failed = match op {
            RandomOperation::Write(name) => fs::write(path(name), text),
            RandomOperation::Replace(name) => {
                fs::write(scene.path("tmp"), text).and_then(|()| fs::rename(scene.path("tmp"), path(name)))
            }
            RandomOperation::Remove(name) => fs::remove_file(path(name)).or_else(|_| fs::remove_dir(path(name))),
            RandomOperation::RemoveAll(name) => fs::remove_dir_all(path(name)),
            RandomOperation::Rename(from, to) => fs::rename(path(from), path(to)),
            RandomOperation::MakeDirectory(name) => fs::create_dir(path(name)),
            RandomOperation::Mode(name, mode) => fs::set_permissions(path(name), fs::Permissions::from_mode(*mode)),
            _ => Ok(()),
        };
    }
    let _none = fs::remove_file(scene.path("tmp"));
}

fn users_texts(snapshot: &ObservedTree) -> BTreeSet<&str> {
    let texts = snapshot.values().map(|seen| seen.what.as_str());
    texts.filter(|what| what.starts_with("file user")).collect()
}

/// Returns whether one path is the other, or above it.
fn is_related(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// Returns the places, before and after the run, that the user's changes concern.
fn users_places(scene: &UndoScene, after: &ObservedTree, used: &ObservedTree) -> Vec<PathBuf> {
    let point = manifest::read(&scene.store.manifest_path("r").expect("an id")).expect("read");
    let all: BTreeSet<&PathBuf> = after.keys().chain(used.keys()).collect();
    let changed = all.into_iter().filter(|path| after.get(*path) != used.get(*path));
    let mut places: Vec<PathBuf> = Vec::new();
    for path in changed.map(|path| scene.root.join(path)) {
        places.extend(point.names.earlier_path_of_entry(&path));
        places.push(path);
    }
    loop {
        let count = places.len();
        let files = point.moved.iter().map(|moved| (moved.from.as_path(), moved.to.as_path()));
        for (before, now) in point.names.moved_directories().chain(files) {
            let related = places.iter().any(|place| is_related(place, before) || is_related(place, now));
            if related {
                let new = [before, now].map(Path::to_owned).into_iter().filter(|path| !places.contains(path));
                places.extend(new.collect::<Vec<_>>());
            }
        }
        if places.len() == count {
            return places;
        }
    }
}

/// Returns the steps before which an undo is killed.
fn kills() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0_usize..60, 1..3)
}

/// `AGENT_BASH_HISTORIES` is the number of histories for each property.
fn cases() -> ProptestConfig {
    let count = std::env::var("AGENT_BASH_HISTORIES").ok().and_then(|count| count.parse().ok());
    let count = count.unwrap_or(60);
    ProptestConfig { failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::with_cases(count) }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn without_a_user_everything_comes_back(program in ops(10), linked in any::<bool>()) {
        let scene = begun();
        if linked {
            fs::hard_link(scene.path("a"), scene.path("d/a")).expect("linked");
        }
        let before = scene.snapshot();
        scene.run("r", |begun| run(&scene, begun, &program));
        let after = scene.snapshot();
        let undone = scene.undo("r");
        prop_assert_eq!((&undone.conflicts[..], &undone.not_covered[..]), (&[][..], &[][..]));
        prop_assert_eq!(&scene.snapshot(), &before);
        prop_assert_eq!(scene.undo("r"), UndoOutcome::default());
        if !undone.undo.is_empty() {
            let redone = scene.undo(&undone.undo);
            prop_assert_eq!(redone.conflicts, []);
            prop_assert_eq!(&scene.snapshot(), &after);
        }
    }

    #[test]
    fn what_a_user_did_stays_and_the_rest_comes_back(program in ops(8), user in ops(3)) {
        let program: Vec<RandomOperation> = program.into_iter().filter(|op| !matches!(op, RandomOperation::Link(..))).collect();
        let scene = begun();
        let before = scene.snapshot();
        scene.run("r", |begun| run(&scene, begun, &program));
        let after = scene.snapshot();
        use_it(&scene, &user);
        let used = scene.snapshot();
        let undone = scene.undo("r");
        let restored = scene.snapshot();
        prop_assert_eq!(users_texts(&restored), users_texts(&used));
        let places = users_places(&scene, &after, &used);
        let is_explained = |path: &Path| places.iter().any(|place| is_related(path, place));
        for stayed in &undone.conflicts {
            prop_assert!(is_explained(&stayed.path), "{stayed:?}");
        }
        let all: BTreeSet<&PathBuf> = before.keys().chain(restored.keys()).collect();
        for path in all {
            let same = before.get(path) == restored.get(path);
            prop_assert!(same || is_explained(&scene.root.join(path)), "{}", path.display());
        }
        if !undone.undo.is_empty() {
            let redone = scene.undo(&undone.undo);
            prop_assert_eq!(redone.conflicts, []);
            prop_assert_eq!(&scene.snapshot(), &used);
        }
    }

    #[test]
    fn a_killed_undo_completes(program in ops(8), steps in kills(), linked in any::<bool>()) {
        let scene = begun();
        if linked {
            fs::hard_link(scene.path("a"), scene.path("d/a")).expect("linked");
        }
        let before = scene.snapshot();
        scene.run("r", |begun| run(&scene, begun, &program));
        let after = scene.snapshot();
        for step in steps {
            scene.undo_until("r", step);
        }
        let undone = scene.undo("r");
        prop_assert_eq!(undone.conflicts, []);
        prop_assert_eq!(&scene.snapshot(), &before);
        let unended = scene.store.unended_headers().expect("read");
        let undos = scene.store.undos_of("r", &unended).expect("listed");
        prop_assert!(undos.len() <= 1);
        if let Some(undo) = undos.first() {
            prop_assert_eq!(scene.undo(undo).conflicts, []);
            prop_assert_eq!(&scene.snapshot(), &after);
        }
    }

    #[test]
    fn a_run_whose_recorder_was_killed_comes_back(program in ops(8)) {
        let scene = begun();
        let before = scene.snapshot();
        let mut begun = scene.begin("r");
        run(&scene, &mut begun, &program);
        drop(begun);
        let undone = scene.undo("r");
        prop_assert_eq!(undone.conflicts, []);
        prop_assert_eq!(&scene.snapshot(), &before);
    }

    #[test]
    fn points_come_back_newest_first(programs in prop::collection::vec(ops(5), 2..4)) {
        let scene = begun();
        let mut states = Vec::new();
        for (at, program) in programs.iter().enumerate() {
            states.push(scene.snapshot());
            scene.run(&format!("r{at}"), |begun| run(&scene, begun, program));
        }
        for (at, state) in states.iter().enumerate().rev() {
            let undone = scene.undo(&format!("r{at}"));
            prop_assert_eq!(&undone.conflicts, &[], "r{}", at);
            prop_assert_eq!(&scene.snapshot(), state, "r{}", at);
        }
    }
}
