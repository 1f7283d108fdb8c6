//! Files of a target.

use std::path::Path;
use std::sync::Arc;

use super::ask::{Step, Unanswered};
use super::connect::Begun;
use super::target::Target;
use crate::flow::{CHUNK, Untaken};
use crate::messages::{
    AboutFile, Answer, Ask, Entry, FileStat, MAX_ENTRIES, MAX_READ, OfFile, Part, clean_output, decode,
};
use reduce::recall::{LARGEST, Wanted};
use runner::error::Error;

/// What a target does that no program of ours does.
const LIE: Unanswered = Unanswered::broken();

/// Relative paths begin at the directory of the target. All of these wait through cuts, and fail with the error of the
/// system there (`EACCES`), or if the target is lost.
impl Target {
    /// Reads a file. `None`: it is missing. One of more than [`MAX_READ`] bytes is refused.
    pub fn read_file(
        self: &Arc<Self>,
        path: &str,
    ) -> impl Future<Output = Result<Option<Vec<u8>>, Unanswered>> + Send + use<> {
        let begun = self.begin_file(path, OfFile::Read);
        async move {
            let mut content = Vec::new();
            let about = begun?.receive(|bytes| {
                content.extend(bytes);
                content.len() <= MAX_READ
            });
            Ok(is_there(&about.await?)?.then_some(content))
        }
    }

    /// Replaces a file at once: it has its old content or the new one. Makes it and its parents if they are missing. A
    /// link is followed and stays. The file keeps its mode, and `mode` is that of a new one. `None`: as the mask there
    /// has it.
    pub fn write_file(
        self: &Arc<Self>,
        path: &str,
        content: Vec<u8>,
        mode: Option<u32>,
    ) -> impl Future<Output = Result<(), Unanswered>> + Send + use<> {
        let begun = self.begin_file(path, OfFile::Write { bytes: content.len() as u64, mode });
        async move {
            let mut begun = begun?;
            let (mut chunks, mut untaken) = (content.chunks(CHUNK), Untaken::default());
            loop {
                while untaken.has_room()
                    && let Some(chunk) = chunks.next()
                {
                    untaken.sent(chunk.len());
                    begun.pass(Part::Bytes(chunk.to_vec()))?;
                }
                match begun.step().await? {
                    Step::Part(Part::Taken(bytes)) => untaken.taken(bytes),
                    Step::Answer(Answer::File(AboutFile::Done)) => return Ok(()),
                    Step::Part(_) | Step::Answer(_) => return Err(LIE),
                }
            }
        }
    }

    /// Returns what a file is, and does not follow a link. `None`: it is missing.
    pub fn stat(
        self: &Arc<Self>,
        path: &str,
    ) -> impl Future<Output = Result<Option<FileStat>, Unanswered>> + Send + use<> {
        let begun = self.begin_file(path, OfFile::Stat);
        async move {
            match begun?.receive(|_| false).await? {
                AboutFile::Is(stat) => Ok(Some(stat)),
                AboutFile::Missing => Ok(None),
                AboutFile::Done => Err(LIE),
            }
        }
    }

    /// Lists a directory by the names of its entries. `None`: it is missing. One with more than [`MAX_ENTRIES`] is
    /// refused.
    pub fn list(
        self: &Arc<Self>,
        path: &str,
    ) -> impl Future<Output = Result<Option<Vec<Entry>>, Unanswered>> + Send + use<> {
        let begun = self.begin_file(path, OfFile::List);
        async move {
            let (mut entries, mut total) = (Vec::new(), 0);
            let about = begun?.receive(|bytes| {
                total += bytes.len();
                let Ok(more) = decode::<Vec<Entry>>(&bytes) else { return false };
                let are_names = more.iter().all(|entry| is_name(&entry.name));
                entries.extend(more);
                are_names && total <= MAX_READ && entries.len() <= MAX_ENTRIES
            });
            Ok(is_there(&about.await?)?.then_some(entries))
        }
    }

    /// Removes a file, a link or an empty directory, or a directory with all that is in it if `recursive`. Follows no
    /// link. `false`: it is missing.
    pub fn remove(
        self: &Arc<Self>,
        path: &str,
        recursive: bool,
    ) -> impl Future<Output = Result<bool, Unanswered>> + Send + use<> {
        let begun = self.begin_file(path, OfFile::Remove(recursive));
        async move { is_there(&begun?.receive(|_| false).await?) }
    }

    /// Returns lines of a whole output, cleaned again. `None`: the file is missing. `is_raw`: it has bytes as a program
    /// wrote them.
    pub fn recall(
        self: &Arc<Self>,
        path: &str,
        is_raw: bool,
        wanted: Wanted,
    ) -> impl Future<Output = Result<Option<String>, Unanswered>> + Send + use<> {
        let begun = self.begin_file(path, OfFile::Recall { is_raw, wanted });
        async move {
            let mut text = Vec::new();
            let about = begun?.receive(|bytes| {
                text.extend(bytes);
                text.len() <= LARGEST
            });
            if !is_there(&about.await?)? {
                return Ok(None);
            }
            let mut text = String::from_utf8(text).map_err(|_| LIE)?;
            clean_output(&mut text);
            Ok(Some(text))
        }
    }

    fn begin_file(self: &Arc<Self>, path: &str, of: OfFile) -> Result<Begun, Unanswered> {
        let refused = |message: &str| Unanswered::Failed(Error::InvalidArg(message.to_owned()));
        if path.is_empty() {
            return Err(refused("the path is empty: give the path of a file"));
        }
        let cwd = self.settings.cwd.clone().unwrap_or_else(|| self.instance().facts.home.clone());
        let path = Path::new(&cwd).join(path).to_string_lossy().into_owned();
        self.begin_ask(Ask::File(path, of)).map_err(Unanswered::Failed)
    }
}

impl Begun {
    /// Waits for the answer about a file. `take` takes the bytes before it, and returns whether they may be.
    async fn receive(mut self, mut take: impl FnMut(Vec<u8>) -> bool) -> Result<AboutFile, Unanswered> {
        loop {
            match self.step().await? {
                Step::Part(Part::Bytes(bytes)) => {
                    let count = bytes.len();
                    if count == 0 || count > CHUNK || !take(bytes) {
                        return Err(LIE);
                    }
                    self.pass(Part::Taken(count as u64))?;
                }
                Step::Answer(Answer::File(about)) => return Ok(about),
                Step::Part(_) | Step::Answer(_) => return Err(LIE),
            }
        }
    }
}

fn is_there(about: &AboutFile) -> Result<bool, Unanswered> {
    match about {
        AboutFile::Done => Ok(true),
        AboutFile::Missing => Ok(false),
        AboutFile::Is(_) => Err(LIE),
    }
}

/// Returns whether this names an entry of a directory, and no other place.
fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\0'])
}

#[cfg(test)]
#[path = "files_tests.rs"]
mod tests;
