//! The use of the host's ssh agent, for hosts that are named.
//!
//! Commands get a socket of their world's gate. It signs for sessions with these hosts alone, which it knows by the
//! keys that the host's `known_hosts` have.

use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use ssh_key::known_hosts::{HostPatterns, KnownHosts, Marker};
use ssh_key::{Fingerprint, PublicKey};

use super::glob::matches_glob;
use super::hosts::{AllowEntry, AllowHost, address_bits};
use super::option_paths::expand_entry;
use super::policy_environment::PolicyEnvironment;
use super::policy_error::{PolicyError, PolicyFault};

/// The port of ssh.
const PORT: u16 = 22;
/// The most hosts, and the most keys.
const MOST: usize = 64;
/// The files with keys of hosts, beside those of the user's home.
const OF_SYSTEM: [&str; 2] = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"];
/// The files with keys of hosts in a home.
const OF_HOME: [&str; 2] = [".ssh/known_hosts", ".ssh/known_hosts2"];

/// `ssh` of the contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawSsh {
    /// The socket of the agent. `None`: that of `SSH_AUTH_SOCK`.
    #[serde(default)]
    pub agent: Option<String>,
    /// Entries as of `network.allow`.
    pub hosts: Vec<String>,
    /// Fingerprints of the keys that may be used. `None`: all.
    #[serde(default)]
    pub keys: Option<Vec<String>>,
}

/// The ssh agent of a world.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorldSsh {
    /// The socket of the host's agent.
    pub agent: PathBuf,
    /// The hosts, each with its port. They may be reached.
    pub hosts: Vec<AllowEntry>,
    /// Lines for a `known_hosts`, each the pattern of a host and its key.
    pub host_keys: Vec<HostKey>,
    /// The file in which ssh finds these lines. `None`: the machine has no `/etc/ssh`.
    pub known_hosts: Option<PathBuf>,
    /// Fingerprints of the keys that may be used (`SHA256:…`). `None`: all.
    pub keys: Option<Vec<String>>,
}

/// A key of a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostKey {
    /// The host, as `known_hosts` have it: `name` or `[name]:port`.
    pub host: String,
    /// The kind and the base64 of the key.
    pub key: String,
}

impl WorldSsh {
    /// Returns the text of the file in which ssh finds the keys of the hosts.
    pub fn known_hosts_text(&self) -> String {
        self.host_keys.iter().map(|HostKey { host, key }| format!("{host} {key}\n")).collect()
    }
}

/// Returns the use of the agent that a caller gave.
///
/// # Errors
/// A [`PolicyError`] that names the option and the fault.
pub(crate) fn world_ssh(
    raw: &RawSsh,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<WorldSsh, PolicyError> {
    for (option, count) in
        [("confine.ssh.hosts", raw.hosts.len()), ("confine.ssh.keys", raw.keys.as_ref().map_or(0, Vec::len))]
    {
        if count > MOST {
            return Err(PolicyError::TooMany { option, count, most: MOST });
        }
    }
    let mut files: Vec<PathBuf> = homes.iter().flat_map(|home| OF_HOME.map(|name| home.join(name))).collect();
    files.extend(OF_SYSTEM.map(PathBuf::from));
    // A file that does not exist names no host.
    let known: Vec<_> = files.iter().filter_map(|file| host.read_text(file).ok()).collect();
    let known = KnownHostKeys::of(&known);
    let mut world = WorldSsh {
        agent: agent_socket(raw.agent.as_deref(), homes, host)?,
        hosts: Vec::new(),
        host_keys: Vec::new(),
        known_hosts: host.resolve(Path::new("/etc/ssh")).ok().map(|place| place.join("ssh_known_hosts")),
        keys: raw.keys.as_ref().map(|keys| keys.iter().map(|key| fingerprint(key)).collect()).transpose()?,
    };
    for text in &raw.hosts {
        let entry = host_entry(text)?;
        let keys = known.keys_of(&entry);
        if keys.is_empty() {
            return Err(PolicyError::invalid("confine.ssh.hosts", text, PolicyFault::NoHostKey));
        }
        world.host_keys.extend(keys);
        world.hosts.push(entry);
    }
    if world.hosts.is_empty() {
        return Err(PolicyError::invalid("confine.ssh.hosts", "", PolicyFault::Empty));
    }
    world.host_keys.sort();
    world.host_keys.dedup();
    Ok(world)
}

fn agent_socket(given: Option<&str>, homes: &[PathBuf], host: &impl PolicyEnvironment) -> Result<PathBuf, PolicyError> {
    let text = given.or_else(|| host.variable("SSH_AUTH_SOCK")).unwrap_or_default();
    let invalid = |fault| PolicyError::invalid("confine.ssh.agent", text, fault);
    if text.is_empty() {
        return Err(invalid(PolicyFault::NoAgent));
    }
    let named = expand_entry(text, homes).map_err(invalid)?;
    let found = named.iter().find_map(|path| host.resolve(path).ok());
    found.ok_or_else(|| invalid(PolicyFault::NoAgent))
}

fn fingerprint(text: &str) -> Result<String, PolicyError> {
    let parsed: Option<Fingerprint> = text.parse().ok();
    let known = parsed.filter(|print| print.is_sha256()).map(|print| print.to_string());
    known.ok_or_else(|| PolicyError::invalid("confine.ssh.keys", text, PolicyFault::NoFingerprint))
}

/// Returns a host with its port.
fn host_entry(text: &str) -> Result<AllowEntry, PolicyError> {
    let invalid = |fault| PolicyError::invalid("confine.ssh.hosts", text, fault);
    let entry: AllowEntry = text.parse().map_err(invalid)?;
    match entry.host {
        AllowHost::Net(address, prefix) if prefix != address_bits(address) => Err(invalid(PolicyFault::SshNetwork)),
        host if host.is_own_loopback() => Err(invalid(PolicyFault::OwnLoopback)),
        host => Ok(AllowEntry { host, port: Some(entry.port.unwrap_or(PORT)) }),
    }
}

/// The keys of hosts that a machine knows.
struct KnownHostKeys {
    /// Whose they are, whether they are revoked, and the key.
    entries: Vec<(HostPatterns, bool, String)>,
}

impl KnownHostKeys {
    /// Reads files. Lines that cannot be read, and keys of authorities, are left out.
    fn of(files: &[String]) -> Self {
        // One line of another kind must not hide the others.
        let lines = files.iter().flat_map(|text| text.lines()).flat_map(|line| KnownHosts::new(line).flatten());
        let entries = lines.filter(|line| line.marker() != Some(&Marker::CertAuthority)).filter_map(|line| {
            let key = PublicKey::from(line.public_key().key_data().clone()).to_openssh().ok()?;
            Some((line.host_patterns().clone(), line.marker().is_some(), key.trim().to_owned()))
        });
        Self { entries: entries.collect() }
    }

    /// Returns the keys of the hosts of an entry. Names that are hashed are found for a single host alone.
    fn keys_of(&self, entry: &AllowEntry) -> Vec<HostKey> {
        let port = entry.port.unwrap_or(PORT);
        let names: Vec<String> = match &entry.host {
            AllowHost::Name(name) => vec![name.clone()],
            AllowHost::Net(address, _) => vec![address.to_string()],
            AllowHost::Below(_) => {
                let named = self.entries.iter().filter_map(|(patterns, ..)| match patterns {
                    HostPatterns::Patterns(patterns) => Some(patterns),
                    HostPatterns::HashedName { .. } => None,
                });
                let bare = named.flatten().filter_map(|pattern| name_of_pattern(pattern, port));
                bare.filter(|name| entry.host.has_name(name)).collect()
            }
        };
        names.iter().flat_map(|name| self.keys_of_name(&written_with_port(name, port))).collect()
    }

    fn keys_of_name(&self, host: &str) -> Vec<HostKey> {
        let of_host = || self.entries.iter().filter(|(patterns, ..)| matches_patterns(patterns, host));
        let is_revoked = |key: &String| of_host().any(|(_, revoked, other)| *revoked && other == key);
        let keys = of_host().filter(|(_, _, key)| !is_revoked(key));
        keys.map(|(_, _, key)| HostKey { host: host.to_owned(), key: key.clone() }).collect()
    }
}

/// Returns a name as `known_hosts` have it.
fn written_with_port(name: &str, port: u16) -> String {
    if port == PORT { name.to_owned() } else { format!("[{name}]:{port}") }
}

/// Returns the name of a pattern without wildcards for this port.
fn name_of_pattern(pattern: &str, port: u16) -> Option<String> {
    let bare = match pattern.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        Some((name, of_port)) => (of_port == port.to_string()).then_some(name)?,
        None => (port == PORT).then_some(pattern)?,
    };
    (!bare.contains(['*', '?', '!'])).then(|| bare.to_ascii_lowercase())
}

/// Returns whether the patterns of a line name a host. See sshd(8), «SSH_KNOWN_HOSTS FILE FORMAT».
fn matches_patterns(patterns: &HostPatterns, host: &str) -> bool {
    match patterns {
        HostPatterns::HashedName { salt, hash } => {
            let mac = Hmac::<Sha1>::new_from_slice(salt).map(|mac| mac.chain_update(host));
            mac.is_ok_and(|mac| mac.verify_slice(hash).is_ok())
        }
        HostPatterns::Patterns(patterns) => {
            let matches = |pattern: &str| matches_glob(pattern.to_ascii_lowercase().as_bytes(), host.as_bytes());
            let excluded = patterns.iter().filter_map(|pattern| pattern.strip_prefix('!')).any(matches);
            !excluded && patterns.iter().any(|pattern| matches(pattern))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ED25519: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP56QaEq80KTp75gMVISnBzgUDVCiGtCu9GoFi/7c4n1";
    const OTHER: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOh+xiziPtuQmhqKSWq+jYNwV1qc0KEx7R6nsRcqtDI7";
    /// `git.example`, as `ssh-keygen -H` hashes it.
    const HASHED: &str = "|1|KxtEb1ot+mJLBP5dO5IjE2TUbQ4=|sKZd6QHNW30F7hORgRgJbLq0UOE=";

    fn hosts_with_key(known: &str, entry: &str) -> Vec<String> {
        let entry = host_entry(entry).expect("an entry");
        let keys = KnownHostKeys::of(&[known.to_owned()]).keys_of(&entry);
        keys.into_iter()
            .map(|HostKey { host, key }| format!("{host} {}", if key == ED25519 { "A" } else { "B" }))
            .collect()
    }

    #[test]
    fn keys_are_those_of_lines_that_name_the_host() {
        for (known, entry, expected) in [
            (format!("git.example {ED25519} me@here"), "git.example", vec!["git.example A"]),
            (format!("git.example {ED25519}"), "other.example", vec![]),
            (format!("git.example {ED25519}"), "git.example:2222", vec![]),
            (format!("[git.example]:2222 {ED25519}"), "git.example:2222", vec!["[git.example]:2222 A"]),
            (format!("[git.example]:2222 {ED25519}"), "*.example:2222", vec!["[git.example]:2222 A"]),
            (format!("*.example,!git.example {ED25519}"), "git.example", vec![]),
            (format!("*.example,!git.example {ED25519}"), "hg.example", vec!["hg.example A"]),
            (
                format!("Git.Example {ED25519}\n# text\n\nrubbish\ngit.example {OTHER}"),
                "git.example",
                vec!["git.example A", "git.example B"],
            ),
            (format!("git.example {ED25519}\n@revoked * {ED25519}"), "git.example", vec![]),
            (format!("@cert-authority *.example {ED25519}"), "git.example", vec![]),
            (format!("10.1.2.3 {ED25519}"), "10.1.2.3", vec!["10.1.2.3 A"]),
            (format!("{HASHED} {ED25519}"), "git.example", vec!["git.example A"]),
            (format!("{HASHED} {ED25519}"), "hg.example", vec![]),
        ] {
            assert_eq!(hosts_with_key(&known, entry), expected, "{known} {entry}");
        }
    }

    #[test]
    fn what_is_no_host_and_no_key_is_refused() {
        for text in ["10.0.0.0/8", "localhost", "127.0.0.1", "", "*", "https://git.example"] {
            host_entry(text).expect_err(text);
        }
        for text in ["", "SHA256:", "MD5:00:11", "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuF"] {
            fingerprint(text).expect_err(text);
        }
        fingerprint("SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU").expect("a fingerprint");
    }
}
