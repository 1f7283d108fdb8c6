//! The screen of a terminal: an emulator without threads and without IO, fed with the output of a program.
//!
//! The emulator is `alacritty_terminal`. vt100, the other library that has only the screen, lacks `ESC ( 0` (line
//! drawing) and `CSI b` (repeat), which every ncurses program uses. Four steps come before the emulator sees a byte:
//!
//! - `split` cuts the bytes into text and whole escape sequences, so that the screen is the same under any split, and
//!   so that no unfinished sequence (an operating system command, for example) grows in memory.
//! - Everything that is never shown is dropped: hyperlinks, the clipboard, strings of devices. Concealed text is shown.
//!   Colours and styles wait beside the text, so that they cost little where text is skipped.
//! - Synchronized updates (`CSI ? 2026`) are drawn as they come, and a program that asks is told that they are unknown:
//!   a screen that waits for the end of an update could be hidden forever.
//! - Text waits until it has to be drawn. Lines that have scrolled off by then are never drawn (`skip`).

mod cell_style;
mod cells;
mod emulator_listener;
mod escape_splitter;
mod painter;
mod pending_styles;
mod screen_content;
mod screen_emulator;
mod scroll_skip;
#[cfg(test)]
mod tests;

use escape_splitter::{EscapeSplitter, TerminalOutputPiece};
use painter::ScreenPainter;
pub use screen_content::{ScreenContent, StyledScreen};

/// The most bytes that are taken in before they are drawn.
const STEP: usize = 64 * 1024;
/// About the most cells that may be touched at once.
const MOST_WORK: usize = 1024 * 1024;

/// The screen of a terminal. It has no scrollback: rows that leave it are gone.
///
/// The size is limited to 2 … 1,000 columns (a wide character needs two) and 1 … 1,000 rows, whatever size the terminal
/// has, because cells take memory.
pub struct EmulatedScreen {
    splitter: EscapeSplitter,
    painter: ScreenPainter,
}

impl EmulatedScreen {
    /// Returns an empty screen.
    pub fn new(cols: u16, rows: u16) -> Self {
        Self { splitter: EscapeSplitter::default(), painter: ScreenPainter::new(cols, rows) }
    }

    /// Takes in the output of a program, as much as can be drawn in some milliseconds. Returns the number of bytes
    /// taken: at least one, if there are any. Three bytes may clear a million cells. Any split of the same bytes gives
    /// the same screen.
    #[must_use = "what was not taken in is to be given again"]
    pub fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut work = 0;
        let mut taken = 0;
        while work < MOST_WORK && taken < bytes.len() {
            let step = &bytes[taken..bytes.len().min(taken + STEP)];
            let mut rest = step;
            while work < MOST_WORK
                && let Some(piece) = self.splitter.next(&mut rest)
            {
                match piece {
                    TerminalOutputPiece::Text { text, cut, style } => self.painter.add_text(text, cut, style),
                    TerminalOutputPiece::Sequence(sequence) => {
                        work += work_of(sequence, self.painter.cells());
                        self.painter.add_sequence(sequence);
                    }
                    TerminalOutputPiece::Command(command) => self.painter.add_command(&command),
                }
            }
            if self.painter.waiting() >= STEP {
                self.painter.draw();
            }
            taken += step.len() - rest.len();
        }
        taken
    }

    /// Takes in all bytes, however long that takes.
    #[cfg(test)]
    fn feed_all(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            bytes = &bytes[self.feed(bytes)..];
        }
    }

    /// Changes the size. Wrapped lines are wrapped anew, except on the alternate screen, whose program draws it again.
    pub fn resize(&mut self, cols: u16, rows: u16) {
        self.painter.resize(cols, rows);
    }

    /// Returns the current screen. Waiting text is drawn first, hence `&mut`.
    pub fn content(&mut self) -> ScreenContent {
        self.painter.content()
    }

    /// Returns the current screen with its colours and styles.
    pub fn styled(&mut self) -> StyledScreen {
        self.painter.styled()
    }

    /// Returns the answers to queries (status, cursor, attributes, modes, size in characters) since the last call, in
    /// their order. A query is answered at once. Beyond 64 KiB of untaken answers, further answers are dropped.
    /// Colours, clipboard and pixels are never reported.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.painter.take_replies()
    }
}

/// Returns how many of the screen's cells a sequence may touch.
fn work_of(sequence: &[u8], cells: usize) -> usize {
    match sequence {
        // The sequence clears, scrolls, or changes to the other screen.
        [0x1b, b'[', .., b'J' | b'L' | b'M' | b'S' | b'T'] | [0x1b, b'[', b'?', .., b'h' | b'l'] => cells,
        [0x1b, b'c'] | [0x1b, b'#', ..] => cells,
        // The sequence repeats a character, each time as if it came by itself.
        [0x1b, b'[', .., b'b'] => 4 * cells,
        _ => 1 + cells.isqrt(),
    }
}
