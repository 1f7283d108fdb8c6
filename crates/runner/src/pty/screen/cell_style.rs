//! A row with its colours and styles, as text with escape sequences.

use std::fmt::Write;

use alacritty_terminal::term::cell::{Cell, Flags};
use alacritty_terminal::vte::ansi::{Color, NamedColor, Rgb};

use super::cells::{MARKS, character};

/// The look of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CellStyle {
    front: Color,
    back: Color,
    flags: Flags,
}

const PLAIN: CellStyle = CellStyle {
    front: Color::Named(NamedColor::Foreground),
    back: Color::Named(NamedColor::Background),
    flags: Flags::empty(),
};

/// The flags that are shown, and their numbers.
const SHOWN: [(Flags, u8); 6] = [
    (Flags::BOLD, 1),
    (Flags::DIM, 2),
    (Flags::ITALIC, 3),
    (Flags::ALL_UNDERLINES, 4),
    (Flags::INVERSE, 7),
    (Flags::STRIKEOUT, 9),
];

impl CellStyle {
    fn of(cell: &Cell) -> Self {
        let all = SHOWN.iter().fold(Flags::empty(), |all, (flag, _)| all | *flag);
        Self { front: cell.fg, back: cell.bg, flags: cell.flags & all }
    }

    /// Returns whether a blank in this style can be seen.
    fn is_visible_blank(&self) -> bool {
        self.back != PLAIN.back || self.flags.intersects(Flags::INVERSE | Flags::ALL_UNDERLINES | Flags::STRIKEOUT)
    }

    /// Writes the style. It begins anew, whatever the style before it was.
    fn write(&self, text: &mut String) {
        text.push_str("\x1b[0");
        for (flag, number) in SHOWN {
            if self.flags.intersects(flag) {
                let _ = write!(text, ";{number}");
            }
        }
        write_color(self.front, 30, text);
        write_color(self.back, 40, text);
        text.push('m');
    }
}

/// Writes a color; `base` is 30 for that of the text, 40 for that of its background.
fn write_color(color: Color, base: u16, text: &mut String) {
    let _ = match color {
        Color::Named(name) => match name as u16 {
            number @ 0..8 => write!(text, ";{}", base + number),
            number @ 8..16 => write!(text, ";{}", base + 60 + number - 8),
            _ => Ok(()),
        },
        Color::Indexed(number) => write!(text, ";{};5;{number}", base + 8),
        Color::Spec(Rgb { r, g, b }) => write!(text, ";{};2;{r};{g};{b}", base + 8),
    };
}

/// Returns the text of a row with its styles, without the blanks at its end.
pub(super) fn styled_row(cells: &[Cell]) -> String {
    let is_blank = |cell: &Cell| {
        matches!(cell.c, ' ' | '\t') && cell.zerowidth().is_none() && !CellStyle::of(cell).is_visible_blank()
    };
    let end = cells.iter().rposition(|cell| !is_blank(cell)).map_or(0, |last| last + 1);
    let mut text = String::with_capacity(end);
    let mut style = PLAIN;
    let mut wide = false;
    for cell in &cells[..end] {
        if !(wide && cell.flags.contains(Flags::WIDE_CHAR_SPACER)) {
            let next = CellStyle::of(cell);
            if next != style {
                next.write(&mut text);
                style = next;
            }
            text.push(character(cell));
            text.extend(cell.zerowidth().unwrap_or_default().iter().take(MARKS));
        }
        wide = cell.flags.contains(Flags::WIDE_CHAR);
    }
    if style != PLAIN {
        text.push_str("\x1b[0m");
    }
    text
}
