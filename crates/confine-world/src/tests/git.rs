//! Repositories in worlds.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::super::testing::{WorldTestScene, end, isolated, run_in, users, users_and_watches};
use super::{check, give};

/// Runs `git` on the host.
pub fn git(directory: &Path, arguments: &[&str]) {
    let own = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "safe.directory=*"];
    let done =
        Command::new("git").args(own).args(arguments).current_dir(directory).env("HOME", "/nonexistent").output();
    let done = done.expect("git");
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

#[test]
fn protected_paths_are_read_only_and_cannot_be_moved_away() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        git(&scene.root, &["init", "-q", "."]);
        for name in [".vscode", "sub/deep"] {
            fs::create_dir_all(scene.root.join(name)).expect("made");
        }
        git(&scene.root.join("sub/deep"), &["init", "-q", "."]);
        fs::write(scene.root.join(".envrc"), "x").expect("written");
        symlink("/etc/hostname", scene.root.join(".npmrc")).expect("linked");
        give(&scene);
        check(
            &scene,
            &scene.policy(),
            &[
                ("echo a > .git/hooks/pre-commit", false),
                ("echo a >> .git/config", false),
                ("rm -f .git/config", false),
                ("mv .git/config .git/other", false),
                ("perl -e 'rename \".git\", \".other\" or exit 1'", false),
                ("rmdir .git/hooks", false),
                ("echo a > .envrc", false),
                ("echo a > x && mv x .envrc", false),
                ("rm -f .npmrc", false),
                ("touch .vscode/tasks.json", false),
                ("perl -e 'rename \".vscode\", \"v\" or exit 1'", false),
                ("perl -e 'rename \"sub\", \"s\" or exit 1'", false),
                ("perl -e 'rename \"sub/deep\", \"s\" or exit 1'", false),
                ("echo a >> sub/deep/.git/config", false),
                ("touch sub/deep/.git/hooks/x", false),
                ("echo a > f && git add f && git -c user.name=n -c user.email=e commit -qm m", true),
                ("git checkout -qb b && git stash list && git log --oneline", true),
                ("git init -q new && cd new && git config a.b c && echo a > .git/hooks/x", true),
                ("git clone -q . /tmp/clone && rm -r /tmp/clone", true),
                ("rm -rf .git", false),
                ("test -e .git/config && test -d .git/hooks", true),
            ],
        );
    }
}

#[test]
fn submodules_and_worktrees_are_protected_too() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        let (source, main) = (scene.root.join("source"), scene.root.join("main"));
        for path in [&source, &main] {
            fs::create_dir(path).expect("made");
            git(path, &["init", "-q", "."]);
            git(path, &["commit", "-q", "--allow-empty", "-m", "m"]);
        }
        let from = source.to_string_lossy();
        git(&main, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", "a/b", &from, "sub"]);
        git(&main, &["worktree", "add", "-q", "../tree"]);
        give(&scene);
        check(
            &scene,
            &scene.policy(),
            &[
                ("echo a >> main/.git/modules/a/b/config", false),
                ("touch main/.git/modules/a/b/hooks/x", false),
                ("perl -e 'rename \"main/.git/modules/a\", \"m\" or exit 1'", false),
                ("echo a > main/sub/.git", false),
                ("rm -f tree/.git", false),
                ("echo /tmp > main/.git/worktrees/tree/commondir", false),
                ("cd tree && echo a > f && git add f && git -c user.name=n -c user.email=e commit -qm m", true),
                ("cd main/sub && echo a > f && git add f && git -c user.name=n -c user.email=e commit -qm m", true),
            ],
        );
    }
}

#[test]
fn missing_names_are_guarded_and_repositories_of_the_host_are_protected_at_the_next_command() {
    for (user, watches) in users_and_watches() {
        let scene = WorldTestScene::new(user).with_watches(watches);
        let (first, second, output) = isolated(user, || {
            let world = scene.world(&scene.policy());
            run_in(&world, &scene.root, "true");
            let first: Vec<_> =
                world.name_guards().directories.iter().map(|one| (one.path.clone(), one.names.len())).collect();
            run_in(&world, &scene.root, "git init -q a/b && git -C a/b config x.y z && rm -f a/b/.git/hooks/*");
            fs::create_dir_all(scene.root.join("c/d/e")).expect("made");
            git(&scene.root.join("c/d/e"), &["init", "-q", "."]);
            fs::write(scene.root.join(".envrc"), "").expect("written");
            let script =
                "for f in a/b/.git/config c/d/e/.git/config .envrc; do (echo a >> $f) 2>/dev/null && echo $f; done";
            let (output, _) = run_in(&world, &scene.root, script);
            // git replaces the file.
            git(&scene.root.join("c/d/e"), &["config", "x.y", "z"]);
            let (again, _) = run_in(&world, &scene.root, script);
            let second: Vec<_> = world.name_guards().directories.iter().map(|one| one.path.clone()).collect();
            end(world);
            (first, second, output + &again)
        });
        assert_eq!(output, "");
        assert_eq!(first.len(), 1);
        assert_eq!(first[0].0, scene.root);
        for path in ["", "a/b", "a/b/.git", "c/d/e/.git"] {
            assert!(second.contains(&scene.root.join(path)) || path.is_empty(), "{path}: {second:?}");
        }
    }
}

#[test]
fn repositories_deep_in_a_large_tree_are_protected_too() {
    let scene = WorldTestScene::new(None);
    let deep = scene.root.join("node_modules/a/b/c");
    fs::create_dir_all(&deep).expect("made");
    git(&deep, &["init", "-q", "."]);
    for n in 0..1_500 {
        fs::create_dir(scene.root.join(format!("d{n}"))).expect("made");
    }
    let output = isolated(None, || {
        let world = scene.world(&scene.policy());
        let script = "(echo a >> node_modules/a/b/c/.git/config) 2>/dev/null || echo denied";
        // Each command waits for a part of the tree.
        let outputs: String = (0..5).map(|_| run_in(&world, &scene.root, script).0).collect();
        end(world);
        outputs
    });
    assert!(output.ends_with("denied\n"), "{output}");
}
