//! A process that waits for what nobody gives, and the words for it.

/// What a process waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitsFor {
    /// Input from its terminal, on this descriptor.
    Terminal(i32),
    /// Input from a pipe that nobody writes to.
    Pipe(i32),
    /// The same of a FIFO, with its path.
    Fifo(i32, String),
    /// Somebody who opens this FIFO to write into it.
    Writer(String),
    /// Somebody who opens this FIFO to read from it.
    Reader(String),
    /// Somebody who continues it; `true`: it was stopped in the background of its terminal.
    Continue(bool),
    /// That may not be known: only what it has written last can tell.
    Unknown,
}

/// A process that waits for what nobody gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Its pid.
    pub pid: i32,
    /// Its command line, without control characters and not long.
    pub command: String,
    /// What it waits for.
    pub on: WaitsFor,
    /// How many others wait like that.
    pub others: u32,
    /// Whether this is certain without a look at what it has written.
    pub sure: bool,
}

/// What is shown of a line or a path, characters.
#[cfg(feature = "addon")]
const QUOTED: usize = 100;

/// As it can be shown in a line: control characters and what turns the direction of writing are blanks.
pub fn plain(text: &str) -> String {
    let hides = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    text.chars().map(|c| if hides(c) { ' ' } else { c }).collect()
}

#[cfg(feature = "addon")]
impl Wait {
    /// Whether it waits for input, and can be told of as a prompt.
    pub fn is_for_input(&self) -> bool {
        !matches!(self.on, WaitsFor::Continue(_) | WaitsFor::Reader(_))
    }

    /// In one line, with the last line of its command if that has not ended it.
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
            WaitsFor::Terminal(fd) => waits(format!("reads its terminal on descriptor {fd}")),
            WaitsFor::Pipe(fd) => waits(format!("reads a pipe on descriptor {fd}, which nobody else writes to")),
            WaitsFor::Fifo(fd, path) => {
                waits(format!("reads the FIFO {} on descriptor {fd}, which nobody else writes to", end_of(path)))
            }
            WaitsFor::Writer(path) => waits(format!("opens the FIFO {}, which nobody writes to", end_of(path))),
            WaitsFor::Reader(path) => {
                format!("waiting for a reader: {who} opens the FIFO {}, which nobody reads from{others}", end_of(path))
            }
            WaitsFor::Continue(true) => {
                format!(
                    "stopped: {who} was stopped by job control (it wanted the terminal from the background){others}"
                )
            }
            WaitsFor::Continue(false) => {
                format!("stopped: {who} was stopped by a signal, and nobody continues it{others}")
            }
            WaitsFor::Unknown => {
                format!(
                    "waiting for input that nobody gives: {who}{others} cannot be looked into, but it asks{}",
                    quoted(line)
                )
            }
        }
    }
}

/// In one line, of a command that asks, and of which nobody is seen to wait for the answer.
#[cfg(feature = "addon")]
pub fn note_of_prompt(line: &str) -> String {
    format!("perhaps waiting for an answer{}", quoted(line))
}

#[cfg(feature = "addon")]
fn quoted(line: &str) -> String {
    let line = end_of(line.trim_start());
    if line.trim_end().is_empty() { String::new() } else { format!("; its last line is «{line}»") }
}

/// As it can be shown; of what is long only the end.
#[cfg(feature = "addon")]
fn end_of(text: &str) -> String {
    let text = plain(text);
    match text.chars().count().saturating_sub(QUOTED) {
        0 => text,
        skip => format!("…{}", text.chars().skip(skip).collect::<String>()),
    }
}
