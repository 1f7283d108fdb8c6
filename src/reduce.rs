//! Reductions of complete text.

use std::fs;
use std::io::{self, Read};

use napi::{Error, Result, Status};
use napi_derive::napi;
use serde::Serialize;

use reduce::{ElidedRange, ExitOutcome, ReducedView, ViewRuleName, closing_line, rules, unreduced_view};
use runner::request::{RawReduction, check_reduction};
use runner::run::view_maker::ViewDraft;

/// A complete output.
#[napi(object, object_to_js = false)]
pub struct NativeOutput {
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
    /// The command, if it is known.
    pub command: Option<String>,
    /// How the command ended.
    #[napi(ts_type = "'unknown' | 'succeeded' | 'failed'")]
    pub end: String,
}

/// Tokens of a text before and after its reduction, by estimate.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewTokens {
    /// The tokens of the output.
    pub before: f64,
    /// The tokens of the view.
    pub after: f64,
}

/// Lines of an output that a view does not show, or shows in part.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ElidedLines {
    /// The stream.
    #[napi(ts_type = "'stdout' | 'stderr'")]
    pub stream: String,
    /// The first line, from 1, in the stream.
    pub from_line: f64,
    /// The last line.
    pub to_line: f64,
    /// The reason: `budget`, `long` for the middle of a long line, `seen`, or the name of a rule.
    pub why: String,
}

/// The whole of each stream that a result shows in part, if it was still in memory.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WholeStreams {
    /// Of standard output.
    pub stdout: Option<String>,
    /// Of standard error.
    pub stderr: Option<String>,
}

/// The text that a model reads in place of an output, without the closing line that names the place of the whole.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NativeView {
    /// The text.
    pub text: String,
    /// Tokens before and after, by estimate.
    pub tokens: ViewTokens,
    /// The class of the output.
    #[napi(ts_type = "'exact' | 'red' | 'green'")]
    pub class: String,
    /// Lines that the text does not show, in order.
    pub elided: Vec<ElidedLines>,
    /// Folds and rules that were used.
    pub rules: Vec<String>,
    /// The lines of standard output and of standard error.
    #[napi(ts_type = "[stdout: number, stderr: number]")]
    pub lines: Vec<f64>,
    /// The streams that the result does not have as a whole.
    pub whole: WholeStreams,
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
pub(super) fn number(count: usize) -> f64 {
    count as f64
}

impl From<&ElidedRange> for ElidedLines {
    fn from(elided: &ElidedRange) -> Self {
        Self {
            stream: elided.stream.name().to_owned(),
            from_line: number(elided.from),
            to_line: number(elided.to),
            why: elided.why.name().to_owned(),
        }
    }
}

impl From<ReducedView> for NativeView {
    fn from(view: ReducedView) -> Self {
        Self {
            text: view.text,
            tokens: ViewTokens { before: number(view.before), after: number(view.after) },
            class: view.class.name().to_owned(),
            elided: view.elided.iter().map(ElidedLines::from).collect(),
            rules: view.rules.into_iter().map(ViewRuleName::into_owned).collect(),
            lines: view.lines.into_iter().map(number).collect(),
            whole: WholeStreams::default(),
        }
    }
}

impl From<ViewDraft> for NativeView {
    fn from(draft: ViewDraft) -> Self {
        let ViewDraft { view, whole: [stdout, stderr] } = draft;
        Self { whole: WholeStreams { stdout, stderr }, ..view.into() }
    }
}

pub(super) fn invalid(error: impl std::error::Error) -> Error {
    Error::new(Status::InvalidArg, error.to_string())
}

/// Returns the view of an output. If nothing is gained, the view has the unchanged text. `reduction` is the option
/// `reduce` of a command, as JSON.
///
/// # Errors
/// For a budget that is no number of tokens, and a regular expression or a rule that cannot be read.
#[napi]
pub fn reduce_text(output: NativeOutput, reduction: String) -> Result<NativeView> {
    let NativeOutput { stdout, stderr, command, end } = output;
    let reduction: RawReduction = serde_json::from_str(&reduction).map_err(invalid)?;
    let reduction = check_reduction(reduction).map_err(invalid)?;
    let end = match end.as_str() {
        "succeeded" => ExitOutcome::Succeeded,
        "failed" => ExitOutcome::Failed,
        _ => ExitOutcome::Unknown,
    };
    let view = reduction.view(&stdout, &stderr, end, command.as_deref());
    Ok(view.unwrap_or_else(|| unreduced_view(&stdout, &stderr, end, command.as_deref())).into())
}

/// Returns the line behind a view that leaves out lines. `total`: the number of lines of the whole output. `from`,
/// `to`: the lines of the first gap, counted through both streams. Without `id` they cannot be recalled,
/// and without `path` no file has the whole.
#[napi]
#[must_use]
pub fn line_behind_view(total: f64, from: f64, to: f64, id: Option<u32>, path: Option<String>) -> String {
    closing_line(total as usize, (from as usize, to as usize), id.map(u64::from), path.as_deref())
}

/// A file of rules.
#[napi(object, object_from_js = false)]
pub struct NativeRuleFile {
    /// The text of the file.
    pub text: String,
    /// Why the file cannot be used, with its path and the line. Left out if it can.
    pub error: Option<String>,
}

/// Reads a file of rules, and reports whether the file can be used.
#[napi]
#[must_use]
pub fn read_rules(path: String) -> NativeRuleFile {
    match text_of_rules(&path) {
        Ok(text) => {
            let error = rules::parse_user_rules(&text).err().map(|error| format!("{path}, {error}"));
            NativeRuleFile { text, error }
        }
        Err(error) => NativeRuleFile { text: String::new(), error: Some(format!("{path} cannot be read: {error}")) },
    }
}

fn text_of_rules(path: &str) -> io::Result<String> {
    // Any other kind of file, such as a FIFO, might never be read to its end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(rules::LARGEST as u64 + 1).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the estimated number of tokens that a model reads in a text.
#[napi]
#[must_use]
pub fn estimate_tokens(text: String) -> f64 {
    number(reduce::estimate_tokens(&text))
}
