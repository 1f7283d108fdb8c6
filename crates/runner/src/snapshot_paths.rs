//! The user's own PATH, of each snapshot that this process has read.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most values that are kept. The last one comes first.
const MAX_REMEMBERED_PATHS: usize = 8;

static PATHS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Keeps the PATH of a snapshot, if it has one.
pub fn remember_path(path: Option<String>) {
    let Some(path) = path else { return };
    let mut paths = paths();
    paths.retain(|kept| *kept != path);
    paths.insert(0, path);
    paths.truncate(MAX_REMEMBERED_PATHS);
}

/// Returns the directories in all of them.
pub fn remembered_directories() -> Vec<String> {
    paths().iter().flat_map(|path| path.split(':')).map(str::to_owned).collect()
}

fn paths() -> MutexGuard<'static, Vec<String>> {
    PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_path_comes_first_and_once() {
        for path in ["/nosuch/a:/nosuch/b", "/nosuch/c", "/nosuch/a:/nosuch/b"] {
            remember_path(Some(path.to_owned()));
        }
        // Other tests read snapshots, too.
        let mut kept = remembered_directories();
        kept.retain(|directory| directory.starts_with("/nosuch/"));
        assert_eq!(kept, ["/nosuch/a", "/nosuch/b", "/nosuch/c"]);
    }
}
