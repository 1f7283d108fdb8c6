//! Readers that follow.

use super::*;

/// Reads until an entry comes, or the reader is over.
#[test]
fn a_follower_gets_the_oldest_first_and_then_each_run_twice() {
    let ledger = TestLedger::new();
    ledger.write(NOON, &quick("a", NOON, "x", 0));
    ledger.write(NOON, &quick("b", NOON + 1, "x", 0));
    ledger.write(NOON, &LedgerLine::of("c").with("shim", &own_shim()).with("start", &start(NOON + 2, "x")).finish());
    let mut reader = LedgerReader::new(
        ledger.directory(),
        LedgerQuery { follow: true, ..LedgerQuery::default() },
        EntryFormat::Json,
    );
    let mut seen = Vec::new();
    let mut take = |reader: &mut LedgerReader| {
        let found = next(reader);
        seen.extend(
            found
                .iter()
                .map(|entry| format!("{} {}", entry["runId"].as_str().unwrap(), entry["state"].as_str().unwrap())),
        );
        seen.clone()
    };
    while take(&mut reader).len() < 3 {}
    ledger.write(NOON, &LedgerLine::of("c").with("end", &exited(NOON + 5, 0)).finish());
    ledger.write(NOON + DAY, &quick("d", NOON + DAY, "x", 1));
    let seen = (0..4).map(|_| take(&mut reader)).next_back().expect("some");
    assert_eq!(seen, ["a exited", "b exited", "c running", "c exited", "d running", "d exited"]);
}

#[test]
fn a_follower_gets_the_note_with_the_end_and_the_lost() {
    let ledger = TestLedger::new();
    let mut reader = LedgerReader::new(
        ledger.directory(),
        LedgerQuery { follow: true, ..LedgerQuery::default() },
        EntryFormat::Json,
    );
    assert!(next(&mut reader).is_empty());
    let noted = LedgerRunStart { noted: true, ..start(NOON, "x") };
    ledger.write(NOON, &LedgerLine::of("r").with("start", &noted).with("end", &exited(NOON, 0)).finish());
    next(&mut reader);
    ledger.write(NOON, &LedgerLine::of("r").with("note", &changed()).finish());
    let found = next(&mut reader);
    assert_eq!(found[0]["receipt"]["created"], 1);
    ledger.write(NOON, &LedgerLine::of("gone").with("shim", &dead_shim()).with("start", &start(NOON, "x")).finish());
    assert_eq!(next(&mut reader)[0]["state"], "running");
    let begin = std::time::Instant::now();
    let lost = loop {
        let found = next(&mut reader);
        if let Some(entry) = found.first() {
            break entry.clone();
        }
        assert!(begin.elapsed().as_secs() < 60, "it hangs");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(lost["state"], "lost");
}

#[test]
fn a_limit_ends_a_follower() {
    let ledger = TestLedger::new();
    for at in 0..3 {
        ledger.write(NOON, &quick(&format!("r{at}"), NOON + at, "x", 0));
    }
    let query = |limit| LedgerQuery { follow: true, limit: Some(limit), ..LedgerQuery::default() };
    assert_eq!(ledger.runs(query(2.0)), ["r0", "r1"]);
    assert_eq!(ledger.runs(query(3.0)), ["r0", "r1", "r2"]);
}

fn changed() -> LedgerRunNote<'static> {
    let changes = LedgerRunChanges { state: "known".into(), counts: [1, 0, 0, 0], paths: vec!["/a".into()] };
    LedgerRunNote { changes: Some(changes), ..LedgerRunNote::default() }
}

#[test]
fn a_follower_gets_the_receipt_of_a_command_that_became_a_task() {
    let ledger = TestLedger::new();
    let mut reader = LedgerReader::new(
        ledger.directory(),
        LedgerQuery { follow: true, ..LedgerQuery::default() },
        EntryFormat::Json,
    );
    assert!(next(&mut reader).is_empty());
    let noted = LedgerRunStart { noted: true, ..start(NOON, "x") };
    let task = Some(LedgerRunTask { id: "t".into(), log: "/t".into() });
    let moved = LedgerRunNote { task, ..LedgerRunNote::default() };
    ledger.write(NOON, &LedgerLine::of("r").with("start", &noted).with("note", &moved).finish());
    assert_eq!(next(&mut reader)[0]["state"], "running");
    let silent =
        LedgerRunNote { silence: Some(LedgerRunSilence { ms: 5, waited_for: None }), ..LedgerRunNote::default() };
    ledger.write(NOON, &LedgerLine::of("r").with("end", &exited(NOON, 0)).with("note", &silent).finish());
    assert!(next(&mut reader).is_empty(), "its receipt is awaited");
    ledger.write(NOON, &LedgerLine::of("r").with("note", &changed()).finish());
    let found = next(&mut reader);
    assert_eq!((&found[0]["receipt"]["created"], &found[0]["taskId"]), (&1.into(), &"t".into()));
}

#[test]
fn a_follower_gets_a_refused_command_once() {
    let ledger = TestLedger::new();
    let mut reader = LedgerReader::new(
        ledger.directory(),
        LedgerQuery { follow: true, ..LedgerQuery::default() },
        EntryFormat::Json,
    );
    assert!(next(&mut reader).is_empty());
    let refused = LedgerRunEnd::with_state(NOON, LedgerRunState::Refused);
    ledger.write(NOON, &LedgerLine::of("r").with("start", &start(NOON, "x")).with("end", &refused).finish());
    let found = next(&mut reader);
    assert_eq!(found.iter().map(|entry| &entry["state"]).collect::<Vec<_>>(), ["refused"]);
}

#[test]
fn a_follower_that_is_far_behind_loses_no_end() {
    let ledger = TestLedger::new();
    let mut reader = LedgerReader::new(
        ledger.directory(),
        LedgerQuery { follow: true, ..LedgerQuery::default() },
        EntryFormat::Json,
    );
    assert!(next(&mut reader).is_empty());
    ledger.write(NOON, &LedgerLine::of("r").with("shim", &dead_shim()).with("start", &start(NOON, "x")).finish());
    assert_eq!(next(&mut reader)[0]["state"], "running");
    // The next scan for killed shims is due.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let long = quick("other", NOON, &"x".repeat(30_000), 0);
    ledger.write(NOON, &long.repeat(400));
    ledger.write(NOON, &LedgerLine::of("r").with("end", &exited(NOON, 3)).finish());
    let states: Vec<Value> = (0..8).flat_map(|_| next(&mut reader)).filter(|entry| entry["runId"] == "r").collect();
    assert_eq!(states.iter().map(|entry| &entry["state"]).collect::<Vec<_>>(), ["exited"]);
}
