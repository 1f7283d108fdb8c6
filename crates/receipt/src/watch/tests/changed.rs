use super::WatchedTreeFixture;
use crate::ReceiptCompleteness;

#[test]
fn changed_files_are_those_that_git_does_not_ignore() {
    let fixture = WatchedTreeFixture::new(
        "git init -q -b main; printf '/out/\n*.log\n!keep.log\n' >.gitignore; mkdir -p out src/deep; echo '*.tmp' \
         >src/.gitignore; echo 1 >a; echo 1 >b; git add .; git commit -qm one; git init -q inner; echo x >inner/.gitignore",
    );
    for (script, changed) in [
        ("true", ""),
        ("git status; git commit -q --allow-empty -m two", ""),
        ("echo 22 >a", "a"),
        ("rm a; echo 2 >src/new", "a src/new"),
        ("mv b c", "b c"),
        ("echo 1 >test.log; echo 1 >src/deep/test.log; echo 1 >keep.log", "keep.log"),
        ("mkdir -p out/deep; echo 1 >out/deep/file; echo 1 >src/a.tmp; echo 1 >a.tmp", "a.tmp"),
        ("rm -r out", ""),
        ("echo 1 >inner/x; echo 1 >inner/y.log", "inner/y.log"),
        ("echo '*.md' >>.gitignore; echo 1 >read.md", ".gitignore"),
    ] {
        let mark = fixture.watch.mark(&fixture.root());
        assert_eq!(mark.root, fixture.root());
        fixture.run(script);
        let seen = mark.changed();
        assert_eq!(seen.git, script.contains("commit"), "{script}");
        let names: Vec<_> = seen
            .paths
            .iter()
            .map(|path| path.strip_prefix(fixture.root()).expect("below").display().to_string())
            .collect();
        assert_eq!(
            (seen.state, names.join(" ").as_str()),
            (ReceiptCompleteness::Known, changed),
            "{script}: {:?}",
            seen.why
        );
    }
}

#[test]
fn a_file_that_was_rewritten_with_the_same_size_is_not_certain() {
    let fixture = WatchedTreeFixture::new(
        "git init -q; echo cache >.gitignore; mkdir cache; echo 1 >a; echo 1 >b; echo 1 >cache/a; echo 1 >cache/b",
    );
    for (script, state, is_certain) in [
        ("true", ReceiptCompleteness::Known, false),
        ("echo 2 >a", ReceiptCompleteness::Partial, false),
        ("echo 2 >a; echo 22 >b", ReceiptCompleteness::Partial, true),
        ("echo 333 >b", ReceiptCompleteness::Known, true),
        ("echo 2 >cache/a; mv cache/b cache/c", ReceiptCompleteness::Known, false),
        ("mv cache/c d", ReceiptCompleteness::Known, true),
    ] {
        let mark = fixture.watch.mark(&fixture.root());
        fixture.run(script);
        let changed = mark.changed();
        assert_eq!((changed.state, changed.is_certain), (state, is_certain), "{script}");
    }
}

#[test]
fn a_mark_sees_all_changes_since() {
    let fixture = WatchedTreeFixture::new("echo 1 >a");
    let first = fixture.watch.mark(&fixture.root());
    fixture.run("echo 22 >a");
    let second = fixture.watch.mark(&fixture.root());
    fixture.run("echo 1 >b");
    let count = |mark: &crate::watch::TreeMark| mark.changed().paths.len();
    assert_eq!((count(&first), count(&second), count(&first)), (2, 1, 2));
    drop(first);
    assert_eq!(count(&second), 1);
    fixture.run("echo 333 >a");
    assert_eq!(count(&second), 2);
}

#[test]
fn a_tree_that_is_not_watched_is_unknown() {
    let fixture = WatchedTreeFixture::new("true");
    let mark = fixture.watch.mark(&fixture.root().join("none"));
    let changed = mark.changed();
    assert!(changed.state == ReceiptCompleteness::Unknown && changed.why.is_some() && changed.paths.is_empty());
    let mark = fixture.watch.mark(&fixture.root());
    fixture.run("cd ..; mv tree gone; mkdir tree");
    assert_eq!(mark.changed().state, ReceiptCompleteness::Unknown);
}

#[test]
fn a_tree_is_touched_by_whatever_may_have_changed() {
    let fixture = WatchedTreeFixture::new(
        "git init -q -b main; printf '/out/\n/big/\n' >.gitignore; mkdir -p out big/deep; echo 1 >out/a; echo 1 >a; \
         touch big/{1..1200} big/deep/a; \
         touch -d 2020-01-01 a .gitignore; git add .; git commit -qm one; echo 1 >b; git branch other",
    );
    for (script, touched) in [
        ("cat a b out/a big/1 >/dev/null; ls -lR", false),
        ("test -e c || true", false),
        ("git log", false),
        ("git diff", false),
        ("git status", false),
        ("echo 2 >big/deep/a", false),
        ("echo 2 >a", true),
        ("echo 1 >a", true),
        ("touch a", true),
        ("touch -d 2001-01-01 a", true),
        ("chmod u+x a; chmod u-x a", true),
        ("echo 1 >c; rm c", true),
        ("echo 2 >out/a", true),
        ("touch big/new", true),
        ("git commit -q --allow-empty -m two", true),
        ("git branch third", true),
        ("git add b", true),
        ("git stash -q; git stash pop -q", true),
        ("git config user.name x", true),
        ("echo '*.md' >>.git/info/exclude", true),
    ] {
        let mark = fixture.watch.mark(&fixture.root());
        fixture.run(script);
        assert_eq!(mark.touched_reason().is_some(), touched, "{script}: {:?}", mark.touched_reason());
        let is_written = touched && !script.contains("git") && !script.contains("out/") && !script.contains("big/");
        assert_eq!(mark.written_reason().is_some(), is_written || script.contains("stash"), "{script}");
    }
    let gone = fixture.watch.mark(&fixture.root().join("none"));
    assert!(gone.touched_reason().is_some());
}
