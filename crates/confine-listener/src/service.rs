//! The loop of a listener.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::answer_threads::AnswerThreads;
use super::caller::CallerTable;
use super::denial_log::{DenialLog, PolicyPaths};
use super::entry_location::SyscallReader;
use super::file_change_journal::FileChangeJournal;
use super::guarded_names::GuardedNames;
use super::host_network_fallback::HostNetworkFallback;
use super::linked_directories::LinkedDirectories;
use super::name_creation::{self, SyscallPathPair};
use super::pending_syscall::{ListenerState, PendingSyscall};
use super::perform::{self, WorldBounds};
use super::protocol::{self, FromListener, LinkReceiveOutcome, ListenerEndpoint, ListenerReport, MESSAGE, ToListener};
use super::refused_changes::{self, ChangedObject};
use super::remote_journal::RemoteJournal;
use super::repositories_left::RepositoriesLeft;
use super::settings::ListenerSettings;
use super::syscall_reply::SyscallReply;
use super::unrecorded_syscall::UnrecordedSyscall;
use super::{attributes, open, renames, sockets};
use confine_gate::{WorldStatusBoard, WorldStatusSlot};
use confine_policy::{CommandDenials, DenialKind};
use confine_world::{filter, filter::CREATES, filter::SyscallEntry, filter::SyscallHandling};
use sys::{NAMELESS, SyscallArchitecture};

/// Time between two looks at threads whose caller may be gone, ms.
const SWEEP: u16 = 200;
/// Time without a call after which the directories that are open here are left, ms.
const QUIET: u16 = 100;
/// The most bytes of text in a report.
const REPORT: usize = 48 * 1024;
const AT_FDCWD: i32 = libc::AT_FDCWD;

/// A command.
struct ListenedCommand {
    id: u64,
    /// The descriptor of the command's filter, as long as a process has that filter.
    listener: Option<Arc<OwnedFd>>,
    names: GuardedNames,
    record: DenialLog,
    /// The directories that it may have made repositories.
    left: RepositoriesLeft,
    /// The journal of the command's changes, if it has one.
    journal: Option<RemoteJournal>,
    ended: bool,
    /// Whether the command has made no call for a while, or none so far.
    rests: bool,
    /// Whether the shim wants an announcement of the next entry of the record.
    news: bool,
}

impl ListenedCommand {
    /// Tells the journal of the command that it makes no calls.
    fn report_rest(&mut self) {
        if let Some(journal) = self.journal.as_ref().filter(|_| !self.rests && !self.ended) {
            journal.set_resting(true);
        }
        self.rests = true;
    }

    /// Tells the journal of the command that it makes calls again.
    fn report_wake(&mut self) {
        if let Some(journal) = self.journal.as_ref().filter(|_| self.rests && !self.ended) {
            journal.set_resting(false);
        }
        self.rests = false;
    }
}

/// A listener.
pub(super) struct ListenerService {
    ends: ListenerEndpoint,
    /// Room for a message of the shim.
    buffer: Vec<u8>,
    /// The number that was posted last.
    posted: u64,
    table: Vec<Option<&'static SyscallEntry>>,
    commands: Vec<ListenedCommand>,
    shared: ListenerState,
}

impl ListenerService {
    pub fn new(mut ends: ListenerEndpoint, settings: ListenerSettings) -> Self {
        let mut paths = PolicyPaths::of(&settings.policy, settings.mounts);
        settings.held.iter().for_each(|held| paths.add(held.own_directories()));
        let table = SyscallArchitecture::HERE.map(filter::by_number).unwrap_or_default();
        sys::set_umask(0);
        let bounds = settings.held.clone().map(|held| WorldBounds::new(&settings.policy, held));
        let beside = ends.gate.take().zip(settings.loopback).map(|(gate, own)| HostNetworkFallback::new(gate, own));
        let (callers, threads) = (CallerTable::of_world(), AnswerThreads::default());
        let elsewhere = LinkedDirectories::default();
        let shared = ListenerState { settings, paths, bounds, beside, callers, threads, elsewhere, umask: 0 };
        Self { ends, buffer: vec![0; MESSAGE], posted: 0, table, commands: Vec::new(), shared }
    }

    /// Answers until the shim is gone.
    pub fn run(&mut self) -> io::Result<()> {
        loop {
            let listeners: Vec<Arc<OwnedFd>> =
                self.commands.iter().filter_map(|command| command.listener.clone()).collect();
            let ready = self.wait(&listeners)?;
            // Messages that the shim sent before a call was made take effect before its answer.
            if ready.first().is_some_and(|events| !events.is_empty()) && !self.handle_messages()? {
                return Ok(());
            }
            for (listener, events) in listeners.iter().zip(ready.iter().skip(1)) {
                if events.contains(PollFlags::POLLIN) {
                    self.answer(listener);
                } else if !events.is_empty() {
                    self.forget_filter(listener);
                }
            }
            if self.shared.threads.are_running() {
                self.shared.threads.sweep();
            }
            if ready.iter().all(|events| events.is_empty()) {
                self.shared.callers.leave_directories();
                // A call that takes its time may still make its change.
                if !self.shared.threads.are_running() {
                    self.commands.iter_mut().for_each(ListenedCommand::report_rest);
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
    fn handle_messages(&mut self) -> io::Result<bool> {
        loop {
            match protocol::receive(self.ends.socket.as_fd(), &mut self.buffer)? {
                LinkReceiveOutcome::Message(message, listener) => {
                    let is_journal = matches!(message, ToListener::Journal { .. });
                    self.handle_message(message)?;
                    match (listener, self.commands.last_mut()) {
                        (Some(socket), Some(last)) if is_journal => last.journal = Some(RemoteJournal::new(socket)),
                        (Some(listener), Some(last)) => {
                            sys::answer_on_callers_cpu(listener.as_fd());
                            last.listener = Some(Arc::new(listener));
                        }
                        _ => {}
                    }
                }
                LinkReceiveOutcome::Nothing => return Ok(true),
                LinkReceiveOutcome::Closed => return Ok(false),
            }
        }
    }

    fn handle_message(&mut self, message: ToListener) -> io::Result<()> {
        match message {
            ToListener::Guards { command, first, guards } => {
                self.begin_once(command);
                if let Some(known) = self.commands.iter_mut().find(|known| known.id == command) {
                    if first {
                        self.shared.bounds.iter_mut().for_each(WorldBounds::refresh_protection);
                        (known.names, known.record) = (GuardedNames::default(), DenialLog::default());
                    }
                    known.names.add(&guards);
                }
            }
            ToListener::Journal { command } => self.begin_once(command),
            ToListener::Take { command } => self.send_report(command, false)?,
            ToListener::End { command } => self.send_report(command, true)?,
        }
        Ok(())
    }

    /// Sends the record of a command, starts a new record, and ends the command with `last`.
    fn send_report(&mut self, command: u64, last: bool) -> io::Result<()> {
        let mut report = ListenerReport::default();
        if let Some(known) = self.commands.iter_mut().find(|known| known.id == command) {
            let DenialLog { mut denials, attempts } = std::mem::take(&mut known.record);
            if last {
                denials.merge(settle(known, &self.shared, &self.ends.board));
            }
            known.journal.iter().for_each(RemoteJournal::tell_names);
            report = ListenerReport { denials, attempts };
            (known.ended, known.news) = (last, !last);
            if !last && !known.left.is_empty() {
                // The end of the command is still to be asked for.
                self.posted += 1;
                self.ends.board.post(WorldStatusSlot::Records, self.posted)?;
            }
        }
        self.commands.retain(|command| !command.ended || command.listener.is_some());
        shorten(&mut report);
        protocol::send(self.ends.socket.as_fd(), &FromListener::Report(command, report))
    }

    fn begin_once(&mut self, command: u64) {
        if self.commands.last().is_none_or(|last| last.id != command) {
            self.begin_command(command);
        }
    }

    /// Begins a command, which ends all earlier commands.
    fn begin_command(&mut self, id: u64) {
        self.shared.callers.on_command();
        self.shared.elsewhere.forget();
        self.commands.iter_mut().for_each(|command| (command.ended, command.news) = (true, false));
        self.commands.retain(|command| command.listener.is_some());
        let (names, record) = (GuardedNames::default(), DenialLog::default());
        let (left, journal, listener) = (RepositoriesLeft::at_start_of_command(), None, None);
        let command =
            ListenedCommand { id, listener, names, record, left, journal, ended: false, rests: true, news: false };
        self.commands.push(command);
    }

    /// Forgets a filter that no process has.
    fn forget_filter(&mut self, listener: &Arc<OwnedFd>) {
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
        let owner = |command: &&mut ListenedCommand| {
            command.listener.as_ref().is_some_and(|known| Arc::ptr_eq(known, listener))
        };
        let Some(command) = self.commands.iter_mut().find(owner) else { return };
        let entry = self.table.get(call.number as usize).copied().flatten();
        command.report_wake();
        let ListenedCommand { id, names, record, left, journal, ended, news, .. } = command;
        let journal = journal.as_ref().filter(|_| !*ended);
        let is_untold = || journal.is_some_and(RemoteJournal::is_untold);
        let (before, was_untold) = ((record.entry_count(), left.is_empty()), is_untold());
        let mut asked = PendingSyscall { call, listener, names, record, left, shared: &mut self.shared };
        let reply = match entry {
            Some(entry) => {
                let noted = journal.map_or(Ok(()), |journal| report_to_journal(&mut asked, entry, journal, *id));
                noted.and_then(|()| find_reply(&mut asked, entry)).unwrap_or_else(SyscallReply::fail)
            }
            None => SyscallReply::fail(Errno::ENOSYS),
        };
        let touches_network =
            entry.is_some_and(|entry| matches!(entry.handling, SyscallHandling::Connect | SyscallHandling::SendTo));
        if touches_network || (record.entry_count(), left.is_empty()) != before || is_untold() && !was_untold {
            self.posted += 1;
            // If this fails, the shim misses the record, and nothing else is lost.
            let _ = self.ends.board.post(WorldStatusSlot::Records, self.posted);
        }
        if *ended {
            *record = DenialLog::default();
            left.settle_repositories(&self.shared.settings.policy, self.shared.bounds.as_ref(), None, true, &|| ());
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
fn settle(command: &mut ListenedCommand, shared: &ListenerState, board: &WorldStatusBoard) -> CommandDenials {
    let hung_up = |listener: &Arc<OwnedFd>| {
        let mut fds = [PollFd::new(listener.as_fd(), PollFlags::empty())];
        poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
    };
    let is_left = command.listener.as_ref().is_some_and(|listener| !hung_up(listener));
    let journal = command.journal.as_ref().map(|journal| journal as &dyn FileChangeJournal);
    let looked_into = Cell::new(board.read(WorldStatusSlot::LookedInto).unwrap_or_default());
    let on_look = || {
        looked_into.set(looked_into.get() + 1);
        // If this fails, the shim waits no longer than usual.
        let _ = board.post(WorldStatusSlot::LookedInto, looked_into.get());
    };
    command.left.settle_repositories(&shared.settings.policy, shared.bounds.as_ref(), journal, is_left, &on_look)
}

/// Reports the change that a call may make to the journal. Private directories have no journal.
fn report_to_journal(
    asked: &mut PendingSyscall<'_>,
    entry: &SyscallEntry,
    journal: &dyn FileChangeJournal,
    command: u64,
) -> Result<(), Errno> {
    asked.shared.callers.directories.begin_run(command);
    let change = SyscallReader { call: asked.call, callers: &mut asked.shared.callers }.change_of_syscall(entry);
    let names = asked.shared.callers.directories.take_names();
    if !names.is_empty() {
        journal.record_own_names(names);
    }
    match change {
        Ok(change) if asked.shared.paths.is_of_host(&change.spot.path()) => {
            asked.check_caller()?;
            let noted = journal.record_before(&change)?;
            asked.shared.callers.directories.note_change(&change, noted.own);
            Ok(())
        }
        Ok(_) | Err(UnrecordedSyscall::Nothing) => Ok(()),
        Err(UnrecordedSyscall::Missed(path, why)) => {
            asked.check_caller()?;
            journal.record_unfollowed(&path, why)
        }
    }
}

/// Finds the answer to a call.
fn find_reply(asked: &mut PendingSyscall<'_>, entry: &SyscallEntry) -> Result<SyscallReply, Errno> {
    if asked.shared.bounds.is_some() {
        return perform::perform_call(asked, entry).unwrap_or_else(|| reply_as_with_mounts(asked, entry));
    }
    if is_left_to_landlock(asked)
        && let Some((descriptor, at, change)) = path_of_creation(asked, entry.handling)
    {
        // Landlock sets the bounds, and names have no bounds.
        return refused_changes::record_refused_change(asked, descriptor, at, change);
    }
    reply_as_with_mounts(asked, entry)
}

/// Returns whether Landlock alone bounds the files that a caller may change.
fn is_left_to_landlock(asked: &PendingSyscall<'_>) -> bool {
    !asked.shared.settings.mounts && asked.shared.bounds.is_none()
}

/// Finds the answer to a call that mounts, Landlock or the judgement of names bound.
fn reply_as_with_mounts(asked: &mut PendingSyscall<'_>, entry: &SyscallEntry) -> Result<SyscallReply, Errno> {
    let two = |from, to| SyscallPathPair { from, to };
    match entry.handling {
        SyscallHandling::Denied | SyscallHandling::Socket => Ok(deny_call(asked, entry.name)),
        SyscallHandling::OpenAt => open_reply(asked, asked.int(0), 1, asked.int(2), asked.unsigned(3)),
        SyscallHandling::Open => open_reply(asked, AT_FDCWD, 0, asked.int(1), asked.unsigned(2)),
        SyscallHandling::Creat => open::open(asked, AT_FDCWD, 0, CREAT, asked.unsigned(1)),
        SyscallHandling::Mkdir => name_creation::create_directory(asked, AT_FDCWD, 0, asked.unsigned(1)),
        SyscallHandling::MkdirAt => name_creation::create_directory(asked, asked.int(0), 1, asked.unsigned(2)),
        SyscallHandling::Mknod => name_creation::node(asked, AT_FDCWD, 0, asked.unsigned(1)),
        SyscallHandling::MknodAt => name_creation::node(asked, asked.int(0), 1, asked.unsigned(2)),
        SyscallHandling::Symlink => name_creation::symlink(asked, 0, AT_FDCWD, 1),
        SyscallHandling::SymlinkAt => name_creation::symlink(asked, 0, asked.int(1), 2),
        SyscallHandling::Link => name_creation::link(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        SyscallHandling::LinkAt => name_creation::link(asked, &two((asked.int(0), 1), (asked.int(2), 3)), asked.int(4)),
        SyscallHandling::Rename => renames::rename(asked, &two((AT_FDCWD, 0), (AT_FDCWD, 1)), 0),
        SyscallHandling::RenameAt => {
            let flags = entry.rename_flags(&asked.call);
            renames::rename(asked, &two((asked.int(0), 1), (asked.int(2), 3)), flags)
        }
        SyscallHandling::Connect => sockets::connect(asked),
        SyscallHandling::Bind => sockets::bind(asked),
        SyscallHandling::SendTo => sockets::send(asked),
        SyscallHandling::Umask => {
            let umask = asked.unsigned(0) & 0o777;
            asked.shared.callers.set_umask(asked.call.thread, umask);
            Ok(SyscallReply::CONTINUE)
        }
        SyscallHandling::Process | SyscallHandling::Listen | SyscallHandling::Name => Ok(SyscallReply::CONTINUE),
        SyscallHandling::OpenAt2 | SyscallHandling::Watch => Err(Errno::ENOSYS),
        SyscallHandling::Entry(1) if asked.int(0) != AT_FDCWD => Ok(SyscallReply::CONTINUE),
        SyscallHandling::Entry(at) => refused_changes::record_refused_change(asked, AT_FDCWD, at, ChangedObject::Entry),
        SyscallHandling::Truncate if is_left_to_landlock(asked) => {
            refused_changes::record_refused_change(asked, AT_FDCWD, 0, ChangedObject::Contents)
        }
        SyscallHandling::Truncate
        | SyscallHandling::Chmod
        | SyscallHandling::ChmodAt
        | SyscallHandling::Fchmod
        | SyscallHandling::Descriptor
        | SyscallHandling::File(_)
        | SyscallHandling::Itself(_)
        | SyscallHandling::FileAt(..)
        | SyscallHandling::Times(_)
        | SyscallHandling::TimesAt(..) => attributes::change_attributes(asked, entry),
    }
}

/// The flags of `creat`.
const CREAT: i32 = libc::O_CREAT | libc::O_WRONLY | libc::O_TRUNC;

fn open_reply(
    asked: &mut PendingSyscall<'_>,
    descriptor: i32,
    at: usize,
    flags: i32,
    mode: u32,
) -> Result<SyscallReply, Errno> {
    // Landlock sets the bounds of existing files, or the kernel makes a new one.
    let is_existing = is_left_to_landlock(asked) && flags.cast_unsigned() & CREATES == 0;
    if is_existing || flags & NAMELESS != 0 {
        return refused_changes::record_refused_change(asked, descriptor, at, ChangedObject::Contents);
    }
    open::open(asked, descriptor, at, flags, mode)
}

/// Returns the path that a call creates: a descriptor, an argument, and the change to record.
fn path_of_creation(asked: &PendingSyscall<'_>, question: SyscallHandling) -> Option<(i32, usize, ChangedObject)> {
    let (descriptor, at) = match question {
        SyscallHandling::OpenAt if asked.unsigned(2) & CREATES != 0 => (asked.int(0), 1),
        SyscallHandling::Open if asked.unsigned(1) & CREATES != 0 => (AT_FDCWD, 0),
        SyscallHandling::Creat | SyscallHandling::Mkdir | SyscallHandling::Mknod => (AT_FDCWD, 0),
        SyscallHandling::MkdirAt | SyscallHandling::MknodAt => (asked.int(0), 1),
        SyscallHandling::Symlink | SyscallHandling::Link | SyscallHandling::Rename => (AT_FDCWD, 1),
        SyscallHandling::SymlinkAt => (asked.int(1), 2),
        SyscallHandling::LinkAt | SyscallHandling::RenameAt => (asked.int(2), 3),
        _ => return None,
    };
    let replaces = matches!(
        question,
        SyscallHandling::OpenAt
            | SyscallHandling::Open
            | SyscallHandling::Creat
            | SyscallHandling::Rename
            | SyscallHandling::RenameAt
    );
    Some((descriptor, at, if replaces { ChangedObject::Replacement } else { ChangedObject::Creation }))
}

/// Records a call that only attacks need.
fn deny_call(asked: &mut PendingSyscall<'_>, name: &str) -> SyscallReply {
    let inspects = matches!(name, "ptrace" | "process_vm_readv" | "process_vm_writev" | "pidfd_getfd");
    let kind = if inspects { DenialKind::Process } else { DenialKind::Syscall };
    let program = asked.program();
    asked.record.denials.add(kind, name, &program, None);
    let family = name == "socket" && asked.int(0) != libc::AF_UNIX;
    SyscallReply::fail(if family { Errno::EAFNOSUPPORT } else { Errno::EPERM })
}

/// Drops details until the report fits into a message. All attempts stay counted.
fn shorten(report: &mut ListenerReport) {
    let mut room = REPORT;
    report.denials.listed.retain(|denial| {
        let length = 2 * denial.target.len() + denial.program.len() + 64;
        let fits = length <= room;
        room -= if fits { length } else { 0 };
        fits
    });
}
