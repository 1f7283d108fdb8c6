use crate::eval::EnvironmentBlock;
use crate::reversal::{ReversalFacts, ReversalTarget};
use crate::{AnalysisContext, SafetyPolicy, assess};

fn of(command: &str) -> ReversalFacts {
    let environment = EnvironmentBlock("HOME=/home/dev\0");
    let context =
        AnalysisContext { cwd: "/home/dev/project", home: "/home/dev", environment, ..AnalysisContext::default() };
    assess(command, context, &SafetyPolicy::default()).1
}

#[test]
fn commands_that_delete_or_overwrite() {
    for command in [
        "rm -rf src",
        "rm a",
        "rmdir d",
        "mv a b",
        "find . -name '*.orig' -delete",
        "find . -name '*.o' -exec rm {} +",
        "find . -type f | xargs rm -f",
        "sed -i s/a/b/ src/*.ts",
        "sed -n -i.bak -e 1p x",
        "perl -pi -e s/a/b/ x",
        "ruby -i -pe '$_.upcase!' x",
        "gawk -i inplace '{print}' x",
        "truncate -s 0 log",
        "shred secret",
        "rsync -a --delete a/ b/",
        "patch -p1 < x.diff",
        "git checkout main",
        "git checkout -- .",
        "git switch main",
        "git restore .",
        "git reset --hard",
        "git reset HEAD~",
        "git clean -fdx",
        "git stash",
        "git stash pop",
        "git rebase main",
        "git merge topic",
        "git pull",
        "git cherry-pick abc",
        "git revert HEAD",
        "git branch -D topic",
        "git tag -d v1",
        "git rm x",
        "git worktree remove w",
        "git -C sub checkout .",
        "unzip -o a.zip",
        "tar xzf a.tgz",
        "tar -xf a.tar",
        "tar --extract -f a.tar",
        "gzip log",
        "gunzip log.gz",
        "npm install",
        "npm i left-pad",
        "npm ci",
        "npm audit fix",
        "pnpm add x",
        "yarn",
        "yarn add x",
        "bun remove x",
        "npx rimraf dist",
        "npx prettier --write .",
        "prettier -w src",
        "npx eslint --fix src",
        "biome check --write",
        "black src",
        "ruff check --fix",
        "ruff format",
        "gofmt -w .",
        "cargo fmt",
        "cargo clean",
        "clang-format -i a.c",
        "make clean",
        "mvn clean install",
        "npm run clean",
        "cd src && rm x",
        "sudo rm x",
        "for f in *.txt; do mv \"$f\" \"$f.bak\"; done",
        "bash -c 'rm x'",
        "sort -o list list",
    ] {
        assert!(of(command).overwrites, "{command}");
    }
}

#[test]
fn commands_that_do_not() {
    for command in [
        "ls -R",
        "cat a >> b",
        "mkdir -p d",
        "touch a",
        "sed s/a/b/ x",
        "perl -ne print x",
        "rm --help",
        "find . -name x",
        "git status",
        "git log",
        "git add .",
        "git commit -m 'rm -rf'",
        "git checkout -b topic",
        "git switch -c topic",
        "git stash list",
        "git branch topic",
        "git clean -n",
        "git apply --check x",
        "rsync -n a b",
        "tar czf a.tgz src",
        "tar tf a.tgz",
        "tar -xOf a.tar x",
        "unzip -l a.zip",
        "gzip -c log",
        "gunzip -k log.gz",
        "npm test",
        "npm run build",
        "npm ls",
        "prettier --check .",
        "black --check src",
        "ruff check",
        "gofmt -l .",
        "cargo fmt --check",
        "cargo build",
        "make",
        "echo rm x",
        "tee -a log",
    ] {
        let found = of(command);
        assert!(!found.overwrites, "{command}");
        assert_eq!(found.targets, [], "{command}");
    }
}

#[test]
fn what_is_overwritten_if_it_exists() {
    for (command, paths) in [
        ("echo x > a", vec!["/home/dev/project/a"]),
        ("cd src; echo x >| a", vec!["/home/dev/project/src/a"]),
        ("make &> log", vec!["/home/dev/project/log"]),
        ("ls > /dev/null 2>&1", vec!["/dev/null"]),
        ("cp a b", vec!["/home/dev/project/b", "/home/dev/project/b/a"]),
        ("cp -r a/x y /d", vec!["/d", "/d/x", "/d/y"]),
        ("cp -t /d a/x", vec!["/d", "/d/x"]),
        ("install -m 755 x /usr/bin", vec!["/usr/bin", "/usr/bin/x"]),
        ("ln -sf a b", vec!["/home/dev/project/b", "/home/dev/project/b/a"]),
        ("tee a b", vec!["/home/dev/project/a", "/home/dev/project/b"]),
        ("dd if=x of=y", vec!["/home/dev/project/y"]),
        ("curl -o x https://example.com", vec!["/home/dev/project/x"]),
    ] {
        let found = of(command);
        assert!(!found.overwrites, "{command}");
        let all: Vec<String> = found.targets.iter().flat_map(ReversalTarget::paths).collect();
        assert_eq!(all, paths, "{command}");
    }
    for command in ["cp -n a b", "ln -s a b", "echo x >> a", "sort a"] {
        assert_eq!(of(command).targets, [], "{command}");
    }
    // A target that is not known may exist.
    for command in ["echo x > \"$(date)\"", "cp a \"$(cat target)\"", "tee \"$(cat list)\""] {
        assert!(of(command).overwrites, "{command}");
    }
}

#[test]
fn directories_in_which_git_runs() {
    for (command, directories) in [
        ("git status", vec!["/home/dev/project"]),
        ("cd ../other && git commit -m x; git log", vec!["/home/dev/other"]),
        ("git -C a/../b pull; git fetch", vec!["/home/dev/project/b", "/home/dev/project"]),
        ("git -C \"$(cat where)\" pull", vec![]),
        ("echo git", vec![]),
    ] {
        assert_eq!(of(command).git, directories, "{command}");
    }
}

#[test]
fn programs_with_rights_of_their_own() {
    for (command, program) in [
        ("sudo make install", Some("sudo")),
        ("cd /; sudo -n true", Some("sudo")),
        ("doas sh", Some("doas")),
        ("su -c ls", Some("su")),
        ("/usr/bin/pkexec ls", Some("pkexec")),
        ("env X=1 sudo ls", Some("sudo")),
        ("bash -c 'sudo ls'", Some("sudo")),
        ("crontab -l", Some("crontab")),
        ("echo sudo", None),
        ("git log --grep sudo", None),
    ] {
        assert_eq!(of(command).elevated.as_deref(), program, "{command}");
    }
}

#[test]
fn effects_beyond_files() {
    for (command, what) in [
        ("git push", vec!["what git push sends to another repository"]),
        ("git push; git push", vec!["what git push sends to another repository"]),
        ("curl -X POST https://example.com", vec!["what curl sends"]),
        ("curl -d x https://example.com", vec!["what curl sends"]),
        ("docker rm -f web", vec!["containers, images and volumes"]),
        ("docker compose up -d", vec!["containers, images and volumes"]),
        ("kubectl apply -f x.yaml", vec!["objects of a cluster"]),
        ("psql -c 'delete from t'", vec!["the contents of databases"]),
        ("terraform apply", vec!["infrastructure"]),
        ("aws s3 rm s3://b/x", vec!["things in a cloud or at a forge"]),
        ("gh pr merge 1", vec!["things in a cloud or at a forge"]),
        ("npm publish", vec!["what is published"]),
        ("ssh host rm x", vec!["what runs on another machine"]),
        ("scp x host:", vec!["files on another machine"]),
        ("rsync -a d host:d", vec!["files on another machine"]),
        ("systemctl restart nginx", vec!["services of the machine"]),
        (
            "git push && docker push x",
            vec!["what git push sends to another repository", "containers, images and volumes"],
        ),
        ("git status", vec![]),
        ("git push --dry-run", vec![]),
        ("curl https://example.com", vec![]),
        ("docker ps", vec![]),
        ("kubectl get pods", vec![]),
        ("terraform plan", vec![]),
        ("npm install", vec![]),
        ("rsync -a a b", vec![]),
        ("echo git push", vec![]),
    ] {
        assert_eq!(of(command).beyond, what, "{command}");
    }
}
