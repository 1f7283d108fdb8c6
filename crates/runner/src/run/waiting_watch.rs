//! Detects a command that waits for a person, while a person watches.

use std::time::Duration;

use tokio::time::Instant;

use super::blocked_watch::{BlockedWatch, LastLines, PromptEvidence, QUIET_BEFORE_SCAN};
use crate::live::{RunWait, RunWaitReason};
use crate::supervise::looks_like_prompt;
use protocol::{BlockedProcess, plain};

/// Time between two scans of a command that stays quiet.
const RESCAN_INTERVAL: Duration = Duration::from_secs(2);
/// Time after the last look of a watcher in which a command is scanned.
const WATCHER_INTEREST: Duration = Duration::from_secs(3);
/// The most characters of a line that a watcher gets.
const TEXT: usize = 200;

/// Both watches for a command that is blocked, which share the scans of the shim.
pub struct BlockedWatches {
    /// For the listener, and for the note at the limit.
    pub blocked: BlockedWatch,
    /// For people who watch.
    pub waiting: WaitingWatch,
}

impl BlockedWatches {
    /// Begins to watch. `prompts`: whether the listener wants reports.
    pub fn new(prompts: bool, began: Instant) -> Self {
        Self { blocked: BlockedWatch::new(prompts, began), waiting: WaitingWatch::default() }
    }

    /// Records output of the command.
    pub fn on_output(&mut self) {
        self.blocked.on_output();
        self.waiting.on_output();
    }

    /// Returns when to scan next.
    pub fn scan_at(&self) -> Option<Instant> {
        [self.blocked.scan_at(), self.waiting.scan_at()].into_iter().flatten().min()
    }

    /// Handles the time of a scan. Returns whether the scan is to be made.
    pub fn on_scan(&mut self, now: Instant) -> bool {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| now >= at);
        let for_listener = is_due(self.blocked.scan_at());
        if for_listener {
            self.blocked.on_scan();
        }
        let for_people = is_due(self.waiting.scan_at()) && self.waiting.on_scan(now);
        for_listener || for_people
    }
}

/// Whether a command waits for a person, as far as its watchers want to know.
#[derive(Default)]
pub struct WaitingWatch {
    /// The scans. `None` while nobody watches.
    scans: Option<WatcherScans>,
}

/// The scans for watchers.
struct WatcherScans {
    /// Time of the next scan. `None` while an answer is on its way, without output since the request.
    next: Option<Instant>,
    /// Time from which on no scan is made without another look.
    until: Instant,
    /// What the command waits for.
    waiting: Option<RunWait>,
}

impl WaitingWatch {
    /// Handles the look of a watcher. Returns what the command waits for, as far as it is known.
    pub fn on_look(&mut self, now: Instant) -> Option<RunWait> {
        let until = now + WATCHER_INTEREST;
        let scans = self.scans.get_or_insert(WatcherScans { next: Some(now), until, waiting: None });
        scans.until = until;
        scans.waiting.clone()
    }

    /// Records output of the command, or input of a person.
    pub fn on_output(&mut self) {
        if let Some(scans) = &mut self.scans {
            (scans.next, scans.waiting) = (Some(Instant::now() + QUIET_BEFORE_SCAN), None);
        }
    }

    /// Returns when to scan next.
    pub fn scan_at(&self) -> Option<Instant> {
        self.scans.as_ref()?.next
    }

    /// Handles the time of a scan. Returns whether the scan is to be made.
    pub fn on_scan(&mut self, now: Instant) -> bool {
        let Some(scans) = self.scans.as_mut().filter(|scans| now < scans.until) else {
            self.scans = None;
            return false;
        };
        scans.next = None;
        true
    }

    /// Handles a requested scan of the shim. Returns what the command waits for, if that has changed. `asks_only`: only
    /// a question counts, because the caller or a person gives the input.
    pub fn on_scanned(
        &mut self,
        process: Option<BlockedProcess>,
        lines: &LastLines,
        asks_only: bool,
    ) -> Option<Option<RunWait>> {
        let scans = self.scans.as_mut().filter(|scans| scans.next.is_none())?;
        scans.next = Some(Instant::now() + RESCAN_INTERVAL);
        let waiting = waiting_of(process, lines, asks_only);
        let differs = scans.waiting != waiting;
        scans.waiting.clone_from(&waiting);
        differs.then_some(waiting)
    }
}

fn waiting_of(process: Option<BlockedProcess>, lines: &LastLines, asks_only: bool) -> Option<RunWait> {
    let PromptEvidence { process, asks, line } = PromptEvidence::of(process, lines);
    let question = || {
        let line = plain(line.trim_end());
        let skip = line.chars().count().saturating_sub(TEXT);
        RunWait::new(RunWaitReason::Prompt, line.chars().skip(skip).collect::<String>())
    };
    match process {
        Some(process) if process.is_stopped() => Some(RunWait::new(RunWaitReason::Stopped, process.note(""))),
        Some(process) if !process.is_for_input() => None,
        Some(_) if looks_like_prompt(&line) => Some(question()),
        Some(process) if !asks_only => Some(RunWait::new(RunWaitReason::Input, process.note(&line))),
        _ => asks.then(question),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::BlockedOn;

    fn process(on: BlockedOn) -> Option<BlockedProcess> {
        Some(BlockedProcess { pid: 9, command: "cat".to_owned(), on, others: 0, sure: true })
    }

    fn lines(stdout: &str) -> LastLines {
        LastLines { stdout: stdout.to_owned(), ..LastLines::default() }
    }

    #[test]
    fn a_question_a_stopped_process_and_input_that_nothing_gives_are_told_apart() {
        let why =
            |process, line: &str, asks_only| waiting_of(process, &lines(line), asks_only).map(|waiting| waiting.why);
        let reads = || process(BlockedOn::Terminal(0));
        for (process, line, asks_only, expected) in [
            (reads(), "Name: ", true, Some(RunWaitReason::Prompt)),
            (reads(), "", true, None),
            (reads(), "", false, Some(RunWaitReason::Input)),
            (process(BlockedOn::Continue(true)), "", true, Some(RunWaitReason::Stopped)),
            (process(BlockedOn::Continue(false)), "Password: ", true, Some(RunWaitReason::Stopped)),
            (process(BlockedOn::Reader("/f".into())), "", false, None),
            (None, "Password: ", true, Some(RunWaitReason::Prompt)),
            (None, "compiling", false, None),
        ] {
            assert_eq!(why(process.clone(), line, asks_only), expected, "{process:?} {line:?} {asks_only}");
        }
        assert_eq!(waiting_of(reads(), &lines("Name: "), true), Some(RunWait::new(RunWaitReason::Prompt, "Name:")));
    }

    #[tokio::test(start_paused = true)]
    async fn a_command_is_scanned_while_someone_watches() {
        let mut watch = WaitingWatch::default();
        watch.on_output();
        assert_eq!(watch.scan_at(), None, "nobody watches");
        let now = Instant::now();
        assert_eq!(watch.on_look(now), None);
        assert_eq!(watch.scan_at(), Some(now));
        assert!(watch.on_scan(now));
        assert_eq!(watch.scan_at(), None, "the answer is on its way");
        let asks = RunWait::new(RunWaitReason::Prompt, "Password:");
        assert_eq!(watch.on_scanned(None, &lines("Password: "), true), Some(Some(asks.clone())));
        assert_eq!(watch.scan_at(), Some(now + RESCAN_INTERVAL));
        assert!(watch.on_scan(now + RESCAN_INTERVAL));
        assert_eq!(watch.on_scanned(None, &lines("Password: "), true), None, "it is known");
        assert_eq!(watch.on_look(now), Some(asks));
        watch.on_output();
        assert_eq!(watch.on_look(now), None, "it goes on");
        assert_eq!(watch.scan_at(), Some(now + QUIET_BEFORE_SCAN));
        assert_eq!(watch.on_scanned(None, &lines("Password: "), true), None, "a scan for the caller, before the pause");
        assert!(!watch.on_scan(now + WATCHER_INTEREST), "the watcher is gone");
        assert_eq!(watch.scan_at(), None);
    }
}
