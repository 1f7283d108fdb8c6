//! The addon's side of a task: it hears how its log grows and how it ends, and may have it ended.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::background::Task;
use crate::supervise::frames::{self, Fields, Read, Reader, Writer};
use crate::supervise::protocol;
use crate::sys;

/// What a shim has to say of its task.
#[derive(Debug)]
pub enum LinkNews {
    /// This is the task that it keeps from here on.
    Task(Box<Task>),
    /// It has ended so.
    Ended(Box<Task>),
    /// Its log has so many bytes of output; unfinished lines that are not in it, if they were asked for.
    Grew(u64, Vec<String>),
    /// The shim is gone, or does not speak with this process any more.
    Lost,
}

/// A way to the shim of a task.
pub struct Link {
    socket: Arc<AsyncFd<OwnedFd>>,
    reader: Reader,
}

/// The speaking half of a [`Link`]. What cannot be said any more is not: the shim is gone then, and the link tells.
#[derive(Clone)]
pub struct Speaker(Arc<AsyncFd<OwnedFd>>);

/// To a task of another process, by its socket.
pub fn connect(path: &Path) -> io::Result<Link> {
    let folder = File::open(path.parent().unwrap_or(Path::new("/")))?;
    let stream = UnixStream::connect(sys::short_path(&folder, path))?;
    stream.set_nonblocking(true)?;
    Ok(Link::new(sys::watch(stream.into(), Interest::READABLE | Interest::WRITABLE)?, Reader::default()))
}

impl Link {
    pub(super) fn new(socket: AsyncFd<OwnedFd>, reader: Reader) -> Self {
        Self { socket: Arc::new(socket), reader }
    }

    /// To speak while somebody listens.
    pub fn speaker(&self) -> Speaker {
        Speaker(Arc::clone(&self.socket))
    }

    /// The next piece of news. May be dropped while it waits; nothing is lost.
    pub async fn news(&mut self) -> LinkNews {
        loop {
            match self.reader.read(self.socket.get_ref()) {
                Ok(Read::Frame(frame)) => {
                    let task = || serde_json::from_slice(&frame.body).ok();
                    let news = match frame.kind {
                        protocol::TASK => task().map(LinkNews::Task),
                        protocol::TASK_ENDED => task().map(LinkNews::Ended),
                        protocol::GREW => {
                            let mut fields = Fields(&frame.body);
                            let bytes = fields.number().unwrap_or(0);
                            let line = || fields.bytes().map(|line| String::from_utf8_lossy(line).into_owned());
                            Some(LinkNews::Grew(bytes, std::iter::from_fn(line).collect()))
                        }
                        _ => None,
                    };
                    if let Some(news) = news {
                        return news;
                    }
                }
                Ok(Read::Pending) => match self.socket.readable().await {
                    Ok(mut guard) => guard.clear_ready(),
                    Err(_) => return LinkNews::Lost,
                },
                Ok(Read::Closed) | Err(_) => return LinkNews::Lost,
            }
        }
    }
}

impl Speaker {
    /// Asks to be told once, when the log has more output than this, or an unfinished line changes.
    pub fn watch(&self, bytes: u64, pending: bool) {
        self.say(protocol::WATCH, &Writer::default().number(bytes).number(u64::from(pending)).finish());
    }

    /// Has unfinished lines written down.
    pub fn settle(&self) {
        self.say(protocol::SETTLE, &[]);
    }

    /// Has the task ended: SIGTERM, grace, SIGKILL.
    pub fn end(&self) {
        self.say(protocol::END, &[]);
    }

    fn say(&self, kind: u8, body: &[u8]) {
        let _ = frames::send(self.0.get_ref(), kind, body, &[]);
    }
}
