//! The parts of a command that check something: tests, lints, types, builds.

use std::path::Path;

use reduce::check::Checking;
use reduce::counts::TestCounts;
use safety::decide::Commands;
use twox_hash::XxHash3_128;

use crate::counted::prove;
use crate::programs::Program;
use crate::types::{Check, Kind, Verdict, cut};

/// Most entries of `checks`.
const CHECKS: usize = 8;

/// A check with what only this run knows of it.
struct Found {
    check: Check,
    runners: Vec<&'static str>,
}

/// Lists the checks among the programs of a command, each once. `rules` name commands that are checks as well.
pub fn checks(programs: Vec<Program>, rules: &Commands, tests: &[TestCounts]) -> Vec<Check> {
    let mut all: Vec<Found> = Vec::new();
    for program in programs {
        let Some(found) = found(&program, rules) else { continue };
        match all.iter_mut().find(|other| other.check.id == found.check.id) {
            // It failed if one of its runs did.
            Some(other) if is_worse(&found.check, &other.check) => *other = found,
            Some(_) => {}
            None => all.push(found),
        }
    }
    let tested: Vec<_> = all.iter().map(|found| tests_of(found, &all, tests)).collect();
    let judged = all.into_iter().zip(tested).map(|(found, tests)| judged(found.check, &tests));
    judged.take(CHECKS).collect()
}

fn found(program: &Program, rules: &Commands) -> Option<Found> {
    let Checking { words, check, runners } = Checking::of(&program.words);
    let named = rules.name(&program.words) || rules.name(&words);
    let kind = if named { Kind::Test } else { check? };
    let verdict = match program.code {
        None => Verdict::Unproven,
        Some(0) => Verdict::Passed,
        Some(_) => Verdict::Failed,
    };
    let check = Check {
        id: id(&program.directory, &words),
        command: cut(&program.source),
        cwd: program.directory.clone(),
        kind,
        verdict,
        last: None,
        last_passed: None,
        since: None,
        again: None,
        exit_code: program.code.filter(|_| !program.killed),
        failures: None,
    };
    Some(Found { check, runners })
}

/// Returns the name of a check: the same for the same words in the same directory.
fn id(directory: &Path, words: &[String]) -> String {
    let words = words.iter().map(String::as_bytes);
    let all: Vec<_> = [directory.as_os_str().as_encoded_bytes()].into_iter().chain(words).collect();
    format!("{:016x}", XxHash3_128::oneshot(&all.join(&0)) >> 64)
}

fn is_worse(check: &Check, other: &Check) -> bool {
    let rank = |check: &Check| match check.verdict {
        Verdict::Failed => 2,
        Verdict::Unproven => 1,
        Verdict::Passed => 0,
    };
    rank(check) > rank(other)
}

/// Returns the counts that are certainly a check's own: all of them if it is the only one with tests, otherwise those
/// of runners that no other check can have run.
fn tests_of<'t>(found: &Found, all: &[Found], tests: &'t [TestCounts]) -> Vec<&'t TestCounts> {
    let has_tests = |found: &&Found| found.check.kind == Kind::Test;
    if !has_tests(&found) {
        return Vec::new();
    }
    let others: Vec<_> = all.iter().filter(has_tests).filter(|other| other.check.id != found.check.id).collect();
    let prints = |found: &Found, runner: &str| found.runners.contains(&runner);
    // A script may run anything.
    let may_print = |other: &&&Found, runner: &str| other.runners.is_empty() || prints(other, runner);
    let own = |counts: &&TestCounts| {
        others.is_empty()
            || prints(found, &counts.runner) && !others.iter().any(|other| may_print(&other, &counts.runner))
    };
    tests.iter().filter(own).collect()
}

fn judged(check: Check, tests: &[&TestCounts]) -> Check {
    let counts: Vec<TestCounts> = tests.iter().copied().cloned().collect();
    let verdict = if check.verdict == Verdict::Passed { prove(&counts).0 } else { check.verdict };
    let is_whole = |counts: &&TestCounts| counts.complete && counts.failures.len() as u64 == counts.failed;
    let whole = !tests.is_empty() && tests.iter().all(is_whole);
    let failures = whole.then(|| counts.into_iter().flat_map(|counts| counts.failures).collect());
    Check { verdict, failures, ..check }
}
