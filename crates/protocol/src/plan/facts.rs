//! The tables of this crate's plans as data, for the documents and their tests.

use serde_json::{Value, json};

use super::{command_environment, host_variables, secret_variables, shell_startup, token_shapes, unattended_defaults};

/// Returns the variables that a command does not inherit, and the variables that it gets.
pub fn facts() -> Value {
    let names = secret_variables::NAMES.iter();
    let harmless = secret_variables::HARMLESS.iter();
    let defaults = unattended_defaults::DEFAULTS.iter();
    json!({
        "secretNames": names
            .map(|(pattern, says, example)| json!({ "pattern": pattern, "says": says.name(), "example": example }))
            .collect::<Vec<_>>(),
        "harmless": harmless
            .map(|(pattern, example)| json!({ "pattern": pattern, "example": example }))
            .collect::<Vec<_>>(),
        "shapes": token_shapes::all_shapes()
            .iter()
            .map(|shape| json!({ "vendor": shape.vendor, "begins": shape.anchor_text() }))
            .collect::<Vec<_>>(),
        "fields": secret_variables::FIELDS,
        "host": host_variables::ROWS
            .iter()
            .map(|row| json!({ "name": row.glob, "holding": row.holding, "why": row.why }))
            .collect::<Vec<_>>(),
        "untrue": host_variables::UNTRUE,
        "otherTerminal": host_variables::OTHER_TERMINAL,
        "defaults": defaults
            .map(|row| json!({
                "name": row.name,
                "value": row.value,
                "unless": row.unless,
                "always": row.always,
                "why": row.why,
            }))
            .collect::<Vec<_>>(),
        "cold": command_environment::UNFIT,
        "warmRoomBytes": shell_startup::ROOM,
    })
}
