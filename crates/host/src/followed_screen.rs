//! The screen of a terminal, on its way to one client.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio::time::sleep;

use super::abort_on_drop::AbortOnDropTask;
use super::host_message::ScreenMessage;
use super::snapshot_publisher::BATCH;
use runner::pty::{CommandTerminal, StyledScreen};

/// Bytes of all rows in JSON.
const ROWS: usize = 192 * 1024;

/// A terminal, with its screen as it was sent last.
pub struct FollowedScreen {
    terminal: Arc<CommandTerminal>,
    sent: Option<StyledScreen>,
    /// Whether the screen may have changed since.
    changed: Arc<AtomicBool>,
    _looks: AbortOnDropTask,
}

impl FollowedScreen {
    /// Shows a terminal, and notifies its client by `wake` of changes, no more often than it gets batches.
    pub fn new(terminal: &Arc<CommandTerminal>, wake: &Arc<Notify>) -> Self {
        let (mut changes, wake) = (terminal.changes(), Arc::clone(wake));
        let changed = Arc::new(AtomicBool::new(true));
        let marks = Arc::clone(&changed);
        let looks = async move {
            while changes.next().await {
                marks.store(true, Ordering::Release);
                wake.notify_one();
                sleep(BATCH).await;
            }
        };
        Self { terminal: Arc::clone(terminal), sent: None, changed, _looks: AbortOnDropTask::spawn(looks) }
    }

    /// Returns the message if the screen has changed, or has to be shown for the last time.
    pub fn next(&mut self, key: &str, end: bool) -> Option<ScreenMessage> {
        if !self.changed.swap(false, Ordering::Acquire) && !end {
            return None;
        }
        let shown = self.terminal.styled();
        if !end && self.sent.as_ref() == Some(&shown) {
            return None;
        }
        let message = screen_message(key, &shown, end);
        self.sent = Some(shown);
        Some(message)
    }
}

/// Returns the message. Without room for the styles, they are left out, and then the ends of the rows.
fn screen_message(run: &str, shown: &StyledScreen, end: bool) -> ScreenMessage {
    let StyledScreen { lines, plain, rows, cols, row, col, title } = shown;
    let lines = if json_width(lines) <= ROWS {
        lines.clone()
    } else if json_width(plain) <= ROWS {
        plain.clone()
    } else {
        let most = ROWS / plain.len().max(1) / 2;
        plain.iter().map(|line| line[..line.floor_char_boundary(most)].to_owned()).collect()
    };
    ScreenMessage {
        run: run.to_owned(),
        rows: *rows,
        columns: *cols,
        lines,
        cursor: [*row, *col],
        title: title.clone(),
        end,
    }
}

/// Returns the bytes of rows in JSON, about.
fn json_width(lines: &[String]) -> usize {
    let of_byte = |byte: u8| match byte {
        0..=0x1f => 6,
        b'"' | b'\\' => 2,
        _ => 1,
    };
    lines.iter().map(|line| line.bytes().map(of_byte).sum::<usize>() + 3).sum()
}

#[cfg(test)]
mod tests {
    use super::super::host_message::{HOST_LINE, HostMessage};
    use super::*;

    fn styled(rows: usize, line: &str, plain: &str) -> StyledScreen {
        let (lines, plain) = (vec![line.to_owned(); rows], vec![plain.to_owned(); rows]);
        StyledScreen { lines, plain, rows: 1000, cols: 1000, row: 1, col: 2, title: "t".into() }
    }

    #[test]
    fn a_screen_that_is_too_large_loses_its_styles_and_then_the_ends_of_its_rows() {
        for (shown, longest) in [
            (styled(24, "\x1b[1mx\x1b[0m", "x"), 9),
            (styled(1000, &"\x1b[1mx\x1b[0m".repeat(30), &"x".repeat(30)), 30),
            (styled(1000, &"日".repeat(1000), &"日".repeat(1000)), 96),
            (styled(1000, &"\"".repeat(1000), &"\"".repeat(1000)), 98),
        ] {
            let screen = screen_message("c1", &shown, false);
            let found = screen.lines.iter().map(String::len).max();
            assert_eq!((screen.lines.len(), found), (shown.lines.len(), Some(longest)));
            assert!(HostMessage::Screen(screen).to_line().len() <= HOST_LINE);
        }
    }
}
