//! How the cost of commands and lists grows with a store, and what a store takes of the disk.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use super::point_index::PointIndex;
use super::tests::evicted;
use super::*;
use crate::testing::UndoScene;
use crate::work_counts::{WorkCounts, work_of};
use crate::{list_points, newest_to_undo};

fn now() -> SystemTime {
    SystemTime::now()
}

/// Runs commands that change nothing.
fn idle(scene: &UndoScene, runs: impl IntoIterator<Item = usize>) {
    for run in runs {
        scene.run(&format!("idle-{run:04}"), |_| {});
    }
}

/// Runs commands that each write to a file of 5 bytes.
fn write(scene: &UndoScene, runs: impl IntoIterator<Item = usize>) {
    for run in runs {
        scene.write("f", "5byte");
        scene.run(&format!("write-{run:04}"), |it| it.write("f", &format!("{run}")).expect("written"));
    }
}

/// Returns the store by another path, of which this process remembers as little as another process.
fn other(scene: &UndoScene) -> UndoStore {
    let base = scene.root.parent().expect("a parent");
    let known = KNOWN.lock().expect("no panic").keys().filter(|path| path.starts_with(base)).count();
    UndoStore::open(&scene.root.join("../store/".repeat(known + 1))).expect("opened")
}

/// Returns the bytes of disk of a directory with everything in it, and the number of its inodes.
fn disk(directory: &Path) -> (u64, u64) {
    let data = fs::symlink_metadata(directory).expect("there");
    let mut sum = (data.blocks() * 512, 1);
    if data.is_dir() {
        for entry in fs::read_dir(directory).expect("read") {
            let (bytes, inodes) = disk(&entry.expect("read").path());
            sum = (sum.0 + bytes, sum.1 + inodes);
        }
    }
    sum
}

#[test]
fn finding_the_newest_run_with_an_effect_opens_the_manifests_of_none_but_the_candidates() {
    let opened = |with: usize, without: usize| {
        let scene = UndoScene::new();
        write(&scene, 0..with);
        idle(&scene, 0..without);
        let (work, found) = work_of(|| newest_to_undo(&other(&scene), &scene.root, &[]).expect("read"));
        assert_eq!(found, Some(format!("write-{:04}", with - 1)));
        assert_eq!(work.lines, with + without, "each line is read once");
        work.manifests
    };
    let few = opened(5, 2);
    assert_eq!([few, opened(60, 2), opened(5, 40)], [1; 3]);
}

#[test]
fn a_run_whose_changes_are_gone_costs_one_manifest_on_the_way_to_the_newest_with_an_effect() {
    let opened = |without: usize| {
        let scene = UndoScene::new();
        write(&scene, 0..1);
        for run in 0..without {
            scene.run(&format!("z{run}"), |it| {
                it.write("made", "x").expect("written");
                it.remove("made").expect("removed");
            });
        }
        work_of(|| newest_to_undo(&scene.store, &scene.root, &[]).expect("read")).0.manifests
    };
    assert_eq!([opened(2), opened(20)], [3, 21]);
}

#[test]
fn the_newest_run_goes_back_from_run_to_run() {
    let scene = UndoScene::new();
    let find = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(|path| scene.path(path)).collect();
        newest_to_undo(&scene.store, &scene.root, &paths).expect("read")
    };
    assert_eq!(find(&[]), None);
    scene.run("1", |it| it.write("a", "1").expect("written"));
    scene.run("2", |it| it.write("b", "1").expect("written"));
    idle(&scene, 0..1);
    assert_eq!((find(&[]).as_deref(), find(&["a"]).as_deref(), find(&["c"])), (Some("2"), Some("1"), None));
    let undone = scene.undo("2");
    assert_eq!(find(&[]).as_deref(), Some("1"));
    scene.undo(&undone.undo);
    assert_eq!(find(&[]).as_deref(), Some("2"), "its undo was undone");
    assert!(newest_to_undo(&scene.store, &scene.path("elsewhere"), &[]).expect("read").is_none());
}

#[test]
fn a_command_in_a_full_store_reads_only_what_was_added() {
    let work = |points: usize| -> BTreeSet<(usize, usize)> {
        let scene = UndoScene::new();
        write(&scene, 0..points);
        let store = other(&scene);
        let cost = store.with_index(|index, _| index.cost()).expect("read");
        let limits = UndoLimits { store_bytes: cost, ..UndoLimits::DEFAULT };
        assert_eq!(evicted(&store, limits, now()), [] as [&str; 0]);
        let command = |run: usize| {
            write(&scene, [run]);
            let (WorkCounts { lines, manifests }, gone) = work_of(|| evicted(&store, limits, now()));
            assert!(gone.len() <= 2, "{gone:?}");
            // The files of an evicted run are found by its manifest.
            (lines - gone.len(), manifests - gone.len())
        };
        (points..points + 10).map(command).collect()
    };
    let expected = BTreeSet::from([(1, 0)]);
    assert_eq!((work(10), work(100)), (expected.clone(), expected));
}

#[test]
fn a_store_takes_no_more_of_the_disk_than_its_limit() {
    let (scene, storage) = (UndoScene::new(), 400_000);
    let limits = UndoLimits { store_bytes: storage, ..UndoLimits::DEFAULT };
    for run in 0..100 {
        write(&scene, [run]);
        idle(&scene, [2 * run, 2 * run + 1]);
        let last = format!("idle-{:04}", 2 * run + 1);
        scene.store.make_room_after(&last, now()).and_then(EvictedFiles::remove).expect("evicted");
        evicted(&scene.store, limits, now());
    }
    let (bytes, inodes) = disk(scene.store.path());
    assert!(bytes * 10 <= storage * 11, "{bytes}");
    let left = scene.store.list_runs().expect("read").len() as u64;
    assert!(left > 40 && bytes * 10 >= storage * 8, "{left} {bytes}");
    // A third of the runs keep a file in a directory.
    assert!(inodes <= 8 + left * 5 / 3, "{inodes} for {left}");
}

#[test]
fn the_run_that_fills_a_store_stays_and_older_ones_go() {
    let scene = UndoScene::new();
    let limits = UndoLimits { store_bytes: 20_000, ..UndoLimits::DEFAULT };
    write(&scene, 0..1);
    assert_eq!(evicted(&scene.store, limits, now()), [] as [&str; 0]);
    scene.write("large", &"x".repeat(50_000));
    scene.run("large", |it| it.remove("large").expect("removed"));
    assert_eq!(scene.store.make_room_after("large", now()).expect("evicted").runs, ["write-0000"]);
    assert_eq!(scene.undo("large").restored, [scene.path("large")]);
}

#[test]
fn what_conflicts_have_kept_counts_and_goes_in_its_turn() {
    let scene = UndoScene::new();
    let limits = |store_bytes| UndoLimits { store_bytes, ..UndoLimits::DEFAULT };
    evicted(&scene.store, limits(u64::MAX), now());
    scene.write("f", &"x".repeat(50_000));
    scene.run("1", |it| it.write("f", "run").expect("written"));
    let before = scene.store.with_index(|index, _| index.cost()).expect("read");
    scene.write("f", "user");
    let kept = scene.undo("1").conflicts[0].kept_at.clone().expect("kept");
    let cost = scene.store.with_index(|index, _| index.cost()).expect("read");
    assert!(cost >= before + 50_000 && kept.exists());
    let gone = evicted(&scene.store, limits(cost - 10_000), now());
    assert_eq!((gone, kept.exists()), (vec!["1".to_owned()], true), "the older run goes first");
    let gone = evicted(&scene.store, limits(10_000), now());
    assert_eq!((gone, kept.exists()), (vec!["kept/1".to_owned()], false));
    assert_eq!(list_points(&scene.store, None).expect("read").len(), 1, "only the run is listed, as evicted");
}

#[test]
fn the_index_is_rewritten_once_most_of_it_is_obsolete_and_forgets_the_oldest_evicted_runs() {
    let scene = UndoScene::new();
    write(&scene, 0..1);
    let summary = scene.store.read_summary("write-0000").expect("read");
    let lines = |count: usize| {
        for run in 0..count {
            let run = format!("{count}-{run}");
            scene.store.add_summary(&PointSummary { run: run.clone(), at: 1, ..summary.clone() }).expect("written");
            scene.store.append(&IndexLine::Evicted { run, why: "full".into() }).expect("written");
        }
        evicted(&scene.store, UndoLimits::DEFAULT, now());
        let text = fs::read_to_string(scene.store.path().join(INDEX)).expect("read");
        text.lines().filter(|line| !line.is_empty()).count()
    };
    let (some, more) = (lines(3_000), lines(9_000));
    assert!(some <= 2_510 && more <= 2_510, "{some} {more}");
    for store in [&scene.store, &other(&scene)] {
        let listed = list_points(store, None).expect("read");
        assert_eq!((listed.len(), listed[0].run.as_str()), (1_001, "write-0000"));
        assert!(listed.iter().skip(1).all(|point| point.evicted.as_deref() == Some("full")));
    }
}

#[test]
fn what_one_process_adds_evicts_or_rewrites_another_one_knows() {
    let scene = UndoScene::new();
    let store = other(&scene);
    let listed = |store: &UndoStore| -> Vec<(String, bool)> {
        let all = list_points(store, None).expect("read").into_iter();
        all.map(|point| (point.run, point.evicted.is_some())).collect()
    };
    write(&scene, 0..3);
    assert_eq!(listed(&store).len(), 3);
    let mut index = PointIndex::default();
    let path = scene.store.path().join(INDEX);
    index.refresh(&path).expect("read");
    index.rewrite(&path).expect("written");
    write(&scene, 3..4);
    evicted(&scene.store, UndoLimits { store_bytes: 40_000, ..UndoLimits::DEFAULT }, now());
    assert_eq!(listed(&store), listed(&scene.store));
    assert!(listed(&store).iter().any(|(_, gone)| *gone));
    fs::remove_dir_all(store.path()).expect("removed");
    UndoStore::open(store.path()).expect("opened");
    assert_eq!(listed(&store), []);
}

#[test]
fn a_lost_or_torn_index_costs_no_point() {
    let scene = UndoScene::new();
    let path = scene.store.path().join(INDEX);
    let runs = |store: &UndoStore| {
        list_points(store, None).expect("read").into_iter().map(|point| point.run).collect::<Vec<_>>()
    };
    write(&scene, 0..3);
    let all = runs(&scene.store);
    let text = fs::read(&path).expect("read");
    for length in [0, 1, text.len() / 2, text.len() - 1] {
        fs::write(&path, &text[..length]).expect("cut");
        assert_eq!(runs(&other(&scene)), all, "{length}");
        write(&scene, 3..4);
        assert_eq!(runs(&other(&scene)).len(), 4, "{length}");
        scene.store.remove("write-0003").expect("removed");
    }
    fs::remove_file(&path).expect("removed");
    let store = other(&scene);
    let limits = UndoLimits { store_bytes: 1, ..UndoLimits::DEFAULT };
    let gone: BTreeSet<String> = evicted(&store, limits, now()).into_iter().collect();
    assert_eq!(gone, all.into_iter().collect());
}

#[test]
fn a_point_whose_recorder_was_killed_counts_after_a_stocktaking() {
    let scene = UndoScene::new();
    scene.write("f", &"x".repeat(50_000));
    let mut run = scene.begin("killed");
    run.remove("f").expect("removed");
    drop(run);
    evicted(&scene.store, UndoLimits::DEFAULT, now());
    assert!(scene.store.with_index(|index, _| index.cost()).expect("read") > 50_000);
    let limits = UndoLimits { store_bytes: 10_000, ..UndoLimits::DEFAULT };
    assert_eq!(evicted(&scene.store, limits, now()), ["killed"]);
}

#[test]
fn a_point_whose_eviction_was_cut_short_is_evicted_again() {
    let scene = UndoScene::new();
    write(&scene, 0..2);
    let limits = UndoLimits { store_bytes: 1, ..UndoLimits::DEFAULT };
    let cut = scene.store.make_room(limits, now()).expect("evicted");
    assert_eq!(cut.runs.len(), 2);
    assert!(scene.store.make_room(limits, now()).expect("evicted").runs.is_empty(), "another process is at work");
    drop(cut);
    let later = now() + 2 * Duration::from_secs(60);
    assert_eq!(evicted(&scene.store, limits, later).len(), 2);
    assert_eq!(scene.store.list_runs().expect("read"), [] as [&str; 0]);
    assert_eq!(list_points(&scene.store, None).expect("read").len(), 2);
}

#[test]
fn what_an_earlier_build_has_left_goes_after_a_week() {
    let scene = UndoScene::new();
    let left = |name: &str, age: Duration| {
        let path = scene.store.manifest_path(name).expect("an id");
        fs::create_dir(&path).expect("made");
        fs::write(path.join("manifest"), "x").expect("written");
        File::open(&path).and_then(|file| file.set_modified(now() - age)).expect("set");
        path
    };
    let (old, new) = (left("old", 2 * manifest::RETENTION), left("new", Duration::ZERO));
    evicted(&scene.store, UndoLimits::DEFAULT, now());
    assert_eq!((old.exists(), new.exists()), (false, true));
    assert_eq!(list_points(&scene.store, None).expect("read"), []);
}
