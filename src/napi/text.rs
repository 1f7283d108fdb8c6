//! The way from bytes to text, for output that somebody else has run and hands in: cleaned, cut and counted as a
//! command's own.

use std::path::PathBuf;

use napi::bindgen_prelude::Uint8Array;
use napi::{Error, Result, Status};
use napi_derive::napi;

use super::request::NativeTruncate;
use super::result::Truncation;
use crate::capture::{Capture, Stream, Truncate};
use crate::outcome::replaced;
use crate::request::{RawTruncate, check_truncate, sanitize};

/// One stream of output from somewhere else.
#[napi]
pub struct NativeText {
    capture: Option<Capture>,
    /// What is kept to be written out whole, bytes.
    most: usize,
    /// The beginning of a stream that is longer than that.
    beginning: Option<String>,
}

/// The text of a stream, as a result has it.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct NativeTextEnd {
    /// What is kept, with its notice.
    pub text: String,
    /// How it was cut, or `null`.
    pub truncation: Option<Truncation>,
    /// Places that were not text.
    pub replaced: f64,
}

#[napi]
impl NativeText {
    /// `stderr`, or standard output. `raw`, `keep_ansi` and `keep_progress` as for a command. `most`: bytes that are held to be
    /// written out whole.
    ///
    /// # Errors
    /// When a limit is out of its range.
    #[napi(constructor)]
    pub fn new(
        stderr: bool,
        truncate: Option<NativeTruncate>,
        raw: bool,
        keep_ansi: bool,
        keep_progress: bool,
        most: f64,
    ) -> Result<Self> {
        let stream = if stderr { Stream::Stderr } else { Stream::Stdout };
        let truncate = truncate.map(RawTruncate::from).as_ref().map_or(Ok(Truncate::default()), check_truncate);
        let truncate = truncate.map_err(|error| Error::new(Status::InvalidArg, error.to_string()))?;
        let sanitize = sanitize(!raw, !keep_ansi, keep_progress);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the cast saturates")]
        let most = most as usize;
        Ok(Self { capture: Some(Capture::new(stream.name(), truncate, sanitize, true)), most, beginning: None })
    }

    /// Takes the next bytes; gives the text that is ready, '' for none.
    #[napi]
    pub fn push(&mut self, bytes: Uint8Array) -> String {
        let Some(capture) = &mut self.capture else { return String::new() };
        capture.push(&bytes);
        if self.beginning.is_none() && capture.wants_spill() {
            let whole = capture.whole().unwrap_or_default();
            if whole.len() > self.most {
                self.beginning = Some(whole[..whole.floor_char_boundary(self.most)].to_owned());
                // From here on no more than the cut needs is held.
                capture.spill_off();
            }
        }
        capture.take_live(usize::MAX).unwrap_or_default()
    }

    /// The end of the stream; gives the last text.
    #[napi]
    pub fn end(&mut self) -> String {
        let Some(capture) = &mut self.capture else { return String::new() };
        capture.end();
        capture.take_live(usize::MAX).unwrap_or_default()
    }

    /// The last text, the unfinished line included, at most this many bytes.
    #[napi]
    pub fn tail(&self, max_bytes: u32) -> String {
        self.capture.as_ref().map(|capture| capture.tail(max_bytes as usize)).unwrap_or_default()
    }

    /// What is to be written out whole; `null` for a stream that fits. After its end.
    #[napi]
    pub fn whole(&self) -> Option<String> {
        let capture = self.capture.as_ref()?;
        let whole = || capture.wants_spill().then(|| capture.whole().unwrap_or_default().to_owned());
        self.beginning.clone().or_else(whole)
    }

    /// Whether that is the beginning alone.
    #[napi]
    pub fn is_beginning(&self) -> bool {
        self.beginning.is_some()
    }

    /// The text that is kept, once. `path` is where the whole was written, `error` why it is not there or not whole.
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

    /// The note of output that was not text, or `null` where there was little of it.
    #[napi]
    #[must_use]
    pub fn replaced_note(places: f64) -> Option<String> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        replaced(places as u64)
    }
}
