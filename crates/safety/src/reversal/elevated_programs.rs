//! Programs that get rights from the mode or the capabilities of their file.
//!
//! A recorded process gets no such rights (`no_new_privs`), so these programs would fail.

use crate::name_lists::has_word;
use crate::programs::users::ELEVATED;

/// Returns the name of such a program, given its name or path.
pub fn elevated_program(name: &str) -> Option<&str> {
    let base = name.rsplit('/').next().unwrap_or(name);
    has_word(ELEVATED, base).then_some(base)
}
