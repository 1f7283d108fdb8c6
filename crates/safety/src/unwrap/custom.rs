//! Wrappers that the host names.

use super::exec_rest::exec_rest;
use super::inner::{InnerCommand, WrapperKind};
use super::items::{Cut, cut};
use super::stdin::from_stdin;
use crate::command::{Command, Input};
use crate::options::OptionSpec;
use crate::programs::wrapper::{Dashes, Form, Wrapper};
use crate::value::Value;

/// Returns the commands that a wrapper named by the host runs.
pub(super) fn custom(command: &Command, name: &str, input: &Input, kind: WrapperKind) -> Vec<InnerCommand> {
    // The options of such a wrapper are unknown. `--` makes clear where the command begins.
    let rest = Wrapper { assignments: true, dashes: Dashes::Begin, ..Wrapper::PLAIN };
    match kind {
        WrapperKind::ExecRest => exec_rest(command, name, input, &rest).unwrap_or_default(),
        WrapperKind::ShellString => {
            let spec = OptionSpec::leading("c:", "command=");
            let joined = Wrapper { spec, form: Form::Joined, script: "c command", prefix: false, ..Wrapper::PLAIN };
            exec_rest(command, name, input, &joined).unwrap_or_default()
        }
        WrapperKind::StdinScript => from_stdin(input, name, command.args().to_vec(), false, false),
        WrapperKind::PerItem => {
            let mut found = exec_rest(command, name, input, &Wrapper { prefix: false, ..rest }).unwrap_or_default();
            for inner in &mut found {
                if let InnerCommand::Words { items, stdin, .. } = inner {
                    *items = match input {
                        Input::Text(text, _) => cut(text, Cut::Words),
                        _ => vec![Value::unknown()],
                    };
                    *stdin = false;
                }
            }
            found
        }
    }
}
