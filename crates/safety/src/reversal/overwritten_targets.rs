//! Files that a command overwrites if they exist.

use super::reversal_facts::{ReversalFacts, ReversalTarget};
use crate::name_lists::has_word;
use crate::options::parse;
use crate::path::normal;
use crate::programs;
use crate::programs::program::{ProgramFact, WrittenFileWords as Names};
use crate::rules::written_files;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// Programs that leave an existing file alone with at least one of these options.
static SPARING: &[(&str, &str)] = &[("cp gcp install ginstall", "n no-clobber update"), ("tee gtee", "a append")];
/// Programs that overwrite an existing file only with one of these options.
static ONLY_WITH: &[(&str, &str)] = &[("ln gln", "f force")];
/// Programs that the table of overwriting programs lists.
const LISTED: &str = "mv gmv rsync sed gsed ssed perl truncate gtruncate sponge shred gshred";

/// Adds the places that a command writes to. An unknown place may hold a file.
pub fn add_targets(command: &SimpleCommandView, reversal: &mut ReversalFacts) {
    for redirect in command.redirects.iter().filter(|redirect| redirect.writes_file()) {
        if matches!(redirect.op.as_str(), ">" | ">|" | "&>" | ">&") {
            add_target(reversal, &redirect.target, &redirect.cwd, Vec::new());
        }
    }
    let Some(name) = command.name().filter(|name| !has_word(LISTED, name)) else { return };
    let program = programs::of(name);
    let parsed = parse(command.args(), &program.options);
    let given = |table: &[(&str, &str)]| {
        table.iter().find(|(names, _)| has_word(names, name)).map(|(_, options)| parsed.has(options))
    };
    if given(SPARING) == Some(true) || given(ONLY_WITH) == Some(false) {
        return;
    }
    for fact in program.facts {
        let ProgramFact::Writes(target) = *fact else { continue };
        let sources = if matches!(target, Names::LastUnless(_)) { sources(command) } else { Vec::new() };
        written_files::for_each_named(command, target, &program.options, &mut |target, cwd| {
            add_target(reversal, target, cwd, sources.clone());
        });
    }
}

/// Returns the names of the operands. A copy has the same name in its directory.
fn sources(command: &SimpleCommandView) -> Vec<String> {
    let parsed = parse(command.args(), &programs::of(command.name().unwrap_or_default()).options);
    let mut operands: Vec<&WordValue> = parsed.operands.iter().filter_map(|at| command.args().get(*at)).collect();
    if parsed.value("t target-directory").is_none() {
        operands.pop();
    }
    let name = |word: &&WordValue| {
        let name = word.known()?.trim_end_matches('/').rsplit('/').next()?;
        (!matches!(name, "" | "." | "..")).then(|| name.to_owned())
    };
    operands.iter().filter_map(name).collect()
}

fn add_target(reversal: &mut ReversalFacts, target: &WordValue, cwd: &WordValue, names: Vec<String>) {
    let path = match (target.known(), cwd.known()) {
        (Some(text), _) if text.starts_with('/') => normal(text),
        (Some(text), Some(cwd)) => normal(&format!("{cwd}/{text}")),
        _ => {
            reversal.overwrites = true;
            return;
        }
    };
    let target = ReversalTarget { path, names };
    if !reversal.targets.contains(&target) {
        reversal.targets.push(target);
    }
}
