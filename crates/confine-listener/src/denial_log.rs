//! The record of refused calls.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use confine_gate::{ConnectionAttempt, is_resolver};
use confine_policy::{
    CacheAccess, CommandDenials, ConfinementPolicy, DenialKind, NetworkScope, SuggestedGrant, TmpPlacement,
};

/// The most connections that are kept for the gate.
const ATTEMPTS: usize = 64;
/// Private directories for temporary files.
const PRIVATE: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// The paths of a policy.
pub(super) struct PolicyPaths {
    /// Paths below which files may be changed.
    writable: Vec<PathBuf>,
    /// Paths below which sockets may be reached.
    sockets: Vec<PathBuf>,
    /// Paths below which files of the host may be changed, apart from kernel files.
    host: Vec<PathBuf>,
    /// Those of them whose changes go elsewhere.
    drafted: Vec<PathBuf>,
    hidden: Vec<PathBuf>,
    /// Directories of the world alone, which lie below a hidden one.
    own: Vec<PathBuf>,
}

impl PolicyPaths {
    /// Returns the paths of a policy. `mounts`: whether the world has its own mounts. Otherwise nothing is private.
    pub fn of(policy: &ConfinementPolicy, mounts: bool) -> Self {
        let private = if mounts && policy.tmp == TmpPlacement::Private { &PRIVATE[..] } else { &[] };
        let sockets: Vec<PathBuf> = policy.write.iter().cloned().chain(private.iter().map(PathBuf::from)).collect();
        let has_caches = policy.caches.0 == CacheAccess::Shared || (mounts && policy.caches.0 == CacheAccess::Overlay);
        let caches = if has_caches { &policy.caches.1 } else { &[][..] };
        let others = ["/dev", "/proc"].into_iter().chain(PRIVATE).map(PathBuf::from);
        let shared = policy.caches.0 == CacheAccess::Shared;
        let shared_caches = if shared { &policy.caches.1 } else { &[][..] };
        let public = if private.is_empty() { &PRIVATE[..] } else { &[] };
        let host = policy.write.iter().chain(shared_caches).cloned().chain(public.iter().map(PathBuf::from)).collect();
        let writable = policy.write.iter().chain(caches).cloned().chain(others).collect();
        let drafted = policy.drafted().iter().map(|drafted| drafted.base.clone()).collect();
        Self { writable, sockets, host, drafted, hidden: policy.hide.clone(), own: Vec::new() }
    }

    /// Adds private directories, in which files may be changed and sockets reached.
    pub fn add<'a>(&mut self, directories: impl Iterator<Item = &'a Path>) {
        for directory in directories {
            self.writable.push(directory.to_owned());
            self.own.push(directory.to_owned());
        }
    }

    /// Returns whether a path, by its text, may be changed.
    pub fn may_change(&self, path: &Path) -> bool {
        is_below_any(&self.writable, path)
    }

    /// Returns the paths below which a change of a file changes it for the host, by all its names. A draft changes
    /// copies.
    pub fn host_roots(&self) -> impl Iterator<Item = &PathBuf> {
        self.host.iter().filter(|root| !self.drafted.contains(root))
    }

    /// Returns whether changes at a path, by its text, go elsewhere.
    pub fn is_drafted(&self, path: &Path) -> bool {
        is_below_any(&self.drafted, path)
    }

    /// Returns whether a path, by its text, may belong to the host and may be changed.
    pub fn is_of_host(&self, path: &Path) -> bool {
        is_below_any(&self.host, path)
    }

    /// Returns whether the socket at a path may be reached.
    pub fn may_reach(&self, path: &Path) -> bool {
        is_below_any(&self.own, path) || (is_below_any(&self.sockets, path) && !is_below_any(&self.hidden, path))
    }

    /// Returns the smallest grant that allows a change.
    pub fn grant_for_change(&self, path: &Path, exists: bool) -> Option<SuggestedGrant> {
        if is_below_any(&self.hidden, path) || self.may_change(path) {
            return None;
        }
        let granted = if exists { path } else { path.parent().unwrap_or(path) };
        Some(SuggestedGrant::Write(granted.to_string_lossy().into_owned()))
    }
}

fn is_below_any(roots: &[PathBuf], path: &Path) -> bool {
    roots.iter().any(|root| path.starts_with(root))
}

/// The refused calls and the connection attempts of one command.
#[derive(Default)]
pub(super) struct DenialLog {
    pub denials: CommandDenials,
    pub attempts: Vec<ConnectionAttempt>,
}

impl DenialLog {
    /// Returns a number that grows with each entry.
    pub fn entry_count(&self) -> u64 {
        self.denials.total + self.attempts.len() as u64
    }

    /// Counts a refused change.
    pub fn write(&mut self, path: &Path, program: &str, grant: Option<SuggestedGrant>) {
        self.denials.add(DenialKind::Write, &path.to_string_lossy(), program, grant);
    }

    /// Records a connection that leads out of the world. If a gate decides, the gate counts refused connections.
    pub fn record_connection(&mut self, network: &NetworkScope, gate: bool, address: SocketAddr, program: &str) {
        if gate && is_resolver(address) {
            return;
        }
        if gate && *network != NetworkScope::None {
            let attempt = ConnectionAttempt { address, program: program.to_owned() };
            if self.attempts.len() < ATTEMPTS && !self.attempts.contains(&attempt) {
                self.attempts.push(attempt);
            }
        } else if *network == NetworkScope::None {
            let grant = SuggestedGrant::Host(address.to_string());
            self.denials.add(DenialKind::Network, &address.to_string(), program, Some(grant));
        }
    }

    /// Counts datagrams that lead out of a world with a gate, which does not see them. No grant allows datagrams.
    pub fn record_datagrams(&mut self, network: &NetworkScope, address: SocketAddr, program: &str) {
        if *network != NetworkScope::None && !is_resolver(address) {
            self.denials.add(DenialKind::Network, &format!("{address}/udp"), program, None);
        }
    }
}
