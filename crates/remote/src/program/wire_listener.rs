//! Sends the events of a run to its host.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use crate::flow_control::{TRANSFER_CREDIT, credit_cost};
use crate::link_mailbox::LinkMailbox;
use crate::messages::TargetEvent;
use capture::OutputStream;
use runner::pty::CommandTerminal;
use runner::run::{BlockedPrompt, CallerReply, CommandListener, LiveView, SpillAllocation};

/// The output that was sent and not taken.
#[derive(Debug, Default)]
pub struct OutputCredit(Mutex<SpentCredit>);

#[derive(Debug, Default)]
struct SpentCredit {
    cost: u64,
    /// Whether the command is held back until its listener takes more.
    held: bool,
}

impl OutputCredit {
    fn sent(&self) -> MutexGuard<'_, SpentCredit> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts output that was sent. Returns whether more may be.
    fn spend(&self, cost: u64) -> bool {
        let mut sent = self.sent();
        sent.cost += cost;
        sent.held = sent.cost >= TRANSFER_CREDIT;
        !sent.held
    }

    /// Counts output that was taken. Returns whether a command that was held back goes on.
    pub fn give_back(&self, cost: u64) -> bool {
        let mut sent = self.sent();
        sent.cost = sent.cost.saturating_sub(cost);
        let goes_on = sent.held && sent.cost < TRANSFER_CREDIT;
        sent.held &= !goes_on;
        goes_on
    }
}

/// Sends the events of a run to its host.
pub struct WireListener {
    pub post: Arc<LinkMailbox>,
    pub run: u64,
    pub credit: Arc<OutputCredit>,
    pub replies: UnboundedSender<CallerReply>,
    /// The terminal of the command, if it has one.
    pub terminal: Option<Arc<CommandTerminal>>,
}

impl WireListener {
    fn send(&self, event: &TargetEvent) -> bool {
        self.post.send(self.run, event).is_ok()
    }

    fn reply(&self, reply: CallerReply) {
        // The run may be ending.
        let _gone = self.replies.send(reply);
    }
}

impl CommandListener for WireListener {
    fn output(&self, stream: OutputStream, text: String) {
        let cost = credit_cost(text.len());
        if !self.send(&TargetEvent::Output(stream, text)) {
            return self.reply(CallerReply::OutputTaken(Some("too much output waits for a link".to_owned())));
        }
        if self.credit.spend(cost) {
            self.reply(CallerReply::OutputTaken(None));
        }
    }

    fn data(&self, text: String) {
        let Some(terminal) = &self.terminal else { return };
        let cost = credit_cost(text.len());
        // After text that a full mailbox does not take, the terminal is heard no more.
        let sent = self.send(&TargetEvent::Data(text));
        if sent && self.credit.spend(cost) {
            terminal.on_text_taken();
            self.reply(CallerReply::DataChanged);
        }
    }

    fn started(&self, pid: i32, cwd: &Path) {
        self.send(&TargetEvent::Started(pid, cwd.to_string_lossy().into_owned()));
    }

    fn exited(&self) {
        self.send(&TargetEvent::Exited);
    }

    fn input_taken(&self, open: bool) {
        self.send(&TargetEvent::InputTaken(open));
    }

    fn live_view(&self, LiveView { pid, stdout, stderr, elapsed }: LiveView) {
        let elapsed_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        self.send(&TargetEvent::View { pid, stdout, stderr, elapsed_ms });
    }

    fn prompt(&self, BlockedPrompt { pid, command, text }: BlockedPrompt) {
        self.send(&TargetEvent::Prompt { pid, command, text });
    }

    fn allocate(&self, stream: OutputStream) {
        let refused = SpillAllocation::Failed("a command on a target has no artifact store".to_owned());
        self.reply(CallerReply::Allocated(stream, refused));
    }
}
