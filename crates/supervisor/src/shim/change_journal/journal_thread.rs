//! The thread that answers the calls of recorded commands.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;

use super::run_journal::{RunJournal, SharedJournal, lock};
use confine_listener::UnconfinedListener;

/// Time without a call after which the directories of changes are left, in ms.
const QUIET: u16 = 100;
/// The longest time to the next look at a command that makes no calls, in ms.
const LONGEST: u16 = 12_800;

/// A source of calls, which wait for their answers.
pub struct SyscallSource {
    /// The run of the command.
    pub run: u64,
    /// How the calls arrive.
    pub kind: SyscallSourceKind,
}

/// How the calls of a command arrive.
pub enum SyscallSourceKind {
    /// A socket, over which the child sends the descriptor of its filter before it executes its program.
    Arrival(OwnedFd),
    /// The descriptor of the filter.
    Filter(OwnedFd),
    /// A socket to the listener of a world.
    World(OwnedFd),
}

impl SyscallSource {
    fn descriptor(&self) -> BorrowedFd<'_> {
        match &self.kind {
            SyscallSourceKind::Arrival(fd) | SyscallSourceKind::Filter(fd) | SyscallSourceKind::World(fd) => fd.as_fd(),
        }
    }
}

/// The thread, as the shim sees it.
pub struct JournalThreadHandle {
    pub shared: Arc<SharedJournal>,
    news: Arc<Mutex<Vec<SyscallSource>>>,
    /// The write end of a pipe. A byte announces a source, and the end of the pipe announces the end of the shim.
    wake: OwnedFd,
    thread: JoinHandle<()>,
}

impl JournalThreadHandle {
    /// Starts the thread.
    fn begin() -> io::Result<Self> {
        let (read, wake) = sys::pipe()?;
        sys::set_nonblocking(&read)?;
        let shared = Arc::new(SharedJournal::default());
        let news = Arc::default();
        let theirs = (Arc::clone(&shared), Arc::clone(&news));
        let run =
            move || JournalThread { shared: theirs.0, news: theirs.1, wake: Some(read), sources: Vec::new() }.run();
        let thread = std::thread::Builder::new().name("record".to_owned()).spawn(run)?;
        Ok(Self { shared, news, wake, thread })
    }

    /// Returns the thread, which is started if it was not yet.
    pub fn get_or_start(answers: &mut Option<Self>) -> io::Result<&Self> {
        match answers {
            Some(answers) => Ok(answers),
            none => Ok(none.insert(Self::begin()?)),
        }
    }

    /// Adds a source of calls.
    pub fn add(&self, source: SyscallSource) {
        lock(&self.news).push(source);
        self.wake();
    }

    /// Lets the thread begin the record that is due.
    pub fn wake(&self) {
        // The pipe has room: two bytes for each command.
        let _ = nix::unistd::write(&self.wake, &[0]);
    }

    /// Waits until no process has a filter.
    pub fn wait(self) {
        let Self { wake, thread, .. } = self;
        drop(wake);
        let _ = thread.join();
    }
}

struct JournalThread {
    shared: Arc<SharedJournal>,
    /// Sources that the thread does not know yet.
    news: Arc<Mutex<Vec<SyscallSource>>>,
    /// `None` once the shim is about to exit.
    wake: Option<OwnedFd>,
    sources: Vec<SyscallSource>,
}

impl JournalThread {
    fn run(mut self) {
        // Signals are meant for the shim.
        let _ = SigSet::all().thread_block();
        // Without a working directory of its own, the thread takes longer paths.
        let _ = sys::take_own_directory();
        let mut watcher = UnconfinedListener::new();
        let mut pause = None;
        while self.wake.is_some() || !self.sources.is_empty() {
            let Some(ready) = self.wait(pause.map_or(PollTimeout::NONE, PollTimeout::from)) else { return };
            if ready.iter().all(|events| events.is_empty()) {
                watcher.leave_directories();
                let next = pause.unwrap_or(QUIET).saturating_mul(2).min(LONGEST);
                pause = self.shared.check_at_rest().then_some(next);
                continue;
            }
            pause = Some(QUIET);
            let mut ready = ready.into_iter();
            if self.wake.is_some() && ready.next().is_some_and(|events| !events.is_empty()) {
                self.on_wake();
            }
            let shared = &*self.shared;
            // New sources are after the others.
            let mut keep = |source: &mut SyscallSource| {
                let events = ready.next().unwrap_or(PollFlags::empty());
                events.is_empty() || source.answer(events, shared, &mut watcher)
            };
            self.sources.retain_mut(&mut keep);
            if self.wake.is_none() {
                // The listeners of worlds exit with the shim.
                self.sources.retain(|source| matches!(source.kind, SyscallSourceKind::Filter(_)));
            }
        }
    }

    /// Waits for calls. Returns the events of the pipe, if it is open, and of each source. `None`: no wait is possible.
    fn wait(&self, at_most: PollTimeout) -> Option<Vec<PollFlags>> {
        let wake = self.wake.as_ref().map(AsFd::as_fd);
        let descriptors = wake.into_iter().chain(self.sources.iter().map(SyscallSource::descriptor));
        let mut fds: Vec<PollFd<'_>> = descriptors.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        match poll(&mut fds, at_most) {
            Ok(_) => Some(fds.iter().map(|fd| fd.revents().unwrap_or(PollFlags::empty())).collect()),
            Err(Errno::EINTR) => Some(Vec::new()),
            Err(_) => None,
        }
    }

    fn on_wake(&mut self) {
        let mut bytes = [0; 64];
        let read = self.wake.as_ref().map(|wake| nix::unistd::read(wake, &mut bytes));
        if matches!(read, Some(Ok(0))) {
            self.wake = None;
        }
        self.sources.append(&mut lock(&self.news));
        // It begins while the program of the command starts.
        self.shared.begin_point();
    }
}

impl SyscallSource {
    /// Answers the next call. Returns `false` once no other call can come.
    fn answer(&mut self, events: PollFlags, shared: &SharedJournal, watcher: &mut UnconfinedListener) -> bool {
        if !events.contains(PollFlags::POLLIN) {
            return false;
        }
        let journal = RunJournal { shared, run: self.run };
        match &self.kind {
            SyscallSourceKind::Arrival(socket) => match receive_filter(socket.as_fd()) {
                Some(filter) => self.kind = SyscallSourceKind::Filter(filter),
                None => return false,
            },
            SyscallSourceKind::Filter(filter) => {
                let journal = shared.wake_recorder(self.run).then_some(&journal);
                watcher.answer(filter.as_fd(), journal.map(|journal| journal as _));
            }
            SyscallSourceKind::World(socket) => return watcher.answer_remote(socket.as_fd(), Some(&journal)),
        }
        true
    }
}

/// Receives the descriptor of a filter. `None`: its command was not started.
fn receive_filter(socket: BorrowedFd<'_>) -> Option<OwnedFd> {
    let mut descriptors = Vec::new();
    sys::receive(socket, &mut [0; 8], &mut descriptors).ok()?;
    let filter = descriptors.pop()?;
    sys::answer_on_callers_cpu(filter.as_fd());
    Some(filter)
}
