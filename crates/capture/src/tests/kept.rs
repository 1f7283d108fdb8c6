//! The kept part of a stream, and the notice about the rest.

use super::*;
use crate::{KeptStreamPart, TruncationLimit};
use proptest::prelude::*;

fn limits(max_lines: Option<u64>, max_bytes: Option<u64>, max_chars: Option<u64>) -> KeptTextLimits {
    KeptTextLimits { max_lines, max_bytes, max_chars }
}

fn kept(truncate: TruncationPolicy, input: &str) -> CapturedStream {
    let mut capture = StreamCapture::new("stdout", truncate, Some(COLLAPSE), false);
    capture.spill_off();
    capture.push(input.as_bytes());
    capture.finish()
}

fn numbers(count: u32) -> String {
    (1..=count).map(|n| format!("{n}\n")).collect()
}

#[test]
fn what_fits_is_left_alone() {
    let captured = kept(TruncationPolicy::default(), "a\nb");
    assert_eq!((captured.text.as_str(), captured.truncation, captured.total_lines), ("a\nb", None, 2));
    assert_eq!(kept(TruncationPolicy::default(), "").text, "");
}

#[test]
fn tail_by_lines() {
    let captured = kept(TruncationPolicy::default(), &numbers(8500));
    let cut = captured.truncation.unwrap();
    assert!(captured.text.starts_with("6501\n"));
    assert!(captured.text.ends_with("\n8500\n[stdout: Showing last 2000 of 8500 lines]"));
    assert_eq!(
        (cut.keep, cut.by, cut.total_lines, cut.output_lines),
        (KeptStreamPart::Tail, TruncationLimit::Lines, 8500, 2000)
    );
    assert_eq!((cut.first_line, cut.last_line, cut.partial_line), (6501, 8500, false));
    assert_eq!((cut.total_bytes, cut.output_bytes), (41_393, 10_000));
    assert_eq!((cut.path, cut.artifact_id, cut.spill_error), (None, None, None));
    assert_eq!(cut.notice, "[stdout: Showing last 2000 of 8500 lines]");
}

#[test]
fn tail_by_bytes() {
    let captured = kept(TruncationPolicy::default(), &"x".repeat(120_000));
    let cut = captured.truncation.unwrap();
    assert_eq!(
        (cut.by, cut.output_bytes, cut.output_lines, cut.partial_line),
        (TruncationLimit::Bytes, 51_200, 1, true)
    );
    assert!(captured.text.ends_with("x\n[stdout: Showing last 1 of 1 lines]"));
}

#[test]
fn head_by_chars() {
    let truncate = TruncationPolicy::Head(limits(None, None, Some(30_000)));
    let captured = kept(truncate, &"é😀".repeat(20_000));
    let cut = captured.truncation.unwrap();
    assert_eq!((cut.keep, cut.by, cut.partial_line), (KeptStreamPart::Head, TruncationLimit::Chars, true));
    assert_eq!((cut.first_line, cut.last_line), (1, 1));
    assert!(captured.text.ends_with("😀\n[truncated]\n[stdout: Showing first 30000 of 60000 characters]"));
    let half = kept(TruncationPolicy::Head(limits(None, None, Some(2))), "a😀b");
    assert_eq!(half.text, "a\n[truncated]\n[stdout: Showing first 1 of 4 characters]");
}

#[test]
fn ends_are_placed_as_shown() {
    let truncate = TruncationPolicy::Ends { max_bytes: 131_072, head_bytes: 6, tail_bytes: 6 };
    let captured = kept(truncate, &format!("a1\na2\na3\n{}\nz1\nz2\n", "m".repeat(312 * 1024)));
    assert_eq!(captured.text, "[output truncated in middle: got 312kB, max is 128kB]\na1\na2\n\n[snip]\n\nz1\nz2\n");
    let cut = captured.truncation.unwrap();
    assert_eq!((cut.keep, cut.by, cut.first_line, cut.last_line), (KeptStreamPart::Ends, TruncationLimit::Bytes, 1, 2));
    assert_eq!((cut.output_lines, cut.output_bytes, cut.total_lines, cut.partial_line), (4, 12, 6, false));
    let inside = kept(TruncationPolicy::Ends { max_bytes: 9, head_bytes: 5, tail_bytes: 4 }, "😀😀 😀😀");
    assert_eq!(inside.text, "[output truncated in middle: got 0kB, max is 0kB]\n😀\n\n[snip]\n\n😀");
    assert!(inside.truncation.unwrap().partial_line);
}

#[test]
fn nothing_beyond_16_mib_is_kept() {
    let truncate = TruncationPolicy::Tail(limits(None, Some(u64::MAX), None));
    let mut capture = StreamCapture::new("stdout", truncate, Some(COLLAPSE), false);
    capture.spill_off();
    let line = format!("{}\n", "x".repeat(1023)).repeat(1024);
    (0..17).for_each(|_| capture.push(line.as_bytes()));
    let cut = capture.finish().truncation.unwrap();
    assert_eq!((cut.by, cut.output_bytes, cut.output_lines), (TruncationLimit::Bytes, 16 << 20, 16 * 1024));
}

#[test]
fn a_cut_by_lines_wants_no_file() {
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), false);
    capture.push(numbers(9000).as_bytes());
    assert!(!capture.wants_spill());
    capture.push(numbers(9000).as_bytes());
    assert!(capture.wants_spill());
    assert_eq!(capture.whole_text().map(str::len), Some(2 * numbers(9000).len()));
    capture.spill_off();
    assert!(!capture.wants_spill());
    assert_eq!(capture.whole_text(), None);
}

#[test]
fn a_failed_file_is_named() {
    let mut capture = StreamCapture::new("stderr", TruncationPolicy::default(), Some(COLLAPSE), false);
    capture.push(&b"x\n".repeat(40_000));
    capture.spill_failed(None, None, format!("no\nroom {}", "é".repeat(90)));
    let captured = capture.finish();
    let cut = captured.truncation.unwrap();
    let error = cut.spill_error.unwrap();
    assert!(error.len() <= 80 && error.starts_with("no room éé"));
    assert_eq!(
        cut.notice,
        format!("[stderr: Showing last 2000 of 40000 lines. The full output could not be kept: {error}]")
    );
}

#[test]
fn a_log_elsewhere_is_named_for_any_cut() {
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), false);
    capture.spill_elsewhere("/log".into());
    capture.push(numbers(3000).as_bytes());
    assert!(capture.finish().text.ends_with("[stdout: Showing last 2000 of 3000 lines. Full output: /log]"));
}

#[test]
fn a_snapshot_shows_the_unfinished_line() {
    for truncate in [
        TruncationPolicy::default(),
        TruncationPolicy::Head(limits(None, Some(10), None)),
        TruncationPolicy::Ends { max_bytes: 8, head_bytes: 2, tail_bytes: 2 },
    ] {
        let mut capture = StreamCapture::new("stdout", truncate, Some(COLLAPSE), true);
        capture.spill_off();
        capture.push("one\ntwo\n10%\r日本 ".as_bytes());
        assert_eq!((capture.pending_line(), capture.tail(100)), ("日本 ".into(), "one\ntwo\n日本 ".into()));
        assert_eq!((capture.tail(6), capture.tail(9), capture.tail(0)), ("本 ".into(), "o\n日本 ".into(), "".into()));
        assert_eq!(capture.take_live(100).as_deref(), Some("one\ntwo\n"), "the line is not delivered yet");
    }
}

#[test]
fn live_batches_are_cut_between_characters() {
    let mut capture = StreamCapture::new("stdout", TruncationPolicy::default(), Some(COLLAPSE), true);
    capture.push("a😀b\n".as_bytes());
    let batches: Vec<_> = std::iter::from_fn(|| capture.take_live(3)).collect();
    assert_eq!(batches, ["a", "😀", "b\n"]);
    assert_eq!((capture.live_bytes(), capture.take_live(3)), (0, None));
}

fn policy() -> impl Strategy<Value = TruncationPolicy> {
    let some = |max| prop::option::of(1u64..max);
    let limit = (some(6), some(40), some(30)).prop_map(|(l, b, c)| limits(l, b, c));
    let ends = (0u64..20, 0u64..20, 0u64..9).prop_map(|(head_bytes, tail_bytes, more)| TruncationPolicy::Ends {
        max_bytes: (head_bytes + tail_bytes + more).max(1),
        head_bytes,
        tail_bytes,
    });
    prop_oneof![limit.clone().prop_map(TruncationPolicy::Tail), limit.prop_map(TruncationPolicy::Head), ends]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_split_does_not_matter(input in super::clean::hostile(), truncate in policy(), size in 1usize..9) {
        let run = |size: usize| {
            let mut capture = StreamCapture::new("stdout", truncate, Some(COLLAPSE), false);
            for piece in input.chunks(size) {
                capture.push(piece);
                prop_assert!(capture.tail(11).len() <= 11);
                if capture.wants_spill() {
                    capture.spill_off();
                }
            }
            Ok(capture.finish())
        };
        prop_assert_eq!(run(size)?, run(input.len().max(1))?);
    }

    #[test]
    fn limits_hold_and_figures_are_true(text in "([a-zé日😀]{0,12}\n?){0,12}", truncate in policy()) {
        let captured = kept(truncate, &text);
        let total = text.lines().count() as u64;
        prop_assert_eq!((captured.total_lines, captured.total_bytes), (total, text.len() as u64));
        let Some(cut) = captured.truncation else {
            prop_assert_eq!(captured.text, text);
            return Ok(());
        };
        let (max_lines, max_bytes) = match truncate {
            TruncationPolicy::Tail(limits) | TruncationPolicy::Head(limits) => (limits.max_lines, limits.max_bytes),
            TruncationPolicy::Ends { head_bytes, tail_bytes, .. } => (None, Some(head_bytes + tail_bytes)),
        };
        prop_assert!(cut.output_bytes <= max_bytes.unwrap_or(u64::MAX));
        prop_assert!(cut.output_lines <= max_lines.unwrap_or(u64::MAX));
        prop_assert!(cut.output_bytes < cut.total_bytes);
        prop_assert!(cut.notice.len() <= 200);
        if cut.keep != KeptStreamPart::Ends {
            prop_assert_eq!(cut.last_line + 1 - cut.first_line, cut.output_lines);
            let shown = captured.text.strip_suffix(&cut.notice).unwrap();
            let shown = shown.strip_suffix('\n').filter(|s| s.len() as u64 == cut.output_bytes).unwrap_or(shown);
            prop_assert_eq!(shown.len() as u64, cut.output_bytes);
            let there = if cut.keep == KeptStreamPart::Tail { text.ends_with(shown) } else { text.starts_with(shown) };
            prop_assert!(there);
        }
    }
}
