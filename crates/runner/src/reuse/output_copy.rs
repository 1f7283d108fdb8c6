//! The output of a run as it was written.

use std::io::{self, Cursor, Seek, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};

use capture::OutputStream;
use tempfile::{SpooledData, SpooledTempFile};

/// Bytes that are kept in memory. More go into a file without a name.
const IN_MEMORY: usize = 64 * 1024;
/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// The copy of an output that arrives, for both streams.
pub type SharedOutputCopy = Arc<Mutex<ArrivingOutputCopy>>;

/// The copy of an output that arrives.
#[derive(Debug)]
pub struct ArrivingOutputCopy {
    data: SpooledTempFile,
    pieces: Vec<(OutputStream, u64)>,
    bytes: u64,
    most: u64,
    /// Whether everything could be kept.
    is_whole: bool,
}

/// The copy of a whole output.
#[derive(Debug)]
pub struct WholeOutputCopy {
    data: SpooledData,
    /// The lengths of the pieces of each stream, in the order in which they came.
    pieces: Vec<(OutputStream, u64)>,
    bytes: u64,
}

/// Begins a copy that holds at most `most` bytes, of which many go into this directory.
pub fn begin_shared_copy(most: u64, directory: &Path) -> SharedOutputCopy {
    let data = tempfile::spooled_tempfile_in(IN_MEMORY, directory);
    Arc::new(Mutex::new(ArrivingOutputCopy { data, pieces: Vec::new(), bytes: 0, most, is_whole: true }))
}

impl ArrivingOutputCopy {
    /// Takes the next bytes of a stream.
    pub fn push(&mut self, stream: OutputStream, bytes: &[u8]) {
        if !self.is_whole {
            return;
        }
        self.bytes += bytes.len() as u64;
        self.is_whole = self.bytes <= self.most && self.data.write_all(bytes).is_ok();
        if !self.is_whole {
            (self.data, self.pieces) = (SpooledTempFile::new(0), Vec::new());
            return;
        }
        match self.pieces.last_mut() {
            Some((last, length)) if *last == stream => *length += bytes.len() as u64,
            _ => self.pieces.push((stream, bytes.len() as u64)),
        }
    }

    /// Returns the copy of the whole output. `None`: it was too large, or could not be written.
    pub fn finish(&mut self) -> Option<WholeOutputCopy> {
        let data = std::mem::replace(&mut self.data, SpooledTempFile::new(0));
        let mut data = self.is_whole.then(|| data.into_inner())?;
        if let SpooledData::OnDisk(file) = &mut data {
            file.rewind().ok()?;
        }
        Some(WholeOutputCopy { data, pieces: std::mem::take(&mut self.pieces), bytes: self.bytes })
    }
}

impl WholeOutputCopy {
    /// Returns whether there is any output of a stream.
    pub fn has_output(&self, stream: OutputStream) -> bool {
        self.pieces.iter().any(|(own, _)| *own == stream)
    }

    /// Returns its length in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Passes on the output in the order in which it came. Blocks.
    ///
    /// # Errors
    /// If the file cannot be read, or `write` fails.
    pub fn write_pieces(&self, mut write: impl FnMut(OutputStream, &[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut at = 0;
        let mut buffer = vec![0; PIECE];
        for (stream, length) in &self.pieces {
            let end = at + length;
            while at < end {
                let most = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
                let piece = match &self.data {
                    SpooledData::InMemory(memory) => in_memory(memory, at, most),
                    SpooledData::OnDisk(file) => {
                        file.read_exact_at(&mut buffer[..most], at)?;
                        &buffer[..most]
                    }
                };
                write(*stream, piece)?;
                at += most as u64;
            }
        }
        Ok(())
    }
}

fn in_memory(memory: &Cursor<Vec<u8>>, at: u64, most: usize) -> &[u8] {
    let at = usize::try_from(at).unwrap_or(usize::MAX);
    memory.get_ref().get(at..at.saturating_add(most)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(copied: &WholeOutputCopy) -> Vec<(OutputStream, Vec<u8>)> {
        let mut read: Vec<(OutputStream, Vec<u8>)> = Vec::new();
        let each = copied.write_pieces(|stream, bytes| {
            match read.last_mut() {
                Some((last, all)) if *last == stream => all.extend(bytes),
                _ => read.push((stream, bytes.to_vec())),
            }
            Ok(())
        });
        each.expect("read");
        read
    }

    #[test]
    fn short_and_long_outputs_come_back_in_their_order() {
        let directory = tempfile::tempdir().expect("a directory");
        for size in [0, 1, PIECE - 1, PIECE + 1, 3 * PIECE] {
            let copy = begin_shared_copy(1 << 20, directory.path());
            let mut copy = copy.lock().expect("not poisoned");
            let pieces = [
                (OutputStream::Stdout, vec![b'a'; size]),
                (OutputStream::Stderr, vec![b'b'; 5]),
                (OutputStream::Stdout, vec![0]),
            ];
            for (stream, bytes) in &pieces {
                bytes.chunks(7_000).for_each(|bytes| copy.push(*stream, bytes));
            }
            let copied = copy.finish().expect("whole");
            let expected: Vec<_> = pieces.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
            assert_eq!((copied.bytes(), &read(&copied)), (size as u64 + 6, &expected), "{size}");
            assert_eq!(read(&copied), expected, "read twice");
        }
    }

    #[test]
    fn an_output_that_is_too_large_is_not_kept() {
        let copy = begin_shared_copy(10, &std::env::temp_dir());
        let mut copy = copy.lock().expect("not poisoned");
        copy.push(OutputStream::Stdout, &[0; 10]);
        copy.push(OutputStream::Stderr, &[0; 1]);
        assert!(copy.finish().is_none());
    }
}
