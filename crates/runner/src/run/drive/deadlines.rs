//! The points in time that bound a running command.

use std::time::Duration;

use tokio::time::Instant;

use protocol::Drain;

/// Time a terminated command may take beyond its grace. After it the command counts as over, whatever happens.
pub const HARD_BOUND: Duration = Duration::from_secs(1);
/// Time a shim may take to make a command its task.
const TAKEN_OVER: Duration = Duration::from_secs(10);
/// A terminal without a time limit may stay open this long: years.
const NO_LIMIT: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// When a command is over at the latest, and when reading what its pipes still hold is.
pub struct Deadlines {
    began: Instant,
    grace: Duration,
    /// The loop gives the command up then.
    hard: Instant,
    /// From the exit of the shell on.
    drain: Option<Drain>,
}

impl Deadlines {
    /// `limit` is the one that the shim keeps.
    pub fn new(began: Instant, limit: Option<Duration>, grace: Duration) -> Self {
        let hard = began + limit.unwrap_or(NO_LIMIT) + grace + HARD_BOUND;
        Self { began, grace, hard, drain: None }
    }

    /// When the command began.
    pub fn began(&self) -> Instant {
        self.began
    }

    /// When the command is given up.
    pub fn hard(&self) -> Instant {
        self.hard
    }

    /// Whether the command is to be given up.
    pub fn is_up(&self, now: Instant) -> bool {
        now >= self.hard
    }

    /// The shim was asked to terminate the tree.
    pub fn on_terminate(&mut self, now: Instant) {
        self.hard = now + self.grace + HARD_BOUND;
    }

    /// The shim has killed the tree because it used more than it may: no listener delays the result for longer.
    pub fn on_limit_exceeded(&mut self, now: Instant) {
        self.hard = self.hard.min(now + HARD_BOUND);
    }

    /// The shim was asked to make the command a task.
    pub fn on_handed_over(&mut self, now: Instant) {
        self.hard = now + TAKEN_OVER;
    }

    /// The shell has exited: the pipes are read for as long as survivors keep writing, within bounds.
    pub fn on_exit(&mut self, now: Instant) {
        self.drain = Some(Drain::begin(now.into_std()));
    }

    /// The command has written.
    pub fn on_output(&mut self, now: Instant) {
        if let Some(drain) = &mut self.drain {
            drain.on_output(now.into_std());
        }
    }

    /// When the drain ends, should no more output come.
    pub fn drained_at(&self) -> Option<Instant> {
        self.drain.map(|drain| Instant::from_std(drain.until()))
    }

    /// Whether the pipes have to be read once more, asked of the system itself, before the drain may end.
    pub fn is_drain_due(&self, now: Instant) -> bool {
        self.drain.is_some_and(|drain| now.into_std() >= drain.until())
    }

    /// The pipes were read once more.
    pub fn on_read_again(&mut self, now: Instant) {
        if let Some(drain) = &mut self.drain {
            drain.on_emptied(now.into_std());
        }
    }

    /// Whether the drain has ended.
    pub fn is_drained(&self, now: Instant) -> bool {
        self.drain.is_some_and(|drain| drain.is_over(now.into_std()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);
    const GRACE: Duration = Duration::from_secs(2);

    #[test]
    fn a_command_is_given_up_a_second_after_its_limit_and_its_grace() {
        let began = Instant::now();
        let deadlines = Deadlines::new(began, Some(LIMIT), GRACE);
        assert!(!deadlines.is_up(began + Duration::from_millis(32_999)));
        assert!(deadlines.is_up(began + Duration::from_secs(33)));
    }

    #[test]
    fn without_a_limit_a_terminal_stays_open_for_years() {
        let began = Instant::now();
        assert!(!Deadlines::new(began, None, GRACE).is_up(began + 365 * Duration::from_secs(24 * 60 * 60)));
    }

    #[test]
    fn a_termination_moves_the_end_to_grace_and_a_second_from_then() {
        let began = Instant::now();
        let mut deadlines = Deadlines::new(began, Some(LIMIT), GRACE);
        deadlines.on_terminate(began + Duration::from_secs(10));
        assert_eq!(deadlines.hard(), began + Duration::from_secs(13));
        deadlines.on_terminate(began + Duration::from_secs(40));
        assert_eq!(deadlines.hard(), began + Duration::from_secs(43), "later than the first end, too");
    }

    #[test]
    fn a_broken_limit_only_brings_the_end_nearer() {
        let began = Instant::now();
        let mut deadlines = Deadlines::new(began, Some(LIMIT), GRACE);
        deadlines.on_limit_exceeded(began + Duration::from_secs(5));
        assert_eq!(deadlines.hard(), began + Duration::from_secs(6));
        deadlines.on_limit_exceeded(began + Duration::from_secs(20));
        assert_eq!(deadlines.hard(), began + Duration::from_secs(6));
    }

    #[test]
    fn a_shim_has_ten_seconds_to_take_a_command_over() {
        let began = Instant::now();
        let mut deadlines = Deadlines::new(began, Some(LIMIT), GRACE);
        deadlines.on_handed_over(began + LIMIT);
        assert_eq!(deadlines.hard(), began + Duration::from_secs(40));
    }

    #[test]
    fn a_drain_ends_after_quiet_and_one_more_read() {
        let began = Instant::now();
        let at = |ms| began + Duration::from_millis(ms);
        let mut deadlines = Deadlines::new(began, Some(LIMIT), GRACE);
        deadlines.on_output(at(1));
        assert!(!deadlines.is_drain_due(at(5_000)), "no drain before the exit");
        deadlines.on_exit(at(100));
        assert_eq!(deadlines.drained_at(), Some(at(350)));
        deadlines.on_output(at(300));
        assert_eq!(deadlines.drained_at(), Some(at(550)));
        assert!(!deadlines.is_drain_due(at(549)) && deadlines.is_drain_due(at(550)));
        assert!(!deadlines.is_drained(at(550)), "the pipes are read once more first");
        deadlines.on_read_again(at(550));
        assert!(deadlines.is_drained(at(550)));
    }

    #[test]
    fn a_drain_ends_after_two_seconds_however_much_comes() {
        let began = Instant::now();
        let mut deadlines = Deadlines::new(began, Some(LIMIT), GRACE);
        deadlines.on_exit(began);
        deadlines.on_output(began + Duration::from_millis(1_990));
        assert_eq!(deadlines.drained_at(), Some(began + Duration::from_secs(2)));
    }
}
