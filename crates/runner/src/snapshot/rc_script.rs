//! The script that reads the rc files, in a shell that believes that it is interactive.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::snapshot_request::SnapshotRequest;
use crate::shell_state::{call_save, save_script};
use protocol::plan::shell_quoted;

/// The paths to which the shells write during a reading.
pub struct RcOutputPaths<'a> {
    /// Messages of [`super::rc_progress`].
    pub progress: &'a Path,
    /// `NAME=VALUE` of all variables, each ended by a NUL, then `end`.
    pub variables: &'a Path,
    /// The dump of the state.
    pub state: &'a Path,
    /// A pipe that never has anything to read.
    pub never: &'a Path,
}

/// Returns the file that dumps the state.
pub fn dump_file(places: &RcOutputPaths<'_>) -> String {
    save_script(&text(places.state), "/dev/null")
}

/// Returns the command of a plain shell. It starts the reading shell, reports its exit, and waits to be ended together
/// with all processes that the rc files have started.
pub fn outer_command(wanted: &SnapshotRequest, places: &RcOutputPaths<'_>, save: &Path) -> String {
    let shell = word(&wanted.shell);
    let inner = shell_quoted(&inner_command(wanted, places, save));
    let (progress, never) = (word(places.progress), word(places.never));
    format!(
        "(exec -a bash {shell} --noprofile --norc -i -c {inner})\n\
         printf 'end %s\\0' \"$?\" >|{progress}\n\
         read -r <{never}\n"
    )
}

/// Returns a single command, so that all of it is read before an alias can change it.
fn inner_command(wanted: &SnapshotRequest, places: &RcOutputPaths<'_>, save: &Path) -> String {
    let mut text = String::from("{\n");
    let progress = word(places.progress);
    let files = wanted.files.iter().enumerate();
    for (number, file) in files {
        let name = word(file);
        let shell = word(&wanted.shell);
        let parses = format!(
            "{shell} -O extglob -n {name} >/dev/null 2>&1 || \\builtin printf 'syntax {number}\\0' >|{progress}"
        );
        // bash exits with 2 on a syntax error, but a command may, too. `bash -n` only parses and settles it.
        let read = format!(
            "\\builtin printf 'read {number}\\0' >|{progress}\n\
             \\builtin . {name} || \\builtin test \"$?\" != 2 || {parses}\n"
        );
        let _ = match &wanted.bashrc {
            None => write!(text, "{read}"),
            // Most login files read the bashrc themselves, and a second reading would be one too many.
            Some(bashrc) if bashrc == file => {
                write!(
                    text,
                    "\\builtin trap - DEBUG; \\builtin set +T\nif \\builtin test \"${{agent_bash_read-}}\"; then\n{parses}\nelse\n{read}fi\n"
                )
            }
            Some(bashrc) => {
                let sees = format!(
                    "\\builtin test \"${{BASH_SOURCE[0]-}}\" -ef {} && {{ agent_bash_read=1; \\builtin trap - DEBUG; \\builtin set +T; }}",
                    word(bashrc)
                );
                write!(text, "\\builtin set -T; \\builtin trap {} DEBUG\n{read}", shell_quoted(&sees))
            }
        };
    }
    let (variables, save) = (word(places.variables), save.to_string_lossy());
    let _ = write!(
        text,
        "\\builtin set +eux\n\
         {{\n\
         IFS=$'\\n'\n\
         for agent_bash_name in $(\\builtin compgen -v); do \\builtin printf '%s=%s\\0' \"$agent_bash_name\" \"${{!agent_bash_name-}}\"; done\n\
         \\builtin printf 'end\\0'\n\
         }} >|{variables} 2>/dev/null\n\
         {call}\n\
         \\builtin kill -KILL \"$$\"\n}}\n",
        call = call_save(&save, &self::text(places.state), false),
    );
    text
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Returns a path as one word. A path that is not UTF-8 is written byte by byte.
fn word(path: &Path) -> String {
    match path.to_str() {
        Some(text) => shell_quoted(text),
        None => {
            let bytes = path.as_os_str().as_bytes().iter().map(|byte| format!("\\x{byte:02x}"));
            format!("$'{}'", bytes.collect::<String>())
        }
    }
}
