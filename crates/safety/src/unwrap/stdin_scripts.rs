//! Programs that take a script from their standard input.

use super::inner_command::InnerCommand;
use crate::simple_command_view::CommandStdin;
use crate::word_value::WordValue;

/// Returns the script that comes on standard input.
pub(super) fn from_stdin(
    input: &CommandStdin,
    program: &str,
    parameters: Vec<WordValue>,
    in_shell: bool,
    remote: bool,
) -> Vec<InnerCommand> {
    let (text, source) = match input {
        CommandStdin::Inherited => return Vec::new(),
        CommandStdin::Opaque { .. } => return vec![InnerCommand::Opaque { via: program.to_owned() }],
        CommandStdin::Text(text, source) => (text, *source),
    };
    let Some(mut inner) = InnerCommand::script(text.clone(), source.name()) else { return Vec::new() };
    match &mut inner {
        InnerCommand::Script { args, same_shell, elsewhere, stdin, .. } => {
            *args = parameters;
            *same_shell = in_shell;
            *elsewhere = remote;
            *stdin = false;
        }
        InnerCommand::Opaque { via } => program.clone_into(via),
        _ => {}
    }
    vec![inner]
}
