use crate::{AnalysisContext, EnvironmentBlock, ReadOnly, SafetyPolicy, analyze};

fn judged(command: &str, environment: &str) -> ReadOnly {
    let context = AnalysisContext {
        cwd: "/home/dev/project",
        home: "/home/dev",
        environment: EnvironmentBlock(environment),
        ..AnalysisContext::default()
    };
    analyze(command, context, &SafetyPolicy::default()).read_only
}

#[test]
fn what_only_reads() {
    for command in [
        "ls -la",
        "cat x | grep y | sort | uniq -c | head -5",
        "cat x > /dev/null 2>&1",
        "cd src && ls",
        "X=1; echo $X",
        "rg foo src",
        "find . -name '*.ts'",
        "find . -type f -exec grep -l x {} +",
        "find . -name \"$x\"",
        "sed -n '1,20p' x",
        "sed 's/a/b/g; /x/d' x",
        "sed -E -e 's|a|b|' -e '$!N' x",
        "awk '{print $1}' x",
        "awk -F: '$3 > 100 || /a|b/ { print \"a|b\" }' x",
        "jq .name package.json",
        "sort x",
        "timeout 5 ls",
        "bash -c 'ls | wc -l'",
        "bash -c 'ls' > /dev/null",
        "xargs grep x < list",
        "for f in *; do wc -l \"$f\"; done",
        "if [ -f x ]; then cat x; fi",
        "node --version",
        "git --version",
        "git -c core.fsmonitor=false --no-pager status",
        "git -c core.fsmonitor=false --no-pager log --no-ext-diff --no-textconv -3",
        "git -c core.fsmonitor=false --no-pager branch -a",
        "docker ps -a",
        "npm ls",
        "kubectl get pods",
        "tar tf x.tar",
        "tee /dev/null",
        "command -v node",
        "date +%s",
        "diff <(ls a) <(ls b)",
        "rm --help",
        "cat <<EOF\nrm -rf x\nEOF",
        "sudo cat x",
        "",
    ] {
        assert_eq!(judged(command, ""), ReadOnly::Yes, "{command}");
    }
}

#[test]
fn what_may_not() {
    for command in [
        "./cat x",
        "/bin/cat x",
        "git status",
        "git --no-pager status",
        "git -c core.fsmonitor=false --no-pager diff",
        "git -c core.fsmonitor=./x --no-pager status",
        "git -c core.fsmonitor=false -c core.sshCommand=x --no-pager status",
        "git -c core.fsmonitor=false --no-pager grep -Ovim x",
        "git -c core.fsmonitor=false --no-pager $(cat x)",
        "python3 x.py",
        "npm test",
        "make",
        "rg --pre cat x",
        "rg $(cat x) y",
        "sort $(cat x)",
        "find . $(cat x)",
        "fd x -x cat",
        "sed -f x y",
        "sed '1e date' x",
        "sed 's/a/b/e' x",
        "awk 'BEGIN { system(\"date\") }'",
        "awk '{ print | \"sh\" }' x",
        "awk '{ print $1 > \"out\" }' x",
        "LD_PRELOAD=x ls",
        "PATH=. ls",
        "PAGER=./x man ls",
        "less +!date x",
        "curl https://example.com",
        "ssh host ls",
        "git -c core.fsmonitor=false --no-pager frobnicate",
        "echo 'x",
    ] {
        assert!(judged(command, "") >= ReadOnly::Unknown, "{command}");
    }
}

#[test]
fn what_writes() {
    for command in [
        "rm x",
        "/bin/rm x",
        "ls && rm x",
        "echo x > file",
        "echo x >> \"$OUT\"",
        "mkdir -p x",
        "touch x",
        "mv a b",
        "cp a b",
        "tee out",
        "sed -i s/a/b/ x",
        "sed -I.bak s/a/b/ x",
        "sed -n 'w out' x",
        "sort -o out x",
        "sort --outp=out x",
        "uniq a b",
        "find . -name x -delete",
        "find . -exec rm {} +",
        "npm install",
        "npm i x",
        "pip install x",
        "git commit -m x",
        "git add x",
        "git -C sub push",
        "git branch -d x",
        "git tag -d x",
        "git stash",
        "git config set a.b c",
        "yq -i .a=1 x",
        "date -s now",
        "kill 1",
        "tar xf x.tar",
        "docker rm x",
        "kubectl delete pod x",
        "xargs rm < list",
        "bash -c 'touch x'",
    ] {
        assert_eq!(judged(command, ""), ReadOnly::No, "{command}");
    }
}

#[test]
fn the_host_may_pin_by_the_environment() {
    let environment = "GIT_PAGER=cat\0GIT_CONFIG_COUNT=1\0GIT_CONFIG_KEY_0=core.fsmonitor\0GIT_CONFIG_VALUE_0=false\0";
    assert_eq!(judged("git status", environment), ReadOnly::Yes);
    assert_eq!(judged("git diff --no-ext-diff --no-textconv", environment), ReadOnly::Yes);
    assert_eq!(judged("git diff", environment), ReadOnly::Unknown);
    assert_eq!(judged("git -c core.fsmonitor=./x status", environment), ReadOnly::Unknown);
    assert_eq!(judged("git status", "GIT_PAGER=cat\0"), ReadOnly::Unknown);
}
