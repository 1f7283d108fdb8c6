//! A line is only passed over at its first bytes if no pattern can match it.

use proptest::strategy::{Strategy, ValueTree};
use proptest::string::bytes_regex_parsed;
use proptest::test_runner::TestRunner;
use regex_automata::util::syntax;
use regex_syntax::hir::{Hir, HirKind, Repetition};

use super::{LINES, TestLineFinder};

/// Returns a pattern without `^` and `$`.
fn unanchored(pattern: &Hir) -> Hir {
    match pattern.kind() {
        HirKind::Look(_) => Hir::empty(),
        HirKind::Capture(group) => unanchored(&group.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(unanchored).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(unanchored).collect()),
        HirKind::Repetition(repetition) => {
            Hir::repetition(Repetition { sub: Box::new(unanchored(&repetition.sub)), ..repetition.clone() })
        }
        _ => pattern.clone(),
    }
}

#[test]
fn each_line_that_a_pattern_matches_is_found() {
    let mut runner = TestRunner::deterministic();
    for (pattern, line) in LINES.iter().enumerate() {
        let first = line.pattern.split("\\n").next().expect("a part");
        let syntax = syntax::Config::new().unicode(false).utf8(false);
        let lines = bytes_regex_parsed(&unanchored(&syntax::parse_with(first, &syntax).expect(first))).expect(first);
        for _ in 0..20 {
            let text = lines.new_tree(&mut runner).expect("a line").current();
            let mut finder = TestLineFinder::default();
            finder.mark_known(line.rule);
            let mut found = Vec::new();
            finder.find(&text, 0, &mut found);
            let is_found = found.iter().any(|found| found.pattern == pattern && found.step == 0);
            assert!(is_found, "{}: {:?}", line.pattern, String::from_utf8_lossy(&text));
        }
    }
}
