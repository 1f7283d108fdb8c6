//! A session: the state of a shell, carried from one command to the next.
//!
//! A session is a state in the addon, not a process. Each command is a run with three additions: the state as bash code
//! that runs before it, its own variables, and code that saves the state at the end. A warm shell waits with the state
//! already restored. For a cold start the code is in unnamed files.
//!
//! - **The state is saved in an EXIT trap.** Its script first writes the exit code, so the result need not wait for the
//!   dump. The state counts only if the shell exited by itself with a complete dump. A shell that dies by a signal runs
//!   its EXIT trap too, so a command that mentions `kill` is reported only after its exit.
//! - **EXIT belongs to the user if `trap` is mentioned** in the command, or in a function or an alias of the session. A
//!   line after the command then saves the state, if the reader of the safety engine is sure that a line can follow.
//! - **The scripts leave no trace.** They have no variables and call all builtins as `\builtin`.
//! - **The next shell starts before the state is saved.** It has the last known state, which is usually still right,
//!   because most commands change nothing.
//! - The safety engine evaluates the code of the state before each command
//!   (`crates/safety/src/eval/restored_shell.rs`).

mod session_command;
mod session_run;
mod shell_session;
mod shell_state_files;
mod state_saver;

pub use session_run::{SessionRun, first_request};
pub use shell_session::ShellSession;
