//! Rules that a person may want to add.

use std::collections::HashSet;

use super::judged_command::{JudgedCommand, JudgedSimpleCommand};
use super::permission_arity::permission_arity;
use super::permission_pattern::{PermissionPattern, command_rule};
use super::rule_matching::{AllowRuleMatcher, is_elsewhere, may_write, unmatched};
use super::volatile_names::glob_for_written_file;
use crate::programs::program::PermissionArity;

/// The longest rule that is worth reading.
const MAX_RULE: usize = 300;
/// Most rules at once. A person who has to read more says yes to anything.
const MAX_RULES: usize = 20;

/// Returns rules that allow the whole command together with the present allow rules. Empty if no rule can allow a part
/// of the command.
pub fn suggest(judged: &JudgedCommand, allow: &[PermissionPattern]) -> Vec<String> {
    let allowing = AllowRuleMatcher::new(judged, allow);
    let mut rules = Vec::new();
    let mut seen = HashSet::new();
    for unit in judged.units {
        if !allowing.covers(unit) {
            let Some(rule) = suggested_rule(unit) else { return Vec::new() };
            if seen.insert(rule.clone()) {
                rules.push(rule);
            }
        }
        for write in &unit.writes {
            let Some(path) = write.path else { return Vec::new() };
            let rule = format!("write:{}", glob_for_written_file(judged.relative(path)));
            if !may_write(allow, path, judged.first_cwd) && seen.insert(rule.clone()) {
                rules.push(rule);
            }
        }
        if rules.len() > MAX_RULES {
            return Vec::new();
        }
    }
    // The suggested rules must really allow the command.
    let made = rules.iter().filter_map(|rule| PermissionPattern::parse(rule).ok());
    let all: Vec<PermissionPattern> = allow.iter().cloned().chain(made).collect();
    if unmatched(judged, &all).is_empty() { rules } else { Vec::new() }
}

/// Returns a rule for one command.
fn suggested_rule(unit: &JudgedSimpleCommand) -> Option<String> {
    if unit.heredoc || is_elsewhere(unit) {
        return None;
    }
    let (count, arity) = permission_arity(&unit.argv)?;
    let words = unit.argv.get(..count)?;
    if arity == PermissionArity::Never || words.iter().any(|(_, known)| !known) {
        return None;
    }
    let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
    let rule = command_rule(&words, arity != PermissionArity::Exact);
    (rule.len() <= MAX_RULE).then_some(rule)
}
