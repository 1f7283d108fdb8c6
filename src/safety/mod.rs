//! What a command would do, said before it runs: read → follow → unwrap → rules → verdict.
//!
//! A guard against mistakes, not a boundary against malice (see docs/safety.md).

mod command;
mod level;
mod follow;
mod options;
mod read;
mod rules;
mod tables;
mod unwrap;
mod value;

pub use command::{Command, Input, Redirect, Scene, Source};
pub use level::{Confidence, Verdict};
pub use value::{Piece, Value};
