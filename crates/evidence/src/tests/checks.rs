//! The parts that are checks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use reduce::counts::TestCounts;
use safety::decide::NamedCommandRules;

use super::watch;
use crate::{CheckEvidence, CommandEvidence, EvidenceInput, EvidencePart, EvidenceVerdict, Kind};

/// A directory with programs that exit with their first word that is a number, and with 0 without one.
fn programs() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(root.path().join("app")).expect("created");
    for name in ["npm", "pytest", "cargo", "tsc", "ci.sh"] {
        let script = "#!/bin/sh\nfor word; do case $word in [0-9]*) exit $word;; esac; done\nexit 0\n";
        let path = root.path().join(name);
        fs::write(&path, script).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("set");
    }
    root
}

fn counts(runner: &str, passed: u64, failures: &[&str]) -> TestCounts {
    TestCounts {
        runner: runner.to_owned(),
        passed: Some(passed),
        failed: failures.len() as u64,
        skipped: None,
        total: None,
        failures: failures.iter().map(|name| (*name).to_owned()).collect(),
        failures_total: failures.len() as u64,
        complete: true,
    }
}

fn run(root: &Path, script: &str, tests: &[TestCounts]) -> CommandEvidence {
    let root = root.to_str().expect("text");
    let (trace, end) = watch::run(&format!("cd {root}; PATH={root}:$PATH; {script}"));
    let rules = NamedCommandRules::parse("checks", &["./ci.sh"]).expect("rules");
    let (tests, trace) = (tests.to_vec(), trace.as_ref());
    crate::read(EvidenceInput {
        command: script,
        trace,
        end,
        tests: |_: &[EvidencePart]| tests,
        cwd: Path::new(root),
        rules: &rules,
        known: &crate::ShellKnowledge::default(),
    })
}

/// The kind, verdict, command, and directory of a check below the root.
fn shown(root: &Path, checks: &[CheckEvidence]) -> Vec<String> {
    let place = |check: &CheckEvidence| check.cwd.strip_prefix(root).expect("below").display().to_string();
    let shown =
        |check: &CheckEvidence| format!("{:?} {:?} {} in {}", check.kind, check.verdict, check.command, place(check));
    checks.iter().map(shown).collect()
}

#[test]
fn a_check_has_the_verdict_of_its_own_part() {
    let root = programs();
    let at = fs::canonicalize(root.path()).expect("there");
    for (script, wanted) in [
        ("npm test", &["Test Passed npm test in "] as &[_]),
        ("npm test 3", &["Test Failed npm test 3 in "]),
        ("npm test 3 2>&1 | tail -5", &["Test Failed npm test 3 2>&1 in "]),
        ("npm test 3 || true", &["Test Failed npm test 3 in "]),
        ("cd app && npm test", &["Test Passed npm test in app"]),
        ("(cd app; npm test 1); npm test", &["Test Failed npm test 1 in app", "Test Passed npm test in "]),
        ("f() { tsc --noEmit; }; f; cargo clippy", &["Types Passed tsc --noEmit in ", "Lint Passed cargo clippy in "]),
        ("timeout 9 npm run build", &["Build Passed timeout 9 npm run build in "]),
        ("./ci.sh; ./ci.sh --fast", &["Test Passed ./ci.sh in "]),
        ("npm install; ls; echo npm test", &[]),
        ("x=$(npm test 2); echo $x", &["Test Failed npm test 2 in "]),
        ("npm test & wait", &["Test Passed npm test in "]),
        ("cd app; vue-tsc", &["Types Failed vue-tsc in app"]),
        ("for i in 0 1 0; do npm test; pytest; done", &["Test Passed npm test in ", "Test Passed pytest in "]),
        ("npm test; npm test; CI=1 timeout 9 npm test", &["Test Passed npm test in "]),
    ] {
        let evidence = run(&at, script, &[]);
        assert_eq!(shown(&at, &evidence.checks), wanted, "{script}");
    }
}

#[test]
fn a_check_that_failed_once_in_a_command_failed() {
    let root = programs();
    let at = fs::canonicalize(root.path()).expect("there");
    fs::write(at.join("npm"), "#!/bin/sh\n[ -e seen ] && exit 0\ntouch seen\nexit 4\n").expect("written");
    let evidence = run(&at, "npm test; npm test; npm test", &[]);
    let [check] = evidence.checks.as_slice() else { panic!("{:?}", evidence.checks) };
    assert_eq!((check.verdict, check.exit_code), (EvidenceVerdict::Failed, Some(4)));
}

#[test]
fn the_same_words_in_the_same_directory_are_the_same_check() {
    let root = programs();
    let at = fs::canonicalize(root.path()).expect("there");
    let id = |script: &str| run(&at, script, &[]).checks[0].id.clone();
    let first = id("cd app && npm test 2>&1 | tail -5");
    assert_eq!(first, id("cd app; timeout 9 npm test"));
    assert_eq!(first, id("(cd ./app/../app && npm test) || true"));
    assert_ne!(first, id("npm test"));
    assert_ne!(first, id("cd app && npm test a"));
    assert_ne!(id("npm test a b"), id("npm test 'a b'"));
}

#[test]
fn counts_belong_to_the_check_that_certainly_printed_them() {
    let root = programs();
    let at = fs::canonicalize(root.path()).expect("there");
    let (good, bad) = (counts("pytest", 3, &[]), counts("cargo-test", 2, &["a", "b"]));
    let none = counts("pytest", 0, &[]);
    use EvidenceVerdict::{Failed, Passed, Unproven};
    for (script, tests, wanted) in [
        ("npm test", vec![good.clone()], &[(Passed, Some(0_usize))] as &[_]),
        ("npm test", vec![good.clone(), bad.clone()], &[(Failed, Some(2))]),
        ("npm test", vec![none.clone()], &[(Unproven, Some(0))]),
        ("npm test", vec![], &[(Passed, None)]),
        ("npm test; tsc", vec![bad.clone()], &[(Failed, Some(2)), (Passed, None)]),
        ("pytest; cargo test", vec![good.clone(), bad.clone()], &[(Passed, Some(0)), (Failed, Some(2))]),
        ("npm test; cargo test", vec![good.clone(), bad.clone()], &[(Unproven, None), (Unproven, None)]),
        ("npm test; cargo test", vec![good.clone()], &[(Passed, Some(0)), (Passed, None)]),
        ("npm test; bash -c 'pytest'", vec![bad.clone()], &[(Unproven, None)]),
        ("npm test && ./ci.sh --fast", vec![good.clone()], &[(Passed, None)]),
        ("npm ci; true; npm test", vec![bad.clone()], &[(Failed, Some(2))]),
        ("setsid -f pytest", vec![], &[(Unproven, None)]),
        ("tsc", vec![bad.clone()], &[(Passed, None)]),
    ] {
        let evidence = run(&at, script, &tests);
        let seen: Vec<_> = evidence
            .checks
            .iter()
            .map(|check| (check.verdict, check.failures.as_ref().map(|failures| failures.names.len())))
            .collect();
        assert_eq!(seen, wanted, "{script} {tests:?}");
    }
    let cut = TestCounts { complete: false, ..bad.clone() };
    let unnamed = TestCounts { failed: 3, ..bad };
    for tests in [cut, unnamed] {
        assert_eq!(run(&at, "npm test", &[tests]).checks[0].failures, None);
    }
}

#[test]
fn at_most_eight_checks_are_listed() {
    let root = programs();
    let at = fs::canonicalize(root.path()).expect("there");
    let evidence = run(&at, "for i in a b c d e f g h i j; do npm test $i; done", &[]);
    assert_eq!(evidence.checks.len(), 8);
    assert!(evidence.checks.iter().all(|check| check.kind == Kind::Test));
}

#[test]
fn without_a_witness_only_what_the_text_proves_is_a_check() {
    let rules = NamedCommandRules::default();
    for (command, code, checks) in
        [("npm test", 0, 1), ("npm test", 1, 0), ("cd app && npm test", 0, 0), ("npm test | tail", 0, 0)]
    {
        let end = crate::CommandEnd { code: Some(code), signal: None, by_itself: true };
        let ran = EvidenceInput {
            command,
            trace: None,
            end,
            tests: |_: &[EvidencePart]| Vec::new(),
            cwd: Path::new("/work"),
            rules: &rules,
            known: &crate::ShellKnowledge::default(),
        };
        let evidence = crate::read(ran);
        assert_eq!(evidence.checks.len(), checks, "{command} {code}");
        assert!(evidence.checks.iter().all(|check| check.cwd == Path::new("/work")));
    }
}
