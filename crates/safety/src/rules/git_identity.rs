//! Setting who commits.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use crate::options::parse;
use crate::programs::git::{CLONE, CONFIG};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "git-identity",
    level: SafetyVerdict::Ask,
    doc: "Commits then bear another name or address than the person's own. Who commits is for that person to set.",
    programs: RulePrograms::All,
    check,
    matches: &[
        "git config user.name Bot",
        "git config user.email bot@example.com",
        "git config --global user.name 'A Bot'",
        "cd $(mktemp -d) && git config --global user.name x",
        "git config --local user.email ''",
        "git config --add user.name Bot",
        "git config --replace-all user.name Bot",
        "git config set user.name Bot",
        "git config set --global user.email x@y.z",
        "git config -f .gitmodules user.name Bot",
        "git config User.Email x@y.z",
        "git config author.name Bot",
        "git -c user.name=Bot commit -m x",
        "git -c user.email=x@y.z -c core.pager=cat commit -m x",
        "git clone -c user.name=Bot https://example.com/x.git",
        "GIT_AUTHOR_NAME=Bot git commit -m x",
        "GIT_COMMITTER_EMAIL=x@y.z git rebase main",
        "export GIT_AUTHOR_NAME=Bot",
        "declare -x GIT_AUTHOR_EMAIL=x@y.z",
    ],
    passes: &[
        "git config user.name",
        "cd $(mktemp -d) && git config user.name test && git -c user.email=t@t commit -qm x",
        "git config --get user.email",
        "git config get user.name",
        "git config --global --get user.name",
        "git config --default me --get user.name",
        "git config --list",
        "git config --unset user.name",
        "git config core.editor vim",
        "git config alias.user.name x",
        "git config --help",
        "git -c core.pager=cat log",
        "git commit --author 'A <a@b.c>' -m x",
        "git commit -m 'git config user.name x'",
        "git log --author user.name=x",
        "GIT_AUTHOR_DATE=2020-01-01 git commit -m x",
        "export GIT_PAGER=cat",
        "echo GIT_AUTHOR_NAME=x",
    ],
};

/// Keys in lower case, because git ignores their case.
static KEYS: &[&str] = &["user.name", "user.email", "author.name", "author.email", "committer.name", "committer.email"];

static VARIABLES: &[&str] = &["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"];

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let assigned = command.assignments.iter().any(|(name, _)| VARIABLES.contains(&name.as_str()));
    if !(assigned || exported(command) || configured(command).unwrap_or_default()) {
        return None;
    }
    Some(RuleHit::exact(
        "this sets the name or address that commits bear, which is for the person to decide. Use the identity that is configured: git config user.name shows it",
        "git config user.name",
    ))
}

fn exported(command: &SimpleCommandView) -> bool {
    let exports = matches!(command.name(), Some("export" | "declare" | "typeset" | "readonly" | "local" | "setenv"));
    exports
        && command.args().iter().any(|arg| {
            let text = arg.prefix();
            text.split_once('=').is_some_and(|(name, _)| VARIABLES.contains(&name))
        })
}

fn configured(command: &SimpleCommandView) -> Option<bool> {
    if !matches!(command.name()?, "git" | "git.exe") {
        return None;
    }
    let git = GitCall::new(command)?;
    if git.is_in_scratch(command.directories)
        && !git.args.iter().any(|arg| matches!(arg.known(), Some("--global" | "--system")))
    {
        return None;
    }
    if git.config.iter().any(|(name, _)| KEYS.contains(&name.as_str())) {
        return Some(true);
    }
    match git.sub {
        "config" => sets(&git.args),
        "clone" => {
            let parsed = git.parse(&CLONE);
            let given = parsed.options.iter().filter(|given| matches!(given.name.as_str(), "c" | "config"));
            Some(given.filter_map(|given| given.value.as_ref()?.prefix().split_once('=')).any(|(name, _)| is_key(name)))
        }
        _ => None,
    }
}

fn is_key(name: &str) -> bool {
    KEYS.contains(&name.to_ascii_lowercase().as_str())
}

/// `git config user.name Bot`, `git config set user.name Bot`.
fn sets(args: &[WordValue]) -> Option<bool> {
    let parsed = parse(args, &CONFIG);
    let reads = "get get-all get-regexp get-urlmatch list l unset unset-all e edit";
    if parsed.has(reads) {
        return Some(false);
    }
    let operands: Vec<&WordValue> = parsed.operands.iter().filter_map(|at| args.get(*at)).take(3).collect();
    Some(match operands.as_slice() {
        [set, key, _] if set.known() == Some("set") => is_key(key.known()?),
        [key, _, ..] => is_key(key.known()?),
        _ => false,
    })
}
