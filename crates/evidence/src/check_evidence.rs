//! The parts of a command that check something: tests, lints, types, builds.

use std::path::Path;

use reduce::check_classification::CheckClassification;
use reduce::counts::TestCounts;
use safety::decide::NamedCommandRules;
use twox_hash::XxHash3_128;

use crate::attempted_programs::AttemptedProgram;
use crate::command_evidence::{CheckEvidence, EvidenceVerdict, FailedTests, Kind, shorten_source};
use crate::test_counts::prove_by_counts;

/// Most entries of `checks`.
const CHECKS: usize = 8;

/// A check with what only this run knows of it.
struct FoundCheck {
    check: CheckEvidence,
    printing: PossibleTestOutput,
}

/// Lists the checks among the programs of a command, each once. `rules` name commands that are checks as well.
pub fn list_checks(
    programs: Vec<AttemptedProgram>,
    rules: &NamedCommandRules,
    tests: &[TestCounts],
) -> Vec<CheckEvidence> {
    let mut all: Vec<FoundCheck> = Vec::new();
    // Programs that are no checks, and may print tests.
    let mut others: Vec<PossibleTestOutput> = Vec::new();
    for program in programs {
        let checking = CheckClassification::of(&program.words);
        let printing = PossibleTestOutput { any: checking.may_run_any, runners: checking.runners.clone() };
        let Some(found) = find_check(&program, checking, rules) else {
            others.push(printing);
            continue;
        };
        match all.iter_mut().find(|other| other.check.id == found.check.id) {
            // It failed if one of its runs did.
            Some(other) if is_worse(&found.check, &other.check) => *other = found,
            Some(_) => {}
            None => all.push(found),
        }
    }
    let tested: Vec<_> = all.iter().map(|found| CheckTestCounts::of(found, &all, &others, tests)).collect();
    let judged = all.into_iter().zip(tested).map(|(found, tested)| tested.judge_check(found.check));
    judged.take(CHECKS).collect()
}

/// The tests that a program may print.
struct PossibleTestOutput {
    /// It may run any runner, as a script does.
    any: bool,
    /// The runners whose output it prints itself.
    runners: Vec<&'static str>,
}

impl PossibleTestOutput {
    fn may_print(&self, runner: &str) -> bool {
        self.any || self.runners.contains(&runner)
    }
}

fn find_check(
    program: &AttemptedProgram,
    checking: CheckClassification,
    rules: &NamedCommandRules,
) -> Option<FoundCheck> {
    let CheckClassification { words, check, runners, may_run_any, gives_code } = checking;
    let named = rules.names_command(&program.words) || rules.names_command(&words);
    let kind = if named { Kind::Test } else { check? };
    let verdict = match program.code {
        None => EvidenceVerdict::Unproven,
        // `setsid -f` and `xargs` end well whatever became of the check.
        Some(0) if !gives_code => EvidenceVerdict::Unproven,
        Some(0) => EvidenceVerdict::Passed,
        Some(_) => EvidenceVerdict::Failed,
    };
    let check = CheckEvidence {
        id: id(&program.directory, &words),
        command: shorten_source(&program.source),
        cwd: program.directory.clone(),
        kind,
        verdict,
        last: None,
        last_passed: None,
        since: None,
        again: None,
        exit_code: program.code,
        failures: None,
    };
    let any = may_run_any || runners.is_empty();
    Some(FoundCheck { check, printing: PossibleTestOutput { any, runners } })
}

/// Returns the name of a check: the same for the same words in the same directory.
fn id(directory: &Path, words: &[String]) -> String {
    let words = words.iter().map(String::as_bytes);
    let all: Vec<_> = [directory.as_os_str().as_encoded_bytes()].into_iter().chain(words).collect();
    format!("{:016x}", XxHash3_128::oneshot(&all.join(&0)) >> 64)
}

fn is_worse(check: &CheckEvidence, other: &CheckEvidence) -> bool {
    let rank = |check: &CheckEvidence| match check.verdict {
        EvidenceVerdict::Failed => 2,
        EvidenceVerdict::Unproven => 1,
        EvidenceVerdict::Passed => 0,
    };
    rank(check) > rank(other)
}

/// The tests of a check.
#[derive(Default)]
struct CheckTestCounts<'t> {
    /// The counts that are certainly its own.
    own: Vec<&'t TestCounts>,
    /// Whether there are counts that another program of the command may have printed as well.
    is_shared: bool,
    /// Whether such counts tell of a failure, or of no test.
    may_have_failed: bool,
}

impl<'t> CheckTestCounts<'t> {
    /// Selects the counts of a command that a check may have printed.
    fn of(found: &FoundCheck, all: &[FoundCheck], others: &[PossibleTestOutput], tests: &'t [TestCounts]) -> Self {
        let mut tested = Self::default();
        if found.check.kind != Kind::Test {
            return tested;
        }
        let checks = all.iter().filter(|other| other.check.kind == Kind::Test && other.check.id != found.check.id);
        let others: Vec<_> = checks.map(|other| &other.printing).chain(others).collect();
        for counts in tests.iter().filter(|counts| found.printing.may_print(&counts.runner)) {
            if others.iter().any(|other| other.may_print(&counts.runner)) {
                tested.is_shared = true;
                tested.may_have_failed |= prove_by_counts(std::slice::from_ref(counts)).0 != EvidenceVerdict::Passed;
            } else {
                tested.own.push(counts);
            }
        }
        tested
    }

    fn judge_check(self, check: CheckEvidence) -> CheckEvidence {
        let counts: Vec<TestCounts> = self.own.iter().map(|counts| (*counts).clone()).collect();
        let verdict = match (check.verdict, prove_by_counts(&counts).0) {
            (EvidenceVerdict::Passed, EvidenceVerdict::Passed) if self.may_have_failed => EvidenceVerdict::Unproven,
            (EvidenceVerdict::Passed, proved) => proved,
            (verdict, _) => verdict,
        };
        let is_whole = |counts: &TestCounts| counts.complete && counts.failures.len() as u64 == counts.failed;
        let whole = !self.is_shared && !counts.is_empty() && counts.iter().all(is_whole);
        let passed = counts.iter().map(|counts| counts.passed).sum::<Option<u64>>();
        let names = || counts.iter().flat_map(|counts| counts.failures.iter().cloned()).collect();
        let failures = passed.filter(|_| whole).map(|passed| FailedTests { names: names(), passed });
        CheckEvidence { verdict, failures, ..check }
    }
}
