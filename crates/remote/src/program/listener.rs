//! Sends the events of a run to its host.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use crate::flow::{CREDIT, cost};
use crate::messages::Event;
use crate::post::Post;
use capture::OutputStream;
use runner::pty::Terminal;
use runner::run::{Allocation, Listener, LiveView, Prompt, Reply};

/// The output that was sent and not taken.
#[derive(Debug, Default)]
pub struct Credit(Mutex<Sent>);

#[derive(Debug, Default)]
struct Sent {
    cost: u64,
    /// Whether the command is held back until its listener takes more.
    held: bool,
}

impl Credit {
    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts output that was sent. Returns whether more may be.
    fn spend(&self, cost: u64) -> bool {
        let mut sent = self.sent();
        sent.cost += cost;
        sent.held = sent.cost >= CREDIT;
        !sent.held
    }

    /// Counts output that was taken. Returns whether a command that was held back goes on.
    pub fn taken(&self, cost: u64) -> bool {
        let mut sent = self.sent();
        sent.cost = sent.cost.saturating_sub(cost);
        let goes_on = sent.held && sent.cost < CREDIT;
        sent.held &= !goes_on;
        goes_on
    }
}

/// Sends the events of a run to its host.
pub struct Wire {
    pub post: Arc<Post>,
    pub run: u64,
    pub credit: Arc<Credit>,
    pub replies: UnboundedSender<Reply>,
    /// The terminal of the command, if it has one.
    pub terminal: Option<Arc<Terminal>>,
}

impl Wire {
    fn send(&self, event: &Event) -> bool {
        self.post.send(self.run, event).is_ok()
    }

    fn reply(&self, reply: Reply) {
        // The run may be ending.
        let _gone = self.replies.send(reply);
    }
}

impl Listener for Wire {
    fn output(&self, stream: OutputStream, text: String) {
        let cost = cost(text.len());
        if !self.send(&Event::Output(stream, text)) {
            return self.reply(Reply::OutputTaken(Some("too much output waits for a link".to_owned())));
        }
        if self.credit.spend(cost) {
            self.reply(Reply::OutputTaken(None));
        }
    }

    fn data(&self, text: String) {
        let Some(terminal) = &self.terminal else { return };
        let cost = cost(text.len());
        // After text that a full mailbox does not take, the terminal is heard no more.
        let sent = self.send(&Event::Data(text));
        if sent && self.credit.spend(cost) {
            terminal.heard();
            self.reply(Reply::DataChanged);
        }
    }

    fn started(&self, pid: i32, cwd: &Path) {
        self.send(&Event::Started(pid, cwd.to_string_lossy().into_owned()));
    }

    fn exited(&self) {
        self.send(&Event::Exited);
    }

    fn input_taken(&self, open: bool) {
        self.send(&Event::InputTaken(open));
    }

    fn live_view(&self, LiveView { pid, stdout, stderr, elapsed }: LiveView) {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.send(&Event::View { pid, stdout, stderr, elapsed_ms });
    }

    fn prompt(&self, Prompt { pid, command, text }: Prompt) {
        self.send(&Event::Prompt { pid, command, text });
    }

    fn allocate(&self, stream: OutputStream) {
        let refused = Allocation::Failed("a command on a target has no artifact store".to_owned());
        self.reply(Reply::Allocated(stream, refused));
    }
}
