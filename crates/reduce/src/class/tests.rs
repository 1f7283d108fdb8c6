//! Commands, and what their output consists of.

use super::output_profile;

#[test]
fn contents_and_differences_are_exact() {
    for command in [
        "cat src/a.ts",
        "cd x && cat a b | head -50",
        "sed -n '1,20p' a.rs",
        "head -n 20 a.rs",
        "tail -50 log.txt",
        "nl -ba a | sed -n '1,3p'",
        "git diff HEAD~1",
        "git -C x show HEAD:a",
        "git log -p -2",
        "git status --porcelain",
        "jq . package.json",
        "curl -s http://x | jq .",
        "npm ls --json",
        "kubectl get pods -o yaml",
        "for f in a b; do cat $f; done",
        "bash -c 'cat a'",
        "sudo -E timeout 5 cat /etc/hosts",
        "sudo -u postgres psql -c 'select 1'",
        "ssh -p 22 host cat /etc/os-release",
        "env -u A cat a",
        "if [ -f a ]; then cat a; fi",
        "show() { cat \"$1\"; }; show a",
        "grep -on x a",
        "npm test; cat report.txt",
        "awk 'NR>3' a.txt",
        "sort < a | cat b",
        "cat < run.py",
        "cd x && head -50 < run.py | cat",
        "cat <<< \"$text\"",
        "git diff --stat -p",
        "git log --stat -U3 -2",
        "git show --patch-with-stat",
    ] {
        assert!(output_profile(command).exact, "{command}");
    }
}

#[test]
fn what_tools_say_is_not_exact() {
    for command in [
        "npm test",
        "npm test 2>&1 | tail -20",
        "cargo build 2>&1 | grep -E 'error|warning' | head",
        "cat > a.txt <<'EOF'\nx\nEOF",
        "cat a > b",
        "git diff --stat",
        "grep x < a",
        "python3 - <<E\nprint(1)\nE",
        "npm test < a",
        "git log --oneline -5",
        "git status",
        "ls -la",
        "grep -rn x src | head -20",
        "find . -name '*.ts' | xargs wc -l",
        "sed -i s/a/b/ x",
        "cat a | grep x",
        "tail -f log",
        "python3 script.py",
        "./run.sh",
        "$CMD x",
        "",
        "echo 'unfinished",
    ] {
        assert!(!output_profile(command).exact, "{command}");
    }
}

#[test]
fn rows_of_searches_and_lists_are_told_from_the_rest() {
    for command in
        ["grep -rn x src", "rg x | head -5", "cd a && ls -la", "find . | sort", "git log --oneline", "echo a; ls"]
    {
        assert!(output_profile(command).rows, "{command}");
    }
    for command in ["npm test", "ls; npm test", "npm test | grep x", "make", "cat a"] {
        assert!(!output_profile(command).rows, "{command}");
    }
}

#[test]
fn programs_are_named_for_rules() {
    let programs = |command| output_profile(command).programs;
    assert_eq!(programs("cd a && go test ./... -v 2>&1 | tail -5"), ["go test -v"]);
    assert_eq!(programs("python -m pytest -q"), ["pytest -q"]);
    assert_eq!(programs("uv run pytest tests"), ["pytest tests"]);
    assert_eq!(programs("bash -c 'npm ci && npx tsc -p .'"), ["npm ci", "tsc -p ."]);
}
