//! Where in a control sequence the text is.
//!
//! Written by hand, on the states of the usual DEC parser, because neither `vte` nor `strip-ansi-escapes` (which sits
//! on it, and drops tabs) can give what is promised here:
//! - `vte` knows no 8-bit introducers in UTF-8: U+009B is one `execute` to it and `31m` stays behind as text;
//! - it swallows characters beyond ASCII inside a broken `ESC`, CSI or intermediate (`ESC [ 日本` loses both, and the
//!   next letter), and it lets an unterminated string run over newlines, where the one line with the error would go;
//! - its state cannot be seen, and APC, PM and SOS call nothing back, so their span cannot be kept (`ansi: false`) or
//!   ended at the newline from outside.
//!
//! On well-formed input both agree; a property test in `tests/clean` holds them together.

/// Longest CSI, introducer included, that is taken for one. What is longer was never meant as a sequence.
const MAX_SEQUENCE: usize = 1024;

const ESC: char = '\u{1b}';
const CAN: char = '\u{18}';
const SUB: char = '\u{1a}';
const BEL: char = '\u{07}';

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Ground,
    Escape,
    Intermediate,
    Csi,
    /// In the payload of OSC, DCS, APC, PM or SOS.
    Payload(Kind),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Ended by BEL too, as every terminal does.
    Osc,
    Dcs,
    Apc,
    Pm,
    Sos,
}

/// A recognizer of control sequences that is fed one character at a time. No state outlives a newline.
#[derive(Debug, Default)]
pub(super) struct Escape {
    state: State,
    /// What came of the sequence and was not taken yet.
    raw: String,
}

/// What a character means to the sequence it came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Part of the sequence, which may end here.
    Part,
    /// Last character of a CSI: the line may have to act on it.
    Csi,
    /// A C0 control inside the sequence, to be carried out as if it stood before it.
    Control,
    /// Dropped: a control inside a payload, and what aborts a sequence.
    Void,
    /// Not part of any sequence, which is over: text or a newline.
    Text,
}

impl Escape {
    pub(super) fn inside(&self) -> bool {
        self.state != State::Ground
    }

    /// Takes the characters that are certain to be part of a sequence: a whole one, or what there is of a payload,
    /// which can be long and is not gathered. A sequence that was broken off is dropped.
    pub(super) fn take(&mut self, into: &mut String) {
        into.clear();
        if matches!(self.state, State::Ground | State::Payload(_)) {
            std::mem::swap(into, &mut self.raw);
        }
    }

    /// Forgets an unfinished sequence.
    pub(super) fn reset(&mut self) {
        self.state = State::Ground;
        self.raw.clear();
    }

    /// An introducer that puts a fresh recognizer into the same state; '' outside of a sequence.
    pub(super) fn resume(&self) -> &str {
        match self.state {
            State::Ground => "",
            State::Escape | State::Intermediate | State::Csi => &self.raw,
            State::Payload(Kind::Osc) => "\u{1b}]",
            State::Payload(Kind::Dcs) => "\u{1b}P",
            State::Payload(Kind::Apc) => "\u{1b}_",
            State::Payload(Kind::Pm) => "\u{1b}^",
            State::Payload(Kind::Sos) => "\u{1b}X",
        }
    }

    pub(super) fn step(&mut self, c: char) -> Step {
        match c {
            ESC => {
                self.start(c);
                Step::Part
            }
            '\u{80}'..='\u{9f}' => self.eight_bit(c),
            '\n' => self.broken(Step::Text),
            CAN | SUB => self.broken(Step::Void),
            BEL if self.state == State::Payload(Kind::Osc) => {
                self.state = State::Ground;
                self.raw.push(c);
                Step::Part
            }
            '\0'..='\u{1f}' | '\u{7f}' if self.in_payload() => Step::Void,
            '\0'..='\u{1f}' => Step::Control,
            '\u{7f}' => Step::Void,
            _ if self.in_payload() => {
                self.raw.push(c);
                Step::Part
            }
            ' '..='~' if self.raw.len() < MAX_SEQUENCE => self.ascii(c),
            _ => self.broken(Step::Text),
        }
    }

    fn in_payload(&self) -> bool {
        matches!(self.state, State::Payload(_))
    }

    fn broken(&mut self, step: Step) -> Step {
        self.reset();
        step
    }

    fn start(&mut self, c: char) {
        self.state = State::Escape;
        self.raw.clear();
        self.raw.push(c);
    }

    /// U+0080 … U+009F are `ESC @` … `ESC _` in one character, wherever they stand.
    fn eight_bit(&mut self, c: char) -> Step {
        let opened = match c {
            '\u{90}' => State::Payload(Kind::Dcs),
            '\u{98}' => State::Payload(Kind::Sos),
            '\u{9b}' => State::Csi,
            '\u{9d}' => State::Payload(Kind::Osc),
            '\u{9e}' => State::Payload(Kind::Pm),
            '\u{9f}' => State::Payload(Kind::Apc),
            '\u{9c}' if self.in_payload() => {
                self.state = State::Ground;
                self.raw.push(c);
                return Step::Part;
            }
            _ => return self.broken(Step::Void),
        };
        self.start(c);
        self.state = opened;
        Step::Part
    }

    fn ascii(&mut self, c: char) -> Step {
        self.raw.push(c);
        self.state = match (self.state, c) {
            (State::Escape, '[') => State::Csi,
            (State::Escape, ']') => State::Payload(Kind::Osc),
            (State::Escape, 'P') => State::Payload(Kind::Dcs),
            (State::Escape, '_') => State::Payload(Kind::Apc),
            (State::Escape, '^') => State::Payload(Kind::Pm),
            (State::Escape, 'X') => State::Payload(Kind::Sos),
            (State::Escape | State::Intermediate, ' '..='/') => State::Intermediate,
            (State::Csi, ' '..='?') => State::Csi,
            (State::Csi, _) => {
                self.state = State::Ground;
                return Step::Csi;
            }
            _ => State::Ground,
        };
        Step::Part
    }
}

/// Length of the colour or style sequence (CSI … m) at the start, by far the most frequent one; `None` when there is
/// another one or it has not come whole.
pub(super) fn style_len(bytes: &[u8]) -> Option<usize> {
    let params = bytes.strip_prefix(b"\x1b[")?;
    let len = params.iter().take(MAX_SEQUENCE - 3).take_while(|byte| (b'0'..=b'?').contains(byte)).count();
    (params.get(len) == Some(&b'm')).then_some(len + 3)
}

/// What a CSI does to the line it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    /// Erase from the cursor to the end (K, and J as far as it concerns this line).
    EraseRight,
    /// Erase from the beginning to the cursor, its cell included.
    EraseLeft,
    EraseLine,
    Left(usize),
    Right(usize),
    /// Zero-based.
    Column(usize),
}

/// The effect of a whole CSI on its line; `None` for styles, modes, private sequences and all that moves elsewhere.
pub(super) fn motion(raw: &str) -> Option<Motion> {
    let body = raw.strip_prefix("\u{1b}[").or_else(|| raw.strip_prefix('\u{9b}'))?;
    let last = body.chars().next_back()?;
    let params = &body[..body.len() - last.len_utf8()];
    let first = params.split(';').next().unwrap_or_default();
    if !params.bytes().all(|byte| byte.is_ascii_digit() || byte == b';') {
        return None;
    }
    // A number too long to parse is as far as one can go; absent and 0 both mean the default of 1 for a motion.
    let number = if first.is_empty() { 0 } else { first.parse().unwrap_or(usize::MAX) };
    match (last, number) {
        ('K' | 'J', 0) => Some(Motion::EraseRight),
        ('K', 1) => Some(Motion::EraseLeft),
        ('K', 2) => Some(Motion::EraseLine),
        ('D', n) => Some(Motion::Left(n.max(1))),
        ('C', n) => Some(Motion::Right(n.max(1))),
        ('G' | '`', n) => Some(Motion::Column(n.max(1) - 1)),
        _ => None,
    }
}
