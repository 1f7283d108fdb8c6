//! Counts of recorded outputs: `counts/RUNNER.toml` has the command and the counts of each text in `counts/RUNNER/`.

mod looks;
mod speed;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::{CommandTermination, TestCountReader, TestCounts, read_tests};
use crate::CommandStream;
use crate::rules::RULES;

/// An output and what it must count.
#[derive(Deserialize)]
struct CountingCase {
    command: String,
    exit: i64,
    /// Where the text is from, if it was not recorded.
    source: Option<String>,
    /// Whether the output counts without the command, too.
    #[serde(default)]
    needs_command: bool,
    #[serde(default)]
    counts: Vec<ExpectedCounts>,
}

#[derive(Deserialize)]
struct ExpectedCounts {
    runner: String,
    passed: Option<u64>,
    failed: u64,
    skipped: Option<u64>,
    total: Option<u64>,
    failures: Vec<String>,
    complete: bool,
}

impl CountingCase {
    fn counts(&self) -> Vec<TestCounts> {
        let counts = |expected: &ExpectedCounts| {
            let ExpectedCounts { runner, passed, failed, skipped, total, failures, complete } = expected;
            let (runner, failures, failures_total) = (runner.clone(), failures.clone(), failures.len() as u64);
            let (passed, failed, skipped, total) = (*passed, *failed, *skipped, *total);
            TestCounts { runner, passed, failed, skipped, total, failures, failures_total, complete: *complete }
        };
        self.counts.iter().map(counts).collect()
    }
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("counts")
}

/// Returns the runners with their cases, by name.
fn runners() -> Vec<(String, BTreeMap<String, CountingCase>)> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory()).expect("counts").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let cases = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("cases");
        let cases = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name, cases)
    };
    files.into_iter().map(cases).collect()
}

fn text(runner: &str, case: &str) -> String {
    let bytes = fs::read(directory().join(runner).join(format!("{case}.txt"))).expect(case);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn each_recorded_output_has_its_counts() {
    let mut faults = String::new();
    for (runner, cases) in runners() {
        if std::env::var_os("UPDATE_COUNTS").is_some() {
            update(&runner, &cases);
        }
        for (name, case) in &cases {
            let text = text(&runner, name);
            let ended = CommandTermination::with(Some(case.exit));
            let counted = read_tests(&text, Some(&case.command), ended);
            if counted != case.counts() {
                let _ = writeln!(faults, "{runner}/{name}\n{}", toml(&counted, name));
            }
            let alone = read_tests(&text, None, ended);
            if alone != if case.needs_command { Vec::new() } else { case.counts() } {
                let _ = writeln!(faults, "{runner}/{name} without its command: {alone:#?}");
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

fn toml(counts: &[TestCounts], name: &str) -> String {
    let mut text = String::new();
    for TestCounts { runner, passed, failed, skipped, total, failures, complete, .. } in counts {
        let number =
            |name: &str, number: Option<u64>| number.map_or_else(String::new, |number| format!("{name} = {number}\n"));
        let _ = write!(
            text,
            "[[{name}.counts]]\nrunner = {runner:?}\n{}failed = {failed}\n{}{}failures = {failures:?}\ncomplete = {complete}\n",
            number("passed", *passed),
            number("skipped", *skipped),
            number("total", *total),
        );
    }
    text
}

#[test]
fn repeated_lines_count_as_if_each_were_read_alone() {
    for (runner, cases) in runners() {
        for name in cases.keys() {
            for times in [2, 3, 40] {
                let lines =
                    text(&runner, name).split_inclusive('\n').map(|line| line.repeat(times)).collect::<String>();
                let fenced = format!("```\n```\n{lines}```\n```\n```\n{lines}");
                let mut alone = TestCountReader::new(None);
                fenced.split_inclusive('\n').for_each(|line| alone.push(CommandStream::Stdout, line.as_bytes()));
                let whole = read_tests(&fenced, None, CommandTermination::Unknown);
                assert_eq!(whole, alone.end(CommandTermination::Unknown), "{runner}/{name}, {times} times");
            }
        }
    }
}

#[test]
fn empty_lines_in_a_row_are_read_at_once() {
    let mut reader = TestCountReader::new(None);
    reader.lines.read_line(b"", 1);
    assert!(reader.lines.read_line(b"", 1));
}

#[test]
fn each_rule_that_counts_has_its_cases() {
    let names: Vec<String> = runners().into_iter().map(|(runner, _)| runner).collect();
    let counting: Vec<&str> = RULES.iter().filter(|rule| rule.counting.is_some()).map(|rule| &*rule.name).collect();
    assert_eq!(names, counting);
    for (runner, cases) in runners() {
        let head = fs::read_to_string(directory().join(format!("{runner}.toml"))).expect("cases");
        assert!(head.starts_with("# Recorded with ") || head.starts_with("# Written by hand after "), "{runner}");
        let of = |says: fn(&ExpectedCounts) -> bool| cases.values().flat_map(|case| &case.counts).any(says);
        assert!(of(|counts| counts.complete && counts.failed == 0 && counts.total != Some(0)), "{runner}: all pass");
        assert!(of(|counts| counts.failed > 0), "{runner}: some fail");
        assert!(of(|counts| counts.skipped.is_some_and(|skipped| skipped > 0)), "{runner}: skipped ones");
        assert!(of(|counts| counts.complete && counts.passed == Some(0) && counts.failed == 0), "{runner}: none ran");
        assert!(of(|counts| !counts.complete), "{runner}: without a summary");
    }
}

#[test]
fn what_only_looks_like_a_runner_counts_nothing() {
    let lines = fs::read_to_string(directory().join("lookalikes/lines.txt")).expect("lines");
    let around = |line: &str| format!("before\n\n{line}\n\nafter\n");
    let mut texts: Vec<String> = lines.lines().flat_map(|line| [format!("{line}\n"), around(line)]).collect();
    texts.push(lines.clone());
    for entry in fs::read_dir(directory().join("lookalikes")).expect("texts") {
        texts.push(fs::read_to_string(entry.expect("an entry").path()).expect("a text"));
    }
    assert!(lines.lines().count() >= 60);
    let commands = [None, Some("npm test"), Some("make check 2>&1 | tail -20")];
    let counted = |text: &String| {
        let counts = |command: Option<&str>| !read_tests(text, command, CommandTermination::Unknown).is_empty();
        commands.into_iter().any(|command| counts(command) && !(command.is_some() && text.contains("```")))
    };
    texts.retain(counted);
    assert!(texts.is_empty(), "{texts:#?}");
}

#[test]
fn what_a_command_only_shows_counts_nothing() {
    let text = text("pytest", "fail");
    for command in [
        "cat pytest.log",
        "tail -50 /tmp/log",
        "tail -f log",
        "grep -A5 passed log",
        "rg passed",
        "cat log | grep passed",
        "git show HEAD:log.txt",
        "git log -p",
        "sed -n '1,50p' log",
        "cd app && cat log | tail -5",
        "pytest > log 2>&1; cat log",
        "echo '===== 3 passed in 0.01s ====='",
        "for f in *.log; do head -20 \"$f\"; done",
        "less log",
        "bat log",
        "cat log; pytest",
        "git diff && pytest",
        "pytest > log; tail -n 5 log",
    ] {
        assert_eq!(read_tests(&text, Some(command), CommandTermination::Unknown), [], "{command}");
    }
    for command in [
        "pytest | tail -50",
        "pytest 2>&1 | sed -n '1,80p'",
        "ls; pytest",
        "cat > t.py <<< 'x = 1'; pytest",
        "make test",
        "./run.sh",
        "$CMD",
        "perl run.t",
        "npm test --json",
    ] {
        assert_eq!(read_tests(&text, Some(command), CommandTermination::Unknown).len(), 1, "{command}");
    }
}

#[test]
fn a_cut_output_is_never_complete_without_the_failures() {
    let mut faults = String::new();
    for (runner, cases) in runners() {
        // Maven tells of a crash behind its summary, which has no test.
        let is_late = |name: &str| runner == "maven" && name == "aborted";
        let fails = |case: &CountingCase| case.counts.iter().any(|counts| counts.failed > 0);
        for (name, case) in cases.iter().filter(|(name, case)| fails(case) && !is_late(name)) {
            // A test prints the end of a package. Until its own end comes, nothing tells that it was not one.
            let text = text(&runner, name).replace("ok  \tinside/pkg\t0.001s\n", "");
            for command in [None, Some(&*case.command)] {
                let printed = command.map(crate::class::output_profile);
                let mut reader = super::TestCountReader::new(printed.as_ref());
                for (at, byte) in text.bytes().enumerate() {
                    reader.push(CommandStream::Stdout, &[byte]);
                    let before = &text.as_bytes()[..=at];
                    let is_whole = |counts: &TestCounts| counts.complete && counts.failed == 0;
                    if reader.clone().end(CommandTermination::Unknown).iter().any(is_whole) && !ends_a_group(before) {
                        let last = before.rsplit(|&byte| byte == b'\n').next().map(String::from_utf8_lossy);
                        let _ = writeln!(faults, "{runner}/{name} {command:?} {at}: {last:?}");
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn what_a_filter_left_is_never_complete() {
    for (runner, cases) in runners() {
        for (name, case) in &cases {
            let text = text(&runner, name);
            let is_complete = |filter: &str| {
                let command = format!("{} {filter}", case.command);
                let counts = read_tests(&text, Some(&command), CommandTermination::with(Some(case.exit)));
                counts.iter().any(|counts| counts.complete)
            };
            let filters = ["2>&1 | tail -n 5", "| grep -E 'pass|fail'", "| ./filter", "| while read line; do :; done"];
            assert!(!filters.into_iter().any(is_complete), "{runner}/{name}");
            assert_eq!(is_complete("2>&1 | tee log"), is_complete(""), "{runner}/{name}");
        }
    }
    // Node prints its summary in several lines, of which `tail` leaves the last ones.
    let rest = "ℹ skipped 1\nℹ todo 0\nℹ duration_ms 50.1\n";
    assert!(
        !read_tests(rest, Some("node --test | tail -3"), CommandTermination::ByItself)
            .iter()
            .any(|counts| counts.complete)
    );
}

/// Returns whether a text ends behind the summary of one of several packages, modules or binaries. Nothing tells that
/// more will follow.
fn ends_a_group(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    // A line that has just begun tells nothing.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let last = |text: &str| text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned();
    let ends =
        ["ok  \t", "exit status ", "test result: ok.", "\t Executed 0 tests, with 0 failures", "{\"Time\":", "[INFO] "];
    [last(&text), last(whole)].iter().any(|last| ends.iter().any(|end| last.starts_with(end)))
}

#[test]
fn counts_do_not_depend_on_how_the_output_was_split() {
    for (runner, cases) in runners() {
        for (name, case) in &cases {
            let text = text(&runner, name);
            for size in [1, 7, 64] {
                let printed = crate::class::output_profile(&case.command);
                let mut reader = super::TestCountReader::new(Some(&printed));
                text.as_bytes().chunks(size).for_each(|chunk| reader.push(CommandStream::Stdout, chunk));
                assert_eq!(
                    reader.end(CommandTermination::with(Some(case.exit))),
                    case.counts(),
                    "{runner}/{name} by {size}"
                );
            }
        }
    }
}

#[test]
fn a_line_of_one_stream_does_not_split_a_line_of_the_other() {
    let printed = crate::class::output_profile("pytest -q");
    let mut reader = super::TestCountReader::new(Some(&printed));
    for (stream, text) in [
        (CommandStream::Stdout, "1 failed, "),
        (CommandStream::Stderr, "a warning\n2 passed"),
        (CommandStream::Stdout, "2 passed in 0.02s\n"),
        (CommandStream::Stderr, " in 9s of another program\n"),
    ] {
        reader.push(stream, text.as_bytes());
    }
    let counts = reader.end(CommandTermination::ByItself);
    assert_eq!(counts.iter().map(|counts| (counts.passed, counts.failed)).collect::<Vec<_>>(), [(Some(2), 1)]);
}

/// Writes the counts of a runner as they are now.
fn update(runner: &str, cases: &BTreeMap<String, CountingCase>) {
    let path = directory().join(format!("{runner}.toml"));
    let old = fs::read_to_string(&path).expect("cases");
    let mut text: String =
        old.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    for (name, case) in cases {
        let CountingCase { command, exit, source, needs_command, .. } = case;
        let _ = write!(text, "\n[{name}]\ncommand = {command:?}\nexit = {exit}\n");
        if let Some(source) = source {
            let _ = writeln!(text, "source = {source:?}");
        }
        if *needs_command {
            text.push_str("needs_command = true\n");
        }
        let counted = read_tests(&self::text(runner, name), Some(command), CommandTermination::with(Some(*exit)));
        text.push_str(&toml(&counted, name));
    }
    fs::write(path, text).expect("cases");
}

/// Returns the counts in short: the runner, passed, failed, and whether the run is complete.
fn short(text: &str, command: Option<&str>) -> String {
    let one = |counts: &TestCounts| {
        let passed = counts.passed.map_or("-".to_owned(), |passed| passed.to_string());
        format!("{} {passed} {}{}", counts.runner, counts.failed, if counts.complete { "" } else { " cut" })
    };
    read_tests(text, command, CommandTermination::Unknown).iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_a_test_prints_is_not_a_run() {
    let cargo = text("cargo-test", "several");
    let pytest = text("pytest", "fail");
    // Both print the summary of a runner from inside of a test.
    assert_eq!(short(&cargo, None), "cargo-test 3 2");
    assert_eq!(short(&pytest, None), "pytest 2 3");
    let inner = pytest.replace("===== 7 passed in 0.01s =====\n", &text("vitest", "v4-fail"));
    assert_eq!(short(&inner, None), "pytest 2 3");
    let ctest = text("ctest", "output-on-failure");
    assert_eq!(short(&ctest, None), "ctest 1 3");
}

#[test]
fn runs_one_after_another_count_each() {
    let [pytest, cargo, go] = [("pytest", "all-pass"), ("cargo-test", "all-pass"), ("go-test", "fail")]
        .map(|(runner, case)| text(runner, case));
    assert_eq!(short(&format!("{pytest}{cargo}{go}"), None), "pytest 3 0, cargo-test 2 0, go-test - 2");
    let quiet = text("pytest", "quiet");
    assert_eq!(short(&quiet.repeat(2), Some("pytest -q a; pytest -q b")), "pytest 6 0");
    assert_eq!(short(&cargo.repeat(100), None), "cargo-test 200 0");
}

#[test]
fn a_run_that_broke_off_leaves_its_runner_incomplete() {
    let aborted = text("pytest", "aborted");
    let pass = text("pytest", "all-pass");
    assert_eq!(short(&format!("{aborted}\n{pass}"), None), "pytest 4 1 cut");
    assert_eq!(short(&format!("{pass}{aborted}"), None), "pytest 4 1 cut");
    // The run of cargo may be what a test of pytest printed.
    let after = format!("{aborted}\n{}", text("cargo-test", "all-pass"));
    assert_eq!(short(&after, None), "pytest 1 1 cut, cargo-test 2 0 cut");
}

#[test]
fn a_name_that_looks_like_a_summary_is_a_name() {
    let go = "--- FAIL: Test_5_passed_in_0.01s (0.00s)\nFAIL\nFAIL\texample.com/app\t0.1s\n";
    assert_eq!(short(go, None), "go-test - 1");
    let cargo = "running 2 tests\ntest 1_passed ... ok\ntest 9 passed; 0 failed ... FAILED\n\n\
                 test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    assert_eq!(short(cargo, None), "cargo-test 1 1");
    let tap = "TAP version 13\nok 1 - 1..9\nnot ok 2 - ok 3 - x\n1..2\n";
    assert_eq!(short(tap, None), "tap 1 1");
}

#[test]
fn a_long_line_is_no_line_of_a_runner() {
    let long = format!("{}\n{}", "x".repeat(1 << 20), text("pytest", "all-pass"));
    assert_eq!(short(&long, None), "pytest 3 0");
    let padded = format!("{} 3 passed in 0.01s ====\n", "=".repeat(2_000));
    assert_eq!(short(&padded, None), "");
}
