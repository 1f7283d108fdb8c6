//! The listeners of a terminal: when they get its text, and when the terminal waits for them.

use super::listener_text::{BATCH, ListenerText};
use super::terminal::{CommandTerminal, DistantProgramMessage};

impl CommandTerminal {
    /// Records that the caller knows of the start. Text without a listener is dropped from here on.
    pub fn on_start_known(&self) {
        self.with_data(|data| {
            data.unknown = false;
            if !data.listened {
                data.waiting.clear();
            }
        });
    }

    /// Sets whether there is a listener.
    pub fn set_listened(&self, on: bool) {
        self.send_there(DistantProgramMessage::Drawn(on));
        self.with_data(|data| {
            data.listened = on;
            if !on && !data.unknown {
                data.waiting.clear();
            }
        });
    }

    /// Sends all text to another machine, where somebody draws it or nobody does.
    pub fn set_drawn_elsewhere(&self, drawn: bool) {
        self.on_start_known();
        self.with_data(|data| {
            data.listened = true;
            data.drawn_there = Some(drawn);
        });
    }

    /// Returns whether there is a listener.
    pub fn is_listened(&self) -> bool {
        self.with_data(|data| data.listened)
    }

    /// Records that the listeners have taken the last text.
    pub fn on_text_taken(&self) {
        self.with_data(|data| data.in_flight = false);
    }

    /// Gives the listeners no more text, and does not wait for them.
    pub fn drop_listeners(&self) {
        self.with_data(|data| *data = ListenerText { unknown: false, ..ListenerText::default() });
    }

    /// Returns the next text for the listeners, if they wait for text.
    pub fn next_data(&self) -> Option<String> {
        self.with_data(ListenerText::next)
    }

    /// Returns whether reading must pause until the listeners have taken the waiting text.
    pub fn is_full(&self) -> bool {
        self.with_data(|data| data.waiting.len() >= BATCH)
    }

    /// Returns whether the listeners have not taken all text.
    pub fn awaits_listeners(&self) -> bool {
        self.with_data(|data| data.in_flight || !data.waiting.is_empty())
    }

    /// Ends the output: an unfinished character is shown as it is.
    pub fn finish_data(&self) {
        self.give_drawing_up();
        self.with_data(|data| {
            let ListenerText { decoder, waiting, .. } = data;
            let wanted = data.unknown || data.listened;
            decoder.end(&mut |text| {
                if wanted {
                    waiting.push_str(text);
                }
            });
        });
    }
}
