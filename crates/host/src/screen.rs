//! The screen of a terminal, on its way to one client.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use super::message::Screen;
use super::running::Running;
use runner::pty::{Shown, Terminal};

/// Bytes of all rows in JSON.
const ROWS: usize = 192 * 1024;
/// Time between two looks at a screen.
const EVERY: Duration = Duration::from_millis(50);

/// A terminal, with its screen as it was sent last.
pub struct Screens {
    terminal: Arc<Terminal>,
    sent: Option<Shown>,
    _looks: Running,
}

impl Screens {
    /// Shows a terminal, and notifies its client by `wake` when to look.
    pub fn new(terminal: &Arc<Terminal>, wake: &Arc<Notify>) -> Self {
        let wake = Arc::clone(wake);
        let looks = async move {
            loop {
                wake.notify_one();
                sleep(EVERY).await;
            }
        };
        Self { terminal: Arc::clone(terminal), sent: None, _looks: Running::spawn(looks) }
    }

    /// Returns the message if the screen has changed, or has to be shown for the last time.
    pub fn next(&mut self, key: &str, end: bool) -> Option<Screen> {
        let shown = self.terminal.screen();
        if !end && self.sent.as_ref() == Some(&shown) {
            return None;
        }
        let size = self.terminal.size();
        let message = screen_of(key, &shown, size.rows, size.cols, end);
        self.sent = Some(shown);
        Some(message)
    }
}

/// Returns the message. Rows that are too long for one lose their ends.
fn screen_of(run: &str, shown: &Shown, rows: u16, columns: u16, end: bool) -> Screen {
    let Shown { lines, row, col, title, .. } = shown;
    let lines = if width(lines) <= ROWS {
        lines.clone()
    } else {
        let most = ROWS / lines.len().max(1) / 2;
        lines.iter().map(|line| line[..line.floor_char_boundary(most)].to_owned()).collect()
    };
    Screen { run: run.to_owned(), rows, columns, lines, cursor: [*row, *col], title: title.clone(), end }
}

/// Returns the bytes of rows in JSON, about.
fn width(lines: &[String]) -> usize {
    let of_byte = |byte: u8| match byte {
        0..=0x1f => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    };
    lines.iter().map(|line| line.bytes().map(of_byte).sum::<usize>() + 3).sum()
}

#[cfg(test)]
mod tests {
    use super::super::message::{HOST_LINE, Message};
    use super::*;

    #[test]
    fn rows_that_are_too_long_lose_their_ends() {
        for (rows, line, longest) in
            [(24, "x".to_owned(), 1), (1000, "日".repeat(1000), 96), (1000, "\"".repeat(1000), 98)]
        {
            let mut shown = Terminal::new(sys::TerminalSize { rows: 1, cols: 1 }).screen();
            shown.lines = vec![line; rows];
            let screen = screen_of("c1", &shown, 1000, 1000, false);
            assert_eq!((screen.lines.len(), screen.lines.iter().map(String::len).max()), (rows, Some(longest)));
            assert!(Message::Screen(screen).line().len() <= HOST_LINE);
        }
    }
}
