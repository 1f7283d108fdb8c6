//! Drafts of real overlays: a script runs in one, as a command does, and its changes are committed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use undo::path_state::FileTime;
use undo::{ChangeJournal, ManifestHeader, ManifestPurpose, UndoLimits, UndoRequest, UndoStore, VERSION};

use crate::base_memory::{BaseMemory, committed_things};
use crate::commit::{CommitExecutor, CommitOutcome};
use crate::difference::{DraftDifference, differences};
use crate::draft_commit::{CommitError, CommitRequest, ConflictHandling, DraftCommit};
use crate::draft_effect::effect_of;
use crate::draft_error::DraftError;
use crate::draft_store::{DraftRetention, DraftSettings, DraftState, DraftStore, LockedDraft};
use crate::layer::DraftLayer;
use crate::patch::{PatchLimits, patch_of};

mod histories;

/// A tree, a draft of it, and a store for undo.
struct LayerScene {
    _folder: TempDir,
    layer: DraftLayer,
    memory: BaseMemory,
    began: FileTime,
    store: UndoStore,
}

impl LayerScene {
    /// Makes the tree by a script, and begins a draft of it.
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let (base, room) = (folder.path().join("base"), folder.path().join("room"));
        fs::create_dir(&base).expect("a directory");
        let layer = DraftLayer { base, room, is_apart: false };
        for directory in [layer.upper(), layer.work()] {
            fs::create_dir_all(directory).expect("a directory");
        }
        sh(&layer.base, script);
        let store = UndoStore::open(&folder.path().join("undo")).expect("a store");
        let began = tick(folder.path());
        Self { _folder: folder, layer, memory: BaseMemory::default(), began, store }
    }

    /// Runs a script in the draft.
    fn run(&mut self, script: &str) {
        run_in_draft(&self.layer, script);
        let changes = self.layer.changes(&|_| false).expect("a walk");
        for (path, thing) in self.memory.unnoted(&changes, self.began, &mut |_| None).0 {
            self.memory.insert(path, thing);
        }
    }

    /// Runs a script in the tree, as a person does.
    fn edit(&self, script: &str) {
        sh(&self.layer.base, script);
    }

    fn differences(&self) -> Vec<DraftDifference> {
        let changes = self.layer.changes(&|_| true).expect("a walk");
        differences(&self.layer, changes, self.began, &self.memory).expect("a walk")
    }

    /// Returns the conflicts, relative to the tree.
    fn conflicts(&self) -> Vec<(String, &'static str)> {
        let found = self.differences().into_iter();
        found.filter_map(|one| Some((self.short(&one.path), one.conflict?))).collect()
    }

    fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.layer.base).expect("below").display().to_string()
    }

    /// Returns the changes as text: `+created`, `~modified`, `-deleted`, `from>to`.
    fn effect(&self) -> String {
        let effect = effect_of(&self.differences()).expect("an effect");
        let list = |sign: &str, all: &[receipt::FileChange]| -> Vec<String> {
            all.iter().map(|one| format!("{sign}{}", self.short(&one.path))).collect()
        };
        let renamed = effect.renamed.iter().map(|one| format!("{}>{}", self.short(&one.from), self.short(&one.to)));
        let [created, modified, deleted] =
            [list("+", &effect.created), list("~", &effect.modified), list("-", &effect.deleted)];
        [created, modified, deleted, renamed.collect()].concat().join(" ")
    }

    fn header(&self, run: &str) -> ManifestHeader {
        ManifestHeader {
            version: VERSION,
            run: run.into(),
            command: "draft commit".into(),
            cwd: self.layer.base.clone(),
            at: 0,
            machine: protocol::task::MachineIdentity::here().clone(),
            purpose: ManifestPurpose::Undo,
            tree: PathBuf::new(),
        }
    }

    fn commit(&mut self, run: &str, chosen: impl Fn(&DraftDifference) -> bool) -> CommitOutcome {
        let journal = ChangeJournal::begin(&self.store, self.header(run), UndoLimits::NONE).expect("a journal");
        self.commit_with(journal, chosen, &mut |_| false).expect("not stopped")
    }

    /// Goes on with a commit that was killed.
    fn resume(&mut self, run: &str) -> CommitOutcome {
        let manifest = undo::manifest::read(&self.store.manifest_path(run).expect("a path")).expect("a manifest");
        let journal = ChangeJournal::resume(&self.store, &manifest).expect("a journal");
        self.commit_with(journal, |_| true, &mut |_| false).expect("not stopped")
    }

    fn commit_with(
        &mut self,
        mut journal: ChangeJournal,
        chosen: impl Fn(&DraftDifference) -> bool,
        stops: &mut dyn FnMut(&str) -> bool,
    ) -> Option<CommitOutcome> {
        let mut all = self.differences();
        if all.iter().all(&chosen) {
            // A commit of the whole draft does not read new directories.
            let changes = self.layer.changes(&|_| false).expect("a walk");
            all = differences(&self.layer, changes, self.began, &self.memory).expect("a walk");
        }
        let chosen: Vec<_> = all.iter().filter(|one| chosen(one)).collect();
        let outcome = CommitExecutor::new(&mut journal, stops, None).take(&chosen, &all).ok()?;
        journal.finish(Vec::new()).expect("an end");
        for (path, thing) in committed_things(&outcome.applied, &outcome.moved).expect("things") {
            self.memory.insert(path, thing);
        }
        Some(outcome)
    }

    fn undo(&self, run: &str) {
        let undone = undo::undo(&self.store, run, UndoRequest::default()).expect("an undo");
        assert!(undone.conflicts.is_empty(), "{:?}", undone.conflicts);
    }

    fn tree(&self) -> BTreeMap<String, String> {
        tree_of(&self.layer.base)
    }
}

/// Runs a script in a draft, as a command does.
fn run_in_draft(layer: &DraftLayer, script: &str) {
    let mount = format!(
        "mount -t overlay overlay -o lowerdir={0},upperdir={1},workdir={2},userxattr {0} && cd {0} && {{\n{script}\n}}",
        layer.base.display(),
        layer.upper().display(),
        layer.work().display()
    );
    let mut command = Command::new("unshare");
    command.args(["-Urm", "--propagation", "private", "bash", "-euc", &mount]);
    assert!(command.status().expect("unshare").success(), "{script}");
}

fn sh(cwd: &Path, script: &str) {
    let status = Command::new("bash").args(["-euc", script]).current_dir(cwd).status();
    assert!(status.expect("bash").success(), "{script}");
}

/// Returns a time before which everything so far has changed.
fn tick(folder: &Path) -> FileTime {
    let began = FileTime::now();
    let probe = folder.join("probe");
    loop {
        fs::write(&probe, "").expect("a file");
        let data = fs::metadata(&probe).expect("a file");
        let time = FileTime { seconds: data.ctime(), nanoseconds: data.ctime_nsec() };
        if time > began {
            return began;
        }
    }
}

/// Returns everything in a tree: kind, mode, attributes and contents, by the relative path.
fn tree_of(top: &Path) -> BTreeMap<String, String> {
    fn add(top: &Path, directory: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let path = entry.path();
            let data = fs::symlink_metadata(&path).expect("data");
            let contents = if data.is_file() {
                format!("{:?}", fs::read(&path).expect("a file"))
            } else if data.is_symlink() {
                format!("{:?}", fs::read_link(&path).expect("a link"))
            } else {
                String::new()
            };
            let mode = if data.is_symlink() { 0 } else { data.mode() };
            let attributes = sys::attributes(&path).expect("attributes");
            let name = path.strip_prefix(top).expect("below").display().to_string();
            found.insert(name, format!("{mode:o} {attributes:?} {contents}"));
            if data.is_dir() {
                add(top, &path, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    add(top, top, &mut found);
    found
}

const TREE: &str = "mkdir -p d/e node/pkg; echo a >a; echo b >b; echo c >d/c; echo f >d/e/f; ln -s a link; \
     seq 100 >node/pkg/index; echo x >node/pkg/x; chmod 700 d/e";

/// Scripts, each with the changes that it makes.
const ROWS: [(&str, &str); 23] = [
    ("true", ""),
    ("echo new >new", "+new"),
    ("echo more >>a", "~a"),
    ("touch a; touch d", ""),
    ("rm a", "-a"),
    ("rm -r d", "-d -d/c -d/e -d/e/f"),
    ("mkdir -p x/y; echo 1 >x/y/z; echo 2 >x/w", "+x +x/w +x/y +x/y/z"),
    ("mv a moved", "a>moved"),
    ("mv a d/moved; echo x >a", "+d/moved ~a"),
    ("chmod 755 d/e", "~d/e"),
    ("chmod 600 a", "~a"),
    ("rm a; mkdir a; echo 1 >a/b", "+a +a/b -a"),
    ("rm -r d; echo d >d", "+d -d -d/c -d/e -d/e/f"),
    ("rm -r d; mkdir d; echo new >d/new", "+d/new -d/c -d/e -d/e/f"),
    ("rm -r d; mkdir d; chmod 700 d; echo c >d/c", "~d -d/e -d/e/f"),
    ("ln -sf b link", "~link"),
    ("rm link; mkfifo link", "+link -link"),
    ("ln a hard; echo x >>hard", "+hard ~a"),
    ("cp a tmp; echo x >>tmp; mv tmp a", "~a"),
    ("mkdir n; mv a n/a; mv d/c n/c", "+n a>n/a d/c>n/c"),
    ("echo b >b; echo a >a", ""),
    ("mv a t; mv b a; mv t b", "~a ~b"),
    ("echo 1 >$'new\\nline'", "+new\nline"),
];

#[test]
fn changes_are_listed_and_a_commit_makes_the_tree_what_the_draft_shows() {
    for (script, expected) in ROWS {
        let mut scene = LayerScene::new(TREE);
        let before = scene.tree();
        let plain = tempfile::tempdir().expect("a directory");
        sh(plain.path(), TREE);
        sh(plain.path(), script);
        scene.run(script);
        assert_eq!(scene.tree(), before, "the tree is untouched: {script}");
        assert_eq!(scene.effect(), expected, "{script}");
        assert_eq!(scene.conflicts(), [], "{script}");
        let outcome = scene.commit("r1", |_| true);
        assert_eq!(outcome.left, [], "{script}");
        assert_eq!(scene.tree(), tree_of(plain.path()), "{script}");
        assert_eq!(scene.differences(), [], "nothing is left: {script}");
        scene.undo("r1");
        assert_eq!(scene.tree(), before, "undone: {script}");
    }
}

/// Paths, each with what is said of it.
type Conflicts = &'static [(&'static str, &'static str)];

/// What a draft does, what a person does meanwhile, and the conflicts.
const BOTH: [(&str, &str, Conflicts); 26] = [
    ("echo more >>a", "echo theirs >b", &[]),
    ("echo more >>a", "echo theirs >a", &[("a", "it was changed")]),
    ("echo more >>a", "echo theirs >t; mv t a", &[("a", "it was changed")]),
    ("echo more >>a", "rm a", &[("a", "it was removed")]),
    ("echo more >>a", "chmod 600 a", &[("a", "it was changed")]),
    ("echo more >>a", "touch -d '2001-01-01' a; echo x >a; touch -r b a", &[("a", "it was changed")]),
    ("rm a", "echo theirs >a", &[("a", "it was changed")]),
    ("rm a", "rm a", &[]),
    ("echo same >a", "echo same >a", &[]),
    (
        "rm -r d",
        "echo theirs >d/new",
        &[
            ("d", "it was changed"),
            ("d/c", "a directory above it was changed"),
            ("d/e", "a directory above it was changed"),
            ("d/e/f", "a directory above it was changed"),
            ("d/new", "a directory above it was changed"),
        ],
    ),
    ("rm -r d", "echo theirs >d/e/f", &[("d/e/f", "it was changed")]),
    (
        "mv d moved; mkdir d",
        "mv node d/node",
        &[
            ("d/node", "it was changed"),
            ("d/node/pkg", "a directory above it was changed"),
            ("d/node/pkg/index", "a directory above it was changed"),
            ("d/node/pkg/x", "a directory above it was changed"),
        ],
    ),
    ("echo 1 >d/e/f2", "rm a; mv d/e a; mkdir d/e", &[("d/e/f2", "a directory above it was changed")]),
    (
        "mkdir n; mv n m",
        "mv d m",
        &[
            ("m/c", "a directory above it was changed"),
            ("m/e", "a directory above it was changed"),
            ("m/e/f", "a directory above it was changed"),
        ],
    ),
    ("echo 1 >t; mv t b", "rm b; mv d/e b", &[("b", "it was changed"), ("b/f", "a directory above it was changed")]),
    ("echo 1 >new", "echo 2 >new", &[("new", "it was created")]),
    ("echo 1 >new", "echo 1 >new", &[]),
    ("mkdir new; echo 1 >new/x", "mkdir new; echo 2 >new/y", &[]),
    ("mkdir new; echo 1 >new/x", "mkdir new; echo 2 >new/x", &[("new/x", "it was created")]),
    ("echo more >>d/c", "mv d old; cp -r old d", &[("d/c", "a directory above it was changed")]),
    ("chmod 750 d/e", "chmod 711 d/e", &[("d/e", "its mode, owner or attributes were changed")]),
    ("touch a", "echo theirs >a", &[]),
    ("echo 1 >d/new", "chmod 711 d; echo x >d/other", &[]),
    ("mv a moved", "echo theirs >a", &[("a", "it was changed")]),
    ("rm -r d; mkdir d; echo 1 >d/new", "rm -r d", &[("d/new", "a directory above it was removed")]),
    (
        "echo more >>d/c; echo 1 >d/e/new",
        "rm -r d",
        &[("d/c", "a directory above it was removed"), ("d/e/new", "a directory above it was removed")],
    ),
];

#[test]
fn a_path_that_both_have_changed_is_a_conflict_and_no_other_one_is() {
    for (script, edit, expected) in BOTH {
        let mut scene = LayerScene::new(TREE);
        scene.run(script);
        scene.edit(edit);
        let found = scene.conflicts();
        let found: Vec<_> = found.iter().map(|(path, why)| (path.as_str(), *why)).collect();
        assert_eq!(found, expected, "{script} | {edit}");
    }
}

#[test]
fn later_commands_see_what_a_person_has_changed_meanwhile() {
    let mut scene = LayerScene::new(TREE);
    scene.run("echo mine >>a");
    scene.edit("echo theirs >b; echo new >new; rm -r node");
    scene.run("[ \"$(cat b new)\" = $'theirs\\nnew' ]; [ ! -e node ]; [ \"$(cat a)\" = $'a\\nmine' ]");
    assert_eq!((scene.effect().as_str(), scene.conflicts()), ("~a", Vec::new()));
}

#[test]
fn a_part_is_committed_and_the_rest_stays_a_draft() {
    let mut scene = LayerScene::new(TREE);
    scene.run("echo 1 >>a; echo 2 >>b; mkdir -p n/m; echo 3 >n/m/x; echo 4 >n/y; rm -r d; mkdir d; echo 5 >d/z");
    let shown = "a:1 b:2 x:3 y:4 z:5 e:gone";
    let show = "echo \"a:$(tail -n1 a) b:$(tail -n1 b) x:$(cat n/m/x) y:$(cat n/y) z:$(cat d/z) e:$([ -e d/e ] || echo gone)\"";
    let check = format!("[ \"$({show})\" = '{shown}' ]");
    scene.run(&check);
    for part in ["a", "n/m/x", "d/z", "d/e/f"] {
        let path = scene.layer.base.join(part);
        let outcome = scene.commit(&part.replace('/', "-"), |one| {
            one.path == path || path.starts_with(&one.path) && one.draft.state.is_directory()
        });
        assert_eq!(outcome.left, [], "{part}");
        scene.run(&check);
        assert_eq!(scene.conflicts(), [], "{part}");
    }
    scene.run("echo 6 >>a; echo 7 >>n/m/x");
    assert_eq!(scene.conflicts(), [], "what was committed is no change of others");
    let outcome = scene.commit("rest", |_| true);
    assert_eq!(outcome.left, []);
    scene.edit("[ \"$(cat a)\" = $'a\\n1\\n6' ]; [ \"$(cat n/m/x)\" = $'3\\n7' ]; [ ! -e d/e ]; [ \"$(cat d/z n/y)\" = $'5\\n4' ]");
}

#[test]
fn a_commit_that_is_killed_at_any_moment_goes_on_and_leaves_no_path_half() {
    for (script, _) in ROWS.into_iter().filter(|(_, changes)| !changes.is_empty()) {
        for moment in 0.. {
            let mut scene = LayerScene::new(TREE);
            let before = scene.tree();
            let plain = tempfile::tempdir().expect("a directory");
            sh(plain.path(), TREE);
            sh(plain.path(), script);
            let after = tree_of(plain.path());
            scene.run(script);
            let journal = ChangeJournal::begin(&scene.store, scene.header("r1"), UndoLimits::NONE).expect("a journal");
            let mut calls = 0;
            let stopped = scene.commit_with(journal, |_| true, &mut |_| {
                calls += 1;
                calls > moment
            });
            if stopped.is_some() {
                break;
            }
            for (path, thing) in scene.tree() {
                let is_whole = [&before, &after].iter().any(|tree| tree.get(&path) == Some(&thing));
                // A directory is made before it gets its mode, and a file may have lost one of its names.
                assert!(is_whole || thing.starts_with("40700"), "{script}, killed at {moment}: {path} {thing}");
            }
            assert_eq!(scene.resume("r1").left, [], "{script}, killed at {moment}");
            assert_eq!(scene.tree(), after, "{script}, killed at {moment}");
            scene.undo("r1");
            assert_eq!(scene.tree(), before, "{script}, killed at {moment}, undone");
        }
    }
}

#[test]
fn a_store_lists_locks_forks_and_discards_drafts() {
    let folder = tempfile::tempdir().expect("a directory");
    let store = DraftStore::at(folder.path().join("drafts"));
    let base = folder.path().join("base");
    fs::create_dir_all(base.join("sub")).expect("a directory");
    sh(&base, TREE);
    let draft = store.begin("d1", settings(Some("one")), std::slice::from_ref(&base)).expect("a draft");
    let (_, held) = store.enter("d1").expect("free");
    assert!(matches!(store.find("d1").expect("there").lock(), Err(DraftError::Busy(_))));
    drop(held);
    let layer = draft.record.layers[0].clone();
    run_in_draft(&layer, "echo mine >>a; rm -r d; ln b hard; echo x >>hard; mkdir n; echo 1 >n/x");
    let expected = draft.differences().expect("a walk");
    let locked = store.find("d1").expect("there").lock().expect("free");
    assert!(matches!(store.enter("d1"), Err(DraftError::Busy(_))));
    let fork = locked.fork(&store, "d2", None).expect("a fork");
    drop(locked);
    let paths =
        |all: &[Vec<DraftDifference>]| -> Vec<PathBuf> { all.iter().flatten().map(|one| one.path.clone()).collect() };
    assert_eq!(paths(&fork.differences().expect("a walk")), paths(&expected));
    run_in_draft(&fork.record.layers[0], "[ \"$(cat a)\" = $'a\\nmine' ]; [ ! -e d ]; [ hard -ef b ]; echo 2 >>n/x");
    run_in_draft(&layer, "[ \"$(cat n/x)\" = 1 ]");
    assert_eq!(store.list().iter().map(|draft| draft.record.id.as_str()).collect::<BTreeSet<_>>(), ["d1", "d2"].into());
    for (directory, why) in
        [("/", "root of the file system"), (folder.path().to_str().expect("text"), "holds the store")]
    {
        let error = store.begin("d3", settings(None), &[directory.into()]).expect_err("refused");
        assert!(error.to_string().contains(why), "{error}");
    }
    assert!(store.begin("d1", settings(None), std::slice::from_ref(&base)).is_err(), "the id is taken");
    assert!(store.find("d1").is_ok());
    assert!(
        store.begin("d6", settings(None), &[folder.path().join("none")]).is_err()
            && !folder.path().join("drafts/d6").exists()
    );
    let above = store.begin("d4", settings(None), &[base.join("sub")]).expect("a draft");
    let error = store.begin("d5", settings(None), std::slice::from_ref(&base)).expect_err("refused");
    assert!(error.to_string().contains("a draft of a directory in it"), "{error}");
    for draft in [draft, fork, above] {
        draft.lock().expect("free").discard().expect("removed");
    }
    assert_eq!(fs::read_dir(folder.path().join("drafts")).expect("there").count(), 0);
    assert!(matches!(store.find("d1"), Err(DraftError::Unknown(_))));
    assert!(matches!(store.find("../base"), Err(DraftError::Unknown(_))));
}

#[test]
fn a_patch_is_taken_by_git() {
    let rows = [
        "echo more >>a; echo new >new; rm b",
        "printf 'no end' >a; printf '' >empty; chmod 755 b; mkdir -p x/y; echo 1 >x/y/z",
        "mv a moved; ln -sf b link; ln -s nowhere l2; rm -r d",
        "rm link; echo file >link; rm a; ln -s b a; echo x >>node/pkg/index",
        "echo 1 >'with space'; echo 2 >$'tab\\there\\nand there'; echo 3 >'ä\"\\'; mv node moved",
        "seq 200 >node/pkg/index; printf '\\0\\1' >binary",
    ];
    for script in rows {
        let mut scene = LayerScene::new(TREE);
        let plain = tempfile::tempdir().expect("a directory");
        sh(plain.path(), TREE);
        scene.run(script);
        let differences = scene.differences();
        let renames = effect_of(&differences).expect("an effect").renamed;
        let patch = patch_of(&differences, &renames, &scene.layer.base, PatchLimits::default()).expect("a patch");
        fs::write(scene.layer.room.join("patch"), &patch).expect("a file");
        let apply =
            format!("git apply --unidiff-zero --whitespace=nowarn {}", scene.layer.room.join("patch").display());
        sh(plain.path(), &format!("git init -q . && {apply} && rm -rf .git"));
        scene.commit("r1", |_| true);
        scene.edit("find . -type d -empty -delete; rm -f binary");
        let seen = scene.tree().into_iter().filter(|(_, thing)| !thing.starts_with("4"));
        let made = tree_of(plain.path()).into_iter().filter(|(_, thing)| !thing.starts_with("4"));
        assert_eq!(made.collect::<Vec<_>>(), seen.collect::<Vec<_>>(), "{script}\n{patch}");
        assert_eq!(patch.contains("# binary: binary: nothing → 2 bytes\n"), script.contains("binary"), "{patch}");
    }
    let mut scene = LayerScene::new(TREE);
    scene.run("echo more >>a; seq 1000 >b");
    let limits = PatchLimits { bytes: 200, ..PatchLimits::default() };
    let patch = patch_of(&scene.differences(), &[], &scene.layer.base, limits).expect("a patch");
    assert!(
        patch.starts_with("# 1 more files: the patch is limited to 200 bytes\ndiff --git a/a b/a\n--- a/a\n"),
        "{patch}"
    );
}

fn settings(name: Option<&str>) -> DraftSettings {
    DraftSettings {
        name: name.map(Into::into),
        confine: "{}".into(),
        expose: None,
        keep: DraftRetention::Unused(60_000),
        max_bytes: 1 << 30,
    }
}

/// A draft in a store, with a store for undo.
struct StoredScene {
    folder: TempDir,
    base: PathBuf,
    store: DraftStore,
    undo: UndoStore,
}

impl StoredScene {
    fn new() -> Self {
        Self::with(TREE)
    }

    /// Makes the tree by a script, and begins a draft of it.
    fn with(script: &str) -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        let base = folder.path().join("base");
        fs::create_dir(&base).expect("a directory");
        sh(&base, script);
        let store = DraftStore::at(folder.path().join("drafts"));
        store.begin("d1", settings(None), std::slice::from_ref(&base)).expect("a draft");
        let undo = UndoStore::open(&folder.path().join("undo")).expect("a store");
        Self { folder, base, store, undo }
    }

    /// Commits as a draft does that is on another mount than its base.
    fn apart(self) -> Self {
        let mut draft = self.store.find("d1").expect("a draft");
        draft.record.layers[0].is_apart = true;
        draft.save().expect("saved");
        self
    }

    fn run(&self, script: &str) {
        let draft = self.store.find("d1").expect("a draft");
        run_in_draft(&draft.record.layers[0], script);
        draft.note_touched().expect("noted");
    }

    fn lock(&self) -> LockedDraft {
        self.store.find("d1").expect("a draft").lock().expect("free")
    }

    fn commit(&self, run: &str, paths: &[&str], on_conflict: ConflictHandling) -> DraftCommit {
        let paths = paths.iter().map(|path| self.base.join(path)).collect();
        let request = CommitRequest { paths, on_conflict, dry_run: false };
        self.lock().commit(&request, (&self.undo, run), &mut |_| false).expect("a commit")
    }

    fn short(&self, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|path| path.strip_prefix(&self.base).expect("below").display().to_string()).collect()
    }
}

#[test]
fn what_others_change_before_the_base_is_read_there_is_counted() {
    let scene = StoredScene::new();
    let draft = scene.store.find("d1").expect("a draft");
    run_in_draft(
        &draft.record.layers[0],
        "echo mine >>a; echo mine >>b; echo new >new; mkdir made; echo new >made/new",
    );
    sh(&scene.base, "echo theirs >>a; echo theirs >new; echo theirs >>d/e/f");
    assert_eq!(draft.note_touched().expect("noted"), 2);
    assert_eq!(draft.changed_outside(), Some(0));
    sh(&scene.base, "echo theirs >>b");
    assert_eq!((draft.note_touched().expect("noted"), draft.changed_outside()), (2, Some(1)));
}

#[test]
fn a_conflict_stops_a_commit_or_stays_in_the_draft() {
    let scene = StoredScene::new();
    scene.run("echo mine >>a; echo mine >>b; rm -r d; echo new >new");
    sh(&scene.base, "echo theirs >>a; echo theirs >>d/e/f");
    let before = tree_of(&scene.base);
    let stopped = scene.commit("r1", &[], ConflictHandling::Stop);
    assert_eq!((stopped.applied, stopped.skipped, stopped.run), (Vec::new(), Vec::new(), None));
    let conflicts: Vec<_> = stopped.conflicts.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(scene.short(&conflicts), ["a", "d/e/f"]);
    assert_eq!(tree_of(&scene.base), before);
    let skipped = scene.commit("r2", &[], ConflictHandling::Skip);
    assert_eq!(scene.short(&skipped.applied), ["b", "d/c", "new"]);
    let left: Vec<_> = skipped.skipped.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!((scene.short(&left), skipped.conflicts), (vec!["a".to_owned(), "d/e/f".to_owned()], Vec::new()));
    scene.run("[ \"$(cat a)\" = $'a\\nmine' ]; [ ! -e d ]");
    undo::undo(&scene.undo, "r2", UndoRequest::default()).expect("an undo");
    assert_eq!(tree_of(&scene.base), before);
    assert!(scene.folder.path().join("drafts/d1").exists());
}

#[test]
fn a_new_thing_in_a_directory_that_others_have_removed_or_replaced_is_a_conflict() {
    for (run, edit) in [
        ("echo new >d/new", "rm -r d"),
        ("echo new >d/new", "rm -r d; echo file >d"),
        ("mkdir d/e/g; echo new >d/e/g/new", "rm -r d"),
        ("mkdir d/e/g; echo new >d/e/g/new", "rm -r d/e; ln -s /nowhere d/e"),
        ("rm -r d; mkdir d; echo new >d/new", "rm -r d; echo file >d"),
    ] {
        let scene = StoredScene::new();
        scene.run(run);
        sh(&scene.base, edit);
        let before = tree_of(&scene.base);
        let all = scene.store.find("d1").expect("a draft").differences().expect("a walk").concat();
        assert!(!all.is_empty() && all.iter().all(|one| one.conflict.is_some()), "{run}, {edit}: {all:?}");
        let stopped = scene.commit("r1", &[], ConflictHandling::Stop);
        let conflicts: Vec<_> = stopped.conflicts.iter().map(|(path, _)| path.clone()).collect();
        // A new directory is named once, with all that is in it.
        let is_named = |one: &DraftDifference| conflicts.iter().any(|above| one.path.starts_with(above));
        assert!(stopped.run.is_none() && all.iter().all(is_named), "{run}, {edit}: {conflicts:?}");
        let skipped = scene.commit("r2", &[], ConflictHandling::Skip);
        assert_eq!((skipped.applied.len(), skipped.skipped.len()), (0, conflicts.len()), "{run}, {edit}");
        assert_eq!(tree_of(&scene.base), before, "{run}, {edit}");
    }
}

#[test]
fn a_commit_beside_a_path_hides_no_conflict_of_it() {
    let scene = StoredScene::new();
    scene.run("chmod 711 d");
    scene.commit("r0", &["d"], ConflictHandling::Stop);
    scene.run("echo mine >>d/c; echo new >d/new; rm -r node");
    sh(&scene.base, "echo theirs >>d/c; echo theirs >>node/pkg/x");
    for (run, path) in [("r1", "d/new"), ("r2", "node/pkg/index")] {
        scene.commit(run, &[path], ConflictHandling::Skip);
        let conflicts: Vec<_> = scene.commit("none", &[], ConflictHandling::Stop).conflicts;
        let conflicts: Vec<_> = conflicts.into_iter().map(|(path, _)| path).collect();
        assert_eq!(scene.short(&conflicts), ["d/c", "node/pkg/x"], "after {path}");
    }
}

#[test]
fn a_commit_to_another_mount_is_the_same_and_leaves_nothing_else() {
    let script = "echo mine >>a; rm b; mkdir -p n/m; echo 1 >n/m/x; ln n/m/x n/y; ln -s x n/link; mkfifo -m 600 n/pipe
        chmod 711 d; rm -r node; mkdir node; echo new >node/z; mv d/e moved";
    let [usual, apart] = [StoredScene::new(), StoredScene::new().apart()];
    for scene in [&usual, &apart] {
        scene.run(script);
    }
    let before = tree_of(&apart.base);
    let [made, other] = [&usual, &apart].map(|scene| scene.commit("r1", &[], ConflictHandling::Stop));
    assert_eq!((usual.short(&made.applied), made.skipped), (apart.short(&other.applied), other.skipped));
    assert_eq!(tree_of(&usual.base), tree_of(&apart.base));
    let names = |scene: &StoredScene| fs::metadata(scene.base.join("n/y")).expect("a file").nlink();
    assert_eq!([names(&usual), names(&apart)], [2, 2]);
    assert!(apart.store.find("d1").expect("a draft").differences().expect("a walk").concat().is_empty());
    undo::undo(&apart.undo, "r1", UndoRequest::default()).expect("an undo");
    assert_eq!(tree_of(&apart.base), before);
}

#[test]
fn a_commit_that_was_killed_goes_on_and_leaves_what_others_have_changed_since() {
    killed_commits_go_on(StoredScene::new);
}

#[test]
fn a_commit_to_another_mount_that_was_killed_goes_on() {
    killed_commits_go_on(|| StoredScene::new().apart());
}

fn killed_commits_go_on(begin: impl Fn() -> StoredScene) {
    for moment in 0.. {
        let scene = begin();
        scene.run("echo mine >>a; echo mine >>b; mkdir -p n/m; echo 1 >n/m/x; chmod 711 d; rm -r node");
        let before = tree_of(&scene.base);
        let request = CommitRequest::default();
        let mut calls = 0;
        let killed = scene.lock().commit(&request, (&scene.undo, "r1"), &mut |_| {
            calls += 1;
            calls > moment
        });
        if killed.is_ok() {
            break;
        }
        let half = tree_of(&scene.base);
        // A person changes what the commit has not reached.
        let is_free = half.get("b") == before.get("b");
        if is_free {
            sh(&scene.base, "echo theirs >>b");
        }
        let draft = scene.store.find("d1").expect("a draft");
        assert_eq!(draft.record.state, DraftState::Committing);
        let made = draft.lock().expect("free").go_on(&mut |_| false).expect("it goes on");
        let text = fs::read_to_string(scene.base.join("b")).expect("read");
        assert_eq!(text, if is_free { "b\ntheirs\n" } else { "b\nmine\n" }, "killed at {moment}");
        if made.is_some() {
            let text = fs::read_to_string(scene.base.join("n/m/x")).expect("read");
            assert_eq!((text.as_str(), scene.base.join("node").exists()), ("1\n", false), "killed at {moment}");
        }
        let draft = scene.store.find("d1").expect("a draft");
        assert_eq!((draft.record.state, &draft.record.commit), (DraftState::Open, &None));
        let left: Vec<_> = draft.differences().expect("a walk").concat();
        let left: Vec<_> = left.into_iter().map(|one| one.path).collect();
        let expected = if is_free && made.is_some() { vec!["b".to_owned()] } else { Vec::new() };
        if made.is_some() {
            assert_eq!(scene.short(&left), expected, "killed at {moment}");
        }
    }
}

#[test]
fn a_commit_goes_on_with_a_file_that_got_another_name_right_before_the_kill() {
    let scene = StoredScene::new();
    scene.run("echo mine >>a; echo mine >>b; echo mine >>d/c");
    let killed = scene.lock().commit(&CommitRequest::default(), (&scene.undo, "r1"), &mut |_| true);
    assert!(matches!(killed, Err(CommitError::Stopped)));
    // As the record does before it notes the file; a person has changed the other one.
    sh(&scene.base, "ln b ../kept; echo theirs >>d/c; touch -r node/pkg/x d/c");
    scene.lock().go_on(&mut |_| false).expect("it goes on");
    sh(&scene.base, "[ \"$(cat a b | xargs)\" = 'a mine b mine' ]; [ \"$(cat d/c | xargs)\" = 'c theirs' ]");
    let left = scene.store.find("d1").expect("a draft").differences().expect("a walk").concat();
    assert_eq!(scene.short(&left.into_iter().map(|one| one.path).collect::<Vec<_>>()), ["d/c"]);
}

#[test]
fn a_part_beside_a_directory_that_was_made_anew_is_committed() {
    let scene = StoredScene::new();
    scene.run("rm -r d; mkdir d; echo 1 >d/z; mkdir -p n/m; echo 2 >n/m/x; echo 3 >n/y");
    let made = scene.commit("r1", &["n"], ConflictHandling::Stop);
    assert_eq!(scene.short(&made.applied), ["n"]);
    let made = scene.commit("r2", &["d/c", "d/z"], ConflictHandling::Stop);
    assert_eq!(scene.short(&made.applied), ["d/c", "d/z"]);
    sh(&scene.base, "[ -e d/e/f ] && [ ! -e d/c ] && [ \"$(cat d/z)\" = 1 ]");
    scene.run("[ ! -e d/e ] && [ \"$(cat d/z)\" = 1 ]");
    let made = scene.commit("r3", &[], ConflictHandling::Stop);
    assert_eq!(scene.short(&made.applied), ["d/e", "d/e/f"]);

    let scene = StoredScene::new();
    scene.run("rm -r d; mkdir -p d/n; for name in 1 2; do echo $name >d/n/$name; done");
    let made = scene.commit("r1", &["d/n/2"], ConflictHandling::Stop);
    assert_eq!(scene.short(&made.applied), ["d/n", "d/n/2"]);
    sh(&scene.base, "[ \"$(ls d/n)\" = 2 ] && [ -e d/e/f ]");
}

#[test]
fn a_file_that_both_have_changed_is_merged() {
    let scene = StoredScene::new();
    let lines = "seq 9 >lines; printf 'a\\0b' >bin; seq 9 >same; chmod 640 lines";
    sh(&scene.base, lines);
    let scene = StoredScene { store: DraftStore::at(scene.folder.path().join("others")), ..scene };
    let begin = |id: &str| scene.store.begin(id, settings(None), std::slice::from_ref(&scene.base)).expect("a draft");
    begin("d1");
    scene.run("sed -i 's/2/two/' lines; echo x >>bin; sed -i 's/5/five/' same; echo new >new");
    // What a program has made anew has no name of the base.
    sh(&scene.base, "sed -i 's/8/acht/' lines; echo y >>bin; sed -i 's/5/cinq/' same");
    let before = tree_of(&scene.base);
    let stopped = scene.commit("r1", &[], ConflictHandling::Merge);
    let conflicts: Vec<_> = stopped.conflicts.iter().map(|(path, _)| path.clone()).collect();
    assert_eq!((scene.short(&conflicts), stopped.run), (vec!["bin".to_owned(), "same".to_owned()], None));
    assert_eq!(tree_of(&scene.base), before);
    scene.run("[ \"$(sed -n 8p lines)\" = 8 ]");

    let request = |dry_run| CommitRequest {
        paths: vec![scene.base.join("lines")],
        on_conflict: ConflictHandling::Merge,
        dry_run,
    };
    let dry = scene.lock().commit(&request(true), (&scene.undo, "r2"), &mut |_| false).expect("a dry run");
    assert_eq!((scene.short(&dry.applied), dry.conflicts), (vec!["lines".to_owned()], Vec::new()));
    assert_eq!(tree_of(&scene.base), before);
    // Killed right after the merge, the draft has both changes, and the base its own.
    let killed = scene.lock().commit(&request(false), (&scene.undo, "r3"), &mut |_| true);
    assert!(matches!(killed, Err(CommitError::Stopped)));
    assert_eq!(tree_of(&scene.base), before);
    let merged = scene.lock().go_on(&mut |_| false).expect("finished").expect("a commit");
    assert_eq!(scene.short(&merged.applied), ["lines"]);
    sh(&scene.base, "[ \"$(tr '\\n' ' ' <lines)\" = '1 two 3 4 5 6 7 acht 9 ' ]; [ $(stat -c %a lines) = 640 ]");
    undo::undo(&scene.undo, "r3", UndoRequest::default()).expect("an undo");
    assert_eq!(tree_of(&scene.base), before);
}

#[test]
fn no_file_of_a_repository_is_merged() {
    let scene = StoredScene::new();
    sh(&scene.base, "mkdir .git; seq 9 >.git/packed-refs");
    let scene = StoredScene { store: DraftStore::at(scene.folder.path().join("others")), ..scene };
    scene.store.begin("d1", settings(None), std::slice::from_ref(&scene.base)).expect("a draft");
    scene.run("sed -i 's/2/two/' .git/packed-refs");
    sh(&scene.base, "sed -i 's/8/acht/' .git/packed-refs");
    let stopped = scene.commit("r1", &[], ConflictHandling::Merge);
    assert_eq!((stopped.conflicts.len(), stopped.run), (1, None));
}

#[test]
fn a_file_is_merged_again_after_a_commit_of_it() {
    let scene = StoredScene::new();
    sh(&scene.base, "seq 20 >lines");
    let scene = StoredScene { store: DraftStore::at(scene.folder.path().join("others")), ..scene };
    scene.store.begin("d1", settings(None), std::slice::from_ref(&scene.base)).expect("a draft");
    scene.run("sed -i 's/^3$/three/' lines; mkdir whole; seq 20 >whole/lines");
    scene.commit("r1", &["lines", "whole"], ConflictHandling::Stop);
    scene.run("sed -i 's/^10$/ten/' lines whole/lines");
    sh(&scene.base, "sed -i 's/^1$/one/' lines whole/lines");
    let merged = scene.commit("r2", &[], ConflictHandling::Merge);
    assert_eq!((scene.short(&merged.applied), merged.conflicts), (vec!["lines".into(), "whole/lines".into()], vec![]));
    sh(&scene.base, "[ \"$(sed -n '1p;3p;10p' lines | xargs)\" = 'one three ten' ]");
    sh(&scene.base, "[ \"$(sed -n '1p;3p;10p' whole/lines | xargs)\" = 'one 3 ten' ]");
}
