//! Terminals that show a program of another machine.

use std::time::Duration;

use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

use crate::messages::TargetCall;
use runner::pty::{CommandTerminal, DistantProgramMessage};
use runner::run::{CallerReply, CommandListener};
use sys::TerminalSize;

/// Time the listeners have for the rest of the text.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Draws text of the program, and gives it to the listeners.
pub fn show(text: &str, terminal: &CommandTerminal, listener: &impl CommandListener) {
    terminal.on_output(text.as_bytes());
    while terminal.is_behind() {
        terminal.draw_on();
    }
    give(terminal, listener);
}

/// Gives the listeners the next text, if they wait for text.
pub fn give(terminal: &CommandTerminal, listener: &impl CommandListener) {
    if let Some(text) = terminal.next_data() {
        listener.data(text);
    }
}

/// Gives the listeners the rest of the text after the end of the program.
pub async fn drain(
    terminal: &CommandTerminal,
    listener: &impl CommandListener,
    replies: &mut UnboundedReceiver<CallerReply>,
) {
    terminal.finish_data();
    let drained = timeout(DRAIN_TIMEOUT, async {
        give(terminal, listener);
        while terminal.awaits_listeners() && replies.recv().await.is_some() {
            give(terminal, listener);
        }
    });
    if drained.await.is_err() {
        terminal.drop_listeners();
    }
}

/// Waits for what the terminal has for the program. Without a terminal, for ever.
pub async fn next(
    for_program: &mut Option<&mut UnboundedReceiver<DistantProgramMessage>>,
) -> Option<DistantProgramMessage> {
    match for_program {
        Some(for_program) => for_program.recv().await,
        None => std::future::pending().await,
    }
}

pub fn call_for(what: DistantProgramMessage) -> TargetCall {
    match what {
        DistantProgramMessage::Type(bytes) => TargetCall::Type(bytes),
        DistantProgramMessage::Resize(TerminalSize { cols, rows }) => TargetCall::Resize(cols, rows),
        DistantProgramMessage::Drawn(drawn) => TargetCall::Drawn(drawn),
    }
}
