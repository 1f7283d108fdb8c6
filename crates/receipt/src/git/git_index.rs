//! The entries of an index.

use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::git_repository::MAX_FILE_BYTES;

/// The state of an index. Two indexes are compared by `entries` alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GitIndex {
    /// The entries.
    pub entries: GitIndexEntries,
    /// Identity of the file: device, number, size and time. Equal identities mean equal entries.
    file: Option<(u64, u64, u64, (i64, i64))>,
}

/// The entries of an index, without the times of the files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GitIndexEntries {
    /// Number of entries.
    pub count: u32,
    /// A hash of the entries' modes, ids, flags and paths.
    hash: u64,
    /// Whether two indexes may be equal though these fields differ: a part of the entries is in another file, or stands
    /// for a directory.
    pub is_inexact: bool,
}

impl GitIndex {
    /// Reads an index, unless the file is unchanged since `known`. `None`: the file cannot be read, or its form is
    /// unknown.
    pub fn read(path: &Path, id_length: usize, known: Option<Self>) -> Option<Self> {
        let Ok(metadata) = fs::metadata(path) else { return Some(Self::default()) };
        let time = (metadata.mtime(), metadata.mtime_nsec());
        let file = Some((metadata.dev(), metadata.ino(), metadata.len(), time));
        if let Some(known) = known.filter(|known| known.file == file) {
            return Some(known);
        }
        let entries = GitIndexReader::new(&sys::read_regular(path, MAX_FILE_BYTES).ok()?, id_length)?.entries()?;
        Some(Self { entries, file })
    }
}

struct GitIndexReader<'a> {
    bytes: &'a [u8],
    at: usize,
    id_length: usize,
}

/// Length of the numbers before the id: times, device, inode, mode, owner and size.
const STATUS: usize = 40;
const MODE: usize = 24;
/// Further flags follow.
const EXTENDED: u16 = 0x4000;
/// The part of the flags that is the length of the path.
const LENGTH: u16 = 0x0FFF;

impl<'a> GitIndexReader<'a> {
    fn new(bytes: &'a [u8], id_length: usize) -> Option<Self> {
        (bytes.get(..4)? == b"DIRC").then_some(Self { bytes, at: 4, id_length })
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(taken)
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    fn entries(mut self) -> Option<GitIndexEntries> {
        let version = self.u32()?;
        let count = self.u32()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let mut hasher = DefaultHasher::new();
        let mut path = Vec::new();
        for _ in 0..count {
            let start = self.at;
            hasher.write(&self.take(STATUS)?[MODE..MODE + 4]);
            hasher.write(self.take(self.id_length)?);
            let flags = self.u16()?;
            hasher.write_u16(flags & !LENGTH);
            if flags & EXTENDED != 0 {
                hasher.write_u16(self.u16()?);
            }
            if version == 4 {
                let dropped = self.variable_length_number()?;
                path.truncate(path.len().checked_sub(dropped)?);
                path.extend_from_slice(self.until_nul()?);
            } else {
                path.clear();
                path.extend_from_slice(self.until_nul()?);
                // Entries end with at least one NUL, up to a multiple of 8.
                self.at = start + (self.at - 1 - start + 8) / 8 * 8;
            }
            hasher.write_usize(path.len());
            hasher.write(&path);
        }
        let is_inexact = self.extensions();
        Some(GitIndexEntries { count, hash: hasher.finish(), is_inexact })
    }

    /// Takes bytes up to and including a NUL.
    fn until_nul(&mut self) -> Option<&'a [u8]> {
        let length = memchr::memchr(0, self.bytes.get(self.at..)?)?;
        let taken = self.take(length)?;
        self.at += 1;
        Some(taken)
    }

    /// Reads a number of variable length, as packs have them.
    fn variable_length_number(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7F);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value = (value.checked_add(1)? << 7) | usize::from(byte & 0x7F);
        }
        Some(value)
    }

    /// Returns whether the index is split or sparse.
    fn extensions(&mut self) -> bool {
        while self.bytes.len() > self.at + self.id_length {
            let Some(name) = self.take(4) else { return false };
            if name == b"link" || name == b"sdir" {
                return true;
            }
            let Some(length) = self.u32() else { return false };
            if self.take(length as usize).is_none() {
                return false;
            }
        }
        false
    }
}
