//! The listeners of a terminal: when they get its text, and when it waits for them.

use super::data::{BATCH, Data};
use super::terminal::Terminal;

impl Terminal {
    /// The caller knows of the start: text without a listener is dropped from here on.
    pub fn known(&self) {
        self.with_data(|data| {
            data.unknown = false;
            if !data.listened {
                data.waiting.clear();
            }
        });
    }

    /// Sets whether there is a listener.
    pub fn listened(&self, on: bool) {
        self.with_data(|data| {
            data.listened = on;
            if !on && !data.unknown {
                data.waiting.clear();
            }
        });
    }

    /// The listeners have taken the last text.
    pub fn heard(&self) {
        self.with_data(|data| data.in_flight = false);
    }

    /// The listeners get no more, and are not waited for.
    pub fn give_listeners_up(&self) {
        self.with_data(|data| *data = Data { unknown: false, ..Data::default() });
    }

    /// The next text for the listeners, if they wait for one.
    pub fn next_data(&self) -> Option<String> {
        self.with_data(Data::next)
    }

    /// Whether no more is read before the listeners have taken what waits.
    pub fn is_full(&self) -> bool {
        self.with_data(|data| data.waiting.len() >= BATCH)
    }

    /// Whether the listeners have not taken all text.
    pub fn is_heard_of(&self) -> bool {
        self.with_data(|data| data.in_flight || !data.waiting.is_empty())
    }

    /// The end of the output: an unfinished character is shown as it is.
    pub fn finish_data(&self) {
        self.give_drawing_up();
        self.with_data(|data| {
            let Data { decoder, waiting, .. } = data;
            let wanted = data.unknown || data.listened;
            decoder.end(&mut |text| {
                if wanted {
                    waiting.push_str(text);
                }
            });
        });
    }
}
