use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::{ChangeReplay, ContentIdentity, NetEffect, ObservedFile, ObservedMetadata, PathListing};
use crate::{ChangeAttribution, ChangedFileKind, MAX_LISTED_CHANGES, RunReceipt};

/// A directory tree as text: `a=1` is a file whose content is `1`, `d/` a directory.
#[derive(Debug, Clone, Default)]
struct TextTree(BTreeMap<PathBuf, ObservedFile>);

fn file(content: &str) -> ObservedFile {
    let hash = content.bytes().fold(7_u128, |hash, byte| hash * 31 + u128::from(byte));
    let contents = ContentIdentity::Hash(hash);
    ObservedFile {
        kind: ChangedFileKind::File,
        bytes: content.len() as u64,
        metadata: ObservedMetadata::default(),
        contents,
    }
}

fn directory() -> ObservedFile {
    ObservedFile {
        kind: ChangedFileKind::Directory,
        bytes: 0,
        metadata: ObservedMetadata::default(),
        contents: ContentIdentity::Unread,
    }
}

fn absolute(path: &str) -> PathBuf {
    Path::new("/r").join(path)
}

/// A run on a tree: each step is reported to the replay, and then done.
struct ReplayedTestRun {
    files: TextTree,
    replay: ChangeReplay,
}

impl ReplayedTestRun {
    fn on(tree: &str) -> Self {
        let entry = |word: &str| match word.split_once('=') {
            Some((name, content)) => (absolute(name), file(content)),
            None => (absolute(word.trim_end_matches('/')), directory()),
        };
        Self { files: TextTree(tree.split_whitespace().map(entry).collect()), replay: ChangeReplay::new() }
    }

    fn touch(&mut self, path: &Path) {
        self.replay.record_before(path, self.files.0.get(path));
    }

    fn step(&mut self, step: &str) {
        let words: Vec<_> = step.split_whitespace().collect();
        match *words.as_slice() {
            ["write", path, content] => self.put(&absolute(path), file(content)),
            ["mkdir", path] => self.put(&absolute(path), directory()),
            ["chmod", path] => {
                let mut node = self.files.0[&absolute(path)];
                node.metadata.mode ^= 0o100;
                self.put(&absolute(path), node);
            }
            ["rm", path] => {
                let below: Vec<_> = self.files.0.keys().filter(|at| at.starts_with(absolute(path))).cloned().collect();
                for path in below.iter().rev() {
                    self.touch(path);
                    self.files.0.remove(path);
                    self.replay.remove(path);
                }
            }
            ["mv", from, to] => self.rename(&absolute(from), &absolute(to)),
            ["swap", one, other] => {
                let (one, other) = (absolute(one), absolute(other));
                self.touch(&one);
                self.touch(&other);
                self.replay.exchange(&one, &other);
                let between = absolute("between");
                self.move_files(&one, &between);
                self.move_files(&other, &one);
                self.move_files(&between, &other);
            }
            _ => panic!("no such step: {step}"),
        }
    }

    fn put(&mut self, path: &Path, node: ObservedFile) {
        self.touch(path);
        self.files.0.insert(path.into(), node);
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        self.touch(from);
        self.touch(to);
        self.replay.rename(from, to);
        self.move_files(from, to);
    }

    fn move_files(&mut self, from: &Path, to: &Path) {
        self.files.0.remove(to);
        let moved: Vec<_> = self.files.0.keys().filter(|path| path.starts_with(from)).cloned().collect();
        for path in moved {
            let node = self.files.0.remove(&path).expect("a node");
            let rest = path.strip_prefix(from).expect("a path below");
            self.files.0.insert(if rest.as_os_str().is_empty() { to.into() } else { to.join(rest) }, node);
        }
    }

    fn effect(&self) -> NetEffect {
        let asked = self.replay.paths();
        let after = |path: &Path| {
            assert!(asked.iter().any(|known| known == path), "{path:?} is not among the paths to ask for");
            self.files.0.get(path).copied()
        };
        self.replay.effect(after, |path| match path {
            path if path.starts_with("/r/.git") => PathListing::Hidden,
            path if path.starts_with("/r/big/deep") => PathListing::SummedUpIn("/r/big".into()),
            _ => PathListing::Listed,
        })
    }
}

/// Returns an effect as text.
fn shown(effect: &NetEffect) -> String {
    let name = |path: &Path| path.strip_prefix("/r").unwrap_or(path).display().to_string();
    let bytes = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
    let mut words: Vec<String> = Vec::new();
    words.extend(effect.created.iter().map(|change| format!("+{}", name(&change.path))));
    let modified = |change: &crate::FileChange| {
        format!("~{}:{}>{}", name(&change.path), bytes(change.bytes_before), bytes(change.bytes))
    };
    words.extend(effect.modified.iter().map(modified));
    words.extend(effect.deleted.iter().map(|change| format!("-{}", name(&change.path))));
    words.extend(effect.renamed.iter().map(|rename| format!("{}→{}", name(&rename.from), name(&rename.to))));
    words.extend(effect.directories.iter().map(|path| format!("in:{}", name(path))));
    words.extend(effect.unsure.iter().map(|path| format!("?{}", name(path))));
    words.join(" ")
}

#[test]
fn effects() {
    let table: &[(&str, &str, &str)] = &[
        ("", "", ""),
        ("", "write a 1", "+a"),
        ("", "write a 1; rm a", ""),
        ("a=1", "write a 22", "~a:1>2"),
        ("a=1", "write a 2; write a 1", ""),
        ("a=1", "rm a", "-a"),
        ("a=1", "rm a; write a 1", ""),
        ("a=1", "rm a; write a 22", "~a:1>2"),
        ("a=1", "chmod a", "~a:1>1"),
        ("a=1", "chmod a; chmod a", ""),
        ("", "mkdir d; write d/a 1; mkdir d/e", "+d +d/a +d/e"),
        ("d/ d/a=1 d/e/", "rm d", "-d -d/a -d/e"),
        ("d/ d/a=1", "rm d; mkdir d; write d/a 1", ""),
        ("d/", "chmod d", "~d:->-"),
        // Renames.
        ("a=1", "mv a b", "a→b"),
        ("a=1", "mv a b; mv b c", "a→c"),
        ("a=1", "mv a b; mv b a", ""),
        ("a=1", "mv a b; rm b", "-a"),
        ("a=1", "mv a b; write b 22", "~b:1>2 a→b"),
        ("a=1 b=333", "mv a b", "~b:3>1 a→b"),
        ("a=1 b=1", "mv a b", "a→b"),
        ("a=1", "write t 22; mv t a", "~a:1>2"),
        ("a=1", "write t 1; mv t a", ""),
        ("", "write a 1; mv a b", "+b"),
        ("a=1", "rm a; write a 22; mv a b", "+b -a"),
        ("a=1", "mv a b; write a 22", "+a a→b"),
        ("a=1", "mv a b; rm b; write b 1", "+b -a"),
        ("a=1 b=22", "swap a b", "~a:1>2 ~b:2>1 b→a a→b"),
        ("a=1 b=22", "swap a b; swap b a", ""),
        ("a=1 b=22", "mv a c; mv b a; mv c b", "~a:1>2 ~b:2>1 b→a a→b"),
        // Renamed directories are one entry. What changed in them has its new path.
        ("d/ d/a=1 d/b=2", "mv d e", "d→e"),
        ("d/ d/a=1 d/b=2", "mv d e; mv e d", ""),
        ("d/ d/a=1 d/b=2", "mv d e; write e/a 22", "~e/a:1>2 d→e"),
        ("d/ d/a=1 d/b=2", "write d/a 22; mv d e", "~e/a:1>2 d→e"),
        ("d/ d/a=1 d/b=2", "mv d e; rm e/a", "-d/a d→e"),
        ("d/ d/a=1 d/b=2", "mv d e; write e/c 3", "+e/c d→e"),
        ("d/ d/a=1", "mv d e; mv e/a e/b", "d→e d/a→e/b"),
        ("d/ d/a=1", "mv d/a a; rm d", "-d d/a→a"),
        ("d/ d/a=1", "mv d/a a; mv d e; mv a e/a", "d→e"),
        ("d/ d/a=1", "mkdir n; mv d n/d; write n/d/a 22", "+n ~n/d/a:1>2 d→n/d"),
        ("d/ d/a=1", "mv d e; rm e", "-d -d/a"),
        ("d/ d/a=1 e/ e/a=22", "rm e; mv d e", "~e/a:2>1 d→e"),
        ("d/ d/a=1", "mkdir n; write n/f 1; mv n m; write m/g 2", "+m +m/f +m/g"),
        ("d/ d/a=1", "mv d e; mkdir d", "+d d→e"),
        ("d/ d/e/ d/e/a=1", "mv d/e x; mv d y; write x/a 22", "~x/a:1>2 d/e→x d→y"),
        ("d/ d/a=1 d/e/ d/e/a=22", "rm d/e; mv d e; mkdir d; mv e d/e", "+d -d/e -d/e/a d→d/e"),
        // A change of the kind.
        ("a=1", "rm a; mkdir a", "+a -a"),
        ("a/ a/b=1", "rm a; write a 1", "+a -a -a/b"),
        // Names that only begin alike.
        ("d/ d/a=1 d0=1 d.x=1", "mv d e; write d0 22; rm d.x", "~d0:1>2 -d.x d→e"),
        // Paths that are summed up or hidden.
        ("big/deep/a=1", "write big/deep/a 22; write big/b 1", "+big/b in:big"),
        (".git/HEAD=1", "write .git/HEAD 22; write .git/x 1", ""),
        ("a=1", "mv a big/deep/a", "-a in:big"),
        ("big/deep/a=1", "mv big/deep/a a", "+a in:big"),
        ("b=22", "write .git/x 1; mv .git/x b", "~b:2>1"),
    ];
    for (tree, steps, expected) in table {
        let mut run = ReplayedTestRun::on(tree);
        for step in steps.split(';').filter(|step| !step.trim().is_empty()) {
            run.step(step);
        }
        assert_eq!(shown(&run.effect()), *expected, "{tree:?}: {steps}");
    }
}

#[test]
fn without_contents() {
    let versioned = |version, bytes| ObservedFile { bytes, contents: ContentIdentity::Version(version), ..file("1") };
    let unread = ObservedFile { contents: ContentIdentity::Unread, ..file("1") };
    let table = [
        (versioned(1, 1), versioned(1, 1), ""),
        (versioned(1, 1), versioned(2, 1), "~a:1>1 ?a"),
        (versioned(1, 1), versioned(2, 2), "~a:1>2"),
        (file("1"), unread, "~a:1>1 ?a"),
        (unread, unread, "~a:1>1 ?a"),
    ];
    for (before, after, expected) in table {
        let mut replay = ChangeReplay::new();
        replay.record_before(&absolute("a"), Some(&before));
        assert_eq!(shown(&replay.effect(|_| Some(after), |_| PathListing::Listed)), expected);
    }
}

#[test]
fn lists_are_bounded_and_counts_are_not() {
    let mut run = ReplayedTestRun::on("");
    for at in 0..MAX_LISTED_CHANGES + 20 {
        run.step(&format!("write f{at:03} 1"));
    }
    let mut receipt = RunReceipt::new(ChangeAttribution::Command);
    run.effect().fill(&mut receipt);
    assert_eq!(receipt.created.len(), MAX_LISTED_CHANGES);
    assert_eq!(receipt.created[0].path, absolute("f000"));
    assert_eq!(receipt.counts.created, MAX_LISTED_CHANGES as u64 + 20);
}

mod generated {
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec!["a", "b", "d", "d/a", "d/b", "e", "e/a", "d/e", "d/e/a"])
    }

    fn step() -> impl Strategy<Value = String> {
        prop_oneof![
            (name(), 0..3_usize).prop_map(|(path, content)| format!("write {path} {}", "x".repeat(content + 1))),
            name().prop_map(|path| format!("mkdir {path}")),
            name().prop_map(|path| format!("rm {path}")),
            (name(), name()).prop_map(|(from, to)| format!("mv {from} {to}")),
            (name(), name()).prop_map(|(from, to)| format!("swap {from} {to}")),
        ]
    }

    impl ReplayedTestRun {
        fn is_directory(&self, path: &Path) -> bool {
            path == Path::new("/r")
                || self.files.0.get(path).is_some_and(|node| node.kind == ChangedFileKind::Directory)
        }

        fn is_empty(&self, path: &Path) -> bool {
            !self.files.0.keys().any(|other| other != path && other.starts_with(path))
        }

        /// Returns whether the kernel would do this.
        fn is_possible(&self, step: &str) -> bool {
            let words: Vec<_> = step.split_whitespace().collect();
            let there = |path: &str| self.files.0.get(&absolute(path)).map(|node| node.kind);
            let parent = |path: &str| self.is_directory(absolute(path).parent().expect("a parent"));
            match *words.as_slice() {
                ["write", path, _] => parent(path) && there(path) != Some(ChangedFileKind::Directory),
                ["mkdir", path] => parent(path) && there(path).is_none(),
                ["rm", path] => there(path).is_some(),
                ["mv", from, to] => {
                    let nests = absolute(to).starts_with(absolute(from)) || absolute(from).starts_with(absolute(to));
                    let replaces = there(to).is_none_or(|kind| {
                        Some(kind) == there(from) && (kind == ChangedFileKind::File || self.is_empty(&absolute(to)))
                    });
                    there(from).is_some() && parent(to) && !nests && replaces
                }
                ["swap", one, other] => {
                    let nests =
                        absolute(one).starts_with(absolute(other)) || absolute(other).starts_with(absolute(one));
                    there(one).is_some() && there(other).is_some() && !nests
                }
                _ => false,
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Applying a receipt to the paths before gives the paths after, and no change of content is missed.
        #[test]
        fn effects_lead_from_before_to_after(steps in prop::collection::vec(step(), 0..14)) {
            let mut run = ReplayedTestRun::on("a=1 d/ d/a=22 d/e/ d/e/a=333");
            let before = run.files.clone();
            for step in &steps {
                if run.is_possible(step) {
                    run.step(step);
                }
            }
            let effect = run.effect();
            let mut files = before.0;
            for deleted in &effect.deleted {
                let was_there = files.remove(&deleted.path).is_some();
                prop_assert!(was_there, "{} was not there: {:?}", deleted.path.display(), effect);
            }
            files.retain(|path, _| !effect.deleted.iter().any(|deleted| deleted.path == *path));
            // All at once, the deepest first: the old paths are paths before the run.
            let mut renames: Vec<_> = effect.renamed.iter().collect();
            renames.sort_by_key(|rename| std::cmp::Reverse(rename.from.components().count()));
            let mut moved = BTreeMap::new();
            for rename in renames {
                let below: Vec<_> = files.keys().filter(|path| path.starts_with(&rename.from)).cloned().collect();
                prop_assert!(!below.is_empty(), "{} was not there: {:?}", rename.from.display(), effect);
                for path in below {
                    let rest = path.strip_prefix(&rename.from).expect("a path below");
                    let to = if rest.as_os_str().is_empty() { rename.to.clone() } else { rename.to.join(rest) };
                    moved.insert(to, files.remove(&path).expect("a node"));
                }
            }
            files.extend(moved);
            for change in effect.created.iter().chain(&effect.modified) {
                files.insert(change.path.clone(), run.files.0[&change.path]);
            }
            prop_assert_eq!(files, run.files.0, "{:?}", effect);
        }
    }
}
