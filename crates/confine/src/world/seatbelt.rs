//! The profiles of Seatbelt for the commands of a world on macOS.

use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};

use super::git::Grants;
use super::private::Private;
use super::targets::Targets;
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
        self.targets.repositories.update();
        while self.targets.repositories.is_behind() {
            self.targets.repositories.proceed();
        }
        let mut places = Places { tmp: self.private.as_ref().map(Private::tmp), ..Places::default() };
        for target in self.targets.all() {
            protect(&target, &self.targets.roots, &mut places);
            // The link leads elsewhere, perhaps to a writable place.
            if let Ok(aim) = target.canonicalize()
                && aim != target
            {
                protect(&aim, &self.targets.roots, &mut places);
            }
        }
        profile(&self.policy, &places)
    }
}

/// Protects a path in a write root, and pins the directories above it. A directory above that is missing or a link is
/// protected instead, because a directory with the rest of the path in it could take its place.
fn protect(target: &Path, roots: &[PathBuf], places: &mut Places) {
    let Some(root) = roots.iter().find(|root| target.starts_with(root)) else { return };
    let above: Vec<_> = target.ancestors().skip(1).take_while(|path| path != root).collect();
    for directory in above.into_iter().rev() {
        if !directory.symlink_metadata().is_ok_and(|data| data.is_dir()) {
            places.protected.insert(directory.to_owned());
            return;
        }
        places.pinned.insert(directory.to_owned());
    }
    places.protected.insert(target.to_owned());
}
