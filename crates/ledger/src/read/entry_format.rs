//! The form in which entries leave the reader.

use std::fmt::Write;

use super::ledger_entry::LedgerEntry;
use crate::ledger_record::LedgerRunState;
use sys::CivilTime;

/// Longest command in a row, characters.
const SHOWN: usize = 400;

/// The form of entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EntryFormat {
    /// One JSON document per line.
    #[default]
    Json,
    /// One line per entry, for people.
    Row {
        /// Whether the line has colours.
        colours: bool,
    },
}

impl EntryFormat {
    /// Adds an entry, with a newline.
    pub fn write(self, entry: &LedgerEntry<'_>, text: &mut String) {
        match self {
            Self::Json => text.push_str(&serde_json::to_string(entry).unwrap_or_default()),
            Self::Row { colours } => write_row(entry, colours, text),
        }
        text.push('\n');
    }
}

/// Adds a row: `2026-01-31 14:03:22  exit 1        12.3 s  npm test  (/srv/project, agent, ~2)`.
fn write_row(entry: &LedgerEntry<'_>, colours: bool, text: &mut String) {
    let (how, colour) = state_word(entry);
    let CivilTime { year, month, day, hour, minute, second } = sys::local_time(entry.started_at());
    let _ = write!(text, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}");
    let begin = text.len();
    let _ = write!(text, "  {how:<10}  ");
    if colours {
        text.insert_str(begin + 2, colour);
        text.push_str(if colour.is_empty() { "" } else { "\u{1b}[39m" });
    }
    let took = entry.duration_ms().map(format_duration).unwrap_or_default();
    let _ = write!(text, "{took:>8}  ");
    push_printable(&entry.start.command, text);
    let dim = text.len();
    text.push_str("  (");
    push_printable(&entry.start.cwd, text);
    if let Some(target) = &entry.start.target {
        text.push_str(" on ");
        push_printable(target, text);
    }
    if let Some(draft) = &entry.start.draft {
        text.push_str(" in ");
        push_printable(draft, text);
    }
    if let Some(agent) = entry.actor().and_then(|actor| actor.agent.as_deref()) {
        text.push_str(", ");
        push_printable(agent, text);
    }
    if let Some(changes) = entry.changes() {
        for (sign, count) in ['+', '~', '-', '>'].iter().zip(changes.counts).filter(|(_, count)| *count > 0) {
            let _ = write!(text, ", {sign}{count}");
        }
    }
    let mut names: Vec<_> = entry.secrets().iter().map(|secret| &*secret.name).collect();
    names.dedup();
    for name in names {
        text.push_str(", secret ");
        push_printable(name, text);
    }
    text.push(')');
    if colours {
        text.insert_str(dim, "\u{1b}[2m");
        text.push_str("\u{1b}[22m");
    }
}

/// Returns the end of a run in a word, and its colour.
fn state_word(entry: &LedgerEntry<'_>) -> (String, &'static str) {
    const RED: &str = "\u{1b}[31m";
    const YELLOW: &str = "\u{1b}[33m";
    const BLUE: &str = "\u{1b}[34m";
    match (entry.state, entry.exit_code()) {
        (LedgerRunState::Exited, Some(0)) => ("ok".to_owned(), ""),
        (LedgerRunState::Exited, code) => (format!("exit {}", code.unwrap_or_default()), RED),
        (LedgerRunState::Signaled, _) => (entry.signal().unwrap_or("signaled").to_owned(), RED),
        (LedgerRunState::TimedOut, _) if entry.was_silent() => ("silent".to_owned(), RED),
        (LedgerRunState::TimedOut, _) => ("timed out".to_owned(), RED),
        (LedgerRunState::Aborted, _) => ("aborted".to_owned(), YELLOW),
        (LedgerRunState::Refused, _) => ("refused".to_owned(), YELLOW),
        (LedgerRunState::Lost, _) => ("lost".to_owned(), RED),
        (LedgerRunState::Running, _) => ("running".to_owned(), BLUE),
        (LedgerRunState::Backgrounded, _) => ("background".to_owned(), BLUE),
    }
}

/// Returns a duration in the unit that fits.
fn format_duration(ms: f64) -> String {
    match ms {
        ms if (0.0..1000.0).contains(&ms) => {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number below 1,001")]
            let ms = ms.round_ties_even() as u64;
            format!("{ms} ms")
        }
        ms if ms < 0.0 => format!("{ms:.0} ms"),
        ms if ms < 60_000.0 => format!("{:.1} s", ms / 1000.0),
        ms if ms < 3_600_000.0 => format!("{:.0} min", ms / 60_000.0),
        ms => format!("{:.1} h", ms / 3_600_000.0),
    }
}

/// Adds a text as one line, without control characters and characters that change the direction of others.
fn push_printable(from: &str, text: &mut String) {
    // Most commands and directories are plain.
    let plain = from.bytes().take(SHOWN).take_while(|byte| matches!(byte, b' '..=b'~')).count();
    text.push_str(&from[..plain]);
    for (at, next) in from[plain..].chars().enumerate().map(|(at, next)| (at + plain, next)) {
        if at == SHOWN {
            text.push('…');
            return;
        }
        match next {
            '\n' => text.push_str("\\n"),
            '\t' => text.push(' '),
            next if next.is_control() => text.push('\u{fffd}'),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => text.push('\u{fffd}'),
            next => text.push(next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_one_line_that_shows_what_it_is() {
        let mut text = String::new();
        push_printable("a\nb\tc\u{1b}[31m\u{202e}é", &mut text);
        assert_eq!(text, "a\\nb c\u{fffd}[31m\u{fffd}é");
        text.clear();
        push_printable(&"é".repeat(SHOWN + 1), &mut text);
        assert_eq!(text, format!("{}…", "é".repeat(SHOWN)));
    }

    #[test]
    fn times_have_the_unit_that_fits() {
        for (ms, shown) in
            [(0.4, "0 ms"), (12.0, "12 ms"), (1500.0, "1.5 s"), (90_000.0, "2 min"), (7_200_000.0, "2.0 h")]
        {
            assert_eq!(format_duration(ms), shown);
        }
    }
}
