//! What driving a command came to, and what becomes of the processes that it left.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::report::Rest;
use crate::background::{Registry, Task};
use crate::capture::Captured;
use crate::supervise::{Cause, Child, Ended, Helpers, News, Survivor, Transfer};

/// For the shim to say what is left.
const RELEASE_BOUND: Duration = Duration::from_secs(2);

/// What driving a command came to.
pub struct Driven {
    /// 0 if it is not known.
    pub pid: i32,
    /// How it ended; `None` when no helper was left to say it.
    pub end: Result<Ended, Unsettled>,
    #[expect(missing_docs, reason = "what is kept")]
    pub stdout: Captured,
    #[expect(missing_docs, reason = "what is kept; None when merged")]
    pub stderr: Option<Captured>,
    #[expect(missing_docs, reason = "what is left")]
    pub survivors: Vec<Survivor>,
    /// The task that it has become, or that those became who still hold its pipes.
    pub task: Option<Task>,
    /// It is that task itself: it has not ended.
    pub moved: bool,
    /// What it has left to its shell.
    pub rest: Rest,
    #[expect(missing_docs, reason = "as far as the addon saw it")]
    pub elapsed: Duration,
    #[expect(missing_docs, reason = "facts for the caller")]
    pub notes: Vec<String>,
}

/// Why nobody said how a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unsettled {
    /// Its shim was killed.
    Lost,
    /// It did not end within the hard bound after its limit.
    Limit,
    /// The same after an abort.
    Abort,
}

/// Leaves what is left to itself and to its shim, which goes on reading its output, for a task if there is an order for
/// one. What is being ended has until `bound` to go. A limit that it breaks until then is the command's end.
pub async fn release(
    mut child: Child,
    helpers: &'static Helpers,
    bound: Instant,
    cause: &mut Cause,
    adoption: Option<(&Arc<Registry>, Transfer)>,
) -> (Vec<Survivor>, Option<Task>) {
    child.release(adoption.as_ref().map(|(_, transfer)| transfer));
    let bound = bound.max(Instant::now() + RELEASE_BOUND);
    let mut news = timeout_at(bound, child.news()).await;
    if let Ok(News::Broken(broken)) = news {
        if *cause == Cause::Itself {
            *cause = Cause::Broken(broken);
        }
        news = timeout_at(bound, child.news()).await;
    }
    let survivors = match news {
        // A shim that stays with something after all has closed its socket, and is not taken for the next command.
        Ok(News::Released(survivors)) if survivors.is_empty() => {
            child.give_back(helpers, None);
            return (survivors, None);
        }
        Ok(News::Released(survivors)) => survivors,
        _ => Vec::new(),
    };
    helpers.replace();
    if let Some((registry, _)) = adoption
        && survivors.iter().any(|survivor| survivor.holds)
        && let Ok(News::Task(task)) = timeout_at(bound, child.news()).await
    {
        registry.own(child.into_link(), (*task).clone());
        return (survivors, Some(*task));
    }
    (survivors, None)
}
