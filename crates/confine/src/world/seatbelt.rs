//! The profiles of Seatbelt for the commands of a world on macOS.

use std::ffi::CString;
use std::io;

use super::git::Grants;
use super::private::Private;
use super::targets::{Protected, Targets};
use crate::Policy;
use crate::seatbelt::{Places, profile};

/// The facts that the profiles of a world are made of.
#[derive(Debug)]
pub struct Seatbelt {
    policy: Policy,
    targets: Targets,
    /// Private files, locked as long as the supervisor or a shim has them, and left over afterwards.
    private: Option<Private>,
}

impl Seatbelt {
    /// Returns profiles with these private files.
    pub(super) fn new(policy: &Policy, private: Option<Private>) -> Self {
        Self { policy: policy.clone(), targets: Targets::of(policy, Grants::default(), false), private }
    }

    /// Returns the profile for a command that starts now, after a scan for new repositories.
    ///
    /// # Errors
    /// If no profile can name a path.
    pub fn profile(&mut self) -> io::Result<CString> {
        let Protected { protected, pinned } = self.targets.protected();
        let places = Places { tmp: self.private.as_ref().map(Private::tmp), protected, pinned };
        profile(&self.policy, &places)
    }
}
