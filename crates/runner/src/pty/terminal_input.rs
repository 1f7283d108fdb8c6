//! The input of a terminal's program. It is typed as fast as the terminal takes it, in order and without loss.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// The most that is typed at once, bytes.
const CHUNK: usize = 2048;

/// Input that is not typed yet.
#[derive(Default)]
pub(super) struct TerminalInput {
    state: Mutex<TerminalInputQueue>,
    /// Notified when there is input to type.
    pub woken: Notify,
}

#[derive(Default)]
pub(super) struct TerminalInputQueue {
    pub queue: VecDeque<QueuedInput>,
    /// Bytes of the unfinished line, which a program that reads whole lines cannot see yet.
    line: usize,
    /// The answer to a question of the program. It is sent if the callers that draw the terminal do not answer.
    pub answer: Option<(Instant, Vec<u8>)>,
}

pub(super) struct QueuedInput {
    pub bytes: Vec<u8>,
    pub typed: usize,
    /// Notified once the whole input was typed.
    pub done: Option<oneshot::Sender<()>>,
}

impl TerminalInput {
    pub fn state(&self) -> MutexGuard<'_, TerminalInputQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wake(&self) {
        self.woken.notify_one();
    }

    /// Drops the remaining input, because the program has ended.
    pub fn drop_queued(&self) {
        *self.state() = TerminalInputQueue::default();
    }
}

impl TerminalInputQueue {
    /// Types as much as the terminal takes. `WouldBlock` when it takes no more.
    pub fn type_queued(&mut self, master: &OwnedFd) -> io::Result<()> {
        while let Some(piece) = self.queue.front_mut() {
            let rest = &piece.bytes[piece.typed..];
            let lines = sys::line_end_key(master);
            let key = [lines.unwrap_or_default()];
            // A program that reads whole lines would get a longer line cut, so its parts are handed over as they are.
            let (next, from_piece) = match lines {
                Some(_) if self.line >= sys::LONGEST_LINE => (&key[..], false),
                Some(_) => (&rest[..rest.len().min(CHUNK).min(sys::LONGEST_LINE - self.line)], true),
                None => (&rest[..rest.len().min(CHUNK)], true),
            };
            match nix::unistd::write(master, next) {
                Ok(count) => {
                    self.line = line_after(self.line, &next[..count], lines);
                    if from_piece {
                        piece.typed += count;
                    }
                }
                Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            if piece.typed == piece.bytes.len()
                && let Some(done) = self.queue.pop_front().and_then(|piece| piece.done)
            {
                let _ = done.send(());
            }
        }
        Ok(())
    }
}

/// Returns the length of the unfinished line once these bytes are typed.
fn line_after(line: usize, typed: &[u8], lines: Option<u8>) -> usize {
    const ERASE_LINE: u8 = 0x15;
    const BACKSPACES: [u8; 2] = [0x08, 0x7f];
    typed.iter().fold(line, |line, byte| match byte {
        b'\n' | b'\r' | &ERASE_LINE => 0,
        key if Some(*key) == lines => 0,
        key if BACKSPACES.contains(key) => line.saturating_sub(1),
        _ => line + 1,
    })
}

/// Returns whether the bytes look like the answer of a terminal, and not like a key.
pub(super) fn is_answer(bytes: &[u8]) -> bool {
    match bytes {
        [0x1b, b'[', parameters @ .., last] => {
            matches!(last, b'R' | b'c' | b'n' | b'y' | b't')
                && parameters.first().is_some_and(|first| first.is_ascii_digit() || matches!(first, b'?' | b'>' | b'='))
        }
        [0x1b, b']' | b'P', ..] => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_keys() {
        for answer in ["\x1b[3;4R", "\x1b[?62;c", "\x1b[0n", "\x1b[?2026;2$y", "\x1b]11;rgb:0/0/0\x07"] {
            assert!(is_answer(answer.as_bytes()), "{answer:?}");
        }
        for key in ["\x1b[A", "\x1b[5~", "\x1bOP", "c", "\x1b", "\x1b[1;5C", "\x1b[200~x"] {
            assert!(!is_answer(key.as_bytes()), "{key:?}");
        }
    }

    #[test]
    fn a_line_is_counted_up_to_its_end() {
        assert_eq!(line_after(0, b"abc", Some(4)), 3);
        assert_eq!(line_after(3, b"de\nf", Some(4)), 1);
        assert_eq!(line_after(3, b"\x04", Some(4)), 0);
        assert_eq!(line_after(3, b"\x04", None), 4);
        assert_eq!(line_after(2, b"\x7f\x7f\x7fa", Some(4)), 1);
    }
}
