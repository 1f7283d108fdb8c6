//! The tables as data, for the documents and their tests.

use serde_json::{Map, Value, json};

use super::{beyond, elevated, overwriting};
use crate::lists::{paths, words};

/// The programs of each table.
pub fn facts() -> Value {
    let overwriting = overwriting::TABLE.iter().map(|entry| {
        json!({
            "programs": words(entry.programs).collect::<Vec<_>>(),
            "subcommands": paths(entry.sub).collect::<Vec<_>>(),
            "with": words(entry.with).collect::<Vec<_>>(),
            "unless": words(entry.unless).collect::<Vec<_>>(),
            "operands": words(entry.operand).collect::<Vec<_>>(),
        })
    });
    let plain = overwriting::GIT.iter().flat_map(|(subs, ..)| words(subs));
    let git: Vec<_> = plain.chain(overwriting::GIT_ACTIONS.iter().map(|(sub, _)| *sub)).collect();
    let beyond =
        beyond::PROGRAMS.iter().map(|(names, what)| ((*what).to_owned(), json!(words(names).collect::<Vec<_>>())));
    json!({
        "overwriting": overwriting.collect::<Vec<_>>(),
        "git": git,
        "elevated": words(elevated::PROGRAMS).collect::<Vec<_>>(),
        "beyond": beyond.collect::<Map<_, _>>(),
    })
}
