//! The stricter verdict of the engine and a host's rules.

use serde::Serialize;

use super::judged::{Judged, units};
use super::matching::{stops, unmatched};
use super::nearest::{Near, nearest};
use super::pattern::{BadRule, Pattern};
use super::suggest::suggest;
use crate::analysis::Analysis;
use crate::level::Verdict;

/// A host's rules.
#[derive(Clone, Debug, Default)]
pub struct Permissions {
    /// Commands that run unasked. Without the list the engine decides.
    pub allow: Option<Vec<Pattern>>,
    /// Commands that a person is asked about.
    pub ask: Vec<Pattern>,
    /// Commands that do not run.
    pub deny: Vec<Pattern>,
}

impl Permissions {
    /// Reads rules.
    ///
    /// # Errors
    /// Fails on the first rule that means nothing.
    pub fn parse<T: AsRef<str>>(allow: Option<&[T]>, ask: &[T], deny: &[T]) -> Result<Self, BadRule> {
        let read = |list: &'static str, rules: &[T]| {
            let rules = rules.iter().map(|rule| Pattern::parse(rule.as_ref()));
            rules.collect::<Result<Vec<_>, _>>().map_err(|fault| BadRule { list, fault })
        };
        let allow = allow.map(|rules| read("allow", rules)).transpose()?;
        Ok(Self { allow, ask: read("ask", ask)?, deny: read("deny", deny)? })
    }
}

/// The decision about a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision {
    /// Allow, ask or deny.
    pub verdict: Verdict,
    /// The source texts of commands that no allow rule covers, and `write:PATH` for each such file.
    pub unmatched: Vec<String>,
    /// Rules that would allow the whole command, if added to the allow rules. Empty if no rules can.
    pub suggest_rules: Vec<String>,
    /// The allow rules that nearly cover a command of `unmatched`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Near>,
}

/// Decides by an analysis and a host's rules.
pub fn decide(analysis: &Analysis, rules: &Permissions) -> Decision {
    let units = units(analysis);
    let (verdict, complete) = (analysis.verdict, analysis.complete);
    weigh(&Judged { units: &units, verdict, complete, first_cwd: &analysis.cwd }, rules)
}

/// Decides about a judged command by a host's rules.
pub(super) fn weigh(judged: &Judged, rules: &Permissions) -> Decision {
    let stopped = |rules: &[Pattern]| judged.units.iter().any(|unit| stops(rules, unit, judged.first_cwd));
    let deny = judged.verdict == Verdict::Deny || stopped(&rules.deny);
    let ask = judged.verdict == Verdict::Ask || !judged.complete || stopped(&rules.ask);
    let unmatched = rules.allow.as_deref().map(|allow| unmatched(judged, allow)).unwrap_or_default();
    let verdict = match () {
        () if deny => Verdict::Deny,
        () if ask || !unmatched.is_empty() => Verdict::Ask,
        () => Verdict::Allow,
    };
    let suggest_rules =
        if deny || ask { Vec::new() } else { suggest(judged, rules.allow.as_deref().unwrap_or_default()) };
    let nearest = match &rules.allow {
        Some(allow) if !unmatched.is_empty() => nearest(judged, allow),
        _ => Vec::new(),
    };
    Decision { verdict, unmatched, suggest_rules, nearest }
}
