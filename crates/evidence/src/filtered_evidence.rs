//! What a stored run proved about a program whose output goes through another filter.

use crate::command_evidence::{
    CommandEnd, CommandEvidence, EvidenceCompleteness, EvidencePart, EvidenceVerdict, FailureMask, MaskedFailure,
    shorten_source,
};
use crate::test_counts::judge_with_counts;
use crate::watched_evidence::{describe_failure, failed_end_verdict};

/// Returns the evidence of a pipeline whose first program did not run again: `producer` with its place in this command,
/// from the evidence of its own run. `filter` is the source behind the pipe, which ended like this.
#[must_use]
pub fn filtered_evidence(
    stored: &CommandEvidence,
    producer: EvidencePart,
    filter: &str,
    end: CommandEnd,
) -> CommandEvidence {
    let masks = producer.exit_code != Some(0);
    let EvidencePart { command, signal, exit_code, .. } = &producer;
    let own = || format!("{} is hidden.", describe_failure(command, signal.as_deref(), *exit_code));
    let own = masks.then(|| (EvidenceVerdict::Failed, Some(own())));
    let (verdict, why) = failed_end_verdict(end).or(own).unwrap_or((EvidenceVerdict::Passed, None));
    let masked = MaskedFailure { part: producer.clone(), by: FailureMask::Pipe, behind: Some(shorten_source(filter)) };
    let evidence = CommandEvidence {
        verdict,
        why,
        state: EvidenceCompleteness::Known,
        parts: vec![producer],
        parts_total: 1,
        masked: masks.then_some(masked).into_iter().collect(),
        tests: Vec::new(),
        checks: stored.checks.clone(),
        not_known: None,
    };
    judge_with_counts(evidence, stored.tests.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(code: i32, end: Option<i32>) -> CommandEvidence {
        let part = |code| EvidencePart {
            command: "npm test 2>&1".to_owned(),
            span: Some((0, 13)),
            exit_code: Some(code),
            signal: None,
            times: 1,
        };
        let none = CommandEnd { code: Some(0), signal: None, by_itself: true };
        let stored = filtered_evidence(&CommandEvidence { checks: Vec::new(), ..empty() }, part(code), "cat", none);
        filtered_evidence(
            &stored,
            part(code),
            "tail -5",
            CommandEnd { code: end, signal: None, by_itself: end.is_some() },
        )
    }

    fn empty() -> CommandEvidence {
        CommandEvidence {
            verdict: EvidenceVerdict::Passed,
            why: None,
            state: EvidenceCompleteness::Known,
            parts: Vec::new(),
            parts_total: 0,
            masked: Vec::new(),
            tests: Vec::new(),
            checks: Vec::new(),
            not_known: None,
        }
    }

    #[test]
    fn a_failure_stays_hidden_by_each_filter() {
        let hidden = through(1, Some(0));
        assert_eq!(hidden.verdict, EvidenceVerdict::Failed);
        assert_eq!(hidden.why.as_deref(), Some("The exit code 1 of «npm test 2>&1» is hidden."));
        assert_eq!(hidden.masked[0].behind.as_deref(), Some("tail -5"));
        assert_eq!((through(0, Some(0)).verdict, through(0, Some(0)).masked.len()), (EvidenceVerdict::Passed, 0));
        assert_eq!(through(0, Some(1)).why.as_deref(), Some("The exit code is 1."));
        assert_eq!(through(0, None).why.as_deref(), Some("The command did not end by itself."));
    }
}
