//! Captures output of commands that ran elsewhere. The output is cleaned, cut and counted like a local command's
//! output.

use std::path::{Path, PathBuf};
use std::time::Duration;

use napi::bindgen_prelude::Uint8Array;
use napi::{Error, Result, Status};
use napi_derive::napi;

use super::result::Truncation;
use capture::{
    KeptStreamPart, OutputStream, ShownRange, StreamCapture, TruncationPolicy, WholeStreamLocation, cut_notice,
};
use protocol::note_of_silence;
use runner::request::{RawOptions, RequestError, check_truncate};
use runner::run::outcome::replaced_note;

/// One stream of foreign output.
#[napi]
pub struct NativeText {
    capture: Option<StreamCapture>,
    /// Most bytes of a stream that are kept for a file.
    most: usize,
    /// The start of a stream that exceeds `most`.
    beginning: Option<String>,
}

/// The text of a stream as in a result.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct NativeTextEnd {
    /// The kept text, with its notice.
    pub text: String,
    /// How the text was cut, or `null`.
    pub truncation: Option<Truncation>,
    /// Places that were not text.
    pub replaced: f64,
}

#[napi]
impl NativeText {
    /// `stderr`, or standard output. `options` has `truncate` and `sanitize` of a command, as JSON. Up to `most` bytes
    /// are kept for a file.
    ///
    /// # Errors
    /// For a limit out of its range.
    #[napi(constructor)]
    pub fn new(stderr: bool, options: String, most: f64) -> Result<Self> {
        let stream = if stderr { OutputStream::Stderr } else { OutputStream::Stdout };
        let refused = |error: RequestError| Error::new(Status::InvalidArg, error.to_string());
        let RawOptions { truncate, sanitize, .. } = RawOptions::from_json(&options).map_err(refused)?;
        let truncate = truncate.as_ref().map_or(Ok(TruncationPolicy::default()), check_truncate).map_err(refused)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let most = most as usize;
        Ok(Self { capture: Some(StreamCapture::new(stream.name(), truncate, sanitize, true)), most, beginning: None })
    }

    /// Takes the next bytes. Returns the text that is ready, or ''.
    #[napi]
    pub fn push(&mut self, bytes: Uint8Array) -> String {
        let Some(capture) = &mut self.capture else { return String::new() };
        capture.push(&bytes);
        if self.beginning.is_none() && capture.wants_spill() {
            let whole = capture.whole_text().unwrap_or_default();
            if whole.len() > self.most {
                self.beginning = Some(whole[..whole.floor_char_boundary(self.most)].to_owned());
                // From here on only the part that the cut needs is kept.
                capture.spill_off();
            }
        }
        capture.take_live(usize::MAX).unwrap_or_default()
    }

    /// Ends the stream. Returns the last text.
    #[napi]
    pub fn end(&mut self) -> String {
        let Some(capture) = &mut self.capture else { return String::new() };
        capture.end();
        capture.take_live(usize::MAX).unwrap_or_default()
    }

    /// Returns the last text with the unfinished line, at most this many bytes.
    #[napi]
    pub fn tail(&self, max_bytes: u32) -> String {
        self.capture.as_ref().map(|capture| capture.tail(max_bytes as usize)).unwrap_or_default()
    }

    /// Returns the text for a file, after the end, or `null` for a stream that fits.
    #[napi]
    pub fn whole(&self) -> Option<String> {
        let capture = self.capture.as_ref()?;
        let whole = || capture.wants_spill().then(|| capture.whole_text().unwrap_or_default().to_owned());
        self.beginning.clone().or_else(whole)
    }

    /// Returns whether `whole` is only the start of the stream.
    #[napi]
    pub fn is_beginning(&self) -> bool {
        self.beginning.is_some()
    }

    /// Returns the kept text, once. `path` is the file with the whole stream, `error` the reason why it is missing or
    /// incomplete.
    #[napi]
    pub fn finish(&mut self, path: Option<String>, error: Option<String>) -> Option<NativeTextEnd> {
        let mut capture = self.capture.take()?;
        match (path.map(PathBuf::from), error) {
            (path, Some(error)) => capture.spill_failed(path, None, error),
            (Some(path), None) => capture.spill_elsewhere(path),
            (None, None) => capture.spill_off(),
        }
        let captured = capture.finish();
        #[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
        let replaced = captured.replaced as f64;
        Some(NativeTextEnd { text: captured.text, truncation: captured.truncation.map(Truncation::from), replaced })
    }

    /// Returns the note on output that is not text, or `null` if there was little of it.
    #[napi]
    #[must_use]
    pub fn replaced_note(places: f64) -> Option<String> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        replaced_note(places as u64)
    }

    /// Returns the note on a command that was silent for this many ms.
    #[napi]
    #[must_use]
    pub fn note_of_silence(ms: f64) -> String {
        note_of_silence(Duration::from_secs_f64(ms.clamp(0.0, 86_400_000.0) / 1000.0))
    }
}

/// A further cut of a stream that was captured already.
#[napi(object, object_to_js = false)]
pub struct NativeCut {
    /// The stream.
    #[napi(ts_type = "'stdout' | 'stderr'")]
    pub stream: String,
    /// The end that is kept.
    #[napi(ts_type = "'head' | 'tail'")]
    pub keep: String,
    /// The lines that are kept, counted from 1 in the whole stream, and the number of the stream's lines.
    pub lines: Option<NativeLines>,
    /// The number of UTF-16 units that are kept, if `lines` is left out.
    pub chars: Option<f64>,
}

/// A range of lines.
#[napi(object, object_to_js = false)]
pub struct NativeLines {
    /// From 1.
    pub first: f64,
    /// From 1.
    pub last: f64,
    /// Of the whole stream.
    pub total: f64,
}

/// The place of the whole stream, from its [`Truncation`].
#[napi(object, object_to_js = false)]
pub struct NativeWhereabouts {
    /// The file.
    pub path: Option<String>,
    /// The stream's id in an artifact store.
    pub artifact_id: Option<String>,
    /// Why the stored stream is incomplete or missing.
    pub spill_error: Option<String>,
}

/// The notice of a further cut. The caller appends it to the kept text, on a line of its own.
#[napi]
#[must_use]
pub fn notice_of_cut(cut: NativeCut, whole: NativeWhereabouts) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts")]
    let shown = match (cut.lines, cut.chars) {
        (Some(NativeLines { first, last, total }), _) => {
            ShownRange::Lines { first: first as u64, last: last as u64, total: total as u64 }
        }
        (None, chars) => ShownRange::Chars { count: chars.unwrap_or(0.0) as u64, total: None },
    };
    let keep = if cut.keep == KeptStreamPart::Head.name() { KeptStreamPart::Head } else { KeptStreamPart::Tail };
    let whereabouts = WholeStreamLocation {
        path: whole.path.as_deref().map(Path::new),
        artifact_id: whole.artifact_id.as_deref(),
        error: whole.spill_error.as_deref(),
    };
    cut_notice(&cut.stream, keep, shown, &whereabouts)
}
