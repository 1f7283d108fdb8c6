//! Programs that are given in a command's words or on its standard input: `python -c '…'`, `awk '…'`.

use super::inner::Inner;
use crate::safety::command::{Command, Input};
pub(super) fn interpreter(_command: &Command, _name: &str, _input: &Input) -> Option<Vec<Inner>> {
    None
}
