//! What lives in this process, for the people who watch it: its runs, their output, and the questions that wait.
//!
//! | file | what |
//! |---|---|
//! | `runs`, `run` | the commands that run, each with its place, its pid and its last line |
//! | `order` | the orders of a person to a command |
//! | `tasks`, `log` | the tasks of its registries, and their logs |
//! | `tap`, `reader` | the output of a run on its way to one watcher |
//! | `tail` | the end of the output of a run, for watchers who come later |
//! | `asks` | questions about commands that have not started |
//! | `usage` | processor time, memory and ports of a run |
//! | `shape`, `ended` | all of it in the shapes of the host's socket |
//!
//! Without a watcher a run costs its registration, and nothing else: no output is copied, nothing is sampled, and
//! no end is kept.

mod asks;
mod ended;
mod log;
mod order;
mod reader;
mod run;
mod runs;
mod shape;
mod tail;
mod tap;
mod tasks;
mod usage;

pub use asks::{Answer, AskError, Asks, Control, Question, Waits, asks};
pub use ended::{Change, Changed, Denial, Denied, Done, Ended, Ending, GitChange, GrantShape, UndoExtent, Used};
pub use log::follow_log;
pub use order::{InputError, Order};
pub use reader::{Reader, Text};
pub(crate) use run::millis;
pub use run::{Facts, LiveRun};
pub use runs::{EndedRun, Runs, Shown, Watching, runs};
pub use shape::{Ask, Kind, Port, Run, State, UndoCover, Waiting, Why, shown_directory, without_secrets};
pub use tap::Tap;
pub use tasks::{TaskChanges, TaskSource, ended_task, last_of, run_of_task};
pub use usage::{Usage, sample};
