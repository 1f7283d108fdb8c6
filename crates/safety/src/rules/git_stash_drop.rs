//! `git stash drop` and `clear`.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-stash-drop",
    level: SafetyVerdict::Ask,
    doc: "Deletes stashed changes, maybe those of another person. `git stash list` and `git stash show` list them.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git stash drop",
        "git stash drop stash@{0}",
        "git stash drop -q 1",
        "git stash clear",
        "git -C sub stash clear",
        "git -c alias.x='stash drop' x",
    ],
    passes: &[
        "git stash",
        "git stash pop",
        "git stash apply",
        "git stash list",
        "git stash show -p",
        "git stash push -m drop",
        "git stash push drop",
        "git stash -u",
        "git stash drop --help",
        "git stash branch drop",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["stash"])?;
    let action = git.args.first()?.known()?;
    if !matches!(action, "drop" | "clear") {
        return None;
    }
    let show = if action == "drop" { "stash show -p" } else { "stash list" };
    Some(RuleHit::exact(
        format!(
            "git stash {action} deletes changes that were put aside. Use git stash show -p to look at them, or git stash pop to take them back"
        ),
        git.line(show),
    ))
}
