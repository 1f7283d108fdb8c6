use std::collections::HashSet;

use super::support::tried;
use super::{RULES, Rule};
use crate::safety::level::Verdict;

/// Those that the engine raises itself.
const RAISED: &[&str] = &["opaque-command", "opaque-script", "incomplete"];

fn judged() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().copied().filter(|rule| !RAISED.contains(&rule.id))
}

#[test]
fn each_rule_finds_what_it_names() {
    let mut misses = Vec::new();
    for rule in judged() {
        let missed = rule.matches.iter().filter(|command| tried::verdict(&[rule], command) != rule.level);
        misses.extend(missed.map(|command| format!("{}: {command}", rule.id)));
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn each_rule_lets_through_what_it_names() {
    let mut misses = Vec::new();
    for rule in judged() {
        let found = rule.passes.iter().filter(|command| tried::verdict(&[rule], command) != Verdict::Allow);
        misses.extend(found.map(|command| format!("{}: {command}", rule.id)));
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn no_suggestion_is_found_fault_with() {
    for rule in judged() {
        for command in rule.matches {
            for (_, hit) in tried::judge(&[rule], command) {
                let faults: Vec<_> =
                    tried::judge(RULES, &hit.suggestion).into_iter().map(|(rule, _)| rule.id).collect();
                assert!(faults.is_empty(), "{command} → {} {faults:?}", hit.suggestion);
            }
        }
    }
}

#[test]
fn ids_are_kebab_case_and_unique() {
    let ids: HashSet<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
    for rule in RULES {
        assert!(rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id);
        assert!(rule.matches.len() > 3 && rule.passes.len() > 3, "{}", rule.id);
        assert!(!rule.doc.is_empty() && !rule.doc.contains("  "), "{}", rule.id);
    }
}
