//! The code by which a shell writes its state.

/// Returns bash code, sourced as `. FILE CODE [tail]` at the exit of a command. It reports the code and the directory,
/// each terminated by a NUL, to the path `code` (not with `tail`), dumps the shell's state to the path `out`, and
/// returns CODE. The paths must need no quotes.
pub fn save_script(out: &str, code: &str) -> String {
    let lines = include_str!("save.sh").lines().filter(|line| !line.starts_with('#'));
    let script: String = lines.flat_map(|line| [line, "\n"]).collect();
    script.replace("@OUT@", out).replace("@CODE@", code)
}

/// Returns the command that sources the save script `file` and adds the DEBUG trap to `out`, which `.` hides from the
/// script. It prints nothing and keeps the status of the previous command.
///
/// With `tail` the command is a line after a command, and a status other than 0 triggers neither ERR nor `set -e`
/// again. Otherwise it is the command of an EXIT trap.
pub fn call_save(file: &str, out: &str, tail: bool) -> String {
    if tail {
        // `$?` is expanded before eval runs anything, so that both calls get the status of the command.
        let call = format!("\\\\builtin . {file} $?");
        format!(
            "{{ \\builtin eval \"{call} tail && \\\\builtin :; \\\\builtin trap -p DEBUG >>{out}; {call} back && \\\\builtin :\" && \\builtin :; }} >/dev/null 2>&1"
        )
    } else {
        format!("{{ \\builtin . {file} \"$?\"; \\builtin trap -p DEBUG >>{out}; }} >/dev/null 2>&1")
    }
}
