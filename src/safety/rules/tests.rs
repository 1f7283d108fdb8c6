use std::collections::HashSet;

use super::support::tried;
use super::{RULES, Rule};

/// Those that the engine raises itself.
const RAISED: &[&str] = &["opaque-command", "opaque-script", "incomplete"];

fn judged() -> impl Iterator<Item = &'static &'static Rule> {
    RULES.iter().filter(|rule| !RAISED.contains(&rule.id))
}

#[test]
fn each_rule_finds_what_it_names() {
    let mut misses = Vec::new();
    let mut tried = 0;
    for rule in judged() {
        for command in rule.matches {
            let Some(found) = tried::check(rule, command) else { continue };
            tried += 1;
            if found.is_none() {
                misses.push(format!("{}: {command}", rule.id));
            }
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
    assert!(tried > 200, "{tried}");
}

#[test]
fn each_rule_lets_through_what_it_names() {
    let mut misses = Vec::new();
    for rule in judged() {
        for command in rule.passes {
            if let Some(Some(_)) = tried::check(rule, command) {
                misses.push(format!("{}: {command}", rule.id));
            }
        }
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn no_suggestion_is_found_fault_with() {
    for rule in judged() {
        for command in rule.matches {
            let Some(Some(hit)) = tried::check(rule, command) else { continue };
            let faults = judged().filter(|other| matches!(tried::check(other, &hit.suggestion), Some(Some(_))));
            let faults: Vec<_> = faults.map(|rule| rule.id).collect();
            assert!(faults.is_empty(), "{command} → {} {faults:?}", hit.suggestion);
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
