//! Text that waits to be drawn, and sequences that may overtake it.

use super::pending_styles::PendingStyles;
use super::screen_content::{ScreenContent, StyledScreen};
use super::screen_emulator::ScreenEmulator;

/// The most bytes of a title that are kept.
const TITLE_LIMIT: usize = 1024;

pub(super) struct ScreenPainter {
    /// Text that is not drawn yet.
    waiting: Vec<u8>,
    /// Colours and styles of that text.
    styles: PendingStyles,
    pub(super) terminal: ScreenEmulator,
}

impl ScreenPainter {
    pub(super) fn new(cols: u16, rows: u16) -> Self {
        Self { waiting: Vec::new(), styles: PendingStyles::default(), terminal: ScreenEmulator::new(cols, rows) }
    }

    /// Returns the number of waiting bytes, with those of styles.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len() + self.styles.len()
    }

    /// Returns the number of cells.
    pub(super) fn cells(&self) -> usize {
        self.terminal.cells()
    }

    pub(super) fn add_text(&mut self, text: &[u8], cut: bool, style: &[u8]) {
        self.waiting.extend_from_slice(text);
        if cut {
            let unfinished = unfinished(&self.waiting);
            if unfinished > 0 {
                self.waiting.truncate(self.waiting.len() - unfinished);
                self.waiting.extend_from_slice("\u{fffd}".as_bytes());
            }
        }
        if !style.is_empty() {
            self.styles.push(self.waiting.len(), style);
        }
    }

    pub(super) fn add_sequence(&mut self, sequence: &[u8]) {
        if is_attribute(sequence) {
            self.styles.push(self.waiting.len(), sequence);
        } else {
            self.draw();
            self.terminal.execute_sequence(sequence);
        }
    }

    /// Handles an operating system command. Only the title counts.
    pub(super) fn add_command(&mut self, command: &[u8]) {
        if let Some(title) = command.strip_prefix(b"0;").or_else(|| command.strip_prefix(b"2;")) {
            self.terminal.set_title(clean_title(title));
        }
    }

    /// Draws the waiting text, except for the beginning of an unfinished character.
    pub(super) fn draw(&mut self) {
        let whole = self.waiting.len() - unfinished(&self.waiting);
        if whole > 0 || !self.styles.is_empty() {
            self.terminal.draw_text(&self.waiting[..whole], &self.styles);
            self.waiting.drain(..whole);
            self.styles.clear();
        }
    }

    pub(super) fn resize(&mut self, cols: u16, rows: u16) {
        self.draw();
        self.terminal.resize(cols, rows);
    }

    pub(super) fn content(&mut self) -> ScreenContent {
        self.draw();
        self.terminal.content()
    }

    pub(super) fn styled(&mut self) -> StyledScreen {
        self.draw();
        self.terminal.styled()
    }

    pub(super) fn take_replies(&mut self) -> Vec<u8> {
        self.terminal.take_replies()
    }
}

/// Returns how many bytes at the end are the beginning of an unfinished character.
fn unfinished(text: &[u8]) -> usize {
    let tail = &text[text.len().saturating_sub(3)..];
    let Some(lead) = tail.iter().rposition(|byte| *byte >= 0xc0) else { return 0 };
    match std::str::from_utf8(&tail[lead..]) {
        Err(error) if error.error_len().is_none() => tail.len() - lead,
        _ => 0,
    }
}

/// Returns whether a sequence sets colours and styles (`CSI … m`, without a prefix), which do not move the cursor.
fn is_attribute(sequence: &[u8]) -> bool {
    matches!(sequence, [0x1b, b'[', parameters @ .., b'm'] if parameters.iter().all(|byte| matches!(byte, b'0'..=b';')))
}

fn clean_title(title: &[u8]) -> String {
    let mut text: String = title
        .utf8_chunks()
        .flat_map(|chunk| chunk.valid().chars())
        .filter(|character| !character.is_control())
        .collect();
    text.truncate(text.floor_char_boundary(TITLE_LIMIT));
    text.trim().to_owned()
}
