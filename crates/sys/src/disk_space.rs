//! Space on a disk.

use std::fs::{self, DirEntry, ReadDir};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::sys::statvfs::statvfs;

/// Returns the free bytes of the disk of a directory that its users may fill, and a tenth of all its bytes.
///
/// # Errors
/// If the system refuses to answer.
pub fn free_and_tenth(directory: &Path) -> io::Result<(u64, u64)> {
    let disk = statvfs(directory)?;
    #[cfg_attr(target_os = "linux", expect(clippy::useless_conversion, reason = "of another size on macOS"))]
    let (free, all) = (u64::from(disk.blocks_available()), u64::from(disk.blocks()));
    let unit = disk.fragment_size();
    Ok((free.saturating_mul(unit), all.saturating_mul(unit) / 10))
}

/// Adds up the bytes on the disk of all that is in directories, as many entries at a time as the caller wants. What
/// cannot be read counts as nothing.
#[derive(Debug)]
pub struct DiskUsageCount {
    /// The directories that are read, each within the one before it.
    open: Vec<ReadDir>,
    bytes: u64,
}

impl DiskUsageCount {
    /// Begins with these directories.
    pub fn of<'a>(directories: impl IntoIterator<Item = &'a Path>) -> Self {
        Self { open: directories.into_iter().filter_map(|directory| fs::read_dir(directory).ok()).collect(), bytes: 0 }
    }

    /// Reads at most `most` entries. Returns the sum once none is left.
    pub fn advance(&mut self, most: usize) -> Option<u64> {
        for _ in 0..most {
            let Some(directory) = self.open.last_mut() else { break };
            match directory.next() {
                Some(entry) => self.add(entry),
                None => drop(self.open.pop()),
            }
        }
        self.open.is_empty().then_some(self.bytes)
    }

    fn add(&mut self, entry: io::Result<DirEntry>) {
        let Ok(entry) = entry else { return };
        let Ok(data) = entry.metadata() else { return };
        self.bytes += data.blocks() * 512;
        if data.is_dir() {
            self.open.extend(fs::read_dir(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_that_of_all_files_however_it_is_counted() {
        let folder = tempfile::tempdir().expect("a directory");
        for name in ["a", "a/b", "c"] {
            fs::create_dir(folder.path().join(name)).expect("made");
            fs::write(folder.path().join(name).join("file"), vec![1; 20_000]).expect("written");
        }
        let whole = DiskUsageCount::of([folder.path()]).advance(usize::MAX).expect("the sum");
        assert!((60_000..1_000_000).contains(&whole), "{whole}");
        let (mut count, mut calls) = (DiskUsageCount::of([folder.path()]), 1);
        let slow = loop {
            match count.advance(1) {
                Some(sum) => break sum,
                None => calls += 1,
            }
        };
        assert_eq!((slow, calls > 6), (whole, true));
        let missing = folder.path().join("missing");
        assert_eq!(DiskUsageCount::of([missing.as_path()]).advance(9), Some(0));
    }
}
