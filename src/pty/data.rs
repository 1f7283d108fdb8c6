//! What those hear who draw a terminal themselves: all that its program writes, as whole characters.

use super::Terminal;
use crate::capture::{Cleaner, Sanitize};

/// The most text that one call of the listeners gets, bytes; and what waits for them before no more is read.
const BATCH: usize = 64 * 1024;
/// Nothing is left out.
const RAW: Option<Sanitize> = None;

/// Text on its way to those who listen.
pub(super) struct Data {
    decoder: Cleaner,
    waiting: String,
    /// Nobody can listen yet: the caller does not know that it was started.
    unknown: bool,
    listened: bool,
    in_flight: bool,
}

impl Default for Data {
    fn default() -> Self {
        let decoder = Cleaner::new(RAW);
        Self { decoder, waiting: String::new(), unknown: true, listened: false, in_flight: false }
    }
}

impl Data {
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { decoder, waiting, .. } = self;
        let wanted = self.unknown || self.listened;
        decoder.push(bytes, &mut |text| {
            if wanted {
                waiting.push_str(text);
            }
        });
    }

    /// Whether somebody hears all of it, who may draw it and answer for it.
    pub fn is_drawn(&self) -> bool {
        self.listened
    }

    fn next(&mut self) -> Option<String> {
        if self.in_flight || self.unknown || self.waiting.is_empty() {
            return None;
        }
        let rest = self.waiting.split_off(self.waiting.floor_char_boundary(BATCH));
        self.in_flight = true;
        Some(std::mem::replace(&mut self.waiting, rest))
    }
}

impl Terminal {
    /// The caller knows that it was started: from here on what nobody listens to is not kept.
    pub fn known(&self) {
        self.with_data(|data| {
            data.unknown = false;
            if !data.listened {
                data.waiting.clear();
            }
        });
    }

    /// Whether somebody listens.
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

    /// Nobody is waited for any longer, nor told of what comes.
    pub fn give_listeners_up(&self) {
        self.with_data(|data| *data = Data { unknown: false, ..Data::default() });
    }

    /// The next text for the listeners, if they wait for one.
    pub fn next_data(&self) -> Option<String> {
        self.with_data(Data::next)
    }

    /// Whether no more is to be read before the listeners have taken what there is.
    pub fn is_full(&self) -> bool {
        self.with_data(|data| data.waiting.len() >= BATCH)
    }

    /// Whether the listeners have not taken all that was written.
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
