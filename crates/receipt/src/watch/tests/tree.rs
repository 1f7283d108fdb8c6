//! A temporary tree, and a comparison of all that is in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::watch::{ReceiptToken, WatchedTrees};
use crate::{MAX_LISTED_CHANGES, ReceiptCompleteness, RunReceipt};

/// A tree that is watched.
pub struct WatchedTreeFixture {
    directory: tempfile::TempDir,
    pub watch: WatchedTrees,
}

/// The kind, mode and content of every file by its path.
pub type TreeListing = BTreeMap<PathBuf, (u32, Vec<u8>)>;

impl WatchedTreeFixture {
    /// Makes a tree with a script, and watches it.
    pub fn new(script: &str) -> Self {
        let fixture = Self { directory: tempfile::tempdir().expect("a directory"), watch: WatchedTrees::new() };
        fixture.run(script);
        let is_watched = fixture.watch.prepare(&fixture.root(), Duration::from_secs(30));
        assert!(is_watched, "{:?}", fixture.begin().finish(&[]));
        fixture
    }

    pub fn root(&self) -> PathBuf {
        fs::canonicalize(self.directory.path()).expect("a path").join("tree")
    }

    /// Runs a script in the tree.
    pub fn run(&self, script: &str) {
        fs::create_dir_all(self.root()).expect("a directory");
        let mut bash = Command::new("bash");
        bash.args(["--norc", "-ec", script]).current_dir(self.root()).env("HOME", self.directory.path());
        let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
        bash.envs(names.map(|name| (name, "nobody")));
        bash.env("GIT_CONFIG_NOSYSTEM", "1").env("OUTSIDE", self.directory.path());
        let output = bash.output().expect("bash");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    pub fn begin(&self) -> ReceiptToken {
        self.watch.begin(&self.root())
    }

    /// Runs a script, and compares its receipt with the whole tree.
    pub fn receipt(&self, script: &str) -> RunReceipt {
        self.receipt_of(script, || self.run(script))
    }

    /// Makes a change, and compares its receipt with the whole tree. `script` names the change in messages.
    pub fn receipt_of(&self, script: &str, change: impl FnOnce()) -> RunReceipt {
        let before = self.files();
        let token = self.begin();
        change();
        let receipt = token.finish(&[]);
        let lists = [&receipt.created, &receipt.modified, &receipt.deleted].map(Vec::len);
        let is_whole = receipt.directories.is_empty() && lists.iter().all(|length| *length < MAX_LISTED_CHANGES);
        if receipt.state != ReceiptCompleteness::Unknown && is_whole {
            check(&receipt, before, &self.files(), script);
        }
        receipt
    }

    /// Reads the whole tree.
    pub fn files(&self) -> TreeListing {
        let mut files = TreeListing::new();
        read(&self.root(), &mut files);
        files
    }

    /// Returns a receipt as text.
    pub fn shown(&self, receipt: &RunReceipt) -> String {
        let name = |path: &Path| path.strip_prefix(self.root()).unwrap_or(path).display().to_string();
        let mut words = Vec::new();
        words.extend(receipt.created.iter().map(|change| format!("+{}", name(&change.path))));
        let modified = |change: &crate::FileChange| {
            let bytes = |bytes: Option<u64>| bytes.map_or("-".to_owned(), |bytes| bytes.to_string());
            format!("~{}:{}>{}", name(&change.path), bytes(change.bytes_before), bytes(change.bytes))
        };
        words.extend(receipt.modified.iter().map(modified));
        words.extend(receipt.deleted.iter().map(|change| format!("-{}", name(&change.path))));
        words.extend(receipt.renamed.iter().map(|rename| format!("{}→{}", name(&rename.from), name(&rename.to))));
        words.extend(receipt.directories.iter().map(|path| format!("in:{}", name(path))));
        let state = match receipt.state {
            ReceiptCompleteness::Known => "",
            ReceiptCompleteness::Partial => "partial: ",
            ReceiptCompleteness::Unknown => "unknown: ",
        };
        format!("{state}{}", words.join(" "))
    }
}

fn read(path: &Path, files: &mut TreeListing) {
    let metadata = fs::symlink_metadata(path).expect("metadata");
    let kind = metadata.file_type();
    let content = if kind.is_file() {
        fs::read(path).expect("a content")
    } else if kind.is_symlink() {
        fs::read_link(path).expect("a link").into_os_string().into_encoded_bytes()
    } else {
        Vec::new()
    };
    files.insert(path.to_owned(), (metadata.mode(), content));
    if kind.is_dir() {
        for entry in fs::read_dir(path).expect("a directory") {
            let entry = entry.expect("an entry");
            if entry.file_name() != ".git" {
                read(&entry.path(), files);
            }
        }
    }
}

/// Checks that a receipt leads from one state of the tree to the other, and that its lists are correct.
pub fn check(receipt: &RunReceipt, before: TreeListing, after: &TreeListing, script: &str) {
    let mut files = before.clone();
    for change in &receipt.deleted {
        assert!(files.remove(&change.path).is_some(), "{script}: {} was not there: {receipt:?}", change.path.display());
    }
    let mut renames: Vec<_> = receipt.renamed.iter().collect();
    renames.sort_by_key(|rename| std::cmp::Reverse(rename.from.components().count()));
    let mut moved = TreeListing::new();
    for rename in renames {
        let below: Vec<_> = files.keys().filter(|path| path.starts_with(&rename.from)).cloned().collect();
        assert!(!below.is_empty(), "{script}: {} was not there: {receipt:?}", rename.from.display());
        for path in below {
            let to = crate::watch::change_window::renamed(&path, &rename.from, &rename.to);
            moved.insert(to, files.remove(&path).expect("a file"));
        }
    }
    files.extend(moved);
    for change in receipt.created.iter().chain(&receipt.modified) {
        let now = after.get(&change.path);
        assert!(now.is_some(), "{script}: {} is not there: {receipt:?}", change.path.display());
        files.insert(change.path.clone(), now.expect("a file").clone());
    }
    let names = |files: &TreeListing| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&files), names(after), "{script}: {receipt:?}");
    for (path, file) in &files {
        assert!(after[path] == *file, "{script}: {} has changed: {receipt:?}", path.display());
    }
    if receipt.state == ReceiptCompleteness::Known {
        for change in &receipt.modified {
            let is_moved = receipt.renamed.iter().any(|rename| change.path.starts_with(&rename.to));
            let is_same = before.get(&change.path) == after.get(&change.path);
            assert!(is_moved || !is_same, "{script}: {} has not changed: {receipt:?}", change.path.display());
        }
    }
}
