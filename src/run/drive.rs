//! A running command, driven until it has ended, its output is read and its listener has heard all of it.

use std::collections::VecDeque;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep_until};

use super::ending::{Driven, Unsettled, release};
use super::feed::Feed;
use super::journal::Journal;
use super::listener::{Listener, Reply, Snapshot};
use super::report::{Report, Rest};
use super::snapshots::Snapshots;
use super::stream::{Flow, Step};
use super::waits::Waits;
use crate::background::{Place, Task, end_marked};
use crate::capture::Stream;
use crate::plan::Kind;
use crate::pty::Typing;
use crate::request::Request;
use crate::supervise::{Cause, Child, Drain, Ended, Helpers, News, Pipes, Started};

/// The most text that one call of the listener gets, bytes.
pub(super) const BATCH: usize = 64 * 1024;
/// What a snapshot shows of each stream, bytes.
const SNAPSHOT: usize = 8 * 1024;
/// After the grace, until the command is settled whatever happens.
pub(super) const HARD_BOUND: Duration = Duration::from_secs(1);
/// A terminal may stay open this long: years.
const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);
/// For a shim to take a command over as a task.
pub(super) const TAKEN_OVER: Duration = Duration::from_secs(10);

pub struct Drive<'a, L> {
    pub(super) request: &'a Request,
    pub(super) child: Child,
    pub(super) stdout: Flow,
    pub(super) stderr: Option<Flow>,
    pub(super) feed: Feed,
    pub(super) listener: &'a L,
    pub(super) replies: &'a mut UnboundedReceiver<Reply>,
    pub(super) replies_open: bool,
    pub(super) began: Instant,
    pub(super) pid: Option<i32>,
    pub(super) end: Option<Result<Ended, Unsettled>>,
    pub(super) drain: Option<Drain>,
    pub(super) hard: Instant,
    pub(super) aborted: bool,
    pub(super) live: bool,
    pub(super) in_flight: bool,
    pub(super) queue: VecDeque<Stream>,
    pub(super) snapshots: Option<Snapshots>,
    pub(super) waits: Waits,
    pub(super) notes: Vec<String>,
    /// It moves to the background then.
    pub(super) moves_at: Option<Instant>,
    pub(super) journal: Option<Journal>,
    /// It is being moved: its pipes are read by somebody else from here on, unless it has just ended.
    pub(super) moving: Option<Place>,
    pub(super) moved: Option<Task>,
    /// Where the shell says that the command has ended, until it has.
    pub(super) report: Option<Report>,
    /// The folder that it said it was in.
    pub(super) folder: Option<PathBuf>,
    /// The command has ended, and its shell not yet.
    pub(super) early: bool,
    /// Into its terminal, if it has one.
    typing: Option<Typing>,
    /// Of its terminal, held until the shell has ended: what comes until then is not its end.
    other_end: Option<OwnedFd>,
}

impl<'a, L: Listener> Drive<'a, L> {
    pub fn new(
        request: &'a Request,
        started: Started,
        listener: &'a L,
        replies: &'a mut UnboundedReceiver<Reply>,
    ) -> io::Result<Self> {
        let began = Instant::now();
        let Started { child, pipes: Pipes { stdin, stdout, stderr, other_end }, shell } = started;
        Ok(Self {
            request,
            child,
            stdout: Flow::new(Stream::Stdout, stdout, request)?,
            stderr: stderr.map(|pipe| Flow::new(Stream::Stderr, pipe, request)).transpose()?,
            feed: Feed::new(stdin, request.stdin.as_deref().unwrap_or_default(), request.is_fed())?,
            listener,
            replies,
            replies_open: true,
            began,
            pid: shell.map(|(pid, _)| pid),
            end: None,
            drain: None,
            hard: began + request.shim_limit().unwrap_or(FOR_EVER) + request.grace + HARD_BOUND,
            aborted: false,
            live: request.live,
            in_flight: false,
            queue: VecDeque::new(),
            snapshots: Snapshots::of(request, began),
            waits: Waits::of(request, began),
            notes: Vec::new(),
            moves_at: request.limit.filter(|_| request.may_move()).map(|limit| began + limit),
            journal: Journal::of(request),
            moving: None,
            moved: None,
            report: request.report.as_ref().map(|pipe| Report::new(pipe.try_clone()?)).transpose()?,
            folder: None,
            early: false,
            typing: request.terminal.as_ref().map(Typing::of).transpose()?,
            other_end,
        })
    }

    /// Sees the command through. An error is the news that nothing was started.
    pub async fn run(mut self, helpers: &'static Helpers, kind: Option<&Arc<Kind>>) -> Result<Driven, News> {
        // A shell that waited is known already.
        self.tell_start();
        while !self.is_over() {
            let wake = self.wake_at();
            let (hold_stdout, hold_stderr) =
                (self.holds(&self.stdout), self.stderr.as_ref().is_none_or(|flow| self.holds(flow)));
            let news_expected = self.end.is_none();
            let behind = self.is_behind();
            tokio::select! {
                reply = self.replies.recv(), if self.replies_open => self.hear(reply),
                news = self.child.news(), if news_expected => {
                    if let Some(refused) = self.learn(news) {
                        return Err(refused);
                    }
                }
                () = reported(self.report.as_ref()), if news_expected => self.reported(),
                () = self.stdout.readable(), if !hold_stdout && !behind => self.read(Stream::Stdout),
                () = readable(self.stderr.as_ref()), if !hold_stderr => self.read(Stream::Stderr),
                () = tokio::task::yield_now(), if behind => self.draw_on(),
                () = typed(self.typing.as_ref()), if news_expected => {}
                () = self.feed.writable(), if self.moving.is_none() => self.write_input(),
                () = sleep_until(wake) => {
                    // The end may have been reported while this thread was kept from the processor.
                    if news_expected
                        && let Some(news) = self.child.news_now()
                        && let Some(refused) = self.learn(news)
                    {
                        return Err(refused);
                    }
                    self.tick();
                }
            }
        }
        self.feed.close();
        let elapsed = self.began.elapsed();
        let adoption = self.adoption();
        if adoption.is_some() || self.moved.is_some() {
            self.stdout.capture.break_off();
            self.stderr.iter_mut().for_each(|flow| flow.capture.break_off());
        }
        self.deliver_the_rest().await;
        self.note_waits();
        let Self { child, stdout, stderr, pid, end, mut notes, request, aborted, hard, moved, early, folder, .. } =
            self;
        let mut end = end.unwrap_or(Err(Unsettled::Limit));
        let mut rest = Rest { child: None, folder };
        let (survivors, task) = match (&mut end, &moved) {
            (_, Some(task)) => {
                if let Some(registry) = &request.registry {
                    registry.own(child.into_link(), task.clone());
                }
                helpers.replace();
                (Vec::new(), moved.clone())
            }
            (Ok(_), _) if early => {
                rest.child = Some(child);
                (Vec::new(), None)
            }
            (Ok(ended), _) if ended.alive => {
                let bound = if aborted { hard } else { Instant::now() };
                let adoption = request.registry.as_ref().zip(adoption);
                release(child, helpers, bound, &mut ended.cause, adoption).await
            }
            (Ok(ended), _) => {
                if ended.last {
                    child.leave(helpers)
                } else {
                    child.give_back(helpers, kind)
                }
                (Vec::new(), None)
            }
            (Err(_), _) => {
                child.abandon(helpers);
                end_marked(&request.mark).await;
                (Vec::new(), None)
            }
        };
        // From here on the shim alone has the pipes, if anybody still writes to them.
        let stdout = stdout.capture.finish();
        let stderr = stderr.map(|flow| flow.capture.finish());
        notes.extend(stdout.notes.iter().cloned());
        notes.extend(stderr.iter().flat_map(|captured| captured.notes.iter().cloned()));
        let moved = moved.is_some();
        Ok(Driven { pid: pid.unwrap_or(0), end, stdout, stderr, survivors, task, moved, elapsed, notes, rest })
    }

    /// Whether everything that is to be read was read.
    fn is_over(&self) -> bool {
        let open = self.stdout.is_open() || self.stderr.as_ref().is_some_and(Flow::is_open);
        match (&self.end, &self.drain) {
            _ if self.moved.is_some() || self.early => true,
            (Some(Err(Unsettled::Limit | Unsettled::Abort)), _) => true,
            (Some(_), _) if !open && !self.is_behind() => true,
            (Some(_), Some(drain)) => drain.is_over(Instant::now().into_std()) && !self.holds_any(),
            _ => false,
        }
    }

    /// The pipes were quiet for long enough, as far as this thread knows: it may have been kept from the processor itself.
    fn look_again(&mut self) {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let Some(flow) = flow(&mut self.stdout, &mut self.stderr, stream) else { continue };
            if flow.is_open() && flow.read_at_last() == Step::Output {
                self.heard(stream);
            }
        }
    }

    /// Whether a stream is not read now, since its listener or its place is waited for.
    fn holds(&self, flow: &Flow) -> bool {
        let full = self.request.terminal.as_ref().is_some_and(|terminal| terminal.is_full());
        self.moving.is_some() || full || flow.waits_for_place() || (self.live && flow.capture.live_bytes() >= BATCH)
    }

    pub(super) fn holds_any(&self) -> bool {
        self.holds(&self.stdout) || self.stderr.as_ref().is_some_and(|flow| self.holds(flow))
    }

    fn wake_at(&self) -> Instant {
        let drain = self.drain.filter(|_| !self.holds_any()).map(|drain| Instant::from_std(drain.until()));
        let snapshot = self.snapshots.as_ref().and_then(Snapshots::wake_at);
        // After the end only the listener of a command that was ended can still be waited for too long.
        let heard = self.live || self.data_waits();
        let hard = (self.end.is_none() || (heard && self.was_ended())).then_some(self.hard);
        let moves = self.moves_at.filter(|_| self.end.is_none());
        [drain, snapshot, hard, moves, self.looks_at()]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or_else(|| Instant::now() + Duration::from_secs(3600))
    }

    /// Takes a shim's news in. Some of them say that nothing was started.
    fn learn(&mut self, news: News) -> Option<News> {
        match news {
            News::Started(pid) => {
                self.pid = Some(pid);
                self.tell_start();
            }
            News::Ended(ended) => self.ended(Ok(ended)),
            News::Released(_) | News::Broken(_) | News::Prepared(..) => {}
            News::Waits(at_limit, wait) => self.waits(at_limit, wait),
            News::Task(task) => self.take_over(*task),
            News::Refused(errno) => {
                let reason = std::io::Error::from_raw_os_error(errno).to_string();
                self.stay(reason);
            }
            // Not to be tried again: nobody wants it any more.
            News::Lost { untaken: true } if self.aborted => self.ended(Err(Unsettled::Abort)),
            News::Failed(_) | News::Lost { untaken: true } => return Some(news),
            News::Lost { untaken: false } => self.ended(Err(Unsettled::Lost)),
        }
        None
    }

    fn tell_start(&self) {
        if let (true, Some(pid)) = (self.request.starts, self.pid) {
            self.listener.started(pid, &self.request.cwd);
        }
    }

    pub(super) fn ended(&mut self, end: Result<Ended, Unsettled>) {
        if let Ok(Ended { cause: Cause::Broken(_), .. }) = end {
            // As after any kill: the listener is not waited for any longer.
            self.hard = self.hard.min(Instant::now() + HARD_BOUND);
        }
        self.end = Some(end);
        self.other_end = None;
        // It has ended before it could be moved.
        (self.moving, self.journal) = (None, None);
        self.drain = Some(Drain::begin(Instant::now().into_std()));
        self.feed.close();
        if self.request.streams.is_some() {
            self.tell_fed();
            self.listener.ended();
        }
    }

    /// Writes what its standard input takes now.
    pub(super) fn write_input(&mut self) {
        self.feed.write();
        self.tell_fed();
    }

    fn tell_fed(&mut self) {
        if let Some(open) = self.feed.told() {
            self.listener.fed(open);
        }
    }

    fn read(&mut self, stream: Stream) {
        let Some(flow) = flow(&mut self.stdout, &mut self.stderr, stream) else { return };
        if flow.read() != Step::Nothing {
            self.heard(stream);
        }
    }

    pub(super) fn heard(&mut self, stream: Stream) {
        if let Some(drain) = &mut self.drain {
            drain.heard(Instant::now().into_std());
        }
        self.note_output(stream);
    }

    /// After a stream has got more: is it to be written out, is somebody to hear of it?
    pub(super) fn note_output(&mut self, stream: Stream) {
        let Some(flow) = flow(&mut self.stdout, &mut self.stderr, stream) else { return };
        if let Some(journal) = &mut self.journal {
            journal.push(&flow.capture.take_journal());
        }
        if flow.capture.wants_spill() && flow.spill(self.request) {
            self.listener.allocate(stream);
        }
        self.waits.touch();
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.touch();
        }
        if self.live && flow.capture.live_bytes() > 0 && !self.queue.contains(&stream) {
            self.queue.push_back(stream);
        }
        self.deliver();
        self.deliver_data();
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if self.drain.is_some_and(|drain| now.into_std() >= drain.until()) {
            self.look_again();
            if let Some(drain) = &mut self.drain {
                drain.looked(now.into_std());
            }
        }
        if self.moves_at.is_some_and(|at| now >= at) && self.end.is_none() && self.pid.is_some() {
            self.moves_at = None;
            self.hand_over();
        }
        if now >= self.hard && self.end.is_none() {
            self.ended(Err(if self.aborted { Unsettled::Abort } else { Unsettled::Limit }));
        } else if now >= self.hard && self.was_ended() {
            self.give_listener_up();
        }
        self.look_for_waits(now);
        let (Some(pid), Some(snapshots)) = (self.pid, &mut self.snapshots) else { return };
        let (stdout, stderr) = (&self.stdout, self.stderr.as_ref());
        if let Some([stdout, stderr]) = snapshots.next(now, || [Some(stdout), stderr].map(tail)) {
            self.listener.snapshot(Snapshot { pid, stdout, stderr, elapsed: self.began.elapsed() });
        }
    }
}

pub(super) fn flow<'f>(stdout: &'f mut Flow, stderr: &'f mut Option<Flow>, stream: Stream) -> Option<&'f mut Flow> {
    match stream {
        Stream::Stdout => Some(stdout),
        Stream::Stderr => stderr.as_mut(),
    }
}

fn tail(flow: Option<&Flow>) -> String {
    flow.map(|flow| flow.capture.tail(SNAPSHOT)).unwrap_or_default()
}

async fn reported(report: Option<&Report>) {
    match report {
        Some(report) => report.readable().await,
        None => std::future::pending().await,
    }
}

async fn typed(typing: Option<&Typing>) {
    match typing {
        Some(typing) => typing.go_on().await,
        None => std::future::pending().await,
    }
}

async fn readable(flow: Option<&Flow>) {
    match flow {
        Some(flow) => flow.readable().await,
        None => std::future::pending().await,
    }
}
