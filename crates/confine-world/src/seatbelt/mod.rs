//! Profiles of Seatbelt, the sandbox of macOS, as text. Pure, so that they can be tested everywhere.
//!
//! A profile denies everything by default. The last rule that matches an operation counts, so the order is: the base,
//! reading, writing, protected paths, hidden paths, the network. Paths have no symbolic links in them, because Seatbelt
//! judges the file that a path leads to.

mod text;

use std::collections::BTreeSet;
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use confine_policy::{AllowEntry, CacheAccess, ConfinementPolicy, NetworkScope, ReadScope, SYSTEM, TmpPlacement};
use text::{SeatbeltPathFilter, SeatbeltProfile};

/// Paths of this host that a profile needs besides its policy.
#[derive(Debug, Default)]
pub struct SeatbeltPaths {
    /// Paths that must not be changed or created, with everything below them.
    pub protected: BTreeSet<PathBuf>,
    /// Directories that must not be renamed or removed.
    pub pinned: BTreeSet<PathBuf>,
    /// The directory for temporary files.
    pub tmp: Option<PathBuf>,
}

/// The ports of an entry without one.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// Operations without which no program runs, and operations that stay inside the sandbox.
const BASE: &str = r#"(allow process-exec process-fork)
(allow signal process-info* mach-priv-task-port (target same-sandbox))
(allow sysctl-read user-preference-read file-map-executable pseudo-tty)
(allow ipc-posix-sem ipc-posix-shm*)
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.logd")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership")
  (global-name "com.apple.PowerManagement.control"))
"#;

/// Devices. A `/dev/ttys…` terminal needs an extension, which the sandbox's own terminals have.
const DEVICES: &str = r#"(allow file-read* file-write* file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom")
  (literal "/dev/tty") (literal "/dev/ptmx") (literal "/dev/dtracehelper")
  (subpath "/dev/fd")
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
"#;

/// The rules for the services that the resolver and TLS of macOS use, if any host may be reached.
const NETWORK: &str = r#"(allow system-socket)
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup
  (global-name "com.apple.dnssd.service")
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.trustd.agent"))
"#;

/// Directories of macOS that can be read besides [`SYSTEM`].
const SYSTEM_OF_MACOS: [&str; 4] =
    ["/Applications/Xcode.app", "/private/var/db/timezone", "/private/var/db/dyld", "/private/var/select"];

/// The directories for temporary files of all users.
const TMP: [&str; 3] = ["/private/tmp", "/private/var/tmp", "/private/var/folders"];

/// Returns the profile of a policy.
///
/// # Errors
/// `InvalidInput` for a path that a profile cannot contain.
pub fn profile_of_policy(policy: &ConfinementPolicy, places: &SeatbeltPaths) -> io::Result<CString> {
    let mut profile = SeatbeltProfile::new();
    profile.add(BASE);
    add_reading(&mut profile, policy, places)?;
    profile.add(DEVICES);
    let changed = changeable_paths(policy, places);
    profile.rule("allow file-read* file-write*", SeatbeltPathFilter::Below, changed.iter().copied())?;
    profile.rule("deny file-write-unlink", SeatbeltPathFilter::Exactly, write_roots(policy))?;
    profile.rule("deny file-write-unlink", SeatbeltPathFilter::Exactly, places.pinned.iter().map(PathBuf::as_path))?;
    profile.rule("deny file-write*", SeatbeltPathFilter::Below, places.protected.iter().map(PathBuf::as_path))?;
    profile.rule("deny file-read* file-write*", SeatbeltPathFilter::Below, policy.hide.iter().map(PathBuf::as_path))?;
    profile.rule("allow file-read* file-write*", SeatbeltPathFilter::Below, places.tmp.as_deref())?;
    add_network(&mut profile, policy, &changed)?;
    profile.finish()
}

fn write_roots(policy: &ConfinementPolicy) -> impl Iterator<Item = &Path> {
    policy.write.iter().map(PathBuf::as_path)
}

/// Returns the paths that may be changed.
fn changeable_paths<'a>(policy: &'a ConfinementPolicy, places: &'a SeatbeltPaths) -> Vec<&'a Path> {
    let shared = if policy.tmp == TmpPlacement::Shared { TMP.as_slice() } else { &[] };
    let caches = if policy.caches.0 == CacheAccess::Shared { policy.caches.1.as_slice() } else { &[] };
    write_roots(policy)
        .chain(caches.iter().map(PathBuf::as_path))
        .chain(shared.iter().map(Path::new))
        .chain(places.tmp.as_deref())
        .collect()
}

fn add_reading(profile: &mut SeatbeltProfile, policy: &ConfinementPolicy, places: &SeatbeltPaths) -> io::Result<()> {
    let ReadScope::Only(readable) = &policy.read else {
        profile.add("(allow file-read*)\n");
        return Ok(());
    };
    let system = SYSTEM.iter().chain(&SYSTEM_OF_MACOS).map(Path::new);
    let readable: Vec<_> = readable.iter().map(PathBuf::as_path).chain(system).collect();
    profile.rule("allow file-read*", SeatbeltPathFilter::Below, readable.iter().copied())?;
    // Programs read the attributes of each directory on the way.
    let all = readable.iter().copied().chain(changeable_paths(policy, places));
    let above: BTreeSet<_> = all.flat_map(|path| path.ancestors().skip(1)).collect();
    profile.rule("allow file-read-metadata", SeatbeltPathFilter::Exactly, above)?;
    profile.rule("allow file-read*", SeatbeltPathFilter::Exactly, [Path::new("/")])
}

fn add_network(profile: &mut SeatbeltProfile, policy: &ConfinementPolicy, changed: &[&Path]) -> io::Result<()> {
    profile.rule(
        "allow network-bind network-inbound",
        SeatbeltPathFilter::LocalSocketBelow,
        changed.iter().copied(),
    )?;
    profile.rule("allow network-outbound", SeatbeltPathFilter::RemoteSocketBelow, changed.iter().copied())?;
    for port in &policy.expose {
        profile.add(&format!("(allow network-bind network-inbound (local tcp \"localhost:{port}\"))\n"));
        profile.add(&format!("(allow network-outbound (remote tcp \"localhost:{port}\"))\n"));
    }
    match &policy.network {
        NetworkScope::None => {}
        NetworkScope::Full => {
            profile.add(NETWORK);
            profile.add("(allow network*)\n");
        }
        NetworkScope::Allow { entries, .. } => {
            profile.add(NETWORK);
            for port in distinct_ports(entries) {
                profile.add(&format!("(allow network-outbound (remote tcp \"*:{port}\"))\n"));
            }
        }
    }
    Ok(())
}

/// Returns the ports of these entries, each once.
fn distinct_ports(entries: &[AllowEntry]) -> BTreeSet<u16> {
    let each = |entry: &AllowEntry| entry.port.map_or(DEFAULT_PORTS.to_vec(), |port| vec![port]);
    entries.iter().flat_map(each).collect()
}

#[cfg(test)]
mod tests;
