//! When the listener is shown how a command looks now.

use std::time::Duration;

use tokio::time::Instant;

/// The view that was shown last, and when the next one is due.
pub struct LiveViews {
    began: Instant,
    every: Duration,
    next: Instant,
    in_flight: bool,
    changed: bool,
    /// The text of both streams as it was shown last.
    shown: Option<[String; 2]>,
}

impl LiveViews {
    pub fn new(every: Duration, began: Instant) -> Self {
        Self { began, every, next: began + every, in_flight: false, changed: true, shown: None }
    }

    /// Time since the command began.
    pub fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    /// When the next view is due; `None` while there can be no new one.
    pub fn due_at(&self) -> Option<Instant> {
        (!self.in_flight && self.changed).then_some(self.next)
    }

    /// The command has written.
    pub fn on_output(&mut self) {
        self.changed = true;
    }

    /// The listener has taken the last view.
    pub fn on_taken(&mut self) {
        self.in_flight = false;
    }

    /// The next view, if it is due and differs from the last.
    pub fn next(&mut self, now: Instant, look: impl FnOnce() -> [String; 2]) -> Option<[String; 2]> {
        if now < self.next {
            return None;
        }
        self.next = now + self.every;
        if self.in_flight || !self.changed {
            return None;
        }
        // The view may be the same: the end of a stream was read, or a progress line drawn again.
        self.changed = false;
        let view = look();
        if self.shown.as_ref() == Some(&view) {
            return None;
        }
        self.shown = Some(view.clone());
        self.in_flight = true;
        Some(view)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: Duration = Duration::from_millis(250);

    fn view(text: &str) -> [String; 2] {
        [text.to_owned(), String::new()]
    }

    #[test]
    fn a_view_is_shown_when_it_is_due_and_new() {
        let began = Instant::now();
        let mut views = LiveViews::new(EVERY, began);
        assert_eq!(views.due_at(), Some(began + EVERY));
        assert_eq!(views.next(began, || view("early")), None);
        assert_eq!(views.next(began + EVERY, || view("a")), Some(view("a")));
        views.on_taken();
        assert_eq!(views.due_at(), None, "nothing has changed");
        views.on_output();
        assert_eq!(views.next(began + EVERY * 2, || view("a")), None, "it looks the same");
        views.on_output();
        assert_eq!(views.next(began + EVERY * 3, || view("b")), Some(view("b")));
    }

    #[test]
    fn a_listener_that_is_busy_gets_no_second_view() {
        let began = Instant::now();
        let mut views = LiveViews::new(EVERY, began);
        assert!(views.next(began + EVERY, || view("a")).is_some());
        views.on_output();
        assert_eq!(views.due_at(), None);
        assert_eq!(views.next(began + EVERY * 2, || view("b")), None);
        views.on_taken();
        assert_eq!(views.next(began + EVERY * 3, || view("b")), Some(view("b")));
    }
}
