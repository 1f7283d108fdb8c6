//! Git directories outside of the write roots, in worlds.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::git::GitDirectoryGrants;
use super::super::testing::{WorldTestScene, end, isolated, run_in, users};
use super::check;
use confine_policy::{ConfinementPolicy, GitScope, TmpPlacement};

/// Makes what a script says in the directory of a scene: `root`, a write root, is there, and `outside`. The functions
/// make repositories.
fn prepare(scene: &WorldTestScene, script: &str) {
    const START: &str = r#"
        set -eu
        export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1
        git() { command git -c user.name=n -c user.email=e@example.org -c protocol.file.allow=always "$@"; }
        repository() { git init -q -b main "$1"; echo a > "$1/a"; git -C "$1" add a; git -C "$1" commit -qm one; }
        fresh() { rmdir root; }
    "#;
    let base = scene.root.parent().expect("a directory");
    let mut shell = Command::new("bash");
    shell.args(["-c", &format!("{START}\n{script}")]).current_dir(base);
    if let Some(user) = scene.user {
        std::os::unix::process::CommandExt::uid(&mut shell, user);
    }
    let done = shell.output().expect("bash");
    assert!(done.status.success(), "{script}: {}", String::from_utf8_lossy(&done.stderr));
}

/// An ordinary day with git.
const DAY: &str = "
    set -e
    export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_EDITOR=true
    git() { command git -c user.name=n -c user.email=e@example.org -c protocol.file.allow=always \"$@\"; }
    git status --short && git switch -qc day
    echo one > f && git add f && git commit -qm one
    echo two > f && git stash -q && git stash pop -q && git commit -qam two
    git switch -qc side HEAD~1 && echo three > g && git add g && git commit -qm three
    git rebase -q day && git switch -q day && git merge -q side && git reset -q --soft HEAD~1 && git commit -qm again
    git tag v1 && git branch -D side && git notes add -m x && git log --oneline >/dev/null && git fsck --no-dangling
    git worktree add -q ./more HEAD~1 && (cd more && echo x > x && git add x && git commit -qm more)
    git fetch -q . day:fetched && git reflog expire --expire=now --all && git gc -q --prune=now
";

/// Name, what makes it, the write root, and the directory that is granted.
const LAYOUTS: [(&str, &str, &str, &str); 12] = [
    ("linked", "fresh; repository main; git -C main worktree add -q ../root", "root", "main/.git"),
    (
        "linked, below its top",
        "fresh; repository main; git -C main worktree add -q ../root; mkdir root/sub",
        "root/sub",
        "main/.git",
    ),
    (
        "linked to a bare repository",
        "fresh; repository main; git clone -q --bare main bare.git;
            git -C bare.git worktree add -q ../root",
        "root",
        "bare.git",
    ),
    (
        "linked by relative paths",
        "fresh; repository main; git -C main worktree add -q ../root;
            echo 'gitdir: ../main/.git/worktrees/root' > root/.git;
            echo '../../../../root/.git' > main/.git/worktrees/root/gitdir",
        "root",
        "main/.git",
    ),
    (
        "linked, with odd names",
        "fresh; mkdir 'a b'; repository 'a b/é;c'; git -C 'a b/é;c' worktree add -q ../../root",
        "root",
        "a b/é;c/.git",
    ),
    (
        "linked, named through a link",
        "fresh; repository main; git -C main worktree add -q ../root; ln -s . there;
            echo \"gitdir: $PWD/there/main/.git/worktrees/root\" > root/.git",
        "root",
        "main/.git",
    ),
    ("below a plain repository", "repository .; mkdir root/sub", "root/sub", ".git"),
    (
        "submodule",
        "fresh; repository source; repository main; cd main; git submodule --quiet add ../source sub;
            git commit -qm sub; ln -s main/sub ../root",
        "main/sub",
        "main/.git/modules/sub",
    ),
    (
        "submodule with a name of its own",
        "repository source; repository main; cd main;
            git submodule --quiet add --name a/b ../source sub",
        "main/sub",
        "main/.git/modules/a/b",
    ),
    (
        "submodule of a submodule",
        "repository inner; repository source; (cd source;
            git submodule --quiet add ../inner in; git commit -qm in); repository main; cd main;
            git submodule --quiet add ../source sub; git submodule --quiet update --init --recursive",
        "main/sub/in",
        "main/.git/modules/sub/modules/in",
    ),
    (
        "submodule of a linked work tree",
        "repository source; repository main; cd main;
            git submodule --quiet add ../source sub; git commit -qm sub; git worktree add -q ../tree; cd ../tree;
            git submodule --quiet update --init",
        "tree/sub",
        "main/.git/worktrees/tree/modules/sub",
    ),
    (
        "linked to a submodule",
        "fresh; repository source; repository main; cd main;
            git submodule --quiet add ../source sub; git -C sub worktree add -q ../../root",
        "root",
        "main/.git/modules/sub",
    ),
];

#[test]
fn a_day_of_git_works_in_every_layout_and_writes_nothing_else() {
    for (name, script, root, granted) in LAYOUTS {
        for user in users() {
            let scene = WorldTestScene::new(user);
            prepare(&scene, script);
            let base = scene.root.parent().expect("a directory").to_owned();
            let root = base.join(root).canonicalize().expect("a path");
            // A private /tmp would hide the work tree above the root.
            let policy = ConfinementPolicy {
                write: vec![root.clone()],
                root: root.clone(),
                tmp: TmpPlacement::Shared,
                ..scene.policy()
            };
            let before = outside(&base, &[&root, &base.join(granted)]);
            let (output, code, write) = isolated(user, || {
                let world = scene.world(&policy);
                let (output, code) = run_in(&world, &root, DAY);
                // A later command finds everything in its place.
                let (again, code_again) = run_in(&world, &root, "git status --short && git log -1 --format=%s");
                let write = world.facts.write.clone();
                end(world);
                (output + &again, code.max(code_again), write)
            });
            assert_eq!(code, 0, "{name}, user {user:?}: {output}");
            assert!(output.ends_with("again\n"), "{name}: {output}");
            let mut expected = vec![root.clone(), base.join(granted).canonicalize().expect("a path")];
            expected.sort();
            assert_eq!(write, expected, "{name}");
            assert_eq!(outside(&base, &[&root, &base.join(granted)]), before, "{name}");
        }
    }
}

/// Returns all files below a directory with their contents, without the directories of `but` and those of worlds.
fn outside(base: &Path, but: &[&Path]) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut left = vec![base.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).expect("a directory").flatten() {
            let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
            if but.contains(&path.as_path()) || path == base.join("state") {
                continue;
            }
            if kind.is_dir() {
                left.push(path);
            } else if kind.is_file() {
                let content = fs::read(&path).expect("read");
                found.push((path, content));
            }
        }
    }
    found.sort();
    found
}

/// What an earlier command or an archive has made, the write root, and the reason in the note.
const HOSTILE: [(&str, &str, &str); 33] = [
        ("echo \"gitdir: $V/.git\" > root/.git", "root", "core.worktree that leads back"),
        ("echo \"gitdir: $V/.git/worktrees/tree\" > root/.git", "root", "leads to another work tree"),
        ("ln tree/.git root/.git", "root", "leads to another work tree"),
        ("ln -s ../tree/.git root/.git", "root", "neither a directory nor a file"),
        ("ln -s ../victim/.git root/.git", "root", "neither a directory nor a file"),
        ("mkfifo root/.git", "root", "neither a directory nor a file"),
        ("{ echo \"gitdir: $V/.git/worktrees/tree\"; head -c 70000 /dev/zero | tr '\\0' '\\n'; } > root/.git", "root",
            "no file that git can read"),
        ("echo \"gitdir: $V/.git/modules/sub\" > root/.git", "root", "core.worktree is another directory"),
        ("ln victim/sub/.git root/.git; echo \"gitdir: $V/.git/modules/sub\" > root/.git", "root", "another directory"),
        ("echo 'gitdir: /' > root/.git", "root", "no config that leads back"),
        ("echo 'gitdir: ../../../../../../../../../../etc' > root/.git", "root", "no config that leads back"),
        ("echo 'gitdir: ../outside/none' > root/.git", "root", "no directory"),
        ("echo \"$V/.git/worktrees/tree\" > root/.git", "root", "does not begin with gitdir"),
        (": > root/.git", "root", "does not begin with gitdir"),
        ("printf 'gitdir: %s\\0x' \"$V/.git/worktrees/tree\" > root/.git", "root", "does not begin with gitdir"),
        ("printf 'gitdir: %s\\nx' \"$V/.git/worktrees/tree\" > root/.git", "root", "no directory"),
        // The git directory lies in the write root, and its `commondir` leads out.
        ("mkdir root/g; echo \"gitdir: g\" > root/.git; echo \"$R/.git\" > root/g/gitdir; echo \"$V/.git\" > root/g/commondir;
            echo 'ref: refs/heads/main' > root/g/HEAD", "root", "worktrees of a repository"),
        ("mkdir -p root/f/worktrees/g; cd root/f/worktrees/g; echo \"gitdir: f/worktrees/g\" > $R/.git; echo \"$R/.git\" > gitdir;
            echo \"$V/.git\" > commondir; echo 'ref: refs/heads/main' > HEAD", "root", "leads to another repository"),
        ("mkdir root/f; ln -s $V/.git/worktrees root/f/worktrees; echo 'gitdir: f/worktrees/tree' > root/.git", "root",
            "another work tree"),
        ("ln -s $V/.git root/f; echo 'gitdir: f/worktrees/tree' > root/.git", "root", "another work tree"),
        ("mkdir root/g; echo 'gitdir: g' > root/.git; ln -s $T/.git root/g/gitdir; echo \"$V/.git\" > root/g/commondir",
            "root", "no gitdir that leads back"),
        ("mkdir root/g; echo 'gitdir: g' > root/.git; mkfifo root/g/gitdir", "root", "no gitdir that leads back"),
        ("mkdir root/g; echo 'gitdir: g' > root/.git; head -c 70000 /dev/zero > root/g/gitdir", "root",
            "no gitdir that leads back"),
        // As an archive in a shared directory may have it.
        ("ln -s victim/.git .git", "root", "neither a directory nor a file"),
        ("echo \"gitdir: $V/.git/worktrees/tree\" > .git", "root", "another work tree"),
        ("repository .; echo victim/.git > .git/commondir", "root", "commondir leads to another repository"),
        ("git init -q --separate-git-dir outside/g root", "root", "no gitdir and no core.worktree"),
        ("mkdir outside/g; echo 'gitdir: ../outside/g' > root/.git; printf '[core]\\nworktree = ../../root\\n' > outside/g/config",
            "root", "HEAD, objects and refs"),
        ("mkdir outside/g; echo 'gitdir: ../outside/g' > root/.git; printf '[include]\\npath = x\\n' > outside/g/config;
            printf '[core]\\nworktree = ../../root\\n' > outside/g/x", "root", "no core.worktree that leads back"),
        ("mkdir outside/objects outside/refs; echo x > outside/HEAD; mkdir outside/in", "outside/in", "bare repository"),
        ("cp -r tree root/t; sed -i 's/^/ /' root/t/.git", "root/t", "does not begin with gitdir"),
        ("cp -r tree root/t", "root/t", "another work tree"),
        ("mv tree root/t", "root/t", "another work tree"),
];

#[test]
fn hostile_layouts_are_granted_nothing_and_a_note_says_why() {
    // The write root is `root`. The repository `victim` has the linked work tree `tree` and the submodule `sub`.
    const VICTIM: &str = "repository source; repository victim; cd victim; git submodule --quiet add ../source sub;
        git commit -qm sub; git worktree add -q ../tree; cd ..; V=$PWD/victim; R=$PWD/root; T=$PWD/tree\n";
    let scene = WorldTestScene::new(None);
    let base = scene.root.parent().expect("a directory").to_owned();
    for (number, (script, root, why)) in HOSTILE.into_iter().enumerate() {
        let scene = WorldTestScene::below(&base, None);
        prepare(&scene, &format!("{VICTIM}{script}"));
        let root = scene.root.parent().expect("a directory").join(root);
        let policy = ConfinementPolicy { write: vec![root.clone()], root, ..scene.policy() };
        let found = GitDirectoryGrants::of(&policy, &scene.state);
        assert_eq!(found.paths().count(), 0, "{number}: {script}: {:?}", found.paths().collect::<Vec<_>>());
        assert!(found.notes.iter().any(|note| note.contains(why)), "{number}: {script}: {:?}", found.notes);
    }
}

#[test]
fn what_is_hidden_a_home_or_of_another_user_is_granted_to_nobody() {
    let scene = WorldTestScene::new(None);
    let base = scene.root.parent().expect("a directory").to_owned();
    prepare(&scene, "fresh; repository main; git -C main worktree add -q ../root; mkdir root/sub main/sub");
    let plain = ConfinementPolicy { write: vec![scene.root.clone()], ..scene.policy() };
    let (git, top) = (base.join("main/.git"), base.join("main"));
    let granted = |policy: &ConfinementPolicy| {
        let found = GitDirectoryGrants::of(policy, &scene.state);
        (found.paths().map(Path::to_owned).collect::<Vec<_>>(), found.notes.join("; "))
    };
    assert_eq!(granted(&plain), (vec![git.clone()], String::new()));
    for (policy, why) in [
        (ConfinementPolicy { hide: vec![git.join("objects")], ..plain.clone() }, "objects is hidden"),
        (ConfinementPolicy { hide: vec![top.clone()], ..plain.clone() }, "main is hidden"),
        (ConfinementPolicy { protect: vec![git.clone()], ..plain.clone() }, "is protected"),
        (
            ConfinementPolicy { git: GitScope::Repository { homes: vec![git.join("refs")] }, ..plain.clone() },
            "it contains",
        ),
        (ConfinementPolicy { git: GitScope::None, ..plain.clone() }, ""),
        (ConfinementPolicy { profile: confine_policy::PolicyProfile::ReadOnly, ..plain.clone() }, ""),
    ] {
        let (paths, notes) = granted(&policy);
        assert!(paths.is_empty(), "{paths:?}");
        assert!(if why.is_empty() { notes.is_empty() } else { notes.contains(why) }, "{notes}");
    }
    // A repository in the home counts in the home alone.
    let at = |write: PathBuf| {
        granted(&ConfinementPolicy {
            write: vec![write],
            git: GitScope::Repository { homes: vec![top.clone()] },
            ..plain.clone()
        })
    };
    assert_eq!(at(top.join("sub")), (Vec::new(), String::new()));
    assert_eq!(at(scene.root.clone()), (vec![git.clone()], String::new()));
    if users().len() > 1 {
        std::os::unix::fs::chown(&git, Some(65534), None).expect("given away");
        let (paths, notes) = granted(&plain);
        assert!(paths.is_empty() && notes.contains("another user"), "{notes}");
    }
}

/// Attempts in the shared git directory, and whether they succeed.
const IN_GIT: [(&str, bool); 26] = [
    ("echo a > hooks/pre-commit", false),
    ("echo a >> config", false),
    ("mv config c", false),
    ("perl -e 'rename \"hooks\", \"h\" or exit 1'", false),
    ("echo a > HEAD", false),
    ("echo a > x && mv x HEAD", false),
    ("rm -f HEAD", false),
    ("echo a >> index", false),
    ("echo a > HEAD.lock && rm HEAD.lock", true),
    ("echo a > worktrees/other/HEAD", false),
    ("echo a > worktrees/other/gitdir", false),
    ("echo a > worktrees/other/commondir", false),
    ("echo a > worktrees/other/index.lock && rm worktrees/other/index.lock", true),
    ("perl -e 'rename \"worktrees/other\", \"worktrees/o\" or exit 1'", false),
    ("perl -e 'rename \"worktrees\", \"w\" or exit 1'", false),
    ("rm -rf worktrees/other", false),
    ("echo a > worktrees/root/gitdir", false),
    ("echo a > worktrees/root/commondir", false),
    ("perl -e 'rename \"worktrees/root\", \"worktrees/r\" or exit 1'", false),
    ("touch worktrees/root/index", true),
    ("echo a > modules/sub/hooks/x", false),
    ("echo a >> modules/sub/config", false),
    ("echo a > worktrees/root/modules/sub/hooks/x", false),
    ("echo a >> worktrees/root/modules/sub/config", false),
    ("ln -s /etc/hostname x && echo a >> x", false),
    ("git worktree list >/dev/null && git branch more && git pack-refs --all && git gc -q", true),
];

#[test]
fn hooks_configuration_and_other_work_trees_are_protected_in_a_granted_repository() {
    for user in users() {
        let scene = WorldTestScene::new(user);
        prepare(
            &scene,
            "fresh; repository source; repository main; cd main; git submodule --quiet add ../source sub;
             git commit -qm sub; git worktree add -q ../root; git worktree add -q ../other;
             rm -f .git/worktrees/other/index; echo ../../../../other/.git > .git/worktrees/other/gitdir; cd ../root; git submodule --quiet update --init",
        );
        let base = scene.root.parent().expect("a directory").to_owned();
        let policy = ConfinementPolicy { write: vec![scene.root.clone()], ..scene.policy() };
        let git = base.join("main/.git");
        let in_git = |line: &str| format!("cd {} && {line}", git.display());
        let lines: Vec<(String, bool)> = IN_GIT
            .into_iter()
            .map(|(line, works)| (in_git(line), works))
            .chain([
                ("echo a > .git".to_owned(), false),
                ("echo a > sub/.git".to_owned(), false),
                (
                    "(cd sub && echo a > f && git add f && git -c user.name=n -c user.email=e commit -qm m)".to_owned(),
                    true,
                ),
                ("git worktree add -q new && cd new && git switch -qc n && git status --short".to_owned(), true),
            ])
            .collect();
        let lines: Vec<(&str, bool)> = lines.iter().map(|(line, works)| (line.as_str(), *works)).collect();
        check(&scene, &policy, &lines);
        let guards = isolated(user, || {
            let world = scene.world(&policy);
            world.refresh().expect("refreshed");
            let guards = world.name_guards();
            end(world);
            guards
        });
        let is_guarded = |name: &str| {
            let (directory, name) = name.rsplit_once('/').unwrap_or((".", name));
            let data = fs::metadata(git.join(directory)).expect("a directory");
            guards.forbids_name((data.dev(), data.ino()), name.as_ref())
        };
        for name in ["config.worktree", "commondir", "worktrees/other/index", "worktrees/root/config.worktree"] {
            assert!(is_guarded(name), "{name}: {guards:?}");
        }
        for name in [".vscode", "index.lock", "worktrees/root/MERGE_HEAD"] {
            assert!(!is_guarded(name), "{name}");
        }
    }
}

#[test]
fn a_living_world_is_neither_widened_nor_moved() {
    let scene = WorldTestScene::new(None);
    prepare(
        &scene,
        "fresh; repository main; repository victim; git -C main worktree add -q ../root; git -C victim worktree add -q ../v",
    );
    let base = scene.root.parent().expect("a directory").to_owned();
    let policy = ConfinementPolicy { write: vec![scene.root.clone()], ..scene.policy() };
    let (script, outputs) = isolated(None, || {
        let world = scene.world(&policy);
        let script = format!("(echo a > {}/victim/.git/x) 2>/dev/null && echo widened; echo done", base.display());
        let mut outputs = vec![run_in(&world, &scene.root, &script).0];
        // The host moves the repository of another away, and what leads to it.
        fs::rename(base.join("v/.git"), scene.root.join(".git")).expect("replaced");
        fs::write(base.join("victim/.git/worktrees/v/gitdir"), format!("{}/root/.git", base.display()))
            .expect("written");
        outputs.push(run_in(&world, &scene.root, &script).0);
        fs::rename(base.join("main/.git"), base.join("main/moved")).expect("moved");
        std::os::unix::fs::symlink(base.join("victim/.git"), base.join("main/.git")).expect("linked");
        outputs.push(run_in(&world, &scene.root, &script).0);
        end(world);
        (script, outputs)
    });
    assert_eq!(outputs, ["done\n"; 3], "{script}");
    assert!(!base.join("victim/.git/x").exists());
}

#[test]
fn files_of_commands_in_a_granted_repository_hold_nothing_up() {
    let scene = WorldTestScene::new(None);
    prepare(&scene, "fresh; repository main; git -C main worktree add -q ../root");
    let policy = ConfinementPolicy { write: vec![scene.root.clone()], ..scene.policy() };
    let outputs = isolated(None, || {
        let world = scene.world(&policy);
        let script = "cd $(git rev-parse --git-common-dir)/worktrees && mkdir a b c && mkfifo a/gitdir &&
            head -c 100000 /dev/zero > b/gitdir && ln -s /dev/zero c/gitdir && echo made";
        let outputs = [run_in(&world, &scene.root, script).0, run_in(&world, &scene.root, "echo later").0];
        end(world);
        outputs
    });
    assert_eq!(outputs, ["made\n", "later\n"]);
}
