//! What commands prove, across all of them: their evidence, and the checks of this process.
//!
//! | file | what |
//! |---|---|
//! | `test_counter.rs` | counts the tests in an output while it arrives, or in a log |
//! | `check_history.rs` | the runs of each check: the last one, and the last one that passed |
//! | `tree_before.rs` | what changed in the tree since these runs |

mod check_history;
mod test_counter;
mod tree_before;

use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use evidence::{CheckRun, CommandEnd, CommandEvidence, EvidenceInput, EvidencePart, ShellKnowledge};
use protocol::task::now_ms;
use reduce::counts::TestCounts;
use safety::decide::NamedCommandRules;
use sys::WitnessTrace;
use tokio::runtime::Handle;

pub use check_history::CheckStanding;
use check_history::{CheckHistory, RememberedCheckRun, UnreadCheckStanding};
pub use test_counter::{TestCounter, count_log};
pub use tree_before::TreeBeforeCommand;

/// The evidence that a caller wants of a command.
#[derive(Debug, Default)]
pub struct EvidenceRequest {
    /// The directory of the command.
    pub cwd: PathBuf,
    /// Rules that name more commands that are checks.
    pub checks: NamedCommandRules,
    /// Whether the tree of the directory is watched.
    pub tree: bool,
    /// What the shell knows before the command.
    pub known: ShellKnowledge,
}

/// A command that has ended.
pub struct CommandToProve<'a, C> {
    /// Its run, the value of `AGENT_BASH_ID`.
    pub run: &'a str,
    /// Its text.
    pub command: &'a str,
    /// The events of its shell. `None` if the shell could not be watched.
    pub trace: Option<WitnessTrace>,
    /// Its end.
    pub end: CommandEnd,
    /// Counts the tests in its output, once its parts are known.
    pub tests: C,
    /// The tree right before its start. `None` if it was not watched.
    pub before: Option<TreeBeforeCommand>,
}

/// The checks of this process.
static MEMORY: LazyLock<Mutex<CheckHistory>> = LazyLock::new(Mutex::default);

fn memory() -> MutexGuard<'static, CheckHistory> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl EvidenceRequest {
    /// Reads the tree right before the command starts, if it is to be watched. Blocks.
    #[must_use]
    pub fn read_tree_before(&self) -> Option<TreeBeforeCommand> {
        self.tree.then(|| TreeBeforeCommand::read(&self.cwd, |root| memory().marks(root)))
    }

    /// Reads the evidence of the command, which has ended just now, and remembers its checks. Blocks if the tree is
    /// watched.
    #[must_use]
    pub fn prove(&self, ended: CommandToProve<'_, impl FnOnce(&[EvidencePart]) -> Vec<TestCounts>>) -> CommandEvidence {
        // A file that changes from here on changed after the run.
        let (mark, at) = (ended.before.as_ref().map(|_| tree_before::mark_tree_end(&self.cwd)), now_ms());
        let CommandToProve { run, command, trace, end, tests, before } = ended;
        let ran = EvidenceInput {
            command,
            trace: trace.as_ref(),
            end,
            tests,
            cwd: &self.cwd,
            rules: &self.checks,
            known: &self.known,
        };
        let mut evidence = evidence::read(ran);
        if evidence.checks.is_empty() {
            return evidence;
        }
        let mut gone = Vec::new();
        let mut memory = memory();
        for check in &mut evidence.checks {
            let (verdict, exit_code) = (check.verdict, check.exit_code);
            let run = CheckRun { run_id: run.to_owned(), at, verdict, exit_code };
            let run = RememberedCheckRun { run, failures: check.failures.clone(), mark: mark.clone() };
            gone.append(&mut memory.add(check, run, before.as_ref()));
        }
        drop(memory);
        if !gone.is_empty()
            && let Ok(runtime) = Handle::try_current()
        {
            runtime.spawn_blocking(move || drop(gone));
        }
        evidence
    }
}

/// Lists the checks that ran in this process, the newest first: all of them, or those in a directory and below. Blocks.
#[must_use]
pub fn list_checks(directory: Option<&Path>) -> Vec<CheckStanding> {
    let directory = directory.map(|path| path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    let unread = memory().list(directory.as_deref());
    unread.into_iter().map(UnreadCheckStanding::read).collect()
}
