//! What is known of programs, as data.

pub mod arity;
pub mod devices;
pub mod files;
pub mod git;
pub mod heads;
pub mod wrappers;
