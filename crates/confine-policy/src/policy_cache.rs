//! Policies of earlier commands. Links are resolved once for each owner, so a command cannot change what the next
//! command may reach.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use super::confinement_policy::OwnedPolicy;
use super::make::policy_beside;
use super::policy_environment::PolicyEnvironment;
use super::policy_error::PolicyError;
use super::raw::RawConfine;
use super::secrets::{forget_values, keep_values};

/// The most policies that are kept.
const MOST: usize = 1024;

/// The inputs of a policy besides the state of the file system.
#[derive(Clone, PartialEq, Eq, Hash)]
struct PolicyCacheKey {
    owner: u64,
    root: PathBuf,
    home: Option<String>,
    raw: RawConfine,
}

static KNOWN: LazyLock<Mutex<HashMap<PolicyCacheKey, Arc<OwnedPolicy>>>> = LazyLock::new(Mutex::default);

fn lock_cache() -> MutexGuard<'static, HashMap<PolicyCacheKey, Arc<OwnedPolicy>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the confinement of a command: the confinement of an earlier command with these options and this owner, or a
/// new one.
///
/// # Errors
/// As [`policy_beside`].
pub fn policy_for_owner(
    raw: RawConfine,
    owner: u64,
    root: &Path,
    host: &impl PolicyEnvironment,
) -> Result<Arc<OwnedPolicy>, PolicyError> {
    let home = host.variable("HOME").map(str::to_owned);
    let key = PolicyCacheKey { owner, root: root.to_owned(), home, raw };
    if let Some(made) = lock_cache().get(&key) {
        // A function may have returned another value since.
        keep_values(owner, &made.policy.secrets.rules, &key.raw.secrets);
        return Ok(Arc::clone(made));
    }
    let mut others: Vec<PathBuf> = lock_cache().values().flat_map(|made| made.policy.write.iter().cloned()).collect();
    others.sort_unstable();
    others.dedup();
    let made = Arc::new(OwnedPolicy { policy: policy_beside(&others, &key.raw, root, host)?, owner });
    keep_values(owner, &made.policy.secrets.rules, &key.raw.secrets);
    let mut known = lock_cache();
    if known.len() >= MOST
        && let Some(any) = known.keys().find(|key| key.owner == 0).or_else(|| known.keys().next()).cloned()
    {
        known.remove(&any);
    }
    Ok(Arc::clone(known.entry(key).or_insert(made)))
}

/// Forgets the policies of an owner that has ended.
pub fn forget_owner(owner: u64) {
    lock_cache().retain(|key, _| key.owner != owner);
    forget_values(owner);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::RealHost;

    #[test]
    fn what_a_link_means_is_decided_once_for_each_owner() {
        let directory = tempfile::tempdir().expect("a directory");
        let base = directory.path().canonicalize().expect("it exists");
        for name in ["root", "one", "two"] {
            std::fs::create_dir(base.join(name)).expect("created");
        }
        let (link, host) = (base.join("link"), RealHost { environment: "HOME=/none\0" });
        let raw = RawConfine { write: vec![link.to_string_lossy().into_owned()], ..RawConfine::default() };
        let write = |owner| {
            let made = policy_for_owner(raw.clone(), owner, &base.join("root"), &host).expect("valid");
            assert_eq!(made.owner, owner);
            made.policy.write.clone()
        };
        symlink(base.join("one"), &link).expect("linked");
        let first = write(u64::MAX);
        assert_eq!(first, [base.join("one"), base.join("root")]);
        std::fs::remove_file(&link).expect("removed");
        symlink(base.join("two"), &link).expect("linked");
        assert_eq!(write(u64::MAX), first);
        assert_eq!(write(u64::MAX - 1), [base.join("root"), base.join("two")]);
        forget_owner(u64::MAX);
        assert_eq!(write(u64::MAX), [base.join("root"), base.join("two")]);
        forget_owner(u64::MAX);
        forget_owner(u64::MAX - 1);
    }

    #[test]
    fn a_link_that_a_command_of_another_world_may_have_made_leads_nowhere() {
        const OWNER: u64 = u64::MAX - 7;
        let directory = tempfile::tempdir().expect("a directory");
        let base = directory.path().canonicalize().expect("it exists");
        for name in ["work/plain", "elsewhere/below"] {
            std::fs::create_dir_all(base.join(name)).expect("created");
        }
        for (link, to) in [("work/out", "elsewhere"), ("work/in", "work/plain"), ("entry", "work")] {
            symlink(base.join(to), base.join(link)).expect("linked");
        }
        let host = RealHost { environment: "HOME=/none\0" };
        let made = |root: &str, write: Vec<String>| {
            policy_for_owner(RawConfine { write, ..RawConfine::default() }, OWNER, &base.join(root), &host).map(|_| ())
        };
        made("work", Vec::new()).expect("valid");
        for inside in ["work/plain", "work/in", "entry", "entry/in", "elsewhere/below"] {
            made(inside, Vec::new()).expect(inside);
        }
        for outside in ["work/out", "work/out/below", "entry/out", "entry/out/below"] {
            let error = made(outside, Vec::new()).expect_err(outside).to_string();
            assert!(error.contains("where commands may replace it"), "{error}");
            let named = base.join(outside).to_string_lossy().into_owned();
            made("elsewhere", vec![named]).expect_err(outside);
        }
        forget_owner(OWNER);
    }
}
