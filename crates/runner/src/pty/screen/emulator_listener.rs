//! The events of the emulator: answers to queries, and the title.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use alacritty_terminal::event::{Event, EventListener};

/// The most bytes of answers that are kept for a program that asks without reading.
const REPLIES_LIMIT: usize = 64 * 1024;

/// The answers are shared, because the emulator keeps its listener to itself.
#[derive(Clone, Default)]
pub(super) struct EmulatorListener(Arc<Mutex<EmulatorReports>>);

#[derive(Default)]
struct EmulatorReports {
    replies: Vec<u8>,
    title: String,
}

impl EmulatorListener {
    pub(super) fn reply(&self, text: &str) {
        let mut said = self.said();
        if said.replies.len() + text.len() <= REPLIES_LIMIT {
            said.replies.extend_from_slice(text.as_bytes());
        }
    }

    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.said().replies)
    }

    pub(super) fn title(&self) -> String {
        self.said().title.clone()
    }

    fn said(&self) -> MutexGuard<'_, EmulatorReports> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventListener for EmulatorListener {
    /// Queries for the host's colours, clipboard or pixels get no answer.
    fn send_event(&self, event: Event) {
        match event {
            Event::PtyWrite(text) => self.reply(&text),
            Event::Title(title) => self.said().title = title,
            Event::ResetTitle => self.said().title.clear(),
            _ => {}
        }
    }
}
