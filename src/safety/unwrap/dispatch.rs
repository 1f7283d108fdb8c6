//! Which reading a command gets.

use super::escapes;
use super::evaluate;
use super::exec_rest::exec_rest;
use super::fd::fd;
use super::find::find;
use super::git::git;
use super::hooks::hooks;
use super::inline::interpreter;
use super::inner::{Custom, Inner};
use super::parallel::parallel;
use super::relatives;
use super::shell::shell;
use super::special;
use super::terminals;
use super::unknown::unknown;
use super::xargs::xargs;
use crate::safety::command::{Command, Input};
use crate::safety::level::Confidence;
use crate::safety::tables::{heads, wrappers};

/// What a command runs in its turn, one level deep.
pub fn unwrap(command: &Command, input: &Input, custom: &Custom) -> Vec<Inner> {
    if command.argv.is_empty() {
        return Vec::new();
    }
    let Some(name) = command.name() else { return unknown(command) };
    if let Some(kind) = custom.get(name) {
        return special::custom(command, name, input, *kind);
    }
    // `npx rimraf@5`
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    if let Some(found) = builtin(command, name, input) {
        return found;
    }
    if let Some(found) = shell(command, name, input).or_else(|| interpreter(command, name, input)) {
        return found;
    }
    let mut found = hooks(command, name);
    // Its environment is that of every shell below it.
    found.extend(relatives::by_variables(command.assignments, Confidence::Partial));
    found.extend(escapes::debugger(command, name));
    let mut known = false;
    for wrapper in wrappers::of(name) {
        known = true;
        if let Some(inner) = exec_rest(command, name, input, wrapper) {
            found.extend(inner);
            return found;
        }
    }
    if !known && found.is_empty() && !heads::is_data(name) {
        found = unknown(command);
    }
    found
}

/// What has a reading of its own.
fn builtin(command: &Command, name: &str, input: &Input) -> Option<Vec<Inner>> {
    Some(match name {
        "eval" => evaluate::eval(command),
        "trap" => evaluate::trap(command),
        "source" | "." => evaluate::source(command, input),
        "mapfile" | "readarray" => evaluate::mapfile(command),
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
        "env" | "genv" => return special::split_string(command),
        "capsh" => special::capsh(command),
        "docker" | "podman" | "nerdctl" => return special::entrypoint(command),
        "rimraf" | "rimraf.cmd" | "del-cli" => special::rimraf(command),
        "ansible" => relatives::ansible(command),
        "nodemon" => relatives::nodemon(command),
        "export" | "declare" | "typeset" => relatives::exported(command),
        "tclsh" | "tclsh8.6" | "wish" | "jimsh" => relatives::tcl(command, input),
        "expect" => escapes::expect(command, input),
        "emacs" | "emacsclient" => escapes::emacs(command),
        "make" | "gmake" => escapes::make(command, input),
        _ => return None,
    })
}
