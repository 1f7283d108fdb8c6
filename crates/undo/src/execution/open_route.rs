//! The route to a thing through its open directory.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::path_lookup::{RoutedPath, is_absent};

/// Why there is no route to a path.
#[derive(Debug, thiserror::Error)]
pub enum RouteError {
    /// Its directory is gone, or a link leads to it.
    #[error("the directory is another one now")]
    Changed,
    /// The system refuses it.
    #[error(transparent)]
    System(#[from] io::Error),
}

/// The route to a thing. It stays in the directory that was found, whatever other processes put into the path
/// meanwhile.
#[derive(Debug)]
pub struct OpenRoute {
    path: PathBuf,
    reach: PathBuf,
    /// The open directory, as long as the route is used.
    directory: Option<OwnedFd>,
}

impl OpenRoute {
    /// Finds the route to a path.
    ///
    /// # Errors
    /// If its directory is gone, a link leads to it, or it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, RouteError> {
        match sys::open_without_links(path) {
            Ok((directory, reach)) => Ok(Self { path: path.to_owned(), reach, directory }),
            Err(error) if is_absent(&error) => Err(RouteError::Changed),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the route to another thing in the same directory. `None`: its path has another directory.
    pub(super) fn sibling(self, path: &Path) -> Option<Self> {
        let directory = self.directory.filter(|_| self.path.parent() == path.parent())?;
        let reach = sys::path_in(&directory, path.file_name()?);
        Some(Self { path: path.to_owned(), reach, directory: Some(directory) })
    }

    /// Returns the path, and the route to it.
    pub fn as_routed_path(&self) -> RoutedPath<'_> {
        RoutedPath { path: &self.path, reach: &self.reach, is_vacant: false }
    }
}
