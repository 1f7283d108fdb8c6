//! The profiles of Seatbelt for the commands of a world on macOS.

use std::ffi::CString;
use std::io;

use super::git::GitDirectoryGrants;
use super::private_directory::PrivateDirectory;
use super::protection_targets::{ProtectedPaths, ProtectionTargets};
use crate::{seatbelt::SeatbeltPaths, seatbelt::profile_of_policy};
use confine_policy::ConfinementPolicy;

/// The facts that the profiles of a world are made of.
#[derive(Debug)]
pub struct SeatbeltProfileSource {
    policy: ConfinementPolicy,
    targets: ProtectionTargets,
    /// Private files, locked as long as the supervisor or a shim has them, and left over afterwards.
    private: Option<PrivateDirectory>,
}

impl SeatbeltProfileSource {
    /// Returns profiles with these private files.
    pub(super) fn new(policy: &ConfinementPolicy, private: Option<PrivateDirectory>) -> Self {
        Self {
            policy: policy.clone(),
            targets: ProtectionTargets::of(policy, GitDirectoryGrants::default(), false),
            private,
        }
    }

    /// Returns the profile for a command that starts now, after a scan for new repositories.
    ///
    /// # Errors
    /// If no profile can name a path.
    pub fn profile(&mut self) -> io::Result<CString> {
        let ProtectedPaths { protected, pinned } = self.targets.protected_paths();
        let places = SeatbeltPaths { tmp: self.private.as_ref().map(PrivateDirectory::tmp), protected, pinned };
        profile_of_policy(&self.policy, &places)
    }
}
