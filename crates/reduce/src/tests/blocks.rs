//! The block of the first failure, of each tool, wherever it stands: `blocks/TOOL.txt` has the command behind `$ `, and
//! the block.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use crate::class::OutputClass;
use crate::{ExitOutcome, ReducedView, ReductionLevel, ReductionOptions, reduce};

/// Returns the blocks: the tool, its command, the text.
fn blocks() -> Vec<(String, String, String)> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("blocks");
    let mut blocks: Vec<_> = fs::read_dir(directory)
        .expect("blocks")
        .map(|entry| {
            let path = entry.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("a block");
            let (command, block) = text.split_once('\n').expect("a command");
            let tool = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (tool, command.trim_start_matches("$ ").to_owned(), block.to_owned())
        })
        .collect();
    blocks.sort();
    blocks
}

/// A line of an output that reports no failure.
type FillerLine = fn(usize) -> String;

const WORDS: [&str; 12] =
    ["amber", "birch", "cedar", "delta", "ember", "fern", "grape", "hazel", "iris", "juniper", "kelp", "linden"];

const FILLERS: [(&str, FillerLine); 4] = [
    ("prose", |at| {
        let word = |step: usize| WORDS[at * step % 11 + at / 11 % 2];
        format!("The {} of the {} was moved to the {} behind {}\n", word(3), word(5), word(7), word(2))
    }),
    ("progress", |at| format!("[{}/6000] Linking {}-{at}.o\n", at + 1, WORDS[at % 12])),
    ("blank separated", |at| format!("prepared the {} of part {at}\n\n", WORDS[at * 5 % 12])),
    ("numbered", |at| format!("{at}. {} and {}\n", WORDS[at * 7 % 12], WORDS[at * 3 % 12])),
];

/// Number of lines of filler.
const LINES: usize = 2_000;

fn output(block: &str, filler: FillerLine, place: usize) -> String {
    let mut text = String::new();
    (0..place).for_each(|at| text.push_str(&filler(at)));
    text.push_str(block);
    (place..LINES).for_each(|at| text.push_str(&filler(at)));
    text
}

/// Returns whether a text has a line, perhaps below a heading that carries its path.
fn is_shown(text: &str, line: &str) -> bool {
    text.contains(line) || line.split_once(':').is_some_and(|(path, said)| text.contains(path) && text.contains(said))
}

/// Returns the lines of a block that a view leaves out. `place`: the lines before the block.
fn missing(view: &ReducedView, block: &str, place: usize) -> Vec<String> {
    let is_elided = |number: usize| view.elided.iter().any(|gap| (gap.from..=gap.to).contains(&number));
    let numbered = block.lines().zip(place + 1..);
    numbered
        .filter(|(line, number)| is_elided(*number) || !is_shown(&view.text, line))
        .map(|(line, _)| line.to_owned())
        .collect()
}

/// Budgets and ends, of which each place has some.
const CASES: [(usize, ExitOutcome); 6] = [
    (100, ExitOutcome::Failed),
    (300, ExitOutcome::Succeeded),
    (500, ExitOutcome::Failed),
    (1_000, ExitOutcome::Unknown),
    (300, ExitOutcome::Failed),
    (4_000, ExitOutcome::Failed),
];

#[test]
fn the_block_of_the_first_failure_is_whole_for_each_tool_at_each_place_and_budget() {
    check_blocks(CASES.len() - 1);
}

#[test]
#[ignore = "stress: it makes thousands of views"]
fn the_block_of_the_first_failure_is_whole_in_all_cases() {
    check_blocks(1);
}

/// Checks every case, or each of `step` cases.
fn check_blocks(step: usize) {
    let mut faults = String::new();
    let blocks = blocks();
    let tools = blocks.iter().flat_map(|block| FILLERS.map(|filler| (block, filler)));
    let places = tools.flat_map(|tool| [0, 100, LINES / 2, LINES - 100, LINES].map(|place| (tool, place)));
    let cases = places.flat_map(|place| CASES.map(|case| (place, case)));
    for ((((tool, command, block), (kind, filler)), place), (budget, end)) in cases.step_by(step) {
        let text = output(block, filler, place);
        let above: String = (0..place).map(filler).collect();
        let options =
            ReductionOptions { command: Some(command), ..ReductionOptions::new(ReductionLevel::Salient { budget }) };
        // Without a view the output is shown whole.
        let Some(view) = reduce(&text, "", end, &options) else { continue };
        let missing = missing(&view, block, above.lines().count());
        // Findings of a linter that succeeds are no failure.
        let is_green = tool == "ruff" && end != ExitOutcome::Failed;
        let is_wrong = if is_green {
            view.class != OutputClass::Green
        } else {
            view.class != OutputClass::Red || !missing.is_empty()
        };
        if is_wrong || view.after > (budget * 4).max(400) + 2_000 {
            let _ = writeln!(
                faults,
                "{tool}, {kind}, {place}, {budget}, {end:?}: {:?}, {} {missing:#?}",
                view.class, view.after
            );
        }
    }
    assert!(faults.is_empty(), "{faults}");
}

/// Number of failed tests.
const TESTS: usize = 300;

#[test]
fn the_name_of_each_of_many_failed_tests_is_shown() {
    type Row = fn(usize) -> String;
    let tools: [(&str, Row); 12] = [
        ("pytest", |at| format!("tests/test_m.py::test_{at} FAILED [ {}%]\n", at / 3)),
        ("pytest -q", |at| format!("FAILED tests/test_m.py::test_{at} - assert {at} == 2\n")),
        ("pytest -x", |at| format!("______________ test_{at} ______________\n\nE   assert {at} == 2\n\n")),
        ("cargo test", |at| format!("test orders::test_{at} ... FAILED\n")),
        ("go test ./...", |at| format!("--- FAIL: Test{at} (0.00s)\n    a_test.go:4: got {at}\n")),
        ("npx jest", |at| format!("  ● orders › keep order {at}\n\n    Expected: {at}\n")),
        ("npx vitest run", |at| format!(" FAIL  src/a.test.ts > orders > order {at}\nAssertionError: expected {at}\n")),
        ("rspec", |at| format!("rspec ./spec/orders_spec.rb:{at} # Orders keep order {at}\n")),
        ("npx mocha", |at| format!("  {at}) orders\n       keep order {at}:\n     Error: {at}\n")),
        ("ctest", |at| format!("{at}/300 Test #{at}: orders_{at} ........***Failed    0.0{} sec\n", at % 9)),
        ("./orders_test", |at| format!("[  FAILED  ] Orders.Sum{at} (0 ms)\n")),
        ("node --test", |at| format!("✖ keep order {at} (1.{at}ms)\n")),
    ];
    for (command, row) in tools {
        let mut text: String = (0..1_000).map(FILLERS[0].1).collect();
        (0..TESTS).for_each(|at| text.push_str(&row(at)));
        text.extend((0..1_000).map(FILLERS[0].1));
        let options = ReductionOptions {
            command: Some(command),
            ..ReductionOptions::new(ReductionLevel::Salient { budget: 300 })
        };
        // Without a view the output is shown whole.
        let Some(view) = reduce(&text, "", ExitOutcome::Failed, &options) else { continue };
        let hidden: Vec<usize> =
            (0..TESTS).filter(|&at| !view.text.contains(row(at).lines().next().unwrap_or(""))).collect();
        assert!(hidden.is_empty(), "{command}: {hidden:?}");
    }
}
