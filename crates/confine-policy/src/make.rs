//! Turns options into a policy.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use super::confinement_policy::{
    CacheAccess, ConfinementPolicy, GitScope, NetworkScope, PolicyProfile, ReadScope, TmpPlacement,
};
use super::contradictions::{OwnerDirectory, check_contradictions};
use super::defaults::{self, DRAFTS_PLACE, UNDO_PLACE};
use super::hosts::{AllowEntry, address_of, name_of};
use super::option_paths::{
    CachedPathResolver, ListedPath, expand_entry, is_within, outermost_paths, resolve_existing_part,
    resolve_existing_paths, without_dots,
};
use super::policy_environment::PolicyEnvironment;
use super::policy_error::{PolicyError, PolicyFault};
use super::raw::{RawConfine, RawNetwork, RawRead};
use super::secrets::{SecretRule, world_secrets};
use super::ssh_agent::{WorldSsh, world_ssh};
use crate::ConfinementPart;

/// The most entries of a list.
pub const MOST_ENTRIES: usize = 256;
/// The most ports that may be exposed.
pub const MOST_EXPOSED: usize = 64;

/// Checks the options, and resolves their paths. `root` is the directory of the owner, absolute.
///
/// # Errors
/// A [`PolicyError`] that names the option, its value and a remedy.
pub fn make_policy(
    raw: &RawConfine,
    root: &Path,
    host: &impl PolicyEnvironment,
) -> Result<ConfinementPolicy, PolicyError> {
    policy_beside(&[], raw, root, host)
}

/// As [`make_policy`], if other commands may change files below `others`, now or earlier.
///
/// # Errors
/// As [`make_policy`], and if a link in one of `others` leads to a write root elsewhere.
pub fn policy_beside(
    others: &[PathBuf],
    raw: &RawConfine,
    root: &Path,
    host: &impl PolicyEnvironment,
) -> Result<ConfinementPolicy, PolicyError> {
    check_lengths(raw)?;
    let homes = defaults::user_homes(host);
    let profile = profile(raw)?;
    let root = OwnerDirectory::of(root, host)?;
    let given = write_roots(raw, &homes, host)?;
    let mut hidden = hidden_paths(raw, &homes, host)?;
    let protect = protected_paths(raw, &homes, host)?;
    let own_root = (profile == PolicyProfile::Workspace).then(|| root.path.clone());
    let write = outermost_paths(given.iter().map(|entry| entry.path.clone()).chain(own_root).collect());
    let secrets = world_secrets(&raw.secrets, &homes, host)?;
    let ssh = raw.ssh.as_ref().map(|raw| world_ssh(raw, &homes, host)).transpose()?;
    let network = network(raw, &secrets.rules, ssh.as_ref())?;
    let read = read(raw, &homes, host)?;
    hidden.extend(undo_store_paths(raw, &root, (&write, &read), (&homes, host)));
    // A path that is a link now may be a file later.
    let hide = hidden.iter().flat_map(|entry| [entry.path.clone(), without_dots(&entry.named)]);
    // Commands reach the agent through the gate alone.
    let hide = outermost_paths(hide.chain(ssh.iter().map(|ssh| ssh.agent.clone())).collect());
    let policy = ConfinementPolicy {
        read,
        expose: exposed_ports(raw, &network)?,
        tmp: parse_word(
            "confine.tmp",
            raw.tmp.as_deref(),
            "private, shared",
            &[TmpPlacement::Private, TmpPlacement::Shared],
        )?,
        caches: caches(raw, &homes, host, &write, &hide)?,
        require: required_parts(raw, &network, !secrets.rules.is_empty() || ssh.is_some())?,
        root: root.path.clone(),
        profile,
        git: git(raw, &homes, host)?,
        draft: None,
        write,
        protect,
        hide,
        network,
        secrets,
        ssh,
    };
    for SecretRule { name, file, .. } in &policy.secrets.rules {
        // Its directory would have to be read-only.
        if file.as_ref().is_some_and(|(at, _)| policy.permits_change(at) && host.resolve(at).is_err()) {
            return Err(PolicyError::invalid("confine.secrets", name, PolicyFault::NewFileInWriteRoot));
        }
    }
    check_contradictions(&policy, &root, (&given, &hidden), others, host)?;
    Ok(policy)
}

fn check_lengths(raw: &RawConfine) -> Result<(), PolicyError> {
    let (allow, hosts) = match &raw.network {
        Some(RawNetwork::Hosts { allow, hosts }) => (allow.as_ref().map_or(0, Vec::len), hosts.len()),
        _ => (0, 0),
    };
    let read = if let Some(RawRead::Only(read)) = &raw.read { read.len() } else { 0 };
    let protect = raw.protect.as_ref().map_or(0, Vec::len);
    for (option, count, most) in [
        ("confine.write", raw.write.len(), MOST_ENTRIES),
        ("confine.protect", protect, MOST_ENTRIES),
        ("confine.hide", raw.hide.len(), MOST_ENTRIES),
        ("confine.read", read, MOST_ENTRIES),
        ("confine.network.allow", allow, MOST_ENTRIES),
        ("confine.network.hosts", hosts, MOST_ENTRIES),
        ("confine.expose", raw.expose.len(), MOST_EXPOSED),
    ] {
        if count > most {
            return Err(PolicyError::TooMany { option, count, most });
        }
    }
    Ok(())
}

/// Returns the value of a word, by its place in the list of all words. The first word is the default.
fn parse_word<T: Copy>(
    option: &'static str,
    given: Option<&str>,
    words: &'static str,
    values: &[T],
) -> Result<T, PolicyError> {
    let at = given.map_or(Some(0), |given| words.split(", ").position(|word| word == given));
    let value = at.and_then(|at| values.get(at)).copied();
    value.ok_or_else(|| PolicyError::invalid(option, given.unwrap_or_default(), PolicyFault::NotOneOf(words)))
}

/// Returns the name of the profile that options as JSON ask for. `None` if they are none.
pub fn profile_name(options: &str) -> Option<&'static str> {
    let raw = RawConfine::from_json(options).ok()?;
    profile(&raw).ok().map(|profile| profile.name())
}

fn profile(raw: &RawConfine) -> Result<PolicyProfile, PolicyError> {
    let values = [PolicyProfile::Workspace, PolicyProfile::ReadOnly];
    parse_word("confine.profile", raw.profile.as_deref(), "workspace, read-only", &values)
}

/// Returns the write roots that the caller names. Each of them exists.
fn write_roots(
    raw: &RawConfine,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<Vec<ListedPath>, PolicyError> {
    let mut roots = Vec::new();
    for text in &raw.write {
        let named = expand_entry(text, homes).map_err(|fault| PolicyError::invalid("confine.write", text, fault))?;
        let found =
            resolve_existing_paths(&named, host).map_err(|(path, error)| PolicyError::no_write_root(&path, &error))?;
        roots.extend(found.into_iter().map(|(named, path)| ListedPath { text: Some(text.clone()), path, named }));
    }
    Ok(roots)
}

fn git(raw: &RawConfine, homes: &[PathBuf], host: &impl PolicyEnvironment) -> Result<GitScope, PolicyError> {
    let repository = parse_word("confine.git", raw.git.as_deref(), "repository, none", &[true, false])?;
    let homes = || homes.iter().map(|home| resolve_existing_part(home, host)).collect();
    Ok(if repository { GitScope::Repository { homes: homes() } } else { GitScope::None })
}

/// Returns all hidden paths, the default paths first.
fn hidden_paths(
    raw: &RawConfine,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<Vec<ListedPath>, PolicyError> {
    let entry = |text: Option<&String>, named: PathBuf| ListedPath {
        text: text.cloned(),
        path: resolve_existing_part(&named, host),
        named,
    };
    let mut places = CachedPathResolver::default();
    let own = |named: PathBuf| ListedPath {
        text: None,
        path: places.resolve_existing_part(&without_dots(&named), host),
        named,
    };
    let mut hidden: Vec<ListedPath> = defaults::default_hidden_paths(host, homes).into_iter().map(own).collect();
    for text in &raw.hide {
        let named =
            literal_paths(text, homes, host).map_err(|fault| PolicyError::invalid("confine.hide", text, fault))?;
        hidden.extend(named.into_iter().map(|path| entry(Some(text), path)));
    }
    Ok(hidden)
}

/// Returns the store of undo or of drafts, and the places of such stores on the mounts of write roots, also those that
/// may be made later. They hold other versions of files, including hidden files.
fn undo_store_paths(
    raw: &RawConfine,
    root: &OwnerDirectory,
    (write, read): (&[PathBuf], &ReadScope),
    (homes, host): (&[PathBuf], &impl PolicyEnvironment),
) -> Vec<ListedPath> {
    let given: Vec<PathBuf> = raw.store.iter().map(PathBuf::from).collect();
    let stores = [&given[..], &defaults::user_states(host, homes)].concat();
    let above = write.iter().chain([&root.path]).flat_map(|path| path.ancestors().skip(1));
    let named = |above: &Path| [UNDO_PLACE, DRAFTS_PLACE].map(|name| above.join(format!("{name}{}", host.user())));
    let may_keep = |place: &PathBuf| place.parent().is_some_and(|above| host.may_keep(above, &stores));
    let places = above.flat_map(named).filter(|place| host.resolve(place).is_ok() || may_keep(place));
    let read: &[PathBuf] = if let ReadScope::Only(read) = read { read } else { &[] };
    let is_used = |store: &Path| write.iter().chain(read).chain([&root.path]).any(|path| is_within(path, store));
    let entries = given.iter().cloned().chain(places).map(|named| ListedPath {
        text: None,
        path: resolve_existing_part(&named, host),
        named,
    });
    entries.filter(|entry| entry.named.is_absolute() && !is_used(&entry.path)).collect()
}

/// Returns the paths that an entry means. A pattern is refused, because it would hide and protect nothing, unless a
/// file has that name.
fn literal_paths(text: &str, homes: &[PathBuf], host: &impl PolicyEnvironment) -> Result<Vec<PathBuf>, PolicyFault> {
    let named = expand_entry(text, homes)?;
    let exists = || named.iter().any(|path| host.resolve(path).is_ok());
    if is_pattern(text) && !exists() { Err(PolicyFault::Pattern) } else { Ok(named) }
}

fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

fn protected_paths(
    raw: &RawConfine,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<Vec<PathBuf>, PolicyError> {
    let Some(given) = &raw.protect else {
        let homes: Vec<_> = homes.iter().map(|home| resolve_existing_part(home, host)).collect();
        return Ok(defaults::default_protected_paths(&homes));
    };
    let mut protected: Vec<PathBuf> = Vec::new();
    for text in given {
        match literal_paths(text, homes, host) {
            Ok(paths) => protected.extend(paths.iter().map(|path| resolve_existing_part(path, host))),
            Err(PolicyFault::Relative) => protected
                .push(relative_name(text).map_err(|fault| PolicyError::invalid("confine.protect", text, fault))?),
            Err(fault) => return Err(PolicyError::invalid("confine.protect", text, fault)),
        }
    }
    protected.sort();
    protected.dedup();
    Ok(protected)
}

/// Returns a name below a root, without `.`.
fn relative_name(text: &str) -> Result<PathBuf, PolicyFault> {
    if is_pattern(text) {
        return Err(PolicyFault::Pattern);
    }
    let path = Path::new(text);
    if path.components().any(|component| component == std::path::Component::ParentDir) {
        return Err(PolicyFault::Upward);
    }
    let name: PathBuf = path.components().filter(|part| *part != std::path::Component::CurDir).collect();
    if name.as_os_str().is_empty() { Err(PolicyFault::Empty) } else { Ok(name) }
}

fn read(raw: &RawConfine, homes: &[PathBuf], host: &impl PolicyEnvironment) -> Result<ReadScope, PolicyError> {
    let invalid = |text: &str, fault| PolicyError::invalid("confine.read", text, fault);
    match &raw.read {
        None => Ok(ReadScope::All),
        Some(RawRead::Word(word)) if word == "all" => Ok(ReadScope::All),
        Some(RawRead::Word(word)) => Err(invalid(word, PolicyFault::NotOneOf("all, an array of paths"))),
        Some(RawRead::Only(given)) => {
            let mut paths = Vec::new();
            for text in given {
                let named = literal_paths(text, homes, host).map_err(|fault| invalid(text, fault))?;
                paths.extend(named.iter().map(|path| resolve_existing_part(path, host)));
            }
            Ok(ReadScope::Only(outermost_paths(paths)))
        }
    }
}

/// Returns the hosts that may be reached. Those of secrets and of the agent are allowed by that.
fn network(raw: &RawConfine, secrets: &[SecretRule], ssh: Option<&WorldSsh>) -> Result<NetworkScope, PolicyError> {
    let kept = secrets.first().map(|first| format!("the secret {:?}", first.name));
    let kept = kept.or(ssh.map(|_| "the ssh agent".to_owned()));
    let (mut entries, hosts) = match &raw.network {
        None => (Vec::new(), BTreeMap::new()),
        Some(RawNetwork::Word(word)) => match (word.as_str(), kept) {
            ("none", _) => (Vec::new(), BTreeMap::new()),
            ("full", None) => return Ok(NetworkScope::Full),
            ("full", Some(kept)) => return Err(PolicyError::kept_in_full(&kept)),
            _ => {
                let fault = PolicyFault::NotOneOf("none, full, an object with allow");
                return Err(PolicyError::invalid("confine.network", word, fault));
            }
        },
        Some(RawNetwork::Hosts { allow, hosts }) => {
            let allow = allow.as_ref().ok_or(PolicyError::AllowMissing)?;
            (allow_entries(allow)?, mapped_hosts(hosts)?)
        }
    };
    let named = secrets.iter().map(|secret| &secret.hosts).chain(ssh.map(|ssh| &ssh.hosts));
    entries.extend(named.flatten().cloned());
    entries.sort();
    entries.dedup();
    Ok(if entries.is_empty() { NetworkScope::None } else { NetworkScope::Allow { entries, hosts } })
}

fn allow_entries(given: &[String]) -> Result<Vec<AllowEntry>, PolicyError> {
    let parse = |text: &String| {
        let entry: Result<AllowEntry, PolicyFault> = text.parse();
        entry.map_err(|fault| PolicyError::invalid("confine.network.allow", text, fault))
    };
    given.iter().map(parse).collect()
}

/// Returns the addresses of names. A name that no entry allows has no effect until a person grants access to it.
fn mapped_hosts(given: &BTreeMap<String, String>) -> Result<BTreeMap<String, IpAddr>, PolicyError> {
    let invalid = |text: &String, fault| PolicyError::invalid("confine.network.hosts", text, fault);
    let mut hosts = BTreeMap::new();
    for (text, address) in given {
        let name = name_of(text).map_err(|fault| invalid(text, fault))?;
        if name == "localhost" {
            return Err(invalid(text, PolicyFault::Loopback));
        }
        hosts.insert(name, address_of(address).map_err(|fault| invalid(address, fault))?);
    }
    Ok(hosts)
}

fn exposed_ports(raw: &RawConfine, network: &NetworkScope) -> Result<Vec<u16>, PolicyError> {
    if !raw.expose.is_empty() && *network == NetworkScope::Full {
        return Err(PolicyError::ExposeInFull);
    }
    let port = |number: &i64| {
        let port = u16::try_from(*number).ok().filter(|port| *port != 0);
        port.ok_or_else(|| PolicyError::invalid("confine.expose", number.to_string(), PolicyFault::NoPort))
    };
    let mut ports = raw.expose.iter().map(port).collect::<Result<Vec<_>, _>>()?;
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// Returns the kind of caches, and the directories of the existing caches.
fn caches(
    raw: &RawConfine,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
    write: &[PathBuf],
    hide: &[PathBuf],
) -> Result<(CacheAccess, Vec<PathBuf>), PolicyError> {
    let values = [CacheAccess::Overlay, CacheAccess::Shared, CacheAccess::None];
    let kind = parse_word("confine.caches", raw.caches.as_deref(), "overlay, shared, none", &values)?;
    if kind == CacheAccess::None {
        return Ok((kind, Vec::new()));
    }
    let homes: Vec<PathBuf> = homes.iter().map(|home| resolve_existing_part(home, host)).collect();
    let places = defaults::default_cache_paths(host, &homes);
    let found = places.iter().filter_map(|place| host.resolve(place).ok()).filter(|place| {
        let covered = write.iter().chain(hide).any(|path| is_within(place, path));
        // A variable may name any directory.
        let too_much = homes.iter().any(|home| is_within(home, place)) || place.parent().is_none();
        !covered && !too_much && host.is_directory(place)
    });
    Ok((kind, outermost_paths(found.collect())))
}

/// Returns the parts that must hold. With something to keep, a secret or an agent, commands need a network of their own
/// and processes that they cannot read.
fn required_parts(raw: &RawConfine, network: &NetworkScope, keeps: bool) -> Result<Vec<ConfinementPart>, PolicyError> {
    let full = *network == NetworkScope::Full;
    let Some(given) = &raw.require else {
        return Ok(ConfinementPart::ALL
            .into_iter()
            .filter(|part| !(full && *part == ConfinementPart::Network))
            .collect());
    };
    let mut parts = Vec::new();
    for name in given {
        let unknown = PolicyFault::NotOneOf("files, network, processes, syscalls");
        let invalid = |fault| PolicyError::invalid("confine.require", name, fault);
        match ConfinementPart::of_name(name) {
            None => return Err(invalid(unknown)),
            Some(ConfinementPart::Network) if full => return Err(invalid(PolicyFault::NothingToHold)),
            Some(part) => parts.push(part),
        }
    }
    if keeps {
        parts.extend([ConfinementPart::Network, ConfinementPart::Processes]);
    }
    parts.sort_unstable();
    parts.dedup();
    Ok(parts)
}

#[cfg(test)]
#[path = "make_tests.rs"]
mod tests;
