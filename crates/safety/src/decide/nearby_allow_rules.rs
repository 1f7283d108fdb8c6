//! The allow rules that nearly cover a command, for a person who is asked again.

use std::collections::HashSet;

use serde::Serialize;

use super::judged_command::{JudgedCommand, JudgedSimpleCommand};
use super::permission_arity::permission_arity;
use super::permission_pattern::{PermissionPattern, command_rule};
use super::rule_matching::{AllowRuleMatcher, assignment_hijacks, base_name, is_elsewhere};
use crate::programs::program::PermissionArity;
use crate::rules::quote;

/// Most commands that are explained.
const MAX_NEAR: usize = 5;

/// An allow rule that nearly covers a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NearbyAllowRule {
    /// The source text of the command.
    pub command: String,
    /// The rule.
    pub rule: String,
    /// The part that does not match, in words.
    pub why: String,
}

/// Returns the nearest allow rule of each command that no rule covers. A rule is near if it is for the same program and
/// the same subcommand.
pub fn nearby_allow_rules(judged: &JudgedCommand, allow: &[PermissionPattern]) -> Vec<NearbyAllowRule> {
    let allowing = AllowRuleMatcher::new(judged, allow);
    let mut seen = HashSet::new();
    let uncovered = judged.units.iter().filter(|unit| !allowing.covers(unit) && seen.insert(unit.source));
    uncovered.filter_map(|unit| nearest_rule_for(unit, allow)).take(MAX_NEAR).collect()
}

fn nearest_rule_for(unit: &JudgedSimpleCommand, allow: &[PermissionPattern]) -> Option<NearbyAllowRule> {
    let least = match permission_arity(&unit.argv)? {
        (_, PermissionArity::Exact | PermissionArity::Never) => 1,
        (count, _) => count,
    };
    let candidates = allow.iter().filter_map(|rule| match rule {
        PermissionPattern::Command { words, prefix } => Some((shared_word_count(words, unit), words, *prefix)),
        _ => None,
    });
    let (shared, words, prefix) =
        candidates.filter(|(shared, ..)| *shared >= least).max_by_key(|(shared, ..)| *shared)?;
    let why = why_not_matched(unit, shared, words, prefix)?;
    Some(NearbyAllowRule { command: unit.source.to_owned(), rule: command_rule(words, prefix), why })
}

/// Returns how many first words of a rule are those of a command. The program may have another path.
fn shared_word_count(rule: &[String], unit: &JudgedSimpleCommand) -> usize {
    let is_same = |(at, (own, (word, known))): &(usize, (&String, &(&str, bool)))| {
        *known && (own == word || *at == 0 && base_name(own) == base_name(word))
    };
    rule.iter().zip(&unit.argv).enumerate().take_while(is_same).count()
}

/// Returns what a rule lacks. `None` if its words cover the command.
fn why_not_matched(unit: &JudgedSimpleCommand, shared: usize, words: &[String], prefix: bool) -> Option<String> {
    let (head, _) = unit.argv.first()?;
    Some(match (words.get(shared), unit.argv.get(shared)) {
        _ if words.first()? != head => format!("{head} is another program than {}", words.first()?),
        (Some(word), None) => format!("{} is missing", quote(word)),
        (Some(word), Some((other, true))) => format!("{} is not {}", quote(other), quote(word)),
        (_, Some((other, false))) if !prefix => format!("the value of {other} is not known"),
        (None, Some((other, _))) if !prefix => format!("it allows no further word, such as {}", quote(other)),
        (Some(_), Some((other, false))) => format!("the value of {other} is not known"),
        _ if is_elsewhere(unit) => "it does not reach through sudo, su or ssh".to_owned(),
        _ => {
            format!("it does not cover {}", unit.assignments.iter().find(|assignment| assignment_hijacks(assignment))?)
        }
    })
}
