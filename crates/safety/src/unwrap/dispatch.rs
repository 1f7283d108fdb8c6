//! Chooses the reader for a command.

use super::ansible;
use super::custom;
use super::docker;
use super::env;
use super::evaluate;
use super::exec_rest::exec_rest;
use super::fd::fd;
use super::find::find;
use super::git::git;
use super::hooks::{debugger, hooks};
use super::inline::interpreter;
use super::inner::{CustomWrappers, InnerCommand};
use super::make;
use super::named;
use super::node_tools;
use super::parallel::parallel;
use super::queries::queries;
use super::shell::shell;
use super::terminals;
use super::unknown::unknown;
use super::variables;
use super::xargs::xargs;
use crate::command::{CommandStdin, SimpleCommandView};
use crate::level::AnalysisConfidence;
use crate::programs;
use crate::programs::program::ArgumentKind;

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
        return custom::custom(command, name, input, *kind);
    }
    if let Some(found) = builtin(command, name, input) {
        return found;
    }
    if let Some(found) = shell(command, name, input) {
        return found;
    }
    if let Some(mut found) = interpreter(command, name, input) {
        found.extend(named::unwrap_module(command, name));
        return found;
    }
    let mut found = hooks(command, name);
    // Every shell below this program gets its environment.
    found.extend(variables::by_variables(command.assignments, AnalysisConfidence::Partial));
    found.extend(debugger(command, name));
    let program = programs::of(name);
    found.extend(queries(command, name, program, input));
    for wrapper in program.wrappers {
        if let Some(inner) = exec_rest(command, name, input, wrapper) {
            found.extend(inner);
            if is_container(name) {
                found.extend(named::unwrap_image(command, name, wrapper));
            }
            return found;
        }
    }
    if matches!(name, "yarn" | "pnpm" | "bun") {
        found.extend(named::unwrap_package(command, name));
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
        "eval" => evaluate::eval(command),
        "trap" => evaluate::trap(command),
        "source" | "." => evaluate::source(command, input),
        "mapfile" | "readarray" => evaluate::mapfile(command),
        "jobs" => evaluate::jobs(command),
        "compgen" => evaluate::compgen(command),
        "su" => evaluate::su(command, input),
        "runuser" => return evaluate::runuser(command, input),
        "tmux" => return terminals::tmux(command),
        "screen" => return terminals::screen(command),
        "at" | "batch" => evaluate::at(command, input),
        "crontab" => evaluate::crontab(command, input),
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
        "export" | "declare" | "typeset" => variables::exported_commands(command),
        "make" | "gmake" => make::make(command, input),
        _ => return None,
    })
}
