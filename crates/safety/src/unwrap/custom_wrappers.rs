//! Wrappers that the host names.

use super::argument_items::{ItemSplitting, split_items};
use super::inner_command::{InnerCommand, WrapperKind};
use super::stdin_scripts::from_stdin;
use super::table_wrappers::exec_rest;
use crate::options::OptionSpec;
use crate::programs::wrapper::{CommandMarkMeaning, WrappedCommandForm, WrapperSpec};
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::word_value::WordValue;

/// Returns the commands that a wrapper named by the host runs.
pub(super) fn custom(
    command: &SimpleCommandView,
    name: &str,
    input: &CommandStdin,
    kind: WrapperKind,
) -> Vec<InnerCommand> {
    // The options of such a wrapper are unknown. `--` makes clear where the command begins.
    let rest = WrapperSpec { assignments: true, dashes: CommandMarkMeaning::Begin, ..WrapperSpec::PLAIN };
    match kind {
        WrapperKind::ExecRest => exec_rest(command, name, input, &rest).unwrap_or_default(),
        WrapperKind::ShellString => {
            let spec = OptionSpec::leading("c:", "command=");
            let joined = WrapperSpec {
                spec,
                form: WrappedCommandForm::Joined,
                script: "c command",
                prefix: false,
                ..WrapperSpec::PLAIN
            };
            exec_rest(command, name, input, &joined).unwrap_or_default()
        }
        WrapperKind::StdinScript => from_stdin(input, name, command.args().to_vec(), false, false),
        WrapperKind::PerItem => {
            let mut found = exec_rest(command, name, input, &WrapperSpec { prefix: false, ..rest }).unwrap_or_default();
            for inner in &mut found {
                if let InnerCommand::Words { items, stdin, .. } = inner {
                    *items = match input {
                        CommandStdin::Text(text, _) => split_items(text, ItemSplitting::Words),
                        _ => vec![WordValue::unknown()],
                    };
                    *stdin = false;
                }
            }
            found
        }
    }
}
