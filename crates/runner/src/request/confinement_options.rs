//! The reach of a command.

use std::path::Path;
use std::sync::Arc;

use super::raw_options::RawWorld;
use confine_policy::{OwnedPolicy, PolicyError, RawConfine, RealHost, policy_for_owner};

/// Returns the world of a command that starts in `cwd`. `environment` is the host's environment, as text.
///
/// # Errors
/// A [`PolicyError`] that names the option, its value and a remedy.
pub fn check_world(raw: &RawWorld, cwd: &str, environment: &str) -> Result<Arc<OwnedPolicy>, PolicyError> {
    let options = RawConfine::from_json(&raw.options)?;
    let root = raw.root.as_deref().unwrap_or(cwd);
    policy_for_owner(options, raw.owner, Path::new(root), &RealHost { environment })
}

#[cfg(test)]
mod tests {
    use super::*;
    use confine_policy::PolicyProfile;

    #[test]
    fn the_root_is_that_of_the_owner_or_the_directory_of_the_command() {
        let directory = tempfile::tempdir().expect("a directory");
        let base = directory.path().canonicalize().expect("it exists");
        let (root, cwd) = (base.join("root"), base.join("cwd"));
        for path in [&root, &cwd] {
            std::fs::create_dir(path).expect("created");
        }
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let world = |root| RawWorld { options: r#"{"profile":"read-only"}"#.into(), owner: 0, root, joins: false };
        let made = check_world(&world(Some(text(&root))), &text(&cwd), "").expect("valid");
        assert_eq!((&made.policy.root, made.policy.profile, made.owner), (&root, PolicyProfile::ReadOnly, 0));
        let made = check_world(&world(None), &text(&cwd), "").expect("valid");
        assert_eq!(made.policy.root, cwd);
        let wrong = RawWorld { options: r#"{"write":1}"#.into(), owner: 0, root: None, joins: false };
        let message = check_world(&wrong, "/", "").expect_err("invalid").to_string();
        assert!(message.starts_with("confine: invalid type"), "{message}");
    }
}
