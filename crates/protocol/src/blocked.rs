//! A blocked process, and its description in words.

use serde::{Deserialize, Serialize};

/// The reason why a process is blocked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockedOn {
    /// Input from its terminal, on this descriptor.
    Terminal(i32),
    /// Input from a pipe without a writer.
    Pipe(i32),
    /// Input from a FIFO without a writer, with its path.
    Fifo(i32, String),
    /// A writer that opens this FIFO.
    Writer(String),
    /// A reader that opens this FIFO.
    Reader(String),
    /// A signal that continues the process. `true` if it was stopped in the background of its terminal.
    Continue(bool),
    /// Unknown: only the last output can tell.
    Unknown,
}

/// A blocked process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockedProcess {
    /// The pid.
    pub pid: i32,
    /// Command line of the process, shortened and without control characters.
    pub command: String,
    /// The reason.
    pub on: BlockedOn,
    /// The number of other processes with the same reason.
    pub others: u32,
    /// Whether the reason is certain without the last output.
    pub sure: bool,
}

/// Characters of a line or a path that are shown.
const QUOTED: usize = 100;

/// Returns text for a single line: control characters and characters that change its direction become blanks.
pub fn plain(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().map(|c| if hides(c) { ' ' } else { c }).collect()
}

impl BlockedProcess {
    /// Returns whether the process is blocked on input and can be reported as a prompt.
    pub fn is_for_input(&self) -> bool {
        !matches!(self.on, BlockedOn::Continue(_) | BlockedOn::Reader(_))
    }

    /// Returns whether a signal has stopped the process.
    pub fn is_stopped(&self) -> bool {
        matches!(self.on, BlockedOn::Continue(_))
    }

    /// Returns the note without what may be a secret: the output, and the arguments of the process.
    pub fn brief_note(&self) -> String {
        let program = self.command.split(' ').next().unwrap_or_default().to_owned();
        Self { command: program, ..self.clone() }.note("")
    }

    /// Returns the note, with the last unfinished line of the command.
    pub fn note(&self, line: &str) -> String {
        let Self { pid, command, on, .. } = self;
        let who = format!("{command} (pid {pid})");
        let others = match self.others {
            0 => String::new(),
            1 => " (and 1 other process)".to_owned(),
            others => format!(" (and {others} other processes)"),
        };
        let waits = |what: String| format!("waiting for input that nobody gives: {who} {what}{others}{}", quoted(line));
        match on {
            BlockedOn::Terminal(fd) => waits(format!("reads its terminal on descriptor {fd}")),
            BlockedOn::Pipe(fd) => waits(format!("reads a pipe on descriptor {fd}, which nobody else writes to")),
            BlockedOn::Fifo(fd, path) => {
                waits(format!("reads the FIFO {} on descriptor {fd}, which nobody else writes to", end_of(path)))
            }
            BlockedOn::Writer(path) => waits(format!("opens the FIFO {}, which nobody writes to", end_of(path))),
            BlockedOn::Reader(path) => {
                format!("waiting for a reader: {who} opens the FIFO {}, which nobody reads from{others}", end_of(path))
            }
            BlockedOn::Continue(true) => {
                format!(
                    "stopped: {who} was stopped by job control (it wanted the terminal from the background){others}"
                )
            }
            BlockedOn::Continue(false) => {
                format!("stopped: {who} was stopped by a signal, and nobody continues it{others}")
            }
            BlockedOn::Unknown => {
                format!(
                    "waiting for input that nobody gives: {who}{others} cannot be looked into, but it asks{}",
                    quoted(line)
                )
            }
        }
    }
}

/// Returns the note for a command whose last line is a prompt, without a known blocked process.
pub fn note_of_prompt(line: &str) -> String {
    format!("perhaps waiting for an answer{}", quoted(line))
}

fn quoted(line: &str) -> String {
    let line = end_of(line.trim_start());
    if line.trim_end().is_empty() { String::new() } else { format!("; its last line is «{line}»") }
}

/// Returns text for a single line, only its end if it is long.
fn end_of(text: &str) -> String {
    let text = plain(text);
    match text.chars().count().saturating_sub(QUOTED) {
        0 => text,
        skip => format!("…{}", text.chars().skip(skip).collect::<String>()),
    }
}
