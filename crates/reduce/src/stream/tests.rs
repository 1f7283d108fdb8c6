use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use allocation_counter::measure;
use proptest::prelude::*;
use proptest::test_runner::Config;

/// Most memory that a reduction of one stream may take.
const MOST: u64 = 128 << 10;

/// Lines of many kinds: new ones, repeats, warnings that differ, long ones.
fn line_of_build(at: usize) -> String {
    match at % 50 {
        7 => format!("src/part{}.rs:{at}:3: warning: unused name {}", at % 9, at % 7),
        21 => "x".repeat(if at % 1_000 == 21 { 30_000 } else { 300 }),
        33 => "the same line every time".to_owned(),
        _ => format!("step {at}: prepared the part number {} and went on with it", at * 7919 % 10_007),
    }
}

#[test]
fn a_stream_is_reduced_in_128_kib_of_memory() {
    let options = ReductionOptions {
        command: Some("make all"),
        ..ReductionOptions::new(ReductionLevel::Salient { budget: 1_000 })
    };
    let read = |text: &str, chunk: usize| {
        let mut reducer = OutputReducer::new(&options);
        text.as_bytes().chunks(chunk).for_each(|part| {
            reducer.push(CommandStream::Stdout, str::from_utf8(part).expect("ASCII"));
        });
        reducer
    };
    // As many failures as are held, of which each is short, long or longer than it is held.
    for (failures, length) in [(420, 15), (300, 50), (75, 600), (4, 12_000)] {
        let failure = |at: usize| format!("FAIL {at}{}\n", "x".repeat(length));
        let mut text: String = (0..failures).map(failure).collect();
        for at in 0.. {
            text.push_str(&line_of_build(at));
            text.push('\n');
            if text.len() > 1 << 20 {
                break;
            }
        }
        // Rules and tables are built once per process.
        drop(read(&text, 4 << 10).finish(ExitOutcome::Succeeded));
        for chunk in [100, 4 << 10, 256 << 10] {
            let mut reducer = None;
            let most = measure(|| reducer = Some(read(&text, chunk))).bytes_max;
            assert!(most <= MOST, "{most} bytes for {failures} failures in chunks of {chunk}");
            let view = reducer.expect("it was made").finish(ExitOutcome::Succeeded).expect("a gain");
            assert!(!view.elided.is_empty());
        }
    }
}

#[test]
fn repeated_lines_have_the_view_of_lines_that_come_alone() {
    let options = ReductionOptions {
        command: Some("make all"),
        ..ReductionOptions::new(ReductionLevel::Salient { budget: 200 })
    };
    let mut text = String::new();
    for (at, line) in
        ["", "y", "Überprüfung 12 ok", "  12 warnings", "error: no such file", "", "step 7"].iter().enumerate()
    {
        text.push_str(&format!("{line}\n").repeat(at * 9_000 + 1));
        text.push_str(&format!("between {at}\n"));
    }
    let alone = view_of(text.split_inclusive('\n'), &options, ExitOutcome::Failed);
    assert!(alone.contains("between 6"), "{alone}");
    assert_eq!(view_of(std::iter::once(&*text), &options, ExitOutcome::Failed), alone);
    let (left, right) = text.split_at(100_001);
    assert_eq!(view_of([left, right].into_iter(), &options, ExitOutcome::Failed), alone);
}

/// Returns the view of an output that comes in parts.
fn view_of<'t>(parts: impl Iterator<Item = &'t str>, options: &ReductionOptions, end: ExitOutcome) -> String {
    let mut reducer = OutputReducer::new(options);
    parts.for_each(|part| reducer.push(CommandStream::Stdout, part));
    format!("{:?}", reducer.finish(end))
}

#[test]
fn lines_that_repeat_in_turn_are_judged_a_few_times() {
    let lines: String = (0..64).map(|at| format!("the step {} of part {at}\n", at * at % 61)).collect();
    for (block, most) in [("a\nb\n", 2_000), ("a\nb\nwarning: c\n", 2_000), ("\nx\nx\n", 2_000), (&lines, 6_000)] {
        let judged = AtomicUsize::new(0);
        let keep = |_: &str| judged.fetch_add(1, Ordering::Relaxed) == usize::MAX;
        let options =
            ReductionOptions { keep: &keep, ..ReductionOptions::new(ReductionLevel::Salient { budget: 200 }) };
        let text = block.repeat(100_000 / block.matches('\n').count());
        view_of(std::iter::once(&*text), &options, ExitOutcome::Succeeded);
        let judged = judged.into_inner();
        assert!(judged < most, "{judged} lines of {:?}", &block[..block.len().min(20)]);
    }
}

/// A line that may be repeated in turn with others.
fn line_of_block() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-c]{1,3}",
        3 => (0u32..40, "[a-z]{3,9}").prop_map(|(at, word)| format!("step {at}: prepared the {word}")),
        2 => (1u32..5).prop_map(|at| at.to_string()),
        1 => Just(String::new()),
        1 => "[a-z]{2,5}".prop_map(|word| format!("warning: unused {word}")),
        1 => "[a-z]{2,5}".prop_map(|word| format!("error: no {word} here")),
        1 => "[a-z]{2,5}".prop_map(|word| format!("    at {word} (src/a.js:1:2)")),
        1 => "[a-z]{2,5}".prop_map(|word| format!("___ test_{word} ___")),
        1 => "[a-z]{2,5}".prop_map(|word| format!("FAILED tests/a.py::test_{word} - no")),
        1 => Just("---- orders::keep stdout ----".to_owned()),
        1 => Just("Traceback (most recent call last):".to_owned()),
        1 => Just("stderr | a.test.ts > sums".to_owned()),
        1 => Just("\u{1b}[31mü\u{1b}[0m".to_owned()),
        1 => Just("[x3]".to_owned()),
        1 => (100usize..900).prop_map(|length| "x".repeat(length)),
    ]
}

fn block_of(line: impl Strategy<Value = String>, lines: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(line, lines).prop_map(|lines| lines.join("\n") + "\n")
}

/// A block of few or many lines, alike or not.
fn block() -> impl Strategy<Value = String> {
    let distinct = block_of("[a-z]{4,9} [a-z]{30,60}", 25..65);
    prop_oneof![2 => block_of(line_of_block(), 1..5), 2 => block_of(line_of_block(), 1..65), 1 => distinct]
}

proptest! {
    #![proptest_config(Config::with_cases(if cfg!(debug_assertions) { 48 } else { 2_000 }))]

    #[test]
    fn lines_that_repeat_in_turn_have_the_view_of_lines_that_come_alone(
        parts in prop::collection::vec((block_of(line_of_block(), 1..20), block(), 1usize..100), 1..4),
        last in "[a-z]{0,9}",
        at in 0usize..100_000,
        budget in prop_oneof![Just(200usize), Just(2_000), Just(20_000)],
        fails in any::<bool>(),
    ) {
        let mut text = String::new();
        for (before, block, share) in &parts {
            text.push_str(before);
            text.push_str(&block.repeat(share * 1_000 / block.len() + 2));
        }
        // A view has to be made while the output runs.
        text.push_str(&parts[0].1.repeat(super::WHOLE / parts[0].1.len() + 1));
        text.push_str(&last);
        let options = ReductionOptions { command: Some("make all"), ..ReductionOptions::new(ReductionLevel::Salient { budget }) };
        let end = if fails { ExitOutcome::Failed } else { ExitOutcome::Succeeded };
        let alone = view_of(text.split_inclusive('\n'), &options, end);
        prop_assert_eq!(&view_of(std::iter::once(&*text), &options, end), &alone);
        let (left, right) = text.split_at(text.floor_char_boundary(at));
        prop_assert_eq!(&view_of([left, right].into_iter(), &options, end), &alone);
    }
}
