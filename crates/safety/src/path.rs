//! Paths as text. Nothing here reads the file system.

use super::word_value::WordValue;

/// Returns an absolute path without `.`, `..` and doubled slashes.
pub fn normal(path: &str) -> String {
    let mut normal = String::with_capacity(path.len() + 1);
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => normal.truncate(normal.rfind('/').unwrap_or(0)),
            part => {
                normal.push('/');
                normal.push_str(part);
            }
        }
    }
    if normal.is_empty() {
        normal.push('/');
    }
    normal
}

/// Longest path that is followed, in bytes. The kernel takes no longer path.
const MAX_PATH: usize = 4096;

/// Returns a path seen from a directory, normalized if it is known. A path that is too long becomes unknown.
pub fn resolved(cwd: &WordValue, path: &WordValue) -> WordValue {
    if path.prefix().is_empty() && path.has_unknown() {
        return WordValue::unknown();
    }
    let whole = path.seen_from(cwd);
    let path = match whole.known() {
        Some(text) => WordValue::of(normal(text)),
        None => whole,
    };
    if path.length() > MAX_PATH { WordValue::unknown() } else { path }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PATH, normal, resolved};
    use crate::word_value::WordValue;

    #[test]
    fn paths_are_normalized() {
        for (path, wanted) in [("/a/./b//c/..", "/a/b"), ("/../..", "/"), ("", "/"), ("a", "/a")] {
            assert_eq!(normal(path), wanted, "{path}");
        }
    }

    #[test]
    fn a_path_is_resolved_as_far_as_it_is_known() {
        let cwd = WordValue::of("/p");
        assert_eq!(resolved(&cwd, &WordValue::of("../q")), WordValue::of("/q"));
        assert_eq!(resolved(&cwd, &WordValue::of("/x/.")), WordValue::of("/x"));
        assert_eq!(resolved(&cwd, &WordValue::unknown()), WordValue::unknown());
        assert_eq!(resolved(&WordValue::unknown(), &WordValue::of("/a/..")), WordValue::of("/"));
    }

    #[test]
    fn a_path_that_the_kernel_would_refuse_is_unknown() {
        let longest = format!("/{}", "a".repeat(MAX_PATH - 1));
        let cwd = WordValue::of(longest.as_str());
        assert_eq!(resolved(&cwd, &WordValue::of(".")), cwd);
        assert_eq!(resolved(&cwd, &WordValue::of("b")), WordValue::unknown());
        assert_eq!(resolved(&WordValue::unknown(), &WordValue::of(longest)).known().map(str::len), Some(MAX_PATH));
        assert_eq!(resolved(&WordValue::unknown(), &WordValue::of("b".repeat(MAX_PATH))), WordValue::unknown());
    }
}
