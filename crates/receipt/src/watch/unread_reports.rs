//! Reports on files that have not been read since.

use std::collections::HashMap;
use std::ops::BitOrAssign;

use super::catalog_entry::CatalogKey;

/// Reports on one file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileReports {
    /// The content was written.
    pub written: bool,
    /// The file was open for writing.
    pub closed: bool,
    /// Another file may have taken the path.
    pub replaced: bool,
    /// Changes may have been missed. Only the times of the file tell whether there were any.
    pub missed: bool,
    /// The report was on another name of the file.
    pub by_link: bool,
}

impl BitOrAssign for FileReports {
    fn bitor_assign(&mut self, other: Self) {
        self.written |= other.written;
        self.closed |= other.closed;
        self.replaced |= other.replaced;
        self.missed |= other.missed;
        self.by_link &= other.by_link;
    }
}

/// All files that have to be read.
#[derive(Debug, Default)]
pub struct UnreadReports {
    files: HashMap<CatalogKey, FileReports>,
    /// Directories that are new in the catalog, and are neither watched nor read yet.
    pub new: Vec<CatalogKey>,
}

impl UnreadReports {
    /// Adds a report.
    pub fn add(&mut self, key: CatalogKey, mark: FileReports) {
        self.files.entry(key).and_modify(|known| *known |= mark).or_insert(mark);
    }

    /// Removes the reports on a file.
    pub fn remove(&mut self, key: &CatalogKey) -> Option<FileReports> {
        self.files.remove(key)
    }

    /// Returns whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.new.is_empty()
    }

    /// Removes all reports.
    pub fn take(&mut self) -> HashMap<CatalogKey, FileReports> {
        std::mem::take(&mut self.files)
    }
}
