//! A terminal in the addon: its open end, its screen, its listeners, and its stage.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;
use tokio::time::Instant;

use super::listener_text::ListenerText;
use super::screen::{EmulatedScreen, ScreenContent, StyledScreen};
use super::terminal_input::{QueuedInput, TerminalInput};
use super::unmatched_text::UnmatchedText;
use sys::TerminalSize;

/// A terminal: before its program, while it runs, and after it.
pub struct CommandTerminal {
    inner: Mutex<TerminalContent>,
    moment: watch::Sender<TerminalActivity>,
    pub(super) input: TerminalInput,
}

struct TerminalContent {
    stage: TerminalStage,
    size: TerminalSize,
    screen: EmulatedScreen,
    data: ListenerText,
    text: UnmatchedText,
    /// Bytes that were read and not drawn yet, because drawing takes long. Listeners have not received them either.
    undrawn: Vec<u8>,
}

impl TerminalContent {
    /// Draws as much as can be drawn at once, and passes it to listeners and searches. Returns the number of bytes
    /// drawn.
    fn draw(&mut self, bytes: &[u8]) -> usize {
        let count = self.screen.feed(bytes);
        self.data.push(&bytes[..count]);
        self.text.push(&bytes[..count]);
        count
    }
}

/// The stage of a terminal.
enum TerminalStage {
    /// No program was started in the terminal.
    New,
    /// A program runs, or is being started.
    Open(OwnedFd),
    /// A program runs on another machine, or is being started there.
    Distant(UnboundedSender<DistantProgramMessage>),
    /// The program has ended.
    Ended,
}

/// What a terminal here has for its program on another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DistantProgramMessage {
    /// Keys, acknowledged by [`CommandTerminal::on_input_typed`].
    Type(Vec<u8>),
    /// The new size.
    Resize(TerminalSize),
    /// Whether somebody draws the terminal, and so answers the questions of the program.
    Drawn(bool),
}

/// The facts on which waiting depends.
#[derive(Debug, Clone, Copy)]
pub(super) struct TerminalActivity {
    /// Time of the last output, or of the start.
    pub last: Instant,
    pub program: TerminalProgram,
}

/// Whether the program of a terminal has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TerminalProgram {
    /// The program runs, or was not started yet.
    Running,
    /// The program has ended, with this exit code if it has one.
    Ended { exit_code: Option<i32> },
}

/// Why an operation on a terminal is impossible.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// A terminal runs a single command.
    #[error("this terminal has run its command already, or still does; make another one")]
    Used,
    /// No program was started in the terminal yet.
    #[error("nothing was started in this terminal yet: call start() first")]
    NotStarted,
    /// The program of the terminal has ended.
    #[error("the program in this terminal has ended")]
    Ended,
    /// The system could not provide a terminal.
    #[error("no pseudo-terminal could be had: {0}")]
    Unavailable(#[source] io::Error),
}

impl CommandTerminal {
    /// Returns a terminal of this size, without a program.
    pub fn new(size: TerminalSize) -> Arc<Self> {
        let inner = TerminalContent {
            stage: TerminalStage::New,
            size,
            screen: EmulatedScreen::new(size.cols, size.rows),
            data: ListenerText::default(),
            text: UnmatchedText::default(),
            undrawn: Vec::new(),
        };
        let now = TerminalActivity { last: Instant::now(), program: TerminalProgram::Running };
        Arc::new(Self { inner: Mutex::new(inner), moment: watch::Sender::new(now), input: TerminalInput::default() })
    }

    fn inner(&self) -> MutexGuard<'_, TerminalContent> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens a pseudo-terminal for a program that is about to be started.
    ///
    /// # Errors
    /// [`TerminalError::Used`], [`TerminalError::Unavailable`]
    pub fn open(&self) -> Result<(), TerminalError> {
        let mut inner = self.inner();
        if !matches!(inner.stage, TerminalStage::New) {
            return Err(TerminalError::Used);
        }
        inner.stage = TerminalStage::Open(sys::open_terminal(inner.size).map_err(TerminalError::Unavailable)?);
        drop(inner);
        self.moment.send_modify(|moment| moment.last = Instant::now());
        Ok(())
    }

    /// Shows a program of another machine, which is about to be started there. What is for the program goes to
    /// `sender`.
    ///
    /// # Errors
    /// [`TerminalError::Used`]
    pub fn open_there(&self, sender: UnboundedSender<DistantProgramMessage>) -> Result<(), TerminalError> {
        let mut inner = self.inner();
        if !matches!(inner.stage, TerminalStage::New) {
            return Err(TerminalError::Used);
        }
        inner.stage = TerminalStage::Distant(sender);
        drop(inner);
        self.moment.send_modify(|moment| moment.last = Instant::now());
        Ok(())
    }

    /// Passes something on to a program of another machine. `false`: the program is not on another machine.
    pub(super) fn send_there(&self, what: DistantProgramMessage) -> bool {
        match &self.inner().stage {
            TerminalStage::Distant(sender) => {
                // The program may just have ended.
                let _gone = sender.send(what);
                true
            }
            TerminalStage::New | TerminalStage::Open(_) | TerminalStage::Ended => false,
        }
    }

    /// Sends input to a program of another machine. Returns it if the program is not there.
    pub(super) fn type_there(&self, piece: QueuedInput) -> Option<QueuedInput> {
        let inner = self.inner();
        let TerminalStage::Distant(sender) = &inner.stage else { return Some(piece) };
        let what = DistantProgramMessage::Type(piece.bytes.clone());
        // It is queued first, since the program may acknowledge it at once.
        self.input.state().queue.push_back(piece);
        // The program may just have ended.
        let _gone = sender.send(what);
        None
    }

    /// Replaces the pseudo-terminal by a pseudo-terminal of this directory, before a program is started in it. The
    /// directory belongs to the world of the program, so that the program finds its terminal there.
    ///
    /// # Errors
    /// [`TerminalError::NotStarted`], [`TerminalError::Ended`], [`TerminalError::Unavailable`]
    pub fn move_to(&self, directory: &OwnedFd) -> Result<(), TerminalError> {
        let mut inner = self.inner();
        match inner.stage {
            TerminalStage::New => Err(TerminalError::NotStarted),
            TerminalStage::Ended | TerminalStage::Distant(_) => Err(TerminalError::Ended),
            TerminalStage::Open(_) => {
                let opened = sys::open_terminal_in(directory, inner.size).map_err(TerminalError::Unavailable)?;
                inner.stage = TerminalStage::Open(opened);
                Ok(())
            }
        }
    }

    /// Records that the program could not be started.
    pub fn on_start_failed(&self) {
        let mut inner = self.inner();
        inner.stage = TerminalStage::New;
        inner.data = ListenerText::default();
        drop(inner);
        self.input.drop_queued();
    }

    /// Records that the program has ended, and that all its output was drawn.
    pub fn on_program_exit(&self, exit_code: Option<i32>) {
        self.inner().stage = TerminalStage::Ended;
        self.input.drop_queued();
        self.moment.send_modify(|moment| moment.program = TerminalProgram::Ended { exit_code });
    }

    /// Returns the size of the terminal.
    pub fn size(&self) -> TerminalSize {
        self.inner().size
    }

    /// Checks that the program runs, or is being started.
    ///
    /// # Errors
    /// [`TerminalError::NotStarted`], [`TerminalError::Ended`]
    pub fn check_running(&self) -> Result<(), TerminalError> {
        if matches!(self.inner().stage, TerminalStage::Distant(_)) { Ok(()) } else { self.with_master(|_| ()) }
    }

    /// Returns a duplicate of the terminal's open end.
    ///
    /// # Errors
    /// If the terminal is not open, or no descriptor is free.
    pub fn master(&self) -> io::Result<OwnedFd> {
        let duplicate = self.with_master(|master| master.as_fd().try_clone_to_owned());
        duplicate.map_err(|error| io::Error::new(io::ErrorKind::NotConnected, error))?
    }

    /// Returns the group of processes that keys go to. `None`: no group.
    pub fn foreground_group(&self) -> Option<i32> {
        self.with_master(sys::foreground_group).ok().flatten()
    }

    pub(super) fn with_master<T>(&self, ask: impl FnOnce(&OwnedFd) -> T) -> Result<T, TerminalError> {
        match &self.inner().stage {
            TerminalStage::New => Err(TerminalError::NotStarted),
            TerminalStage::Open(master) => Ok(ask(master)),
            TerminalStage::Ended | TerminalStage::Distant(_) => Err(TerminalError::Ended),
        }
    }

    /// Changes the size, and notifies the program. After the end of the program only the screen changes.
    pub fn resize(&self, size: TerminalSize) {
        let mut inner = self.inner();
        inner.size = size;
        inner.screen.resize(size.cols, size.rows);
        if let TerminalStage::Open(master) = &inner.stage {
            // A terminal that has just hung up has no size.
            let _ = sys::resize_terminal(master, size);
        }
        drop(inner);
        self.send_there(DistantProgramMessage::Resize(size));
        self.moment.send_modify(|_| ());
    }

    /// Returns the screen as a person would see it.
    pub fn screen(&self) -> ScreenContent {
        self.inner().screen.content()
    }

    /// Returns the screen with its colours and styles.
    pub fn styled(&self) -> StyledScreen {
        self.inner().screen.styled()
    }

    /// Handles output of the program. Text that takes long to draw is left for [`Self::draw_on`].
    pub fn on_output(&self, bytes: &[u8]) {
        let mut inner = self.inner();
        let drawn = if inner.undrawn.is_empty() { inner.draw(bytes) } else { 0 };
        inner.undrawn.extend_from_slice(&bytes[drawn..]);
        self.finish_drawing(inner);
    }

    /// Returns whether more has to be drawn before more is read.
    pub fn is_behind(&self) -> bool {
        !self.inner().undrawn.is_empty()
    }

    /// Draws more, for some milliseconds.
    pub fn draw_on(&self) {
        let mut inner = self.inner();
        let mut undrawn = std::mem::take(&mut inner.undrawn);
        let drawn = inner.draw(&undrawn);
        undrawn.drain(..drawn);
        inner.undrawn = undrawn;
        self.finish_drawing(inner);
    }

    /// Passes the rest to listeners and searches without drawing it.
    pub(super) fn give_drawing_up(&self) {
        let mut inner = self.inner();
        let undrawn = std::mem::take(&mut inner.undrawn);
        inner.data.push(&undrawn);
        inner.text.push(&undrawn);
    }

    fn finish_drawing(&self, mut inner: MutexGuard<'_, TerminalContent>) {
        let replies = inner.screen.take_replies();
        let drawn = inner.data.is_drawn();
        // On another machine, the terminal there answers.
        let answers_here = matches!(inner.stage, TerminalStage::Open(_));
        drop(inner);
        if answers_here && !replies.is_empty() {
            self.answer(replies, drawn);
        }
        self.moment.send_modify(|moment| moment.last = Instant::now());
    }

    pub(super) fn subscribe_activity(&self) -> watch::Receiver<TerminalActivity> {
        self.moment.subscribe()
    }

    /// Runs `read` on the text in which patterns are searched.
    pub(super) fn with_text<T>(&self, read: impl FnOnce(&mut UnmatchedText) -> T) -> T {
        read(&mut self.inner().text)
    }

    pub(super) fn with_data<T>(&self, read: impl FnOnce(&mut ListenerText) -> T) -> T {
        read(&mut self.inner().data)
    }
}
