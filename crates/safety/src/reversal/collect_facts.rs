//! Reads the simple commands of an evaluation.

use super::reversal_facts::ReversalFacts;
use super::{elevated_programs, external_effects, overwriting_calls, overwritten_targets};
use crate::eval::{CommandEvaluation, EnvironmentBlock};
use crate::path::normal;
use crate::rules::GitCall;
use crate::simple_command_view::CommandDirectories;
use crate::word_value::WordValue;

/// Most directories of git commands that are remembered.
const REPOSITORIES: usize = 8;

/// Returns the facts about an evaluated command that count for its undo.
pub fn collect_reversal_facts(
    evaluation: &CommandEvaluation,
    environment: EnvironmentBlock<'_>,
    directories: &CommandDirectories,
) -> ReversalFacts {
    let mut reversal = ReversalFacts { overwrites: !evaluation.complete, ..ReversalFacts::default() };
    let unknown = WordValue::unknown();
    for simple in evaluation.commands.iter().filter(|simple| !simple.traits.dead) {
        let command = simple.view_in(simple.cwds.first().unwrap_or(&unknown), directories);
        let mut programs = simple.prefix.iter().map(String::as_str).chain(command.name());
        if reversal.elevated.is_none() {
            reversal.elevated = programs.find_map(elevated_programs::elevated_program).map(str::to_owned);
        }
        reversal.overwrites |= simple.traits.opaque || overwriting_calls::deletes_or_overwrites(&command);
        overwritten_targets::add_targets(&command, &mut reversal);
        if let Some(git) = GitCall::new(&command)
            && let Some(directory) = git.cwd.known().map(normal)
            && reversal.git.len() < REPOSITORIES
            && !reversal.git.contains(&directory)
        {
            reversal.git.push(directory);
        }
        if let Some(what) = external_effects::effect_beyond_files(&command, environment)
            .filter(|what| !reversal.beyond.iter().any(|known| known == what))
        {
            reversal.beyond.push(what.to_owned());
        }
    }
    reversal
}
