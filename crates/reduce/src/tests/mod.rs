//! Properties of views: shown lines and gaps are the whole output, no failure is left out, and a view is the same under
//! any split.

mod blocks;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::class::OutputClass;
use super::fold::{AllowedFolds, unfold};
use super::salience::view_writer::marker;
use super::*;

fn options(level: ReductionLevel, command: Option<&'static str>) -> ReductionOptions<'static> {
    ReductionOptions { command, ..ReductionOptions::new(level) }
}

const SALIENT: ReductionLevel = ReductionLevel::Salient { budget: 200 };

/// Returns numbers that do not count.
fn scattered(at: usize) -> usize {
    at * at * 31 % 10_007
}

fn view(stdout: &str, stderr: &str, end: ExitOutcome, level: ReductionLevel) -> Option<ReducedView> {
    reduce(stdout, stderr, end, &options(level, Some("make all")))
}

/// The lines of one stream, from the text of a view and from the gaps that it names.
fn restored(text: &str, stream: CommandStream, before: usize, view: &ReducedView, original: &str) -> String {
    let originals: Vec<&str> = original.split_inclusive('\n').collect();
    let mut whole = String::new();
    let mut shown = String::new();
    let mut allowed = AllowedFolds::default();
    original.lines().for_each(|line| allowed.restrict_by(line));
    let own: Vec<&ElidedRange> = view.elided.iter().filter(|each| each.stream == stream).collect();
    for line in text.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let gap = own
            .iter()
            .find(|gap| gap.why != ElisionReason::Long && marker(stream, gap.from + before, gap.to + before) == bare);
        let long = own.iter().find(|long| {
            long.why == ElisionReason::Long && bare.contains(&format!(" characters of L{}]", long.from + before))
        });
        match (gap, long) {
            (Some(gap), _) => {
                whole.push_str(&unfold(&std::mem::take(&mut shown), allowed).expect("a folded text"));
                originals[gap.from - 1..gap.to].iter().for_each(|line| whole.push_str(line));
            }
            (None, Some(long)) => shown.push_str(originals[long.from - 1]),
            (None, None) => shown.push_str(line),
        }
    }
    whole + &unfold(&shown, allowed).expect("a folded text")
}

/// The output that a view stands for.
fn inverse(view: &ReducedView, stdout: &str, stderr: &str) -> (String, String) {
    let lines = stdout.lines().count();
    if stderr.is_empty() {
        return (restored(&view.text, CommandStream::Stdout, 0, view, stdout), String::new());
    }
    let (out, err) = match view.text.strip_prefix("stdout:\n") {
        Some(rest) => rest.split_once("\nstderr:\n").expect("two streams"),
        None => ("", view.text.strip_prefix("stderr:\n").expect("a label")),
    };
    let out = restored(out, CommandStream::Stdout, 0, view, stdout);
    (out, restored(err, CommandStream::Stderr, lines, view, stderr))
}

/// A line of some tool.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0u32..400, "[a-z]{3,9}").prop_map(|(number, word)| format!("step {number}: prepared the {word} and went on with it")),
        4 => ("[ab]", "[a-c]{1,2}", 1u32..300).prop_map(|(directory, name, line)| format!("src/{directory}/some/place/{name}.ts:{line}:  call()")),
        2 => Just(String::new()),
        2 => Just("the same line every time".to_owned()),
        1 => "[ -~éß→]{0,60}",
        1 => ("[a-z]{3,9}", 1u32..99).prop_map(|(word, line)| format!("src/{word}.rs:{line}:9: error: no {word} here")),
        1 => Just("x".repeat(2_500)),
        1 => (0u32..9, 1u32..12, 3usize..40).prop_map(|(first, step, lines)| {
            let line = |at: usize| format!("[{:>3}/99] linking part{:02}.o", first + at as u32 * step, at);
            (0..lines).map(line).collect::<Vec<_>>().join("\n")
        }),
        1 => prop::sample::select(vec!["[x3]", "[1..9] x", "src/ [2 lines]", "[last 2 lines x4]", "[... L3-4]", "stderr:"]).prop_map(str::to_owned),
    ]
}

fn output(lines: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    (prop::collection::vec((line(), 1usize..4), lines), any::<bool>()).prop_map(|(lines, open)| {
        let mut text: String = lines
            .iter()
            .flat_map(|(line, count)| std::iter::repeat_n(line, *count))
            .map(|line| format!("{line}\n"))
            .collect();
        // The label of the other stream is no line of this one, or a view could not be taken apart by a test.
        text = text.replace("\nstderr:\n", "\nother:\n").replace("stderr:\n", "other:\n");
        if open && text.ends_with('\n') && !text.ends_with("\n\n") {
            text.pop();
        }
        text
    })
}

fn levels() -> impl Strategy<Value = ReductionLevel> {
    prop_oneof![Just(ReductionLevel::Lossless), Just(SALIENT), Just(ReductionLevel::Salient { budget: 20 })]
}

fn ends() -> impl Strategy<Value = ExitOutcome> {
    prop_oneof![Just(ExitOutcome::Unknown), Just(ExitOutcome::Succeeded), Just(ExitOutcome::Failed)]
}

/// The output in pieces, pushed one after the other.
fn in_pieces(stdout: &str, cuts: &[usize], end: ExitOutcome, level: ReductionLevel) -> Option<ReducedView> {
    let options = options(level, Some("make all"));
    let mut reducer = OutputReducer::new(&options);
    let mut at = 0;
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| stdout.floor_char_boundary(cut % (stdout.len() + 1))).collect();
    cuts.sort_unstable();
    for cut in cuts.into_iter().chain([stdout.len()]) {
        reducer.push(CommandStream::Stdout, &stdout[at..cut]);
        at = cut;
    }
    reducer.finish(end)
}

proptest! {
    #[test]
    fn a_view_stands_for_the_whole_output(stdout in output(0..60), stderr in output(0..20), end in ends(), level in levels()) {
        if let Some(view) = view(&stdout, &stderr, end, level) {
            let (mut out, err) = inverse(&view, &stdout, &stderr);
            // Before another stream, the last line always ends.
            if !stderr.is_empty() && out.len() > stdout.len() {
                prop_assert_eq!(out.pop(), Some('\n'));
            }
            prop_assert_eq!((out, err), (stdout, stderr), "{}", view.text);
        }
    }

    #[test]
    fn a_view_costs_less(stdout in output(0..60), end in ends(), level in levels()) {
        if let Some(view) = view(&stdout, "", end, level) {
            prop_assert_eq!(view.after, estimate_tokens(&view.text));
            prop_assert_eq!(view.before, estimate_tokens(&stdout));
            prop_assert!(view.after < view.before);
            prop_assert!(view.elided.is_empty() || view.after * 10 <= view.before * 9);
        }
    }

    #[test]
    fn a_lossless_view_leaves_nothing_out(stdout in output(0..60), end in ends()) {
        if let Some(view) = view(&stdout, "", end, ReductionLevel::Lossless) {
            prop_assert!(view.elided.is_empty());
            prop_assert!(view.text.len() < stdout.len());
        }
    }

    #[test]
    fn every_failure_is_shown(stdout in output(0..60), level in levels()) {
        if let Some(view) = view(&stdout, "", ExitOutcome::Failed, level) {
            for line in stdout.lines().filter(|line| line.contains(": error: ")) {
                let said = line.split_once(':').map_or(line, |(_, said)| said);
                prop_assert!(view.text.contains(said), "{line} is not in\n{}", view.text);
            }
        }
    }

    #[test]
    fn what_a_caller_keeps_is_shown(stdout in output(10..60), number in 0usize..60) {
        let wanted = stdout.lines().nth(number % stdout.lines().count().max(1)).unwrap_or("").to_owned();
        let keep = |line: &str| line == wanted;
        let options = ReductionOptions { keep: &keep, ..ReductionOptions::new(SALIENT) };
        if let Some(view) = reduce(&stdout, "", ExitOutcome::Succeeded, &options) {
            let whole = view.elided.iter().all(|gap| stdout.lines().skip(gap.from - 1).take(gap.to + 1 - gap.from).all(|line| line != wanted));
            prop_assert!(whole, "{wanted} is not in\n{}", view.text);
        }
    }

    #[test]
    fn a_small_output_has_the_same_view_in_pieces(stdout in output(0..40), cuts in prop::collection::vec(0usize..4_000, 0..6), end in ends()) {
        prop_assert_eq!(in_pieces(&stdout, &cuts, end, SALIENT), view(&stdout, "", end, SALIENT));
    }
}

proptest! {
    #![proptest_config(Config::with_cases(24))]

    #[test]
    fn a_long_output_has_the_same_view_in_pieces(
        part in output(40..60), noise in 20usize..60, cuts in prop::collection::vec(0usize..1_000_000, 0..8), end in ends(),
    ) {
        let stdout = long(&part, noise);
        let options = options(SALIENT, Some("make all"));
        let mut whole = OutputReducer::new(&options);
        whole.push(CommandStream::Stdout, &stdout);
        prop_assert_eq!(in_pieces(&stdout, &cuts, end, SALIENT), whole.finish(end));
    }

    #[test]
    fn the_view_of_a_long_output_stands_for_the_whole(part in output(40..60), noise in 20usize..60, end in ends()) {
        let stdout = long(&part, noise);
        if let Some(view) = view(&stdout, "", end, SALIENT) {
            let whole = inverse(&view, &stdout, "").0;
            let same = whole.bytes().zip(stdout.bytes()).take_while(|(a, b)| a == b).count();
            prop_assert!(whole == stdout, "from byte {same} on: {:?}, not {:?}", whole.get(same..same + 80), stdout.get(same..same + 80));
        }
    }
}

/// An output of more than 64 KiB, with a part in its middle.
fn long(part: &str, noise: usize) -> String {
    let mut text = String::new();
    for round in 0..noise * 40 {
        text.push_str(&format!("{round} compiled the module number {} in {} ms\n", round % 7, round * 31 % 97));
    }
    let middle = text.floor_char_boundary(text.len() / 2);
    let middle = text[..middle].rfind('\n').map_or(0, |at| at + 1);
    text.insert_str(middle, part.strip_suffix('\n').unwrap_or(part));
    text.push_str(&"z".repeat(12 << 10));
    text.push('\n');
    text
}

#[test]
fn a_failure_in_a_flood_is_shown_with_its_place() {
    let mut stdout = String::new();
    for number in 0..20_000 {
        stdout.push_str(&format!("compiled module {} without trouble\n", scattered(number)));
        if number == 13_000 {
            stdout.push_str("src/a.c:3:5: error: expected ';' before '}' token\n    3 |   x\n      |    ^\n\n");
        }
    }
    let view = view(&stdout, "", ExitOutcome::Failed, SALIENT).expect("a view");
    assert_eq!(view.class, OutputClass::Red);
    assert!(
        view.text.contains("src/a.c:3:5: error: expected ';' before '}' token\n    3 |   x\n      |    ^\n"),
        "{}",
        view.text
    );
    assert!(view.text.contains("[... L"), "{}", view.text);
    assert!(view.after < 1_000, "{}", view.after);
}

#[test]
fn a_failure_is_no_repeat_of_a_line_that_counts_none() {
    let mut stdout: String =
        (0..200).map(|number| format!("suite {number}: 0 failed, 9 passed in this run\n")).collect();
    stdout.push_str("suite 200: 3 failed, 6 passed in this run\n");
    stdout.extend((201..400).map(|number| format!("suite {number}: 0 failed, 9 passed in this run\n")));
    let view = view(&stdout, "", ExitOutcome::Succeeded, SALIENT).expect("a view");
    assert_eq!(view.class, OutputClass::Red);
    assert!(view.text.contains("3 failed, 6 passed"), "{}", view.text);
}

#[test]
fn failures_that_differ_in_numbers_are_shown_a_few_times() {
    let noise = |at: usize| format!("compiled module {at} of the application without any trouble\n");
    let mut stdout = String::new();
    for number in 0..300 {
        stdout.push_str(&noise(number));
        if number % 10 == 5 && number < 280 {
            stdout.push_str(&format!("error: order {number} of the shop is not there\n"));
        }
    }
    let view = view(&stdout, "", ExitOutcome::Failed, ReductionLevel::Salient { budget: 50 }).expect("a view");
    assert_eq!(view.text.matches("error: order ").count(), 8, "{}", view.text);
}

/// A log with failed tests, each with its header and a block of which most lines are left out.
fn failed_tests(header: impl Fn(usize) -> String, error: &str, blocks: usize, lines: usize) -> String {
    let names = ["apple", "birch", "cedar", "dahlia", "elder", "fern", "grape", "hazel"];
    let mut text = String::new();
    for block in 0..blocks {
        text.push_str(&format!("{}\n\n", header(block)));
        for line in 0..lines {
            text.push_str(&format!("    order_{line} = shop.orders.take({block}, {})\n", names[line % 8]));
        }
        text.push_str(&format!("{} {}\n\n", error, names[block % 8].repeat(block / 8 + 1)));
    }
    text.push_str("=== the end\n");
    text
}

#[test]
fn the_header_of_a_failed_test_is_shown_with_lines_of_its_block() {
    let tests = [
        ("pytest", "________________________ test_order[#-a] ________________________", "E   assert"),
        ("cargo test", "---- orders::tests::order_# stdout ----", "thread 'a' panicked at src/a.rs:1:1:"),
        ("jest", "  ● orders › keep order #", "    expect(received).toBe(expected) // failed:"),
        ("vitest run", " FAIL  src/orders.test.ts > orders > order #", "AssertionError: expected"),
        ("go test ./...", "--- FAIL: TestOrders# (0.00s)", "    orders_test.go:14: got 3, want"),
    ];
    for (command, header, error) in tests {
        let header = |at: usize| header.replace('#', &at.to_string());
        for (blocks, lines) in [(20, 12), (60, 12), (50, 40)] {
            let stdout = failed_tests(header, error, blocks, lines);
            let Some(view) = reduce(&stdout, "", ExitOutcome::Failed, &options(SALIENT, Some(command))) else {
                panic!("{command}: no view of {blocks} blocks")
            };
            assert!(!view.elided.is_empty(), "{}", view.text);
            let hidden = |number| view.elided.iter().any(|gap| (gap.from..=gap.to).contains(&number));
            let (mut above, mut block) = (0, 0);
            for (line, number) in stdout.lines().zip(1..) {
                if line == header(block) {
                    (above, block) = (number, block + 1);
                }
                let is_named = above == 0 || !hidden(above) || line.starts_with("===");
                assert!(hidden(number) || is_named, "{command}, {blocks} blocks: {line} without its header");
            }
        }
    }
}

#[test]
fn a_large_output_is_not_folded_whole() {
    let stdout = "the same line every time\n".repeat(50_000);
    assert_eq!(view(&stdout, "", ExitOutcome::Succeeded, ReductionLevel::Lossless), None);
    assert!(view(&stdout[..1 << 19], "", ExitOutcome::Succeeded, ReductionLevel::Lossless).is_some());
}

#[test]
fn contents_of_files_stay_as_they_are() {
    let stdout = "let total = compute(total);\n".repeat(200);
    for level in [ReductionLevel::Lossless, SALIENT] {
        assert_eq!(reduce(&stdout, "", ExitOutcome::Succeeded, &options(level, Some("cat src/a.ts"))), None);
    }
}

#[test]
fn the_middle_of_a_long_line_is_left_out() {
    let stdout = format!("{{\"a\":\"{}\"}}\n", "b".repeat(5_000));
    let view = reduce(&stdout, "", ExitOutcome::Succeeded, &options(SALIENT, Some("cat a.json"))).expect("a view");
    assert_eq!(view.class, OutputClass::Exact);
    assert!(view.text.contains("[... 4,408 characters of L1]"), "{}", view.text);
    assert_eq!(view.elided, [ElidedRange { stream: CommandStream::Stdout, from: 1, to: 1, why: ElisionReason::Long }]);
    assert_eq!(
        reduce(&stdout, "", ExitOutcome::Succeeded, &options(ReductionLevel::Lossless, Some("cat a.json"))),
        None
    );
}

#[test]
fn a_view_keeps_within_its_budget_with_its_markers_and_its_closing_line() {
    let letter = |number: u32| char::from(b'a' + u8::try_from(number % 26).unwrap_or_default());
    let word = |at: u32| (0..5).map(|place| letter((at * at + 31 * at) >> (3 * place))).collect::<String>();
    // Every ninth line says more than those around it: a marker would be needed for each.
    let line = |at: u32| match at % 9 {
        0 => format!("    at {} (src/app/part{at}.ts:{at}:9)\n", word(at)),
        _ => format!("{} {at} is prepared with {}\n", word(at), at * 7919),
    };
    let text: String = (0..3_000).map(line).collect();
    for (end, limit) in [(ExitOutcome::Succeeded, 1_000), (ExitOutcome::Failed, 4_000)] {
        let view = view(&text, "", end, ReductionLevel::Salient { budget: 1_000 }).expect("a gain");
        let closing = closing_line(3_000, (10, 2_990), Some(12), Some("/tmp/agent-bash-out-1.1.1-a/12"));
        let tokens = estimate_tokens(&format!("{}{closing}", view.text));
        assert!((limit * 2 / 3..=limit).contains(&tokens), "{tokens} of {limit}, {} gaps", view.elided.len());
    }
}

#[test]
fn a_quoted_traceback_is_not_red() {
    let row = |number: usize| {
        format!("src/app/errors.py:{number}:    raise ValueError(\"Traceback (most recent call last)\")\n")
    };
    let stdout: String = (0..40).map(row).collect();
    let view =
        reduce(&stdout, "", ExitOutcome::Succeeded, &options(ReductionLevel::Lossless, Some("grep -rn raise src")))
            .expect("a view");
    assert_eq!(view.class, OutputClass::Green);
}

#[test]
fn two_streams_have_their_labels_and_lines_are_counted_through_both() {
    let stdout: String = (0..100).map(|at| format!("{} targets are built for this project\n", scattered(at))).collect();
    let stderr: String = (0..100).map(|at| format!("{} options are old and may go away\n", scattered(at))).collect();
    let view = view(&stdout, &stderr, ExitOutcome::Succeeded, ReductionLevel::Salient { budget: 400 }).expect("a view");
    assert!(view.text.starts_with("stdout:\n0 targets "), "{}", view.text);
    assert!(view.text.contains("\nstderr:\n"), "{}", view.text);
    let gap = view.elided.iter().find(|gap| gap.stream == CommandStream::Stderr).expect("a gap");
    assert!(view.text.contains(&marker(CommandStream::Stderr, gap.from + 100, gap.to + 100)), "{}", view.text);
}

#[test]
fn an_output_that_reads_like_a_marker_is_left_whole() {
    let stdout = format!("[... L3-4]\n{}", "some ordinary text of a tool here\nand another line of it\n".repeat(100));
    let view = view(&stdout, "", ExitOutcome::Succeeded, SALIENT).expect("a view");
    assert!(view.elided.is_empty());
}

#[test]
fn lines_that_an_earlier_result_shows_are_referred_to() {
    let list: String =
        (0..40).map(|number| format!("{number} dependencies are up to date in this workspace\n")).collect();
    let stdout = format!("a new beginning\n{list}and a new end\n");
    let shown =
        earlier_results::EarlierLines::of(&[earlier_results::EarlierResult { id: 9, text: &list, hidden: &[] }]);
    for level in [ReductionLevel::Lossless, ReductionLevel::Salient { budget: 400 }] {
        let options =
            ReductionOptions { earlier: Some(&shown), command: Some("npm ls"), ..ReductionOptions::new(level) };
        let view = reduce(&stdout, "", ExitOutcome::Succeeded, &options).expect("a view");
        assert_eq!(view.text, "a new beginning\n[40 lines as in #9 L1-40]\nand a new end\n");
        assert_eq!(
            view.elided,
            [ElidedRange { stream: CommandStream::Stdout, from: 2, to: 41, why: ElisionReason::Seen }]
        );
    }
    let options = ReductionOptions {
        earlier: Some(&shown),
        command: Some("cat list"),
        ..ReductionOptions::new(ReductionLevel::Lossless)
    };
    assert_eq!(reduce(&stdout, "", ExitOutcome::Succeeded, &options), None);
}

#[test]
fn the_closing_line_says_how_to_get_the_rest() {
    let line = |at: usize| format!("{} steps of this work are done, and some are still to do\n", scattered(at));
    let stdout: String = (0..1_204).map(line).collect();
    let view = view(&stdout, "", ExitOutcome::Succeeded, SALIENT).expect("a view");
    let gap = &view.elided[0];
    let recall = recall::RecallRequest { id: 12, wanted: recall::RecallSelection::Lines(gap.from, gap.to) };
    let closing = |id| closing_line(view.lines.iter().sum(), (gap.from, gap.to), id, Some("/tmp/o/12"));
    let expected = format!("[#12: 1,204 lines whole in /tmp/o/12; recall \"12:{}-{}\"]", gap.from, gap.to);
    assert_eq!(closing(Some(12)), expected);
    assert_eq!(closing(None), "[1,204 lines whole in /tmp/o/12]");
    assert_eq!(recall::RecallRequest::parse(&format!("12:{}-{}", gap.from, gap.to)), Ok(recall));
    let expected: String = stdout.split_inclusive('\n').skip(gap.from - 1).take(gap.to + 1 - gap.from).collect();
    assert!(expected.starts_with(recall::lines(&stdout, gap.from, gap.to)));
}

#[test]
fn lines_that_count_are_one_line_on_both_levels_and_in_a_long_stream() {
    for lines in [300, 3_000, 60_000] {
        let stdout: String = (1..=lines).map(|at| format!("[{at}/{lines}] compiling module m{at}.o\n")).collect();
        for level in [ReductionLevel::Lossless, SALIENT] {
            let Some(view) = view(&stdout, "", ExitOutcome::Succeeded, level) else {
                assert!(level == ReductionLevel::Lossless && stdout.len() > 1 << 20, "{lines}: no view");
                continue;
            };
            assert_eq!(view.text, format!("[[1..{lines}]/{lines}] compiling module m[1..{lines}].o\n"));
            assert_eq!((view.elided.len(), &view.rules[..]), (0, &[ViewRuleName::from("series")][..]));
        }
    }
}

#[test]
fn lines_that_differ_in_a_number_only_are_shown_by_some_of_them() {
    let stdout: String = (0..3_000).map(|at| format!("compiled module {} of the shop\n", scattered(at))).collect();
    let view = view(&stdout, "", ExitOutcome::Succeeded, ReductionLevel::Salient { budget: 1_000 }).expect("a view");
    assert_eq!(view.elided.len(), 1, "{}", view.text);
    // Eight lines, a gap and the last ten, and two headings.
    assert!(view.text.lines().count() <= 8 + 1 + 10 + 2, "{}", view.text);
}
