use super::WatchedTreeFixture;
use crate::{ReceiptCompleteness, RepositoryChange};

fn shown(git: &[RepositoryChange], fixture: &WatchedTreeFixture) -> String {
    let one = |change: &RepositoryChange| {
        let name = change.repository.strip_prefix(fixture.root()).unwrap_or(&change.repository).display().to_string();
        let head = if change.head[0] == change.head[1] { "" } else { " head" };
        let index = if change.index { " index" } else { "" };
        let [before, after] = change.branch.clone().map(|branch| branch.unwrap_or_else(|| "none".into()));
        let branch = if before == after { String::new() } else { format!(" {before}→{after}") };
        format!("[{name}]{head}{index}{branch}")
    };
    git.iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn repositories_of_a_tree() {
    let fixture = WatchedTreeFixture::new("git init -q -b main; echo 1 >a; git add .; git commit -qm one; mkdir d");
    let table = [
        ("true", "", ""),
        ("git status", "", ""),
        ("echo 22 >a", "~a:2>3", ""),
        ("git commit -qam two", "", "[] head index"),
        ("git checkout -q HEAD~1", "~a:3>2", "[] head index main→none"),
        ("git checkout -qb topic/one", "", "[] none→topic/one"),
        ("git commit -q --allow-empty -m three", "", "[] head"),
        ("git branch x/y/z", "", "[]"),
        ("git branch -D x/y/z", "", "[]"),
        ("cd d; git init -q -b inner", "", "[d] none→inner"),
        ("cd d; echo 1 >n; git add n; git commit -qm n", "+d/n", "[d] head index"),
        ("mv d e", "d→e", ""),
        ("cd e; git commit -q --allow-empty -m m", "", "[e] head"),
        ("rm -rf e", "-e -e/n", "[e] head index inner→none"),
        ("git worktree add -q w", "+w +w/a", "[] [w] head index none→w"),
        ("cd w; git commit -q --allow-empty -m w", "", "[] [w] head"),
        ("cd w; echo 1 >b; git add b", "+w/b", "[w] index"),
    ];
    for (script, files, git) in table {
        let receipt = fixture.receipt(script);
        assert_eq!(fixture.shown(&receipt), files, "{script}: {:?}", receipt.why);
        assert_eq!(shown(&receipt.git, &fixture), git, "{script}");
    }
}

#[test]
fn a_linked_work_tree_is_followed_outside_of_the_tree() {
    let fixture = WatchedTreeFixture::new(
        "git init -q -b main $OUTSIDE/main; cd $OUTSIDE/main; echo 1 >a; git add .; git commit -qm one; \
         rmdir $OUTSIDE/tree; git worktree add -q $OUTSIDE/tree; mkdir $OUTSIDE/tree/d",
    );
    let receipt = fixture.receipt("git commit -q --allow-empty -m two");
    assert_eq!(shown(&receipt.git, &fixture), "[] head");
    assert_eq!(receipt.state, ReceiptCompleteness::Known);
    let receipt = fixture.receipt("git -C $OUTSIDE/main pack-refs --all");
    assert_eq!(shown(&receipt.git, &fixture), "[]");
    assert!(fixture.receipt("true").git.is_empty());
}
