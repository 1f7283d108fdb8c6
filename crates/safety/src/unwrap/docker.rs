//! `docker run --entrypoint program image words…`.

use super::inner_command::InnerCommand;
use super::table_wrappers::command_start;
use crate::options::{OptionSpec, parse};
use crate::programs;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// `docker run --entrypoint program image words…`
pub(super) fn entrypoint(command: &SimpleCommandView) -> Option<Vec<InnerCommand>> {
    let named = |word: &WordValue| word.prefix().starts_with("--entrypoint");
    // `--entrypoint` is only searched for among the first words. The image's own words come later.
    command.args().iter().take(64).find(|word| named(word))?;
    let name = command.name()?;
    for wrapper in programs::of(name).wrappers {
        let Some(start) = command_start(command, name, wrapper) else { continue };
        let parsed =
            parse(&command.argv[1..start.saturating_sub(1).max(1)], &OptionSpec { permute: true, ..wrapper.spec });
        // With an empty value the words are the command, as without the option.
        let program = parsed.value("entrypoint").filter(|program| program.known() != Some(""))?;
        let mut argv = vec![program.clone()];
        argv.extend(command.argv[start..].iter().cloned());
        let mut inner = InnerCommand::argv(argv, "docker run");
        if let InnerCommand::Argv { elsewhere, .. } = &mut inner {
            *elsewhere = true;
        }
        return Some(vec![inner]);
    }
    None
}
