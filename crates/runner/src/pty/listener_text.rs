//! The text of a terminal for callers that draw it themselves: all output of its program, as whole characters.

use capture::{OutputCleaner, SanitizeRules};

/// The most text that one call of the listeners gets, bytes. Reading pauses while that much text waits.
pub const BATCH: usize = 64 * 1024;
/// No cleaning: the text is only decoded.
const RAW: Option<SanitizeRules> = None;

/// Text on its way to the listeners.
pub(super) struct ListenerText {
    pub decoder: OutputCleaner,
    pub waiting: String,
    /// Whether the caller does not know of the start yet, so that no listener can exist.
    pub unknown: bool,
    pub listened: bool,
    /// Whether somebody draws the text on another machine. `None`: a listener does.
    pub drawn_there: Option<bool>,
    pub in_flight: bool,
}

impl Default for ListenerText {
    fn default() -> Self {
        let decoder = OutputCleaner::new(RAW);
        let (listened, drawn_there) = (false, None);
        Self { decoder, waiting: String::new(), unknown: true, listened, drawn_there, in_flight: false }
    }
}

impl ListenerText {
    pub fn push(&mut self, bytes: &[u8]) {
        let Self { decoder, waiting, .. } = self;
        let wanted = self.unknown || self.listened;
        decoder.push(bytes, &mut |text| {
            if wanted {
                waiting.push_str(text);
            }
        });
    }

    /// Returns whether a listener gets all text, and may draw it and answer for it.
    pub fn is_drawn(&self) -> bool {
        self.drawn_there.unwrap_or(self.listened)
    }

    /// Returns the next text for the listeners, if they wait for text.
    pub fn next(&mut self) -> Option<String> {
        if self.in_flight || self.unknown || self.waiting.is_empty() {
            return None;
        }
        let rest = self.waiting.split_off(self.waiting.floor_char_boundary(BATCH));
        self.in_flight = true;
        Some(std::mem::replace(&mut self.waiting, rest))
    }
}
