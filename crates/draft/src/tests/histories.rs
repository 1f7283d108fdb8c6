//! Generated histories: commands in a draft, and edits by a person outside.
//!
//! `HISTORIES=5000` plays as many of each kind.

use std::fmt::Debug;

use proptest::collection;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;

/// Plays 500 histories of rounds, or as many as the environment says.
fn play_all<T: Debug>(rounds: impl Strategy<Value = T>, play: impl Fn(&[T]) -> Result<(), TestCaseError>) {
    let cases = std::env::var("HISTORIES").ok().and_then(|count| count.parse().ok()).unwrap_or(500);
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(&collection::vec(rounds, 1..5), |rounds| play(&rounds)).expect("no history differs");
}

/// Makes one of the changes that histories have, each with contents of its own.
fn step() -> impl Strategy<Value = String> {
    const NAMES: [&str; 9] = ["a", "b", "d/c", "d/e/f", "d/e", "d", "n", "n/m", "node/pkg/x"];
    let name = || (0..NAMES.len()).prop_map(|at| NAMES[at]);
    let text = || 0..1_000_000_u32;
    prop_oneof![
        4 => (name(), text()).prop_map(|(path, text)| format!("echo {text} >{path}")),
        2 => (name(), text()).prop_map(|(path, text)| format!("echo {text} >>{path}")),
        2 => (name(), text()).prop_map(|(path, text)| format!("echo {text} >t; mv -T t {path}")),
        2 => name().prop_map(|path| format!("rm -rf {path}")),
        2 => name().prop_map(|path| format!("mkdir -p {path}")),
        1 => (name(), text()).prop_map(|(path, text)| format!("rm -rf {path}; mkdir {path}; echo {text} >{path}/new")),
        1 => (name(), name()).prop_map(|(from, to)| format!("mv -T {from} {to}")),
        1 => (name(), name()).prop_map(|(from, to)| format!("ln -sfnT {from} {to}")),
        1 => name().prop_map(|path| format!("[ -f {path} ]; chmod 640 {path}")),
    ]
}

/// Joins steps to a script. One that is impossible is passed over.
fn script_of(steps: &[String]) -> String {
    let steps = steps.iter().map(|step| format!("({step}) >/dev/null 2>&1 || true; rm -f t\n"));
    steps.collect()
}

const NONE: [String; 0] = [];

/// Returns the paths at which two trees differ, each with the beginning of both sides.
fn differing(one: &BTreeMap<String, String>, other: &BTreeMap<String, String>) -> Vec<String> {
    let paths: BTreeSet<_> = one.keys().chain(other.keys()).collect();
    let start =
        |thing: Option<&String>| thing.map_or("nothing".into(), |thing| thing.chars().take(80).collect::<String>());
    let differs = |path: &&String| one.get(*path) != other.get(*path);
    let said = |path: &String| format!("{path}: {} ≠ {}", start(one.get(path)), start(other.get(path)));
    paths.into_iter().filter(differs).map(said).collect()
}

fn without_objects(mut tree: BTreeMap<String, String>) -> BTreeMap<String, String> {
    tree.retain(|path, _| !path.starts_with(".git/objects"));
    tree
}

/// Whether a person made the steps, and the steps.
type Round = (bool, Vec<String>);

/// Plays a history, and compares its end with a full copy of the tree.
fn play(tree: &str, rounds: &[Round]) -> Result<(), TestCaseError> {
    let mut scene = LayerScene::new(tree);
    let origin = scene.tree();
    for (is_person, steps) in rounds {
        let script = script_of(steps);
        if *is_person {
            scene.edit(&script);
        } else {
            let before = scene.tree();
            scene.run(&script);
            prop_assert_eq!(differing(&scene.tree(), &before), NONE, "the draft touches nothing");
        }
    }
    let view = tempfile::tempdir().expect("a directory");
    scene.run(&format!("cp -a . {}", view.path().display()));
    let (seen, now) = (tree_of(view.path()), scene.tree());
    let differences = scene.differences();
    for one in &differences {
        let path = scene.short(&one.path);
        prop_assert!(seen.get(&path) != now.get(&path), "{} is no difference", path);
        let is_changed = origin.get(&path) != now.get(&path);
        match one.conflict {
            // Entries of a directory are compared by themselves. Where a person had removed a thing, the draft may have
            // made another.
            None if one.base.is_directory() || one.base.is_absent() => {}
            None => prop_assert!(!is_changed, "{} was changed by both", path),
            // A thing that was made anew alike is another one.
            Some(_) => {}
        }
    }
    let free: BTreeSet<_> = differences.iter().filter(|one| one.conflict.is_none()).map(|one| &*one.path).collect();
    if free.len() == differences.len() {
        // A directory that the draft has copied stays as it was, and is no change of the draft. Nor is a file that
        // it has put back.
        let is_directory = |thing: Option<&String>| thing.is_some_and(|thing| thing.starts_with('4'));
        let changed: BTreeSet<_> = differences.iter().map(|one| scene.short(&one.path)).collect();
        let mut expected = BTreeMap::new();
        for path in seen.keys().chain(now.keys()) {
            let (shown, is) = (seen.get(path), now.get(path));
            let wanted = if changed.contains(path) { shown } else { is };
            prop_assert!(
                wanted == shown
                    || shown == origin.get(path)
                    || is_directory(shown) && is.is_none_or(|_| is_directory(is)),
                "{} is hidden",
                path
            );
            expected.extend(wanted.map(|thing| (path.clone(), thing.clone())));
        }
        let outcome = scene.commit("r1", |_| true);
        prop_assert_eq!(outcome.left, []);
        prop_assert_eq!(differing(&scene.tree(), &expected), NONE, "the tree is what the draft showed");
        scene.undo("r1");
        // An undo leaves objects of git.
        let undone = without_objects(scene.tree());
        prop_assert_eq!(differing(&undone, &without_objects(now)), NONE, "undone");
    }
    Ok(())
}

#[test]
#[ignore = "stress: hundreds of histories"]
fn generated_histories_end_as_a_full_copy_of_the_tree() {
    play_all((any::<bool>(), collection::vec(step(), 1..5)), |rounds| play(TREE, rounds));
}

/// A repository with the tree in it.
const REPOSITORY: &str = "git init -q -b main; git config user.name t; git config user.email t@localhost; \
     git config gc.auto 0; git add -A; git commit -qm begin; echo more >>b; git commit -qam more";

/// Makes one of the changes of git that histories have.
fn git_step() -> impl Strategy<Value = String> {
    let name = || 0..4_u8;
    prop_oneof![
        4 => any::<u32>().prop_map(|text| format!("git add -A; git commit -qm {text}")),
        1 => Just("git add -A".to_owned()),
        1 => name().prop_map(|name| format!("git checkout -qb b{name}")),
        1 => name().prop_map(|name| format!("git checkout -qf b{name}")),
        1 => Just("git checkout -qf main".to_owned()),
        1 => name().prop_map(|name| format!("git merge -q b{name} || git merge --abort")),
        1 => name().prop_map(|name| format!("git branch -qD b{name}")),
        1 => name().prop_map(|name| format!("git tag -f t{name}")),
        2 => Just("git stash -qu".to_owned()),
        1 => Just("git stash pop -q".to_owned()),
        1 => Just("git reset -q --hard HEAD~1".to_owned()),
        1 => Just("git mv d moved".to_owned()),
        1 => Just("git rm -rq node".to_owned()),
        1 => Just("git gc -q --prune=now".to_owned()),
        1 => Just("git pack-refs --all".to_owned()),
        1 => name().prop_map(|name| format!("git worktree add -f wt{name} && git worktree remove -f wt{name}")),
    ]
}

/// Says what git says of the repository that it runs in. Fails if something of it is missing.
const GIT_SAYS: &str = "git fsck --full --strict 2>&1 | grep -E 'missing|error|bad' && exit 1; git log --all --format='%H %D %s'; \
     git stash list; git status --porcelain=v2 --branch";

#[test]
#[ignore = "stress: hundreds of histories"]
fn generated_histories_of_a_repository_end_as_it_was_shown() {
    let work = || collection::vec(prop_oneof![2 => git_step(), 1 => step()], 1..6);
    let rounds = prop_oneof![
        3 => work().prop_map(|steps| (false, steps)),
        1 => collection::vec(step(), 1..3).prop_map(|steps| (true, steps)),
    ];
    let tree = format!("{TREE}; {REPOSITORY}");
    play_all(rounds, |rounds| {
        play(&tree, rounds)?;
        play_repository(&tree, rounds)
    });
}

/// Plays the rounds of the draft without those of the person. After a commit, git reports the same as in the draft.
fn play_repository(tree: &str, rounds: &[Round]) -> Result<(), TestCaseError> {
    let mut scene = LayerScene::new(tree);
    let said = scene.layer.room.join("said");
    let say = format!("({GIT_SAYS}) >{}", said.display());
    for (_, steps) in rounds.iter().filter(|(is_person, _)| !is_person) {
        scene.run(&script_of(steps));
    }
    scene.run(&say);
    let in_draft = fs::read_to_string(&said).expect("what git says");
    prop_assert_eq!(scene.conflicts(), []);
    prop_assert_eq!(scene.commit("r1", |_| true).left, []);
    scene.edit(&say);
    prop_assert_eq!(fs::read_to_string(&said).expect("what git says"), in_draft);
    Ok(())
}

/// The lines of a file that histories of merges change. Two of them are never beside each other.
const LINES: [usize; 4] = [1, 7, 13, 19];

/// A history of merges: edits of two files, each with its line and the number that it becomes.
type Edit = (usize, usize, u32);

/// The numbers of the lines of a file.
type Numbers = [u32; LINES.len()];

/// Returns what three versions of a file become, or `None` if both have changed a line.
fn merged(ancestor: &Numbers, ours: &Numbers, theirs: &Numbers) -> Option<Numbers> {
    let mut merged = *theirs;
    for (line, ours) in ours.iter().enumerate() {
        if *ours != ancestor[line] && *ours != theirs[line] {
            if theirs[line] != ancestor[line] {
                return None;
            }
            merged[line] = *ours;
        }
    }
    Some(merged)
}

/// Plays edits of lines. The draft knows a file as it was when it first wrote to it, unless a person was earlier.
fn play_merge(rounds: &[(bool, Vec<Edit>)]) -> Result<(), TestCaseError> {
    let scene = StoredScene::with("seq 20 >f0; seq 20 >f1");
    let begun = [[0; LINES.len()]; 2];
    let (mut theirs, mut is_touched) = (begun, [false; 2]);
    // The ancestor, if it is known, and the file in the draft.
    let mut ours: [Option<(Option<Numbers>, Numbers)>; 2] = [None; 2];
    for (is_person, edits) in rounds {
        let script =
            edits.iter().map(|(file, line, number)| format!("sed -i '{}s/.*/{number}/' f{file}\n", LINES[*line]));
        let script: String = script.collect();
        for (file, line, number) in edits {
            if *is_person {
                theirs[*file][*line] = *number;
                is_touched[*file] = true;
            } else {
                let ancestor = (!is_touched[*file]).then_some(theirs[*file]);
                let (_, now) = ours[*file].get_or_insert((ancestor, theirs[*file]));
                now[*line] = *number;
            }
        }
        if *is_person { sh(&scene.base, &script) } else { scene.run(&script) }
    }
    let wanted = [0, 1].map(|file| match ours[file] {
        None => Some(theirs[file]),
        Some((Some(ancestor), ours)) => merged(&ancestor, &ours, &theirs[file]),
        Some((None, ours)) => (ours == theirs[file]).then_some(ours),
    });
    let before = tree_of(&scene.base);
    let made = scene.commit("r1", &[], ConflictHandling::Merge);
    let conflicts: Vec<_> = made.conflicts.iter().map(|(path, _)| path.clone()).collect();
    let both: Vec<_> = (0..2).filter(|file| wanted[*file].is_none()).map(|file| format!("f{file}")).collect();
    prop_assert_eq!(scene.short(&conflicts), both.clone());
    if !both.is_empty() {
        prop_assert_eq!(differing(&tree_of(&scene.base), &before), NONE, "nothing is committed");
        return Ok(());
    }
    for (file, numbers) in wanted.into_iter().flatten().enumerate() {
        let text = fs::read_to_string(scene.base.join(format!("f{file}"))).expect("text");
        for (line, number) in numbers.into_iter().enumerate().filter(|(_, number)| *number > 0) {
            prop_assert_eq!(text.lines().nth(LINES[line] - 1), Some(&*number.to_string()), "f{}: {}", file, text);
        }
    }
    if made.run.is_some() {
        undo::undo(&scene.undo, "r1", UndoRequest::default()).expect("an undo");
        prop_assert_eq!(differing(&tree_of(&scene.base), &before), NONE, "undone");
    }
    Ok(())
}

#[test]
#[ignore = "stress: hundreds of histories"]
fn generated_edits_of_lines_are_merged_and_conflict_where_both_changed_one() {
    let edit = (0..2_usize, 0..LINES.len(), 100..110_u32);
    play_all((any::<bool>(), collection::vec(edit, 1..3)), play_merge);
}
