//! Lines of a whole output, which a view left out.

use std::fs::File;

use napi::Result;
use napi_derive::napi;
use serde_json::json;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use super::reduce::{invalid, number};
use reduce::recall::{RecallRequest, RecallSelection, lines};
use runner::error::RunError;
use runner::recall::{RecallError, recall};

/// A request of a model for lines of an output.
#[napi(object, object_from_js = false)]
pub struct NativeRecall {
    /// The number of the output.
    pub id: f64,
    /// The first and the last line, from 1, through both streams; `null` with a pattern.
    pub lines: Option<Vec<f64>>,
    /// A regular expression for the lines; `null` with lines.
    pub pattern: Option<String>,
}

/// Reads a recall: `12:40-95`, `12:40`, `12 /pattern/`.
///
/// # Errors
/// For any other text.
#[napi]
pub fn read_recall(text: String) -> Result<NativeRecall> {
    let RecallRequest { id, wanted } = RecallRequest::parse(&text).map_err(invalid)?;
    let (lines, pattern) = match wanted {
        RecallSelection::Lines(from, to) => (Some(vec![number(from), number(to)]), None),
        RecallSelection::Pattern(pattern) => (None, Some(pattern)),
    };
    Ok(NativeRecall { id: id as f64, lines, pattern })
}

/// Returns the first lines of a text, at most 50 KiB of them.
#[napi]
#[must_use]
pub fn recalled(text: String) -> String {
    lines(&text, 1, usize::MAX).to_owned()
}

/// The lines that a call asks for.
pub(super) fn wanted_lines(from: f64, to: f64, pattern: Option<String>) -> RecallSelection {
    pattern.map_or_else(|| RecallSelection::Lines(from as usize, to as usize), RecallSelection::Pattern)
}

#[napi]
impl Bridge {
    /// Reads the lines `from` … `to` of the file of an output, or those that match, unchanged and at most 50 KiB;
    /// answered by `told`, with `{ unreadable }` if the file cannot be read, or `error`. `is_raw`: it has bytes as a
    /// program wrote them, which are cleaned.
    #[napi]
    pub fn recall(&self, path: String, is_raw: bool, from: f64, to: f64, pattern: Option<String>) -> u32 {
        self.blocking("recall", move || {
            let opened = File::open(&path).map_err(RecallError::from);
            let lines = opened.and_then(|file| recall(file, is_raw, &wanted_lines(from, to, pattern)));
            match lines {
                Ok(lines) => Ok(NativeEvent::from_answer(&lines.into())),
                Err(RecallError::Unreadable(error)) => {
                    Ok(NativeEvent::from_answer(&json!({ "unreadable": error.to_string() })))
                }
                Err(RecallError::Unsearchable(error)) => Err(RunError::InvalidArg(error.to_string())),
            }
        })
    }
}
