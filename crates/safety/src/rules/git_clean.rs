//! `git clean -f`.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::quote;
use crate::programs::git::CLEAN;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-clean",
    level: SafetyVerdict::Ask,
    doc: "Deletes files that git does not know, for good: new work and, with -x, local settings too. `git clean -n` lists \
          them first.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git clean -f",
        "git clean -fd",
        "git clean -df",
        "git clean -fdx",
        "git clean -xfd",
        "git clean -ffdx",
        "git clean --force",
        "git clean --forc -d",
        "git clean -d -f src",
        "git clean -f -e node_modules",
        "git -C sub clean -fd",
        "git -c clean.requireForce=false clean -d",
    ],
    passes: &[
        "git clean -n",
        "git clean -nd",
        "git clean -nfd",
        "git clean -fdn",
        "git clean --dry-run -fdx",
        "git clean -d",
        "git clean",
        "git clean -fi",
        "git clean -f --no-force",
        "git clean -e -f",
        "git clean --help",
        "git clean -- -f",
        "make clean -f Makefile",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["clean"])?;
    let parsed = git.parse(&CLEAN);
    let dry = parsed.last("n dry-run no-dry-run").is_some_and(|last| last.name != "no-dry-run");
    let last = parsed.last("f force no-force");
    let free = git.setting("clean.requireforce").and_then(WordValue::known);
    let free = free.is_some_and(|value| matches!(value, "false" | "no" | "off" | "0"));
    let forced = last.map_or(free, |last| last.name != "no-force");
    if dry || !forced || parsed.has("i interactive") {
        return None;
    }
    let mut flags = "-n".to_owned();
    for flag in ["d", "x", "X"].into_iter().filter(|flag| parsed.has(flag)) {
        flags += flag;
    }
    let operands = quote::line(git.operands(&parsed)).filter(|line| !line.is_empty() && !parsed.has("e exclude"));
    let rest = operands.map(|line| format!(" -- {line}")).unwrap_or_default();
    Some(RuleHit::exact(
        "git clean deletes files that git does not track, and they cannot be brought back. Use git clean -n to list them first, and delete by name what is not needed",
        git.line(&format!("clean {flags}{rest}")),
    ))
}
