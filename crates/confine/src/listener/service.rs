//! The loop of a listener.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::asked::{Asked, Shared};
use super::beside::Beside;
use super::caller::Callers;
use super::changes::{self, Change};
use super::elsewhere::LinkedDirectories;
use super::guards::Names;
use super::journal::Journal;
use super::left::RepositoriesLeft;
use super::names::{self, Two};
use super::perform::{self, Bounds};
use super::protocol::{self, Ends, FromListener, MESSAGE, Received, Report, ToListener};
use super::record::{Paths, Record};
use super::remote::Remote;
use super::reply::Reply;
use super::settings::Settings;
use super::skip::Skip;
use super::spots::Reading;
use super::threads::Threads;
use super::{attributes, open, renames, sockets};
use crate::filter::{self, CREATES, Entry, Question};
use crate::{DenialKind, Denials, Post};
use sys::Machine;

/// Time between two looks at threads whose caller may be gone, ms.
const SWEEP: u16 = 200;
/// Time without a call after which the directories that are open here are left, ms.
const QUIET: u16 = 100;
/// The most bytes of text in a report.
const REPORT: usize = 48 * 1024;
const AT_FDCWD: i32 = libc::AT_FDCWD;

/// A command.
struct Command {
    id: u64,
    /// The descriptor of the command's filter, as long as a process has that filter.
    listener: Option<Arc<OwnedFd>>,
    names: Names,
    record: Record,
    /// The directories that it may have made repositories.
    left: RepositoriesLeft,
    /// The journal of the command's changes, if it has one.
    journal: Option<Remote>,
    ended: bool,
    /// Whether the command has made no call for a while, or none so far.
    rests: bool,
    /// Whether the shim wants an announcement of the next entry of the record.
    news: bool,
}

impl Command {
    /// Tells the journal of the command that it makes no calls.
    fn rest(&mut self) {
        if let Some(journal) = self.journal.as_ref().filter(|_| !self.rests && !self.ended) {
            journal.rest(true);
        }
        self.rests = true;
    }

    /// Tells the journal of the command that it makes calls again.
    fn wake(&mut self) {
        if let Some(journal) = self.journal.as_ref().filter(|_| self.rests && !self.ended) {
            journal.rest(false);
        }
        self.rests = false;
    }
}

/// A listener.
pub(super) struct Service {
    ends: Ends,
    /// Room for a message of the shim.
    buffer: Vec<u8>,
    /// The number that was posted last.
    posted: u64,
    table: Vec<Option<&'static Entry>>,
    commands: Vec<Command>,
    shared: Shared,
}

impl Service {
    pub fn new(mut ends: Ends, settings: Settings) -> Self {
        let mut paths = Paths::of(&settings.policy, settings.mounts);
        settings.held.iter().for_each(|held| paths.add(held.directories()));
        let table = Machine::HERE.map(filter::by_number).unwrap_or_default();
        sys::set_umask(0);
        let bounds = settings.held.clone().map(|held| Bounds::new(&settings.policy, held));
        let beside = ends.gate.take().zip(settings.loopback).map(|(gate, own)| Beside::new(gate, own));
        let (callers, threads) = (Callers::of_world(), Threads::default());
        let elsewhere = LinkedDirectories::default();
        let shared = Shared { settings, paths, bounds, beside, callers, threads, elsewhere, umask: 0 };
        Self { ends, buffer: vec![0; MESSAGE], posted: 0, table, commands: Vec::new(), shared }
    }

    /// Answers until the shim is gone.
    pub fn run(&mut self) -> io::Result<()> {
        loop {
            let listeners: Vec<Arc<OwnedFd>> =
                self.commands.iter().filter_map(|command| command.listener.clone()).collect();
            let ready = self.wait(&listeners)?;
            // Messages that the shim sent before a call was made take effect before its answer.
            if ready.first().is_some_and(|events| !events.is_empty()) && !self.hear()? {
                return Ok(());
            }
            for (listener, events) in listeners.iter().zip(ready.iter().skip(1)) {
                if events.contains(PollFlags::POLLIN) {
                    self.answer(listener);
                } else if !events.is_empty() {
                    self.forget(listener);
                }
            }
            if self.shared.threads.are_running() {
                self.shared.threads.sweep();
            }
            if ready.iter().all(|events| events.is_empty()) {
                self.shared.callers.leave();
                // A call that takes its time may still make its change.
                if !self.shared.threads.are_running() {
                    self.commands.iter_mut().for_each(Command::rest);
                }
            }
        }
    }

    /// Waits for the shim or a call. Returns the events of the link and of each listener.
    fn wait(&self, listeners: &[Arc<OwnedFd>]) -> io::Result<Vec<PollFlags>> {
        let descriptors =
            std::iter::once(self.ends.socket.as_fd()).chain(listeners.iter().map(|listener| listener.as_fd()));
        let mut set: Vec<PollFd<'_>> = descriptors.map(|fd| PollFd::new(fd, PollFlags::POLLIN)).collect();
        let timeout = match (self.shared.threads.are_running(), self.shared.callers.holds_directories()) {
            (true, _) => PollTimeout::from(SWEEP),
            (false, false) if self.commands.iter().all(|command| command.rests) => PollTimeout::NONE,
            (false, _) => PollTimeout::from(QUIET),
        };
        match poll(&mut set, timeout) {
            Ok(_) => Ok(set.iter().map(|one| one.revents().unwrap_or(PollFlags::empty())).collect()),
            Err(Errno::EINTR) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    /// Handles all messages of the shim. Returns `false` if the shim is gone.
    fn hear(&mut self) -> io::Result<bool> {
        loop {
            match protocol::receive(self.ends.socket.as_fd(), &mut self.buffer)? {
                Received::Message(message, listener) => {
                    let is_journal = matches!(message, ToListener::Journal { .. });
                    self.obey(message)?;
                    match (listener, self.commands.last_mut()) {
                        (Some(socket), Some(last)) if is_journal => last.journal = Some(Remote::new(socket)),
                        (Some(listener), Some(last)) => {
                            sys::answer_at_once(listener.as_fd());
                            last.listener = Some(Arc::new(listener));
                        }
                        _ => {}
                    }
                }
                Received::Nothing => return Ok(true),
                Received::Closed => return Ok(false),
            }
        }
    }

    fn obey(&mut self, message: ToListener) -> io::Result<()> {
        match message {
            ToListener::Guards { command, first, guards } => {
                self.begin_once(command);
                if let Some(known) = self.commands.iter_mut().find(|known| known.id == command) {
                    if first {
                        self.shared.bounds.iter_mut().for_each(Bounds::protect);
                        (known.names, known.record) = (Names::default(), Record::default());
                    }
                    known.names.add(&guards);
                }
            }
            ToListener::Journal { command } => self.begin_once(command),
            ToListener::Take { command } => self.report(command, false)?,
            ToListener::End { command } => self.report(command, true)?,
        }
        Ok(())
    }

    /// Sends the record of a command, starts a new record, and ends the command with `last`.
    fn report(&mut self, command: u64, last: bool) -> io::Result<()> {
        let mut report = Report::default();
        if let Some(known) = self.commands.iter_mut().find(|known| known.id == command) {
            let Record { mut denials, attempts } = std::mem::take(&mut known.record);
            if last {
                denials.merge(settle(known, &self.shared));
            }
            known.journal.iter().for_each(Remote::tell_names);
            report = Report { denials, attempts };
            (known.ended, known.news) = (last, !last);
            if !last && !known.left.is_empty() {
                // The end of the command is still to be asked for.
                self.posted += 1;
                self.ends.board.post(Post::Records, self.posted)?;
            }
        }
        self.commands.retain(|command| !command.ended || command.listener.is_some());
        shorten(&mut report);
        protocol::send(self.ends.socket.as_fd(), &FromListener::Report(command, report))
    }

    fn begin_once(&mut self, command: u64) {
        if self.commands.last().is_none_or(|last| last.id != command) {
            self.begin(command);
        }
    }

    /// Begins a command, which ends all earlier commands.
    fn begin(&mut self, id: u64) {
        self.shared.callers.on_command();
        self.shared.elsewhere.forget();
        self.commands.iter_mut().for_each(|command| (command.ended, command.news) = (true, false));
        self.commands.retain(|command| command.listener.is_some());
        let (names, record) = (Names::default(), Record::default());
        let (left, journal, listener) = (RepositoriesLeft::now(), None, None);
        let command = Command { id, listener, names, record, left, journal, ended: false, rests: true, news: false };
        self.commands.push(command);
    }

    /// Forgets a filter that no process has.
    fn forget(&mut self, listener: &Arc<OwnedFd>) {
        for command in &mut self.commands {
            if command.listener.as_ref().is_some_and(|known| Arc::ptr_eq(known, listener)) {
                command.listener = None;
            }
        }
        self.commands.retain(|command| !command.ended || command.listener.is_some());
    }

    /// Answers the next call of a filter.
    fn answer(&mut self, listener: &Arc<OwnedFd>) {
        let Ok(Some(call)) = sys::next_call(listener.as_fd()) else { return };
        self.shared.callers.on_call();
        let owner =
            |command: &&mut Command| command.listener.as_ref().is_some_and(|known| Arc::ptr_eq(known, listener));
        let Some(command) = self.commands.iter_mut().find(owner) else { return };
        let entry = self.table.get(call.number as usize).copied().flatten();
        command.wake();
        let Command { id, names, record, left, journal, ended, news, .. } = command;
        let journal = journal.as_ref().filter(|_| !*ended);
        let is_untold = || journal.is_some_and(Remote::is_untold);
        let (before, was_untold) = ((record.size(), left.is_empty()), is_untold());
        let mut asked = Asked { call, listener, names, record, left, shared: &mut self.shared };
        let reply = match entry {
            Some(entry) => {
                let noted = journal.map_or(Ok(()), |journal| note(&mut asked, entry, journal, *id));
                noted.and_then(|()| reply(&mut asked, entry)).unwrap_or_else(Reply::fail)
            }
            None => Reply::fail(Errno::ENOSYS),
        };
        let touches_network = entry.is_some_and(|entry| matches!(entry.question, Question::Connect | Question::SendTo));
        if touches_network || (record.size(), left.is_empty()) != before || is_untold() && !was_untold {
            self.posted += 1;
            // If this fails, the shim misses the record, and nothing else is lost.
            let _ = self.ends.board.post(Post::Records, self.posted);
        }
        if *ended {
            *record = Record::default();
            left.settle(&self.shared.settings.policy, self.shared.bounds.as_ref(), None, true);
        }
        if *news && (record.denials.total > 0 || !record.attempts.is_empty()) {
            *news = false;
            // The shim is gone if this fails.
            let _ = protocol::send(self.ends.socket.as_fd(), &FromListener::News);
        }
        reply.send(listener.as_fd(), &call);
    }
}

/// Puts out of force what a command that has ended leaves in repositories.
fn settle(command: &mut Command, shared: &Shared) -> Denials {
    let hung_up = |listener: &Arc<OwnedFd>| {
        let mut fds = [PollFd::new(listener.as_fd(), PollFlags::empty())];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    };
    let is_left = command.listener.as_ref().is_some_and(|listener| !hung_up(listener));
    let journal = command.journal.as_ref().map(|journal| journal as &dyn Journal);
    command.left.settle(&shared.settings.policy, shared.bounds.as_ref(), journal, is_left)
}

/// Reports the change that a call may make to the journal. Private directories have no journal.
fn note(asked: &mut Asked<'_>, entry: &Entry, journal: &dyn Journal, command: u64) -> Result<(), Errno> {
    asked.shared.callers.directories.begin(command);
    let change = Reading { call: asked.call, callers: &mut asked.shared.callers }.change(entry);
    let names = asked.shared.callers.directories.take_names();
    if !names.is_empty() {
        journal.make_names(names);
    }
    match change {
        Ok(change) if asked.shared.paths.is_of_host(&change.spot.path()) => {
            asked.check()?;
            let noted = journal.before(&change)?;
            asked.shared.callers.directories.mark(&change, noted.own);
            Ok(())
        }
        Ok(_) | Err(Skip::Nothing) => Ok(()),
        Err(Skip::Missed(path, why)) => {
            asked.check()?;
            journal.miss(&path, why)
        }
    }
}

/// Finds the answer to a call.
fn reply(asked: &mut Asked<'_>, entry: &Entry) -> Result<Reply, Errno> {
    if asked.shared.bounds.is_some() {
        return perform::reply(asked, entry).unwrap_or_else(|| reply_as_with_mounts(asked, entry));
    }
    if is_left_to_landlock(asked)
        && let Some((descriptor, at, change)) = path_of_creation(asked, entry.question)
    {
        // Landlock sets the bounds, and names have no bounds.
        return changes::record(asked, descriptor, at, change);
    }
    reply_as_with_mounts(asked, entry)
}

/// Returns whether Landlock alone bounds the files that a caller may change.
fn is_left_to_landlock(asked: &Asked<'_>) -> bool {
    !asked.shared.settings.mounts && asked.shared.bounds.is_none()
}

/// Finds the answer to a call that mounts, Landlock or the judgement of names bound.
fn reply_as_with_mounts(asked: &mut Asked<'_>, entry: &Entry) -> Result<Reply, Errno> {
    let two = |from, to| Two { from, to };
    match entry.question {
        Question::Denied | Question::Socket => Ok(denied(asked, entry.name)),
        Question::OpenAt => opened(asked, asked.int(0), 1, asked.int(2), asked.unsigned(3)),
        Question::Open => opened(asked, AT_FDCWD, 0, asked.int(1), asked.unsigned(2)),
        Question::Creat => open::open(asked, AT_FDCWD, 0, CREAT, asked.unsigned(1)),
        Question::Mkdir => names::directory(asked, AT_FDCWD, 0, asked.unsigned(1)),
        Question::MkdirAt => names::directory(asked, asked.int(0), 1, asked.unsigned(2)),
        Question::Mknod => names::node(asked, AT_FDCWD, 0, asked.unsigned(1)),
        Question::MknodAt => names::node(asked, asked.int(0), 1, asked.unsigned(2)),
        Question::Symlink => names::symlink(asked, 0, AT_FDCWD, 1),
        Question::SymlinkAt => names::symlink(asked, 0, asked.int(1), 2),
        Question::Link => names::link(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        Question::LinkAt => names::link(asked, &two((asked.int(0), 1), (asked.int(2), 3)), asked.int(4)),
        Question::Rename => renames::rename(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        Question::RenameAt => {
            let flags = entry.rename_flags(&asked.call);
            renames::rename(asked, &two((asked.int(0), 1), (asked.int(2), 3)), flags)
        }
        Question::Connect => sockets::connect(asked),
        Question::Bind => sockets::bind(asked),
        Question::SendTo => sockets::send(asked),
        Question::Umask => {
            let umask = asked.unsigned(0) & 0o777;
            asked.shared.callers.set_umask(asked.call.thread, umask);
            Ok(Reply::CONTINUE)
        }
        Question::Process | Question::Listen | Question::Name => Ok(Reply::CONTINUE),
        Question::OpenAt2 | Question::Watch => Err(Errno::ENOSYS),
        Question::Entry(1) if asked.int(0) != AT_FDCWD => Ok(Reply::CONTINUE),
        Question::Entry(at) => changes::record(asked, AT_FDCWD, at, Change::Entry),
        Question::Truncate if is_left_to_landlock(asked) => changes::record(asked, AT_FDCWD, 0, Change::Contents),
        Question::Truncate
        | Question::Chmod
        | Question::ChmodAt
        | Question::Fchmod
        | Question::Descriptor
        | Question::File(_)
        | Question::Itself(_)
        | Question::FileAt(..)
        | Question::Times(_)
        | Question::TimesAt(..) => attributes::change(asked, entry),
    }
}

/// `O_TMPFILE` without `O_DIRECTORY`: a file without a name.
const NAMELESS: i32 = 0o20_000_000;
/// The flags of `creat`.
const CREAT: i32 = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

fn opened(asked: &mut Asked<'_>, descriptor: i32, at: usize, flags: i32, mode: u32) -> Result<Reply, Errno> {
    // Landlock sets the bounds of existing files, or the kernel makes a new one.
    let is_existing = is_left_to_landlock(asked) && flags.cast_unsigned() & CREATES == 0;
    if is_existing || flags & NAMELESS != 0 {
        return changes::record(asked, descriptor, at, Change::Contents);
    }
    open::open(asked, descriptor, at, flags, mode)
}

/// Returns the path that a call creates: a descriptor, an argument, and the change to record.
fn path_of_creation(asked: &Asked<'_>, question: Question) -> Option<(i32, usize, Change)> {
    let (descriptor, at) = match question {
        Question::OpenAt if asked.unsigned(2) & CREATES != 0 => (asked.int(0), 1),
        Question::Open if asked.unsigned(1) & CREATES != 0 => (AT_FDCWD, 0),
        Question::Creat | Question::Mkdir | Question::Mknod => (AT_FDCWD, 0),
        Question::MkdirAt | Question::MknodAt => (asked.int(0), 1),
        Question::Symlink | Question::Link | Question::Rename => (AT_FDCWD, 1),
        Question::SymlinkAt => (asked.int(1), 2),
        Question::LinkAt | Question::RenameAt => (asked.int(2), 3),
        _ => return None,
    };
    let replaces =
        matches!(question, Question::OpenAt | Question::Open | Question::Creat | Question::Rename | Question::RenameAt);
    Some((descriptor, at, if replaces { Change::Replacement } else { Change::Creation }))
}

/// Records a call that only attacks need.
fn denied(asked: &mut Asked<'_>, name: &str) -> Reply {
    let inspects = matches!(name, "ptrace" | "process_vm_readv" | "process_vm_writev" | "pidfd_getfd");
    let kind = if inspects { DenialKind::Process } else { DenialKind::Syscall };
    let program = asked.program();
    asked.record.denials.add(kind, name, &program, None);
    let family = name == "socket" && asked.int(0) != libc::AF_UNIX;
    Reply::fail(if family { Errno::EAFNOSUPPORT } else { Errno::EPERM })
}

/// Drops details until the report fits into a message. All attempts stay counted.
fn shorten(report: &mut Report) {
    let mut room = REPORT;
    report.denials.listed.retain(|denial| {
        let length = 2 * denial.target.len() + denial.program.len() + 64;
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    });
}
