//! Evidence as it crosses to JavaScript, as JSON. `ts/evidence/types.ts` has its type.

use evidence::Evidence;
use serde::Serialize;

/// The evidence of a command.
#[derive(Serialize)]
pub struct EvidenceOfRun<'a> {
    #[serde(flatten)]
    parts: &'a Evidence,
    tap: Option<()>,
}

impl<'a> From<&'a Evidence> for EvidenceOfRun<'a> {
    fn from(parts: &'a Evidence) -> Self {
        Self { parts, tap: None }
    }
}

/// Returns evidence as JSON.
pub fn json(evidence: &Evidence) -> String {
    serde_json::to_string(&EvidenceOfRun::from(evidence)).unwrap_or_default()
}
