//! Turns raw output into clean text, one read at a time.

use super::capture_policy::{ProgressLineHandling, SanitizeRules};
use super::escape_recognizer::{CsiLineEffect, EscapeRecognizer, EscapeStep, is_style, line_effect_of_csi, style_len};
use super::overdrawn_line::{DeliveredLinePart, LINE_LIMIT, OverdrawnLine, is_one_cell_a_byte};
use super::plain_text_scan::{after_newline, next_control};
use super::utf8_decoder::Utf8StreamDecoder;

/// Receives clean text in pieces.
pub type CleanTextSink<'a> = &'a mut dyn FnMut(&str);

/// A plain run of this length is delivered directly from the read, without a copy.
const DIRECT: usize = 32 * 1024;
/// Bytes of clean text that are gathered before delivery.
const BATCH: usize = 256 * 1024;

/// Turns the bytes of one stream into clean text. The text does not depend on the split.
///
/// A vectorized search for control characters finds ordinary text, which is copied or delivered in runs over many
/// lines. The unfinished line is the end of `out`. Only when it is overdrawn does it move into a [`OverdrawnLine`].
/// Memory: one batch, and twice the 64 KiB of a line.
#[derive(Debug)]
pub struct OutputCleaner {
    decoder: Utf8StreamDecoder,
    body: CleanerBody,
}

#[derive(Debug)]
struct CleanerBody {
    rules: Option<SanitizeRules>,
    /// Whether only colours and styles are kept of control sequences.
    styles_only: bool,
    escape: EscapeRecognizer,
    line: OverdrawnLine,
    /// Clean text that was not delivered. It ends in the unfinished line unless `line` is active.
    out: String,
    /// Bytes at the start of `out` that are known to have no newline, so that a long line in small pieces is not
    /// searched for each.
    searched: usize,
    /// A carriage return whose effect depends on what follows.
    cr: bool,
    handed: DeliveredLinePart,
    nuls: u64,
    /// Kept for its capacity.
    raw: String,
}

impl OutputCleaner {
    /// Without `rules` text is only decoded.
    pub fn new(rules: Option<SanitizeRules>) -> Self {
        let body = CleanerBody {
            rules,
            styles_only: false,
            escape: EscapeRecognizer::default(),
            line: OverdrawnLine::default(),
            out: String::new(),
            searched: 0,
            cr: false,
            handed: DeliveredLinePart::Nothing,
            nuls: 0,
            raw: String::new(),
        };
        Self { decoder: Utf8StreamDecoder::default(), body }
    }

    /// Creates a cleaner for people: lines collapse, and only colours and styles (`ESC [ … m`) of sequences stay.
    pub fn styled() -> Self {
        let Self { decoder, body } =
            Self::new(Some(SanitizeRules { ansi: false, progress: ProgressLineHandling::Collapse }));
        Self { decoder, body: CleanerBody { styles_only: true, ..body } }
    }

    /// Treats each further byte as a character from U+0000 to U+00FF. Only valid without rules.
    pub fn keep_bytes(&mut self) {
        self.decoder.keep_bytes();
    }

    /// Takes the next bytes and delivers the text that is ready: with [`ProgressLineHandling::Collapse`] all but the
    /// unfinished line, otherwise everything.
    pub fn push(&mut self, bytes: &[u8], sink: CleanTextSink<'_>) {
        let body = &mut self.body;
        self.decoder.push(bytes, &mut |text| body.push(text, sink));
    }

    /// Ends the stream: delivers the unfinished line unchanged and drops an unfinished sequence. A second call does
    /// nothing.
    pub fn end(&mut self, sink: CleanTextSink<'_>) {
        let body = &mut self.body;
        self.decoder.end(&mut |text| body.push(text, sink));
        body.escape.reset();
        body.settle(sink);
        if std::mem::take(&mut body.cr) && body.keeps_progress() {
            sink("\r");
        }
        body.handed = DeliveredLinePart::Nothing;
    }

    /// Delivers the unfinished line as it would be shown now, for a log that should not lag behind. Later drawing over
    /// it becomes a line of its own. Does nothing without an unfinished line.
    pub fn settle(&mut self, sink: CleanTextSink<'_>) {
        self.body.settle(sink);
    }

    /// Returns whether the unfinished line was drawn over, so that it may be drawn over again.
    pub fn is_drawn_over(&self) -> bool {
        self.body.line.is_active() || self.body.cr
    }

    /// Returns the undelivered part of the unfinished line, as it would be shown now.
    pub fn pending_line(&self) -> String {
        let mut text = self.body.out.clone();
        self.body.line.render(&mut text);
        text
    }

    /// Returns bytes that bring a fresh cleaner with the same rules to this state, to continue in another process: the
    /// unfinished line, sequence and character. The payload of an unfinished string sequence is not repeated.
    pub fn resume_bytes(&self) -> Vec<u8> {
        let mut text = self.pending_line();
        let (column, at_end) = self.body.line.cursor();
        if !at_end {
            text.push('\r');
            if column > 0 {
                text.push_str(&format!("\u{1b}[{column}C"));
            }
        }
        if self.body.cr {
            text.push('\r');
        }
        text.push_str(self.body.escape.resume_introducer());
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(self.decoder.unfinished_bytes());
        bytes
    }

    /// Ends this cleaner without showing the unfinished character, because the stream continues elsewhere.
    pub fn break_off(&mut self) {
        self.decoder.forget_held();
    }

    /// Returns the number of invalid sequences that became U+FFFD and of NULs that were dropped.
    pub fn replaced(&self) -> u64 {
        self.decoder.replaced() + self.body.nuls
    }
}

impl CleanerBody {
    fn push(&mut self, text: &str, sink: CleanTextSink<'_>) {
        let Some(SanitizeRules { ansi, .. }) = self.rules else { return sink(text) };
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if self.escape.is_inside_sequence() {
                at = self.sequence(text, at, sink);
                continue;
            }
            let stop = next_control(bytes, at);
            if stop > at {
                self.text(&text[at..stop], sink);
                at = stop;
            }
            match bytes.get(at) {
                None => break,
                Some(0x1b) if ansi && let Some(len) = style_len(&bytes[at..]) => at += len,
                Some(0x1b | 0xC2) => at = self.sequence(text, at, sink),
                Some(&byte) => {
                    self.control(byte, sink);
                    at += 1;
                }
            }
            if self.out.len() >= BATCH {
                self.hand_on(sink);
            }
        }
        self.hand_on(sink);
    }

    /// Handles characters from the start or the middle of a control sequence to its end. Returns the index after it.
    fn sequence(&mut self, text: &str, from: usize, sink: CleanTextSink<'_>) -> usize {
        let mut at = from;
        let mut raw = std::mem::take(&mut self.raw);
        for c in text[from..].chars() {
            let step = self.escape.step(c);
            self.escape.take(&mut raw);
            match step {
                EscapeStep::Csi if let Some(motion) = self.line_effect_of_csi(&raw) => {
                    self.apply_effect(motion, raw.len(), sink)
                }
                EscapeStep::Csi | EscapeStep::Part if !raw.is_empty() => self.attach(&raw, sink),
                EscapeStep::Control => self.control(c as u8, sink),
                EscapeStep::Csi | EscapeStep::Part | EscapeStep::Dropped | EscapeStep::Text => {}
            }
            if step == EscapeStep::Text {
                break;
            }
            at += c.len_utf8();
            if !self.escape.is_inside_sequence() {
                break;
            }
        }
        self.raw = raw;
        at
    }

    /// Returns the effect of a CSI on the line, unless overdrawn lines are kept.
    fn line_effect_of_csi(&self, raw: &str) -> Option<CsiLineEffect> {
        if self.keeps_progress() { None } else { line_effect_of_csi(raw) }
    }

    /// Handles a control sequence that has ended, or a piece of its payload.
    fn attach(&mut self, raw: &str, sink: CleanTextSink<'_>) {
        if self.rules.is_some_and(|rules| rules.ansi) || self.styles_only && !is_style(raw) {
            return;
        }
        self.settle_cr(sink);
        // A string sequence that is cut short has no end in its text, so a line cannot be read from the text again.
        let is_open = self.escape.is_inside_sequence() && !self.keeps_progress();
        let is_settled = self.handed == DeliveredLinePart::Settled && self.line_start() == 0;
        if self.line.is_active() || is_open && !is_settled && self.begin_overdrawn_line() {
            self.line.attach(raw);
            if self.line.is_over() {
                self.deliver_long(sink);
            }
        } else {
            self.out.push_str(raw);
        }
    }

    /// Handles text without controls, over any number of lines.
    fn text(&mut self, mut run: &str, sink: CleanTextSink<'_>) {
        if self.cr {
            if run.starts_with('\n') || self.replace_line(run) {
                self.cr = false;
            } else {
                self.settle_cr(sink);
            }
        }
        if self.line.is_active() {
            let end = memchr::memchr(b'\n', run.as_bytes()).unwrap_or(run.len());
            let taken = self.line.write(&run[..end]);
            if self.line.is_over() {
                self.deliver_long(sink);
            } else if end == run.len() {
                return;
            } else {
                self.line.render(&mut self.out);
                self.line.end();
            }
            run = &run[taken..];
        }
        if run.len() >= DIRECT {
            let done = if self.keeps_progress() { run.len() } else { after_newline(run) };
            if done >= DIRECT {
                self.deliver_all(sink);
                sink(&run[..done]);
                self.handed = DeliveredLinePart::Nothing;
                run = &run[done..];
            }
        }
        self.out.push_str(run);
    }

    /// Handles the most frequent kind of overdrawing without a [`OverdrawnLine`]: text after a carriage return that
    /// covers the whole line. Returns false, without a change, if that is not certain.
    fn replace_line(&mut self, run: &str) -> bool {
        if self.line.is_active() || self.handed != DeliveredLinePart::Nothing || self.keeps_progress() {
            return false;
        }
        let start = self.line_start();
        let old = &self.out[start..];
        let new = &run[..memchr::memchr(b'\n', run.as_bytes()).unwrap_or(run.len())];
        let covered = new.len() >= old.len() && old.len() <= LINE_LIMIT && new.len() <= LINE_LIMIT;
        if !covered || !is_one_cell_a_byte(old.as_bytes()) || !is_one_cell_a_byte(&new.as_bytes()[..old.len()]) {
            return false;
        }
        self.out.truncate(start);
        self.searched = self.searched.min(start);
        true
    }

    fn control(&mut self, byte: u8, sink: CleanTextSink<'_>) {
        match byte {
            b'\r' => self.cr = true,
            0x08 if self.keeps_progress() => {
                self.settle_cr(sink);
                self.out.push('\u{8}');
            }
            0x08 => self.apply_effect(CsiLineEffect::Left(1), 1, sink),
            // Inside a sequence a tab arrives here. Elsewhere it is plain text.
            b'\t' => self.text("\t", sink),
            0 => self.nuls += 1,
            _ => {}
        }
    }

    /// Executes a pending carriage return, now that no newline follows it.
    fn settle_cr(&mut self, sink: CleanTextSink<'_>) {
        if std::mem::take(&mut self.cr) {
            if self.keeps_progress() {
                self.out.push('\r');
            } else {
                self.apply_effect(CsiLineEffect::Column(0), 1, sink);
            }
        }
    }

    fn apply_effect(&mut self, motion: CsiLineEffect, bytes: usize, sink: CleanTextSink<'_>) {
        self.settle_cr(sink);
        // At the end of plain text there is nothing to erase, and most lines erase there.
        if !self.line.is_active() && motion == CsiLineEffect::EraseRight {
            return;
        }
        if self.line.is_active() || self.begin_overdrawn_line() {
            self.line.apply_effect(motion, bytes);
            if self.line.is_over() {
                self.deliver_long(sink);
            }
        }
    }

    /// Moves the unfinished line from `out` to a [`OverdrawnLine`]. Returns false if it exceeds its limit.
    fn begin_overdrawn_line(&mut self) -> bool {
        let start = self.line_start();
        let handed = if start > 0 { DeliveredLinePart::Nothing } else { self.handed };
        if handed == DeliveredLinePart::Long || self.out.len() - start > LINE_LIMIT {
            return false;
        }
        if handed == DeliveredLinePart::Settled {
            self.out.push('\n');
            self.line.begin("");
        } else {
            self.line.begin(&self.out[start..]);
            self.out.truncate(start);
            self.searched = self.searched.min(start);
        }
        self.handed = DeliveredLinePart::Nothing;
        true
    }

    /// Delivers a line that has just exceeded its limit. It is plain text from here on.
    fn deliver_long(&mut self, sink: CleanTextSink<'_>) {
        self.deliver_all(sink);
        self.line.render(&mut self.out);
        self.line.end();
        self.deliver_all(sink);
        self.handed = DeliveredLinePart::Long;
    }

    /// Delivers the text that is ready.
    fn hand_on(&mut self, sink: CleanTextSink<'_>) {
        let mut done = self.line_start();
        if done > 0 {
            self.handed = DeliveredLinePart::Nothing;
        }
        if self.keeps_progress() || self.line.is_active() || self.handed == DeliveredLinePart::Long {
            done = self.out.len();
        } else if self.out.len() - done > LINE_LIMIT {
            done = self.out.len();
            self.handed = DeliveredLinePart::Long;
        }
        if done > 0 {
            sink(&self.out[..done]);
            self.out.drain(..done);
        }
        self.searched = self.out.len();
    }

    fn settle(&mut self, sink: CleanTextSink<'_>) {
        self.hand_on(sink);
        if self.line.is_active() {
            // A log cannot be overdrawn: further text starts a new line, unless it continues at the end of this one.
            self.cr |= !self.line.cursor().1;
            self.line.render(&mut self.out);
            self.line.end();
        }
        if !self.out.is_empty() {
            self.deliver_all(sink);
            self.handed = DeliveredLinePart::Settled;
        }
    }

    /// Delivers all of `out`.
    fn deliver_all(&mut self, sink: CleanTextSink<'_>) {
        if !self.out.is_empty() {
            sink(&self.out);
            self.out.clear();
            self.searched = 0;
        }
    }

    /// Returns the start of the unfinished line in `out`.
    fn line_start(&self) -> usize {
        match after_newline(&self.out[self.searched..]) {
            0 => 0,
            at => self.searched + at,
        }
    }

    fn keeps_progress(&self) -> bool {
        self.rules.is_some_and(|rules| rules.progress == ProgressLineHandling::Keep)
    }
}
