//! Chooses the reader for a command.

use super::ansible;
use super::command_variables;
use super::custom_wrappers;
use super::docker;
use super::env;
use super::fd::fd;
use super::find::find;
use super::git::git;
use super::guessed_programs;
use super::inline::interpreter;
use super::inner_command::{CustomWrappers, InnerCommand};
use super::make;
use super::node_tools;
use super::option_commands::{debugger, hooks};
use super::parallel::parallel;
use super::query_commands::queries;
use super::script_builtins;
use super::shell::shell;
use super::table_wrappers::exec_rest;
use super::terminal_keys;
use super::unknown_programs::unknown;
use super::xargs::xargs;
use crate::programs;
use crate::programs::program::ArgumentKind;
use crate::simple_command_view::{CommandStdin, SimpleCommandView};
use crate::verdict::AnalysisConfidence;

/// Returns the commands that a command runs, one level deep.
pub fn unwrap(
    command: &SimpleCommandView,
    input: &CommandStdin,
    custom_wrappers: &CustomWrappers,
) -> Vec<InnerCommand> {
    if command.argv.is_empty() {
        return Vec::new();
    }
    let Some(name) = command.name() else { return unknown(command) };
    if let Some(kind) = custom_wrappers.get(name) {
        return custom_wrappers::custom(command, name, input, *kind);
    }
    if let Some(found) = builtin(command, name, input) {
        return found;
    }
    if let Some(found) = shell(command, name, input) {
        return found;
    }
    if let Some(mut found) = interpreter(command, name, input) {
        found.extend(guessed_programs::unwrap_module(command, name));
        return found;
    }
    let mut found = hooks(command, name);
    // Every shell below this program gets its environment.
    found.extend(command_variables::by_variables(command.assignments, AnalysisConfidence::Partial));
    found.extend(debugger(command, name));
    let program = programs::of(name);
    found.extend(queries(command, name, program, input));
    for wrapper in program.wrappers {
        if let Some(inner) = exec_rest(command, name, input, wrapper) {
            found.extend(inner);
            if is_container(name) {
                found.extend(guessed_programs::unwrap_image(command, name, wrapper));
            }
            return found;
        }
    }
    if matches!(name, "yarn" | "pnpm" | "bun") {
        found.extend(guessed_programs::unwrap_package(command, name));
    }
    if program.wrappers.is_empty() && found.is_empty() && program.words != ArgumentKind::Data {
        found = unknown(command);
    }
    found
}

fn is_container(name: &str) -> bool {
    matches!(name, "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose")
}

/// Reads programs that have their own reader.
fn builtin(command: &SimpleCommandView, name: &str, input: &CommandStdin) -> Option<Vec<InnerCommand>> {
    Some(match name {
        "eval" => script_builtins::eval(command),
        "trap" => script_builtins::trap(command),
        "source" | "." => script_builtins::source(command, input),
        "mapfile" | "readarray" => script_builtins::mapfile(command),
        "jobs" => script_builtins::jobs(command),
        "compgen" => script_builtins::compgen(command),
        "su" => script_builtins::su(command, input),
        "runuser" => return script_builtins::runuser(command, input),
        "tmux" => return terminal_keys::tmux(command),
        "screen" => return terminal_keys::screen(command),
        "at" | "batch" => script_builtins::at(command, input),
        "crontab" => script_builtins::crontab(command, input),
        "xargs" | "gxargs" => xargs(command, input),
        "parallel" | "sem" => parallel(command, name, input),
        "find" | "gfind" => find(command),
        "fd" | "fdfind" => fd(command),
        "git" => git(command),
        "env" | "genv" => return env::split_string(command),
        "capsh" => env::capsh(command),
        name if is_container(name) => return docker::entrypoint(command),
        "rimraf" | "rimraf.cmd" | "del-cli" => node_tools::rimraf(command),
        "ansible" => ansible::ansible(command),
        "nodemon" => node_tools::nodemon(command),
        "export" | "declare" | "typeset" => command_variables::exported_commands(command),
        "make" | "gmake" => make::make(command, input),
        _ => return None,
    })
}
