use super::judged_command::{JudgedCommand, JudgedSimpleCommand, WritingRedirect};
use super::permission_decision::{PermissionDecision, PermissionRules, decide_judged};
use crate::corpus_tests::{CorpusLine, corpus};
use crate::verdict::SafetyVerdict;
use crate::{AnalysisContext, EnvironmentBlock, SafetyPolicy, analyze};

/// By the engine itself.
fn whole(command: &str, allow: Option<&[&str]>, ask: &[&str], deny: &[&str]) -> PermissionDecision {
    let environment = EnvironmentBlock("HOME=/home/dev\0PATH=/usr/bin:/bin\0");
    let context =
        AnalysisContext { cwd: "/home/dev/project", home: "/home/dev", environment, ..AnalysisContext::default() };
    let rules = PermissionRules::parse(allow, ask, deny).unwrap_or_default();
    super::decide(&analyze(command, context, &SafetyPolicy::default()), &rules)
}

fn unit(source: &str) -> JudgedSimpleCommand<'_> {
    JudgedSimpleCommand {
        source,
        argv: source.split(' ').map(|word| (word, true)).collect(),
        span: (0, source.len()),
        ..JudgedSimpleCommand::default()
    }
}

fn written<'a>(source: &'a str, path: Option<&'a str>) -> JudgedSimpleCommand<'a> {
    JudgedSimpleCommand { writes: vec![WritingRedirect { path, text: "\"$OUT\"" }], ..unit(source) }
}

fn behind<'a>(prefix: &[&'a str], source: &'a str) -> JudgedSimpleCommand<'a> {
    JudgedSimpleCommand { prefix: prefix.to_vec(), via: vec![prefix[0]], ..unit(source) }
}

fn decided(
    units: &[JudgedSimpleCommand],
    verdict: SafetyVerdict,
    allow: Option<&[&str]>,
    ask: &[&str],
    deny: &[&str],
) -> PermissionDecision {
    let judged = JudgedCommand { units, verdict, complete: true, first_cwd: "/w" };
    decide_judged(&judged, &PermissionRules::parse(allow, ask, deny).unwrap_or_default())
}

fn allowed(units: &[JudgedSimpleCommand], allow: &[&str]) -> bool {
    decided(units, SafetyVerdict::Allow, Some(allow), &[], &[]).verdict == SafetyVerdict::Allow
}

#[test]
fn the_strictest_wins() {
    let units = [unit("git status")];
    let all = |verdict, allow, ask, deny| decided(&units, verdict, allow, ask, deny).verdict;
    let status: Option<&[&str]> = Some(&["git status:*"]);
    assert_eq!(all(SafetyVerdict::Allow, None, &[], &[]), SafetyVerdict::Allow);
    assert_eq!(all(SafetyVerdict::Warn, None, &[], &[]), SafetyVerdict::Allow);
    assert_eq!(all(SafetyVerdict::Ask, None, &[], &[]), SafetyVerdict::Ask);
    assert_eq!(all(SafetyVerdict::Ask, status, &[], &[]), SafetyVerdict::Ask);
    assert_eq!(all(SafetyVerdict::Deny, status, &[], &[]), SafetyVerdict::Deny);
    assert_eq!(all(SafetyVerdict::Allow, status, &["git:*"], &[]), SafetyVerdict::Ask);
    assert_eq!(all(SafetyVerdict::Allow, status, &["git:*"], &["git status"]), SafetyVerdict::Deny);
    assert_eq!(all(SafetyVerdict::Allow, Some(&[]), &[], &[]), SafetyVerdict::Ask);
    let judged = JudgedCommand { units: &units, verdict: SafetyVerdict::Allow, complete: false, first_cwd: "/w" };
    let rules = PermissionRules::parse(status, &[], &[]).unwrap_or_default();
    assert_eq!(decide_judged(&judged, &rules).verdict, SafetyVerdict::Ask);
}

#[test]
fn prefixes_are_of_whole_words_and_the_rest_is_exact() {
    assert!(allowed(&[unit("git status")], &["git status:*"]));
    assert!(allowed(&[unit("git status -s")], &["git status:*"]));
    assert!(!allowed(&[unit("git statusx")], &["git status:*"]));
    assert!(!allowed(&[unit("git")], &["git status:*"]));
    assert!(allowed(&[unit("npm run build")], &["npm run build"]));
    assert!(!allowed(&[unit("npm run build x")], &["npm run build"]));
    assert!(!allowed(&[unit("./cat x")], &["cat:*"]));
    assert!(allowed(&[unit("./cat x")], &["./cat:*"]));
    assert!(!allowed(&[unit("ls"), unit("cat x")], &["ls:*"]));
    let unknown = JudgedSimpleCommand { argv: vec![("git", true), ("$X", false)], ..unit("git $X") };
    assert!(!allowed(std::slice::from_ref(&unknown), &["git status:*", "git '$X'"]));
    assert!(allowed(&[unknown], &["git:*"]));
}

#[test]
fn wrappers() {
    assert!(allowed(&[behind(&["timeout", "5"], "npm test")], &["npm test:*"]));
    assert!(allowed(&[behind(&["timeout", "5"], "npm test")], &["timeout:*"]));
    assert!(!allowed(&[behind(&["sudo"], "npm test")], &["npm test:*"]));
    assert!(allowed(&[behind(&["sudo"], "npm test")], &["sudo npm test:*"]));
    assert!(allowed(&[behind(&["timeout", "5", "sudo"], "npm test")], &["sudo npm:*"]));
    let shell = JudgedSimpleCommand { wrapper: true, ..unit("bash -c ls") };
    let inner = JudgedSimpleCommand { via: vec!["bash -c"], span: (8, 10), ..unit("ls") };
    assert!(allowed(&[shell, inner], &["ls"]));
    let remote = JudgedSimpleCommand { wrapper: true, span: (0, 11), ..unit("ssh host ls") };
    let inner = JudgedSimpleCommand { via: vec!["ssh"], span: (9, 11), ..unit("ls") };
    assert!(!allowed(&[remote.clone(), inner.clone()], &["ls:*"]));
    assert!(allowed(&[remote, inner], &["ssh host:*"]));
    assert!(!allowed(&[JudgedSimpleCommand { assignments: vec!["LD_PRELOAD=x"], ..unit("ls") }], &["ls"]));
    assert!(allowed(&[JudgedSimpleCommand { assignments: vec!["CI=1"], ..unit("ls") }], &["ls"]));
}

#[test]
fn rules_that_stop_see_through_wrappers_paths_and_global_options() {
    for (stopped, rule) in [
        (unit("/usr/bin/git push"), "git push:*"),
        (unit("git -C sub push origin"), "git push:*"),
        (unit("git -c a.b=c --no-pager push"), "git push"),
        (behind(&["sudo", "-u", "x"], "git push"), "git push:*"),
        (behind(&["timeout", "5", "sudo"], "ls"), "sudo:*"),
        (JudgedSimpleCommand { wrapper: true, ..unit("bash -c ls") }, "bash:*"),
        (written("ls", Some("/w/.env")), "write:.env"),
    ] {
        assert_eq!(
            decided(&[stopped], SafetyVerdict::Allow, None, &[], &[rule]).verdict,
            SafetyVerdict::Deny,
            "{rule}"
        );
    }
    for (passed, rule) in [(unit("git log push"), "git push:*"), (unit("echo sudo"), "sudo:*")] {
        assert_eq!(
            decided(&[passed], SafetyVerdict::Allow, None, &[], &[rule]).verdict,
            SafetyVerdict::Allow,
            "{rule}"
        );
    }
}

#[test]
fn what_is_unmatched_is_said() {
    let units = [unit("ls -l"), unit("cat x"), written("cat y", Some("/w/out/a.txt")), written("cat z", None)];
    let decision = decided(&units, SafetyVerdict::Allow, Some(&["ls:*"]), &[], &[]);
    assert_eq!(decision.unmatched, ["cat x", "cat y", "write:out/a.txt", "cat z", "write:\"$OUT\""]);
    assert!(decided(&units, SafetyVerdict::Allow, None, &[], &[]).unmatched.is_empty());
    assert!(allowed(&units[2..3], &["cat:*", "write:out/**"]));
}

#[test]
fn the_nearest_rule_says_what_does_not_match() {
    for (command, allow, wanted) in [
        ("rm b.txt", "rm a.txt", Some("b.txt is not a.txt")),
        ("npm run build --watch", "npm run build", Some("it allows no further word, such as --watch")),
        ("npm run", "npm run build", Some("build is missing")),
        ("npm run lint", "npm run build:*", None),
        ("git push", "git log:*", None),
        ("sudo git push origin", "git push:*", Some("it does not reach through sudo, su or ssh")),
        ("GIT_SSH=x git push", "git push:*", Some("it does not cover GIT_SSH=x")),
        ("./node_modules/.bin/tsc -p .", "tsc:*", Some("./node_modules/.bin/tsc is another program than tsc")),
        ("rm \"$(x)\"", "rm a.txt", Some("the value of \"$(x)\" is not known")),
        ("rm ''", "rm a.txt", Some("'' is not a.txt")),
        ("rm a.txt", "rm a.txt", None),
    ] {
        let near = whole(command, Some(&["unheard-of", "write:a", allow]), &[], &[]).nearest;
        assert_eq!(near.first().map(|near| near.why.as_str()), wanted, "{command}");
        assert!(near.iter().all(|near| near.rule == allow), "{command}");
    }
    let nearest = &whole("rm -f b", Some(&["rm -r b", "rm -f a", "rm c"]), &[], &[]).nearest[0];
    assert_eq!((nearest.command.as_str(), nearest.rule.as_str()), ("rm -f b", "rm -f a"));
}

#[test]
fn suggested_rules_allow_what_they_came_from() {
    for (units, rules) in [
        (vec![unit("git checkout main")], vec!["git checkout:*"]),
        (vec![unit("npm run build"), unit("ls")], vec!["npm run build:*", "ls:*"]),
        (vec![written("ls", Some("/w/a b*")), unit("ls -l")], vec!["ls:*", "write:a b\\*"]),
        (vec![behind(&["nice"], "cargo test")], vec!["cargo test:*"]),
        (vec![unit("rm -f x")], vec!["rm -f x"]),
        (vec![unit("kill 12345")], vec!["kill:*"]),
        (vec![unit("git show 3f2a1bc")], vec!["git show:*"]),
        (vec![unit("cat /tmp/tmp.Xy12/out")], vec!["cat:*"]),
        (vec![written("ls", Some("/tmp/tmp.Xy12/out-4711.txt"))], vec!["ls:*", "write:/tmp/tmp.*/out-*.txt"]),
        (vec![behind(&["sudo"], "ls")], vec![]),
        (vec![unit("python x.py")], vec![]),
        (vec![unit("ls"), unit("python x.py")], vec![]),
        (vec![JudgedSimpleCommand { heredoc: true, ..unit("ls") }], vec![]),
        (vec![written("ls", None)], vec![]),
        (vec![JudgedSimpleCommand { argv: vec![("git", true), ("$X", false)], ..unit("git $X") }], vec![]),
        (vec![JudgedSimpleCommand { argv: vec![("a b", true), ("it's:*", true)], ..unit("x") }], vec!["'a b':*"]),
    ] {
        let decision = decided(&units, SafetyVerdict::Allow, Some(&[]), &[], &[]);
        assert_eq!(decision.suggest_rules, rules);
        let rules: Vec<&str> = decision.suggest_rules.iter().map(String::as_str).collect();
        assert!(rules.is_empty() || allowed(&units, &rules));
    }
    assert!(decided(&[unit("ls")], SafetyVerdict::Ask, None, &[], &[]).suggest_rules.is_empty());
    assert!(decided(&[unit("ls")], SafetyVerdict::Allow, None, &["ls"], &[]).suggest_rules.is_empty());
    assert_eq!(decided(&[unit("ls")], SafetyVerdict::Allow, None, &[], &[]).suggest_rules, ["ls:*"]);
    assert!(decided(&[unit("ls")], SafetyVerdict::Allow, Some(&["ls"]), &[], &[]).suggest_rules.is_empty());
}

#[test]
fn whole_commands() {
    for (command, allow, verdict) in [
        ("git status && ls -la", &["git status:*", "ls:*"] as &[&str], SafetyVerdict::Allow),
        ("git status && make x", &["git status:*", "ls:*"], SafetyVerdict::Ask),
        ("git status > /dev/null 2>&1", &["git status:*"], SafetyVerdict::Allow),
        ("git status > out.txt", &["git status:*"], SafetyVerdict::Ask),
        ("git status > out.txt", &["git status:*", "write:out.txt"], SafetyVerdict::Allow),
        ("git status > src/../../x", &["git status:*", "write:src/**"], SafetyVerdict::Ask),
        ("cd src && ls > a", &["cd:*", "ls:*", "write:src/*"], SafetyVerdict::Allow),
        ("echo $(make x)", &["echo:*"], SafetyVerdict::Ask),
        ("echo $(make x)", &["make:*"], SafetyVerdict::Allow),
        ("bash -c 'git status'", &["git status:*"], SafetyVerdict::Allow),
        ("timeout 5 git status", &["git status:*"], SafetyVerdict::Allow),
        ("sudo git status", &["git status:*"], SafetyVerdict::Ask),
        ("sudo bash -c 'git status'", &["git status:*"], SafetyVerdict::Ask),
        ("ssh host git status", &["git status:*"], SafetyVerdict::Ask),
        ("ssh host 'git status'", &["ssh host:*"], SafetyVerdict::Allow),
        ("sudo git status", &["sudo git status:*"], SafetyVerdict::Allow),
        ("git push --force", &["git push:*"], SafetyVerdict::Deny),
        ("git reset --hard", &["git reset:*"], SafetyVerdict::Ask),
        ("find . -name x -exec make y {} +", &["find:*"], SafetyVerdict::Ask),
        ("find . -name x -exec make y {} +", &["make:*"], SafetyVerdict::Allow),
        ("find . -name x -exec rm {} +", &["find:*"], SafetyVerdict::Ask),
        ("npx tsc --noEmit", &["npx tsc:*"], SafetyVerdict::Allow),
        ("npx tsc --noEmit", &["npx:*"], SafetyVerdict::Ask),
        ("npx tsc --noEmit && tsc", &["npx tsc:*"], SafetyVerdict::Ask),
        ("docker run img npm test", &["docker run img npm test"], SafetyVerdict::Allow),
        ("f() { ls; }; f", &["ls"], SafetyVerdict::Allow),
        ("X=1 ls", &["ls"], SafetyVerdict::Allow),
        ("echo 'x", &["echo:*"], SafetyVerdict::Ask),
        ("", &[], SafetyVerdict::Allow),
    ] {
        assert_eq!(whole(command, Some(allow), &[], &[]).verdict, verdict, "{command} {allow:?}");
    }
    for command in
        ["env /bin/rm x", "xargs rm < list", "bash -c 'rm x'", "$(rm x)", "find . -exec rm {} +", "cat <<E\n$(rm x)\nE"]
    {
        assert_eq!(whole(command, None, &[], &["rm:*"]).verdict, SafetyVerdict::Deny, "{command}");
    }
    assert!(whole("bash <<E\nls\nE", Some(&[]), &[], &[]).suggest_rules.is_empty());
    assert!(whole("cat <<E\n$(ls)\nE", Some(&[]), &[], &[]).suggest_rules.is_empty());
    assert_eq!(whole("git checkout main > out", Some(&[]), &[], &[]).suggest_rules, ["git checkout:*", "write:out"]);
}

#[test]
fn with_rules_a_command_that_only_reads_needs_none() {
    let list: &[&str] = &["npm test:*"];
    for command in [
        "ls",
        "cd packages/core && npm test",
        "npm test | tail -20",
        "npm test || true",
        "git status",
        "git log --oneline | head -3",
        "git diff HEAD~1 -- src 2>/dev/null",
        "for i in 1 2 3; do npm test && break; sleep .3; done",
        "export CI=1; [ -f package.json ] && npm test; echo \"exit $?\"",
        "bash -c 'cat x | wc -l'",
        "timeout 5 rg foo",
    ] {
        assert_eq!(whole(command, Some(list), &[], &[]).verdict, SafetyVerdict::Allow, "{command}");
        assert_eq!(whole(command, Some(list), &["read-only"], &[]).verdict, SafetyVerdict::Ask, "{command}");
        assert_eq!(whole(command, None, &[], &["read-only"]).verdict, SafetyVerdict::Deny, "{command}");
        assert_eq!(whole(command, Some(&[]), &[], &[]).verdict, SafetyVerdict::Ask, "{command}");
    }
    assert_eq!(whole("ls", Some(&["read-only"]), &[], &[]).verdict, SafetyVerdict::Allow);
    for command in [
        "ls > out",
        "sudo ls",
        "ssh host ls",
        "./ls",
        "LD_PRELOAD=x ls",
        "GIT_PAGER=./x git log",
        "git -c core.pager=./x log",
        "git diff --output=x",
        "git branch -d x",
        "find . -fprint out",
        "curl localhost",
        "$X",
    ] {
        assert_eq!(whole(command, Some(list), &[], &[]).verdict, SafetyVerdict::Ask, "{command}");
    }
}

#[test]
fn no_rule_is_suggested_for_text_out_of_a_heredoc() {
    for command in [
        "cat <<E | bash\nls\nE",
        "cat <<E | cat | sh -c bash\nls\nE",
        "{ cat; } <<E | bash\nls\nE",
        "cat <<E | parallel\nls\nE",
        "cat <<E | xargs -I{} env {}\nls\nE",
        "x=$(cat <<E\nls -l\nE\n); eval \"$x\"",
        "x=$(cat <<E\nls -l\nE\n); $x",
        "x=$(cat <<E\nls -l\nE\n); y=\"${x%l}a\"; eval \"$y\"",
        "x=$(cat <<E\nls -l\nE\n); bash <<< \"$x\"",
        "x=$(cat <<E\nls -l\nE\n); echo \"$x\" | bash",
        "f() { eval \"$1\"; }; f \"$(cat <<E\nls\nE\n)\"",
        "eval \"$(cat <<'E'\nls\nE\n)\"",
        "bash -c \"$(cat <<'E'\nls\nE\n)\"",
        "source /dev/stdin <<E\nls\nE",
    ] {
        let rules = whole(command, Some(&["sh:*", "bash:*"]), &[], &[]).suggest_rules;
        assert!(rules.is_empty(), "{command} {rules:?}");
    }
    let python = "python3 <<E\nimport os\nos.system('ls')\nE";
    assert!(whole(python, Some(&["python3:*"]), &[], &[]).suggest_rules.is_empty());
    for (command, rules) in [
        ("cat <<E | grep x\nls\nE", vec!["cat:*", "grep:*"]),
        ("git commit -m \"$(cat <<E\nls\nE\n)\"", vec!["cat:*", "git commit:*"]),
        ("echo ls | bash", vec!["echo:*", "ls:*"]),
        ("bash <<< ls", vec!["ls:*"]),
    ] {
        assert_eq!(whole(command, Some(&[]), &[], &[]).suggest_rules, rules, "{command}");
    }
}

#[test]
fn suggestions_for_everyday_commands_allow_them() {
    let mut count = 0;
    for CorpusLine { wanted, command, .. } in corpus() {
        let rules = whole(&command, Some(&[]), &[], &[]).suggest_rules;
        if wanted != "allow" || rules.is_empty() {
            continue;
        }
        count += 1;
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        assert_eq!(whole(&command, Some(&rules), &[], &[]).verdict, SafetyVerdict::Allow, "{command} {rules:?}");
        for rule in &rules {
            let all = whole(&command, Some(&[]), &[], &[]).unmatched.len();
            assert!(whole(&command, Some(&[rule]), &[], &[]).unmatched.len() < all, "{command} {rule}");
        }
    }
    assert!(count > 300, "{count}");
}
