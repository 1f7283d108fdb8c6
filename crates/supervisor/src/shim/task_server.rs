//! The task server in a task's shim. It reads the pipes, writes the log and the state, and answers clients in the host
//! and in other processes.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};
use nix::unistd::Pid;

use super::denial_news::DenialNews;
use super::task_client::{ClientRequest, TaskClient};
use super::task_input_writer::TaskInputWriter;
use super::task_output_reader::TaskOutputReader;
use confine_policy::{CommandDenials, ConfinementMechanism, SecretUses};
use protocol::SilenceWatch;
use protocol::plan::ChangeJournalOutcome;
use protocol::task::{Task, TaskChangeJournal, TaskEnd, TaskLog, TaskSpec, TaskStore};
use protocol::{EndedBy, FromTask, SurvivingProcess};
use sys::ResourceUsage;

/// Most bytes per read.
const CHUNK: usize = 256 * 1024;
/// Reads of one pipe before other descriptors get their turn.
const READS_PER_TURN: usize = 4;
/// Pause between reads of output that is dropped. It slows an endless writer down to a harmless rate.
const PACE: Duration = Duration::from_millis(2);

/// Events that the shim has to act on.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TaskRequests {
    /// A client has asked for the end of the task.
    pub end: bool,
    /// The host is gone.
    pub host_gone: bool,
    /// The world has denied an operation.
    pub denied: bool,
}

/// A task server.
pub struct TaskServer {
    store: TaskStore,
    spec: TaskSpec,
    task: Task,
    log: TaskLog,
    outputs: Vec<TaskOutputReader>,
    feed: Option<TaskInputWriter>,
    listener: Option<UnixListener>,
    clients: Vec<TaskClient>,
    requests: TaskRequests,
    buffer: Vec<u8>,
    times: OutputTimes,
    news: DenialNews,
}

/// When a task writes, and when its output is read.
struct OutputTimes {
    /// When the last output arrived.
    last: Option<Instant>,
    /// When reading goes on, if it is paused.
    paused: Option<Instant>,
    silence: SilenceWatch,
}

/// The parts that a task begins with.
pub struct TaskStart {
    /// The task as the caller asked for it.
    pub spec: TaskSpec,
    /// The log, new or with the output so far.
    pub log: TaskLog,
    /// The readers of the output pipes.
    pub outputs: Vec<TaskOutputReader>,
    /// The writer of the remaining input.
    pub feed: Option<TaskInputWriter>,
    /// The cgroup with only the processes of the task.
    pub cgroup: Option<PathBuf>,
}

impl TaskServer {
    /// Publishes the task. On an error no server runs and no socket is left.
    pub fn begin(beginning: TaskStart, pid: i32, mark: &str, started_at: u64) -> io::Result<Self> {
        let TaskStart { spec, log, outputs, feed, cgroup } = beginning;
        let store = TaskStore::at(spec.folder.clone());
        let listener = spec.detached.then(|| listen(&store, &spec.id)).transpose();
        let shell = Pid::from_raw(pid);
        // The state file is for readers on the host.
        let pid = sys::host_pid(shell).unwrap_or(shell).as_raw();
        let pgid = sys::host_group(shell).map_or(pid, Pid::as_raw);
        let mut task = Task { cgroup, ..Task::begin(&spec, pid, pgid, mark, started_at) };
        if let Err(error) = &listener {
            // Some file systems have no sockets. Without a socket, other processes see the task, but can terminate it
            // only less gently.
            task.notes.push(format!("other processes cannot speak with its shim: {error}"));
        }
        if let Err(error) = store.write(&task) {
            let _ = std::fs::remove_file(store.socket_path(&spec.id));
            return Err(error);
        }
        let idle = spec.idle_ms.map(Duration::from_millis);
        Ok(Self {
            store,
            spec,
            task,
            log,
            outputs,
            feed,
            listener: listener.ok().flatten(),
            clients: Vec::new(),
            requests: TaskRequests::default(),
            buffer: vec![0; CHUNK],
            times: OutputTimes { last: None, paused: None, silence: SilenceWatch::begin(idle, Instant::now()) },
            news: DenialNews::default(),
        })
    }

    /// Adds a client, and sends it the task.
    pub fn join(&mut self, mut client: TaskClient) {
        client.send(FromTask::Task(Box::new(self.task.clone())));
        self.clients.push(client);
    }

    /// Records that the host was gone before it could receive the task.
    pub fn lose_host(&mut self) {
        self.requests.host_gone = true;
    }

    /// Returns the path of the log.
    pub fn log_path(&self) -> PathBuf {
        self.store.log_path(&self.spec.id)
    }

    /// Connects the task with its world: the directory by which other hosts join the world, and the news of denials.
    pub fn enter_world(&mut self, home: Option<&Path>, news: DenialNews, denials: CommandDenials) {
        // A state file is text, so the path has to be text.
        // Without namespaces it cannot be joined. It names the servers of the task.
        let is_beside =
            self.spec.confinement.as_ref().is_some_and(|confinement| confinement.way == ConfinementMechanism::Listener);
        let is_kept = |home: &&Path| (self.spec.joins || is_beside) && home.to_str().is_some();
        self.task.world = home.filter(is_kept).map(Path::to_owned);
        self.news = news;
        self.add_denials(denials);
        if self.task.world.is_some() {
            let _ = self.store.write(&self.task);
        }
    }

    /// Adds to the state that the changes of the task are recorded in this store.
    pub fn begin_record(&mut self, store: &Path) {
        self.task.record = Some(TaskChangeJournal { store: store.to_owned(), end: None });
        let _ = self.store.write(&self.task);
    }

    /// Adds to the state the outcome of the task's record, and the processes that are left. The last state is written
    /// at the end.
    pub fn end_record(&mut self, end: ChangeJournalOutcome, left: Vec<SurvivingProcess>) {
        self.task.end_record(end);
        self.task.left = left;
    }

    /// Adds the cause of the end and the resources that the task used to its last state, which is written later.
    pub fn conclude(&mut self, ended_by: Option<EndedBy>, usage: ResourceUsage) {
        (self.task.ended_by, self.task.usage) = (ended_by, Some(usage));
    }

    /// Stops waiting for announcements.
    pub fn end_announcements(&mut self) {
        self.news.end_announcements();
    }

    /// Adds denials to the state.
    pub fn add_denials(&mut self, denials: CommandDenials) {
        if let Some(confinement) = &mut self.task.confinement
            && !denials.is_empty()
        {
            confinement.denials.merge(denials);
            // The last state is written at the end, which reports a failure.
            let _ = self.store.write(&self.task);
        }
    }

    /// Returns what secrets were used for so far.
    pub fn secret_uses(&self) -> Option<&SecretUses> {
        self.task.confinement.as_ref().map(|confinement| &confinement.denials.secrets)
    }

    /// Returns whether the task outlives the host.
    pub fn is_detached(&self) -> bool {
        self.spec.detached
    }

    /// Returns the task as the caller asked for it.
    pub fn spec(&self) -> &TaskSpec {
        &self.spec
    }

    /// Returns the events since the last call.
    pub fn take_requests(&mut self) -> TaskRequests {
        std::mem::take(&mut self.requests)
    }

    /// Adds a note to the state and to the log.
    pub fn note(&mut self, note: String) {
        self.settle(true);
        self.log.write_line(&format!("[{note}]"));
        self.task.notes.push(note);
    }

    /// Returns whether a process may still write output.
    pub fn is_open(&self) -> bool {
        self.outputs.iter().any(|output| output.pipe().is_some())
    }

    /// Returns when the last output arrived.
    pub fn last_output(&self) -> Option<Instant> {
        self.times.last
    }

    /// Returns whether the task has just reached the limit on its silence. From then on the limit no longer applies. It
    /// does not apply either once the tree is being terminated.
    pub fn is_silent(&mut self, is_ending: bool, now: Instant) -> bool {
        if is_ending {
            self.times.silence.stop();
        }
        // The task may have written while this process had no processor time.
        let silent = self.times.silence.is_due(now) && !self.read() && self.times.silence.is_due(now);
        if silent {
            self.times.silence.on_reached();
        }
        silent
    }

    /// Returns the longest silence that was allowed, if it was reached.
    pub fn silent_for(&self) -> Option<Duration> {
        self.times.silence.reached()
    }

    /// Lifts the limit on silence, because the shell has exited.
    pub fn allow_silence(&mut self) {
        self.times.silence.stop();
    }

    /// Returns the pipes that are open.
    pub fn pipes(&self) -> Vec<BorrowedFd<'_>> {
        self.outputs.iter().filter_map(TaskOutputReader::pipe).map(AsFd::as_fd).collect()
    }

    /// Returns when the server has to act even if no descriptor is ready.
    pub fn wake_at(&self) -> Option<Instant> {
        let settle = self.outputs.iter().filter_map(TaskOutputReader::settle_at);
        let answers = self.clients.iter().filter_map(TaskClient::due);
        settle.chain(answers).chain(self.news.due()).chain(self.times.paused).chain(self.times.silence.due_at()).min()
    }

    /// Adds the descriptors to poll. Their answers go to [`TaskServer::serve`] in the same order.
    pub fn poll_fds<'fds>(&'fds self, fds: &mut Vec<PollFd<'fds>>) {
        let read = |fd: BorrowedFd<'fds>| PollFd::new(fd, PollFlags::POLLIN);
        fds.extend(self.listener.iter().map(|listener| read(listener.as_fd())));
        fds.extend(self.clients.iter().map(|client| read(client.socket())));
        fds.extend(self.feed.iter().map(|feed| PollFd::new(feed.pipe(), PollFlags::POLLOUT)));
        fds.extend(self.news.awaited().map(read));
        if self.times.paused.is_none() {
            fds.extend(self.outputs.iter().filter_map(TaskOutputReader::pipe).map(|pipe| read(pipe.as_fd())));
        }
    }

    /// Reads output, writes input, handles requests and answers clients.
    pub fn serve(&mut self, mut answers: impl Iterator<Item = bool>) {
        let called = self.listener.is_some() && answers.next().unwrap_or(false);
        let asked: Vec<bool> = self.clients.iter().map(|_| answers.next().unwrap_or(false)).collect();
        let fed = self.feed.is_some() && answers.next().unwrap_or(false);
        let announced = self.news.awaited().is_some() && answers.next().unwrap_or(false);
        self.requests.denied |= self.news.is_due(announced, Instant::now());
        if let Some(feed) = &mut self.feed
            && fed
            && feed.write()
        {
            self.feed = None;
        }
        self.read();
        for (index, asked) in asked.into_iter().enumerate().rev() {
            if asked || self.clients[index].has_frame() {
                self.on_readable(index);
            }
        }
        if called {
            self.accept();
        }
        self.settle(false);
        self.answer();
    }

    /// Returns whether work is left that no descriptor reports: a whole frame was received already, or the host was
    /// gone before it became a client.
    pub fn has_work(&self) -> bool {
        self.requests != TaskRequests::default() || self.clients.iter().any(TaskClient::has_frame)
    }

    /// Reads the available output, up to the share of one turn. Returns whether there was any.
    pub fn read(&mut self) -> bool {
        let now = Instant::now();
        if self.times.paused.is_some_and(|until| now < until) {
            return false;
        }
        self.times.paused = None;
        let Self { outputs, log, buffer, .. } = self;
        let mut busy = false;
        let mut any = false;
        for output in outputs {
            for turn in 1..=READS_PER_TURN {
                let Some(count) = output.read(buffer, &mut |text| log.write(text)) else { break };
                any = true;
                busy |= turn == READS_PER_TURN;
                if count < buffer.len() / 4 {
                    break;
                }
            }
        }
        if any {
            self.times.last = Some(now);
            self.times.silence.on_output(now);
        }
        if busy && self.log.is_stopped() {
            self.times.paused = Some(Instant::now() + PACE);
        }
        any
    }

    fn settle(&mut self, at_once: bool) {
        let Self { outputs, log, .. } = self;
        for output in outputs {
            output.settle(at_once, &mut |text| log.write(text));
        }
    }

    fn on_readable(&mut self, index: usize) {
        loop {
            match self.clients[index].next_request() {
                ClientRequest::End => self.requests.end = true,
                ClientRequest::Settle => self.settle(true),
                ClientRequest::Nothing => return,
                ClientRequest::Other => {}
                ClientRequest::Gone => {
                    let client = self.clients.remove(index);
                    self.requests.host_gone |= client.is_host();
                    return;
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(UnixListener::accept) {
            self.join(TaskClient::new(OwnedFd::from(stream), false));
        }
    }

    /// Reports the growth of the log to the clients that wait for it.
    fn answer(&mut self) {
        // Both questions refer to the same moment. A client that was not asked about unfinished lines must not learn
        // that none are left.
        let now = Instant::now();
        let pending: Vec<String> = if self.clients.iter().any(|client| client.wants_pending(now)) {
            self.outputs.iter().map(TaskOutputReader::pending).collect()
        } else {
            Vec::new()
        };
        for client in &mut self.clients {
            client.answer(now, self.log.written(), &pending);
        }
    }

    /// Ends the task. The state is written first, so that no client takes the closing line of the log for output.
    /// Returns the readers and the clients, for a task of the survivors.
    pub fn end(mut self, end: TaskEnd) -> (Vec<TaskOutputReader>, Vec<TaskClient>) {
        self.settle(true);
        if let Some(failure) = self.log.failure() {
            self.task.notes.push(format!("its log is incomplete: {failure}"));
        }
        self.task.end(end, self.log.written());
        let kept = self.store.write(&self.task);
        self.log.close(&self.task);
        let _ = std::fs::remove_file(self.store.socket_path(&self.task.id));
        if let Err(error) = kept {
            self.task.notes.push(format!("its state could not be written: {error}"));
        }
        for client in &mut self.clients {
            client.send(FromTask::Ended(Box::new(self.task.clone())));
        }
        (self.outputs, self.clients)
    }

    /// Removes all files of a task that ends with its host.
    pub fn discard(self) {
        self.store.remove(&self.task.id);
        self.store.remove_if_empty();
    }
}

fn listen(store: &TaskStore, id: &str) -> io::Result<UnixListener> {
    let folder = File::open(store.path())?;
    let listener = UnixListener::bind(sys::short_path(&folder, &store.socket_path(id)))?;
    listener.set_nonblocking(true)?;
    store.protect(id);
    Ok(listener)
}

#[cfg(test)]
#[path = "task_server_tests.rs"]
mod tests;
