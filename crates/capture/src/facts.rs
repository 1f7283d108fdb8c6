//! The bounds of this stage as data, for the documents and their tests.

use serde_json::{Value, json};

use super::capture_policy::{self, KeptTextLimits, TruncationPolicy};
use super::{overdrawn_line, spill_dir};

/// Returns the bounds of cleaning and cutting, and the names of files.
pub fn facts() -> Value {
    let TruncationPolicy::Tail(KeptTextLimits { max_lines, max_bytes, .. }) = TruncationPolicy::default() else {
        unreachable!("the default keeps the end")
    };
    json!({
        "truncate": { "keep": TruncationPolicy::default().keep().name(), "maxLines": max_lines, "maxBytes": max_bytes },
        "lineLimitBytes": overdrawn_line::LINE_LIMIT,
        "hardKeepBytes": capture_policy::HARD_KEEP,
        "spillsTogetherBytes": spill_dir::KEPT_TOGETHER,
        "spillPrefix": spill_dir::PREFIX,
        "spillSuffix": spill_dir::SUFFIX,
    })
}
