//! The exit code of a command as its shell reports it, while the shell still saves its state.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::Instant;

use protocol::Ended;

/// So close to its limit a command may have been terminated already.
const MARGIN: Duration = Duration::from_millis(20);

/// The pipe on which a shell reports the exit code of its command, and the report.
#[derive(Default)]
pub struct EarlyEnd {
    /// `None` where no shell reports, and once it has.
    pipe: Option<AsyncFd<OwnedFd>>,
    bytes: Vec<u8>,
    directory: Option<PathBuf>,
    /// The end of a confined command, whose denials are not known yet.
    held: Option<Ended>,
    ended: bool,
}

/// The report of a shell.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    exit_code: i32,
    directory: PathBuf,
}

impl EarlyEnd {
    /// `pipe` is the reading end, if the shell reports.
    pub fn new(pipe: Option<&OwnedFd>) -> io::Result<Self> {
        let watch = |pipe: &OwnedFd| sys::watch(pipe.try_clone()?, Interest::READABLE);
        Ok(Self { pipe: pipe.map(watch).transpose()?, ..Self::default() })
    }

    /// Waits for something to read; forever where no shell reports.
    pub async fn readable(&self) {
        match &self.pipe {
            Some(pipe) => drop(pipe.readable().await),
            None => std::future::pending().await,
        }
    }

    /// Reads on. Returns the exit code once the report is whole.
    pub fn read(&mut self) -> Option<i32> {
        let mut buffer = [0_u8; 8 * 1024];
        let pipe = self.pipe.as_ref()?;
        let read = pipe.try_io(Interest::READABLE, |pipe| Ok(nix::unistd::read(pipe, &mut buffer)?));
        self.bytes.extend_from_slice(&buffer[..read.unwrap_or(0)]);
        let Report { exit_code, directory } = Report::parse(&self.bytes)?;
        self.pipe = None;
        self.directory = Some(directory);
        Some(exit_code)
    }

    /// Keeps the exit of the command until its denials are known.
    pub fn hold(&mut self, ended: Ended) {
        self.held = Some(ended);
    }

    /// Returns the exit that was kept.
    pub fn take_held(&mut self) -> Option<Ended> {
        self.held.take()
    }

    /// The command has ended as reported.
    pub fn confirm(&mut self) {
        self.ended = true;
    }

    /// Whether the command has ended and its shell has not exited yet.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The directory that the shell reported.
    pub fn into_directory(self) -> Option<PathBuf> {
        self.directory
    }
}

impl Report {
    /// Exit code and directory, each ended by a NUL; `None` before both are there.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = bytes.split_inclusive(|byte| *byte == 0).map(|field| field.strip_suffix(&[0]));
        let exit_code = std::str::from_utf8(fields.next()??).ok()?.parse().ok()?;
        let directory = OsString::from_vec(fields.next()??.to_vec()).into();
        Some(Self { exit_code, directory })
    }
}

/// Whether a report can be believed before the shell exits. A shell that is being terminated runs its EXIT trap, too,
/// and reports the exit code of the command before that.
pub fn is_believable(now: Instant, limit_at: Option<Instant>, limits_over_tree: bool) -> bool {
    !limits_over_tree && limit_at.is_none_or(|at| now + MARGIN < at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_report_counts_once_it_is_whole() {
        let whole = Report { exit_code: 3, directory: "/tmp".into() };
        assert_eq!(Report::parse(b"3\0/tmp\0"), Some(whole));
        for part in [&b""[..], b"3", b"3\0", b"3\0/tmp", b"x\0/tmp\0"] {
            assert_eq!(Report::parse(part), None, "{}", String::from_utf8_lossy(part));
        }
    }

    #[test]
    fn a_report_close_to_the_limit_is_not_believed() {
        let now = Instant::now();
        assert!(is_believable(now, None, false));
        assert!(is_believable(now, Some(now + MARGIN * 2), false));
        assert!(!is_believable(now, Some(now + MARGIN), false));
        assert!(!is_believable(now, Some(now), false));
        assert!(!is_believable(now, None, true), "the tree may have used too much");
    }

    #[tokio::test]
    async fn a_report_is_read_in_pieces() {
        let (read, write) = sys::pipe().expect("a pipe");
        sys::set_nonblocking(&read).expect("set");
        let mut early = EarlyEnd::new(Some(&read)).expect("watched");
        let mut write = std::fs::File::from(write);
        write.write_all(b"7\0/h").expect("written");
        early.readable().await;
        assert_eq!(early.read(), None);
        write.write_all(b"ome\0").expect("written");
        early.readable().await;
        assert_eq!(early.read(), Some(7));
        assert!(!early.has_ended(), "not before it is confirmed");
        early.confirm();
        assert!(early.has_ended());
        assert_eq!(early.into_directory(), Some("/home".into()));
    }
}
