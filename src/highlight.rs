//! The parts of a command for JavaScript.

use napi::{Error, Result};
use napi_derive::napi;
use serde::Serialize;

use safety::Utf16Offsets;

/// Returns the parts of a command, in order and without overlap, as JSON with this type. Offsets are UTF-16 units.
///
/// ```ts
/// type Tokens = { start: number; end: number; class: string }[];
/// ```
///
/// # Errors
/// Never: the values are plain.
#[napi]
pub fn highlight(command: String) -> Result<String> {
    #[derive(Serialize)]
    struct HighlightedToken {
        start: usize,
        end: usize,
        class: &'static str,
    }
    let units = Utf16Offsets::new(&command);
    let tokens = grammar::highlight(&command, &safety::parse::starts(&command));
    let tokens = tokens.iter().map(|token| {
        let (start, end) = units.span(&token.span);
        HighlightedToken { start, end, class: token.class.name() }
    });
    serde_json::to_string(&tokens.collect::<Vec<_>>()).map_err(|error| Error::from_reason(error.to_string()))
}
