//! A terminal as the addon has it: its open end, its screen, who listens, and how far it has come.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::time::Instant;

use super::data::Data;
use super::input::Input;
use super::screen::{Screen, Shown};
use super::text::Text;
use crate::sys::{self, TerminalSize};

/// One terminal: before its program, while it runs, and after it.
pub struct Terminal {
    inner: Mutex<Inner>,
    moment: watch::Sender<Moment>,
    pub(super) input: Input,
}

struct Inner {
    stage: Stage,
    size: TerminalSize,
    screen: Screen,
    data: Data,
    text: Text,
    /// What was read and not drawn yet, since drawing it takes long: nobody else has seen it either.
    undrawn: Vec<u8>,
}

impl Inner {
    /// Draws of this what can be drawn at once, and has it heard and searched; how many bytes that was.
    fn draw(&mut self, bytes: &[u8]) -> usize {
        let count = self.screen.feed(bytes);
        self.data.push(&bytes[..count]);
        self.text.push(&bytes[..count]);
        count
    }
}

/// How far it has come.
enum Stage {
    /// Nothing runs in it.
    New,
    /// A program runs, or is just being started.
    Open(OwnedFd),
    /// It has ended.
    Ended,
}

/// What those who wait go by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    /// When something came last, or the program was started.
    pub last: Instant,
    /// Once the program has ended: with its exit code.
    pub ended: Option<Option<i32>>,
}

/// Why something cannot be done with a terminal.
#[derive(Debug, thiserror::Error)]
pub enum TerminalError {
    /// One runs a single command.
    #[error("this terminal has run its command already, or still does; make another one")]
    Used,
    /// Its program is still to come.
    #[error("nothing was started in this terminal yet")]
    NotStarted,
    /// Its program has ended.
    #[error("the program in this terminal has ended")]
    Ended,
    /// The system has none to give.
    #[error("no pseudo-terminal could be had: {0}")]
    None(#[source] io::Error),
}

impl Terminal {
    /// One of this size, which nothing runs in yet.
    pub fn new(size: TerminalSize) -> Arc<Self> {
        let inner = Inner {
            stage: Stage::New,
            size,
            screen: Screen::new(size.cols, size.rows),
            data: Data::default(),
            text: Text::default(),
            undrawn: Vec::new(),
        };
        let now = Moment { last: Instant::now(), ended: None };
        Arc::new(Self { inner: Mutex::new(inner), moment: watch::Sender::new(now), input: Input::default() })
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the system make one, for a program that is to be started in it.
    ///
    /// # Errors
    /// [`TerminalError::Used`], [`TerminalError::None`]
    pub fn open(&self) -> Result<(), TerminalError> {
        let mut inner = self.inner();
        if !matches!(inner.stage, Stage::New) {
            return Err(TerminalError::Used);
        }
        inner.stage = Stage::Open(sys::open_terminal(inner.size).map_err(TerminalError::None)?);
        drop(inner);
        self.moment.send_modify(|moment| moment.last = Instant::now());
        Ok(())
    }

    /// Nothing could be started in it after all.
    pub fn take_back(&self) {
        let mut inner = self.inner();
        inner.stage = Stage::New;
        inner.data = Data::default();
        drop(inner);
        self.input.refuse();
    }

    /// Its program has ended, and all that it has written was drawn.
    pub fn end(&self, exit_code: Option<i32>) {
        self.inner().stage = Stage::Ended;
        self.input.refuse();
        self.moment.send_modify(|moment| moment.ended = Some(exit_code));
    }

    /// Its size.
    pub fn size(&self) -> TerminalSize {
        self.inner().size
    }

    /// Whether its program runs, or is just being started.
    ///
    /// # Errors
    /// [`TerminalError::NotStarted`], [`TerminalError::Ended`]
    pub fn running(&self) -> Result<(), TerminalError> {
        self.with_master(|_| ())
    }

    /// Another descriptor for its open end.
    ///
    /// # Errors
    /// Where it is not open, or the system has no more.
    pub fn master(&self) -> io::Result<OwnedFd> {
        let duplicate = self.with_master(|master| master.as_fd().try_clone_to_owned());
        duplicate.map_err(|error| io::Error::new(io::ErrorKind::NotConnected, error))?
    }

    /// The group of processes that keys go to; `None` when there is none.
    pub fn foreground(&self) -> Option<i32> {
        self.with_master(sys::foreground_group).ok().flatten()
    }

    pub(super) fn with_master<T>(&self, ask: impl FnOnce(&OwnedFd) -> T) -> Result<T, TerminalError> {
        match &self.inner().stage {
            Stage::New => Err(TerminalError::NotStarted),
            Stage::Open(master) => Ok(ask(master)),
            Stage::Ended => Err(TerminalError::Ended),
        }
    }

    /// Gives it another size; its program hears of it. After its end only the screen changes.
    pub fn resize(&self, size: TerminalSize) {
        let mut inner = self.inner();
        inner.size = size;
        inner.screen.resize(size.cols, size.rows);
        if let Stage::Open(master) = &inner.stage {
            // A terminal that has hung up meanwhile has no size any more.
            let _ = sys::resize_terminal(master, size);
        }
    }

    /// What a person would see.
    pub fn screen(&self) -> Shown {
        self.inner().screen.shown()
    }

    /// Its program has written. What takes long to draw waits for [`Self::draw_on`].
    pub fn wrote(&self, bytes: &[u8]) {
        let mut inner = self.inner();
        let drawn = if inner.undrawn.is_empty() { inner.draw(bytes) } else { 0 };
        inner.undrawn.extend_from_slice(&bytes[drawn..]);
        self.drew(inner);
    }

    /// Whether there is something to draw before more is read.
    pub fn is_behind(&self) -> bool {
        !self.inner().undrawn.is_empty()
    }

    /// Draws more of what waits, for some milliseconds.
    pub fn draw_on(&self) {
        let mut inner = self.inner();
        let mut undrawn = std::mem::take(&mut inner.undrawn);
        let drawn = inner.draw(&undrawn);
        undrawn.drain(..drawn);
        inner.undrawn = undrawn;
        self.drew(inner);
    }

    /// What waits is not drawn any more, only heard and searched.
    pub(super) fn give_drawing_up(&self) {
        let mut inner = self.inner();
        let undrawn = std::mem::take(&mut inner.undrawn);
        inner.data.push(&undrawn);
        inner.text.push(&undrawn);
    }

    fn drew(&self, mut inner: MutexGuard<'_, Inner>) {
        let replies = inner.screen.take_replies();
        let drawn = inner.data.is_drawn();
        drop(inner);
        if !replies.is_empty() {
            self.answer(replies, drawn);
        }
        self.moment.send_modify(|moment| moment.last = Instant::now());
    }

    pub(super) fn moment(&self) -> watch::Receiver<Moment> {
        self.moment.subscribe()
    }

    /// Does something with what was written, as text that patterns are looked for in.
    pub(super) fn with_text<T>(&self, read: impl FnOnce(&mut Text) -> T) -> T {
        read(&mut self.inner().text)
    }

    pub(super) fn with_data<T>(&self, read: impl FnOnce(&mut Data) -> T) -> T {
        read(&mut self.inner().data)
    }
}
