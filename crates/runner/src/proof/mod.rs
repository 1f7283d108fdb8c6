//! What commands prove, across all of them: their evidence, and the checks of this process.
//!
//! | file | what |
//! |---|---|
//! | `memory.rs` | the runs of each check: the last one, and the last one that passed |

mod memory;

use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use evidence::{CheckRun, End, Evidence, Ran};
use protocol::task::now_ms;
use reduce::counts::{Ended, TestCounts};
use safety::decide::Commands;
use sys::Trace;

pub use memory::Standing;
use memory::{Memory, Run};

/// The evidence that a caller wants of a command.
#[derive(Debug, Default)]
pub struct Wanted {
    /// The directory of the command.
    pub cwd: PathBuf,
    /// Rules that name more commands that are checks.
    pub checks: Commands,
}

/// The checks of this process.
static MEMORY: LazyLock<Mutex<Memory>> = LazyLock::new(Mutex::default);

fn memory() -> MutexGuard<'static, Memory> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wanted {
    /// Reads the evidence of a command that has ended just now, and remembers its checks. `tests` counts the tests in
    /// its output.
    pub fn prove(
        &self,
        (run, command): (&str, &str),
        trace: Option<&Trace>,
        end: End,
        tests: impl FnOnce(Ended) -> Vec<TestCounts>,
    ) -> Evidence {
        let tests = tests(Ended::with(end.code.map(i64::from)));
        let mut evidence = evidence::read(Ran { command, trace, end, tests, cwd: &self.cwd, rules: &self.checks });
        let at = now_ms();
        if !evidence.checks.is_empty() {
            let mut memory = memory();
            for check in &mut evidence.checks {
                let (verdict, exit_code) = (check.verdict, check.exit_code);
                let run = CheckRun { run_id: run.to_owned(), at, verdict, exit_code };
                memory.add(check, Run { run, failures: check.failures.clone() });
            }
        }
        evidence
    }
}

/// Lists the checks that ran in this process, the newest first: all of them, or those in a directory and below.
pub fn list_checks(directory: Option<&std::path::Path>) -> Vec<Standing> {
    memory().list(directory)
}
