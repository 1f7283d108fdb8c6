//! Whether a call of git only reads.
//!
//! A repository's own settings may make git run programs when it reads: a monitor of the file system (`core.fsmonitor`),
//! a pager, and to show differences `diff.external` and textconv. So a call counts as reading only where it is said that none
//! of them runs: `git -c core.fsmonitor=false --no-pager diff --no-ext-diff --no-textconv`. The first two may come from
//! the environment as well (`GIT_PAGER=cat`, `GIT_CONFIG_COUNT` with its keys and values), for all calls at once.

use crate::safety::analysis::ReadOnly;
use crate::safety::command::Command;
use crate::safety::follow::Environment;
use crate::safety::options::parse;
use crate::safety::rules::Git;
use crate::safety::tables::git::GLOBAL;
use crate::safety::tables::git_reads::{GIT_DIFFS, GIT_DOUBTFUL, GIT_READS, GIT_SETTINGS, GIT_TEXTCONV, GIT_WRITES};
use crate::safety::value::Value;

/// The most settings that are read from the environment.
const MAX_SETTINGS: usize = 64;

/// Whether a call of git only reads.
pub fn read_only(command: &Command, environment: Environment) -> ReadOnly {
    let Some(git) = Git::new(command) else {
        // `git --version`, `git --help`; or a command that is not known.
        let tells = parse(command.args(), &GLOBAL).has(&["version", "v", "help", "h"]);
        return if tells { ReadOnly::Yes } else { ReadOnly::Unknown };
    };
    if matches!(git.sub, "version" | "help") {
        return ReadOnly::Yes;
    }
    let alone = |text: &str| matches!(git.args.as_ref(), [arg] if arg.known() == Some(text));
    if alone("-h") {
        return ReadOnly::Yes;
    }
    match kind(&git) {
        ReadOnly::Yes => {}
        other => return other,
    }
    let doubtful = |arg: &Value| {
        let text = arg.prefix();
        let name = text.split('=').next().unwrap_or_default();
        let option = GIT_DOUBTFUL.iter().any(|option| *option == name || name.len() > 4 && option.starts_with(name));
        option || arg.has_hole() && (text.is_empty() || text.starts_with('-')) || text.starts_with("-O")
    };
    let until = git.args.iter().position(|arg| arg.known() == Some("--")).unwrap_or(git.args.len());
    if git.args[..until].iter().any(doubtful) || !pinned(&git, command, environment) {
        return ReadOnly::Unknown;
    }
    ReadOnly::Yes
}

/// By its command alone.
fn kind(git: &Git) -> ReadOnly {
    let word = |at: usize| git.args.get(at).and_then(Value::known);
    let (first, second) = (word(0), word(1));
    let operands = git.args.iter().filter(|arg| !arg.prefix().starts_with('-')).count();
    let has = |names: &[&str]| git.args.iter().any(|arg| arg.known().is_some_and(|text| names.contains(&text)));
    let reads = match git.sub {
        sub if GIT_READS.contains(&sub) => true,
        sub if GIT_WRITES.contains(&sub) => return ReadOnly::No,
        "branch" | "tag" => {
            let lists = [
                "-l",
                "--list",
                "-a",
                "--all",
                "-r",
                "--remotes",
                "-v",
                "-vv",
                "--show-current",
                "--contains",
                "--no-contains",
                "--merged",
                "--no-merged",
                "--points-at",
                "-n",
            ];
            let edits = |arg: &Value| {
                let text = arg.prefix();
                let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
                let long =
                    ["--delete", "--move", "--copy", "--edit-description", "--set-upstream-to", "--unset-upstream"];
                let more =
                    ["--annotate", "--sign", "--force", "--message", "--file", "--local-user", "--create-reflog"];
                letters.contains(['d', 'D', 'm', 'M', 'c', 'C', 'f', 'u', 's', 'F'])
                    || long
                        .iter()
                        .chain(&more)
                        .any(|long| text.len() > 3 && long.starts_with(text.split('=').next().unwrap_or(text)))
            };
            if git.args.iter().any(edits) {
                return ReadOnly::No;
            }
            operands == 0 || has(&lists)
        }
        "remote" => match first {
            None | Some("-v" | "--verbose") => git.args.len() < 2,
            Some("get-url") => true,
            Some("add" | "remove" | "rm" | "rename" | "set-url" | "prune" | "update" | "set-head" | "set-branches") => {
                return ReadOnly::No;
            }
            _ => false,
        },
        "config" => match first {
            Some("--get" | "--get-all" | "--get-regexp" | "--list" | "-l" | "get" | "list") => true,
            Some(
                "set" | "unset" | "--add" | "--unset" | "--unset-all" | "--replace-all" | "edit" | "-e" | "--edit",
            ) => return ReadOnly::No,
            Some("--global" | "--local" | "--system") => {
                matches!(second, Some("--get" | "--get-all" | "--get-regexp" | "--list" | "-l"))
            }
            Some(key) => !key.starts_with('-') && git.args.len() == 1,
            None => false,
        },
        "stash" => match first {
            Some("list" | "show") => true,
            _ => return ReadOnly::No,
        },
        "reflog" => match first {
            Some("expire" | "delete") => return ReadOnly::No,
            _ => true,
        },
        "worktree" => match first {
            Some("list") => true,
            Some("add" | "remove" | "move" | "prune" | "lock" | "unlock" | "repair") => return ReadOnly::No,
            _ => false,
        },
        "symbolic-ref" => operands == 1 && !has(&["-d", "--delete", "-m"]),
        _ => false,
    };
    if reads { ReadOnly::Yes } else { ReadOnly::Unknown }
}

/// Whether it is said that nothing runs.
fn pinned(git: &Git, command: &Command, environment: Environment) -> bool {
    let known = |name: &str| GIT_SETTINGS.iter().any(|own| name == *own || own.ends_with('.') && name.starts_with(own));
    if !git.config.iter().all(|(name, value)| known(name) && harmless(name, value)) {
        return false;
    }
    let off = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0" | "");
    let monitor = match git.setting("core.fsmonitor") {
        Some(value) => value.known().is_some_and(off),
        None => setting(environment, "core.fsmonitor").is_some_and(off),
    };
    let cat = |value: &str| matches!(value, "cat" | "");
    let assigned = command.assignments.iter().any(|(name, value)| name == "GIT_PAGER" && value.known() == Some("cat"));
    let pager = git.no_pager
        || assigned
        || git.setting("core.pager").and_then(Value::known).is_some_and(cat) && environment.get("GIT_PAGER").is_none()
        || environment.get("GIT_PAGER").is_some_and(cat);
    let has = |name: &str| git.args.iter().any(|arg| arg.known() == Some(name));
    let diffs = !GIT_DIFFS.contains(&git.sub) || has("--no-ext-diff") && has("--no-textconv");
    monitor && pager && diffs && !GIT_TEXTCONV.contains(&git.sub)
}

fn harmless(name: &str, value: &Value) -> bool {
    let pager = name == "core.pager" || name.starts_with("pager.");
    !pager || matches!(value.known(), Some("cat" | "false" | "0" | ""))
}

/// A setting that the environment gives to every git.
fn setting<'a>(environment: Environment<'a>, name: &str) -> Option<&'a str> {
    let count: usize = environment.get("GIT_CONFIG_COUNT")?.parse().ok()?;
    let key =
        |at: &usize| environment.get(&format!("GIT_CONFIG_KEY_{at}")).is_some_and(|key| key.eq_ignore_ascii_case(name));
    let at = (0..count.min(MAX_SETTINGS)).rev().find(key)?;
    environment.get(&format!("GIT_CONFIG_VALUE_{at}"))
}
