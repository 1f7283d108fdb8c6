//! Tells whether a command only reads.

mod awk;
mod git;
mod judge;
mod sed;
#[cfg(test)]
mod tests;

pub use judge::read_only;
