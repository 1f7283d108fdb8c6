//! A line that is being overdrawn: a carriage return, a backspace or a motion makes the line more than text.

use super::escape_recognizer::{CsiLineEffect, EscapeRecognizer, EscapeStep};
use super::terminal_cells::TerminalLineCells;

/// Most bytes of a line that collapses: 64 KiB. A line that costs too much to draw has exceeded its limit, too.
pub(super) const LINE_LIMIT: usize = 64 * 1024;

/// The cells that a line of this many bytes may blank or add. A few bytes can erase a whole line, and a few more fill
/// it with blanks again. A bar at the right margin of a wide terminal takes 30 for each byte.
fn allowed_cell_changes(drawn: usize) -> usize {
    LINE_LIMIT / 4 + 48 * drawn
}

/// The delivered part of the unfinished line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeliveredLinePart {
    Nothing,
    /// The line exceeded its limit: the rest is delivered as it arrives and no longer collapses.
    Long,
    /// Delivered by `Cleaner::settle`: later drawing over it becomes a line of its own.
    Settled,
}

/// Most columns that a motion can go beyond the end of the text. A terminal also stops at its right margin. Without a
/// bound, ten bytes of input could request megabytes of blanks.
const MARGIN: usize = 256;

/// Marks a cell that was never written or was erased. No text contains it.
const BLANK: u8 = 0;

#[derive(Debug, Default)]
pub(super) struct OverdrawnLine {
    way: LineRepresentation,
    /// `Way::Ascii`: one byte per cell.
    ascii: Vec<u8>,
    cursor: usize,
    cells: TerminalLineCells,
    /// Bytes of the text and the sequences that were drawn.
    drawn: usize,
    /// Cells of `ascii` that were blanked or added.
    touched: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LineRepresentation {
    /// No line: text is appended elsewhere.
    #[default]
    Off,
    /// Every cell is printable ASCII.
    Ascii,
    Cells,
}

impl OverdrawnLine {
    pub(super) fn is_active(&self) -> bool {
        self.way != LineRepresentation::Off
    }

    /// Takes over a plain text line, with the cursor at its end.
    pub(super) fn begin(&mut self, text: &str) {
        self.ascii.clear();
        (self.cursor, self.drawn, self.touched) = (0, text.len(), 0);
        if is_one_cell_a_byte(text.as_bytes()) {
            self.way = LineRepresentation::Ascii;
            self.ascii.extend_from_slice(text.as_bytes());
            self.cursor = text.len();
        } else {
            self.way = LineRepresentation::Cells;
            self.cells.clear();
            self.write_cells(text);
        }
    }

    /// Forgets the line.
    pub(super) fn end(&mut self) {
        self.way = LineRepresentation::Off;
    }

    /// Writes text without newlines at the cursor, up to the character that makes the line exceed its limit. Returns
    /// the bytes taken. Fewer than all, or [`OverdrawnLine::is_over`], mean that the line has exceeded its limit.
    pub(super) fn write(&mut self, text: &str) -> usize {
        if self.way == LineRepresentation::Ascii && is_one_cell_a_byte(text.as_bytes()) {
            return self.write_ascii(text.as_bytes());
        }
        self.use_cells();
        for (at, c) in text.char_indices() {
            if self.is_over() {
                return at;
            }
            self.drawn += c.len_utf8();
            self.cells.write(c);
        }
        text.len()
    }

    pub(super) fn is_over(&self) -> bool {
        let (len, touched) = match self.way {
            LineRepresentation::Off => return false,
            LineRepresentation::Ascii => (self.ascii.len(), self.touched),
            LineRepresentation::Cells => (self.cells.len(), self.cells.touched()),
        };
        len > LINE_LIMIT || touched > allowed_cell_changes(self.drawn)
    }

    /// Attaches a control sequence, which takes no columns, at the cursor.
    pub(super) fn attach(&mut self, raw: &str) {
        self.drawn += raw.len();
        self.use_cells();
        self.cells.attach(raw);
    }

    /// Carries out a motion of this many bytes. Afterwards the line may have exceeded its limit.
    pub(super) fn apply_effect(&mut self, motion: CsiLineEffect, bytes: usize) {
        self.drawn += bytes;
        let (cursor, end) = match self.way {
            LineRepresentation::Ascii => (self.cursor, self.ascii.len()),
            _ => (self.cells.cursor(), self.cells.columns()),
        };
        match motion {
            CsiLineEffect::Left(n) => self.move_to(cursor.saturating_sub(n)),
            // The cursor may already be beyond the margin, and no motion to the right moves it back.
            CsiLineEffect::Right(n) => self.move_to(cursor.saturating_add(n).min(end.max(MARGIN).max(cursor))),
            CsiLineEffect::Column(n) => self.move_to(n.min(end.max(MARGIN))),
            CsiLineEffect::EraseRight => self.truncate(cursor),
            CsiLineEffect::EraseLine => self.truncate(0),
            CsiLineEffect::EraseLeft => match self.way {
                LineRepresentation::Ascii => {
                    let left = &mut self.ascii[..end.min(cursor + 1)];
                    left.fill(BLANK);
                    self.touched += left.len();
                }
                _ => self.cells.erase(0, cursor + 1),
            },
        }
    }

    /// Appends the line as it would be shown now: inner blanks as spaces, and no trailing blanks.
    pub(super) fn render(&self, out: &mut String) {
        match self.way {
            LineRepresentation::Off => {}
            LineRepresentation::Cells => self.cells.render(out),
            LineRepresentation::Ascii => {
                let shown = self.ascii.iter().rposition(|&byte| byte != BLANK).map_or(0, |last| last + 1);
                for (i, piece) in self.ascii[..shown].split(|&byte| byte == BLANK).enumerate() {
                    if i > 0 {
                        out.push(' ');
                    }
                    out.push_str(str::from_utf8(piece).unwrap_or_default());
                }
            }
        }
    }

    /// Returns the column of the cursor, and whether it is at the end of the text.
    pub(super) fn cursor(&self) -> (usize, bool) {
        match self.way {
            LineRepresentation::Off => (0, true),
            LineRepresentation::Ascii => (self.cursor, self.cursor == self.ascii.len()),
            LineRepresentation::Cells => (self.cells.cursor(), self.cells.cursor() == self.cells.columns()),
        }
    }

    fn write_ascii(&mut self, text: &[u8]) -> usize {
        if self.cursor > self.ascii.len() {
            self.touched += self.cursor - self.ascii.len();
            self.ascii.resize(self.cursor, BLANK);
        }
        // The first byte may take more cells than it pays for.
        let most = if self.touched > allowed_cell_changes(self.drawn + 1) { 1 } else { text.len() };
        let taken = most.min((LINE_LIMIT + 1).saturating_sub(self.cursor));
        self.drawn += taken;
        let over = taken.min(self.ascii.len() - self.cursor);
        self.ascii[self.cursor..self.cursor + over].copy_from_slice(&text[..over]);
        self.ascii.extend_from_slice(&text[over..taken]);
        self.cursor += taken;
        taken
    }

    fn move_to(&mut self, column: usize) {
        match self.way {
            LineRepresentation::Ascii => self.cursor = column,
            _ => self.cells.move_to(column),
        }
    }

    fn truncate(&mut self, column: usize) {
        match self.way {
            LineRepresentation::Ascii => self.ascii.truncate(column),
            _ => self.cells.truncate(column),
        }
    }

    fn use_cells(&mut self) {
        if self.way == LineRepresentation::Ascii {
            self.way = LineRepresentation::Cells;
            self.cells.clear();
            for (column, &byte) in self.ascii.iter().enumerate().filter(|&(_, &byte)| byte != BLANK) {
                self.cells.move_to(column);
                self.cells.write(char::from(byte));
            }
            self.cells.move_to(self.cursor);
        }
    }

    /// Writes text that may contain kept control sequences.
    fn write_cells(&mut self, text: &str) {
        let mut escape = EscapeRecognizer::default();
        for (at, c) in text.char_indices() {
            if (escape.is_inside_sequence() || c.is_control() && c != '\t') && escape.step(c) != EscapeStep::Text {
                self.cells.attach(&text[at..at + c.len_utf8()]);
            } else {
                self.cells.write(c);
            }
        }
    }
}

/// Returns whether the text is printable ASCII.
pub(super) fn is_one_cell_a_byte(text: &[u8]) -> bool {
    text.iter().fold(true, |all, byte| all & (byte.wrapping_sub(0x20) < 0x5F))
}
