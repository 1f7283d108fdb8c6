//! The tables of this crate's plans as data, for the documents and their tests.

use serde_json::{Value, json};

use super::{environment, host, secrets, shapes, startup, unattended};

/// Returns the variables that a command does not inherit, and the variables that it gets.
pub fn facts() -> Value {
    let names = secrets::NAMES.iter();
    let harmless = secrets::HARMLESS.iter();
    let defaults = unattended::DEFAULTS.iter();
    json!({
        "secretNames": names
            .map(|(pattern, says, example)| json!({ "pattern": pattern, "says": says.name(), "example": example }))
            .collect::<Vec<_>>(),
        "harmless": harmless
            .map(|(pattern, example)| json!({ "pattern": pattern, "example": example }))
            .collect::<Vec<_>>(),
        "shapes": shapes::all_shapes()
            .iter()
            .map(|shape| json!({ "vendor": shape.vendor, "begins": shape.anchor_text() }))
            .collect::<Vec<_>>(),
        "fields": secrets::FIELDS,
        "host": host::ROWS
            .iter()
            .map(|row| json!({ "name": row.glob, "holding": row.holding, "why": row.why }))
            .collect::<Vec<_>>(),
        "untrue": host::UNTRUE,
        "otherTerminal": host::OTHER_TERMINAL,
        "defaults": defaults
            .map(|row| json!({
                "name": row.name,
                "value": row.value,
                "unless": row.unless,
                "always": row.always,
                "why": row.why,
            }))
            .collect::<Vec<_>>(),
        "cold": environment::UNFIT,
        "warmRoomBytes": startup::ROOM,
    })
}
