use super::analysis::ReadOnly;
use super::command::Command;
pub fn read_only(_: &Command) -> ReadOnly {
    ReadOnly::Unknown
}
