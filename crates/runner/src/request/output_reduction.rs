//! `reduce`: the reduction of the output text that a model reads.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::error::RequestError;
use super::number_option::NumberOption;
use super::raw_options::{CallerStreamOptions, RawEarlier, RawReduction};
use super::time_options::TimeRule;
use crate::pattern::JsPattern;
use reduce::earlier_results::{self, EarlierLines, EarlierResult};
use reduce::rules::{self, OutputRule, RuleError};
use reduce::{ExitOutcome, RULES, ReducedView, ReductionLevel, ReductionOptions, reduce};

/// `reduce.budgetTokens`: the most tokens of a salient view.
pub const BUDGET_TOKENS: NumberOption = NumberOption::from_one("reduce.budgetTokens");

/// The reduction of an output.
pub struct OutputReduction {
    /// Level of the reduction.
    pub level: ReductionLevel,
    keep: Box<dyn Fn(&str) -> bool + Send + Sync>,
    /// Rules of the user.
    own: Vec<Arc<OutputRule>>,
    /// Names of rules that must not apply.
    off: Vec<String>,
    earlier: Vec<RawEarlier>,
}

impl fmt::Debug for OutputReduction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reduction").field("level", &self.level).field("off", &self.off).finish_non_exhaustive()
    }
}

/// Checks `reduce`.
///
/// # Errors
/// A [`RequestError`] that names the option, its value and the valid values.
pub fn check_reduction(raw: RawReduction) -> Result<OutputReduction, RequestError> {
    let RawReduction { budget_tokens, rules, off, keep, keep_patterns, earlier } = raw;
    let budget = BUDGET_TOKENS.check_given(budget_tokens)?;
    let level = budget.map_or(ReductionLevel::Lossless, |budget| ReductionLevel::Salient {
        budget: usize::try_from(budget).unwrap_or(usize::MAX),
    });
    let patterns = keep_patterns.iter().map(|(source, flags)| JsPattern::new(source, flags));
    let patterns = patterns.collect::<Result<Vec<_>, _>>().map_err(RequestError::Keep)?;
    let keep = Box::new(move |line: &str| {
        keep.iter().any(|text| line.contains(text.as_str()))
            || patterns.iter().any(|pattern| pattern.find(line).is_some())
    });
    let own = match off {
        Some(_) => own_rules(&rules).map_err(RequestError::Rules)?,
        None => Vec::new(),
    };
    let off = off.unwrap_or_else(|| RULES.iter().map(|rule| rule.name.to_string()).collect());
    Ok(OutputReduction { level, keep, own, off, earlier })
}

/// Returns the rules of a user, from the texts of their files.
fn own_rules(texts: &[String]) -> Result<Vec<Arc<OutputRule>>, RuleError> {
    let files: Vec<_> = texts.iter().map(|text| rules::parse_user_rules(text)).collect::<Result<_, _>>()?;
    Ok(files.into_iter().flatten().collect())
}

/// Checks `reduce` of a command in its place. A view needs a result whose text is the output of a command in the
/// foreground.
///
/// # Errors
/// As [`check_reduction`].
pub(super) fn reduction_for(
    raw: Option<RawReduction>,
    place: TimeRule,
    streams: Option<CallerStreamOptions>,
) -> Result<Option<Box<OutputReduction>>, RequestError> {
    let reduction = raw.map(check_reduction).transpose()?;
    let has_view = matches!(place, TimeRule::Foreground | TimeRule::Moving) && streams.is_none();
    Ok(reduction.filter(|_| has_view).map(Box::new))
}

impl OutputReduction {
    /// Returns the options for the output of a command, without earlier results.
    pub fn options<'a>(&'a self, command: Option<&'a str>) -> ReductionOptions<'a> {
        ReductionOptions {
            command,
            keep: &*self.keep,
            own: &self.own,
            off: &self.off,
            ..ReductionOptions::new(self.level)
        }
    }

    /// Calls `call` with the lines of earlier results, or with `None` if an output of this size cannot refer to them.
    pub fn with_earlier_lines<T>(&self, size: usize, call: impl FnOnce(Option<&EarlierLines<'_>>) -> T) -> T {
        if self.earlier.is_empty() || size < earlier_results::BYTES {
            return call(None);
        }
        let earlier: Vec<_> = self
            .earlier
            .iter()
            .map(|RawEarlier { id, text, hidden }| EarlierResult { id: *id, text, hidden })
            .collect();
        call(Some(&EarlierLines::of(&earlier)))
    }

    /// Returns the view of a whole output. `None` if the view is no gain, and after a fault, which must not cost the
    /// output.
    pub fn view(&self, stdout: &str, stderr: &str, end: ExitOutcome, command: Option<&str>) -> Option<ReducedView> {
        let size = stdout.len() + stderr.len();
        let view = || {
            self.with_earlier_lines(size, |earlier| {
                reduce(stdout, stderr, end, &ReductionOptions { earlier, ..self.options(command) })
            })
        };
        catch_unwind(AssertUnwindSafe(view)).ok().flatten()
    }
}

#[cfg(test)]
impl OutputReduction {
    /// Returns a reduction whose keeper panics.
    pub fn faulty(level: ReductionLevel) -> Self {
        let keep = Box::new(|_: &str| panic!("a fault of the test"));
        Self { level, keep, own: Vec::new(), off: Vec::new(), earlier: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pty::CommandTerminal;
    use crate::request::{CommandMode, PlannedRun, RawOptions};
    use sys::TerminalSize;

    fn checked(raw: RawReduction) -> Result<OutputReduction, String> {
        check_reduction(raw).map_err(|error| error.to_string())
    }

    fn budget(budget: f64) -> RawReduction {
        RawReduction { budget_tokens: Some(budget), ..RawReduction::default() }
    }

    #[test]
    fn a_budget_makes_the_reduction_salient() {
        assert_eq!(checked(RawReduction::default()).expect("valid").level, ReductionLevel::Lossless);
        assert_eq!(checked(budget(500.0)).expect("valid").level, ReductionLevel::Salient { budget: 500 });
        let message = checked(budget(0.0)).expect_err("refused");
        assert_eq!(message, "reduce.budgetTokens: 0 is not a whole number from 1 to 9007199254740991");
    }

    #[test]
    fn lines_are_kept_by_their_text_or_by_a_pattern() {
        let raw = RawReduction {
            keep: vec!["checksum".to_owned()],
            keep_patterns: vec![("^deployed".to_owned(), "i".to_owned())],
            ..RawReduction::default()
        };
        let OutputReduction { keep, .. } = checked(raw).expect("valid");
        assert!(keep("the checksum is 7") && keep("Deployed to host 7") && !keep("not deployed"));
        let raw = RawReduction { keep_patterns: vec![("(".to_owned(), String::new())], ..RawReduction::default() };
        let message = checked(raw).expect_err("no expression");
        assert!(message.starts_with("reduce.keep: \"(\" is not a regular expression: "), "{message}");
    }

    #[test]
    fn without_a_list_no_rule_applies() {
        assert!(
            checked(RawReduction { off: Some(Vec::new()), ..RawReduction::default() }).expect("valid").off.is_empty()
        );
        assert_eq!(checked(RawReduction::default()).expect("valid").off.len(), RULES.len());
    }

    #[test]
    fn rules_of_a_user_apply_only_with_the_shipped_ones() {
        let rule = "name = 'deploy'\nhint = ['deploy']\nproof = ['^deploying']\non = 'green'\n".to_owned();
        let raw = |off, rule: &str| RawReduction { rules: vec![rule.to_owned()], off, ..RawReduction::default() };
        assert_eq!(checked(raw(Some(Vec::new()), &rule)).expect("valid").own.len(), 1);
        assert!(checked(raw(None, &rule)).expect("valid").own.is_empty());
        let message = checked(raw(Some(Vec::new()), "hint = 1")).expect_err("refused");
        assert!(message.starts_with("reduce.rules: line 1: "), "{message}");
    }

    #[test]
    fn only_a_command_in_the_foreground_is_reduced() {
        let raw = || RawOptions { reduce: Some(RawReduction::default()), cwd: "/".into(), ..RawOptions::default() };
        let reduced = |raw| PlannedRun::check(raw).expect("valid").reduce.is_some();
        assert!(reduced(raw()));
        let size = TerminalSize { cols: 80, rows: 24 };
        assert!(!reduced(RawOptions { terminal: Some(CommandTerminal::new(size)), ..raw() }));
        assert!(!reduced(RawOptions { mode: CommandMode::Background, ..raw() }));
        assert!(!reduced(RawOptions { streams: Some(CallerStreamOptions { bytes: true, fed: false }), ..raw() }));
        assert!(PlannedRun::check(RawOptions { reduce: Some(budget(0.5)), ..raw() }).is_err());
    }

    #[test]
    fn a_fault_costs_only_the_view() {
        let text = "step one of the work\n".repeat(100);
        assert_eq!(
            OutputReduction::faulty(ReductionLevel::Lossless).view(&text, "", ExitOutcome::Succeeded, None),
            None
        );
    }

    #[test]
    fn lines_of_earlier_results_are_referred_to() {
        let text: String = (0..40).map(|at| format!("package-{at} is at version {at}.{at}\n")).collect();
        let earlier = vec![RawEarlier { id: 9, text: text.clone(), hidden: Vec::new() }];
        let view = checked(RawReduction { earlier, ..RawReduction::default() })
            .expect("valid")
            .view(&text, "", ExitOutcome::Succeeded, Some("npm ls"))
            .expect("a reference is shorter");
        assert_eq!(view.text, "[40 lines as in #9 L1-40]\n");
    }
}
