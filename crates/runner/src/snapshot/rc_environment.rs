//! The environment of the shell that reads the rc files.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use crate::error::RunError;
use crate::request::RawOptions;
use protocol::plan::{self, InheritMode};

/// Variables that differ between terminals, processes or runs. With them, each run would read the rc files again.
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

/// Variables that change how bash starts.
const UNFIT: [&str; 5] = ["BASH_ENV", "ENV", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS"];

/// The environment of the shell that reads the rc files.
#[derive(Clone)]
pub struct RcEnvironment {
    /// `NAME=VALUE`, each followed by a NUL.
    pub block: Arc<str>,
    /// PATH of that shell.
    pub path: Arc<str>,
    /// The directory of the rc files.
    pub home: Arc<PathBuf>,
}

struct RememberedRcEnvironment {
    host: String,
    inherit: InheritMode,
    home: Vec<(String, Option<String>)>,
    environment: RcEnvironment,
}

thread_local! {
    // Computing the environment is the slowest step of a command whose snapshot is known.
    static LAST: RefCell<Option<RememberedRcEnvironment>> = const { RefCell::new(None) };
}

/// Returns the inherited variables, without secrets and without variables of one run. Of the caller's own variables
/// only HOME counts, because the others may differ between commands, and each command would need its own snapshot.
pub fn rc_environment(raw: &RawOptions) -> Result<RcEnvironment, RunError> {
    let home: Vec<_> = raw.env.iter().filter(|(name, _)| name == "HOME").cloned().collect();
    LAST.with_borrow_mut(|last| {
        if let Some(known) = last
            && known.host == raw.host_env
            && known.inherit == raw.inherit
            && known.home == home
        {
            return Ok(known.environment.clone());
        }
        let environment = resolve(&raw.host_env, &raw.inherit, &home)?;
        let (host, inherit) = (raw.host_env.clone(), raw.inherit.clone());
        *last = Some(RememberedRcEnvironment { host, inherit, home, environment: environment.clone() });
        Ok(environment)
    })
}

fn resolve(host: &str, inherit: &InheritMode, home: &[(String, Option<String>)]) -> Result<RcEnvironment, RunError> {
    let inherit = if *inherit == InheritMode::All { &InheritMode::Safe } else { inherit };
    let environment = plan::resolve_environment(host, inherit, home, false)?;
    let lasts = |name: &str| !(PASSING.contains(&name) || UNFIT.contains(&name) || name.starts_with("npm_"));
    let mut vars: Vec<_> =
        environment.vars().filter(|(name, value)| lasts(name) && !plan::is_secret(name, value)).collect();
    vars.sort_unstable();
    let block: String = vars.iter().flat_map(|(name, value)| [*name, "=", *value, "\0"]).collect();
    let own = environment.get("HOME").filter(|home| home.starts_with('/')).map(str::to_owned);
    let home = own.or_else(sys::home).unwrap_or_else(|| "/".to_owned());
    Ok(RcEnvironment {
        block: block.into(),
        path: environment.get("PATH").unwrap_or_default().into(),
        home: Arc::new(home.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_variables_of_one_run_are_left_out() {
        let host = "HOME=/h\0PATH=/b\0SHLVL=3\0npm_config_x=1\0GITHUB_TOKEN=abcdefgh\0BASH_ENV=/x\0NVM_DIR=/n\0";
        for inherit in [
            InheritMode::Safe,
            InheritMode::All,
            InheritMode::Names(vec!["GITHUB_TOKEN".into(), "NVM_DIR".into(), "BASH_ENV".into()]),
        ] {
            let given = resolve(host, &inherit, &[]).unwrap();
            assert!(given.block.contains("NVM_DIR=/n\0"), "{inherit:?}");
            for absent in ["SHLVL", "npm_config_x", "GITHUB", "BASH_ENV"] {
                assert!(!given.block.contains(absent), "{inherit:?}: {absent}");
            }
        }
    }

    #[test]
    fn the_home_is_the_callers_else_the_hosts_else_the_users() {
        let set = |value: Option<&str>| vec![("HOME".to_owned(), value.map(str::to_owned))];
        let home =
            |host: &str, own: &[_]| resolve(host, &InheritMode::Safe, own).unwrap().home.to_string_lossy().into_owned();
        assert_eq!(home("HOME=/h\0", &[]), "/h");
        assert_eq!(home("HOME=/h\0", &set(Some("/own"))), "/own");
        assert_eq!(home("HOME=/h\0", &set(None)), sys::home().unwrap_or_else(|| "/".to_owned()));
    }
}
