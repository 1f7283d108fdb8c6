//! Evidence as it crosses to JavaScript, as JSON. `ts/evidence/types.ts` has its type.

use std::path::Path;

use evidence::CommandEvidence;
use runner::run::tapped_output::TappedOutput;
use serde::Serialize;

/// The evidence of a command.
#[derive(Serialize)]
pub struct SerializedEvidence<'a> {
    #[serde(flatten)]
    parts: &'a CommandEvidence,
    tap: Option<SerializedPipelineTap<'a>>,
}

/// The output of a pipeline's first program. TypeScript puts its file into the store, and gives it its number.
#[derive(Serialize)]
struct SerializedPipelineTap<'a> {
    command: &'a str,
    kept: bool,
    why: Option<&'a str>,
    id: u32,
    path: Option<&'a Path>,
    lines: u64,
    bytes: u64,
    complete: bool,
}

impl<'a> SerializedEvidence<'a> {
    /// Returns the evidence of a command, with its tap.
    pub fn of(parts: &'a CommandEvidence, tap: Option<&'a TappedOutput>) -> Self {
        Self { parts, tap: tap.map(SerializedPipelineTap::from) }
    }
}

impl<'a> From<&'a TappedOutput> for SerializedPipelineTap<'a> {
    fn from(TappedOutput { command, kept }: &'a TappedOutput) -> Self {
        let copied = kept.as_ref().ok();
        Self {
            command,
            kept: copied.is_some(),
            why: kept.as_ref().err().map(String::as_str),
            id: 0,
            path: copied.map(|copied| &*copied.path),
            lines: copied.map_or(0, |copied| copied.lines),
            bytes: copied.map_or(0, |copied| copied.bytes),
            complete: copied.is_some_and(|copied| copied.complete),
        }
    }
}

/// Returns the evidence of a task as JSON. A task has no tap.
pub fn evidence_json(evidence: &CommandEvidence) -> String {
    serde_json::to_string(&SerializedEvidence::of(evidence, None)).unwrap_or_default()
}
