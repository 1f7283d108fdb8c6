//! Questions about commands that have not started, which a person answers on the page.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, sleep_until};

use super::live_runs::runs;
use super::run_description::{
    ApprovalRequest, UndoCover, cut, shown_actor, shown_directory, shown_sentences, whole_command,
};
use ledger::Actor;
use protocol::task::now_ms;

/// Most questions that wait at a time.
const MAX_WAITING_QUESTIONS: usize = 256;
/// Time that a page has to find this process, and to come back after it was closed, as by a restart.
const PAGE_ABSENCE_BOUND: Duration = Duration::from_secs(3);
/// Longest reason of a person, bytes.
const MAX_REASON_BYTES: usize = 4 * 1024;

/// A question before it is asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ApprovalQuestion {
    /// The command as it would run.
    pub command: String,
    /// The directory that it would start in.
    pub cwd: String,
    /// Who asks.
    pub actor: Option<Actor>,
    /// The verdict of the safety engine and the rules.
    pub verdict: String,
    /// The rules behind it.
    pub rules: Vec<String>,
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
    /// `None`: its tool has no undo.
    pub undo: Option<UndoCover>,
    /// Whether the question waits while no page is open. Its caller also asks a person elsewhere.
    pub stays: bool,
}

/// The answer of a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalAnswer {
    /// The command may run.
    pub approved: bool,
    /// The person's words.
    pub reason: Option<String>,
}

/// Why a question cannot be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// It was answered or withdrawn.
    #[error("this question was answered already, or was withdrawn")]
    Gone,
}

/// The questions of this process.
#[derive(Default)]
pub struct PendingApprovals {
    next: AtomicU64,
    waiting: Mutex<BTreeMap<u64, WaitingApproval>>,
    /// Pages that may answer.
    controls: AtomicUsize,
    /// Number of pages that have come so far.
    arrivals: AtomicU64,
    /// Since when no page is there, though one could be. `None`: no page could find this process yet.
    alone_since: Mutex<Option<Instant>>,
}

struct WaitingApproval {
    ask: Arc<ApprovalRequest>,
    answer: oneshot::Sender<ApprovalAnswer>,
    stays: bool,
}

/// A question that waits. It is withdrawn when this is dropped.
pub struct ApprovalWait {
    asks: &'static PendingApprovals,
    number: u64,
    answer: oneshot::Receiver<ApprovalAnswer>,
    /// The pages that had come before the question, and the time that the next one has, if none was there.
    expected: Option<(u64, Instant)>,
}

/// A page that may answer.
pub struct AnsweringPage(&'static PendingApprovals);

/// Returns the questions of this process.
pub fn asks() -> &'static PendingApprovals {
    static ASKS: LazyLock<PendingApprovals> = LazyLock::new(PendingApprovals::default);
    &ASKS
}

impl PendingApprovals {
    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, WaitingApproval>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a question. Returns `None` and asks nothing if no page may answer or is expected and the question does not
    /// stay, if too many questions wait, or if the command is too long to be shown whole: a person approves only what
    /// can be read.
    pub fn ask(&'static self, question: ApprovalQuestion) -> Option<ApprovalWait> {
        let ApprovalQuestion { command, cwd, actor, verdict, rules, reasons, undo, stays } = question;
        let arrivals = self.arrivals.load(Ordering::Relaxed);
        let until = self.set_discoverable() + PAGE_ABSENCE_BOUND;
        let expected = (!stays && !self.has_answering_page()).then_some((arrivals, until));
        if expected.is_some_and(|(_, until)| until <= Instant::now()) || self.waiting().len() >= MAX_WAITING_QUESTIONS {
            return None;
        }
        let command = whole_command(&command)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let ask = ApprovalRequest {
            key: key(number),
            command,
            cwd: shown_directory(cwd),
            actor: actor.map(shown_actor),
            verdict,
            rules: shown_sentences(rules),
            reasons: shown_sentences(reasons),
            undo,
            asked_at: now_ms(),
        };
        let (sender, answer) = oneshot::channel();
        self.waiting().insert(number, WaitingApproval { ask: Arc::new(ask), answer: sender, stays });
        runs().on_change();
        Some(ApprovalWait { asks: self, number, answer, expected })
    }

    /// Returns the questions that wait, the oldest first.
    pub fn list(&self) -> Vec<Arc<ApprovalRequest>> {
        self.waiting().values().map(|waiter| Arc::clone(&waiter.ask)).collect()
    }

    /// Answers a question. The first answer counts.
    ///
    /// # Errors
    /// [`ApprovalError`]
    pub fn answer(&self, key: &str, approved: bool, reason: Option<String>) -> Result<(), ApprovalError> {
        let number = key.strip_prefix('a').and_then(|number| number.parse().ok()).ok_or(ApprovalError::Gone)?;
        let waiter = self.waiting().remove(&number).ok_or(ApprovalError::Gone)?;
        runs().on_change();
        let reason = reason.map(|reason| cut(reason, MAX_REASON_BYTES)).filter(|reason| !reason.trim().is_empty());
        waiter.answer.send(ApprovalAnswer { approved, reason }).map_err(|_| ApprovalError::Gone)
    }

    /// Notes that pages can find this process from now on. Returns since when no page is there.
    pub fn set_discoverable(&self) -> Instant {
        *self.alone_since().get_or_insert_with(Instant::now)
    }

    fn alone_since(&self) -> MutexGuard<'_, Option<Instant>> {
        self.alone_since.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a page is there that may answer.
    pub fn has_answering_page(&self) -> bool {
        self.controls.load(Ordering::Relaxed) > 0
    }

    /// Counts a page that may answer until the guard is dropped.
    pub fn count_answering_page(&'static self) -> AnsweringPage {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
        self.controls.fetch_add(1, Ordering::Relaxed);
        AnsweringPage(self)
    }

    fn withdraw(&self, number: u64) {
        if self.waiting().remove(&number).is_some() {
            runs().on_change();
        }
    }

    /// Withdraws the questions that do not stay if no page has come since the last one left.
    fn withdraw_if_still_alone(&self, arrivals: u64) {
        if self.arrivals.load(Ordering::Relaxed) == arrivals {
            self.waiting().retain(|_, waiter| waiter.stays);
            runs().on_change();
        }
    }
}

fn key(number: u64) -> String {
    format!("a{number}")
}

impl ApprovalWait {
    /// Returns the key of the question.
    pub fn key(&self) -> String {
        key(self.number)
    }

    /// Waits for the answer. `None` once no page is there any more, or if none has come in time.
    pub async fn answer(mut self) -> Option<ApprovalAnswer> {
        if let Some((arrivals, until)) = self.expected {
            tokio::select! {
                answer = &mut self.answer => return answer.ok(),
                () = sleep_until(until) => self.asks.withdraw_if_still_alone(arrivals),
            }
        }
        (&mut self.answer).await.ok()
    }
}

impl Drop for ApprovalWait {
    fn drop(&mut self) {
        self.asks.withdraw(self.number);
    }
}

impl Drop for AnsweringPage {
    fn drop(&mut self) {
        let asks = self.0;
        *asks.alone_since() = Some(Instant::now());
        if asks.controls.fetch_sub(1, Ordering::Relaxed) == 1
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let arrivals = asks.arrivals.load(Ordering::Relaxed);
            runtime.spawn(async move {
                sleep(PAGE_ABSENCE_BOUND).await;
                asks.withdraw_if_still_alone(arrivals);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> &'static PendingApprovals {
        Box::leak(Box::default())
    }

    fn question() -> ApprovalQuestion {
        ApprovalQuestion {
            command: "deploy --password hunter2hunter2".into(),
            verdict: "ask".into(),
            ..ApprovalQuestion::default()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_page_that_is_open_has_time_to_find_a_process_that_asks_at_once() {
        let asks = own();
        let waits = asks.ask(question()).expect("a page may be open");
        sleep(PAGE_ABSENCE_BOUND / 2).await;
        let _page = asks.count_answering_page();
        sleep(PAGE_ABSENCE_BOUND * 2).await;
        assert_eq!(asks.answer(&waits.key(), true, None), Ok(()));
        assert_eq!(waits.answer().await, Some(ApprovalAnswer { approved: true, reason: None }));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_waits_for_no_page_for_longer_than_it_takes_to_come() {
        let asks = own();
        asks.set_discoverable();
        sleep(PAGE_ABSENCE_BOUND / 2).await;
        let (waits, asked) = (asks.ask(question()).expect("a page may be open"), Instant::now());
        assert_eq!((waits.answer().await, asked.elapsed()), (None, PAGE_ABSENCE_BOUND / 2));
        assert!(asks.list().is_empty());
        assert!(asks.ask(question()).is_none(), "no page is open");
        drop(asks.count_answering_page());
        let waits = asks.ask(question()).expect("the page may come back");
        let asked = Instant::now();
        assert_eq!((waits.answer().await, asked.elapsed()), (None, PAGE_ABSENCE_BOUND));
    }

    #[tokio::test]
    async fn the_first_answer_counts() {
        let asks = own();
        let _page = asks.count_answering_page();
        let waits = asks.ask(question()).expect("a page is there");
        let listed = asks.list();
        assert_eq!(listed.iter().map(|ask| ask.key.clone()).collect::<Vec<_>>(), [waits.key()]);
        assert!(!listed[0].command.contains("hunter"), "{}", listed[0].command);
        let key = waits.key();
        assert_eq!(asks.answer("a99", true, None), Err(ApprovalError::Gone));
        assert_eq!(asks.answer(&key, false, Some("not today".into())), Ok(()));
        assert_eq!(asks.answer(&key, true, None), Err(ApprovalError::Gone));
        assert_eq!(waits.answer().await, Some(ApprovalAnswer { approved: false, reason: Some("not today".into()) }));
        assert!(asks.list().is_empty());
    }

    #[tokio::test]
    async fn a_question_that_is_dropped_is_withdrawn() {
        let asks = own();
        let _page = asks.count_answering_page();
        let waits = asks.ask(question()).expect("a page is there");
        let key = waits.key();
        drop(waits);
        assert!(asks.list().is_empty());
        assert_eq!(asks.answer(&key, true, None), Err(ApprovalError::Gone));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_page_no_question_waits_forever() {
        let asks = own();
        let page = asks.count_answering_page();
        let waits = asks.ask(question()).expect("a page is there");
        drop(page);
        let again = asks.count_answering_page();
        sleep(PAGE_ABSENCE_BOUND * 2).await;
        assert_eq!(asks.list().len(), 1, "the page came back");
        drop(again);
        sleep(PAGE_ABSENCE_BOUND / 2).await;
        drop(asks.count_answering_page());
        sleep(PAGE_ABSENCE_BOUND * 2 / 3).await;
        assert_eq!(asks.list().len(), 1, "the page came back and left again a moment ago");
        assert_eq!(waits.answer().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_stays_waits_while_no_page_is_open() {
        let asks = own();
        let waits = asks.ask(ApprovalQuestion { stays: true, ..question() }).expect("the question stays");
        drop(asks.count_answering_page());
        sleep(PAGE_ABSENCE_BOUND * 2).await;
        let _page = asks.count_answering_page();
        assert_eq!(asks.answer(&waits.key(), true, None), Ok(()));
        assert_eq!(waits.answer().await, Some(ApprovalAnswer { approved: true, reason: None }));
    }

    #[test]
    fn no_more_wait_than_a_person_could_ever_answer() {
        let asks = own();
        let _page = asks.count_answering_page();
        let waiting: Vec<_> = (0..MAX_WAITING_QUESTIONS).map(|_| asks.ask(question()).expect("room")).collect();
        assert!(asks.ask(question()).is_none());
        drop(waiting);
        assert!(asks.ask(question()).is_some());
    }
}
