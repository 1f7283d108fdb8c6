//! Programs that take a script from their standard input.

use super::inner::Inner;
use crate::safety::command::Input;
use crate::safety::value::Value;

/// The script that comes on standard input.
pub(super) fn from_stdin(
    input: &Input,
    program: &str,
    parameters: Vec<Value>,
    in_shell: bool,
    remote: bool,
) -> Vec<Inner> {
    let (text, source) = match input {
        Input::Inherited => return Vec::new(),
        Input::Opaque(_) => return vec![Inner::Opaque { via: program.to_owned() }],
        Input::Text(text, source) => (text, *source),
    };
    let Some(mut inner) = Inner::script(text.clone(), source.name()) else { return Vec::new() };
    match &mut inner {
        Inner::Script { args, same_shell, elsewhere, stdin, .. } => {
            *args = parameters;
            *same_shell = in_shell;
            *elsewhere = remote;
            *stdin = false;
        }
        Inner::Opaque { via } => program.clone_into(via),
        _ => {}
    }
    vec![inner]
}
