//! The emulator, with the corrections that it needs.

use std::time::Duration;

use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::{Config, Osc52, Term, TermMode};
use alacritty_terminal::vte::ansi::{Handler, NamedPrivateMode, Processor, Timeout};

use super::cell_style;
use super::cells::{MARKS, row_text};
use super::emulator_listener::EmulatorListener;
use super::pending_styles::PendingStyles;
use super::screen_content::{ScreenContent, StyledScreen};
use super::scroll_skip::{self, ScrollSkip};

const LARGEST: usize = 1_000;
/// Number of non-ASCII text bytes after which cells are checked for marks.
const MARKS_EVERY: usize = 64 * 1024;

pub(super) struct ScreenEmulator {
    term: Term<EmulatorListener>,
    parser: Processor<UndelayedUpdates>,
    answers: EmulatorListener,
    /// Bytes of text since the last check that may have brought marks.
    unlooked: usize,
    /// Whether nothing is skipped, for comparison in tests.
    #[cfg(test)]
    pub(super) draws_all: bool,
    /// Bytes that were not drawn.
    #[cfg(test)]
    pub(super) skipped: usize,
}

#[derive(Clone, Copy)]
struct EmulatorSize {
    cols: usize,
    rows: usize,
}

impl EmulatorSize {
    fn new(cols: u16, rows: u16) -> Self {
        Self { cols: usize::from(cols).clamp(2, LARGEST), rows: usize::from(rows).clamp(1, LARGEST) }
    }
}

impl Dimensions for EmulatorSize {
    fn total_lines(&self) -> usize {
        self.rows
    }

    fn screen_lines(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.cols
    }
}

/// A timeout that is never pending, because synchronized updates are drawn as they come.
#[derive(Default)]
struct UndelayedUpdates;

impl Timeout for UndelayedUpdates {
    fn set_timeout(&mut self, _: Duration) {}

    fn clear_timeout(&mut self) {}

    fn pending_timeout(&self) -> bool {
        false
    }
}

impl ScreenEmulator {
    pub(super) fn new(cols: u16, rows: u16) -> Self {
        let answers = EmulatorListener::default();
        let config =
            Config { scrolling_history: 0, osc52: Osc52::Disabled, kitty_keyboard: false, ..Config::default() };
        Self {
            term: Term::new(config, &EmulatorSize::new(cols, rows), answers.clone()),
            parser: Processor::new(),
            answers,
            unlooked: 0,
            #[cfg(test)]
            draws_all: false,
            #[cfg(test)]
            skipped: 0,
        }
    }

    /// Draws text of whole characters with its colours and styles.
    pub(super) fn draw_text(&mut self, text: &[u8], styles: &PendingStyles) {
        let from = text.len() - self.skip_scrolled_off(text).len();
        if styles.is_empty() {
            return self.draw_plain(&text[from..]);
        }
        self.parser.advance(&mut self.term, styles.active_before(from));
        for (piece, style) in styles.pieces(text, from) {
            self.draw_plain(piece);
            self.parser.advance(&mut self.term, style);
        }
    }

    fn draw_plain(&mut self, text: &[u8]) {
        if text.is_ascii() {
            self.parser.advance(&mut self.term, text);
            return;
        }
        for chunk in text.utf8_chunks() {
            self.parser.advance(&mut self.term, chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                self.parser.advance(&mut self.term, "\u{fffd}".as_bytes());
            }
        }
        self.count_drawn_text(text.len());
    }

    /// Executes a whole escape sequence.
    pub(super) fn execute_sequence(&mut self, sequence: &[u8]) {
        match sequence {
            b"\x1b[!p" => self.reset_softly(),
            b"\x1b[?2026$p" => self.answers.reply("\x1b[?2026;0$y"),
            [0x1b, b'[', number @ .., last] if number.iter().all(u8::is_ascii_digit) => {
                self.execute_numbered(number, *last, sequence)
            }
            _ => {
                // The other screen cannot be checked.
                if self.unlooked > 0 && matches!(sequence, [0x1b, b'[', b'?', .., b'h' | b'l']) {
                    self.drop_marks();
                }
                self.parser.advance(&mut self.term, sequence);
            }
        }
    }

    /// Performs DECSTR, which the library does not know. The cursor stays where it is, even after the last column.
    fn reset_softly(&mut self) {
        let cursor = &self.term.grid().cursor;
        let (point, wraps) = (cursor.point, cursor.input_needs_wrap);
        self.parser.advance(&mut self.term, b"\x1b[?1l\x1b[?6l\x1b[?7h\x1b[?25h\x1b[4l\x1b>\x1b(B\x0f\x1b[m\x1b[r");
        let cursor = &mut self.term.grid_mut().cursor;
        (cursor.point, cursor.input_needs_wrap) = (point, wraps);
    }

    pub(super) fn set_title(&mut self, title: String) {
        self.term.set_title(Some(title));
    }

    pub(super) fn resize(&mut self, cols: u16, rows: u16) {
        let size = EmulatorSize::new(cols, rows);
        let alternate = self.term.mode().contains(TermMode::ALT_SCREEN);
        if !alternate {
            // Rows that the new wrapping moves up return as long as rows below are free, so a history exists during the
            // change.
            self.term.grid_mut().update_history(LARGEST);
        }
        // The change takes several steps. All rows that can arise are made, each with room for as many cells as before.
        // Only then are the surplus rows dropped.
        while self.term.columns() / 2 > size.cols {
            self.term.resize(EmulatorSize { cols: self.term.columns() / 2, rows: self.term.screen_lines() });
        }
        self.term.resize(size);
        if alternate {
            return;
        }
        let used = self.used_rows();
        if self.term.history_size() > 0 && used < size.rows {
            self.term.resize(EmulatorSize { rows: used, ..size });
            self.term.resize(size);
        }
        self.term.grid_mut().update_history(0);
    }

    pub(super) fn cells(&self) -> usize {
        self.term.columns() * self.term.screen_lines()
    }

    pub(super) fn take_replies(&mut self) -> Vec<u8> {
        self.answers.take()
    }

    pub(super) fn content(&self) -> ScreenContent {
        let grid = self.term.grid();
        let lines = (0..grid.screen_lines()).map(|row| row_text(&grid[Line(row as i32)][..])).collect();
        let cursor = grid.cursor.point;
        ScreenContent {
            lines,
            row: cursor.line.0 as u16,
            col: cursor.column.0 as u16,
            title: self.answers.title(),
            alternate: self.term.mode().contains(TermMode::ALT_SCREEN),
            application_cursor: self.term.mode().contains(TermMode::APP_CURSOR),
            bracketed_paste: self.term.mode().contains(TermMode::BRACKETED_PASTE),
        }
    }

    pub(super) fn styled(&self) -> StyledScreen {
        let ScreenContent { lines: plain, row, col, title, .. } = self.content();
        let grid = self.term.grid();
        let lines = (0..grid.screen_lines()).map(|row| cell_style::styled_row(&grid[Line(row as i32)][..])).collect();
        StyledScreen { lines, plain, rows: grid.screen_lines() as u16, cols: grid.columns() as u16, row, col, title }
    }

    /// Returns the number of rows up to the last row that has any content or the cursor.
    fn used_rows(&self) -> usize {
        let grid = self.term.grid();
        let filled =
            (0..grid.screen_lines()).rev().find(|row| !grid[Line(*row as i32)].is_clear()).map_or(0, |row| row + 1);
        filled.max(grid.cursor.point.line.0 as usize + 1)
    }

    /// Executes sequences with one number, some of which the library gets wrong.
    fn execute_numbered(&mut self, number: &[u8], last: u8, sequence: &[u8]) {
        let count =
            number.iter().fold(0_usize, |sum, digit| sum.saturating_mul(10).saturating_add(usize::from(digit - b'0')));
        let cursor = self.term.grid().cursor.point;
        match last {
            // These take time in proportion to the number.
            b'b' | b'Z' => {
                let count = if last == b'b' { count.min(self.cells()) } else { count.min(self.term.columns()) };
                self.parser.advance(&mut self.term, format!("\x1b[{count}{}", char::from(last)).as_bytes());
                // The repeated character may be a combining mark.
                self.count_drawn_text(count * 2);
            }
            // Without cells to the right of the cursor, the library deletes cells to its left.
            b'P' if count > self.term.columns() - cursor.column.0 => {
                let count = self.term.columns() - cursor.column.0;
                self.parser.advance(&mut self.term, format!("\x1b[{count}X").as_bytes());
            }
            _ => {
                self.parser.advance(&mut self.term, sequence);
                // The library does not clear the first row when the cursor is in the second row.
                if last == b'J' && count == 1 && cursor.line == 1 {
                    self.term.grid_mut().reset_region(..cursor.line);
                }
            }
        }
    }

    /// Skips lines that will have scrolled off, and returns the text to draw.
    fn skip_scrolled_off<'a>(&mut self, text: &'a [u8]) -> &'a [u8] {
        let (rows, cols) = (self.term.screen_lines(), self.term.columns());
        let row = self.term.grid().cursor.point.line.0 as usize;
        let mode = *self.term.mode();
        let Some(ScrollSkip { first, home, from }) = scroll_skip::skip_lines(text, rows, row).or_else(|| {
            let wraps = mode.contains(TermMode::LINE_WRAP) && !mode.contains(TermMode::INSERT);
            if wraps { scroll_skip::skip_wrapped_line(text, rows, cols) } else { None }
        }) else {
            return text;
        };
        if !self.scrolls_whole() {
            return text;
        }
        #[cfg(test)]
        {
            if self.draws_all {
                return text;
            }
            self.skipped += from;
        }
        self.parser.advance(&mut self.term, first);
        let cursor = &mut self.term.grid_mut().cursor;
        cursor.point.line = Line(rows as i32 - 1);
        if home {
            cursor.point.column = Column(0);
            cursor.input_needs_wrap = false;
        }
        &text[from..]
    }

    /// Returns whether the scroll region is the whole screen. The library does not tell, but in origin mode the cursor
    /// cannot leave the region. On a screen of a single row this is always `false`, because a region below the screen
    /// looks the same there.
    fn scrolls_whole(&mut self) -> bool {
        let cursor = self.term.grid().cursor.clone();
        let origin = self.term.mode().contains(TermMode::ORIGIN);
        let last = self.term.screen_lines() as i32 - 1;
        self.term.set_private_mode(NamedPrivateMode::Origin.into());
        let top = self.term.grid().cursor.point.line;
        self.term.goto(last, 0);
        let bottom = self.term.grid().cursor.point.line;
        if !origin {
            self.term.unset_private_mode(NamedPrivateMode::Origin.into());
        }
        self.term.grid_mut().cursor = cursor;
        last > 0 && top == 0 && bottom == last
    }

    /// Counts text that may have brought marks, and checks for marks now and then, because the library keeps any number
    /// in a cell.
    fn count_drawn_text(&mut self, bytes: usize) {
        self.unlooked += bytes;
        if self.unlooked >= MARKS_EVERY {
            self.drop_marks();
        }
    }

    fn drop_marks(&mut self) {
        self.unlooked = 0;
        for row in 0..self.term.screen_lines() {
            for cell in &mut self.term.grid_mut()[Line(row as i32)] {
                if let Some(marks) = cell.zerowidth().filter(|marks| marks.len() > MARKS) {
                    let kept = marks[..MARKS].to_vec();
                    cell.extra = None;
                    kept.into_iter().for_each(|mark| cell.push_zerowidth(mark));
                }
            }
        }
    }
}

#[cfg(test)]
impl ScreenEmulator {
    /// Returns the most combining marks that a cell keeps.
    pub(super) fn most_marks(&self) -> usize {
        let cells = self.term.grid().display_iter();
        cells.filter_map(|cell| cell.zerowidth().map(<[char]>::len)).max().unwrap_or(0)
    }
}
