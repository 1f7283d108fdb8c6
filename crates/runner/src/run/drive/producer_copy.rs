//! The copy of what a program writes.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::request::{CommandRequest, SPILL_MAX_BYTES, SpillPlace};
use capture::{SpillDir, SpillError, SpillFile};

/// Bytes that are kept in memory. More go into a file at once.
const IN_MEMORY: usize = 64 * 1024;

/// What a tap has kept.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProducerOutputCopy {
    /// The file.
    pub path: PathBuf,
    /// Lines that the producer wrote. A last line without an end counts.
    pub lines: u64,
    /// Bytes that the producer wrote.
    pub bytes: u64,
    /// Whether the file has all that the producer wrote.
    pub complete: bool,
}

/// What a tap has kept, or why there is no file.
pub type ProducerCopyResult = Result<ProducerOutputCopy, String>;

/// The copy: in memory while it is short, then in a file. Every byte passes through [`ProducerCopier::push`], before
/// any cut.
pub struct ProducerCopier {
    place: ProducerCopyPlace,
    most: u64,
    /// The highest age of files beside it. `None`: they stay.
    retention: Option<Duration>,
    copy: ProducerCopyStorage,
    lines: u64,
    bytes: u64,
    ends_line: bool,
}

/// Where the file goes.
enum ProducerCopyPlace {
    Private(PathBuf),
    Given(PathBuf),
}

enum ProducerCopyStorage {
    Memory(Vec<u8>),
    File(SpillFile),
    Failed(String),
}

impl ProducerCopyPlace {
    fn file(&self, most: u64, retention: Option<Duration>) -> Result<SpillFile, SpillError> {
        let directory = match self {
            Self::Private(temp) => SpillDir::create_private(temp),
            Self::Given(directory) => SpillDir::create_given(directory),
        }?;
        if let Some(retention) = retention {
            directory.make_room(retention, most);
        }
        Ok(SpillFile::create(&directory, "tap", most)?.with_thread())
    }
}

impl ProducerCopier {
    pub fn new(request: &CommandRequest) -> Self {
        let spill = request.spill.as_ref();
        let place = match spill.map(|spill| &spill.place) {
            Some(SpillPlace::Directory(directory)) => ProducerCopyPlace::Given(directory.clone()),
            _ => ProducerCopyPlace::Private(request.temp.clone()),
        };
        let most = spill.map_or(SPILL_MAX_BYTES.default, |spill| spill.max_bytes).min(request.tap_bytes);
        let retention = spill.map(|spill| spill.retention);
        Self {
            place,
            most,
            retention,
            copy: ProducerCopyStorage::Memory(Vec::new()),
            lines: 0,
            bytes: 0,
            ends_line: true,
        }
    }

    /// Returns how many bytes it has taken.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.bytes += bytes.len() as u64;
        self.ends_line = bytes.last().map_or(self.ends_line, |last| *last == b'\n');
        match &mut self.copy {
            ProducerCopyStorage::Memory(memory) => {
                memory.extend_from_slice(bytes);
                if memory.len() > IN_MEMORY {
                    self.write_down();
                }
            }
            ProducerCopyStorage::File(file) => file.write_bytes(bytes),
            ProducerCopyStorage::Failed(_) => {}
        }
    }

    /// Removes what was kept.
    pub fn discard(self) {
        if let ProducerCopyStorage::File(mut file) = self.copy {
            file.close();
            // A program that tidies temporary files may have removed it.
            let _gone = std::fs::remove_file(file.path());
        }
    }

    /// Writes what is in memory to the file.
    pub fn write_down(&mut self) {
        let ProducerCopyStorage::Memory(memory) = &self.copy else { return };
        // A sweep costs more than a short copy.
        let retention = self.retention.filter(|_| memory.len() > IN_MEMORY);
        self.copy = match self.place.file(self.most, retention) {
            Ok(mut file) => {
                file.write_bytes(memory);
                ProducerCopyStorage::File(file)
            }
            Err(error) => ProducerCopyStorage::Failed(error.brief()),
        };
    }

    /// Returns the copy of what a producer has written. Blocks.
    pub fn copy_of(mut self, bytes: &[u8]) -> ProducerCopyResult {
        self.push(bytes);
        self.finish(true)
    }

    /// Returns what was kept. `complete`: the producer has ended.
    pub fn finish(mut self, complete: bool) -> ProducerCopyResult {
        self.write_down();
        let mut file = match self.copy {
            ProducerCopyStorage::File(file) => file,
            ProducerCopyStorage::Failed(why) => return Err(why),
            ProducerCopyStorage::Memory(_) => return Err("it was not written".to_owned()),
        };
        file.close();
        let path = file.path().to_owned();
        if let (0, Some(why)) = (file.written(), file.error()) {
            // Nobody knows of it.
            let _gone = std::fs::remove_file(path);
            return Err(why.to_owned());
        }
        let lines = self.lines + u64::from(!self.ends_line);
        Ok(ProducerOutputCopy { path, lines, bytes: self.bytes, complete: complete && file.error().is_none() })
    }
}
