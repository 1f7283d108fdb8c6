//! The stricter verdict of the engine and a host's rules.

use serde::Serialize;

use super::judged_command::{JudgedCommand, units};
use super::nearby_allow_rules::{NearbyAllowRule, nearby_allow_rules};
use super::permission_pattern::{BadPermissionRule, PermissionPattern};
use super::rule_matching::{any_rule_stops, unmatched};
use super::rule_suggestions::suggest;
use crate::analysis::CommandAnalysis;
use crate::verdict::SafetyVerdict;

/// A host's rules.
#[derive(Clone, Debug, Default)]
pub struct PermissionRules {
    /// Commands that run unasked. Without the list the engine decides.
    pub allow: Option<Vec<PermissionPattern>>,
    /// Commands that a person is asked about.
    pub ask: Vec<PermissionPattern>,
    /// Commands that do not run.
    pub deny: Vec<PermissionPattern>,
}

impl PermissionRules {
    /// Reads rules.
    ///
    /// # Errors
    /// Fails on the first rule that means nothing.
    pub fn parse<T: AsRef<str>>(allow: Option<&[T]>, ask: &[T], deny: &[T]) -> Result<Self, BadPermissionRule> {
        let read = |list: &'static str, rules: &[T]| {
            let rules = rules.iter().map(|rule| PermissionPattern::parse(rule.as_ref()));
            rules.collect::<Result<Vec<_>, _>>().map_err(|fault| BadPermissionRule { list, fault })
        };
        let allow = allow.map(|rules| read("allow", rules)).transpose()?;
        Ok(Self { allow, ask: read("ask", ask)?, deny: read("deny", deny)? })
    }
}

/// The decision about a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionDecision {
    /// Allow, ask or deny.
    pub verdict: SafetyVerdict,
    /// The source texts of commands that no allow rule covers, and `write:PATH` for each such file.
    pub unmatched: Vec<String>,
    /// Rules that would allow the whole command, if added to the allow rules. Empty if no rules can.
    pub suggest_rules: Vec<String>,
    /// The allow rules that nearly cover a command of `unmatched`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<NearbyAllowRule>,
}

/// Decides by an analysis and a host's rules.
pub fn decide(analysis: &CommandAnalysis, rules: &PermissionRules) -> PermissionDecision {
    let units = units(analysis);
    let (verdict, complete) = (analysis.verdict, analysis.complete);
    decide_judged(&JudgedCommand { units: &units, verdict, complete, first_cwd: &analysis.cwd }, rules)
}

/// Decides about a judged command by a host's rules.
pub(super) fn decide_judged(judged: &JudgedCommand, rules: &PermissionRules) -> PermissionDecision {
    let stopped =
        |rules: &[PermissionPattern]| judged.units.iter().any(|unit| any_rule_stops(rules, unit, judged.first_cwd));
    let deny = judged.verdict == SafetyVerdict::Deny || stopped(&rules.deny);
    let ask = judged.verdict == SafetyVerdict::Ask || !judged.complete || stopped(&rules.ask);
    let unmatched = rules.allow.as_deref().map(|allow| unmatched(judged, allow)).unwrap_or_default();
    let verdict = match () {
        () if deny => SafetyVerdict::Deny,
        () if ask || !unmatched.is_empty() => SafetyVerdict::Ask,
        () => SafetyVerdict::Allow,
    };
    let suggest_rules =
        if deny || ask { Vec::new() } else { suggest(judged, rules.allow.as_deref().unwrap_or_default()) };
    let nearest = match &rules.allow {
        Some(allow) if !unmatched.is_empty() => nearby_allow_rules(judged, allow),
        _ => Vec::new(),
    };
    PermissionDecision { verdict, unmatched, suggest_rules, nearest }
}
