//! What is known of programs, as data.

pub mod devices;
pub mod files;
pub mod git;
