use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::*;
use crate::manifest::{Header, Move, Purpose, Record, VERSION};
use crate::node::{Contents, File, FileId, Hash, ImageId, Meta, Node, Time};
use protocol::task::Machine;

/// A tree of plain data. Contents are the hash or the number of the image.
#[derive(Default)]
struct Tree(BTreeMap<PathBuf, Node>);

impl Now for Tree {
    fn look(&self, path: &Path) -> Option<Node> {
        Some(self.0.get(path).cloned().unwrap_or(Node::Absent))
    }

    fn is_same(&self, recorded: &Node, _: &Path, now: &Node) -> bool {
        let number = |node: &Node| match node {
            Node::File(File { contents: Contents::Hash(Hash(number)), .. }) => *number,
            Node::File(File { contents: Contents::Image(image), .. }) => image.number.into(),
            _ => 0,
        };
        recorded.is_alike(now) && number(recorded) == number(now)
    }

    fn is_directory(&self, recorded: FileId, now: &Node) -> bool {
        now.is_directory() && now.id() == Some(recorded)
    }

    fn again(&self, recorded: FileId) -> Vec<FileId> {
        vec![recorded]
    }

    fn entries(&self, directory: &Path) -> Vec<OsString> {
        let below = self.0.keys().filter(|path| path.parent() == Some(directory));
        below.filter_map(|path| path.file_name().map(OsString::from)).collect()
    }

    fn is_half_done(&self, _: &Path, _: &Node) -> bool {
        false
    }
}

const fn meta(inode: u64, mode: u32) -> Meta {
    Meta { mode, uid: 0, gid: 0, id: FileId { device: 1, inode }, xattrs: Vec::new() }
}

const fn directory(inode: u64) -> Node {
    Node::Directory(meta(inode, 0o755))
}

fn file(number: u64, contents: Contents) -> Node {
    let time = Time { seconds: number.cast_signed(), nanoseconds: 0 };
    Node::File(File { meta: meta(number + 100, 0o644), size: 1, mtime: time, ctime: time, links: 1, contents })
}

fn kept(number: u64) -> Node {
    file(number, Contents::Image(ImageId { place: 0, number }))
}

fn seen(number: u64) -> Node {
    file(number, Contents::Hash(Hash(number.into())))
}

fn nodes(nodes: &[(&str, Node)]) -> BTreeMap<PathBuf, Node> {
    let root = [("/".into(), directory(0))];
    root.into_iter().chain(nodes.iter().map(|(path, node)| (PathBuf::from(path), node.clone()))).collect()
}

type Nodes<'a> = &'a [(&'a str, Node)];

fn planned(
    before: Nodes<'_>,
    moves: &[(&str, &str, u64)],
    after: Nodes<'_>,
    now: Nodes<'_>,
) -> (Vec<String>, Vec<String>) {
    let header = Header {
        version: VERSION,
        run: "r".into(),
        command: String::new(),
        cwd: "/".into(),
        at: 0,
        machine: Machine::default(),
        purpose: Purpose::Undo,
        tree: PathBuf::new(),
    };
    let mut point = Point::new(header);
    point.before = before.iter().map(|(path, node)| (PathBuf::from(path), node.clone())).collect();
    for (path, _) in before.iter().filter(|(_, node)| node.is_absent()) {
        if after.iter().any(|(left, node)| left == path && node.is_directory()) {
            point.add(Record::Made { path: path.into() });
        }
    }
    for (from, to, inode) in moves {
        let id = FileId { device: 1, inode: *inode };
        point.add(Record::Renamed(Move { from: from.into(), to: to.into(), id, directory: true, swap: None }));
    }
    point.after = after.iter().map(|(path, node)| (PathBuf::from(path), node.clone())).collect();
    let Plan { steps, conflicts, .. } = plan(&point, &Tree(nodes(now)), &[]);
    let step = |step: &Step| match step {
        Step::Remove { path, .. } => format!("remove {}", path.display()),
        Step::RemoveDirectory { path, .. } => format!("rmdir {}", path.display()),
        Step::Move { from, to, .. } => format!("move {} {}", from.display(), to.display()),
        Step::MakeDirectory { path, .. } => format!("make {}", path.display()),
        Step::Restore { path, .. } => format!("restore {}", path.display()),
        Step::SetMeta { path, .. } => format!("set {}", path.display()),
    };
    let conflict = |conflict: &Conflict| format!("{}: {}", conflict.path.display(), conflict.why);
    (steps.iter().map(step).collect(), conflicts.iter().map(conflict).collect())
}

#[test]
fn three_states_of_a_file_decide() {
    let (absent, one, two, three) = (Node::Absent, seen(1), seen(2), seen(3));
    for (before, after, now, steps, conflicts) in [
        (kept(1), &two, &two, &["restore /f"][..], &[][..]),
        (kept(1), &two, &one, &[], &[]),
        (kept(1), &two, &three, &[], &["/f: it changed after the run"]),
        (kept(1), &two, &absent, &[], &["/f: it was removed after the run"]),
        (kept(1), &absent, &absent, &["restore /f"], &[]),
        (kept(1), &absent, &one, &[], &[]),
        (kept(1), &absent, &three, &[], &["/f: it changed after the run"]),
        (Node::Absent, &two, &two, &["remove /f"], &[]),
        (Node::Absent, &two, &absent, &[], &[]),
        (Node::Absent, &two, &three, &[], &["/f: the run made it, and it changed since"]),
        (Node::Absent, &absent, &three, &[], &[]),
        (kept(1), &one, &three, &[], &[]),
    ] {
        let present = |node: &Node| if node.is_absent() { vec![] } else { vec![("/f", node.clone())] };
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
    let (steps, conflicts) = planned(&[("/d", Node::Absent)], &[], &made, &made);
    assert_eq!(steps, ["remove /d/e/f", "rmdir /d/e", "rmdir /d"]);
    assert!(conflicts.is_empty());
}

#[test]
fn directories_that_changed_places_go_home_over_a_waiting_place() {
    let before = [("/a", directory(1)), ("/b", directory(2)), ("/t", Node::Absent)];
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
    let before = [("/.git/objects/1", Node::Absent), ("/.git/HEAD", kept(3))];
    let after = [("/.git/objects/1", seen(5)), ("/.git/HEAD", seen(9))];
    let now = [&repository[..], &after[..1]].concat();
    assert_eq!(planned(&before, &[], &after, &now).0, ["restore /.git/HEAD"]);
}
