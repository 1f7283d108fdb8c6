//! A push that overwrites what others pushed.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::quote;
use crate::options::ParsedArguments;
use crate::programs::git::{PUSH, SEND_PACK};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-force-push",
    level: SafetyVerdict::Deny,
    doc: "Overwrites a branch on the remote, whatever others have pushed since. `--force-with-lease` overwrites only what \
          one has seen; beside a lease, `--force` and `+branch` still win.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git push --force",
        "git push -f",
        "git push origin main --force",
        "git push origin main -f",
        "git push -uf origin main",
        "git push -fu origin main",
        "git push --forc",
        "git push origin +main",
        "git push origin +HEAD:main",
        "git push --force-with-lease --force",
        "git push --force --force-with-lease origin main",
        "git push --no-force -f",
        "git -C sub push -f",
        "git -c push.default=current push --force",
        "git -c alias.x='push --force' x",
        "git -c remote.origin.push=+refs/heads/*:refs/heads/* push",
        "git send-pack --force origin main",
    ],
    passes: &[
        "git push",
        "git push origin main",
        "git push -u origin main",
        "git push --force-with-lease",
        "git push --force-with-lease=main:abc origin main",
        "git push --force-with-lease --force-if-includes origin main",
        "git push --force --no-force origin main",
        "git push --force --dry-run",
        "git push -nf",
        "git push --follow-tags",
        "git push origin HEAD:feature+x",
        "git push -o --force origin main",
        "git push --help",
        "git push -- --force",
        "git fetch --force",
        "git fetch origin +refs/heads/*:refs/remotes/origin/*",
        "git commit -m 'git push --force'",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["push", "send-pack"])?;
    let parsed = git.parse(if git.sub == "push" { &PUSH } else { &SEND_PACK });
    let dry = parsed.last("n dry-run no-dry-run").is_some_and(|last| last.name != "no-dry-run");
    let plus = git.operands(&parsed).any(|operand| operand.prefix().starts_with('+'));
    let set = git
        .config
        .iter()
        .any(|(name, value)| name.starts_with("remote.") && name.ends_with(".push") && value.prefix().starts_with('+'));
    if dry || !(forced(&parsed) || plus || set) {
        return None;
    }
    Some(RuleHit::exact(
        "permission denied: git push --force is not allowed. Use --force-with-lease for safer force pushes, or push without force",
        instead(&git, &parsed),
    ))
}

/// Returns whether an option means `--force`. A prefix counts, too, although git itself finds it ambiguous.
fn is_force(name: &str, listed: bool) -> bool {
    name == "f" && listed || name == "force" || !listed && name.len() > 2 && "force".starts_with(name)
}

fn forced(parsed: &ParsedArguments) -> bool {
    let about =
        parsed.options.iter().rev().find(|given| given.name == "no-force" || is_force(&given.name, given.listed));
    about.is_some_and(|given| given.name != "no-force")
}

/// Returns the same push with a lease. If the push has anything unusual, a plain push with a lease.
fn instead(git: &GitCall, parsed: &ParsedArguments) -> String {
    let plain = git.line("push --force-with-lease");
    let keeps = ["u", "set-upstream", "tags", "follow-tags", "v", "verbose", "q", "quiet", "no-verify", "atomic"];
    let mut words = Vec::new();
    for given in &parsed.options {
        let name = given.name.as_str();
        if is_force(name, given.listed) || matches!(name, "no-force" | "force-with-lease" | "force-if-includes") {
            continue;
        }
        if !keeps.contains(&name) {
            return plain;
        }
        words.push(WordValue::of(format!("{}{name}", if name.len() == 1 { "-" } else { "--" })));
    }
    for operand in git.operands(parsed) {
        let Some(text) = operand.known() else { return plain };
        let text = text.trim_start_matches('+');
        if text.starts_with(':') || text.starts_with('-') {
            return plain;
        }
        words.push(WordValue::of(text));
    }
    match quote::line(&words) {
        Some(line) if !line.is_empty() => format!("{plain} {line}"),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::tests::judge;

    #[test]
    fn the_suggestion_keeps_what_is_harmless() {
        for (command, instead) in [
            ("git push -uf origin main", "git push --force-with-lease -u origin main"),
            ("git -C sub push origin +main", "git -C sub push --force-with-lease origin main"),
            ("git push --force --mirror", "git push --force-with-lease"),
            ("git push -f origin :main", "git push --force-with-lease"),
        ] {
            let hit = judge(command).into_iter().next();
            assert_eq!(hit.map(|hit| hit.suggestion).as_deref(), Some(instead), "{command}");
        }
    }
}
