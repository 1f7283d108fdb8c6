use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::*;
use crate::manifest::{ManifestHeader, ManifestPurpose, ManifestRecord, RecordedRename, VERSION};
use crate::path_state::{ContentHash, FileIdentity, FileMeta, FileState, FileTime, ImageId, KnownContents, PathState};
use protocol::task::MachineIdentity;

/// A tree of plain data. Contents are the hash or the number of the image.
#[derive(Default)]
struct TableTree(BTreeMap<PathBuf, PathState>);

impl CurrentTree for TableTree {
    fn read_state(&self, path: &Path) -> Option<PathState> {
        Some(self.0.get(path).cloned().unwrap_or(PathState::Absent))
    }

    fn is_recorded_state(&self, recorded: &PathState, _: &Path, now: &PathState) -> bool {
        let number = |state: &PathState| match state {
            PathState::File(FileState { contents: KnownContents::Hash(ContentHash(number)), .. }) => *number,
            PathState::File(FileState { contents: KnownContents::Image(image), .. }) => image.number.into(),
            _ => 0,
        };
        recorded.is_alike(now) && number(recorded) == number(now)
    }

    fn is_recorded_directory(&self, recorded: FileIdentity, now: &PathState) -> bool {
        now.is_directory() && now.id() == Some(recorded)
    }

    fn successors_of(&self, recorded: FileIdentity) -> Vec<FileIdentity> {
        vec![recorded]
    }

    fn entry_names(&self, directory: &Path) -> Vec<OsString> {
        let below = self.0.keys().filter(|path| path.parent() == Some(directory));
        below.filter_map(|path| path.file_name().map(OsString::from)).collect()
    }

    fn is_half_undone(&self, _: &Path, _: &PathState) -> bool {
        false
    }
}

const fn meta(inode: u64, mode: u32) -> FileMeta {
    FileMeta { mode, uid: 0, gid: 0, id: FileIdentity { device: 1, inode }, xattrs: Vec::new() }
}

const fn directory(inode: u64) -> PathState {
    PathState::Directory(meta(inode, 0o755))
}

fn file(number: u64, contents: KnownContents) -> PathState {
    let time = FileTime { seconds: number.cast_signed(), nanoseconds: 0 };
    PathState::File(FileState {
        meta: meta(number + 100, 0o644),
        size: 1,
        mtime: time,
        ctime: time,
        links: 1,
        contents,
    })
}

fn kept(number: u64) -> PathState {
    file(number, KnownContents::Image(ImageId { place: 0, number }))
}

fn seen(number: u64) -> PathState {
    file(number, KnownContents::Hash(ContentHash(number.into())))
}

fn nodes(nodes: &[(&str, PathState)]) -> BTreeMap<PathBuf, PathState> {
    let root = [("/".into(), directory(0))];
    root.into_iter().chain(nodes.iter().map(|(path, state)| (PathBuf::from(path), state.clone()))).collect()
}

type ListedStates<'a> = &'a [(&'a str, PathState)];

fn planned(
    before: ListedStates<'_>,
    moves: &[(&str, &str, u64)],
    after: ListedStates<'_>,
    now: ListedStates<'_>,
) -> (Vec<String>, Vec<String>) {
    let header = ManifestHeader {
        version: VERSION,
        run: "r".into(),
        command: String::new(),
        cwd: "/".into(),
        at: 0,
        machine: MachineIdentity::default(),
        purpose: ManifestPurpose::Undo,
        tree: PathBuf::new(),
    };
    let mut point = RunManifest::new(header);
    point.states_before = before.iter().map(|(path, state)| (PathBuf::from(path), state.clone())).collect();
    for (path, _) in before.iter().filter(|(_, state)| state.is_absent()) {
        if after.iter().any(|(left, state)| left == path && state.is_directory()) {
            point.add(ManifestRecord::Made { path: path.into() });
        }
    }
    for (from, to, inode) in moves {
        let id = FileIdentity { device: 1, inode: *inode };
        point.add(ManifestRecord::Renamed(RecordedRename {
            from: from.into(),
            to: to.into(),
            id,
            directory: true,
            swap: None,
        }));
    }
    point.states_after_run = after.iter().map(|(path, state)| (PathBuf::from(path), state.clone())).collect();
    let UndoPlan { steps, conflicts, .. } = plan_undo(&point, &TableTree(nodes(now)), &[]);
    let step = |step: &UndoStep| match step {
        UndoStep::Remove { path, .. } => format!("remove {}", path.display()),
        UndoStep::RemoveDirectory { path, .. } => format!("rmdir {}", path.display()),
        UndoStep::Move { from, to, .. } => format!("move {} {}", from.display(), to.display()),
        UndoStep::MakeDirectory { path, .. } => format!("make {}", path.display()),
        UndoStep::Restore { path, .. } => format!("restore {}", path.display()),
        UndoStep::SetMeta { path, .. } => format!("set {}", path.display()),
    };
    let conflict = |conflict: &PlannedConflict| format!("{}: {}", conflict.path.display(), conflict.why);
    (steps.iter().map(step).collect(), conflicts.iter().map(conflict).collect())
}

#[test]
fn three_states_of_a_file_decide() {
    let (absent, one, two, three) = (PathState::Absent, seen(1), seen(2), seen(3));
    for (before, after, now, steps, conflicts) in [
        (kept(1), &two, &two, &["restore /f"][..], &[][..]),
        (kept(1), &two, &one, &[], &[]),
        (kept(1), &two, &three, &[], &["/f: it changed after the run"]),
        (kept(1), &two, &absent, &[], &["/f: it was removed after the run"]),
        (kept(1), &absent, &absent, &["restore /f"], &[]),
        (kept(1), &absent, &one, &[], &[]),
        (kept(1), &absent, &three, &[], &["/f: it changed after the run"]),
        (PathState::Absent, &two, &two, &["remove /f"], &[]),
        (PathState::Absent, &two, &absent, &[], &[]),
        (PathState::Absent, &two, &three, &[], &["/f: the run made it, and it changed since"]),
        (PathState::Absent, &absent, &three, &[], &[]),
        (kept(1), &one, &three, &[], &[]),
    ] {
        let present = |state: &PathState| if state.is_absent() { vec![] } else { vec![("/f", state.clone())] };
        let found = planned(&[("/f", before.clone())], &[], &present(after), &present(now));
        let expected =
            (steps.iter().map(ToString::to_string).collect(), conflicts.iter().map(ToString::to_string).collect());
        assert_eq!(found, expected, "{before:?}\n{after:?}\n{now:?}");
    }
}

#[test]
fn a_removed_tree_comes_back_from_the_top_and_a_made_one_goes_from_the_bottom() {
    let before = [("/d", directory(1)), ("/d/e", directory(2)), ("/d/e/f", kept(3))];
    let (steps, conflicts) = planned(&before, &[], &[], &[]);
    assert_eq!(steps, ["make /d", "make /d/e", "restore /d/e/f", "set /d/e", "set /d"]);
    assert!(conflicts.is_empty());
    let made = [("/d", directory(1)), ("/d/e", directory(2)), ("/d/e/f", seen(3))];
    let (steps, conflicts) = planned(&[("/d", PathState::Absent)], &[], &made, &made);
    assert_eq!(steps, ["remove /d/e/f", "rmdir /d/e", "rmdir /d"]);
    assert!(conflicts.is_empty());
}

#[test]
fn directories_that_changed_places_go_home_over_a_waiting_place() {
    let before = [("/a", directory(1)), ("/b", directory(2)), ("/t", PathState::Absent)];
    let after = [("/a", directory(2)), ("/b", directory(1))];
    let moves = [("/a", "/t", 1), ("/b", "/a", 2), ("/t", "/b", 1)];
    let (steps, conflicts) = planned(&before, &moves, &after, &after);
    let waits = "/.agent-bash-undo-1-2";
    assert_eq!(steps, [format!("move /a {waits}"), "move /b /a".to_owned(), format!("move {waits} /b")]);
    assert!(conflicts.is_empty());
    let (steps, conflicts) = planned(&before, &moves, &after, &[("/a", directory(1)), ("/b", directory(2))]);
    assert!(steps.is_empty() && conflicts.is_empty());
}

#[test]
fn objects_of_a_repository_of_before_stay() {
    let repository = [("/.git", directory(1)), ("/.git/objects", directory(2)), ("/.git/HEAD", seen(9))];
    let before = [("/.git/objects/1", PathState::Absent), ("/.git/HEAD", kept(3))];
    let after = [("/.git/objects/1", seen(5)), ("/.git/HEAD", seen(9))];
    let now = [&repository[..], &after[..1]].concat();
    assert_eq!(planned(&before, &[], &after, &now).0, ["restore /.git/HEAD"]);
}
