//! The output of a run on its way to the listener, which gets one part at a time, as it does here.

use std::collections::VecDeque;

use crate::flow_control::{MOST_UNREAD, credit_cost};
use capture::OutputStream;
use runner::run::CommandListener;

/// Output that the listener has not taken.
#[derive(Debug, Default)]
pub struct UntakenOutput {
    /// What comes next. The first part is with the listener if `given`.
    parts: VecDeque<(OutputStream, String)>,
    cost: u64,
    given: bool,
    /// Whether the listener has failed.
    stopped: bool,
}

impl UntakenOutput {
    /// Takes a part, and gives it to the listener if that waits for one. `false`: the program does not keep to the
    /// credit.
    #[must_use]
    pub fn push(&mut self, stream: OutputStream, text: String, listener: &impl CommandListener) -> bool {
        if self.stopped {
            return true;
        }
        self.cost += credit_cost(text.len());
        self.parts.push_back((stream, text));
        self.give(listener);
        self.cost <= MOST_UNREAD
    }

    /// The listener has taken its part. Returns the cost of the part, and gives it the next one.
    pub fn on_taken(&mut self, listener: &impl CommandListener) -> u64 {
        let taken = self.given.then(|| self.parts.pop_front()).flatten();
        let cost = taken.map_or(0, |(_, text)| credit_cost(text.len()));
        self.cost -= cost;
        self.given = false;
        self.give(listener);
        cost
    }

    /// The listener has failed, and gets nothing more.
    pub fn stop(&mut self) {
        *self = Self { stopped: true, ..Self::default() };
    }

    /// Returns whether the listener has taken everything.
    pub fn is_taken(&self) -> bool {
        self.parts.is_empty()
    }

    fn give(&mut self, listener: &impl CommandListener) {
        if !self.given
            && let Some((stream, text)) = self.parts.front()
        {
            self.given = true;
            listener.output(*stream, text.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runner::run::{BlockedPrompt, LiveView};
    use std::sync::Mutex;

    #[derive(Default)]
    struct OutputRecordingListener(Mutex<Vec<String>>);

    impl CommandListener for OutputRecordingListener {
        fn output(&self, _stream: OutputStream, text: String) {
            self.0.lock().expect("no panic").push(text);
        }
        fn live_view(&self, _view: LiveView) {}
        fn prompt(&self, _prompt: BlockedPrompt) {}
        fn allocate(&self, _stream: OutputStream) {}
    }

    fn heard(ear: &OutputRecordingListener) -> String {
        ear.0.lock().expect("no panic").concat()
    }

    #[test]
    fn a_listener_gets_one_part_at_a_time_and_each_is_paid_for_once_it_is_taken() {
        let (ear, mut output) = (OutputRecordingListener::default(), UntakenOutput::default());
        for text in ["a", "bb", "ccc"] {
            assert!(output.push(OutputStream::Stdout, text.to_owned(), &ear));
        }
        assert_eq!(heard(&ear), "a");
        assert_eq!((output.on_taken(&ear), heard(&ear).as_str()), (credit_cost(1), "abb"));
        assert_eq!((output.on_taken(&ear), heard(&ear).as_str()), (credit_cost(2), "abbccc"));
        assert!(!output.is_taken());
        assert_eq!((output.on_taken(&ear), output.on_taken(&ear), output.is_taken()), (credit_cost(3), 0, true));
    }

    #[test]
    fn a_listener_that_has_failed_gets_nothing_more() {
        let (ear, mut output) = (OutputRecordingListener::default(), UntakenOutput::default());
        assert!(output.push(OutputStream::Stdout, "a".to_owned(), &ear));
        output.stop();
        assert!(output.push(OutputStream::Stdout, "b".to_owned(), &ear));
        assert_eq!((heard(&ear).as_str(), output.is_taken()), ("a", true));
    }

    #[test]
    fn more_than_the_credit_is_found_out() {
        let (ear, mut output) = (OutputRecordingListener::default(), UntakenOutput::default());
        let kept = (0..100).take_while(|_| output.push(OutputStream::Stdout, "x".repeat(64 * 1024), &ear)).count();
        assert_eq!(kept as u64, MOST_UNREAD / credit_cost(64 * 1024));
    }
}
