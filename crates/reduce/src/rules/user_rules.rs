//! Rules of users.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::file::{CompiledRule, RuleError, RuleFault, compile};
use super::{LinePatterns, OutputRule, ProgramHints};
use crate::reduced_view::ElisionReason;

/// Longest name.
const NAME: usize = 40;
/// Most files that are remembered. A caller gives the same files with each command, and compiling takes milliseconds.
const REMEMBERED: usize = 16;

/// The files that were read last. The latest is at the end.
static LATEST: Mutex<VecDeque<(String, Vec<Arc<OutputRule>>)>> = Mutex::new(VecDeque::new());

/// Reads a file of rules: one rule, or several that begin with `[[rule]]`, each with a name.
///
/// # Errors
/// For a text that is no such file, a pattern that is no regular expression, and a file that exceeds a bound.
pub fn parse_user_rules(text: &str) -> Result<Vec<Arc<OutputRule>>, RuleError> {
    let latest = || LATEST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, rules)) = latest().iter().find(|(known, _)| known == text) {
        return Ok(rules.clone());
    }
    let rules = read(text)?;
    let mut latest = latest();
    latest.push_back((text.to_owned(), rules.clone()));
    if latest.len() > REMEMBERED {
        latest.pop_front();
    }
    Ok(rules)
}

fn read(text: &str) -> Result<Vec<Arc<OutputRule>>, RuleError> {
    let mut rules: Vec<Arc<OutputRule>> = Vec::new();
    for rule in compile(text, false)? {
        let (name, line) = rule.name.ok_or(RuleError { line: 1, reason: RuleFault::NoName })?;
        if !is_name(&name) {
            return Err(RuleError { line, reason: RuleFault::Name(name) });
        }
        if rules.iter().any(|other| other.name == name) {
            return Err(RuleError { line, reason: RuleFault::SameName(name) });
        }
        if rule.check.is_some() || rule.tests.is_some() {
            return Err(RuleError { line, reason: RuleFault::Counts });
        }
        let CompiledRule { hint, proof, drop, pin, always, .. } = rule;
        let [proof, drop, pin] = [proof, drop, pin].map(LinePatterns::Own);
        let hint = ProgramHints::Own(hint);
        let rule = OutputRule { name: Cow::Owned(name), hint, proof, drop, pin, always, check: None, counting: None };
        rules.push(Arc::new(rule));
    }
    Ok(rules)
}

/// Returns whether a text can be the name of a rule. Results show the name beside the reasons why lines are not shown.
fn is_name(text: &str) -> bool {
    let is_sign = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_reason =
        [ElisionReason::Salience, ElisionReason::Long, ElisionReason::Seen].iter().any(|why| why.name() == text);
    (1..=NAME).contains(&text.len()) && text.bytes().all(is_sign) && !is_reason
}
