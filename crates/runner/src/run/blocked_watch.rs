//! Detects a command that is blocked on input. It is reported once while it runs, and in a note at its limit.

use std::time::Duration;

use tokio::time::Instant;

use super::command_listener::BlockedPrompt;
use crate::supervise::{is_prompt, looks_like_prompt};
use protocol::{BlockedProcess, note_of_prompt, plain};

/// Time of quiet after which a command may be blocked.
pub const QUIET_BEFORE_SCAN: Duration = Duration::from_millis(300);
/// Time between two scans of a command that stays quiet.
pub const RESCAN_INTERVAL: Duration = Duration::from_millis(500);
/// The longest line that is quoted, characters. A longer line that asks for nothing is taken for a screen.
const LINE: usize = 100;
/// The most characters of a command line that a listener gets.
const COMMAND: usize = 101;
/// The most characters of a line that a listener gets.
const TEXT: usize = 200;

/// Whether a command is blocked, as far as its caller wants to know.
#[derive(Default)]
pub struct BlockedWatch {
    /// The scans. `None` if no listener wants them.
    scans: Option<ListenerScans>,
    /// The result of the scan at the limit.
    at_limit: Option<LimitWaitNote>,
}

/// What a command waited for at its limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitWaitNote {
    /// For the caller: with the last line of the output and the arguments of the process.
    pub note: String,
    /// For the ledger: without them.
    pub brief: String,
}

/// The scans for a listener.
struct ListenerScans {
    /// Time of the next scan. `None` while an answer is on its way, without output since the request.
    next: Option<Instant>,
    /// The prompt that was reported last.
    reported: Option<ReportedPrompt>,
}

/// A prompt that was reported.
#[derive(Debug, Clone)]
struct ReportedPrompt {
    /// The blocked process, or the shell above it.
    pid: i32,
    /// Whether the process was seen to be blocked. Otherwise only the line has shown it.
    seen: bool,
    /// Number of lines at that time.
    count: u64,
    /// The unfinished line.
    line: String,
}

/// The unfinished lines of a command, and the number of lines that it has written.
#[derive(Debug, Clone, Default)]
pub struct LastLines {
    pub stdout: String,
    pub stderr: String,
    pub count: u64,
}

/// The evidence of a scan and the last line together.
pub struct PromptEvidence {
    /// The blocked process.
    pub process: Option<BlockedProcess>,
    /// Whether the line asks plainly, so that the process need not be seen.
    pub asks: bool,
    /// The line, if it can be quoted.
    pub line: String,
}

impl ReportedPrompt {
    /// Returns whether this is still the same prompt: typed text is drawn behind it, or in the place of its proposal.
    fn is_same_prompt(&self, other: &Self) -> bool {
        let common = self.line.chars().zip(other.line.chars()).take_while(|(one, two)| one == two).count();
        let same = self.pid == other.pid || !(self.seen && other.seen);
        same && self.count == other.count && common * 2 >= self.line.chars().count()
    }
}

impl PromptEvidence {
    /// Weighs a scan and the last lines.
    pub fn of(process: Option<BlockedProcess>, lines: &LastLines) -> Self {
        let LastLines { stdout, stderr, .. } = lines;
        let line = if looks_like_prompt(stderr) || stdout.is_empty() { stderr } else { stdout };
        let process = process.filter(|process| process.sure || looks_like_prompt(line));
        let asks = !process.as_ref().is_some_and(BlockedProcess::is_for_input) && is_prompt(line);
        let quotable = looks_like_prompt(line) || line.chars().count() <= LINE;
        Self { process, asks, line: if quotable { line.clone() } else { String::new() } }
    }
}

impl BlockedWatch {
    /// Begins to watch. `wanted`: whether a listener wants reports.
    pub fn new(wanted: bool, began: Instant) -> Self {
        let scans = wanted.then(|| ListenerScans { next: Some(began + QUIET_BEFORE_SCAN), reported: None });
        Self { scans, at_limit: None }
    }

    /// Records output of the command.
    pub fn on_output(&mut self) {
        if let Some(scans) = &mut self.scans {
            scans.next = Some(Instant::now() + QUIET_BEFORE_SCAN);
        }
    }

    /// Gives the listener no more reports.
    pub fn stop(&mut self) {
        self.scans = None;
    }

    /// Returns when to scan next.
    pub fn scan_at(&self) -> Option<Instant> {
        self.scans.as_ref()?.next
    }

    /// Records that a scan was requested.
    pub fn on_scan(&mut self) {
        if let Some(scans) = &mut self.scans {
            scans.next = None;
        }
    }

    /// Handles the shim's scan at the time limit, before it terminates anything.
    pub fn on_limit(&mut self, process: Option<BlockedProcess>, lines: &LastLines) {
        let PromptEvidence { process, asks, line } = PromptEvidence::of(process, lines);
        let blocked = process.map(|process| LimitWaitNote { note: process.note(&line), brief: process.brief_note() });
        let asked = || LimitWaitNote { note: note_of_prompt(&line), brief: note_of_prompt("") };
        self.at_limit = blocked.or_else(|| asks.then(asked));
    }

    /// Handles a requested scan of the shim. Returns the prompt that has to be reported.
    pub fn on_scanned(
        &mut self,
        process: Option<BlockedProcess>,
        lines: &LastLines,
        shell: Option<i32>,
        command: &str,
    ) -> Option<BlockedPrompt> {
        let PromptEvidence { process, asks, line } = PromptEvidence::of(process, lines);
        let scans = self.scans.as_mut().filter(|scans| scans.next.is_none())?;
        // The next scan is due even if nothing is blocked, because another process may be blocked later.
        scans.next = Some(Instant::now() + RESCAN_INTERVAL);
        let blocked = process.filter(BlockedProcess::is_for_input).map(|process| (process.pid, process.command));
        let (pid, command) = blocked.or_else(|| shell.filter(|_| asks).map(|pid| (pid, plain(command))))?;
        let prompt = ReportedPrompt { pid, seen: !asks, count: lines.count, line: line.clone() };
        if scans.reported.as_ref().is_some_and(|reported| reported.is_same_prompt(&prompt)) {
            return None;
        }
        scans.reported = Some(prompt);
        let text = plain(&line);
        let skip = text.chars().count().saturating_sub(TEXT);
        let command = command.chars().take(COMMAND).collect();
        Some(BlockedPrompt { pid, command, text: text.chars().skip(skip).collect() })
    }

    /// Returns the result of the scan at the limit.
    pub fn take_at_limit(&mut self) -> Option<LimitWaitNote> {
        self.at_limit.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::BlockedOn;

    fn prompt(pid: i32, count: u64, line: &str) -> ReportedPrompt {
        ReportedPrompt { pid, seen: true, count, line: line.to_owned() }
    }

    fn lines(stdout: &str) -> LastLines {
        LastLines { stdout: stdout.to_owned(), ..LastLines::default() }
    }

    #[test]
    fn text_typed_at_a_prompt_makes_it_no_other_one() {
        let name = prompt(1, 2, "? Name: (demo)");
        for line in ["? Name: (demo)", "? Name: j", "? Name: joe", "? Name: (demo) x"] {
            assert!(name.is_same_prompt(&prompt(1, 2, line)), "{line}");
        }
        assert!(prompt(1, 0, "").is_same_prompt(&prompt(1, 0, "x")));
    }

    #[test]
    fn the_process_may_be_seen_later_than_the_line() {
        let guessed = ReportedPrompt { seen: false, ..prompt(1, 0, "Password: ") };
        assert!(guessed.is_same_prompt(&prompt(2, 0, "Password: ")));
        assert!(prompt(2, 0, "Password: ").is_same_prompt(&guessed));
        assert!(!guessed.is_same_prompt(&prompt(2, 1, "Password: ")));
    }

    #[test]
    fn another_process_line_or_place_is_another_prompt() {
        let name = prompt(1, 2, "Name: ");
        for other in [prompt(2, 2, "Name: "), prompt(1, 3, "Name: "), prompt(1, 2, "Age: "), prompt(1, 2, "")] {
            assert!(!name.is_same_prompt(&other), "{} {} {}", other.pid, other.count, other.line);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_quiet_command_is_scanned_and_a_prompt_reported_once() {
        let began = Instant::now();
        let mut watch = BlockedWatch::new(true, began);
        assert_eq!(watch.scan_at(), Some(began + QUIET_BEFORE_SCAN));
        watch.on_scan();
        assert_eq!(watch.scan_at(), None, "the answer is on its way");
        let shown = watch.on_scanned(None, &lines("Password: "), Some(7), "sudo x");
        assert_eq!(shown.map(|prompt| (prompt.pid, prompt.text)), Some((7, "Password: ".to_owned())));
        assert_eq!(watch.scan_at(), Some(began + RESCAN_INTERVAL), "scanned again while it stays quiet");
        watch.on_scan();
        assert!(watch.on_scanned(None, &lines("Password: "), Some(7), "sudo x").is_none(), "reported already");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_from_before_the_last_output_is_void() {
        let mut watch = BlockedWatch::new(true, Instant::now());
        watch.on_scan();
        watch.on_output();
        assert!(watch.on_scanned(None, &lines("Password: "), Some(7), "x").is_none());
        assert_eq!(watch.scan_at(), Some(Instant::now() + QUIET_BEFORE_SCAN));
    }

    #[test]
    fn a_stopped_job_hides_no_prompt() {
        let mut watch = BlockedWatch::new(true, Instant::now());
        let on = BlockedOn::Continue(true);
        let stopped = BlockedProcess { pid: 9, command: "cat".to_owned(), on, others: 0, sure: true };
        watch.on_scan();
        let shown = watch.on_scanned(Some(stopped), &lines("Password: "), Some(7), "x");
        assert_eq!(shown.map(|prompt| prompt.pid), Some(7));
    }

    #[test]
    fn without_a_listener_only_the_limit_is_noted() {
        let mut watch = BlockedWatch::new(false, Instant::now());
        assert_eq!(watch.scan_at(), None);
        assert!(watch.on_scanned(None, &lines("Password: "), Some(7), "x").is_none());
        watch.on_limit(None, &lines("Password: "));
        let note = "perhaps waiting for an answer; its last line is «Password: »".to_owned();
        let brief = "perhaps waiting for an answer".to_owned();
        assert_eq!(watch.take_at_limit(), Some(LimitWaitNote { note, brief }));
        watch.on_limit(None, &lines("compiling"));
        assert_eq!(watch.take_at_limit(), None, "slow, not blocked");
    }
}
