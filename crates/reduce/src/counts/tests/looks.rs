//! A reader that passes over lines at their first bytes counts the same as one that asks all runners of each line.

use proptest::prelude::*;

use super::{runners, text};
use crate::CommandStream;
use crate::counts::{CommandTermination, TestCountReader, TestCounts};
use crate::rules::test_line_patterns::COUNTING;

/// Returns all recorded lines.
fn lines() -> Vec<String> {
    let all = runners()
        .into_iter()
        .flat_map(|(runner, cases)| cases.into_keys().map(move |name| text(&runner, &name)).collect::<Vec<_>>());
    all.flat_map(|text| text.split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>()).collect()
}

fn counts(text: &[u8], command: Option<&str>, size: usize, asked: u64) -> Vec<TestCounts> {
    let printed = command.map(crate::class::output_profile);
    let mut reader = TestCountReader::new(printed.as_ref());
    reader.lines.finder.asked = asked;
    text.chunks(size).for_each(|chunk| reader.push(CommandStream::Stdout, chunk));
    reader.end(CommandTermination::ByItself)
}

/// Pieces of recorded outputs, begun anywhere, and lines of other programs.
fn pieces(lines: &'static [String]) -> impl Strategy<Value = Vec<u8>> {
    let recorded = (0..lines.len(), 1..12usize, 0..4usize).prop_map(|(from, count, cut)| {
        let text = lines[from..].iter().take(count).map(String::as_str).collect::<String>().into_bytes();
        text[cut.min(text.len())..].to_vec()
    });
    let other =
        prop_oneof![Just(String::new()), "[0-9]{1,7}", " *[a-zA-Z.✓(\\[]{0,6} .{0,20}", "(\u{1b}\\[3[0-9]m)?ok\r?"];
    prop_oneof![3 => recorded, 1 => other.prop_map(|line| format!("{line}\n").into_bytes())]
}

#[test]
fn a_first_look_changes_no_count() {
    let lines: &'static [String] = lines().leak();
    let texts = prop::collection::vec(pieces(lines), 1..24).prop_map(|pieces| pieces.concat());
    let commands = prop::sample::select(vec![None, Some("make check"), Some("cargo test"), Some("npm test")]);
    proptest!(ProptestConfig::with_cases(500), |(text in texts, command in commands, size in 1..4_000usize)| {
        let all = counts(&text, command, usize::MAX, (1 << COUNTING) - 1);
        prop_assert_eq!(counts(&text, command, size, 0), all, "{}", String::from_utf8_lossy(&text));
    });
}

#[test]
fn names_of_an_output_without_its_head_are_read() {
    let text = "test a ... FAILED\ntest b ... ok\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; \
                0 filtered out; finished in 0.00s\n";
    let all = counts(text.as_bytes(), None, usize::MAX, 0);
    assert_eq!(all.iter().map(|counts| counts.failures.clone()).collect::<Vec<_>>(), [["a"]]);
}
