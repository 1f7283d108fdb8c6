//! All calls that filters know.

use super::calls::{self, Entry};
use super::performed;

/// Returns all calls.
pub fn all() -> impl Iterator<Item = &'static Entry> {
    calls::own().chain(performed::MORE)
}
