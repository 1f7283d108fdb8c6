//! What is known of programs, as data.

pub mod arity;
pub mod commands;
pub mod devices;
pub mod files;
pub mod git;
pub mod git_reads;
pub mod heads;
pub mod readers;
pub mod shell_code;
pub mod wrappers;
