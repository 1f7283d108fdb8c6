//! A command that waits for somebody: told once while it runs, and in a note at its limit.

use std::time::Duration;

use tokio::time::Instant;

use super::drive::Drive;
use super::listener::{Listener, Prompt};
use super::stream::Flow;
use crate::request::Request;
use crate::supervise::{Cause, Wait, is_prompt, looks_like_prompt, note_of_prompt, plain};

/// Who is quiet for so long may wait for somebody.
const QUIET: Duration = Duration::from_millis(300);
/// Looked at again after this while it stays quiet.
const AGAIN: Duration = Duration::from_millis(500);
/// A line that is told, characters. One that is longer and asks for nothing is a screen.
const LINE: usize = 100;
/// A command line that a listener gets, characters.
const COMMAND: usize = 101;
/// A line that a listener gets, characters.
const TEXT: usize = 200;

/// Whether a command waits, as far as somebody wants to know.
pub struct Waits {
    asking: Option<Asking>,
    at_limit: Option<String>,
}

/// Somebody wants to hear when it waits.
struct Asking {
    /// When to look next; `None` while an answer is on its way.
    next: Option<Instant>,
    /// What was told last.
    told: Option<Told>,
    /// There was output since the question.
    touched: bool,
}

/// A prompt that was told.
struct Told {
    /// Who waits, or the shell above.
    pid: i32,
    /// It was seen to wait: else the line alone has told.
    seen: bool,
    /// How many lines there were.
    lines: u64,
    /// The unfinished one.
    line: String,
}

impl Told {
    /// Whether it is still the same: what is typed at a prompt is drawn behind it, or in the place of what it proposes.
    fn is(&self, other: &Self) -> bool {
        let common = self.line.chars().zip(other.line.chars()).take_while(|(one, two)| one == two).count();
        let same = self.pid == other.pid || !(self.seen && other.seen);
        same && self.lines == other.lines && common * 2 >= self.line.chars().count()
    }
}

impl Waits {
    pub fn of(request: &Request, began: Instant) -> Self {
        let asking = request.prompts.then(|| Asking { next: Some(began + QUIET), told: None, touched: false });
        Self { asking, at_limit: None }
    }

    /// The command has written.
    pub fn touch(&mut self) {
        if let Some(asking) = &mut self.asking {
            asking.touched = true;
            asking.next = Some(Instant::now() + QUIET);
        }
    }

    /// Nobody wants to hear of it any more.
    pub fn hush(&mut self) {
        self.asking = None;
    }
}

impl<L: Listener> Drive<'_, L> {
    /// When to look whether the command waits.
    pub(super) fn looks_at(&self) -> Option<Instant> {
        let next = self.waits.asking.as_ref()?.next;
        next.filter(|_| self.end.is_none() && self.moving.is_none() && !self.aborted && self.pid.is_some())
    }

    /// Asks the shim, if it is time to.
    pub(super) fn look_for_waits(&mut self, now: Instant) {
        if self.looks_at().is_some_and(|at| now >= at)
            && let Some(asking) = &mut self.waits.asking
        {
            (asking.next, asking.touched) = (None, false);
            self.child.look();
        }
    }

    /// The shim has looked.
    pub(super) fn waits(&mut self, at_limit: bool, wait: Option<Wait>) {
        let [stdout, stderr] = [Some(&self.stdout), self.stderr.as_ref()].map(line_of);
        let line = if looks_like_prompt(&stderr) || stdout.is_empty() { stderr } else { stdout };
        let wait = wait.filter(|wait| wait.sure || looks_like_prompt(&line));
        let asks = wait.is_none() && is_prompt(&line);
        let line =
            Some(line).filter(|line| looks_like_prompt(line) || line.chars().count() <= LINE).unwrap_or_default();
        if at_limit {
            let asked = asks.then(|| note_of_prompt(&line));
            self.waits.at_limit = wait.map(|wait| wait.note(&line)).or(asked);
            self.child.heeded();
        } else if self.end.is_none() && self.moving.is_none() {
            let waits = wait.filter(Wait::is_for_input).map(|Wait { pid, command, .. }| (pid, command));
            // It asks plainly: who of it waits for the answer need not be seen.
            let shell = self.pid.filter(|_| asks).map(|pid| (pid, plain(&self.request.command)));
            self.tell(waits.or(shell), !asks, &line);
        }
    }

    fn tell(&mut self, waits: Option<(i32, String)>, seen: bool, line: &str) {
        let lines = [Some(&self.stdout), self.stderr.as_ref()];
        let lines = lines.into_iter().flatten().map(|flow| flow.capture.lines()).sum();
        let Some(asking) = self.waits.asking.as_mut().filter(|asking| !asking.touched) else { return };
        // Without a word another one may wait later, who was told of nobody yet.
        asking.next = Some(Instant::now() + AGAIN);
        let Some((pid, command)) = waits else { return };
        let command = command.chars().take(COMMAND).collect();
        let now = Told { pid, seen, lines, line: line.to_owned() };
        if !asking.told.as_ref().is_some_and(|told| told.is(&now)) {
            asking.told = Some(now);
            let text = plain(line);
            let skip = text.chars().count().saturating_sub(TEXT);
            self.listener.prompt(Prompt { pid, command, text: text.chars().skip(skip).collect() });
        }
    }

    /// The listener has heard of it.
    pub(super) fn prompted(&mut self, failure: Option<String>) {
        if let Some(failure) = failure {
            self.waits.hush();
            self.notes.push(format!("the onPrompt listener failed and was taken away: {failure}"));
        }
    }

    /// What was seen at the limit belongs to a command that was ended there, or that went on.
    pub(super) fn note_waits(&mut self) {
        let limit = matches!(&self.end, Some(Ok(ended)) if ended.cause == Cause::Limit) || self.moved.is_some();
        self.notes.extend(self.waits.at_limit.take().filter(|_| limit));
    }
}

fn line_of(flow: Option<&Flow>) -> String {
    flow.map(|flow| flow.capture.pending()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Told;

    fn told(pid: i32, lines: u64, line: &str) -> Told {
        Told { pid, seen: true, lines, line: line.to_owned() }
    }

    #[test]
    fn what_is_typed_at_a_prompt_makes_it_no_other_one() {
        let name = told(1, 2, "? Name: (demo)");
        for line in ["? Name: (demo)", "? Name: j", "? Name: joe", "? Name: (demo) x"] {
            assert!(name.is(&told(1, 2, line)), "{line}");
        }
        assert!(told(1, 0, "").is(&told(1, 0, "x")));
    }

    #[test]
    fn who_asks_may_be_seen_later_than_what() {
        let guessed = Told { seen: false, ..told(1, 0, "Password: ") };
        assert!(guessed.is(&told(2, 0, "Password: ")));
        assert!(told(2, 0, "Password: ").is(&guessed));
        assert!(!guessed.is(&told(2, 1, "Password: ")));
    }

    #[test]
    fn another_prompt() {
        let name = told(1, 2, "Name: ");
        for other in [told(2, 2, "Name: "), told(1, 3, "Name: "), told(1, 2, "Age: "), told(1, 2, "")] {
            assert!(!name.is(&other), "{} {} {}", other.pid, other.lines, other.line);
        }
    }
}
