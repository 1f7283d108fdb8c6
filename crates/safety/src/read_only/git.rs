//! Tells whether a call of git only reads.
//!
//! A repository's own settings may make git run programs when it reads: a file system monitor (`core.fsmonitor`), a
//! pager, and `diff.external` and textconv to show differences. So a call counts as reading only if it rules out each
//! of these programs: `git -c core.fsmonitor=false --no-pager diff --no-ext-diff --no-textconv`. For all calls at once,
//! the environment may rule out the first two (`GIT_PAGER=cat`, `GIT_CONFIG_COUNT` with its keys and values).

use crate::analysis::ReadOnly;
use crate::eval::EnvironmentBlock;
use crate::name_lists::{has_word, words};
use crate::options::parse;
use crate::programs;
use crate::programs::git::{
    DOUBTFUL, EDITING_LETTERS, EDITING_OPTIONS, HARMLESS_SETTINGS, LISTING_OPTIONS, MAY_RUN_DIFF, MAY_RUN_TEXTCONV,
};
use crate::programs::program::ProgramEffect;
use crate::rules::GitCall;
use crate::simple_command_view::{CommandDirectories, SimpleCommandView};
use crate::word_value::WordValue;

/// The most settings that are read from the environment.
const MAX_SETTINGS: usize = 64;

/// Returns whether a call of git only reads.
pub fn read_only(command: &SimpleCommandView, environment: EnvironmentBlock) -> ReadOnly {
    let Some(git) = GitCall::new(command) else {
        // `git --version`, `git --help`, or an unknown command.
        let tells = parse(command.args(), &programs::of("git").options).has("version v help h");
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
        ReadOnly::Yes if !is_doubtful(&git) && rules_out_programs(&git, command, environment) => ReadOnly::Yes,
        ReadOnly::Yes => ReadOnly::Unknown,
        other => other,
    }
}

/// Returns whether a call of git reads by its words alone. Settings of the repository may still make git run programs.
pub fn reads(argv: &[WordValue]) -> bool {
    static NOWHERE: CommandDirectories =
        CommandDirectories { cwd: String::new(), home: String::new(), temp: Vec::new(), writable: None };
    let cwd = WordValue::unknown();
    let git = GitCall::new(&SimpleCommandView::of_words(argv, &cwd, &NOWHERE));
    git.is_some_and(|git| git.config.is_empty() && kind(&git) == ReadOnly::Yes && !is_doubtful(&git))
}

/// Returns whether options of a reading call may write, or run a program.
fn is_doubtful(git: &GitCall) -> bool {
    let doubtful = |arg: &WordValue| {
        let text = arg.prefix();
        let name = text.split('=').next().unwrap_or_default();
        let option = words(DOUBTFUL).any(|option| option == name || name.len() > 4 && option.starts_with(name));
        option || arg.has_unknown() && (text.is_empty() || text.starts_with('-')) || text.starts_with("-O")
    };
    let until = git.args.iter().position(|arg| arg.known() == Some("--")).unwrap_or(git.args.len());
    git.args[..until].iter().any(doubtful)
}

/// Judges a call by its subcommand alone.
fn kind(git: &GitCall) -> ReadOnly {
    let known: Vec<&str> = git.args.iter().take(2).map_while(WordValue::known).collect();
    let known = match known.as_slice() {
        [scope, rest @ ..] if git.sub == "config" && matches!(*scope, "--global" | "--local" | "--system") => rest,
        known => &known[..known.len().min(1)],
    };
    let program = programs::of("git");
    // `stash list` is tried before `stash`.
    let action = known.first().and_then(|action| programs::sub_effect(program, &format!("{} {action}", git.sub)));
    match action.or_else(|| programs::sub_effect(program, git.sub)) {
        Some(ProgramEffect::Reads) => ReadOnly::Yes,
        Some(ProgramEffect::Changes) => ReadOnly::No,
        _ => by_options(git),
    }
}

/// Judges subcommands that read or change depending on their options and operands.
fn by_options(git: &GitCall) -> ReadOnly {
    let operands = git.args.iter().filter(|arg| !arg.prefix().starts_with('-')).count();
    let has = |options: &str| git.args.iter().any(|arg| arg.known().is_some_and(|text| has_word(options, text)));
    let first = git.args.first().and_then(WordValue::known);
    let reads = match git.sub {
        "branch" | "tag" if git.args.iter().any(edits) => return ReadOnly::No,
        "branch" | "tag" => operands == 0 || has(LISTING_OPTIONS),
        "remote" => git.args.len() < 2 && matches!(first, None | Some("-v" | "--verbose")),
        "config" => git.args.len() == 1 && first.is_some_and(|key| !key.starts_with('-')),
        "symbolic-ref" => operands == 1 && !has("-d --delete -m"),
        _ => false,
    };
    if reads { ReadOnly::Yes } else { ReadOnly::Unknown }
}

/// Returns whether an argument of `branch` or `tag` is an option that changes something.
fn edits(arg: &WordValue) -> bool {
    let text = arg.prefix();
    let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
    let name = text.split('=').next().unwrap_or(text);
    letters.contains(|letter| EDITING_LETTERS.contains(letter))
        || text.len() > 3 && words(EDITING_OPTIONS).any(|option| option.starts_with(name))
}

/// Returns whether options and settings rule out that git runs a program.
fn rules_out_programs(git: &GitCall, command: &SimpleCommandView, environment: EnvironmentBlock) -> bool {
    let known =
        |name: &str| words(HARMLESS_SETTINGS).any(|own| name == own || own.ends_with('.') && name.starts_with(own));
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
        || git.setting("core.pager").and_then(WordValue::known).is_some_and(cat)
            && environment.get("GIT_PAGER").is_none()
        || environment.get("GIT_PAGER").is_some_and(cat);
    let has = |name: &str| git.args.iter().any(|arg| arg.known() == Some(name));
    let diffs = !has_word(MAY_RUN_DIFF, git.sub) || has("--no-ext-diff") && has("--no-textconv");
    monitor && pager && diffs && !has_word(MAY_RUN_TEXTCONV, git.sub)
}

fn harmless(name: &str, value: &WordValue) -> bool {
    let pager = name == "core.pager" || name.starts_with("pager.");
    !pager || matches!(value.known(), Some("cat" | "false" | "0" | ""))
}

/// Returns a setting that the environment gives to every git.
fn setting<'a>(environment: EnvironmentBlock<'a>, name: &str) -> Option<&'a str> {
    let count: usize = environment.get("GIT_CONFIG_COUNT")?.parse().ok()?;
    let key =
        |at: &usize| environment.get(&format!("GIT_CONFIG_KEY_{at}")).is_some_and(|key| key.eq_ignore_ascii_case(name));
    let at = (0..count.min(MAX_SETTINGS)).rev().find(key)?;
    environment.get(&format!("GIT_CONFIG_VALUE_{at}"))
}
