//! Paths of options: `~`, links and nesting.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::policy_environment::PolicyEnvironment;
use super::policy_error::PolicyFault;

/// A path that an entry of a list means.
pub struct ListedPath {
    /// The entry, as the caller wrote it. `None`: the entry of a default list.
    pub text: Option<String>,
    /// The path, resolved.
    pub path: PathBuf,
    /// The path before links were resolved.
    pub named: PathBuf,
}

/// Returns the absolute paths that an entry means: two for `~`, if the user has two homes.
///
/// # Errors
/// If the entry is no absolute path and not below `~`.
pub fn expand_entry(text: &str, homes: &[PathBuf]) -> Result<Vec<PathBuf>, PolicyFault> {
    if text.is_empty() {
        return Err(PolicyFault::Empty);
    }
    if text.contains('\0') {
        return Err(PolicyFault::Nul);
    }
    let Some(rest) = text.strip_prefix('~') else {
        return if text.starts_with('/') { Ok(vec![PathBuf::from(text)]) } else { Err(PolicyFault::Relative) };
    };
    if !rest.is_empty() && !rest.starts_with('/') {
        return Err(PolicyFault::OtherHome);
    }
    if homes.is_empty() {
        return Err(PolicyFault::NoHome);
    }
    let rest = rest.trim_start_matches('/');
    Ok(homes.iter().map(|home| if rest.is_empty() { home.clone() } else { home.join(rest) }).collect())
}

/// Returns a path without links as far as it exists. The rest stays as it is, without `.` and `..`.
pub fn resolve_existing_part(path: &Path, host: &impl PolicyEnvironment) -> PathBuf {
    let mut rest: Vec<&OsStr> = Vec::new();
    let plain = without_dots(path);
    let mut existing: &Path = path;
    loop {
        if let Ok(resolved) = host.resolve(existing) {
            return rest.iter().rev().fold(resolved, |path, name| path.join(name));
        }
        // `..` after a missing name has no meaning of its own.
        let (Some(parent), Some(name)) = (existing.parent(), existing.file_name()) else { return plain };
        rest.push(name);
        existing = parent;
    }
}

/// Returns an absolute path without `.` and `..`, regardless of links.
pub fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => drop(plain.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}

/// Returns whether a path is the directory or lies below it.
pub fn is_within(path: &Path, directory: &Path) -> bool {
    path.starts_with(directory)
}

/// Sorts paths, and leaves out paths that lie below others.
pub fn outermost_paths(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    // Paths are compared by their components, so what lies below a path follows it at once.
    paths.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !outer.last().is_some_and(|one| is_within(&path, one)) {
            outer.push(path);
        }
    }
    outer
}

/// The places of paths without dots, each directory looked up once: most paths of the default lists do not exist.
#[derive(Default)]
pub struct CachedPathResolver(HashMap<PathBuf, (PathBuf, bool)>);

impl CachedPathResolver {
    /// Returns what [`resolve_existing_part`] returns.
    pub fn resolve_existing_part(&mut self, path: &Path, host: &impl PolicyEnvironment) -> PathBuf {
        self.resolve_and_check(path, host).0
    }

    /// Returns a path without links, and whether it exists.
    fn resolve_and_check(&mut self, path: &Path, host: &impl PolicyEnvironment) -> (PathBuf, bool) {
        if let Some(known) = self.0.get(path) {
            return known.clone();
        }
        let Some((above, name)) = path.parent().zip(path.file_name()) else { return (path.to_owned(), true) };
        let (above, is_there) = self.resolve_and_check(above, host);
        let named = above.join(name);
        let resolved = if is_there { host.resolve_entry(&named).ok() } else { None };
        let place = resolved.map_or((named, false), |path| (path, true));
        self.0.insert(path.to_owned(), place.clone());
        place
    }
}

/// Returns the existing paths of one entry, each as it was named and resolved.
///
/// # Errors
/// The first error, if no path exists.
pub fn resolve_existing_paths(
    paths: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<Vec<(PathBuf, PathBuf)>, (PathBuf, io::Error)> {
    let mut found = Vec::new();
    let mut failed = None;
    for path in paths {
        match host.resolve(path) {
            Ok(resolved) => found.push((without_dots(path), resolved)),
            Err(error) => failed = failed.or(Some((path.clone(), error))),
        }
    }
    match failed {
        Some(failed) if found.is_empty() => Err(failed),
        _ => Ok(found),
    }
}
