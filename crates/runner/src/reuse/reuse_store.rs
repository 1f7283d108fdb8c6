//! The runs of this process whose results may be given again, by their trees.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use receipt::watch::TreeMark;

use super::stored_run::{ReuseKey, StoredRun};

/// Most trees. Each has one mark, by which its changes are recorded.
const MAX_TREES: usize = 4;
/// Most runs.
const MAX_RUNS: usize = 256;

/// The trees, the one that was used last at the end.
static TREES_OF_PROCESS: Mutex<Vec<ReuseTree>> = Mutex::new(Vec::new());

/// The runs in one tree, since whose ends nothing in it has changed.
#[derive(Debug)]
struct ReuseTree {
    root: PathBuf,
    /// A moment from which on nothing has changed. It is not later than the end of any run.
    end: Arc<TreeMark>,
    /// The oldest first.
    runs: Vec<Arc<StoredRun>>,
}

fn trees() -> MutexGuard<'static, Vec<ReuseTree>> {
    TREES_OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Finds a run in a tree in which nothing has changed since: that with this key, or the latest whose first program is
/// this one, given the same. Blocks.
pub fn find_run(root: &Path, key: &ReuseKey, source: Option<&str>, max_age: Duration) -> Option<Arc<StoredRun>> {
    let end = end_mark_of(root)?;
    is_untouched(&end).then_some(())?;
    let mut trees = trees();
    let at = trees.iter().position(|tree| Arc::ptr_eq(&tree.end, &end))?;
    let tree = trees.remove(at);
    let recent = || tree.runs.iter().rev().filter(|stored| stored.is_recent(max_age));
    let has_source = |stored: &&Arc<StoredRun>| {
        let written = stored.written.as_ref().filter(|written| written.is_filterable);
        source.is_some() && written.map(|written| written.text.as_str()) == source && stored.key.differs_in_text(key)
    };
    let found = recent().find(|stored| stored.key == *key).or_else(|| recent().find(has_source)).cloned();
    trees.push(tree);
    found
}

/// Stores a run. `end` marks its end in its tree. `most`: the most bytes of all outputs. Blocks.
pub fn add_run(root: &Path, end: TreeMark, stored: StoredRun, most: u64) {
    // A tree that did not change since the runs before needs one mark for all of them.
    let known = end_mark_of(root).filter(is_untouched);
    let mut all = trees();
    let at = all.iter().position(|tree| known.as_ref().is_some_and(|known| Arc::ptr_eq(&tree.end, known)));
    let mut gone = Vec::new();
    let mut tree = match at {
        Some(at) => all.remove(at),
        None => {
            gone.extend(all.extract_if(.., |tree| tree.root == root));
            ReuseTree { root: root.to_owned(), end: Arc::new(end), runs: Vec::new() }
        }
    };
    tree.runs.retain(|known| known.key != stored.key);
    tree.runs.push(Arc::new(stored));
    all.push(tree);
    gone.append(&mut evict_excess(&mut all, most));
    drop(all);
    // The end of a mark may wait for its tree.
    drop(gone);
}

/// Returns the mark of a tree.
fn end_mark_of(root: &Path) -> Option<Arc<TreeMark>> {
    trees().iter().find(|tree| tree.root == root).map(|tree| Arc::clone(&tree.end))
}

/// Returns whether nothing has changed since a mark. If something has, its runs are forgotten.
fn is_untouched(end: &Arc<TreeMark>) -> bool {
    if end.touched_reason().is_none() {
        return true;
    }
    let gone: Vec<_> = trees().extract_if(.., |tree| Arc::ptr_eq(&tree.end, end)).collect();
    drop(gone);
    false
}

/// Takes the trees and runs that are too many. The last run stays.
fn evict_excess(trees: &mut Vec<ReuseTree>, most: u64) -> Vec<ReuseTree> {
    let mut gone: Vec<_> = trees.drain(..trees.len().saturating_sub(MAX_TREES)).collect();
    let bytes = |tree: &ReuseTree| tree.runs.iter().map(|stored| stored.bytes()).sum::<u64>();
    loop {
        let count: usize = trees.iter().map(|tree| tree.runs.len()).sum();
        let is_too_much = count > MAX_RUNS || trees.iter().map(bytes).sum::<u64>() > most;
        if !is_too_much || count <= 1 {
            return gone;
        }
        let Some(oldest) = trees.iter_mut().min_by_key(|tree| tree.runs.first().map(|stored| stored.ended)) else {
            return gone;
        };
        oldest.runs.remove(0);
        gone.extend(trees.extract_if(.., |tree| tree.runs.is_empty()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Instant;

    use super::*;
    use crate::reuse::ReuseGround;
    use crate::reuse::output_copy::begin_shared_copy;
    use evidence::{CommandEnd, EvidenceInput};
    use protocol::task::now_ms;
    use receipt::recording::mark;
    use safety::decide::NamedCommandRules;

    fn key(command: &str) -> ReuseKey {
        ReuseKey { command: command.to_owned(), directory: (1, 2), surroundings: 7 }
    }

    fn stored(command: &str, run: &str, bytes: usize) -> StoredRun {
        let copy = begin_shared_copy(1 << 20, &std::env::temp_dir());
        copy.lock().expect("not poisoned").push(capture::OutputStream::Stdout, &vec![b'x'; bytes]);
        let output = copy.lock().expect("not poisoned").finish().expect("whole");
        let end = CommandEnd { code: Some(0), signal: None, by_itself: true };
        let rules = NamedCommandRules::default();
        let ran = EvidenceInput {
            command: "x",
            trace: None,
            end,
            tests: |_: &[evidence::EvidencePart]| Vec::new(),
            cwd: Path::new("/"),
            rules: &rules,
            known: &evidence::ShellKnowledge::default(),
        };
        let evidence = evidence::read(ran);
        StoredRun {
            key: key(command),
            run: run.to_owned(),
            at: now_ms(),
            ended: Instant::now(),
            code: 0,
            evidence,
            output,
            written: None,
            ground: ReuseGround::ReadsOnly,
            denials: confine_policy::CommandDenials::default(),
        }
    }

    fn watched() -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path().canonicalize().expect("a path");
        fs::write(root.join("a"), "1").expect("written");
        while mark(&root).touched_reason().is_some() {}
        (directory, root)
    }

    const HOUR: Duration = Duration::from_hours(1);

    fn run(root: &Path, command: &str) -> Option<String> {
        find_run(root, &key(command), None, HOUR).map(|stored| stored.run.clone())
    }

    #[test]
    fn a_run_is_found_until_its_tree_changes() {
        let (_directory, root) = watched();
        assert_eq!(run(&root, "make"), None);
        add_run(&root, mark(&root), stored("make", "r1", 3), 100);
        add_run(&root, mark(&root), stored("ls", "r2", 3), 100);
        assert_eq!((run(&root, "make").as_deref(), run(&root, "ls").as_deref()), (Some("r1"), Some("r2")));
        assert_eq!(run(&root, "make all"), None);
        assert_eq!(run(root.parent().expect("above"), "make"), None);
        assert!(find_run(&root, &ReuseKey { directory: (1, 3), ..key("make") }, None, HOUR).is_none());
        assert!(find_run(&root, &ReuseKey { surroundings: 8, ..key("make") }, None, HOUR).is_none());
        assert!(find_run(&root, &key("make"), None, Duration::ZERO).is_none(), "too old");
        add_run(&root, mark(&root), stored("make", "r3", 3), 100);
        assert_eq!(run(&root, "make").as_deref(), Some("r3"), "the latest");
        fs::write(root.join("a"), "2").expect("written");
        assert_eq!((run(&root, "make"), run(&root, "ls")), (None, None));
        add_run(&root, mark(&root), stored("ls", "r4", 3), 100);
        assert_eq!((run(&root, "make"), run(&root, "ls").as_deref()), (None, Some("r4")));
    }

    #[test]
    fn a_run_is_old_by_either_clock() {
        let at = |at: u64, ended| StoredRun { at, ended, ..stored("make", "r", 3) };
        let (now, then) = (Instant::now(), Instant::now().checked_sub(2 * HOUR));
        assert!(at(now_ms(), now).is_recent(HOUR));
        assert!(!at(now_ms() - 7_200_000, now).is_recent(HOUR), "the machine slept");
        assert!(!at(now_ms() + 60_000, now).is_recent(HOUR), "the clock was set back");
        assert!(then.is_none_or(|then| !at(now_ms(), then).is_recent(HOUR)), "the clock was set forward and back");
    }

    #[test]
    fn the_oldest_runs_make_room() {
        let (_one, one) = watched();
        let (_two, two) = watched();
        let mut trees = Vec::new();
        let tree = |root: &Path| ReuseTree { root: root.to_owned(), end: Arc::new(mark(root)), runs: Vec::new() };
        trees.extend([tree(&one), tree(&two)]);
        for (at, command) in ["a", "b", "c", "d"].iter().enumerate() {
            trees[at % 2].runs.push(Arc::new(stored(command, command, 40)));
        }
        let left = |trees: &[ReuseTree]| -> Vec<String> {
            trees.iter().flat_map(|tree| &tree.runs).map(|stored| stored.key.command.clone()).collect()
        };
        assert!(evict_excess(&mut trees, 160).is_empty());
        evict_excess(&mut trees, 100);
        assert_eq!(left(&trees), ["c", "d"]);
        assert_eq!(evict_excess(&mut trees, 50).len(), 1);
        assert_eq!(left(&trees), ["d"]);
        evict_excess(&mut trees, 10);
        assert_eq!(left(&trees), ["d"], "the last run stays");
        trees.extend((0..MAX_TREES).map(|_| tree(&two)));
        assert_eq!(evict_excess(&mut trees, 100).len(), 1);
    }
}
