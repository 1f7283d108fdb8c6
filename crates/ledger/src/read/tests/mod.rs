//! A reader over ledgers that were written for it.

mod follow;

use serde_json::Value;

use super::*;
use crate::ledger_day::LedgerDay;
use crate::ledger_line::LedgerLine;
use crate::ledger_record::{
    Actor, LedgerRunChanges, LedgerRunEnd, LedgerRunHost, LedgerRunNote, LedgerRunSecret, LedgerRunSilence,
    LedgerRunStart, LedgerRunState, LedgerRunTask, RemovedLedgerFile, ShimId, own_shim,
};
use crate::ledger_writer::LedgerWriter;

/// A moment in the middle of a day, ms since 1970.
const NOON: u64 = 1_767_268_800_000;
const DAY: u64 = 86_400_000;

/// A ledger in a directory of its own.
struct TestLedger(tempfile::TempDir);

impl TestLedger {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn directory(&self) -> PathBuf {
        self.0.path().join("agent-bash/ledger")
    }

    fn file(&self, at: u64) -> PathBuf {
        self.directory().join(LedgerDay::of(at).file_name())
    }

    fn write(&self, at: u64, line: &[u8]) {
        LedgerWriter::new(self.directory()).append(at, line).expect("written");
    }

    fn read(&self, query: LedgerQuery) -> Vec<Value> {
        let (found, passed) = self.read_all(query);
        assert_eq!(passed, PassedOverLines::default());
        found
    }

    fn read_all(&self, query: LedgerQuery) -> (Vec<Value>, PassedOverLines) {
        let mut reader = LedgerReader::new(self.directory(), query, EntryFormat::Json);
        let mut text = String::new();
        loop {
            let batch = reader.read();
            text.push_str(&batch.text);
            if batch.is_over {
                let found = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
                return (found, reader.passed_over().clone());
            }
        }
    }

    fn runs(&self, query: LedgerQuery) -> Vec<String> {
        ids(&self.read(query))
    }
}

fn ids(found: &[Value]) -> Vec<String> {
    found.iter().map(|entry| entry["runId"].as_str().expect("an id").to_owned()).collect()
}

fn start(at: u64, command: &str) -> LedgerRunStart<'_> {
    LedgerRunStart {
        at,
        command: command.into(),
        redacted: false,
        cwd: "/srv/project".into(),
        host: LedgerRunHost { pid: 1, program: "node a.js".into() },
        actor: None,
        verdict: None,
        rules: Vec::new(),
        decided_by: None,
        target: None,
        draft: None,
        confinement: None,
        task: None,
        noted: false,
    }
}

fn exited(at: u64, code: i32) -> LedgerRunEnd<'static> {
    LedgerRunEnd {
        at,
        state: LedgerRunState::Exited,
        code: Some(code),
        signal: None,
        ms: Some(1.0),
        usage: Some([1000, 2000, 4096]),
    }
}

/// A quick command.
fn quick(run: &str, at: u64, command: &str, code: i32) -> Vec<u8> {
    LedgerLine::of(run).with("start", &start(at, command)).with("end", &exited(at + 1, code)).finish()
}

fn dead_shim() -> ShimId<'static> {
    let ShimId(pid, started, tag) = own_shim();
    ShimId(pid, started + 1, tag)
}

#[test]
fn an_entry_has_every_field_of_the_contract() {
    let ledger = TestLedger::new();
    let actor = Actor { agent: Some("a".into()), tool_call_id: Some("c".into()), ..Actor::default() };
    let start = LedgerRunStart {
        redacted: true,
        actor: Some(std::borrow::Cow::Owned(actor)),
        verdict: Some("warn".into()),
        rules: vec!["git-clean".into()],
        decided_by: Some("page".into()),
        target: Some("ssh:build1".into()),
        draft: Some("d1".into()),
        confinement: Some("workspace".into()),
        ..start(NOON, "git clean -fd")
    };
    let changes =
        LedgerRunChanges { state: "known".into(), counts: [1, 2, 3, 4], paths: vec!["/srv/project/a".into()] };
    let note = LedgerRunNote {
        changes: Some(changes),
        output: Some("/tmp/o.log".into()),
        silence: Some(LedgerRunSilence { ms: 500, waited_for: Some("ok?".into()) }),
        evidence: Some("unproven".into()),
        reused: Some("r-0".into()),
        secrets: vec![LedgerRunSecret { name: "TOKEN".into(), host: "h".into(), count: 2, refused: 1 }],
        ..LedgerRunNote::default()
    };
    ledger.write(
        NOON,
        &LedgerLine::of("r").with("shim", &own_shim()).with("start", &start).with("end", &exited(NOON + 5, 3)).finish(),
    );
    ledger.write(NOON, &LedgerLine::of("r").with("note", &note).finish());
    let expected = serde_json::json!({
        "runId": "r", "startedAt": NOON, "endedAt": NOON + 5, "state": "exited", "command": "git clean -fd",
        "redacted": true, "cwd": "/srv/project", "host": { "pid": 1, "program": "node a.js" },
        "actor": { "agent": "a", "toolCallId": "c" }, "verdict": "warn", "rules": ["git-clean"], "decidedBy": "page",
        "confinement": "workspace", "exitCode": 3, "signal": null, "durationMs": 1.0,
        "usage": { "userMs": 1.0, "systemMs": 2.0, "maxRssBytes": 4096 },
        "silence": { "ms": 500, "waitedFor": "ok?" },
        "evidence": "unproven",
        "receipt": { "created": 1, "modified": 2, "deleted": 3, "renamed": 4, "state": "known" },
        "reused": "r-0", "outputPath": "/tmp/o.log", "taskId": null, "target": "ssh:build1",
        "draft": "d1", "secrets": [{ "name": "TOKEN", "host": "h", "count": 2, "refused": 1 }],
    });
    assert_eq!(ledger.read(LedgerQuery::default()), [expected]);
}

#[test]
fn a_directory_that_is_not_there_is_an_empty_ledger() {
    assert!(TestLedger::new().read(LedgerQuery::default()).is_empty());
}

#[test]
fn entries_come_newest_first_across_days_whatever_the_order_of_their_records() {
    let ledger = TestLedger::new();
    for (run, at) in [("a", NOON - 2 * DAY), ("c", NOON + 2), ("b", NOON + 1), ("e", NOON + 5), ("d", NOON + 4)] {
        ledger.write(at, &quick(run, at, "x", 0));
    }
    assert_eq!(ledger.runs(LedgerQuery::default()), ["e", "d", "c", "b", "a"]);
    assert_eq!(ledger.runs(LedgerQuery { limit: Some(2.0), ..LedgerQuery::default() }), ["e", "d"]);
    assert_eq!(ledger.runs(LedgerQuery { limit: Some(9.0), ..LedgerQuery::default() }).len(), 5);
}

#[test]
fn many_entries_come_in_order() {
    let ledger = TestLedger::new();
    let mut writer = LedgerWriter::new(ledger.directory());
    for at in 0..3000_u64 {
        // Records are late by up to a second.
        let moment = NOON + at * 40 + (at * 7919) % 1000;
        writer.append(moment, &quick(&format!("r{at}"), moment, &"x".repeat(300), 0)).expect("written");
    }
    let found = ledger.read(LedgerQuery::default());
    assert_eq!(found.len(), 3000);
    assert!(found.is_sorted_by_key(|entry| std::cmp::Reverse(entry["startedAt"].as_u64())));
}

#[test]
fn a_run_over_midnight_is_one_entry() {
    let ledger = TestLedger::new();
    let (at, end) = (NOON, NOON + DAY);
    ledger.write(at, &LedgerLine::of("r").with("shim", &own_shim()).with("start", &start(at, "x")).finish());
    ledger.write(end, &LedgerLine::of("r").with("end", &exited(end, 0)).finish());
    let found = ledger.read(LedgerQuery::default());
    assert_eq!((found.len(), &found[0]["state"], &found[0]["endedAt"]), (1, &"exited".into(), &end.into()));
    #[expect(clippy::cast_precision_loss, reason = "a time in ms")]
    let until = LedgerQuery { until: Some(end as f64), since: Some(at as f64), ..LedgerQuery::default() };
    assert_eq!(ledger.read(until)[0]["state"], "exited", "the end is in a later file");
}

#[test]
fn a_run_without_an_end_runs_as_long_as_its_shim_can_write_one() {
    let ledger = TestLedger::new();
    let begun = |run: &str, at: u64, shim: &ShimId<'_>| {
        ledger.write(NOON, &LedgerLine::of(run).with("shim", shim).with("start", &start(at, "x")).finish());
    };
    begun("earlier", NOON, &own_shim());
    begun("now", NOON + 1, &own_shim());
    begun("dead", NOON + 2, &dead_shim());
    begun("elsewhere", NOON + 3, &ShimId(1, 1, "0a0a0a".into()));
    let states: Vec<_> = ledger.read(LedgerQuery::default()).iter().map(|entry| entry["state"].clone()).collect();
    assert_eq!(states, ["running", "lost", "running", "lost"], "elsewhere, dead, now, earlier");
    let lost = &ledger.read(LedgerQuery::default())[1];
    for field in ["endedAt", "exitCode", "signal", "durationMs", "usage"] {
        assert!(lost[field].is_null(), "{field}");
    }
}

#[test]
fn a_task_is_in_the_background_until_it_ends_as_it_ended() {
    let ledger = TestLedger::new();
    let task = || Some(LedgerRunTask { id: "t7".into(), log: "/tmp/t7.log".into() });
    let own = LedgerRunStart { task: task(), ..start(NOON, "sleep 9") };
    ledger.write(NOON, &LedgerLine::of("own").with("shim", &own_shim()).with("start", &own).finish());
    let found = &ledger.read(LedgerQuery::default())[0];
    assert_eq!(
        (&found["state"], &found["taskId"], &found["outputPath"]),
        (&"backgrounded".into(), &"t7".into(), &"/tmp/t7.log".into())
    );
    let end = LedgerRunEnd {
        state: LedgerRunState::Aborted,
        code: Some(143),
        signal: Some("SIGTERM".into()),
        ..exited(NOON + 9, 0)
    };
    ledger.write(NOON, &LedgerLine::of("own").with("end", &end).finish());
    let found = &ledger.read(LedgerQuery::default())[0];
    assert_eq!(
        (&found["state"], &found["signal"], &found["taskId"]),
        (&"aborted".into(), &"SIGTERM".into(), &"t7".into())
    );
    let moved = LedgerRunNote { task: task(), ..LedgerRunNote::default() };
    ledger
        .write(NOON, &LedgerLine::of("moved").with("shim", &own_shim()).with("start", &start(NOON + 1, "x")).finish());
    ledger.write(NOON, &LedgerLine::of("moved").with("note", &moved).finish());
    assert_eq!(ledger.read(LedgerQuery::default())[0]["state"], "backgrounded");
}

#[test]
fn a_note_of_the_host_counts_more_than_the_end_that_the_shim_saw() {
    let ledger = TestLedger::new();
    ledger.write(NOON, &quick("r", NOON, "x", 0));
    let end = LedgerRunEnd { state: LedgerRunState::Aborted, code: Some(130), ..exited(NOON + 9, 0) };
    ledger.write(
        NOON,
        &LedgerLine::of("r").with("note", &LedgerRunNote { end: Some(end), ..LedgerRunNote::default() }).finish(),
    );
    let found = &ledger.read(LedgerQuery::default())[0];
    assert_eq!((&found["state"], &found["exitCode"]), (&"aborted".into(), &130.into()));
}

/// Writes runs, one every 100 ms, each with a line for its end.
fn write_runs(ledger: &TestLedger, prefix: &str, from: u64, count: u64) {
    use std::io::Write;
    ledger.write(from, &quick(&format!("{prefix}-first"), from, "true", 0));
    let mut lines = Vec::new();
    for number in 1..count {
        let (run, at) = (format!("{prefix}-{number}"), from + number * 100);
        lines.extend(LedgerLine::of(&run).with("shim", &dead_shim()).with("start", &start(at, "npm test")).finish());
        lines.extend(LedgerLine::of(&run).with("end", &exited(at + 50, 0)).finish());
    }
    let mut file = std::fs::File::options().append(true).open(ledger.file(from)).expect("there");
    file.write_all(&lines).expect("written");
}

/// Reads a ledger. Returns the entries, and the number of blocks that were read.
fn blocks(ledger: &TestLedger, query: LedgerQuery) -> (usize, usize) {
    let mut history = LedgerHistory::new(ledger.directory(), LedgerFilter::new(query), false);
    let (mut blocks, mut entries) = (1, 0);
    while history.read(&|entry| entry.run.to_owned(), &mut |_| entries += 1) {
        blocks += 1;
    }
    (entries, blocks)
}

#[test]
fn entries_since_a_moment_are_read_from_the_end_of_a_file_alone() {
    let read = |count: u64| {
        let ledger = TestLedger::new();
        write_runs(&ledger, "r", NOON, count);
        #[expect(clippy::cast_precision_loss, reason = "a time in ms")]
        let since = Some((NOON + (count - 100) * 100) as f64);
        blocks(&ledger, LedgerQuery { since, ..LedgerQuery::default() })
    };
    let (small, large) = (read(8_000), read(24_000));
    assert_eq!(small, large);
    assert_eq!(small.0, 100);
}

#[test]
fn entries_in_front_of_older_ones_are_found_if_the_clock_was_set_back() {
    let ledger = TestLedger::new();
    write_runs(&ledger, "before", NOON, 2_000);
    write_runs(&ledger, "after", NOON - 3_600_000, 4_000);
    #[expect(clippy::cast_precision_loss, reason = "a time in ms")]
    let since = Some(NOON as f64);
    assert_eq!(blocks(&ledger, LedgerQuery { since, ..LedgerQuery::default() }).0, 2_000);
    // A command that is longer than a sample.
    let ledger = TestLedger::new();
    ledger.write(NOON, &quick("long", NOON, &"x".repeat(20_000), 0));
    write_runs(&ledger, "after", NOON - 3_600_000, 4_000);
    assert_eq!(blocks(&ledger, LedgerQuery { since, ..LedgerQuery::default() }).0, 1);
}

#[test]
fn a_text_is_found_as_it_stands_in_a_command() {
    let ledger = TestLedger::new();
    let commands = ["echo \"a\\b\"\n\ttrue", "echo é\u{1}", "node a.js"];
    for (number, command) in commands.iter().enumerate() {
        ledger.write(NOON, &quick(&format!("r{number}"), NOON + number as u64, command, 0));
    }
    let text = |text: &str| ledger.runs(LedgerQuery { text: Some(text.to_owned()), ..LedgerQuery::default() });
    for (sought, runs) in [
        ("\"a\\b\"\n\t", &["r0"][..]),
        ("\\", &["r0"]),
        ("é\u{1}", &["r1"]),
        ("echo", &["r1", "r0"]),
        // Of the record, but not of the command.
        ("/srv/project", &[]),
        ("node a.js", &["r2"]),
    ] {
        assert_eq!(text(sought), runs, "{sought:?}");
    }
}

#[test]
fn a_shim_that_went_on_with_a_run_that_is_not_wanted_has_ended_the_one_before() {
    let ledger = TestLedger::new();
    for (number, command) in ["one", "two"].iter().enumerate() {
        let at = NOON + number as u64;
        let line = LedgerLine::of(command).with("shim", &own_shim()).with("start", &start(at, command));
        ledger.write(NOON, &line.finish());
    }
    let state = |text: &str| {
        ledger.read(LedgerQuery { text: Some(text.to_owned()), ..LedgerQuery::default() })[0]["state"].clone()
    };
    assert_eq!((state("one"), state("two")), ("lost".into(), "running".into()));
}

#[test]
fn each_filter_fits_by_its_rule() {
    let ledger = TestLedger::new();
    let of = |run: &str, at: u64, start: LedgerRunStart<'_>, code: i32, paths: &[&str]| {
        ledger.write(NOON, &LedgerLine::of(run).with("start", &start).with("end", &exited(at, code)).finish());
        if !paths.is_empty() {
            let paths = paths.iter().map(|path| (*path).into()).collect();
            let changes = LedgerRunChanges { state: "known".into(), counts: [1, 0, 0, 0], paths };
            ledger.write(
                NOON,
                &LedgerLine::of(run)
                    .with("note", &LedgerRunNote { changes: Some(changes), ..LedgerRunNote::default() })
                    .finish(),
            );
        }
    };
    let agent = |name: &str| Some(std::borrow::Cow::Owned(Actor { agent: Some(name.into()), ..Actor::default() }));
    of("a", NOON, start(NOON, "npm Test"), 0, &[]);
    of(
        "b",
        NOON,
        LedgerRunStart { cwd: "/srv/project/sub".into(), actor: agent("one"), ..start(NOON + 1, "make") },
        1,
        &["/srv/project/sub/x"],
    );
    of(
        "c",
        NOON,
        LedgerRunStart { cwd: "/srv/projects".into(), actor: agent("One"), ..start(NOON + 2, "ls") },
        0,
        &["/etc/x"],
    );
    #[expect(clippy::cast_precision_loss, reason = "a time in ms")]
    let ms = |at: u64| Some(at as f64);
    let path = |path: &str| Some(PathBuf::from(path));
    let all = LedgerQuery::default;
    for (query, expected) in [
        (LedgerQuery { cwd: path("/srv/project"), ..all() }, vec!["b", "a"]),
        (LedgerQuery { cwd: path("/srv/project/sub"), ..all() }, vec!["b"]),
        (LedgerQuery { cwd: path("/"), ..all() }, vec!["c", "b", "a"]),
        (LedgerQuery { agent: Some("one".into()), ..all() }, vec!["b"]),
        (LedgerQuery { agent: Some("on".into()), ..all() }, vec![]),
        (LedgerQuery { failed: true, ..all() }, vec!["b"]),
        (LedgerQuery { text: Some("Test".into()), ..all() }, vec!["a"]),
        (LedgerQuery { text: Some("test".into()), ..all() }, vec![]),
        (LedgerQuery { changed: path("/srv/project"), ..all() }, vec!["b"]),
        (LedgerQuery { changed: path("/srv/project/sub/x"), ..all() }, vec!["b"]),
        (LedgerQuery { changed: path("/srv/project/sub/xy"), ..all() }, vec![]),
        (LedgerQuery { since: ms(NOON + 1), ..all() }, vec!["c", "b"]),
        (LedgerQuery { until: ms(NOON + 1), ..all() }, vec!["a"]),
        (LedgerQuery { since: ms(NOON + 1), until: ms(NOON + 2), ..all() }, vec!["b"]),
        (LedgerQuery { run_id: Some("c".into()), ..all() }, vec!["c"]),
        (LedgerQuery { cwd: path("/srv/project"), failed: true, ..all() }, vec!["b"]),
        (LedgerQuery { since: ms(NOON + DAY), ..all() }, vec![]),
        (LedgerQuery { limit: Some(1.0), failed: true, ..all() }, vec!["b"]),
    ] {
        assert_eq!(ledger.runs(query.clone()), expected, "{query:?}");
    }
}

#[test]
fn every_state_but_running_and_success_has_failed() {
    let ledger = TestLedger::new();
    for (at, state) in
        [LedgerRunState::Signaled, LedgerRunState::TimedOut, LedgerRunState::Aborted, LedgerRunState::Refused]
            .into_iter()
            .enumerate()
    {
        let end = LedgerRunEnd { state, ..exited(NOON, 0) };
        let begin = start(NOON + at as u64, "x");
        ledger.write(NOON, &LedgerLine::of(&format!("r{at}")).with("start", &begin).with("end", &end).finish());
    }
    ledger.write(NOON, &LedgerLine::of("lost").with("shim", &dead_shim()).with("start", &start(NOON, "x")).finish());
    ledger.write(NOON, &LedgerLine::of("runs").with("shim", &own_shim()).with("start", &start(NOON, "x")).finish());
    ledger.write(NOON, &quick("ok", NOON, "x", 0));
    assert_eq!(ledger.read(LedgerQuery { failed: true, ..LedgerQuery::default() }).len(), 5);
}

#[test]
fn a_path_counts_as_given_and_as_its_links_lead() {
    let ledger = TestLedger::new();
    let real = ledger.0.path().join("real");
    std::fs::create_dir(&real).expect("a directory");
    let real = real.canonicalize().expect("its path");
    let link = ledger.0.path().join("link");
    std::os::unix::fs::symlink(&real, &link).expect("a link");
    let text = real.to_str().expect("text").to_owned();
    let begin = LedgerRunStart { cwd: text.into(), ..start(NOON, "x") };
    ledger.write(NOON, &LedgerLine::of("r").with("start", &begin).with("end", &exited(NOON, 0)).finish());
    assert_eq!(ledger.runs(LedgerQuery { cwd: Some(link), ..LedgerQuery::default() }), ["r"]);
}

#[test]
fn damaged_lines_cost_themselves_only_and_are_counted() {
    let ledger = TestLedger::new();
    let at = |count: u64| NOON + count;
    ledger.write(NOON, &quick("a", at(1), "x", 0));
    let append = |bytes: &[u8]| {
        use std::io::Write;
        let mut file = std::fs::File::options().append(true).open(ledger.file(NOON)).expect("the file");
        file.write_all(bytes).expect("written");
    };
    append(b"{\"run\":\"x\"}\nnonsense\n\n\0\0\0\n");
    ledger.write(NOON, &quick("b", at(2), "x", 0));
    append(&quick("torn", at(3), "x", 0)[..40]);
    ledger.write(NOON, &quick("c", at(4), "x", 0));
    append(&[&vec![b'x'; 700_000][..], b"\n"].concat());
    ledger.write(NOON, &quick("d", at(5), "x", 0));
    let mut changed = quick("e", at(6), "x", 0);
    changed[10] ^= 1;
    ledger.write(NOON, &changed);
    ledger.write(NOON, &quick("f", at(7), "x", 0));
    let (found, passed) = ledger.read_all(LedgerQuery::default());
    assert_eq!(ids(&found), ["f", "d", "c", "b", "a"]);
    assert_eq!(passed.damaged, 6);
}

#[test]
fn removals_are_reported_and_are_no_runs() {
    let ledger = TestLedger::new();
    ledger.write(NOON, &quick("a", NOON, "x", 0));
    let removed =
        RemovedLedgerFile { at: NOON, file: "2020-01-01.jsonl".into(), bytes: 1, why: "older than 90 days".into() };
    ledger.write(NOON, &LedgerLine::removed(&removed).finish());
    let (found, passed) = ledger.read_all(LedgerQuery::default());
    assert_eq!(ids(&found), ["a"]);
    assert_eq!(passed.removed, [("2020-01-01.jsonl".to_owned(), "older than 90 days".to_owned())]);
}

#[test]
fn links_pipes_and_files_of_other_names_are_passed_over() {
    let ledger = TestLedger::new();
    ledger.write(NOON, &quick("a", NOON, "x", 0));
    let other = ledger.0.path().join("other");
    std::fs::write(&other, quick("link", NOON, "x", 0)).expect("written");
    std::os::unix::fs::symlink(&other, ledger.file(NOON + DAY)).expect("a link");
    nix::unistd::mkfifo(&ledger.file(NOON + 2 * DAY), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    std::fs::create_dir(ledger.file(NOON + 3 * DAY)).expect("a directory");
    std::fs::write(ledger.directory().join("notes.txt"), "x").expect("written");
    assert_eq!(ledger.runs(LedgerQuery::default()), ["a"]);
}

fn next(reader: &mut LedgerReader) -> Vec<Value> {
    let batch = reader.read();
    batch.text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn rows_are_for_people() {
    let ledger = TestLedger::new();
    ledger.write(NOON, &quick("a", NOON, "npm test\nx", 3));
    let mut reader = LedgerReader::new(ledger.directory(), LedgerQuery::default(), EntryFormat::Row { colours: false });
    let text = reader.read().text;
    assert!(text.ends_with("  exit 3          1 ms  npm test\\nx  (/srv/project)\n"), "{text}");
    let mut reader = LedgerReader::new(ledger.directory(), LedgerQuery::default(), EntryFormat::Row { colours: true });
    let coloured = reader.read().text;
    assert!(coloured.contains("\u{1b}[31mexit 3"), "{coloured}");
    let plain =
        ["31", "39", "2", "22"].iter().fold(coloured, |text, code| text.replace(&format!("\u{1b}[{code}m"), ""));
    assert_eq!(plain, text);
    let there = LedgerRunStart { target: Some("ssh:build1".into()), ..start(NOON, "make") };
    ledger.write(NOON, &LedgerLine::of("b").with("start", &there).with("end", &exited(NOON + 1, 0)).finish());
    let used = |name: &'static str, host: &'static str| LedgerRunSecret {
        name: name.into(),
        host: host.into(),
        count: 1,
        refused: 0,
    };
    let secrets = vec![used("NPM", "a"), used("NPM", "b"), used("TOKEN", "a")];
    ledger.write(
        NOON,
        &LedgerLine::of("b").with("note", &LedgerRunNote { secrets, ..LedgerRunNote::default() }).finish(),
    );
    let text =
        LedgerReader::new(ledger.directory(), LedgerQuery::default(), EntryFormat::Row { colours: false }).read().text;
    assert!(text.contains("  make  (/srv/project on ssh:build1, secret NPM, secret TOKEN)\n"), "{text}");
}

#[test]
fn the_record_of_a_loss_and_the_start_that_it_repeats_are_one_entry() {
    let ledger = TestLedger::new();
    let begun = start(NOON, "kill -9 $PPID");
    let loss = LedgerLine::of("r")
        .with("start", &begun)
        .with("end", &LedgerRunEnd::with_state(NOON + 5, LedgerRunState::Lost))
        .finish();
    ledger.write(NOON, &LedgerLine::of("r").with("shim", &dead_shim()).with("start", &begun).finish());
    ledger.write(NOON, &quick("next", NOON + 1, "x", 0));
    ledger.write(NOON, &loss);
    let found = ledger.read(LedgerQuery::default());
    assert_eq!(ids(&found), ["next", "r"]);
    assert_eq!((&found[1]["state"], &found[1]["endedAt"]), (&"lost".into(), &Value::Null));
    let mut reader = LedgerReader::new(
        ledger.directory(),
        LedgerQuery { follow: true, ..LedgerQuery::default() },
        EntryFormat::Json,
    );
    assert_eq!(ids(&[next(&mut reader), next(&mut reader)].concat()), ["r", "next"]);
    let late = LedgerLine::of("late")
        .with("start", &start(NOON + 2, "x"))
        .with("end", &LedgerRunEnd::with_state(NOON + 5, LedgerRunState::Lost));
    ledger.write(NOON, &late.finish());
    assert_eq!(ids(&next(&mut reader)), ["late", "late"], "as it started, and as it ended");
}

/// Writes 100,000 runs as shims do, into the directory that `LEDGER` names if it is set, and reads them.
#[test]
#[ignore = "stress: measures time"]
fn a_hundred_thousand_runs_are_read_fast() {
    const RUNS: u64 = 100_000;
    let ledger = TestLedger::new();
    let directory = std::env::var_os("LEDGER").map_or_else(|| ledger.directory(), PathBuf::from);
    let mut lines: std::collections::BTreeMap<LedgerDay, Vec<u8>> = std::collections::BTreeMap::new();
    LedgerWriter::new(directory.clone()).append(NOON - 90 * DAY, b"").expect("a directory");
    let shim = own_shim();
    for at in 0..RUNS {
        let moment = NOON - 20 * DAY + at * 15_000;
        let command = format!("npm run test:unit -- --filter part{at} && git status --short | head -{}", at % 50);
        let run = format!("12345-6612cfc03d865-{at:x}");
        let text = lines.entry(LedgerDay::of(moment)).or_default();
        text.extend(LedgerLine::of(&run).with("shim", &shim).with("start", &start(moment, &command)).finish());
        text.extend(LedgerLine::of(&run).with("end", &exited(moment + 900, i32::from(at % 7 == 0))).finish());
    }
    for (day, text) in lines {
        std::fs::write(directory.join(day.file_name()), text).expect("written");
    }
    for shape in [EntryFormat::Json, EntryFormat::Row { colours: false }] {
        let begin = std::time::Instant::now();
        let mut reader = LedgerReader::new(directory.clone(), LedgerQuery::default(), shape);
        let mut count = 0;
        loop {
            let batch = reader.read();
            count += batch.text.lines().count() as u64;
            if batch.is_over {
                break;
            }
        }
        let took = begin.elapsed();
        println!("{shape:?}: {count} entries in {took:?}");
        assert_eq!(count, RUNS);
        assert!(took.as_secs() < 30, "{took:?}");
    }
}
