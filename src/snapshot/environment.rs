//! What the rc files are read with.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::Error;
use crate::plan::{self, Inherit};
use crate::request::RawOptions;
use crate::sys;

/// They tell of one terminal, one process or one run, and would make each of them read the rc files for itself.
const PASSING: [&str; 14] = [
    "COLUMNS",
    "INIT_CWD",
    "INVOCATION_ID",
    "ITERM_SESSION_ID",
    "JOURNAL_STREAM",
    "LINES",
    "SHLVL",
    "SSH_CLIENT",
    "SSH_CONNECTION",
    "SSH_TTY",
    "SYSTEMD_EXEC_PID",
    "TERM_SESSION_ID",
    "WINDOW",
    "WINDOWID",
];

/// With them bash starts in another way.
const UNFIT: [&str; 5] = ["BASH_ENV", "ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS"];

/// The environment of the shell that reads the rc files.
#[derive(Clone)]
pub struct Given {
    /// `NAME=VALUE` and a NUL each.
    pub block: Arc<str>,
    /// Its PATH.
    pub path: Arc<str>,
    /// The folder of the rc files.
    pub home: Arc<PathBuf>,
}

struct Remembered {
    host: String,
    inherit: Inherit,
    home: Vec<(String, Option<String>)>,
    given: Given,
}

thread_local! {
    // Working it out takes longer than all else that a command with a snapshot does here.
    static LAST: RefCell<Option<Remembered>> = const { RefCell::new(None) };
}

/// What the command inherits, without secrets and without what tells of one run. Of the caller's own variables only HOME
/// counts: the others may differ from command to command, and each would have a snapshot of its own.
pub fn given(raw: &RawOptions) -> Result<Given, Error> {
    let home: Vec<_> = raw.env.iter().filter(|(name, _)| name == "HOME").cloned().collect();
    LAST.with_borrow_mut(|last| {
        if let Some(known) = last
            && known.host == raw.host_env
            && known.inherit == raw.inherit
            && known.home == home
        {
            return Ok(known.given.clone());
        }
        let given = resolve(&raw.host_env, &raw.inherit, &home)?;
        *last =
            Some(Remembered { host: raw.host_env.clone(), inherit: raw.inherit.clone(), home, given: given.clone() });
        Ok(given)
    })
}

fn resolve(host: &str, inherit: &Inherit, home: &[(String, Option<String>)]) -> Result<Given, Error> {
    let inherit = if *inherit == Inherit::All { &Inherit::Safe } else { inherit };
    let environment = plan::resolve(host, inherit, home, false)?;
    let lasts = |name: &str| !(PASSING.contains(&name) || UNFIT.contains(&name) || name.starts_with("npm_"));
    let mut vars: Vec<_> =
        environment.vars().filter(|(name, value)| lasts(name) && !plan::is_secret(name, value)).collect();
    vars.sort_unstable();
    let block: String = vars.iter().flat_map(|(name, value)| [*name, "=", *value, "\0"]).collect();
    let own = environment.get("HOME").filter(|home| home.starts_with('/')).map(str::to_owned);
    let home = own.or_else(sys::home).unwrap_or_else(|| "/".to_owned());
    Ok(Given {
        block: block.into(),
        path: environment.get("PATH").unwrap_or_default().into(),
        home: Arc::new(home.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_secrets_nor_what_tells_of_one_run() {
        let host = "HOME=/h\0PATH=/b\0SHLVL=3\0npm_config_x=1\0GITHUB_TOKEN=abcdefgh\0BASH_ENV=/x\0NVM_DIR=/n\0";
        for inherit in [
            Inherit::Safe,
            Inherit::All,
            Inherit::Names(vec!["GITHUB_TOKEN".into(), "NVM_DIR".into(), "BASH_ENV".into()]),
        ] {
            let given = resolve(host, &inherit, &[]).unwrap();
            assert!(given.block.contains("NVM_DIR=/n\0"), "{inherit:?}");
            for absent in ["SHLVL", "npm_config_x", "GITHUB", "BASH_ENV"] {
                assert!(!given.block.contains(absent), "{inherit:?}: {absent}");
            }
        }
    }

    #[test]
    fn the_home_is_the_callers_else_the_hosts_else_that_of_the_user() {
        let set = |value: Option<&str>| vec![("HOME".to_owned(), value.map(str::to_owned))];
        let home =
            |host: &str, own: &[_]| resolve(host, &Inherit::Safe, own).unwrap().home.to_string_lossy().into_owned();
        assert_eq!(home("HOME=/h\0", &[]), "/h");
        assert_eq!(home("HOME=/h\0", &set(Some("/own"))), "/own");
        assert_eq!(home("HOME=/h\0", &set(None)), sys::home().unwrap_or_else(|| "/".to_owned()));
    }
}
