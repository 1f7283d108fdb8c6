//! Those who hear of a task: the host that started it, and other processes that opened its folder.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::frames::{self, Fields, Read, Reader, Writer};
use super::protocol;

/// One who watches is told this often at most.
const INTERVAL: Duration = Duration::from_millis(10);
/// One who reads nothing is not waited for.
const PATIENCE: Duration = Duration::from_millis(100);

/// One of them.
pub struct Client {
    socket: OwnedFd,
    reader: Reader,
    host: bool,
    watch: Option<Watch>,
    told: Option<Instant>,
    /// The unfinished lines that it was told last.
    shown: Vec<String>,
    gone: bool,
}

/// What one waits for.
struct Watch {
    /// More output than this, bytes.
    from: u64,
    /// Or unfinished lines other than those that it was told last.
    pending: bool,
}

/// What one says.
pub enum Heard {
    /// The task is to be ended.
    End,
    /// Unfinished lines are to go into the log.
    Settle,
    /// Something that needs no answer.
    Other,
    /// Nothing, for now.
    Nothing,
    /// It has gone.
    Gone,
}

impl Client {
    /// One that has just come.
    pub fn new(socket: OwnedFd, host: bool) -> Self {
        Self::with(socket, Reader::default(), host)
    }

    /// One that was heard before.
    pub fn with(socket: OwnedFd, reader: Reader, host: bool) -> Self {
        Self { socket, reader, host, watch: None, told: None, shown: Vec::new(), gone: false }
    }

    /// Whether it is the process that started the command.
    pub fn is_host(&self) -> bool {
        self.host
    }

    /// To be waited for.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Whether it has said more already than was taken.
    pub fn has_frame(&self) -> bool {
        self.gone || self.reader.has_frame()
    }

    /// The next thing that it says.
    pub fn hear(&mut self) -> Heard {
        if self.gone {
            return Heard::Gone;
        }
        match self.reader.read(&self.socket) {
            Ok(Read::Frame(frame)) => match frame.kind {
                protocol::END => Heard::End,
                protocol::SETTLE => Heard::Settle,
                protocol::WATCH => {
                    let mut fields = Fields(&frame.body);
                    let from = fields.number().unwrap_or(0);
                    let pending = fields.number() == Some(1);
                    let watch = self.watch.get_or_insert(Watch { from, pending });
                    watch.from = watch.from.min(from);
                    watch.pending |= pending;
                    Heard::Other
                }
                _ => Heard::Other,
            },
            Ok(Read::Pending) => Heard::Nothing,
            Ok(Read::Closed) | Err(_) => Heard::Gone,
        }
    }

    /// Whether it waits for unfinished lines, and may be told now.
    pub fn wants_pending(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.pending) && self.may_be_told()
    }

    fn may_be_told(&self) -> bool {
        self.told.is_none_or(|told| told.elapsed() >= INTERVAL)
    }

    /// When it is to be told what it waits for, if that is there.
    pub fn due(&self, written: u64) -> Option<Instant> {
        let watch = self.watch.as_ref()?;
        let wanted = written > watch.from || watch.pending;
        let told = self.told.filter(|told| told.elapsed() < INTERVAL)?;
        wanted.then_some(told + INTERVAL)
    }

    /// Tells it how far the log has grown, if that is what it waits for.
    pub fn answer(&mut self, written: u64, pending: &[String]) {
        let Some(watch) = &self.watch else { return };
        let grown = written > watch.from;
        let nothing = |lines: &[String]| lines.iter().all(String::is_empty);
        let drawn = watch.pending && self.shown != pending && !(nothing(&self.shown) && nothing(pending));
        if !(grown || drawn) || !self.may_be_told() {
            return;
        }
        let mut body = Writer::default().number(written);
        self.shown = if watch.pending { pending.to_vec() } else { Vec::new() };
        for line in &self.shown {
            let start = line.floor_char_boundary(line.len().saturating_sub(protocol::MAX_PENDING));
            body = body.bytes(&line.as_bytes()[start..]);
        }
        self.watch = None;
        self.told = Some(Instant::now());
        self.tell(protocol::GREW, &body.finish());
    }

    /// Tells it something. One that does not read what it was told is left.
    pub fn tell(&mut self, kind: u8, body: &[u8]) {
        if frames::send_within(&self.socket, kind, body, PATIENCE).is_err() {
            self.gone = true;
        }
    }
}
