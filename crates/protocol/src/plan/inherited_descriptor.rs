//! Descriptors that a shell inherits at fixed numbers. A confined shell has them in place of files that it would open
//! by the path of another process: a world has no path to processes outside of it.

use std::fmt::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A descriptor with a fixed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(i32)]
pub enum InheritedDescriptor {
    /// The file that BASH_ENV names.
    Script = 60,
    /// The code that restores a shell state.
    Boot = 61,
    /// The code that is read last before the command.
    Prologue = 62,
    /// The pipe on which a warm shell waits.
    Resume = 63,
    /// The pipe on which a warm shell reports that it is ready.
    Ready = 64,
    /// A command that is too long for an argument.
    Command = 65,
    /// The file for the state of a session, where the limit of descriptors is too low for
    /// [`InheritedDescriptor::State`].
    LowState = 66,
    /// The script that saves that state, under the same limit.
    LowSave = 67,
    /// The pipe for the exit code of a session's command, under the same limit.
    LowCode = 68,
    /// The file with the library that watches bash. The library closes it before bash runs.
    Witness = 69,
    /// The end of a tap that the reader of the first pipe reads.
    TapRead = 70,
    /// The end of a tap that the producer before the first pipe writes to.
    TapWrite = 71,
    /// The file for the state of a session. Commands that close a range of descriptors seldom reach this number.
    State = 500,
    /// The script that saves that state.
    Save = 501,
    /// The pipe for the exit code of a session's command.
    Code = 502,
}

impl InheritedDescriptor {
    /// The ends of a tap, in the order in which [`crate::PipelineTapEnds::open`] returns them.
    pub const TAP: [Self; 2] = [Self::TapRead, Self::TapWrite];

    /// Returns the number of the descriptor.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// Returns the path by which the shell that has the descriptor opens it.
    pub fn path(self) -> PathBuf {
        format!("/proc/self/fd/{}", self.number()).into()
    }
}

/// Returns code that closes descriptors for good, so that no command finds them. A builtin called through `builtin`
/// would restore them at its end, and a builtin called through `command` does not. The code works unless functions have
/// both names.
pub fn closing_code(descriptors: &[InheritedDescriptor]) -> String {
    let mut closed = String::new();
    for descriptor in descriptors {
        let _ = write!(closed, " {}<&-", descriptor.number());
    }
    let by = |name: &str, call: &str| format!("\\builtin declare -F {name} || {call}{closed}; ");
    if closed.is_empty() { closed } else { by("command", "\\command exec") + &by("exec", "\\exec") }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn closed_descriptors_stay_closed_in_a_group_of_hidden_output() {
        let code = closing_code(&[InheritedDescriptor::Script, InheritedDescriptor::Boot]);
        let script = format!("{{ {code}\\builtin : bash; }} >/dev/null 2>&1\nls /proc/self/fd/60 /proc/self/fd/61");
        for functions in ["", "exec () { :; }", "command () { :; }", "shopt -s expand_aliases; alias exec=: command=:"]
        {
            let run = format!("exec 60</dev/null 61</dev/null\n{functions}\n{script}");
            let output = Command::new("bash").args(["-c", &run]).output().expect("bash");
            assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{functions}");
        }
        assert_eq!(closing_code(&[]), "");
    }
}
