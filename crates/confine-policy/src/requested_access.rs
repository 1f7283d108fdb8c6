//! More access for one command, as a model asks for it: checked before the host is asked.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::confinement_policy::{ConfinementPolicy, NetworkScope};
use super::hosts::AllowEntry;
use super::make::make_policy;
use super::option_paths::{expand_entry, is_within, resolve_existing_part, resolve_existing_paths};
use super::policy_environment::PolicyEnvironment;
use super::policy_error::{PolicyError, PolicyFault};
use super::raw::{RawConfine, RawNetwork};
use super::{PROTECT, defaults};

/// The access that a command asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedAccess {
    /// Files and directories to change. When checked: absolute and without links.
    #[serde(default)]
    pub write: Vec<String>,
    /// Hosts to reach, as in `network.allow`.
    #[serde(default)]
    pub network: Vec<String>,
}

/// Returns the part of the access that the options do not allow yet, resolved. Relative paths start at `cwd`.
///
/// # Errors
/// A [`PolicyError`] for a path that does not exist, is hidden, protected or of the kernel, and for an entry that is no
/// host.
pub fn missing_access(
    raw: &RawConfine,
    root: &Path,
    cwd: &Path,
    asked: &RequestedAccess,
    host: &impl PolicyEnvironment,
) -> Result<RequestedAccess, PolicyError> {
    let held = make_policy(raw, root, host)?;
    let write = missing_paths(&held, cwd, &asked.write, host)?;
    let network = missing_hosts(&held.network, &asked.network)?;
    let access = RequestedAccess { write, network };
    // Together they have to be a valid policy as well.
    make_policy(&with_access(raw.clone(), &access), root, host)?;
    Ok(access)
}

/// Returns the options with more access.
fn with_access(mut raw: RawConfine, access: &RequestedAccess) -> RawConfine {
    raw.write.extend(access.write.iter().cloned());
    if access.network.is_empty() {
        return raw;
    }
    let (allow, hosts) = match raw.network.take() {
        Some(RawNetwork::Hosts { allow, hosts }) => (allow.unwrap_or_default(), hosts),
        _ => (Vec::new(), BTreeMap::new()),
    };
    let allow = allow.into_iter().chain(access.network.iter().cloned()).collect();
    raw.network = Some(RawNetwork::Hosts { allow: Some(allow), hosts });
    raw
}

fn missing_paths(
    held: &ConfinementPolicy,
    cwd: &Path,
    asked: &[String],
    host: &impl PolicyEnvironment,
) -> Result<Vec<String>, PolicyError> {
    let homes = defaults::user_homes(host);
    let mut missing = Vec::new();
    for text in asked {
        let invalid = |fault| PolicyError::invalid("access.write", text, fault);
        let named = match expand_entry(text, &homes) {
            Err(PolicyFault::Relative) => vec![cwd.join(text)],
            named => named.map_err(invalid)?,
        };
        let settled: Vec<PathBuf> = named.iter().map(|path| resolve_existing_part(path, host)).collect();
        for path in &settled {
            if let Some(hidden) = held.hide.iter().find(|hidden| is_within(path, hidden)) {
                return Err(invalid(PolicyFault::Hidden(hidden.clone())));
            }
            if let Some(name) = protected_name_of(held, path) {
                return Err(invalid(PolicyFault::Protected(name)));
            }
        }
        // A path below a write root need not exist.
        let known = |path: &PathBuf| held.write.iter().any(|root| is_within(path, root));
        if settled.iter().all(known) {
            continue;
        }
        let found = resolve_existing_paths(&named, host).map_err(|(_, error)| match error.kind() {
            io::ErrorKind::NotFound => invalid(PolicyFault::NotThere),
            _ => PolicyError::no_write_root(&named[0], &error),
        })?;
        for (_, path) in found.into_iter().filter(|(_, path)| !known(path)) {
            let path = path.to_string_lossy().into_owned();
            if !missing.contains(&path) {
                missing.push(path);
            }
        }
    }
    Ok(missing)
}

/// Returns the protected name that a path has or lies in, wherever the path lies: a model must not ask for the hooks of
/// another repository either.
fn protected_name_of(held: &ConfinementPolicy, path: &Path) -> Option<String> {
    let names = held.protect.iter().cloned().chain(PROTECT.iter().map(PathBuf::from));
    let is_in = |name: &PathBuf| {
        let mut bases = path.ancestors().skip(1);
        if name.is_absolute() { is_within(path, name) } else { bases.any(|base| is_within(path, &base.join(name))) }
    };
    names.into_iter().find(is_in).map(|name| name.to_string_lossy().into_owned())
}

fn missing_hosts(held: &NetworkScope, asked: &[String]) -> Result<Vec<String>, PolicyError> {
    let known: &[AllowEntry] = match held {
        NetworkScope::Full => return Ok(Vec::new()),
        NetworkScope::None => &[],
        NetworkScope::Allow { entries, .. } => entries,
    };
    let mut missing: Vec<String> = Vec::new();
    for text in asked {
        let invalid = |fault| PolicyError::invalid("access.network", text, fault);
        // A model cannot use another network.
        let every = |fault| if fault == PolicyFault::Everything { PolicyFault::NoHost } else { fault };
        let entry: AllowEntry = text.trim().parse().map_err(|fault| invalid(every(fault)))?;
        if entry.host.is_own_loopback() {
            return Err(invalid(PolicyFault::OwnLoopback));
        }
        let text = entry.to_string();
        if !known.contains(&entry) && !missing.contains(&text) {
            missing.push(text);
        }
    }
    Ok(missing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RealHost;

    struct AccessFixture {
        _directory: tempfile::TempDir,
        base: PathBuf,
    }

    impl AccessFixture {
        fn new() -> Self {
            let directory = tempfile::tempdir().expect("a directory");
            let base = directory.path().canonicalize().expect("it exists");
            for name in ["root/src", "other/.git/hooks", "home/.ssh"] {
                std::fs::create_dir_all(base.join(name)).expect("created");
            }
            Self { _directory: directory, base }
        }

        fn ask(&self, options: &str, write: &[&str], network: &[&str]) -> Result<RequestedAccess, String> {
            let environment = format!("HOME={}\0", self.base.join("home").display());
            let raw = RawConfine::from_json(options).expect("valid");
            let text = |list: &[&str]| list.iter().map(ToString::to_string).collect();
            let asked = RequestedAccess { write: text(write), network: text(network) };
            let (root, host) = (self.base.join("root"), RealHost { environment: &environment });
            missing_access(&raw, &root, &root.join("src"), &asked, &host).map_err(|error| error.to_string())
        }
    }

    #[test]
    fn what_is_missing_is_resolved_and_what_is_there_is_left_out() {
        let place = AccessFixture::new();
        let other = place.base.join("other").to_string_lossy().into_owned();
        let access = place.ask("{}", &["../../other", "../src", &other], &["Registry.Example.org:443"]).expect("valid");
        assert_eq!(access, RequestedAccess { write: vec![other], network: vec!["registry.example.org:443".into()] });
        assert_eq!(
            place.ask("{}", &["not/there/yet"], &[]),
            Ok(RequestedAccess::default()),
            "commands may create it already"
        );
        let allowed = r#"{"network":{"allow":["a.example:443"]}}"#;
        let access = place.ask(allowed, &[], &["a.example:443", "b.example"]).expect("valid");
        assert_eq!(access.network, ["b.example"]);
        assert_eq!(place.ask(r#"{"network":"full"}"#, &[], &["b.example"]), Ok(RequestedAccess::default()));
    }

    #[test]
    fn protected_hidden_and_missing_paths_cannot_be_asked_for() {
        let place = AccessFixture::new();
        for (path, why) in [
            ("../../other/.git/hooks", "is protected by the entry"),
            ("~/.ssh", "which is hidden"),
            ("../../none", "does not exist; name a directory that does"),
            (".git/hooks/new", "is protected by the entry"),
            ("~/.ssh/new", "which is hidden"),
            ("/", "cannot be changed as a whole"),
            ("/proc/sys", "belongs to the kernel"),
            ("", "is empty"),
        ] {
            let error = place.ask("{}", &[path], &[]).expect_err(path);
            assert!(error.contains(why), "{path}: {error}");
        }
        for entry in ["https://a.example", "*", "a.example:0", "", "localhost:80", "127.0.0.1", "[::1]:80"] {
            let error = place.ask("{}", &[], &[entry]).expect_err(entry);
            assert!(error.starts_with("access.network"), "{error}");
        }
    }
}
