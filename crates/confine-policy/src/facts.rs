//! Default lists and limits as data, for the documents and their tests.

use serde_json::{Value, json};

use super::defaults::{HIDE, HiddenPath, PROTECT, SYSTEM};
use super::make::{MOST_ENTRIES, MOST_EXPOSED};
use crate::{ConfinementMechanism, ConfinementPart};

/// Returns the lists and limits. `hide` is relative to the home, and each path is there with what it has.
pub fn facts() -> Value {
    json!({
        "protect": PROTECT.as_slice(),
        "hide": described_paths(&HIDE.home),
        "hideOfSystem": described_paths(&HIDE.system),
        "system": SYSTEM.as_slice(),
        "maxEntries": MOST_ENTRIES,
        "maxExposed": MOST_EXPOSED,
        "parts": ConfinementPart::ALL.map(ConfinementPart::name),
        "ways": ConfinementMechanism::ALL.map(|way| {
            json!({ "name": way.name(), "needs": ConfinementPart::ALL.map(|part| way.needs(part)), "besides": way.additional_bounds() })
        }),
    })
}

/// Returns paths with what they have, and where that is said.
fn described_paths(paths: &[HiddenPath]) -> Vec<Value> {
    paths
        .iter()
        .map(|HiddenPath { path, what, source }| json!({ "path": path, "what": what, "source": source }))
        .collect()
}
