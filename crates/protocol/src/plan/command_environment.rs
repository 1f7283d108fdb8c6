//! The environment of a command: inherited variables, the unattended defaults over them, the caller's `env` over both.

use std::collections::HashMap;

use serde::Deserialize;

use super::unattended_defaults::{self, DEFAULTS};
use super::{MARK, host_variables, locale, secret_variables};

/// The part of the host's environment that a command inherits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InheritMode {
    /// All variables except secrets and variables for the host alone (BASH_ENV, LD_PRELOAD, GIT_DIR …).
    #[default]
    Safe,
    /// All variables.
    All,
    /// No variables.
    None,
    /// Exactly these names, including secrets, as far as the host has them.
    #[serde(untagged)]
    Names(Vec<String>),
}

/// Variables that change how bash starts, or that bash would show or use before its command.
pub(super) const UNFIT: [&str; 5] = ["BASH_ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS", "BASH_XTRACEFD"];

/// The environment of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandEnvironment {
    /// `NAME=VALUE` and a NUL each, as execve takes it. One allocation is faster than two per variable.
    block: String,
    /// The names, sorted, that 'safe' left out because they may be secrets, without those that the caller's `env`
    /// mentions or a default sets. Empty in the other modes.
    pub withheld: Vec<String>,
    /// The host's own PATH.
    pub host_path: Option<String>,
    /// The host's own TMPDIR.
    pub host_temp: Option<String>,
    /// Whether the host has AGENT_BASH_WARM=0, so that no warm shell is used.
    pub cold: bool,
    /// Whether a variable says that the host runs over ssh. Some bashes then read ~/.bashrc, unless an option forbids
    /// it.
    pub over_ssh: bool,
    /// Whether bash starts plainly: no variable changes how it starts or acts before its command.
    pub plain_start: bool,
}

/// A name or a value in the caller's `env` that no environment can hold. Never shows a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("env: {name:?} {why}")]
pub struct EnvironmentError {
    /// The name, as given.
    pub name: String,
    /// The problem.
    pub why: &'static str,
}

/// Returns the environment of a command.
///
/// - `host`: `process.env` of the calling thread, as `NAME=VALUE` each ended by a NUL (the last NUL may be missing).
///   Entries without `=` or without a name are skipped.
/// - `overlay`: the caller's `env`; None removes a name, even of a default.
/// - `attended`: the command has a terminal, where a person reads and answers. Only the defaults that do not depend on
///   that are set. Host variables with the value of such a default (PAGER=cat), CI, NO_COLOR and variables of another
///   terminal are left out.
///
/// AGENT_BASH_ID is never among the variables: each command gets its own.
///
/// The last entry of a name counts, and case matters. PWD, OLDPWD, `_` and the descriptor of the host's IPC channel are
/// never inherited, since they would be wrong. PWD is not taken from the overlay either (`{...process.env}`). If
/// LC_CTYPE is not UTF-8, it is set to a UTF-8 locale, unless the overlay sets it. Without any PATH (under `None`) PATH
/// is a plain list of the system's directories, unless the overlay removes it.
///
/// # Errors
/// On an overlay name that is empty or holds `=` or NUL, and on an overlay value that holds NUL.
pub fn resolve_environment(
    host: &str,
    inherit: &InheritMode,
    overlay: &[(String, Option<String>)],
    attended: bool,
) -> Result<CommandEnvironment, EnvironmentError> {
    check_overlay(overlay)?;
    let overlay = CallerOverlay(overlay);
    let (mut vars, mut withheld) = inherited_variables(host, inherit);
    if attended {
        host_variables::OTHER_TERMINAL.iter().for_each(|name| vars.remove(name));
        vars.set("TERM", unattended_defaults::TERM);
        vars.drop_unattended();
    } else {
        vars.set_unattended(&overlay);
    }
    vars.apply_overlay(&overlay);
    if vars.get("PATH").is_none() && overlay.sets_variable("PATH").is_none() {
        vars.set("PATH", unattended_defaults::PATH);
    }
    vars.repair_locale(&overlay);
    // A name that has another value now, from the caller or a default, is not missing.
    withheld.retain(|name| overlay.sets_variable(name).is_none() && vars.get(name).is_none());
    withheld.sort_unstable();
    let of_host = |name: &str| entries(host).find(|(given, _)| *given == name).map(|(_, value)| value);
    Ok(CommandEnvironment {
        host_path: of_host("PATH").map(str::to_owned),
        host_temp: of_host("TMPDIR").filter(|dir| !dir.is_empty()).map(str::to_owned),
        cold: of_host("AGENT_BASH_WARM") == Some("0"),
        over_ssh: ["SSH_CLIENT", "SSH2_CLIENT"].iter().any(|name| vars.get(name).is_some()),
        plain_start: !UNFIT.iter().any(|name| vars.get(name).is_some()),
        block: vars.to_block(),
        withheld: withheld.into_iter().map(str::to_owned).collect(),
    })
}

/// Returns the variables that a mode inherits, and the names that it withholds as possible secrets.
fn inherited_variables<'a>(host: &'a str, inherit: &InheritMode) -> (VariableTable<'a>, Vec<&'a str>) {
    let mut vars = VariableTable::with_capacity(256);
    let mut withheld = Vec::new();
    match inherit {
        InheritMode::None => {}
        InheritMode::All => vars.extend(entries(host)),
        InheritMode::Names(names) => {
            vars.extend(entries(host).filter(|(name, _)| names.iter().any(|wanted| wanted == name)));
        }
        InheritMode::Safe => {
            vars.extend(entries(host));
            withheld = vars.withhold_unsafe();
        }
    }
    host_variables::UNTRUE.iter().for_each(|name| vars.remove(name));
    (vars, withheld)
}

/// The caller's `env`. `None` removes a name.
struct CallerOverlay<'a>(&'a [(String, Option<String>)]);

impl CallerOverlay<'_> {
    /// Returns whether the overlay sets (`true`) or removes (`false`) this name; `None` if it does not name it. The
    /// last entry counts.
    fn sets_variable(&self, name: &str) -> Option<bool> {
        self.0.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.is_some())
    }
}

impl CommandEnvironment {
    /// Returns names and values, each name once, in no particular order. PWD is never among them: bash sets it from its
    /// working directory.
    pub fn vars(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.block)
    }

    /// Returns the variables as `NAME=VALUE` and a NUL each.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.block
    }

    /// Returns the value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// Returns `NAME=VALUE` and a NUL each, as execve takes them, with PWD as the caller named the directory. bash
    /// keeps that name if it leads to the same directory. [`Plan::mark`](super::ChildPlan::add_mark) adds the mark of a
    /// command.
    #[must_use]
    pub fn block(&self, folder: &[u8]) -> Vec<u8> {
        let mut block = Vec::with_capacity(self.block.len() + folder.len() + 128);
        for part in [self.block.as_bytes(), b"PWD=", folder, b"\0"] {
            block.extend_from_slice(part);
        }
        block
    }
}

fn check_overlay(overlay: &[(String, Option<String>)]) -> Result<(), EnvironmentError> {
    let bad = |name: &str, why| Err(EnvironmentError { name: name.to_owned(), why });
    for (name, value) in overlay {
        if name.is_empty() {
            return bad(name, "is an empty name");
        }
        if memchr::memchr2(b'=', 0, name.as_bytes()).is_some() {
            return bad(name, "has a = or a NUL in its name");
        }
        if value.as_ref().is_some_and(|value| memchr::memchr(0, value.as_bytes()).is_some()) {
            return bad(name, "has a NUL in its value");
        }
    }
    Ok(())
}

fn entries(host: &str) -> impl Iterator<Item = (&str, &str)> {
    let ends = memchr::memchr_iter(0, host.as_bytes()).chain([host.len()]);
    let mut start = 0;
    ends.filter_map(move |end| {
        let entry = host.get(start..end)?;
        start = end + 1;
        entry.split_once('=').filter(|(name, _)| !name.is_empty())
    })
}

/// Variables in the order of the first occurrence of their names, borrowed until the end.
struct VariableTable<'a> {
    slots: Vec<(&'a str, Option<&'a str>)>,
    places: HashMap<&'a str, usize>,
}

impl<'a> VariableTable<'a> {
    fn with_capacity(count: usize) -> Self {
        Self { slots: Vec::with_capacity(count), places: HashMap::with_capacity(count) }
    }

    fn set(&mut self, name: &'a str, value: &'a str) {
        let place = *self.places.entry(name).or_insert(self.slots.len());
        match self.slots.get_mut(place) {
            Some(slot) => slot.1 = Some(value),
            None => self.slots.push((name, Some(value))),
        }
    }

    fn remove(&mut self, name: &str) {
        if let Some(&place) = self.places.get(name) {
            self.slots[place].1 = None;
        }
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.places.get(name).and_then(|&place| self.slots[place].1)
    }

    fn extend(&mut self, entries: impl Iterator<Item = (&'a str, &'a str)>) {
        entries.for_each(|(name, value)| self.set(name, value));
    }

    /// Sets the unattended defaults.
    fn set_unattended(&mut self, overlay: &CallerOverlay<'_>) {
        for default in DEFAULTS {
            match default.value {
                Some(value) if !default.unless.iter().any(|name| overlay.sets_variable(name) == Some(true)) => {
                    self.set(default.name, value);
                }
                _ => self.remove(default.name),
            }
        }
    }

    /// Sets the defaults that also hold in a terminal, and removes the unattended values of the host itself.
    fn drop_unattended(&mut self) {
        for default in DEFAULTS {
            match default.value {
                Some(value) if default.always => self.set(default.name, value),
                Some(value) if default.is_verdict() || self.get(default.name) == Some(value) => {
                    self.remove(default.name);
                }
                _ => {}
            }
        }
    }

    /// Applies the caller's `env` over all that. The working directory and the mark are never the caller's.
    fn apply_overlay(&mut self, overlay: &CallerOverlay<'a>) {
        for (name, value) in overlay.0 {
            match value {
                Some(value) if name != "PWD" && name != MARK => self.set(name, value),
                _ => self.remove(name),
            }
        }
    }

    /// Sets a UTF-8 locale where LC_CTYPE has another locale that the caller did not choose.
    fn repair_locale(&mut self, overlay: &CallerOverlay<'_>) {
        if locale::deciding_variable(|name| self.get(name)).and_then(|name| overlay.sets_variable(name)) == Some(true) {
            return;
        }
        for (name, value) in locale::utf8_changes(|name| self.get(name)) {
            match value {
                _ if overlay.sets_variable(name).is_some() => {}
                Some(value) => self.set(name, value),
                None => self.remove(name),
            }
        }
    }

    /// Removes the variables that mode 'safe' leaves out, and returns the names of possible secrets.
    fn withhold_unsafe(&mut self) -> Vec<&'a str> {
        let mut withheld = Vec::new();
        let mut git_config_withheld = false;
        for (name, slot) in &mut self.slots {
            let Some(value) = *slot else { continue };
            if is_git_config(name) {
                // The name GIT_CONFIG_KEY_0 reveals nothing. Only its value may be a secret.
                if !secret_variables::has_secret_shape(value) {
                    continue;
                }
                git_config_withheld = true;
            } else if host_variables::breaks_children(name, value) {
                *slot = None;
                continue;
            } else if !secret_variables::is_secret(name, value) {
                continue;
            }
            *slot = None;
            withheld.push(*name);
        }
        if git_config_withheld {
            // git fails when any of the numbered names is missing, so all of them are removed.
            self.slots.iter_mut().filter(|(name, _)| is_git_config(name)).for_each(|slot| slot.1 = None);
        }
        withheld
    }

    fn to_block(&self) -> String {
        let vars = || self.slots.iter().filter_map(|(name, value)| Some((*name, (*value)?)));
        let mut block = String::with_capacity(vars().map(|(name, value)| name.len() + value.len() + 2).sum());
        for (name, value) in vars() {
            [name, "=", value, "\0"].into_iter().for_each(|part| block.push_str(part));
        }
        block
    }
}

fn is_git_config(name: &str) -> bool {
    name == "GIT_CONFIG_COUNT" || name.starts_with("GIT_CONFIG_KEY_") || name.starts_with("GIT_CONFIG_VALUE_")
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
