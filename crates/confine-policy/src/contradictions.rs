//! Options that contradict each other, such as a path that is both writable and hidden, or protected.

use std::io;
use std::path::{Path, PathBuf};

use super::confinement_policy::{CacheAccess, ConfinementPolicy, PolicyProfile, ReadScope, TmpPlacement};
use super::defaults::SYSTEM;
use super::option_paths::{ListedPath, is_within, without_dots};
use super::policy_environment::PolicyEnvironment;
use super::policy_error::{PolicyError, PolicyFault};

/// Directories of the kernel. They contain no files of the user.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Directories of temporary files.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

impl ConfinementPolicy {
    /// Returns whether commands may change or create a file at this resolved path. Protected paths count, too, because
    /// they can be reached through the files beside them.
    pub fn permits_change(&self, path: &Path) -> bool {
        self.changeable_roots().any(|root| is_within(path, root))
    }

    /// Returns the paths below which commands may change files.
    pub fn changeable_roots(&self) -> impl Iterator<Item = &Path> {
        let caches = self.caches.1.iter().filter(|_| self.caches.0 == CacheAccess::Shared);
        let shared = TEMPORARY.iter().map(Path::new).filter(|_| self.tmp == TmpPlacement::Shared);
        self.write.iter().chain(caches).map(PathBuf::as_path).chain(shared)
    }

    /// Returns whether commands can read a file at this resolved path.
    pub fn permits_read(&self, path: &Path) -> bool {
        let lies_in = |places: &[PathBuf]| places.iter().any(|place| is_within(path, place));
        if lies_in(&self.hide) {
            return false;
        }
        match &self.read {
            ReadScope::All => lies_in(&self.write) || is_within(path, &self.root) || !self.is_under_private_tmp(path),
            ReadScope::Only(read) => {
                let is_system = SYSTEM.iter().any(|place| is_within(path, Path::new(place)));
                lies_in(&self.write) || lies_in(read) || is_system && !self.is_under_private_tmp(path)
            }
        }
    }

    /// Returns whether this path lies in a place that a private directory for temporary files covers.
    pub fn is_under_private_tmp(&self, path: &Path) -> bool {
        self.tmp == TmpPlacement::Private && TEMPORARY.iter().any(|place| path.starts_with(place))
    }
}

/// The directory of the owner.
pub struct OwnerDirectory {
    /// The resolved path.
    pub path: PathBuf,
    /// The path before links were resolved.
    pub named: PathBuf,
}

impl OwnerDirectory {
    /// Resolves the directory of the owner.
    ///
    /// # Errors
    /// [`PolicyError::RootNotFound`], [`PolicyError::RootNotDirectory`]
    pub fn of(named: &Path, host: &impl PolicyEnvironment) -> Result<Self, PolicyError> {
        match host.resolve(named) {
            Ok(path) if host.is_directory(&path) => Ok(Self { path, named: without_dots(named) }),
            Ok(_) => Err(PolicyError::RootNotDirectory(named.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                Err(PolicyError::RootNotDirectory(named.to_owned()))
            }
            Err(_) => Err(PolicyError::RootNotFound(named.to_owned())),
        }
    }
}

/// A path that commands may change, with the option that names it.
struct WritablePath<'a> {
    option: &'static str,
    text: String,
    path: &'a Path,
    named: &'a Path,
}

impl WritablePath<'_> {
    fn fault(&self, fault: PolicyFault) -> PolicyError {
        PolicyError::invalid(self.option, &self.text, fault)
    }
}

/// Checks the paths of a policy against each other, and against the write roots of other policies. `write` and `hidden`
/// are the entries that it was made from.
///
/// # Errors
/// The first contradiction.
pub fn check_contradictions(
    policy: &ConfinementPolicy,
    root: &OwnerDirectory,
    (write, hidden): (&[ListedPath], &[ListedPath]),
    others: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<(), PolicyError> {
    root_is_visible(policy, root, hidden)?;
    let mut writable: Vec<WritablePath<'_>> = write
        .iter()
        .map(|entry| WritablePath {
            option: "confine.write",
            text: entry.text.clone().unwrap_or_default(),
            path: &entry.path,
            named: &entry.named,
        })
        .collect();
    if policy.profile == PolicyProfile::Workspace {
        let text = root.named.to_string_lossy().into_owned();
        writable.push(WritablePath { option: "cwd", text, path: &root.path, named: &root.named });
    }
    for one in &writable {
        can_be_written(one)?;
        if let Some(hidden) = policy.hide.iter().find(|hidden| is_within(one.path, hidden)) {
            return Err(one.fault(PolicyFault::Hidden(hidden.clone())));
        }
        leads_not_out(one, &writable)?;
        leads_not_out_of(others, one, host)?;
        is_not_protected(one, policy, host)?;
    }
    if let ReadScope::Only(read) = &policy.read {
        for path in read {
            if let Some(hidden) = policy.hide.iter().find(|hidden| is_within(path, hidden)) {
                return Err(PolicyError::invalid(
                    "confine.read",
                    path.to_string_lossy(),
                    PolicyFault::Hidden(hidden.clone()),
                ));
            }
        }
    }
    Ok(())
}

/// Fails unless commands can enter the directory in which they start.
fn root_is_visible(
    policy: &ConfinementPolicy,
    root: &OwnerDirectory,
    hidden: &[ListedPath],
) -> Result<(), PolicyError> {
    if let Some(entry) = hidden.iter().find(|entry| is_within(&root.path, &entry.path)) {
        return Err(match &entry.text {
            Some(text) => PolicyError::invalid("confine.hide", text, PolicyFault::HidesRoot(root.path.clone())),
            None => PolicyError::invalid("cwd", root.named.to_string_lossy(), PolicyFault::Hidden(entry.path.clone())),
        });
    }
    if let ReadScope::Only(read) = &policy.read {
        // The directories above a readable directory can be entered, too.
        let seen = |path: &Path| is_within(&root.path, path) || is_within(path, &root.path);
        let system = SYSTEM.iter().any(|path| seen(Path::new(path)));
        if !system && !read.iter().chain(&policy.write).any(|path| seen(path)) {
            return Err(PolicyError::invalid("cwd", root.named.to_string_lossy(), PolicyFault::RootUnread));
        }
    }
    Ok(())
}

fn can_be_written(one: &WritablePath<'_>) -> Result<(), PolicyError> {
    let kernel =
        KERNEL.iter().any(|path| is_within(one.path, Path::new(path))) && !is_within(one.path, Path::new("/dev/shm"));
    let all = one.path.parent().is_none();
    match one.option {
        "cwd" if kernel || all => Err(one.fault(PolicyFault::Workspace)),
        _ if all => Err(one.fault(PolicyFault::System)),
        _ if kernel => Err(one.fault(PolicyFault::Kernel)),
        _ => Ok(()),
    }
}

/// Fails if the path is a link in a write root. A command could replace such a link, and it would then lead the next
/// command anywhere.
fn leads_not_out(one: &WritablePath<'_>, all: &[WritablePath<'_>]) -> Result<(), PolicyError> {
    let around = all.iter().find(|other| {
        let inside = [other.named, other.path].into_iter().any(|path| one.named != path && is_within(one.named, path));
        inside && !is_within(one.path, other.path)
    });
    match around {
        None => Ok(()),
        Some(other) => {
            let fault = PolicyFault::LinkOut { target: one.path.to_owned(), inside: other.path.to_owned() };
            Err(one.fault(fault))
        }
    }
}

/// Like [`leads_not_out`], for links in the write roots of other policies: a command of another world may have made
/// them.
fn leads_not_out_of(
    others: &[PathBuf],
    one: &WritablePath<'_>,
    host: &impl PolicyEnvironment,
) -> Result<(), PolicyError> {
    let outside: Vec<_> = others.iter().filter(|other| !is_within(one.path, other)).collect();
    if outside.is_empty() {
        return Ok(());
    }
    // Each step is the place of a name on the way.
    for step in one.named.ancestors() {
        let Some((above, name)) = step.parent().zip(step.file_name()) else { continue };
        let Ok(place) = host.resolve(above).map(|above| above.join(name)) else { continue };
        if let Some(other) = outside.iter().find(|other| is_within(&place, other) && place != ***other) {
            let fault = PolicyFault::LinkOut { target: one.path.to_owned(), inside: other.to_path_buf() };
            return Err(one.fault(fault));
        }
    }
    Ok(())
}

/// Fails if the path is protected. Names are protected below the write root itself and below each repository in it.
fn is_not_protected(
    one: &WritablePath<'_>,
    policy: &ConfinementPolicy,
    host: &impl PolicyEnvironment,
) -> Result<(), PolicyError> {
    let protected = |name: &Path| Err(one.fault(PolicyFault::Protected(name.to_string_lossy().into_owned())));
    if let Some(path) = policy.protect.iter().find(|path| path.is_absolute() && is_within(one.path, path)) {
        return protected(path);
    }
    let outer = policy.write.iter().filter(|outer| is_within(one.path, outer));
    for outer in outer {
        let above = one.path.ancestors().skip(1).take_while(|directory| is_within(directory, outer));
        let bases = above.filter(|base| base == outer || host.resolve(&base.join(".git")).is_ok());
        for base in bases {
            let names = policy.protect.iter().filter(|name| !name.is_absolute());
            if let Some(name) = names.into_iter().find(|name| is_within(one.path, &base.join(name))) {
                return protected(name);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_shows_what_its_commands_can_read() {
        let all = ConfinementPolicy {
            hide: vec!["/home/ann/.ssh".into()],
            ..ConfinementPolicy::sample(Path::new("/tmp/app"))
        };
        let only = ConfinementPolicy { read: ReadScope::Only(vec!["/opt".into()]), ..all.clone() };
        // Each row: the path, and whether it is shown if all files may be read, or only some.
        for (path, of_all, of_some) in [
            ("/usr/bin/ls", true, true),
            ("/home/ann/.local/bin/x", true, false),
            ("/home/ann/.ssh/x", false, false),
            ("/tmp/app/bin/x", true, true),
            ("/tmp/other/x", false, false),
            ("/opt/x", true, true),
            ("/optional/x", true, false),
        ] {
            let shown = [&all, &only].map(|policy| policy.permits_read(Path::new(path)));
            assert_eq!(shown, [of_all, of_some], "{path}");
        }
        let shared = ConfinementPolicy { tmp: TmpPlacement::Shared, ..all };
        assert!(shared.permits_read(Path::new("/tmp/other/x")));
    }
}
