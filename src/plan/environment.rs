//! The environment of a command: what it inherits, the unattended defaults over that, the caller's `env` over both.

use std::collections::HashMap;

use super::unattended::{self, DEFAULTS};
use super::{MARK, host, locale, secrets};

/// What a command gets of the host's environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Inherit {
    /// All but secrets and what belongs to the host alone (BASH_ENV, LD_PRELOAD, GIT_DIR …).
    #[default]
    Safe,
    /// All.
    All,
    /// Nothing.
    None,
    /// Exactly these names, secrets too, as far as the host has them.
    Names(Vec<String>),
}

/// Variables with which bash starts in another way, or that it would show or use before its command.
const UNFIT: [&str; 5] = ["BASH_ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS", "BASH_XTRACEFD"];

/// The environment of one command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    /// `NAME=VALUE` and a NUL each: one allocation instead of one a name and a value, and execve wants it so.
    block: String,
    /// The names, sorted, that 'safe' left out because they may be secrets, without those that the caller's `env`
    /// mentions or a default sets. Empty in the other modes.
    pub withheld: Vec<String>,
    /// What the host itself is told: where programs are looked for,
    pub host_path: Option<String>,
    /// where temporary files go,
    pub host_temp: Option<String>,
    /// and AGENT_BASH_WARM=0: no shell is to wait.
    pub cold: bool,
    /// It says that somebody came over ssh: some bashes then read ~/.bashrc, unless they are told not to.
    pub over_ssh: bool,
    /// It holds none of the variables with which bash starts in another way, or that it would use before its command.
    pub plain_start: bool,
}

/// A name or a value in the caller's `env` that no environment can hold. Never shows a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("env: {name:?} {why}")]
pub struct EnvironmentError {
    /// The name, as given.
    pub name: String,
    /// What is wrong with it.
    pub why: &'static str,
}

/// The environment of a command.
///
/// - `host`: `process.env` of the calling thread, as `NAME=VALUE` each ended by a NUL (the last NUL may be missing).
///   Entries without `=` or without a name are skipped.
/// - `overlay`: the caller's `env`; None removes a name, one of the defaults too.
/// - `attended`: it has a terminal, where somebody reads and answers. Only those defaults hold that have nothing to do with
///   that; what the host has the same from elsewhere (PAGER=cat), CI, NO_COLOR, and what tells of another terminal is left out.
///
/// AGENT_BASH_ID is not among them, whoever gives it: each command has its own.
///
/// Of a name given twice the last one counts; case matters. PWD, OLDPWD, `_` and the descriptor of the host's IPC channel
/// are inherited in no mode, for they would be untrue; PWD is not taken from the overlay either (`{...process.env}`).
/// Where LC_CTYPE is not UTF-8 it is set to a locale that is, unless the overlay says which it wants.
/// Where nobody gives a PATH (under `None`), it is a plain list of the system's folders, unless the overlay removes it.
///
/// # Errors
/// On an overlay name that is empty or holds `=` or NUL, and on an overlay value that holds NUL.
pub fn resolve(
    host: &str,
    inherit: &Inherit,
    overlay: &[(String, Option<String>)],
    attended: bool,
) -> Result<Environment, EnvironmentError> {
    check(overlay)?;
    let mut vars = Vars::with_capacity(256);
    let mut withheld = Vec::new();
    match inherit {
        Inherit::None => {}
        Inherit::All => vars.extend(entries(host)),
        Inherit::Names(names) => {
            vars.extend(entries(host).filter(|(name, _)| names.iter().any(|wanted| wanted == name)));
        }
        Inherit::Safe => {
            vars.extend(entries(host));
            withheld = vars.leave_out_unsafe();
        }
    }
    host::UNTRUE.iter().for_each(|name| vars.remove(name));

    let overlaid = |name: &str| overlay.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.is_some());
    if attended {
        host::OTHER_TERMINAL.iter().for_each(|name| vars.remove(name));
        vars.set("TERM", unattended::TERM);
    }
    for default in DEFAULTS {
        match default.value {
            // What the host has from one who thought that nobody was there.
            value if attended && !default.always => {
                if value.is_some_and(|value| default.is_verdict() || vars.get(default.name) == Some(value)) {
                    vars.remove(default.name);
                }
            }
            Some(value) if !default.unless.iter().any(|name| overlaid(name) == Some(true)) => {
                vars.set(default.name, value);
            }
            _ => vars.remove(default.name),
        }
    }
    for (name, value) in overlay {
        match value {
            Some(value) if name != "PWD" && name != MARK => vars.set(name, value),
            _ => vars.remove(name),
        }
    }
    if vars.get("PATH").is_none() && overlaid("PATH").is_none() {
        vars.set("PATH", unattended::PATH);
    }
    if locale::deciding(|name| vars.get(name)).and_then(overlaid) != Some(true) {
        for (name, value) in locale::repair(|name| vars.get(name)) {
            match value {
                _ if overlaid(name).is_some() => {}
                Some(value) => vars.set(name, value),
                None => vars.remove(name),
            }
        }
    }
    // a name with another value now, the caller's or a default, is not missing
    withheld.retain(|name| overlaid(name).is_none() && vars.get(name).is_none());
    withheld.sort_unstable();
    let of_host = |name: &str| entries(host).find(|(given, _)| *given == name).map(|(_, value)| value);
    Ok(Environment {
        host_path: of_host("PATH").map(str::to_owned),
        host_temp: of_host("TMPDIR").filter(|dir| !dir.is_empty()).map(str::to_owned),
        cold: of_host("AGENT_BASH_WARM") == Some("0"),
        over_ssh: ["SSH_CLIENT", "SSH2_CLIENT"].iter().any(|name| vars.get(name).is_some()),
        plain_start: !UNFIT.iter().any(|name| vars.get(name).is_some()),
        block: vars.to_block(),
        withheld: withheld.into_iter().map(str::to_owned).collect(),
    })
}

impl Environment {
    /// Names and values, each name once, in no order that means anything. PWD is never among them: bash sets it from its
    /// working directory.
    pub fn vars(&self) -> impl Iterator<Item = (&str, &str)> {
        entries(&self.block)
    }

    /// The same, `NAME=VALUE` and a NUL each.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.block
    }

    /// The value of a name, or None.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.vars().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// `NAME=VALUE` and a NUL each, as execve wants them, with the folder as its caller named it: bash takes PWD over when
    /// it is the same folder, links and all. The mark of one command is added by [`Plan::mark`](super::Plan::mark).
    #[must_use]
    pub fn block(&self, folder: &[u8]) -> Vec<u8> {
        let mut block = Vec::with_capacity(self.block.len() + folder.len() + 128);
        for part in [self.block.as_bytes(), b"PWD=", folder, b"\0"] {
            block.extend_from_slice(part);
        }
        block
    }
}

fn check(overlay: &[(String, Option<String>)]) -> Result<(), EnvironmentError> {
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

/// Variables in the order in which their names first came, borrowed until the end.
struct Vars<'a> {
    slots: Vec<(&'a str, Option<&'a str>)>,
    places: HashMap<&'a str, usize>,
}

impl<'a> Vars<'a> {
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

    /// Leaves out what 'safe' does, and gives the names of possible secrets.
    fn leave_out_unsafe(&mut self) -> Vec<&'a str> {
        let mut withheld = Vec::new();
        let mut git_config_withheld = false;
        for (name, slot) in &mut self.slots {
            let Some(value) = *slot else { continue };
            if is_git_config(name) {
                // GIT_CONFIG_KEY_0 is no key: only what it sets may be a secret
                if !secrets::shaped_so(value) {
                    continue;
                }
                git_config_withheld = true;
            } else if host::breaks_children(name, value) {
                *slot = None;
                continue;
            } else if !secrets::is_secret(name, value) {
                continue;
            }
            *slot = None;
            withheld.push(*name);
        }
        if git_config_withheld {
            // git dies when one of the numbered names is missing, so all go
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
