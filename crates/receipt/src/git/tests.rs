use std::fs;
use std::path::Path;
use std::process::Command;

use super::{GitRepository, RepositorySnapshot, compare};
use crate::{GitState, RepositoryChange};

fn run(directory: &Path, script: &str) {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-ec", script]).current_dir(directory).env("HOME", directory).env("GIT_CONFIG_NOSYSTEM", "1");
    let names = ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];
    bash.envs(names.map(|name| (name, "nobody"))).env("GIT_EDITOR", "true");
    let output = bash.output().expect("bash");
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
}

fn read(top: &Path) -> Option<RepositorySnapshot> {
    Some(RepositorySnapshot::read(&GitRepository::open(top)?, None))
}

fn git(directory: &Path, words: &str) -> Option<String> {
    let output = Command::new("git").args(words.split(' ')).current_dir(directory).output().expect("git");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs a script, and compares the change with the answers of git.
fn change(top: &Path, script: &str) -> Option<RepositoryChange> {
    let before = read(top);
    let head = git(top, "rev-parse -q --verify HEAD");
    run(top, script);
    let after = read(top);
    let change = compare(top, before.as_ref(), after.as_ref(), false).map(|compared| compared.change);
    if let Some(change) = &change {
        assert_eq!(change.head, [head, git(top, "rev-parse -q --verify HEAD")], "{script}");
        assert_eq!(change.branch[1], git(top, "symbolic-ref -q --short HEAD"), "{script}");
    }
    change
}

/// Returns a change as text.
fn shown(change: Option<RepositoryChange>) -> String {
    let Some(change) = change else { return "-".into() };
    let branch = |branch: &Option<String>| branch.clone().unwrap_or_else(|| "none".into());
    let mut words = vec!["git".to_owned()];
    if change.head[0] != change.head[1] {
        words.push("head".into());
    }
    if change.branch[0] != change.branch[1] {
        words.push(format!("{}→{}", branch(&change.branch[0]), branch(&change.branch[1])));
    }
    words.extend(change.index.then(|| "index".into()));
    words.extend(change.stash.then(|| "stash".into()));
    words.extend(change.state.map(|state| GitState::name(state).into()));
    words.join(" ")
}

const SETUP: &str =
    "git init -q -b main; echo 1 >a; echo 2 >b; git add .; git commit -qm one; echo 3 >a; git commit -qam two";

fn steps(top: &Path, steps: &[(&str, &str)]) {
    for (script, expected) in steps {
        assert_eq!(shown(change(top, script)), *expected, "{script}");
    }
}

#[test]
fn what_commands_change() {
    let directory = tempfile::tempdir().expect("a directory");
    let top = directory.path();
    steps(
        top,
        &[
            ("true", "-"),
            ("git init -q -b main", "git none→main"),
            ("echo 1 >a; echo 2 >b; git add .", "git index"),
            ("git commit -qm one", "git head"),
            ("git status; git log; git diff", "-"),
            ("touch a; git update-index --refresh", "-"),
            ("echo 3 >a; git commit -qam two", "git head index"),
            ("git checkout -qb topic", "git main→topic"),
            ("git checkout -q --detach", "git topic→none"),
            ("git checkout -q main", "git none→main"),
            ("git branch other", "git"),
            ("git tag v1", "git"),
            ("git pack-refs --all", "git"),
            ("git branch -D other", "git"),
            ("git config user.name somebody", "git"),
            ("echo 4 >a; git stash -q", "git stash"),
            ("echo 5 >b; git stash -q", "git stash"),
            ("git stash drop -q stash@{1}", "git stash"),
            ("git stash pop -q", "git stash"),
            ("git add b; git reset -q", "git"),
            ("git reset -q --hard HEAD~1", "git head index"),
            ("git update-index --assume-unchanged a", "git index"),
            ("git update-index --no-assume-unchanged a; git update-index --index-version 4", "git index"),
            ("echo 6 >c; git add c", "git index"),
            ("mkdir -p x/y; echo 7 >x/y/z; git add -N x", "git index"),
            ("git update-index --index-version 2", "-"),
            ("git commit -qm three; git checkout -q -b a/b/c", "git head main→a/b/c"),
            ("rm -rf .git", "git head a/b/c→none index"),
        ],
    );
}

#[test]
fn what_is_under_way() {
    let directory = tempfile::tempdir().expect("a directory");
    let top = directory.path();
    run(top, SETUP);
    run(top, "git checkout -qb topic HEAD~1; echo x >a; git commit -qam x; echo y >a; git commit -qam y");
    steps(
        top,
        &[
            ("git merge main || true", "git index merge"),
            ("git merge --abort", "git index"),
            ("git rebase main || true", "git head topic→none index rebase"),
            ("git rebase --abort", "git head none→topic index"),
            ("git checkout -q main; git cherry-pick topic~1 topic || true", "git head topic→main index cherry-pick"),
            ("git checkout -q --ours a; git add a; git commit -q --allow-empty -m z", "git head index cherry-pick"),
            ("git cherry-pick --abort || git cherry-pick --quit; git reset -q --hard v 2>/dev/null || true", "git"),
            ("git checkout -qf topic; git revert --no-edit topic~1 || true", "git head main→topic index revert"),
            ("git revert --abort", "git index"),
            ("git bisect start HEAD HEAD~2", "git head topic→none index bisect"),
            ("git bisect reset", "git head none→topic index"),
        ],
    );
}

#[test]
fn work_trees_and_submodules() {
    let directory = tempfile::tempdir().expect("a directory");
    let main = directory.path().join("main");
    fs::create_dir(&main).expect("a directory");
    run(&main, SETUP);
    assert_eq!(shown(change(&main, "git worktree add -q ../linked -b linked")), "git");
    let linked = directory.path().join("linked");
    steps(
        &linked,
        &[
            ("git status", "-"),
            ("echo 1 >n; git add n", "git index"),
            ("git commit -qm n", "git head"),
            ("git checkout -q --detach", "git linked→none"),
            ("git -C ../main tag from-elsewhere", "git"),
            ("echo 9 >../main/only; git -C ../main add only", "-"),
        ],
    );
    let outer = directory.path().join("outer");
    fs::create_dir(&outer).expect("a directory");
    run(&outer, "git init -q; git -c protocol.file.allow=always submodule --quiet add ../main sub; git commit -qm sub");
    let inner = outer.join("sub");
    assert_eq!(shown(change(&inner, "echo 1 >n; git add n; git commit -qm n")), "git head index");
    assert_eq!(shown(change(&outer, "git add sub")), "git index");
}

#[test]
fn forms_of_repositories() {
    let directory = tempfile::tempdir().expect("a directory");
    let long = directory.path().join("long");
    fs::create_dir(&long).expect("a directory");
    run(&long, "git init -q -b main --object-format=sha256");
    steps(&long, &[("echo 1 >a; git add a", "git index"), ("git commit -qm one", "git head"), ("git status", "-")]);
    let split = directory.path().join("split");
    fs::create_dir(&split).expect("a directory");
    run(&split, SETUP);
    let before = read(&split);
    run(&split, "git update-index --split-index; echo 1 >n; git add n");
    let compared = compare(&split, before.as_ref(), read(&split).as_ref(), false).expect("a change");
    assert!(compared.doubt.is_some_and(|doubt| doubt.contains("split")));
    // Not every git can create one.
    let tables = directory.path().join("tables");
    fs::create_dir(&tables).expect("a directory");
    run(&tables, "git init -q -b main --ref-format=reftable || git init -q -b main");
    let before = read(&tables);
    run(&tables, "echo 1 >a; git add a; git commit -qm one");
    let compared = compare(&tables, before.as_ref(), read(&tables).as_ref(), false).expect("a change");
    assert_eq!(compared.unknown.is_some(), tables.join(".git/reftable").exists());
}

#[test]
fn files_that_would_hold_a_reader_up_are_not_read() {
    let directory = tempfile::tempdir().expect("a directory");
    let top = directory.path();
    run(top, SETUP);
    let whole = read(top);
    let script = |name: &str, script: &str| run(top, &format!("cd .git; rm -f {name}; {script}"));
    for make in ["mkfifo index", "ln -s /dev/zero index", "truncate -s 1T index"] {
        script("index", make);
        let compared = compare(top, whole.as_ref(), read(top).as_ref(), false).expect("changed");
        assert!(
            compared.change.index && compared.doubt.is_some_and(|doubt| doubt.contains("cannot be read")),
            "{make}"
        );
    }
    script("index", "git -C .. reset -q");
    for make in ["mkfifo packed-refs", "ln -s /dev/zero packed-refs", "truncate -s 1T packed-refs"] {
        script("packed-refs", make);
        assert!(compare(top, whole.as_ref(), read(top).as_ref(), false).expect("changed").unknown.is_some(), "{make}");
    }
}
