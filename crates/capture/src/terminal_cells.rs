//! One line of a terminal, cell by cell, for overdrawn lines with wide characters, combining marks, tabs or kept
//! sequences. Plain ASCII lines take the fast path in `line`.

use unicode_width::UnicodeWidthChar;

/// Tab stops are eight columns apart.
const TAB: usize = 8;
/// Column from which a tab takes a single cell, so that 64 KiB of tabs do not become megabytes of cells.
const TAB_LIMIT: usize = 128 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellGlyph {
    /// Never written, or erased. Shown as a space, and omitted at the end of the line.
    Blank,
    Narrow(char),
    /// A glyph of two cells: this cell and one `Rest`.
    Wide(char),
    /// A tab: this cell and as many `Rest` cells as the next tab stop requires.
    Tab,
    /// A further cell of the glyph to the left.
    Rest,
}

/// Characters without a cell of their own. They are rare, so cells point to them.
#[derive(Debug, Default)]
struct ZeroWidthCharacters {
    /// Control sequences in front of the glyph.
    before: String,
    /// Combining marks after it.
    marks: String,
}

#[derive(Debug)]
struct TerminalCell {
    glyph: CellGlyph,
    extra: Option<Box<ZeroWidthCharacters>>,
}

impl TerminalCell {
    const BLANK: Self = Self { glyph: CellGlyph::Blank, extra: None };

    /// Returns the number of bytes of this cell when it is shown.
    fn len(&self) -> usize {
        let glyph = match self.glyph {
            CellGlyph::Blank | CellGlyph::Tab => 1,
            CellGlyph::Narrow(c) | CellGlyph::Wide(c) => c.len_utf8(),
            CellGlyph::Rest => 0,
        };
        glyph + self.extra.as_ref().map_or(0, |extra| extra.before.len() + extra.marks.len())
    }
}

#[derive(Debug, Default)]
pub(super) struct TerminalLineCells {
    row: Vec<TerminalCell>,
    cursor: usize,
    /// Sequences to attach to the next cell that is written.
    waiting: String,
    /// Sum of the lengths of all cells.
    len: usize,
    /// Cells that were blanked or added since the line began.
    touched: usize,
}

impl TerminalLineCells {
    pub(super) fn clear(&mut self) {
        self.row.clear();
        // A line of tabs must not keep its cells forever.
        self.row.shrink_to(TAB_LIMIT);
        self.waiting.clear();
        self.cursor = 0;
        self.len = 0;
        self.touched = 0;
    }

    pub(super) fn touched(&self) -> usize {
        self.touched
    }

    /// Returns the number of bytes of the line if it were shown now.
    pub(super) fn len(&self) -> usize {
        self.len + self.waiting.len()
    }

    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Returns the number of columns up to the last cell.
    pub(super) fn columns(&self) -> usize {
        self.row.len()
    }

    pub(super) fn move_to(&mut self, column: usize) {
        if column == self.cursor {
            return;
        }
        if !self.waiting.is_empty() {
            // Sequences stay where they were written: an `ESC [0m` must not move.
            self.extend_to(self.cursor + 1);
            let waiting = std::mem::take(&mut self.waiting);
            self.edit(self.cursor, |cell| cell.extra.get_or_insert_default().before.push_str(&waiting));
        }
        self.cursor = column;
    }

    /// Attaches a sequence without width at the cursor.
    pub(super) fn attach(&mut self, raw: &str) {
        self.waiting.push_str(raw);
    }

    pub(super) fn write(&mut self, c: char) {
        match if c == '\t' { None } else { c.width() } {
            None if c == '\t' => self.tab(),
            None | Some(0) => self.attach_mark(c),
            Some(1) => self.put_glyph(CellGlyph::Narrow(c), 1),
            Some(_) => {
                let over = self.cursor.checked_sub(1).filter(|&lead| {
                    // man prints a bold wide character twice with one backspace in between, which leads into the middle
                    // of it.
                    self.row.get(self.cursor).is_some_and(|cell| cell.glyph == CellGlyph::Rest)
                        && self.row[lead].glyph == CellGlyph::Wide(c)
                });
                self.cursor = over.unwrap_or(self.cursor);
                self.put_glyph(CellGlyph::Wide(c), 2);
            }
        }
    }

    /// Executes a tab. A tab over text only moves the cursor. A tab past the end is written, so that plain lines keep
    /// tabs.
    fn tab(&mut self) {
        let stop = if self.cursor < TAB_LIMIT { self.cursor / TAB * TAB + TAB } else { self.cursor + 1 };
        if stop > self.row.len() {
            let from = self.cursor.max(self.row.len());
            self.move_to(from);
            self.put_glyph(CellGlyph::Tab, stop - from);
        } else {
            self.move_to(stop);
        }
    }

    fn attach_mark(&mut self, c: char) {
        let before = self.cursor.checked_sub(1).filter(|&at| at < self.row.len() && self.waiting.is_empty());
        match before {
            Some(at) => {
                let lead = self.glyph_start(at);
                self.edit(lead, |cell| cell.extra.get_or_insert_default().marks.push(c));
            }
            None => self.waiting.push(c),
        }
    }

    fn put_glyph(&mut self, glyph: CellGlyph, width: usize) {
        self.extend_to(self.cursor);
        let end = self.cursor + width;
        self.erase(self.cursor, end.min(self.row.len()));
        self.extend_to(end);
        let waiting = std::mem::take(&mut self.waiting);
        self.edit(self.cursor, |cell| {
            cell.glyph = glyph;
            if !waiting.is_empty() {
                cell.extra.get_or_insert_default().before = waiting;
            }
        });
        for at in self.cursor + 1..end {
            self.edit(at, |cell| cell.glyph = CellGlyph::Rest);
        }
        self.cursor = end;
    }

    /// Blanks the cells of a range. A partly covered glyph is removed as a whole.
    pub(super) fn erase(&mut self, from: usize, to: usize) {
        let to = to.min(self.row.len());
        if from >= to {
            return;
        }
        let mut at = self.glyph_start(from);
        self.touched += to - at;
        while at < to || self.row.get(at).is_some_and(|cell| cell.glyph == CellGlyph::Rest) {
            self.edit(at, |cell| *cell = TerminalCell::BLANK);
            at += 1;
        }
    }

    /// Erases from a column to the end.
    pub(super) fn truncate(&mut self, column: usize) {
        self.erase(column, self.row.len());
        if column < self.row.len() {
            self.len -= self.row.len() - column;
            self.row.truncate(column);
        }
    }

    /// Renders the line as it would be shown now, without trailing blanks.
    pub(super) fn render(&self, out: &mut String) {
        let shown = self.row.iter().rposition(|cell| cell.glyph != CellGlyph::Blank).map_or(0, |last| last + 1);
        for (at, cell) in self.row.iter().enumerate() {
            if let Some(extra) = &cell.extra {
                out.push_str(&extra.before);
            }
            if at == self.cursor {
                out.push_str(&self.waiting);
            }
            match cell.glyph {
                CellGlyph::Blank if at < shown => out.push(' '),
                CellGlyph::Narrow(c) | CellGlyph::Wide(c) => out.push(c),
                CellGlyph::Tab => out.push('\t'),
                CellGlyph::Blank | CellGlyph::Rest => {}
            }
            if let Some(extra) = &cell.extra {
                out.push_str(&extra.marks);
            }
        }
        if self.cursor >= self.row.len() {
            out.push_str(&self.waiting);
        }
    }

    /// Returns the first cell of the glyph to which the cell `at` belongs.
    fn glyph_start(&self, at: usize) -> usize {
        (0..=at).rev().find(|&i| self.row[i].glyph != CellGlyph::Rest).unwrap_or(0)
    }

    /// Extends the row to at least this many columns.
    fn extend_to(&mut self, columns: usize) {
        self.touched += columns.saturating_sub(self.row.len());
        while self.row.len() < columns {
            self.row.push(TerminalCell::BLANK);
            self.len += 1;
        }
    }

    fn edit(&mut self, at: usize, change: impl FnOnce(&mut TerminalCell)) {
        let cell = &mut self.row[at];
        self.len -= cell.len();
        change(cell);
        self.len += cell.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> TerminalLineCells {
        let mut cells = TerminalLineCells::default();
        text.chars().for_each(|c| cells.write(c));
        cells
    }

    fn shown(cells: &TerminalLineCells) -> String {
        let mut out = String::new();
        cells.render(&mut out);
        out
    }

    #[test]
    fn half_of_a_wide_glyph_overwritten_leaves_no_half() {
        let mut cells = line("日本");
        cells.move_to(1);
        cells.write('x');
        assert_eq!(shown(&cells), " x本");
        assert_eq!(cells.len(), 5);
    }

    #[test]
    fn tabs_stay_until_they_are_written_over() {
        let mut cells = line("a\tb");
        assert_eq!((shown(&cells), cells.columns()), ("a\tb".into(), 9));
        cells.move_to(0);
        cells.write('\t');
        assert_eq!(cells.cursor(), 8, "a tab over text only moves");
        cells.move_to(4);
        cells.write('x');
        assert_eq!(shown(&cells), "a   x   b");
    }

    #[test]
    fn marks_go_with_their_glyph() {
        let mut cells = line("e\u{301}x");
        assert_eq!(shown(&cells), "e\u{301}x");
        cells.move_to(0);
        cells.write('u');
        assert_eq!(shown(&cells), "ux");
        assert_eq!(cells.len(), 2);
    }

    #[test]
    fn kept_sequences_stay_in_their_place() {
        let mut cells = TerminalLineCells::default();
        cells.attach("<red>");
        "50%".chars().for_each(|c| cells.write(c));
        cells.attach("<off>");
        cells.move_to(0);
        cells.attach("<green>");
        cells.write('9');
        assert_eq!(shown(&cells), "<green>90%<off>");
        cells.truncate(0);
        assert_eq!(shown(&cells), "");
        assert_eq!(cells.len(), 0);
    }
}
