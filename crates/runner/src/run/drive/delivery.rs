//! Live output on its way to the listener: one batch at a time, in order, and no faster than the listener takes it.

use std::collections::VecDeque;

use capture::Stream;

/// The most text that one call of the listener gets, bytes.
pub const BATCH: usize = 64 * 1024;

/// The streams that live text is taken from.
pub trait LiveText {
    /// The next text of a stream, at most this many bytes; `None` when there is none.
    fn take(&mut self, stream: Stream, max_bytes: usize) -> Option<String>;
    /// Whether a stream has more text.
    fn has_more(&self, stream: Stream) -> bool;
}

/// Which stream the listener gets next, and whether it is still busy with the last batch.
#[derive(Debug, Default)]
pub struct Delivery {
    /// The caller listens.
    on: bool,
    /// A batch was not taken yet.
    in_flight: bool,
    queue: VecDeque<Stream>,
}

impl Delivery {
    pub fn new(on: bool) -> Self {
        Self { on, ..Self::default() }
    }

    /// Whether the caller listens.
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Whether a stream with this much text is not read any further: the command is held back by its full pipe.
    pub fn is_full(&self, live_bytes: usize) -> bool {
        self.on && live_bytes >= BATCH
    }

    /// A stream has text for the listener.
    pub fn on_text(&mut self, stream: Stream) {
        if self.on && !self.queue.contains(&stream) {
            self.queue.push_back(stream);
        }
    }

    /// The next batch, unless the listener is busy. Streams take turns.
    pub fn next(&mut self, text: &mut impl LiveText) -> Option<(Stream, String)> {
        while self.on && !self.in_flight {
            let stream = self.queue.pop_front()?;
            if let Some(batch) = text.take(stream, BATCH) {
                if text.has_more(stream) {
                    self.queue.push_back(stream);
                }
                self.in_flight = true;
                return Some((stream, batch));
            }
        }
        None
    }

    /// The listener has taken the last batch.
    pub fn on_taken(&mut self) {
        self.in_flight = false;
    }

    /// The listener gets no more. Returns whether it still listened.
    pub fn stop(&mut self) -> bool {
        self.queue.clear();
        std::mem::take(&mut self.on)
    }

    /// Whether the listener has not taken everything yet.
    pub fn is_pending(&self) -> bool {
        self.on && (self.in_flight || !self.queue.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of both streams.
    struct Texts([String; 2]);

    impl LiveText for Texts {
        fn take(&mut self, stream: Stream, max_bytes: usize) -> Option<String> {
            let text = &mut self.0[stream as usize];
            let rest = text.split_off(text.len().min(max_bytes));
            Some(std::mem::replace(text, rest)).filter(|text| !text.is_empty())
        }

        fn has_more(&self, stream: Stream) -> bool {
            !self.0[stream as usize].is_empty()
        }
    }

    fn texts(stdout: &str, stderr: &str) -> Texts {
        let mut texts = Texts([String::new(), String::new()]);
        texts.0[Stream::Stdout as usize] = stdout.to_owned();
        texts.0[Stream::Stderr as usize] = stderr.to_owned();
        texts
    }

    #[test]
    fn one_batch_is_in_flight_at_a_time() {
        let mut delivery = Delivery::new(true);
        let mut texts = texts("one", "");
        delivery.on_text(Stream::Stdout);
        assert_eq!(delivery.next(&mut texts), Some((Stream::Stdout, "one".to_owned())));
        texts.0[Stream::Stdout as usize].push_str("two");
        delivery.on_text(Stream::Stdout);
        assert_eq!(delivery.next(&mut texts), None, "the listener is busy");
        delivery.on_taken();
        assert_eq!(delivery.next(&mut texts), Some((Stream::Stdout, "two".to_owned())));
    }

    #[test]
    fn streams_take_turns_and_each_keeps_its_order() {
        let mut delivery = Delivery::new(true);
        let long = format!("{}{}", "a".repeat(BATCH), "b");
        let mut texts = texts(&long, "error");
        delivery.on_text(Stream::Stdout);
        delivery.on_text(Stream::Stderr);
        delivery.on_text(Stream::Stdout);
        let mut taken = Vec::new();
        while let Some((stream, text)) = delivery.next(&mut texts) {
            taken.push((stream, text.len()));
            delivery.on_taken();
        }
        assert_eq!(taken, [(Stream::Stdout, BATCH), (Stream::Stderr, 5), (Stream::Stdout, 1)]);
        assert!(!delivery.is_pending());
    }

    #[test]
    fn a_busy_listener_holds_the_command_back_at_one_batch() {
        let delivery = Delivery::new(true);
        assert!(!delivery.is_full(BATCH - 1) && delivery.is_full(BATCH));
        assert!(!Delivery::new(false).is_full(usize::MAX), "without a listener everything is read");
    }

    #[test]
    fn the_result_waits_for_the_batch_in_flight_and_for_the_queue() {
        let mut delivery = Delivery::new(true);
        let mut texts = texts("x", "");
        assert!(!delivery.is_pending());
        delivery.on_text(Stream::Stdout);
        assert!(delivery.is_pending(), "queued");
        let _ = delivery.next(&mut texts);
        assert!(delivery.is_pending(), "in flight");
        delivery.on_taken();
        assert!(!delivery.is_pending());
    }

    #[test]
    fn a_stopped_listener_gets_and_delays_nothing() {
        let mut delivery = Delivery::new(true);
        delivery.on_text(Stream::Stdout);
        assert!(delivery.stop());
        assert!(!delivery.stop(), "stopped already");
        delivery.on_text(Stream::Stderr);
        assert_eq!(delivery.next(&mut texts("x", "y")), None);
        assert!(!delivery.is_pending());
    }
}
