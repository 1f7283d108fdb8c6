//! The content of a screen.

/// The content of a screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreenContent {
    /// All rows, from top to bottom, without the spaces at their end. A wide character appears once, with its combining
    /// marks (up to 16), and fills two columns. Attributes are left out.
    pub lines: Vec<String>,
    /// The row of the cursor, from 0.
    pub row: u16,
    /// The column of the cursor, from 0. It stays in the last column while the next character would wrap.
    pub col: u16,
    /// The title as set by OSC 0 or 2, without control characters, up to 1 KiB. Empty until a title is set.
    pub title: String,
    /// Whether the alternate screen is shown, as for full-screen programs.
    pub alternate: bool,
    /// Whether arrow keys have to be sent in their other form (`ESC O A`, DECCKM).
    pub application_cursor: bool,
    /// Whether pasted text has to be bracketed (2004).
    pub bracketed_paste: bool,
}

/// The content of a screen with its colours and styles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StyledScreen {
    /// All rows, from top to bottom, without the blanks at their end. Styles are escape sequences (`ESC [ … m`). Each
    /// row begins and ends without a style.
    pub lines: Vec<String>,
    /// The rows without styles.
    pub plain: Vec<String>,
    /// The number of rows.
    pub rows: u16,
    /// The number of columns.
    pub cols: u16,
    /// The row of the cursor, from 0.
    pub row: u16,
    /// The column of the cursor, from 0.
    pub col: u16,
    /// The title as set by OSC 0 or 2.
    pub title: String,
}
