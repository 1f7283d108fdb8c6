//! The environment of the last command, for a next command with equal arguments: agents run many commands and change
//! little.

use std::cell::RefCell;
use std::sync::Arc;

use super::command_environment::{CommandEnvironment, EnvironmentError, InheritMode, resolve_environment};

struct LastEnvironment {
    host: String,
    inherit: InheritMode,
    overlay: Vec<(String, Option<String>)>,
    attended: bool,
    environment: Arc<CommandEnvironment>,
}

thread_local! {
    // A JavaScript thread has an environment of its own.
    static LAST: RefCell<Option<LastEnvironment>> = const { RefCell::new(None) };
}

/// Returns the environment as [`resolve_environment`] does, which is called only if its arguments differ from the last
/// call's.
///
/// # Errors
/// As [`resolve_environment`].
pub fn cached_environment(
    host: String,
    inherit: InheritMode,
    overlay: Vec<(String, Option<String>)>,
    attended: bool,
) -> Result<Arc<CommandEnvironment>, EnvironmentError> {
    LAST.with_borrow_mut(|last| {
        if let Some(known) = last
            && known.host == host
            && known.inherit == inherit
            && known.overlay == overlay
            && known.attended == attended
        {
            return Ok(Arc::clone(&known.environment));
        }
        let environment = Arc::new(resolve_environment(&host, &inherit, &overlay, attended)?);
        *last = Some(LastEnvironment { host, inherit, overlay, attended, environment: Arc::clone(&environment) });
        Ok(environment)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_any_part_is_seen() {
        let get = |host: &str, inherit, overlay: &[(&str, Option<&str>)]| {
            let overlay = overlay.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
            cached_environment(host.to_owned(), inherit, overlay, false).unwrap()
        };
        let first = get("A=1\0", InheritMode::Safe, &[]);
        assert!(Arc::ptr_eq(&first, &get("A=1\0", InheritMode::Safe, &[])));
        assert_eq!(get("A=2\0", InheritMode::Safe, &[]).get("A"), Some("2"));
        assert_eq!(get("A=2\0", InheritMode::None, &[]).get("A"), None);
        assert_eq!(get("A=2\0", InheritMode::Safe, &[("A", Some("3"))]).get("A"), Some("3"));
        assert_eq!(get("A=2\0", InheritMode::Safe, &[("A", None)]).get("A"), None);
    }
}
