//! Rulesets of Landlock.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use super::mounts::{done, new_fd};
use crate::{FileRight, LandlockRestrictions};

/// Asks for the version of the interface in place of a ruleset (`LANDLOCK_CREATE_RULESET_VERSION`).
const VERSION: u32 = 1;
const RULE_PATH_BENEATH: u32 = 1;

/// Rights on files, in the order of their bits.
mod right {
    pub const EXECUTE: u64 = 1;
    pub const WRITE_FILE: u64 = 1 << 1;
    pub const READ_FILE: u64 = 1 << 2;
    pub const READ_DIR: u64 = 1 << 3;
    pub const TRUNCATE: u64 = 1 << 14;
    pub const IOCTL_DEV: u64 = 1 << 15;
}

/// Number of rights on files that the versions of the interface know, from version 0 on.
const KNOWN: [u32; 6] = [0, 13, 14, 15, 15, 16];
/// The first version that restricts TCP, and the first that restricts abstract sockets and signals.
const WITH_TCP: u32 = 4;
const WITH_SCOPES: u32 = 6;
/// Binding and connecting.
const TCP: u64 = 3;
const SCOPE_ABSTRACT: u64 = 1;
const SCOPE_SIGNAL: u64 = 2;

/// The argument of landlock_create_ruleset (`struct landlock_ruleset_attr`).
#[repr(C)]
struct LandlockRulesetAttr {
    files: u64,
    network: u64,
    scopes: u64,
}

/// The argument of landlock_add_rule (`struct landlock_path_beneath_attr`).
#[repr(C, packed)]
struct LandlockPathBeneathAttr {
    rights: u64,
    directory: RawFd,
}

/// A ruleset that grants nothing until rules are added.
#[derive(Debug)]
pub struct LandlockRuleset {
    fd: OwnedFd,
    known: u64,
}

/// Returns the version of the interface, 0 without Landlock.
pub fn landlock_version() -> u32 {
    let none = std::ptr::null::<libc::c_void>();
    // SAFETY: with this flag the kernel reads no structure and makes no ruleset.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, VERSION) };
    u32::try_from(version).unwrap_or(0)
}

/// Returns whether a ruleset can refuse TCP.
pub fn landlock_bounds_tcp() -> bool {
    landlock_version() >= WITH_TCP
}

impl LandlockRuleset {
    /// Creates a ruleset that restricts everything with files that this kernel can restrict. What else it cannot is
    /// left out.
    ///
    /// # Errors
    /// Without Landlock.
    pub fn new(with: LandlockRestrictions) -> io::Result<Self> {
        let version = landlock_version();
        let count = KNOWN.get(version as usize).copied().unwrap_or(KNOWN[KNOWN.len() - 1]);
        if count == 0 {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        let reads = right::EXECUTE | right::READ_FILE | right::READ_DIR;
        let known = ((1 << count) - 1) & if with.reads { u64::MAX } else { !reads };
        let network = if with.tcp && version >= WITH_TCP { TCP } else { 0 };
        let scope = |wanted: bool, bit: u64| if wanted && version >= WITH_SCOPES { bit } else { 0 };
        let scopes = scope(with.abstract_sockets, SCOPE_ABSTRACT) | scope(with.signals, SCOPE_SIGNAL);
        let handled = LandlockRulesetAttr { files: known, network, scopes };
        // An older kernel accepts trailing zeroes only.
        let (handled, size): (*const LandlockRulesetAttr, _) = (&raw const handled, size_of::<LandlockRulesetAttr>());
        // SAFETY: the structure has the given size.
        let fd = new_fd(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, handled, size, 0) })?;
        Ok(Self { fd, known })
    }

    /// Adds rules to a ruleset that has some.
    pub fn from_fd(fd: OwnedFd) -> Self {
        let count = KNOWN.get(landlock_version() as usize).copied().unwrap_or(KNOWN[KNOWN.len() - 1]);
        Self { fd, known: (1 << count) - 1 }
    }

    /// Grants a right at and below an open file or directory.
    pub fn grant(&self, path: &impl AsFd, what: FileRight, is_directory: bool) -> io::Result<()> {
        let rights = match what {
            FileRight::List => right::READ_DIR,
            FileRight::Read => right::EXECUTE | right::READ_FILE | right::READ_DIR,
            FileRight::Change => u64::MAX,
            FileRight::Use => {
                right::READ_FILE | right::WRITE_FILE | right::TRUNCATE | right::IOCTL_DEV | right::READ_DIR
            }
        };
        let on_files = right::EXECUTE | right::WRITE_FILE | right::READ_FILE | right::TRUNCATE | right::IOCTL_DEV;
        let rights = rights & self.known & if is_directory { u64::MAX } else { on_files };
        let rule = LandlockPathBeneathAttr { rights, directory: path.as_fd().as_raw_fd() };
        let (fd, rule): (_, *const LandlockPathBeneathAttr) = (self.fd.as_raw_fd(), &raw const rule);
        // SAFETY: the structure fits this kind of rule.
        done(unsafe { libc::syscall(libc::SYS_landlock_add_rule, fd, RULE_PATH_BENEATH, rule, 0) })
    }

    /// Returns the descriptor by which a process restricts itself.
    pub fn into_fd(self) -> OwnedFd {
        self.fd
    }
}
