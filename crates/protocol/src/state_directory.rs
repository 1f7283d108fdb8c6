//! The directory of all that is kept for a user.

use std::path::PathBuf;

/// Returns `$XDG_STATE_HOME/agent-bash`, else `~/.local/state/agent-bash`, from the environment of the user. `None`:
/// neither variable is an absolute path.
pub fn state_directory(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let absolute = |name| variable(name).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("agent-bash"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_is_below_the_state_directory_of_the_user() {
        let of = |home: Option<&str>, state: Option<&str>| {
            state_directory(|name| if name == "HOME" { home.map(PathBuf::from) } else { state.map(PathBuf::from) })
        };
        assert_eq!(of(Some("/home/ann"), None), Some("/home/ann/.local/state/agent-bash".into()));
        assert_eq!(of(Some("/home/ann"), Some("/state")), Some("/state/agent-bash".into()));
        assert_eq!(of(Some("/home/ann"), Some("state")), Some("/home/ann/.local/state/agent-bash".into()));
        assert_eq!(of(None, None), None);
        assert_eq!(of(Some(""), Some("")), None);
    }
}
