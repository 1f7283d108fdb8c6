//! Effects beyond local files. No undo takes them back.

use crate::analysis::ReadOnly;
use crate::eval::EnvironmentBlock;
use crate::name_lists::{has_word, paths};
use crate::options::parse;
use crate::programs::call::effects;
use crate::programs::lasting::EffectStake;
use crate::programs::network::SENDING_OPTIONS;
use crate::programs::program::ProgramEffect;
use crate::programs::{self, BEYOND};
use crate::read_only::read_only;
use crate::rules::GitCall;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

const METHODS: &str = "POST PUT PATCH DELETE";
/// Subcommands that only look in any program, even if nothing else is known about the program.
const LOOKING: &str = "plan validate version help --version --help list ls show status diff logs describe get preview";

/// Returns the effects of a command beyond files, in words.
pub fn effect_beyond_files(command: &SimpleCommandView, environment: EnvironmentBlock<'_>) -> Option<&'static str> {
    let name = command.name()?;
    if let Some(git) = GitCall::new(command) {
        let is_dry = git.args.iter().any(|arg| matches!(arg.known(), Some("-n" | "--dry-run" | "-h" | "--help")));
        let pushes = matches!(git.sub, "push" | "send-pack");
        return (pushes && !is_dry).then_some("what git push sends to another repository");
    }
    if let Some(what) = sending_effect(name, command) {
        return Some(what);
    }
    if matches!(name, "rsync" | "rclone") {
        let is_elsewhere = |arg: &WordValue| {
            let text = arg.prefix();
            !text.starts_with(['-', '/', '.']) && text.split('/').next().is_some_and(|start| start.contains(':'))
        };
        return command.args().last().filter(|arg| is_elsewhere(arg)).map(|_| "files on another machine");
    }
    let listed = BEYOND.iter().find(|(names, _)| has_word(names, name)).map(|(_, what)| *what);
    match listed {
        Some(what) => (!only_looks(command, environment)).then_some(what),
        None => publishes(name, command).then_some("what is published"),
    }
}

fn only_looks(command: &SimpleCommandView, environment: EnvironmentBlock<'_>) -> bool {
    let plain = SimpleCommandView { redirects: &[], assignments: &[], ..*command };
    let operands = parse(command.args(), &programs::of(command.name().unwrap_or_default()).options).operands;
    let first = operands.first().and_then(|at| command.args().get(*at)).or(command.args().first());
    let looks = first.and_then(WordValue::known).is_some_and(|word| has_word(LOOKING, word));
    looks || read_only(&plain, environment, false) == ReadOnly::Yes
}

/// Returns whether the command is `npm publish` or the like: a subcommand whose effect is known to be a publication.
fn publishes(name: &str, command: &SimpleCommandView) -> bool {
    let publication = |effect: &ProgramEffect| matches!(effect, ProgramEffect::Lasts(lasting) if lasting.stake == EffectStake::Publication);
    let found = effects(programs::of(name), command.args());
    let is_dry = command.args().iter().any(|arg| arg.known() == Some("--dry-run"));
    !is_dry && found.iter().any(|found| publication(found.effect) && found.end > 0)
}

/// Returns the effect of a program that sends what its words name, in words.
fn sending_effect(name: &str, command: &SimpleCommandView) -> Option<&'static str> {
    let method = |word: &str| paths("POST, PUT, PATCH, DELETE").any(|method| method.eq_ignore_ascii_case(word));
    if has_word("http https xh xhs", name) {
        let is_method = |arg: &WordValue| arg.known().is_some_and(|word| has_word(METHODS, word));
        return command.args().iter().any(is_method).then_some("what httpie sends");
    }
    let (_, options) = SENDING_OPTIONS.iter().find(|(names, _)| has_word(names, name))?;
    let parsed = parse(command.args(), &programs::of(name).options);
    let asks = parsed.value("X request method").and_then(WordValue::known).is_some_and(method);
    (parsed.has(options) || asks).then_some(if name == "curl" { "what curl sends" } else { "what wget sends" })
}
