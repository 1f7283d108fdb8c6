//! Recognizes control sequences in text.
//!
//! Written by hand, on the states of the usual DEC parser, because neither `vte` nor `strip-ansi-escapes` (which is
//! built on it, and drops tabs) meets the documented behaviour:
//! - `vte` knows no 8-bit introducers in UTF-8: it reads U+009B as one `execute`, and `31m` remains as text.
//! - It swallows non-ASCII characters inside a broken `ESC`, CSI or intermediate (`ESC [ 日本` loses both, and the next
//!   letter), and an unterminated string extends over newlines and hides the error line.
//! - Its state is hidden, and APC, PM and SOS have no callback, so their text cannot be kept (`ansi: false`) or ended
//!   at the newline from outside.
//!
//! On well-formed input both agree. A property test in `tests/clean` compares them.

/// The longest CSI, introducer included. Longer text was never meant as a sequence.
const MAX_SEQUENCE: usize = 1024;

const ESC: char = '\u{1b}';
const CAN: char = '\u{18}';
const SUB: char = '\u{1a}';
const BEL: char = '\u{07}';

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum EscapeState {
    #[default]
    Ground,
    Escape,
    Intermediate,
    Csi,
    /// In the payload of OSC, DCS, APC, PM or SOS.
    Payload(EscapePayloadKind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EscapePayloadKind {
    /// OSC, which BEL also terminates, as in every terminal.
    Osc,
    Dcs,
    Apc,
    Pm,
    Sos,
}

/// A recognizer of control sequences that takes one character at a time. Each newline resets its state.
#[derive(Debug, Default)]
pub(super) struct EscapeRecognizer {
    state: EscapeState,
    /// The text of the sequence that has not been taken yet.
    raw: String,
}

/// The role of a character in its sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EscapeStep {
    /// Part of the sequence, which may end here.
    Part,
    /// The last character of a CSI, which may affect the line.
    Csi,
    /// A C0 control inside the sequence, executed as if it came before it.
    Control,
    /// Dropped: a control inside a payload, or a character that cancels a sequence.
    Dropped,
    /// Not part of a sequence, which has ended: text or a newline.
    Text,
}

impl EscapeRecognizer {
    pub(super) fn is_inside_sequence(&self) -> bool {
        self.state != EscapeState::Ground
    }

    /// Takes the characters that certainly belong to a sequence: a whole sequence, or the present part of a payload,
    /// which can be long and is not gathered. A cancelled sequence is dropped.
    pub(super) fn take(&mut self, into: &mut String) {
        into.clear();
        if matches!(self.state, EscapeState::Ground | EscapeState::Payload(_)) {
            std::mem::swap(into, &mut self.raw);
        }
    }

    /// Forgets an unfinished sequence.
    pub(super) fn reset(&mut self) {
        self.state = EscapeState::Ground;
        self.raw.clear();
    }

    /// Returns an introducer that puts a fresh recognizer into the same state, or '' outside of a sequence.
    pub(super) fn resume_introducer(&self) -> &str {
        match self.state {
            EscapeState::Ground => "",
            EscapeState::Escape | EscapeState::Intermediate | EscapeState::Csi => &self.raw,
            EscapeState::Payload(EscapePayloadKind::Osc) => "\u{1b}]",
            EscapeState::Payload(EscapePayloadKind::Dcs) => "\u{1b}P",
            EscapeState::Payload(EscapePayloadKind::Apc) => "\u{1b}_",
            EscapeState::Payload(EscapePayloadKind::Pm) => "\u{1b}^",
            EscapeState::Payload(EscapePayloadKind::Sos) => "\u{1b}X",
        }
    }

    pub(super) fn step(&mut self, c: char) -> EscapeStep {
        match c {
            ESC => {
                self.start(c);
                EscapeStep::Part
            }
            '\u{80}'..='\u{9f}' => self.eight_bit(c),
            '\n' => self.break_sequence(EscapeStep::Text),
            CAN | SUB => self.break_sequence(EscapeStep::Dropped),
            BEL if self.state == EscapeState::Payload(EscapePayloadKind::Osc) => {
                self.state = EscapeState::Ground;
                self.raw.push(c);
                EscapeStep::Part
            }
            '\0'..='\u{1f}' | '\u{7f}' if self.in_payload() => EscapeStep::Dropped,
            '\0'..='\u{1f}' => EscapeStep::Control,
            '\u{7f}' => EscapeStep::Dropped,
            _ if self.in_payload() => {
                self.raw.push(c);
                EscapeStep::Part
            }
            ' '..='~' if self.raw.len() < MAX_SEQUENCE => self.ascii(c),
            _ => self.break_sequence(EscapeStep::Text),
        }
    }

    fn in_payload(&self) -> bool {
        matches!(self.state, EscapeState::Payload(_))
    }

    fn break_sequence(&mut self, step: EscapeStep) -> EscapeStep {
        self.reset();
        step
    }

    fn start(&mut self, c: char) {
        self.state = EscapeState::Escape;
        self.raw.clear();
        self.raw.push(c);
    }

    /// Handles U+0080 … U+009F, which are `ESC @` … `ESC _` in one character, in any position.
    fn eight_bit(&mut self, c: char) -> EscapeStep {
        let opened = match c {
            '\u{90}' => EscapeState::Payload(EscapePayloadKind::Dcs),
            '\u{98}' => EscapeState::Payload(EscapePayloadKind::Sos),
            '\u{9b}' => EscapeState::Csi,
            '\u{9d}' => EscapeState::Payload(EscapePayloadKind::Osc),
            '\u{9e}' => EscapeState::Payload(EscapePayloadKind::Pm),
            '\u{9f}' => EscapeState::Payload(EscapePayloadKind::Apc),
            '\u{9c}' if self.in_payload() => {
                self.state = EscapeState::Ground;
                self.raw.push(c);
                return EscapeStep::Part;
            }
            _ => return self.break_sequence(EscapeStep::Dropped),
        };
        self.start(c);
        self.state = opened;
        EscapeStep::Part
    }

    fn ascii(&mut self, c: char) -> EscapeStep {
        self.raw.push(c);
        self.state = match (self.state, c) {
            (EscapeState::Escape, '[') => EscapeState::Csi,
            (EscapeState::Escape, ']') => EscapeState::Payload(EscapePayloadKind::Osc),
            (EscapeState::Escape, 'P') => EscapeState::Payload(EscapePayloadKind::Dcs),
            (EscapeState::Escape, '_') => EscapeState::Payload(EscapePayloadKind::Apc),
            (EscapeState::Escape, '^') => EscapeState::Payload(EscapePayloadKind::Pm),
            (EscapeState::Escape, 'X') => EscapeState::Payload(EscapePayloadKind::Sos),
            (EscapeState::Escape | EscapeState::Intermediate, ' '..='/') => EscapeState::Intermediate,
            (EscapeState::Csi, ' '..='?') => EscapeState::Csi,
            (EscapeState::Csi, _) => {
                self.state = EscapeState::Ground;
                return EscapeStep::Csi;
            }
            _ => EscapeState::Ground,
        };
        EscapeStep::Part
    }
}

/// Returns the length of a colour or style sequence (CSI … m) at the start, by far the most frequent kind. `None` for
/// another sequence or an incomplete one.
pub(super) fn style_len(bytes: &[u8]) -> Option<usize> {
    let params = bytes.strip_prefix(b"\x1b[")?;
    let len = params.iter().take(MAX_SEQUENCE - 3).take_while(|byte| (b'0'..=b'?').contains(byte)).count();
    (params.get(len) == Some(&b'm')).then_some(len + 3)
}

/// Whether a whole control sequence sets colours or styles: `ESC [ … m` with numbers alone. Private forms, which set
/// modes of the keyboard, are none.
pub(super) fn is_style(raw: &str) -> bool {
    let parameters = raw.strip_prefix("\u{1b}[").and_then(|rest| rest.strip_suffix('m'));
    parameters.is_some_and(|parameters| parameters.bytes().all(|byte| (b'0'..=b';').contains(&byte)))
}

/// The effect of a CSI on its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CsiLineEffect {
    /// Erase from the cursor to the end (K, and the part of J that affects this line).
    EraseRight,
    /// Erase from the start to the cursor, its cell included.
    EraseLeft,
    EraseLine,
    Left(usize),
    Right(usize),
    /// Zero-based.
    Column(usize),
}

/// Returns the effect of a whole CSI on its line, or `None` for styles, modes, private sequences and motions to other
/// lines.
pub(super) fn line_effect_of_csi(raw: &str) -> Option<CsiLineEffect> {
    let body = raw.strip_prefix("\u{1b}[").or_else(|| raw.strip_prefix('\u{9b}'))?;
    let last = body.chars().next_back()?;
    let params = &body[..body.len() - last.len_utf8()];
    let first = params.split(';').next().unwrap_or_default();
    if !params.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
        return None;
    }
    // A number too long to parse is treated as the maximum. Absent and 0 both mean the default of 1 for a motion.
    let number = if first.is_empty() { 0 } else { first.parse().unwrap_or(usize::MAX) };
    match (last, number) {
        ('K' | 'J', 0) => Some(CsiLineEffect::EraseRight),
        ('K', 1) => Some(CsiLineEffect::EraseLeft),
        ('K', 2) => Some(CsiLineEffect::EraseLine),
        ('D', n) => Some(CsiLineEffect::Left(n.max(1))),
        ('C', n) => Some(CsiLineEffect::Right(n.max(1))),
        ('G' | '`', n) => Some(CsiLineEffect::Column(n.max(1) - 1)),
        _ => None,
    }
}
