//! Splits bytes into text and whole escape sequences, with the states of the parser that follows (vte), so that the
//! parser never gets a partial sequence.

use memchr::memchr;

const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
const ESC: u8 = 0x1b;

/// The most bytes of a control sequence. A longer sequence is not meant as one, and is dropped as a whole.
const SEQUENCE_LIMIT: usize = 256;
/// The longest style that is found as a whole.
const STYLE_LIMIT: usize = 32;
/// The most bytes of an operating system command that are kept.
const COMMAND_LIMIT: usize = 2 + 1024;

/// A part of the output of a program.
pub(super) enum TerminalOutputPiece<'a> {
    /// Text with its control characters. `cut`: an escape sequence follows, so that an unfinished character at the end
    /// will never be completed. `style`: that sequence, if it is a colour or a style.
    Text { text: &'a [u8], cut: bool, style: &'a [u8] },
    /// An escape or control sequence, from ESC to its final byte.
    Sequence(&'a [u8]),
    /// The content of an operating system command, at most its first 1,026 bytes.
    Command(Vec<u8>),
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum EscapeSplitterState {
    #[default]
    Text,
    Escape,
    Intermediate,
    Control,
    Command,
    /// Strings for devices, and undefined strings. Their content is dropped.
    Ignored,
}

#[derive(Default)]
pub(super) struct EscapeSplitter {
    state: EscapeSplitterState,
    sequence: Vec<u8>,
    /// Whether the sequence was too long. It is then dropped at its end.
    overlong: bool,
}

impl EscapeSplitter {
    /// Returns the next piece, taken off the front of `bytes`. `None` once all bytes are taken. The rest of a sequence
    /// is then kept for the next call.
    pub(super) fn next<'a, 'b: 'a>(&'a mut self, bytes: &mut &'b [u8]) -> Option<TerminalOutputPiece<'a>> {
        if self.state == EscapeSplitterState::Text {
            return self.take_text(bytes);
        }
        loop {
            let (taken, rest) = bytes.split_at_checked(1)?;
            *bytes = rest;
            let byte = taken[0];
            match (self.state, byte) {
                (EscapeSplitterState::Command, ESC) => {
                    let command = std::mem::take(&mut self.sequence);
                    self.begin_sequence();
                    return Some(TerminalOutputPiece::Command(command));
                }
                (EscapeSplitterState::Command, BEL) => {
                    self.state = EscapeSplitterState::Text;
                    return Some(TerminalOutputPiece::Command(std::mem::take(&mut self.sequence)));
                }
                (_, ESC) => self.begin_sequence(),
                (_, CAN | SUB) => {
                    self.state = EscapeSplitterState::Text;
                    return self.take_text(bytes);
                }
                (EscapeSplitterState::Command, _) => {
                    if self.sequence.len() < COMMAND_LIMIT {
                        self.sequence.push(byte);
                    }
                }
                (EscapeSplitterState::Ignored, _) | (_, 0x7f..) => {}
                // A control character within a sequence takes effect at once.
                (_, ..=0x1f) => return Some(TerminalOutputPiece::Text { text: taken, cut: false, style: &[] }),
                _ => {
                    self.push(byte);
                    if self.ends_sequence(byte) {
                        self.state = EscapeSplitterState::Text;
                        if self.overlong {
                            return self.take_text(bytes);
                        }
                        return Some(TerminalOutputPiece::Sequence(&self.sequence));
                    }
                }
            }
        }
    }

    fn take_text<'b>(&mut self, bytes: &mut &'b [u8]) -> Option<TerminalOutputPiece<'b>> {
        if bytes.is_empty() {
            return None;
        }
        let found = memchr(ESC, bytes);
        let (text, rest) = bytes.split_at(found.unwrap_or(bytes.len()));
        *bytes = rest.get(1..).unwrap_or_default();
        let mut style: &[u8] = &[];
        if found.is_some() {
            match style_length(bytes) {
                Some(length) => (style, *bytes) = rest.split_at(1 + length),
                None => self.begin_sequence(),
            }
        }
        Some(TerminalOutputPiece::Text { text, cut: found.is_some(), style })
    }

    fn begin_sequence(&mut self) {
        self.state = EscapeSplitterState::Escape;
        self.overlong = false;
        self.sequence.clear();
        self.sequence.push(ESC);
    }

    fn push(&mut self, byte: u8) {
        if self.sequence.len() < SEQUENCE_LIMIT {
            self.sequence.push(byte);
        } else {
            self.overlong = true;
        }
    }

    /// Follows the states with a byte of a sequence. Returns whether the sequence ends.
    fn ends_sequence(&mut self, byte: u8) -> bool {
        match (self.state, byte) {
            (EscapeSplitterState::Escape, b'[') => self.state = EscapeSplitterState::Control,
            (EscapeSplitterState::Escape, b']') => {
                self.state = EscapeSplitterState::Command;
                self.sequence.clear();
            }
            (EscapeSplitterState::Escape, b'P' | b'X' | b'^' | b'_') => self.state = EscapeSplitterState::Ignored,
            (EscapeSplitterState::Escape, 0x20..=0x2f) => self.state = EscapeSplitterState::Intermediate,
            (EscapeSplitterState::Escape | EscapeSplitterState::Intermediate, 0x30..=0x7e)
            | (EscapeSplitterState::Control, 0x40..=0x7e) => return true,
            _ => {}
        }
        false
    }
}

/// Returns the length of a whole colour or style (`CSI … m`) after its ESC. Coloured logs are full of them, so they are
/// found here, where that takes the least time.
fn style_length(bytes: &[u8]) -> Option<usize> {
    let parameters = bytes.strip_prefix(b"[")?;
    let parameters = &parameters[..parameters.len().min(STYLE_LIMIT)];
    let length = parameters.iter().position(|byte| !matches!(byte, b'0'..=b';'))?;
    (parameters[length] == b'm').then_some(length + 2)
}
