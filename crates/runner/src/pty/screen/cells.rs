//! The text of cells.

use alacritty_terminal::term::cell::{Cell, Flags};

/// The most combining marks of a cell. Further marks are neither shown nor kept.
pub(super) const MARKS: usize = 16;

/// Returns the text of a row, without the spaces at its end.
pub(super) fn row_text(cells: &[Cell]) -> String {
    let mut text = String::with_capacity(cells.len());
    let mut wide = false;
    for cell in cells {
        // Half of a wide character that was torn apart counts as a blank.
        if !(wide && cell.flags.contains(Flags::WIDE_CHAR_SPACER)) {
            text.push(character(cell));
            text.extend(cell.zerowidth().unwrap_or_default().iter().take(MARKS));
        }
        wide = cell.flags.contains(Flags::WIDE_CHAR);
    }
    text.truncate(text.trim_end_matches(' ').len());
    text
}

/// Returns the character that a cell shows.
pub(super) fn character(cell: &Cell) -> char {
    if cell.c == '\t' { ' ' } else { cell.c }
}
