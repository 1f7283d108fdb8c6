//! What the counts of tests prove.

use reduce::counts::TestCounts;

use crate::command_evidence::{CommandEvidence, EvidenceVerdict};

/// Adds counts of tests to the evidence of their command, and judges it anew.
pub fn judge_with_counts(evidence: CommandEvidence, tests: Vec<TestCounts>) -> CommandEvidence {
    let (verdict, why) = match (evidence.verdict, prove_by_counts(&tests)) {
        (EvidenceVerdict::Failed, _) => (EvidenceVerdict::Failed, evidence.why),
        (_, (EvidenceVerdict::Failed, why)) => (EvidenceVerdict::Failed, why),
        (EvidenceVerdict::Passed, proved) => proved,
        (EvidenceVerdict::Unproven, _) => (EvidenceVerdict::Unproven, evidence.why),
    };
    CommandEvidence { verdict, why, tests, ..evidence }
}

/// Returns what counts of tests prove, and why it is not `passed`.
pub fn prove_by_counts(tests: &[TestCounts]) -> (EvidenceVerdict, Option<String>) {
    let failed = tests.iter().find(|counts| counts.failed > 0);
    let idle = tests.iter().find(|counts| ran_none(counts));
    match (failed, idle) {
        (Some(TestCounts { runner, failed, .. }), _) => {
            let word = if *failed == 1 { "test" } else { "tests" };
            (EvidenceVerdict::Failed, Some(format!("{failed} {word} of {runner} failed.")))
        }
        (None, Some(counts)) => (EvidenceVerdict::Unproven, Some(format!("{} ran no test.", counts.runner))),
        (None, None) => (EvidenceVerdict::Passed, None),
    }
}

/// Returns whether a runner is known to have run no test. One that does not print how many passed may have run some.
fn ran_none(counts: &TestCounts) -> bool {
    counts.complete && counts.failed == 0 && (counts.passed == Some(0) || counts.total == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_evidence::EvidenceCompleteness;

    fn counts(passed: Option<u64>, failed: u64, complete: bool) -> TestCounts {
        let (runner, skipped, failures) = ("pytest".to_owned(), Some(1), Vec::new());
        TestCounts { runner, passed, failed, skipped, total: None, failures, failures_total: 0, complete }
    }

    #[test]
    fn tests_that_failed_or_did_not_run_decide_the_verdict() {
        use EvidenceVerdict::{Failed, Passed, Unproven};
        let rows = [
            (Passed, vec![counts(Some(3), 0, true)], Passed, None),
            (
                Passed,
                vec![counts(Some(3), 0, true), counts(Some(3), 2, false)],
                Failed,
                Some("2 tests of pytest failed."),
            ),
            (Passed, vec![counts(None, 1, true)], Failed, Some("1 test of pytest failed.")),
            (Passed, vec![counts(Some(0), 0, true)], Unproven, Some("pytest ran no test.")),
            (Passed, vec![counts(Some(0), 0, false)], Passed, None),
            (Passed, vec![counts(None, 0, true)], Passed, None),
            (Unproven, vec![counts(Some(3), 0, true)], Unproven, Some("before")),
            (Unproven, vec![counts(Some(3), 1, true)], Failed, Some("1 test of pytest failed.")),
            (Failed, vec![counts(Some(0), 0, true)], Failed, Some("before")),
            (Failed, vec![counts(Some(3), 1, true)], Failed, Some("before")),
        ];
        for (before, tests, verdict, why) in rows {
            let first = (before != Passed).then(|| "before".to_owned());
            let (parts, masked, own, checks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            let state = EvidenceCompleteness::Known;
            let before = CommandEvidence {
                verdict: before,
                why: first,
                state,
                parts,
                parts_total: 0,
                masked,
                tests: own,
                checks,
                not_known: None,
            };
            let after = judge_with_counts(before.clone(), tests.clone());
            assert_eq!((after.verdict, after.why.as_deref()), (verdict, why), "{before:?} {tests:?}");
            assert_eq!(after.tests, tests);
        }
    }
}
