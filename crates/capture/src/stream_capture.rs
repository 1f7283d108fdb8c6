//! One stream of a command, from its first byte to its kept text.

use std::path::PathBuf;

use super::capture_policy::{KeptStreamPart, SanitizeRules, TruncationPolicy, to_usize};
use super::captured_stream::{CapturedStream, StreamTruncation};
use super::cut_position::{TextCut, TruncationLimit, cut_head, cut_tail, whole_at};
use super::live_text::UntakenLiveText;
use super::output_cleaner::OutputCleaner;
use super::plain_text_scan::{count_lines, count_newlines, utf16_len};
use super::spill_file::SpillFile;
use super::stream_window::StreamWindow;
use super::truncation_notice::{MAX_ERROR, NoticeFigures, TruncationNotice, WholeStreamLocation, shorten_error};

/// Bytes at the end that [`StreamCapture::tail`] can show, whatever the policy keeps: 16 KiB.
pub const SNAPSHOT: usize = 16 * 1024;

/// Captures one stream: sanitizes it, keeps the part that the policy selects, counts, and feeds a live reader and a
/// file.
///
/// Memory: twice the limits of the policy (at least [`SNAPSHOT`]), one unfinished line of 64 KiB, one read, and the
/// text that the live reader has not taken. Everything is kept until the decision about a file: a caller that sees
/// [`StreamCapture::wants_spill`] decides before it pushes more.
#[derive(Debug)]
pub struct StreamCapture {
    cleaner: OutputCleaner,
    store: SanitizedTextStore,
    ended: bool,
}

/// Everything that happens to sanitized text.
#[derive(Debug)]
struct SanitizedTextStore {
    name: &'static str,
    policy: TruncationPolicy,
    window: StreamWindow,
    spill: SpillState,
    live: Option<UntakenLiveText>,
    /// Text for a second reader, which takes everything at once.
    journal: Option<String>,
    bytes: u64,
    newlines: u64,
    /// UTF-16 units; 0 when the policy does not count them.
    chars: u64,
    /// Whether the stream so far ends in the middle of a line.
    open_line: bool,
}

#[derive(Debug)]
enum SpillState {
    Undecided,
    Off,
    File(SpillFile),
    Failed {
        place: Option<PathBuf>,
        artifact_id: Option<String>,
        error: String,
    },
    /// Another writer stores the whole stream there.
    Elsewhere(PathBuf),
}

impl StreamCapture {
    /// `name` appears in the notice. Without `sanitize` the bytes are only decoded. `live` gathers text for
    /// [`StreamCapture::take_live`].
    pub fn new(name: &'static str, truncate: TruncationPolicy, sanitize: Option<SanitizeRules>, live: bool) -> Self {
        let policy = truncate.clamped();
        let (head, tail) = match policy {
            TruncationPolicy::Tail(limits) => (0, limits.bytes_to_decide_cut()),
            TruncationPolicy::Head(limits) => (limits.bytes_to_decide_cut(), 0),
            // One character beyond each cut shows whether the cut splits a line.
            TruncationPolicy::Ends { head_bytes, tail_bytes, .. } => (to_reach(head_bytes), to_reach(tail_bytes)),
        };
        let store = SanitizedTextStore {
            name,
            policy,
            window: StreamWindow::new(head, tail.max(SNAPSHOT)),
            spill: SpillState::Undecided,
            live: live.then(UntakenLiveText::default),
            journal: None,
            bytes: 0,
            newlines: 0,
            chars: 0,
            open_line: false,
        };
        Self { cleaner: OutputCleaner::new(sanitize), store, ended: false }
    }

    /// Treats each further byte as a character from U+0000 to U+00FF. Only valid without `sanitize`.
    pub fn keep_bytes(&mut self) {
        self.cleaner.keep_bytes();
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.push_to(bytes, |_| {});
    }

    /// Takes the next bytes of the stream, and passes on the text that comes of them.
    pub fn push_to(&mut self, bytes: &[u8], mut reader: impl FnMut(&str)) {
        let store = &mut self.store;
        self.cleaner.push(bytes, &mut |text| {
            reader(text);
            store.take_sanitized(text);
        });
    }

    /// Returns true once the stream has passed `max_bytes` or `max_chars` without a decision about a file.
    /// [`StreamCapture::end`] may also cause it.
    pub fn wants_spill(&self) -> bool {
        matches!(self.store.spill, SpillState::Undecided) && self.store.has_overflowed()
    }

    /// Writes the stream so far to the file, and later text as it arrives.
    pub fn spill_to(&mut self, mut file: SpillFile) {
        if let Some(text) = self.store.window.whole() {
            file.write(text);
        }
        self.store.decide_spill(SpillState::File(file));
    }

    /// Records that a wanted file is missing. `place` is its intended path. `error` is cut to 80 bytes.
    pub fn spill_failed(&mut self, place: Option<PathBuf>, artifact_id: Option<String>, error: String) {
        self.store.decide_spill(SpillState::Failed { place, artifact_id, error: shorten_error(&error, MAX_ERROR) });
    }

    /// Records that no file is wanted. May be called before any push.
    pub fn spill_off(&mut self) {
        self.store.decide_spill(SpillState::Off);
    }

    /// Records that another file, a task's log, holds the whole stream. The notice names this file, also for a cut by
    /// lines. A started file of this package is removed.
    pub fn spill_elsewhere(&mut self, path: PathBuf) {
        if let SpillState::File(file) = &mut self.store.spill
            && file.artifact_id().is_none()
        {
            file.close();
            let _ = std::fs::remove_file(file.path());
        }
        self.store.decide_spill(SpillState::Elsewhere(path));
    }

    /// Starts to gather text for [`StreamCapture::take_journal`].
    pub fn keep_journal(&mut self) {
        self.store.journal = Some(String::new());
    }

    /// Returns the text since the last call without unfinished lines, or '' if none is gathered.
    pub fn take_journal(&mut self) -> String {
        self.store.journal.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns the next text for the live reader: at most `max_bytes`, cut between characters, but at least one
    /// character. `None` if there is none.
    pub fn take_live(&mut self, max_bytes: usize) -> Option<String> {
        self.store.live.as_mut()?.take(max_bytes)
    }

    /// Gathers text for a live reader from now on, beginning with at most this many bytes of the text delivered so far.
    /// Does nothing if there is a live reader.
    pub fn begin_live(&mut self, max_bytes: usize) {
        if self.store.live.is_none() {
            let (kept, _) = self.kept_tail(max_bytes);
            let mut live = UntakenLiveText::default();
            live.push(kept);
            self.store.live = Some(live);
        }
    }

    /// Drops the text that the live reader has not taken, with a notice in its place.
    pub fn drop_live(&mut self) {
        self.store.live.iter_mut().for_each(UntakenLiveText::drop_untaken);
    }

    /// Returns the number of bytes that the live reader has not taken.
    pub fn live_bytes(&self) -> usize {
        self.store.live.as_ref().map_or(0, UntakenLiveText::bytes)
    }

    /// Returns the last text with the unfinished line as it would be shown now: at most `max_bytes`, of which at least
    /// [`SNAPSHOT`] bytes were delivered if there are as many.
    pub fn tail(&self, max_bytes: usize) -> String {
        let pending = self.cleaner.pending_line();
        let delivered = self.store.window.tail();
        let skip = pending.ceil_char_boundary(pending.len().saturating_sub(max_bytes));
        let room = max_bytes - (pending.len() - skip);
        let from = delivered.ceil_char_boundary(delivered.len().saturating_sub(if skip > 0 { 0 } else { room }));
        format!("{}{}", &delivered[from..], &pending[skip..])
    }

    /// Returns the end of the text delivered so far, at most this many bytes, and the number of bytes before it.
    pub fn kept_tail(&self, max_bytes: usize) -> (&str, u64) {
        let delivered = self.store.window.tail();
        let kept = &delivered[delivered.ceil_char_boundary(delivered.len().saturating_sub(max_bytes))..];
        (kept, self.store.bytes - kept.len() as u64)
    }

    /// Returns the number of finished lines.
    pub fn lines(&self) -> u64 {
        self.store.newlines
    }

    /// Returns the unfinished line as it would be shown now, at most its last 128 KiB, or '' after a finished line.
    pub fn pending_line(&self) -> String {
        let delivered = self.store.window.tail();
        let line = memchr::memrchr(b'\n', delivered.as_bytes()).map_or(0, |newline| newline + 1);
        let from = delivered.ceil_char_boundary(line.max(delivered.len().saturating_sub(64 * 1024)));
        format!("{}{}", &delivered[from..], self.cleaner.pending_line())
    }

    /// Returns all text delivered so far while it is in memory, or `None` once a part was dropped.
    pub fn whole_text(&self) -> Option<&str> {
        self.store.window.whole()
    }

    /// Returns bytes that bring a fresh cleaner with the same rules to the unfinished line: see
    /// [`OutputCleaner::resume_bytes`].
    pub fn resume_bytes(&self) -> Vec<u8> {
        self.cleaner.resume_bytes()
    }

    /// Ends this capture. Another capture continues from [`StreamCapture::resume_bytes`] and shows the unfinished
    /// character.
    pub fn break_off(&mut self) {
        self.cleaner.break_off();
    }

    /// Ends the stream and delivers the unfinished line. Live text can still be taken. A second call does nothing.
    pub fn end(&mut self) {
        self.end_to(|_| {});
    }

    /// Ends the stream, and passes on the unfinished line.
    pub fn end_to(&mut self, mut reader: impl FnMut(&str)) {
        if !std::mem::replace(&mut self.ended, true) {
            let store = &mut self.store;
            self.cleaner.end(&mut |text| {
                reader(text);
                store.take_sanitized(text);
            });
        }
    }

    /// Returns the kept text and its truncation. Without a decision no file is written.
    pub fn finish(mut self) -> CapturedStream {
        self.end();
        self.store.finish(self.cleaner.replaced())
    }
}

impl SanitizedTextStore {
    fn take_sanitized(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len() as u64;
        self.newlines += count_newlines(text);
        self.open_line = !text.ends_with('\n');
        if self.policy.max_chars().is_some() {
            self.chars += utf16_len(text);
        }
        self.window.push(text);
        if let SpillState::File(file) = &mut self.spill {
            file.write(text);
        }
        if let Some(live) = &mut self.live {
            live.push(text);
        }
        if let Some(journal) = &mut self.journal {
            journal.push_str(text);
        }
        self.split_if_ready();
    }

    fn decide_spill(&mut self, spill: SpillState) {
        self.spill = spill;
        self.split_if_ready();
    }

    fn split_if_ready(&mut self) {
        if self.has_overflowed() && !matches!(self.spill, SpillState::Undecided) {
            self.window.split();
        }
    }

    fn has_overflowed(&self) -> bool {
        self.bytes > self.policy.max_bytes() || self.policy.max_chars().is_some_and(|max| self.chars > max)
    }

    fn finish(mut self, replaced: u64) -> CapturedStream {
        if let SpillState::File(file) = &mut self.spill {
            file.close();
        }
        let total_lines = self.newlines + u64::from(self.open_line);
        let mut notes = Vec::new();
        if let SpillState::File(file) = &self.spill
            && file.is_full()
            && let Some(error) = file.error()
        {
            notes.push(format!("{}: the full output file {error}: {}", self.name, file.path().display()));
        }
        let (text, truncation) = match self.cut_text() {
            None => (self.window.tail().to_owned(), None),
            Some(kept) => {
                let truncation = self.truncation(&kept, total_lines);
                (self.assemble(&kept, &truncation.1), Some(truncation.0))
            }
        };
        let whole = truncation.as_ref().and_then(|_| self.window.into_whole());
        CapturedStream { text, whole, truncation, total_lines, total_bytes: self.bytes, replaced, notes }
    }

    /// Returns the kept parts if anything must be cut.
    fn cut_text(&self) -> Option<KeptEnds<'_>> {
        let (head, tail) = (self.window.head(), self.window.tail());
        match &self.policy {
            TruncationPolicy::Tail(limits) => cut_tail(tail, limits).map(|TextCut { at, by, partial }| KeptEnds {
                head: "",
                tail: &tail[at..],
                by,
                partial,
            }),
            TruncationPolicy::Head(limits) => cut_head(head, limits).map(|TextCut { at, by, partial }| KeptEnds {
                head: &head[..at],
                tail: "",
                by,
                partial,
            }),
            TruncationPolicy::Ends { head_bytes, tail_bytes, .. } => self.has_overflowed().then(|| {
                let end = head.floor_char_boundary(to_usize(*head_bytes));
                let max = to_usize(*tail_bytes);
                let start = tail.ceil_char_boundary(tail.len().saturating_sub(max));
                let partial = !whole_at(head, end) || !tail[..start].ends_with('\n') && start < tail.len();
                KeptEnds { head: &head[..end], tail: &tail[start..], by: TruncationLimit::Bytes, partial }
            }),
        }
    }

    fn truncation(&self, kept: &KeptEnds<'_>, total_lines: u64) -> (StreamTruncation, TruncationNotice) {
        let (head_lines, output_lines) = (count_lines(kept.head), count_lines(kept.head) + count_lines(kept.tail));
        let (keep, first_line, last_line) = match self.policy {
            TruncationPolicy::Tail(_) => (KeptStreamPart::Tail, total_lines - output_lines + 1, total_lines),
            TruncationPolicy::Head(_) => (KeptStreamPart::Head, 1, head_lines),
            TruncationPolicy::Ends { .. } => (KeptStreamPart::Ends, 1, head_lines),
        };
        let whereabouts = self.whereabouts();
        let by_chars = kept.by == TruncationLimit::Chars;
        let shown = if by_chars { utf16_len(kept.head) + utf16_len(kept.tail) } else { output_lines };
        let total = if by_chars { self.chars } else { total_lines };
        let figures = NoticeFigures { by: kept.by, shown, total, total_bytes: self.bytes };
        let notice = TruncationNotice::new(self.name, &self.policy, &figures, &whereabouts);
        let truncation = StreamTruncation {
            keep,
            by: kept.by,
            total_lines,
            total_bytes: self.bytes,
            output_lines,
            output_bytes: (kept.head.len() + kept.tail.len()) as u64,
            first_line,
            last_line,
            partial_line: kept.partial,
            path: whereabouts.path.map(ToOwned::to_owned),
            artifact_id: whereabouts.artifact_id.map(ToOwned::to_owned),
            spill_error: whereabouts.error.map(ToOwned::to_owned),
            notice: notice.joined(),
        };
        (truncation, notice)
    }

    fn whereabouts(&self) -> WholeStreamLocation<'_> {
        match &self.spill {
            SpillState::Undecided | SpillState::Off => WholeStreamLocation::default(),
            SpillState::File(file) => {
                WholeStreamLocation { path: Some(file.path()), artifact_id: file.artifact_id(), error: file.error() }
            }
            SpillState::Failed { place, artifact_id, error } => {
                WholeStreamLocation { path: place.as_deref(), artifact_id: artifact_id.as_deref(), error: Some(error) }
            }
            SpillState::Elsewhere(path) => WholeStreamLocation { path: Some(path), ..WholeStreamLocation::default() },
        }
    }

    fn assemble(&self, kept: &KeptEnds<'_>, notice: &TruncationNotice) -> String {
        let mut text = String::new();
        if matches!(self.policy, TruncationPolicy::Ends { .. }) {
            own_line(&mut text, &notice.first);
            own_line(&mut text, kept.head);
            own_line(&mut text, "\n[snip]\n\n");
            text.push_str(kept.tail);
        } else {
            text.push_str(kept.head);
            text.push_str(kept.tail);
        }
        if !notice.last.is_empty() {
            own_line(&mut text, "");
            text.push_str(&notice.last);
        }
        text
    }
}

/// The kept parts of a cut stream. Only `Ends` has both.
struct KeptEnds<'a> {
    head: &'a str,
    tail: &'a str,
    by: TruncationLimit,
    partial: bool,
}

/// Appends a piece on a line of its own.
fn own_line(text: &mut String, piece: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(piece);
}

/// Returns the number of bytes to keep so that the character beyond a cut at `max` is known.
fn to_reach(max: u64) -> usize {
    to_usize(max) + 4
}
