//! Folded texts, and their inverse.

use proptest::prelude::*;

use super::{AllowedFolds, FoldMark, fold, unfold, write};

fn folded(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut folded_text = String::new();
    write(&mut folded_text, &fold(&lines, AllowedFolds::default()).lines);
    folded_text
}

#[test]
fn a_repeated_line_is_counted() {
    assert_eq!(folded(&"waiting for the server\n".repeat(37)), "waiting for the server\n[x37]\n");
}

#[test]
fn a_repeated_block_is_counted() {
    let text = "connecting to the database\nno answer yet from it\nwaiting one second\n".repeat(12);
    assert_eq!(
        folded(&text),
        "connecting to the database\nno answer yet from it\nwaiting one second\n[last 3 lines x12]\n"
    );
}

#[test]
fn matches_get_the_heading_of_their_file() {
    let text = "src/deep/place/a.ts:1:one\nsrc/deep/place/a.ts:2:two\nsrc/deep/place/a.ts:30:three\n";
    assert_eq!(folded(text), "src/deep/place/a.ts: [3 lines]\n1:one\n2:two\n30:three\n");
}

#[test]
fn directories_are_headings_inside_each_other() {
    let row = |directory: &str, name: &str| format!("/home/user/projects/some-project/packages/{directory}/{name}\n");
    let mut text = String::new();
    for directory in ["alpha/internal/commands", "beta/internal/commands"] {
        for name in ["a.ts", "b.ts", "c.ts", "d.ts"] {
            text.push_str(&row(directory, name));
        }
    }
    assert_eq!(
        folded(&text),
        "/home/user/projects/some-project/packages/ [8 lines]\nalpha/internal/commands/ [4 lines]\na.ts\nb.ts\nc.ts\n\
         d.ts\nbeta/internal/commands/ [4 lines]\na.ts\nb.ts\nc.ts\nd.ts\n"
    );
}

#[test]
fn a_failure_keeps_all_but_its_path() {
    let text =
        "src/deep/place/a.ts: error: one thing\nsrc/deep/place/a.ts: error: one more\nsrc/deep/place/a.ts: error: x\n";
    assert_eq!(folded(text), "src/deep/place/a.ts: [3 lines]\n error: one thing\n error: one more\n error: x\n");
    let text =
        "error: could not compile `alpha` now\nerror: could not compile `beta` now\nerror: could not compile `c` now\n";
    assert_eq!(folded(text), text);
}

#[test]
fn the_name_of_a_failed_test_stays_on_its_line() {
    let rows: [fn(usize) -> String; 9] = [
        |at| format!("tests/deep/test_orders.py::test_order_{at} FAILED [{at}%]\n"),
        |at| format!("tests/deep/test_orders.py::TestOrders::test_order_{at} ERROR\n"),
        |at| format!("test orders::deep::place::order_{at} ... FAILED\n"),
        |at| format!("        FAIL [   0.00{at}s] shop::orders deep::place::order_{at}\n"),
        |at| format!(" FAIL  src/deep/orders.test.ts > orders > order {at}\n"),
        |at| format!("  ✕ orders of the shop keep number {at} (3 ms)\n"),
        |at| format!("    --- FAIL: TestOrders/of_the_shop/order_{at} (0.00s)\n"),
        |at| format!("//packages/orders:order_test_{at}   FAILED in 0.3s\n"),
        |at| format!("packages/orders/deep/order_{at}.sh: FAILED\n"),
    ];
    for row in rows {
        let text: String = (10..40).map(row).collect();
        assert_eq!(folded(&text), text);
    }
}

#[test]
fn failed_tests_among_others_stay_whole() {
    let row = |at: usize| {
        let outcome = if at.is_multiple_of(5) { "FAILED" } else { "PASSED" };
        format!("tests/deep/test_orders.py::test_order_{at} {outcome}\n")
    };
    let text = folded(&(10..40).map(row).collect::<String>());
    assert!(text.contains("tests/deep/test_orders.py:: [4 lines]\ntest_order_11 PASSED\n"), "{text}");
    for at in (10..40).step_by(5) {
        assert!(text.contains(&row(at)), "{text}");
    }
}

#[test]
fn a_separator_of_several_signs_is_not_cut() {
    let text = "crate_of_orders::a::one\ncrate_of_orders::a::two\ncrate_of_orders:b\n";
    assert!(!folded(text).contains("\n:"), "{}", folded(text));
    let text = "packages/orders==1.2\npackages/orders==1.3\npackages/orders=1.4\npackages/orders=1.5\n";
    assert!(!folded(text).contains("\n="), "{}", folded(text));
}

#[test]
fn short_texts_are_left_alone() {
    for text in ["a\na\n", "a/b\na/c\n", "one\n", ""] {
        assert_eq!(folded(text), text);
    }
}

#[test]
fn marks_are_read_as_they_are_written() {
    for mark in [FoldMark::Repeat(37), FoldMark::Block(3, 12)] {
        assert_eq!(FoldMark::parse(&mark.to_string()), Some(mark));
    }
    assert_eq!(FoldMark::parse("src/ [12 lines]"), Some(FoldMark::Heading(12)));
    assert_eq!(FoldMark::parse("[... L40-95]"), Some(FoldMark::Gap));
    assert_eq!(FoldMark::parse("[... stderr L40]"), Some(FoldMark::Gap));
    assert_eq!(FoldMark::parse("a[... 3,400 characters of L12]b"), Some(FoldMark::Gap));
    assert_eq!(FoldMark::parse("[56 lines as in #9 L40-95]"), Some(FoldMark::Reference));
    for text in ["[x]", "[xy]", "[12 lines of code]", "x12", "[last lines]", "[...]"] {
        assert_eq!(FoldMark::parse(text), None, "{text}");
    }
}

#[test]
fn a_text_with_the_line_of_a_mark_is_not_folded_that_way() {
    let mut allowed = AllowedFolds::default();
    allowed.restrict_by("[x3]");
    assert_eq!((allowed.repeats, allowed.headings), (false, true));
    allowed.restrict_by("src/ [3 lines]");
    assert!(!allowed.headings);
}

/// Lines that have much in common.
fn lines() -> impl Strategy<Value = Vec<String>> {
    let part = prop::sample::select(vec!["src/", "lib/", "a.ts:", "1:", " ", "error: ", "text", "é/", "12 ", "b"]);
    let line = prop::collection::vec(part, 0..7).prop_map(|parts| parts.concat());
    prop::collection::vec((line, 1usize..6), 0..30)
        .prop_map(|runs| runs.into_iter().flat_map(|(line, count)| std::iter::repeat_n(line, count)).collect())
}

proptest! {
    #[test]
    fn the_inverse_of_a_folded_text_is_the_text(lines in lines()) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(unfold(&folded(&text), AllowedFolds::default()).unwrap_or_default(), text);
    }

    #[test]
    fn a_folded_text_is_never_larger(lines in lines()) {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        prop_assert!(folded(&text).len() <= text.len());
    }
}
