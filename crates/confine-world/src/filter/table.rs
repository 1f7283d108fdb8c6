//! All calls that filters know.

use super::calls::{self, SyscallEntry};
use super::performed;

/// Returns all calls.
pub fn all() -> impl Iterator<Item = &'static SyscallEntry> {
    calls::table_entries().chain(performed::MORE)
}
