//! Commands without their secrets.

use napi_derive::napi;

/// Returns a command with `[redacted]` in place of each secret.
#[napi]
pub fn redact(text: String) -> String {
    redact::redact(&text).text.into_owned()
}
