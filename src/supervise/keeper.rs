//! What a shim does for a task besides running it: reads its pipes, writes its log and its state, and answers whoever
//! asks for it, in the host and in other processes.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags};

use super::clients::{Client, Heard};
use super::feed::Feed;
use super::outflow::Outflow;
use super::protocol;
use crate::background::{End, Log, Order, Store, Task};
use crate::sys;

/// What is read at once.
const CHUNK: usize = 256 * 1024;
/// Reads of one pipe before the rest of the world gets its turn.
const READS_PER_TURN: usize = 4;
/// Between reads of output that is dropped: a writer that is never satisfied is slowed down to what hurts nobody.
const PACE: Duration = Duration::from_millis(2);

/// What those who asked want of the shim itself.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Wishes {
    /// The task is to be ended.
    pub end: bool,
    /// The host has gone.
    pub host_gone: bool,
}

/// A task that is kept.
pub struct Keeper {
    store: Store,
    order: Order,
    task: Task,
    log: Log,
    flows: Vec<Outflow>,
    feed: Option<Feed>,
    listener: Option<UnixListener>,
    clients: Vec<Client>,
    wishes: Wishes,
    buffer: Vec<u8>,
    /// When output came last.
    heard: Option<Instant>,
    /// Until then nothing is read.
    paused: Option<Instant>,
}

/// What a task begins with.
pub struct Beginning {
    /// What was asked for.
    pub order: Order,
    /// Its log, new or with what came so far.
    pub log: Log,
    /// Its output.
    pub flows: Vec<Outflow>,
    /// What is still to be written to its standard input.
    pub feed: Option<Feed>,
}

impl Keeper {
    /// From here on the task is there for everybody. On an error nothing of it is.
    pub fn begin(beginning: Beginning, pid: i32, mark: &str, started_at: u64) -> io::Result<Self> {
        let Beginning { order, log, flows, feed } = beginning;
        let store = Store::at(order.folder.clone());
        let listener = order.detached.then(|| listen(&store, &order.id)).transpose();
        let pgid = nix::unistd::getpgid(Some(nix::unistd::Pid::from_raw(pid))).map_or(pid, nix::unistd::Pid::as_raw);
        let mut task = Task::begin(&order, pid, pgid, mark, started_at);
        if let Err(error) = &listener {
            // Not every file system has sockets. Other processes then see the task, and can end it less gently.
            task.notes.push(format!("other processes cannot speak with its shim: {error}"));
        }
        if let Err(error) = store.write(&task) {
            let _ = std::fs::remove_file(store.socket_path(&order.id));
            return Err(error);
        }
        Ok(Self {
            store,
            order,
            task,
            log,
            flows,
            feed,
            listener: listener.ok().flatten(),
            clients: Vec::new(),
            wishes: Wishes::default(),
            buffer: vec![0; CHUNK],
            heard: None,
            paused: None,
        })
    }

    /// Tells somebody of the task from here on.
    pub fn join(&mut self, mut client: Client) {
        client.tell(protocol::TASK, &encode(&self.task));
        self.clients.push(client);
    }

    /// The host had gone before it could hear of the task.
    pub fn lose_host(&mut self) {
        self.wishes.host_gone = true;
    }

    /// Whether it outlives the host.
    pub fn is_detached(&self) -> bool {
        self.order.detached
    }

    /// What was asked for.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// What those who asked want; said once.
    pub fn take_wishes(&mut self) -> Wishes {
        std::mem::take(&mut self.wishes)
    }

    /// A note for whoever looks at the task, and for whoever reads its log.
    pub fn note(&mut self, note: String) {
        self.settle(true);
        self.log.write_line(&format!("[{note}]"));
        self.task.notes.push(note);
    }

    /// Whether somebody may still write.
    pub fn is_open(&self) -> bool {
        self.flows.iter().any(|flow| flow.pipe().is_some())
    }

    /// When output came last.
    pub fn heard(&self) -> Option<Instant> {
        self.heard
    }

    /// The pipes that are open.
    pub fn pipes(&self) -> Vec<BorrowedFd<'_>> {
        self.flows.iter().filter_map(Outflow::pipe).map(AsFd::as_fd).collect()
    }

    /// When there is something to do without being woken.
    pub fn wake_at(&self) -> Option<Instant> {
        let settle = self.flows.iter().filter_map(Outflow::settle_at);
        let news = self.clients.iter().filter_map(|client| client.due(self.log.written()));
        settle.chain(news).chain(self.paused).min()
    }

    /// Adds the descriptors to be waited for; their answers go to [`Keeper::serve`] in the same order.
    pub fn poll_fds<'fds>(&'fds self, fds: &mut Vec<PollFd<'fds>>) {
        let read = |fd: BorrowedFd<'fds>| PollFd::new(fd, PollFlags::POLLIN);
        fds.extend(self.listener.iter().map(|listener| read(listener.as_fd())));
        fds.extend(self.clients.iter().map(|client| read(client.socket())));
        fds.extend(self.feed.iter().map(|feed| PollFd::new(feed.pipe(), PollFlags::POLLOUT)));
        if self.paused.is_none() {
            fds.extend(self.flows.iter().filter_map(Outflow::pipe).map(|pipe| read(pipe.as_fd())));
        }
    }

    /// Does what is to be done: reads, writes, hears, answers.
    pub fn serve(&mut self, mut answers: impl Iterator<Item = bool>) {
        let called = self.listener.is_some() && answers.next().unwrap_or(false);
        let asked: Vec<bool> = self.clients.iter().map(|_| answers.next().unwrap_or(false)).collect();
        let fed = self.feed.is_some() && answers.next().unwrap_or(false);
        if let Some(feed) = &mut self.feed
            && fed
            && feed.write()
        {
            self.feed = None;
        }
        self.read();
        for (index, asked) in asked.into_iter().enumerate().rev() {
            if asked || self.clients[index].has_frame() {
                self.hear(index);
            }
        }
        if called {
            self.accept();
        }
        self.settle(false);
        self.answer();
    }

    /// Whether there is something to do already that nothing will wake the shim for: a client has said more than was taken,
    /// or the host was gone before it could be listened to.
    pub fn has_news(&self) -> bool {
        self.wishes != Wishes::default() || self.clients.iter().any(Client::has_frame)
    }

    /// Reads what is there, as far as one turn goes. Returns whether there was anything.
    pub fn read(&mut self) -> bool {
        let now = Instant::now();
        if self.paused.is_some_and(|until| now < until) {
            return false;
        }
        self.paused = None;
        let Self { flows, log, buffer, .. } = self;
        let mut busy = false;
        let mut any = false;
        for flow in flows {
            for turn in 1..=READS_PER_TURN {
                let Some(count) = flow.read(buffer, &mut |text| log.write(text)) else { break };
                any = true;
                busy |= turn == READS_PER_TURN;
                if count < buffer.len() / 4 {
                    break;
                }
            }
        }
        if any {
            self.heard = Some(now);
        }
        if busy && self.log.is_stopped() {
            self.paused = Some(Instant::now() + PACE);
        }
        any
    }

    fn settle(&mut self, at_once: bool) {
        let Self { flows, log, .. } = self;
        for flow in flows {
            flow.settle(at_once, &mut |text| log.write(text));
        }
    }

    fn hear(&mut self, index: usize) {
        loop {
            match self.clients[index].hear() {
                Heard::End => self.wishes.end = true,
                Heard::Settle => self.settle(true),
                Heard::Nothing => return,
                Heard::Other => {}
                Heard::Gone => {
                    let client = self.clients.remove(index);
                    self.wishes.host_gone |= client.is_host();
                    return;
                }
            }
        }
    }

    fn accept(&mut self) {
        while let Some(Ok((stream, _))) = self.listener.as_ref().map(UnixListener::accept) {
            self.join(Client::new(OwnedFd::from(stream), false));
        }
    }

    /// Tells those who watch for it how far the log has grown.
    fn answer(&mut self) {
        let pending: Vec<String> = if self.clients.iter().any(Client::wants_pending) {
            self.flows.iter().map(Outflow::pending).collect()
        } else {
            Vec::new()
        };
        for client in &mut self.clients {
            client.answer(self.log.written(), &pending);
        }
    }

    /// The end of the task: state first, so that nobody takes the closing line for output. Gives back what goes on.
    pub fn end(mut self, end: End) -> (Vec<Outflow>, Vec<Client>) {
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
        let body = encode(&self.task);
        for client in &mut self.clients {
            client.tell(protocol::TASK_ENDED, &body);
        }
        (self.flows, self.clients)
    }

    /// Takes all files of a task away that ends with its host.
    pub fn discard(self) {
        self.store.remove(&self.task.id);
        self.store.remove_if_empty();
    }
}

fn encode(task: &Task) -> Vec<u8> {
    serde_json::to_vec(task).unwrap_or_default()
}

fn listen(store: &Store, id: &str) -> io::Result<UnixListener> {
    let folder = File::open(store.path())?;
    let listener = UnixListener::bind(sys::short_path(&folder, &store.socket_path(id)))?;
    listener.set_nonblocking(true)?;
    store.protect(id);
    Ok(listener)
}
