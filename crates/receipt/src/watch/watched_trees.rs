//! The trees of a host, and the threads that follow them.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::Pid;

use super::changed_files::{ChangedFiles, covers_directory};
use super::followed_tree::{CatchUpMoment, FollowedTree};
use super::watch_failure::TreeWatchFailure;
use super::watch_limits::{FIRST_READ_WAIT, GATHER_TIME, MAX_WATCHED_TREES, RETRY_AFTER, WatchBudget};
use crate::port_listeners::PortListeners;
use crate::{ChangeAttribution, ReceiptCompleteness, RunReceipt};

/// The trees that a host watches. A tree is watched from the first command in it on.
#[derive(Debug, Clone)]
pub struct WatchedTrees(Arc<WatchedTreesState>);

#[derive(Debug)]
struct WatchedTreesState {
    followers: Mutex<Vec<(Arc<TreeFollower>, Instant)>>,
    budget: WatchBudget,
}

/// A tree, and its state.
#[derive(Debug)]
struct TreeFollower {
    root: PathBuf,
    phase: Mutex<FollowerPhase>,
    changed: Condvar,
    /// The write end of a pipe. The thread ends when it is closed.
    _stop: OwnedFd,
}

#[derive(Debug)]
enum FollowerPhase {
    Reading,
    Ready(Box<FollowedTree>),
    Failed(TreeWatchFailure, Instant),
}

/// A command that gets a receipt. If a token is dropped without [`ReceiptToken::finish`], it leaves nothing behind.
#[derive(Debug)]
pub struct ReceiptToken {
    window: Result<(Arc<TreeFollower>, u64), NoChangeWindow>,
    listeners: Option<PortListeners>,
}

/// A moment in a tree, from which changes are seen.
#[derive(Debug)]
pub struct TreeMark {
    token: ReceiptToken,
    /// The root of the tree. Empty if its directory does not exist.
    pub root: PathBuf,
}

impl TreeMark {
    /// Returns whether the changes since tell of a directory: it lies in the tree, is in no other repository, and git
    /// does not ignore it.
    #[must_use]
    pub fn covers(&self, directory: &Path) -> bool {
        covers_directory(&self.root, directory)
    }

    /// Returns the files that changed since. Blocks while they are read.
    #[must_use]
    pub fn changed(&self) -> ChangedFiles {
        match &self.token.window {
            Ok((follower, window)) => follower
                .read(|tree| tree.changed(*window))
                .unwrap_or_else(|failure| ChangedFiles::unknown(failure.to_string())),
            Err(why) => ChangedFiles::unknown(why.to_string()),
        }
    }

    /// Returns why anything in the tree may have changed since: files, ignored ones, times of writes, or git. `None`:
    /// nothing did. Below a large ignored directory only its own entries count. Blocks while the changes are read.
    #[must_use]
    pub fn touched_reason(&self) -> Option<String> {
        self.changed_since(true)
    }

    /// Like [`Self::touched_reason`], of files that git does not ignore.
    #[must_use]
    pub fn written_reason(&self) -> Option<String> {
        self.changed_since(false)
    }

    fn changed_since(&self, also_ignored: bool) -> Option<String> {
        match &self.token.window {
            Ok((follower, window)) => follower
                .read(|tree| tree.touched_reason(*window, also_ignored))
                .unwrap_or_else(|failure| Some(failure.to_string())),
            Err(why) => Some(why.to_string()),
        }
    }
}

impl Default for WatchedTrees {
    fn default() -> Self {
        Self::new()
    }
}

impl WatchedTrees {
    /// Returns a watch without trees.
    #[must_use]
    pub fn new() -> Self {
        Self::with(WatchBudget::new())
    }

    pub(super) fn with(budget: WatchBudget) -> Self {
        Self(Arc::new(WatchedTreesState { followers: Mutex::default(), budget }))
    }

    /// Returns the root of the tree to which a directory belongs: the top of its repository, or the directory itself.
    ///
    /// # Errors
    /// If the directory does not exist.
    pub fn root_of(directory: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(directory).map(|directory| undo::path_lookup::top_of(&directory).to_owned())
    }

    /// Begins a command in a directory, right before it starts. The first command in a tree starts watching the tree,
    /// and waits up to 25 ms until it is watched. Others wait only while the changes so far are read.
    #[must_use]
    pub fn begin(&self, directory: &Path) -> ReceiptToken {
        ReceiptToken { window: self.open(directory), listeners: PortListeners::read().ok() }
    }

    /// Marks this moment in the tree of a directory, as [`Self::begin`] does, without its ports.
    #[must_use]
    pub fn mark(&self, directory: &Path) -> TreeMark {
        let root = Self::root_of(directory).unwrap_or_default();
        TreeMark { token: ReceiptToken { window: self.open(directory), listeners: None }, root }
    }

    /// Starts watching the tree of a directory, and waits until it is watched. Returns whether it is.
    #[must_use]
    pub fn prepare(&self, directory: &Path, most: Duration) -> bool {
        let Ok(root) = Self::root_of(directory) else { return false };
        self.follower(&root)
            .is_ok_and(|(follower, _)| matches!(*follower.wait_until_read(most), FollowerPhase::Ready(_)))
    }

    /// Simulates an overflow of the kernel's queue for a tree.
    #[cfg(test)]
    pub(super) fn simulate_overflow(&self, root: &Path) {
        let (follower, _) = self.follower(root).expect("a tree");
        if let FollowerPhase::Ready(tree) = &mut *follower.lock() {
            tree.trouble.lost = Some(super::followed_tree::LostReports::Overflow);
        };
    }

    fn open(&self, directory: &Path) -> Result<(Arc<TreeFollower>, u64), NoChangeWindow> {
        let root = Self::root_of(directory).map_err(|error| TreeWatchFailure::of(directory, &error))?;
        let (follower, is_new) = self.follower(&root)?;
        let mut phase = follower.wait_until_read(if is_new { FIRST_READ_WAIT } else { Duration::ZERO });
        let number = match &mut *phase {
            FollowerPhase::Reading => return Err(NoChangeWindow::Reading { root }),
            FollowerPhase::Failed(failure, _) => return Err(failure.clone().into()),
            FollowerPhase::Ready(tree) => tree.begin(),
        };
        match number {
            Ok(number) => {
                drop(phase);
                Ok((follower, number))
            }
            Err(failure) => {
                *phase = FollowerPhase::Failed(failure.clone(), Instant::now());
                Err(failure.into())
            }
        }
    }

    /// Returns the tree with this root, and whether it is new.
    fn follower(&self, root: &Path) -> Result<(Arc<TreeFollower>, bool), TreeWatchFailure> {
        if root.parent().is_none() {
            return Err(TreeWatchFailure::FileSystem);
        }
        let mut followers = self.0.followers.lock().unwrap_or_else(PoisonError::into_inner);
        followers.retain(|(follower, _)| !follower.can_be_tried_again());
        if let Some((follower, used)) = followers.iter_mut().find(|(follower, _)| follower.root == root) {
            *used = Instant::now();
            return Ok((Arc::clone(follower), false));
        }
        if followers.len() >= MAX_WATCHED_TREES {
            let unused = followers.iter().enumerate().filter(|(_, (follower, _))| !follower.is_in_use());
            if let Some((oldest, _)) = unused.min_by_key(|(_, (_, used))| *used) {
                followers.swap_remove(oldest);
            }
        }
        let follower =
            TreeFollower::start(root, self.0.budget.clone()).map_err(|error| TreeWatchFailure::of(root, &error))?;
        followers.push((Arc::clone(&follower), Instant::now()));
        Ok((follower, true))
    }
}

/// Why a command has no window.
#[derive(Debug, thiserror::Error)]
enum NoChangeWindow {
    #[error(transparent)]
    Failure(#[from] TreeWatchFailure),
    #[error("{} was not watched yet when the command began", root.display())]
    Reading { root: PathBuf },
    #[error("the receipt was written already")]
    Finished,
}

impl ReceiptToken {
    /// Returns the receipt, right after the command's end. `tree` are the command's living processes, among which the
    /// owners of ports are found.
    #[must_use]
    pub fn finish(mut self, tree: &[Pid]) -> RunReceipt {
        let receipt = match std::mem::replace(&mut self.window, Err(NoChangeWindow::Finished)) {
            Ok((follower, window)) => follower.receipt(|tree| tree.finish(window)),
            Err(why) => unknown_receipt(why.to_string()),
        };
        self.with_ports(receipt, tree)
    }

    /// Returns a receipt of the changes so far. `tree` are the processes of the command.
    #[must_use]
    pub fn receipt_so_far(&self, tree: &[Pid]) -> RunReceipt {
        let receipt = match &self.window {
            Ok((follower, window)) => follower.receipt(|tree| tree.receipt_so_far(*window)),
            Err(why) => unknown_receipt(why.to_string()),
        };
        self.with_ports(receipt, tree)
    }

    fn with_ports(&self, mut receipt: RunReceipt, tree: &[Pid]) -> RunReceipt {
        match (&self.listeners, PortListeners::read()) {
            (Some(before), Ok(now)) => {
                receipt.ports = now.difference_since(before, tree);
                receipt.ports.add_own_network(tree);
            }
            _ => receipt.lower(ReceiptCompleteness::Partial, "the ports of this system cannot be read"),
        }
        receipt
    }
}

impl Drop for ReceiptToken {
    fn drop(&mut self) {
        if let Ok((follower, window)) = &self.window
            && let FollowerPhase::Ready(tree) = &mut *follower.lock()
        {
            tree.abandon(*window);
        }
    }
}

fn unknown_receipt(why: impl Into<String>) -> RunReceipt {
    let mut receipt = RunReceipt::new(ChangeAttribution::Window);
    receipt.lower(ReceiptCompleteness::Unknown, why);
    receipt
}

impl TreeFollower {
    /// Starts the thread that reads and follows a tree.
    fn start(root: &Path, budget: WatchBudget) -> io::Result<Arc<Self>> {
        let (stopped, stop) = io::pipe()?;
        let (stopped, stop) = (OwnedFd::from(stopped), OwnedFd::from(stop));
        let changed = Condvar::new();
        let follower = Self { root: root.to_owned(), phase: Mutex::new(FollowerPhase::Reading), changed, _stop: stop };
        let follower = Arc::new(follower);
        let (weak, root) = (Arc::downgrade(&follower), root.to_owned());
        thread::Builder::new().name("agent-bash-watch".into()).spawn(move || follow(&weak, &root, budget, &stopped))?;
        Ok(follower)
    }

    fn lock(&self) -> MutexGuard<'_, FollowerPhase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the tree has been read.
    fn wait_until_read(&self, most: Duration) -> MutexGuard<'_, FollowerPhase> {
        let wait = self.changed.wait_timeout_while(self.lock(), most, |phase| matches!(phase, FollowerPhase::Reading));
        wait.unwrap_or_else(PoisonError::into_inner).0
    }

    fn can_be_tried_again(&self) -> bool {
        match self.phase.try_lock().as_deref() {
            Ok(FollowerPhase::Failed(TreeWatchFailure::Root { .. } | TreeWatchFailure::Incomplete, _)) => true,
            Ok(FollowerPhase::Failed(_, at)) => at.elapsed() > RETRY_AFTER,
            _ => false,
        }
    }

    fn is_in_use(&self) -> bool {
        match self.phase.try_lock().as_deref() {
            Ok(FollowerPhase::Ready(tree)) => tree.is_in_use(),
            Ok(FollowerPhase::Failed(..)) => false,
            _ => true,
        }
    }

    fn receipt(&self, read: impl FnOnce(&mut FollowedTree) -> Result<RunReceipt, TreeWatchFailure>) -> RunReceipt {
        self.read(read).unwrap_or_else(|why| unknown_receipt(why.to_string()))
    }

    /// Reads the tree. A failure ends its watch.
    fn read<T>(
        &self,
        read: impl FnOnce(&mut FollowedTree) -> Result<T, TreeWatchFailure>,
    ) -> Result<T, NoChangeWindow> {
        let mut phase = self.lock();
        let failure = match &mut *phase {
            FollowerPhase::Ready(tree) => match read(tree) {
                Ok(result) => return Ok(result),
                Err(failure) => failure,
            },
            FollowerPhase::Failed(failure, _) => return Err(failure.clone().into()),
            FollowerPhase::Reading => return Err(NoChangeWindow::Reading { root: self.root.clone() }),
        };
        *phase = FollowerPhase::Failed(failure.clone(), Instant::now());
        Err(failure.into())
    }
}

/// Reads a tree, and then its changes until the tree is no longer needed.
fn follow(follower: &Weak<TreeFollower>, root: &Path, budget: WatchBudget, stopped: &OwnedFd) {
    let tree = FollowedTree::new(root, budget);
    let readiness = tree.as_ref().ok().and_then(|tree| tree.readiness().try_clone_to_owned().ok());
    let Some(strong) = follower.upgrade() else { return };
    *strong.lock() = match tree {
        Ok(tree) => FollowerPhase::Ready(Box::new(tree)),
        Err(failure) => FollowerPhase::Failed(failure, Instant::now()),
    };
    strong.changed.notify_all();
    drop(strong);
    let Some(readiness) = readiness else { return };
    loop {
        let mut both = [&readiness, stopped].map(|fd| PollFd::new(fd.as_fd(), PollFlags::POLLIN));
        let is_interrupted = poll(&mut both, PollTimeout::NONE).is_err();
        if both[1].any().unwrap_or(false) {
            return;
        }
        if is_interrupted {
            continue;
        }
        // A command makes many changes in a row.
        thread::sleep(GATHER_TIME);
        let Some(follower) = follower.upgrade() else { return };
        let mut phase = follower.lock();
        let FollowerPhase::Ready(tree) = &mut *phase else { return };
        let moment = if tree.is_in_use() { CatchUpMoment::WhileChanging } else { CatchUpMoment::AfterChanges };
        if let Err(failure) = tree.catch_up(moment) {
            *phase = FollowerPhase::Failed(failure, Instant::now());
            return;
        }
    }
}
