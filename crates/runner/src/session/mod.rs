//! A session: the state of a shell, carried from one command to the next.

mod exchange;
mod prepare;
mod run;
mod save;
#[expect(clippy::module_inception, reason = "the noun of this directory")]
mod session;

pub use run::SessionRun;
pub use session::Session;
