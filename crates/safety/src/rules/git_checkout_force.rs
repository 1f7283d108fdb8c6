//! Changing the branch by force.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use crate::programs::git::{CHECKOUT, SWITCH};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-checkout-force",
    level: SafetyVerdict::Ask,
    doc: "Changes the branch and throws away every change that is not committed. Without -f git refuses where something \
          would be lost.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git checkout -f",
        "git checkout -f main",
        "git checkout main -f",
        "git checkout --force main",
        "git checkout --forc main",
        "git checkout -qf main",
        "git checkout -fb new",
        "git switch -f main",
        "git switch --force main",
        "git switch --discard-changes main",
        "git switch --discard main",
        "git -C sub switch -f main",
    ],
    passes: &[
        "git checkout main",
        "git switch main",
        "git switch -c feature",
        "git switch -C feature",
        "git switch --force-create feature",
        "git switch -m main",
        "git checkout -b f",
        "git checkout -B f",
        "git checkout -f --no-force main",
        "git switch --help",
        "git switch -",
        "git fetch -f",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["checkout", "switch"])?;
    let parsed = git.parse(if git.sub == "switch" { &SWITCH } else { &CHECKOUT });
    let last = |names: &str| parsed.last(names).is_some_and(|last| !last.name.starts_with("no-"));
    if !last("f force no-force") && !last("discard-changes no-discard-changes") {
        return None;
    }
    Some(RuleHit::exact(
        format!(
            "git {} -f throws away all changes that are not committed. Use git stash to put them aside, or leave out -f",
            git.sub
        ),
        git.line("stash"),
    ))
}
