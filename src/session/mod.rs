//! A session: the state of a shell, carried from one command to the next.

mod exchange;
#[expect(clippy::module_inception, reason = "the noun of this folder")]
mod session;
mod state;
mod text;
mod turn;

pub use session::Session;
pub use state::{State, call_save, save_script};
pub use text::{is_complete, mentions_trap};
pub use turn::{Asked, SessionRun};
