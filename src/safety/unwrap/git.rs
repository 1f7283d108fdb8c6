//! What git runs: aliases, `submodule foreach`, `bisect run`, `rebase --exec`, programs named by `-c`.

use super::inner::Inner;
use super::items::words;
use crate::safety::command::Command;
use crate::safety::options::{Parsed, Spec, parse};
use crate::safety::value::Value;

const GLOBALS: Spec = Spec::leading(
    "C:c:pPvh",
    &[
        "exec-path=?",
        "git-dir=",
        "work-tree=",
        "namespace=",
        "super-prefix=",
        "config-env=",
        "list-cmds=",
        "attr-source=",
        "bare",
        "no-pager",
        "paginate",
        "no-replace-objects",
        "literal-pathspecs",
        "glob-pathspecs",
        "noglob-pathspecs",
        "icase-pathspecs",
        "no-optional-locks",
        "html-path",
        "man-path",
        "info-path",
        "version",
        "help",
        "no-lazy-fetch",
        "no-advice",
    ],
);
/// Settings whose value is a script, whole or behind a name (`filter.x.clean`).
const SETTINGS: &[&str] = &[
    "core.sshcommand",
    "core.pager",
    "core.editor",
    "core.askpass",
    "core.fsmonitor",
    "sequence.editor",
    "diff.external",
    "core.gitproxy",
    "uploadpack.packobjectshook",
    "interactive.difffilter",
    "credential.helper",
    "gpg.program",
];
const SETTING_ENDS: &[&str] = &[".clean", ".smudge", ".process", ".textconv", ".cmd", ".driver", ".command"];
/// Variables whose value is a script.
const VARIABLES: &[&str] = &[
    "GIT_SSH_COMMAND",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "GIT_PAGER",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
];

/// What git runs.
pub(super) fn git(command: &Command) -> Vec<Inner> {
    let args = command.args();
    let parsed = parse(args, &GLOBALS);
    let mut found = Vec::new();
    for (name, value) in command.assignments {
        if VARIABLES.contains(&name.as_str()) {
            found.extend(known_script(value.clone(), name));
        }
    }
    let Some(at) = parsed.operands.first().copied() else { return found };
    let subcommand = args[at].known().unwrap_or_default();
    settings(&parsed, subcommand, &args[at + 1..], &mut found);
    let rest = &args[at + 1..];
    match subcommand {
        "submodule" => foreach(command, at + 2, &mut found),
        "bisect" if rest.first().is_some_and(|word| word.known() == Some("run")) && rest.len() > 1 => {
            found.push(child(Inner::words(at + 3, command.argv.len(), "git bisect run")));
        }
        "rebase" => options(
            rest,
            &Spec::gnu("x:s:X:C:S::iqvnfrmp", &["exec=", "onto=", "strategy=", "strategy-option="]),
            &["x", "exec"],
            "git rebase --exec",
            &mut found,
        ),
        "difftool" => options(
            rest,
            &Spec::leading("x:t:gyd", &["extcmd=", "tool=", "no-prompt", "dir-diff"]),
            &["x", "extcmd"],
            "git difftool -x",
            &mut found,
        ),
        "filter-branch" => {
            let spec = Spec::leading(
                "d:f",
                &[
                    "setup=",
                    "env-filter=",
                    "tree-filter=",
                    "index-filter=",
                    "parent-filter=",
                    "msg-filter=",
                    "commit-filter=",
                    "tag-name-filter=",
                    "subdirectory-filter=",
                    "prune-empty",
                    "original=",
                    "force",
                    "state-branch=",
                ],
            );
            let scripts = &[
                "setup",
                "env-filter",
                "tree-filter",
                "index-filter",
                "parent-filter",
                "msg-filter",
                "commit-filter",
                "tag-name-filter",
            ];
            options(rest, &spec, scripts, "git filter-branch", &mut found);
        }
        "clone" | "fetch" | "pull" | "ls-remote" => {
            options(rest, &Spec::gnu("b:o:j:", &["upload-pack="]), &["upload-pack"], "git --upload-pack", &mut found)
        }
        "push" => options(
            rest,
            &Spec::gnu("o:", &["receive-pack=", "exec="]),
            &["receive-pack", "exec"],
            "git --receive-pack",
            &mut found,
        ),
        _ => {}
    }
    found
}

/// `git submodule foreach --recursive 'script'`, or words of a command.
fn foreach(command: &Command, from: usize, found: &mut Vec<Inner>) {
    let argv = command.argv;
    let word = |at: usize| argv.get(at).and_then(Value::known);
    let mut at = from;
    while word(at).is_some_and(|text| text.starts_with('-')) {
        at += 1;
    }
    if word(at) != Some("foreach") {
        return;
    }
    at += 1;
    while word(at).is_some_and(|text| text.starts_with('-')) {
        at += 1;
    }
    match argv.len().saturating_sub(at) {
        0 => {}
        1 => found.extend(Inner::script(argv[at].clone(), "git submodule foreach")),
        _ => found.push(child(Inner::words(at, argv.len(), "git submodule foreach"))),
    }
}

/// What `-c name=value` runs: programs named so, and the subcommand where it is an alias.
fn settings(parsed: &Parsed, subcommand: &str, rest: &[Value], found: &mut Vec<Inner>) {
    for given in parsed.options.iter().filter(|given| given.name == "c") {
        let Some(word) = &given.value else { continue };
        let Some((name, _)) = word.prefix().split_once('=') else { continue };
        let lower = name.to_ascii_lowercase();
        let value = word.after(name.len() + 1);
        if let Some(alias) = lower.strip_prefix("alias.") {
            if alias.trim_end_matches(".command").eq_ignore_ascii_case(subcommand) {
                found.extend(alias_command(&value, rest));
            }
        } else if SETTINGS.contains(&lower.as_str()) || SETTING_ENDS.iter().any(|end| lower.ends_with(end)) {
            // `core.fsmonitor=false` switches off what is built in, and names no program.
            if lower == "core.fsmonitor"
                && value.known().is_some_and(|value| matches!(value, "true" | "false" | "0" | "1"))
            {
                continue;
            }
            let script = if value.prefix().starts_with('!') { value.after(1) } else { value };
            found.extend(known_script(script, "git -c"));
        }
    }
}

/// What an alias comes to with the words behind it.
fn alias_command(value: &Value, rest: &[Value]) -> Option<Inner> {
    if value.prefix().starts_with('!') {
        let mut script = value.after(1);
        for word in rest {
            script.push(crate::safety::value::Piece::Text(" ".to_owned()));
            script.extend(word);
        }
        return Inner::script(script, "git -c alias");
    }
    let text = value.known()?;
    let words = words(text);
    let argv = std::iter::once(Value::of("git")).chain(words.into_iter().map(Value::of)).chain(rest.iter().cloned());
    Some(Inner::argv(argv.collect(), "git -c alias"))
}

/// Scripts that stand as values of options.
fn options(rest: &[Value], spec: &Spec, names: &[&str], via: &str, found: &mut Vec<Inner>) {
    let parsed = parse(rest, spec);
    let given = parsed.options.iter().filter(|given| names.contains(&given.name.as_str()));
    found.extend(given.filter_map(|given| Inner::script(given.value.clone()?, via)));
}

/// A script, unless nothing of it is known: an editor in a variable is everyday.
fn known_script(text: Value, via: &str) -> Option<Inner> {
    Inner::script(text, via).filter(|inner| !matches!(inner, Inner::Opaque { .. }))
}

fn child(mut inner: Inner) -> Inner {
    if let Inner::Words { prefix, .. } = &mut inner {
        *prefix = false;
    }
    inner
}
