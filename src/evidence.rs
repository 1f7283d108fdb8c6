//! Evidence and checks as they cross to JavaScript, as JSON. `ts/evidence/types.ts` has their types.

use std::path::Path;

use evidence::Evidence;
use napi_derive::napi;
use serde::Serialize;

use super::bridge::Bridge;
use super::events::NativeEvent;
use runner::proof::list_checks;

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

#[napi]
impl Bridge {
    /// Lists the checks of this process; answered by `checks`. With `cwd`, an absolute path, lists only those that ran
    /// there or below.
    #[napi]
    pub fn list_checks(&self, cwd: Option<String>) -> u32 {
        self.blocking("listChecks", move || {
            let checks = list_checks(cwd.as_deref().map(Path::new));
            Ok(NativeEvent::Checks { checks: serde_json::to_string(&checks).unwrap_or_default() })
        })
    }
}

/// Returns evidence as JSON.
pub fn json(evidence: &Evidence) -> String {
    serde_json::to_string(&EvidenceOfRun::from(evidence)).unwrap_or_default()
}
