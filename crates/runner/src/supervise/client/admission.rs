//! Limits the commands that run at once to the available descriptors. Further commands queue. Tasks count as well, as
//! long as this process follows them.

use std::sync::OnceLock;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Descriptors that a command needs in this process: two pipes, a socket, a witness, briefly their other ends, perhaps
/// two files, up to three more with a special shell, and its share of the sessions' descriptors.
pub const PER_COMMAND: u64 = 12;
/// Descriptors that a task needs in this process: the socket to its shim, its witness, and its log while that is read.
pub const PER_TASK: u64 = 3;
/// Extra descriptors of a session that runs a command. Of this many commands, one may belong to a session.
pub const PER_SESSION: usize = 5;
/// Of this many commands, one may be a terminal, because a terminal may stay open for hours.
const PER_TERMINAL: usize = 2;
/// Descriptors reserved for the host.
pub const RESERVE: u64 = 48;
/// The most parallel commands. More commands would only compete for the processors.
pub const MAX_COMMANDS: u64 = 1024;

/// A place among the running commands, returned when dropped.
pub type AdmissionSlot = SemaphorePermit<'static>;

/// The descriptors of a task, returned when dropped.
pub struct TaskAdmission {
    _descriptors: AdmissionSlot,
    _task: AdmissionSlot,
}

/// The places of this process.
pub struct CommandAdmission {
    /// One permit for each descriptor.
    descriptors: Semaphore,
    /// One permit for each task that may hold descriptors. One command always has room beside them.
    tasks: Semaphore,
    sessions: Semaphore,
    terminals: Semaphore,
}

impl CommandAdmission {
    /// Returns the instance shared by all threads of the process.
    pub fn shared() -> &'static Self {
        static ADMISSION: OnceLock<CommandAdmission> = OnceLock::new();
        ADMISSION.get_or_init(|| {
            let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(256, |(soft, _)| soft);
            Self::of(usize::try_from(places(limit, sys::open_descriptors() as u64)).unwrap_or(1))
        })
    }

    fn of(places: usize) -> Self {
        let descriptors = places.saturating_mul(PER_COMMAND as usize);
        Self {
            descriptors: Semaphore::new(descriptors),
            tasks: Semaphore::new((descriptors - PER_COMMAND as usize) / PER_TASK as usize),
            sessions: Semaphore::new((places / PER_SESSION).max(1)),
            terminals: Semaphore::new((places / PER_TERMINAL).max(1)),
        }
    }

    /// Takes a place if one is free and no caller is queued.
    pub fn try_enter(&'static self) -> Option<AdmissionSlot> {
        self.descriptors.try_acquire_many(PER_COMMAND as u32).ok()
    }

    /// Keeps a task's part of the place of the command that has become the task. `None` if so many tasks run that no
    /// command would have a place.
    pub fn keep_for_task(&'static self, mut slot: AdmissionSlot) -> Option<TaskAdmission> {
        let task = self.tasks.try_acquire().ok()?;
        Some(TaskAdmission { _descriptors: slot.split(PER_TASK as usize)?, _task: task })
    }

    /// Takes a place for a task of another process, if one is free and no caller is queued.
    pub fn try_enter_task(&'static self) -> Option<TaskAdmission> {
        let task = self.tasks.try_acquire().ok()?;
        let descriptors = self.descriptors.try_acquire_many(PER_TASK as u32).ok()?;
        Some(TaskAdmission { _descriptors: descriptors, _task: task })
    }

    /// Takes a place among the sessions that run a command, if one is free and no caller is queued. It must be taken
    /// before the command's own place.
    pub fn try_enter_session(&'static self) -> Option<AdmissionSlot> {
        self.sessions.try_acquire().ok()
    }

    /// Like [`Self::try_enter_session`], in queue order.
    pub async fn enter_session(&'static self) -> Option<AdmissionSlot> {
        self.sessions.acquire().await.ok()
    }

    /// Takes a place among the terminals in queue order, or `None` if none becomes free in this time. It must be taken
    /// before the command's own place.
    pub async fn enter_terminal(&'static self, patience: Duration) -> Option<AdmissionSlot> {
        tokio::time::timeout(patience, self.terminals.acquire()).await.ok()?.ok()
    }

    /// Takes a place in queue order.
    pub async fn enter(&'static self) -> Option<AdmissionSlot> {
        self.descriptors.acquire_many(PER_COMMAND as u32).await.ok()
    }
}

fn places(limit: u64, open: u64) -> u64 {
    (limit.saturating_sub(open + RESERVE) / PER_COMMAND).clamp(1, MAX_COMMANDS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(places: usize) -> &'static CommandAdmission {
        Box::leak(Box::new(CommandAdmission::of(places)))
    }

    #[test]
    fn a_low_limit_still_lets_one_command_run() {
        assert_eq!(places(64, 30), 1);
        assert_eq!(places(512, 30), 36);
        assert_eq!(places(u64::MAX, 30), 1024);
    }

    #[tokio::test]
    async fn callers_enter_in_the_order_of_the_queue_and_none_passes_it() {
        let admission = admission(1);
        let slot = admission.try_enter().expect("free");
        let [first, second] = [(); 2].map(|()| tokio::spawn(admission.enter()));
        tokio::task::yield_now().await;
        drop(slot);
        assert!(admission.try_enter().is_none(), "the place belongs to the queue");
        let slot = first.await.expect("no panic").expect("open");
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(slot);
        drop(second.await.expect("no panic").expect("open"));
        assert!(admission.try_enter().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_terminal_queues_for_its_place_as_long_as_its_caller_has_patience() {
        let admission = admission(2);
        let patience = Duration::from_millis(700);
        let slot = admission.enter_terminal(patience).await.expect("free");
        let began = tokio::time::Instant::now();
        assert!(admission.enter_terminal(patience).await.is_none());
        assert!((700..=702).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
        drop(slot);
        assert!(admission.enter_terminal(Duration::ZERO).await.is_some());
    }

    #[test]
    fn tasks_take_places_from_commands_as_long_as_they_run() {
        let admission = admission(3);
        let commands = |expected: usize| {
            let held: Vec<_> = std::iter::from_fn(|| admission.try_enter()).collect();
            assert_eq!(held.len(), expected);
        };
        commands(3);
        let task = |()| admission.try_enter().and_then(|slot| admission.keep_for_task(slot)).expect("a place");
        let tasks = [(); 4].map(task);
        commands(2);
        let more = [(); 2].map(|()| admission.try_enter_task().expect("a place"));
        commands(1);
        drop(tasks);
        commands(2);
        drop(more);
        commands(3);
    }

    #[test]
    fn one_command_has_a_place_beside_any_number_of_tasks() {
        for places in [1, 2, 5] {
            let admission = admission(places);
            let tasks: Vec<_> = (0..100)
                .filter_map(|_| admission.keep_for_task(admission.try_enter().expect("a place for a command")))
                .collect();
            assert_eq!(tasks.len() as u64, (places as u64 - 1) * PER_COMMAND / PER_TASK);
            assert!(admission.try_enter_task().is_none() && admission.try_enter().is_some());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn sessions_and_terminals_have_their_share_of_the_places() {
        for (places, sessions, terminals) in [(1, 1, 1), (9, 1, 4), (10, 2, 5), (1024, 204, 512)] {
            let admission = admission(places);
            let held: Vec<_> = (0..sessions).map_while(|_| admission.try_enter_session()).collect();
            assert_eq!(held.len(), sessions);
            assert!(admission.try_enter_session().is_none(), "{places}");
            let mut held = Vec::new();
            while let Some(slot) = admission.enter_terminal(Duration::from_secs(1)).await {
                held.push(slot);
            }
            assert_eq!(held.len(), terminals, "{places}");
            let held: Vec<_> = (0..=places).map_while(|_| admission.try_enter()).collect();
            assert_eq!(held.len(), places, "neither takes a place of the commands by itself");
        }
    }
}
