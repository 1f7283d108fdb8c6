//! The descriptors that travel with messages, each in a named place.

use std::io;
use std::os::fd::OwnedFd;

use crate::plan::{ChildPlan, StdinSource};

/// The descriptors of a command that starts cold.
#[derive(Debug, Default)]
pub struct RunDescriptors {
    /// The program side of the terminal. A command with a terminal has no pipes.
    pub terminal: Option<OwnedFd>,
    /// The read end of standard input.
    pub stdin: Option<OwnedFd>,
    /// The output pipes: standard output, and standard error unless merged.
    pub outputs: Vec<OutputPipe>,
    /// The file with the command, if the command is too long for an argument.
    pub script: Option<OwnedFd>,
    /// Other files that the command inherits.
    pub files: Vec<OwnedFd>,
    /// The input of a task.
    pub input: Option<TaskInput>,
}

/// Both ends of an output pipe.
#[derive(Debug)]
pub struct OutputPipe {
    /// The write end, for the command.
    pub write: OwnedFd,
    /// The read end, for the addon. The shim holds it, too, so that no write of the command fails when the host is
    /// gone.
    pub read: OwnedFd,
}

/// The rest of a task's input, which its shim writes.
#[derive(Debug)]
pub struct TaskInput {
    /// The write end of the task's standard input.
    pub pipe: OwnedFd,
    /// A file with the bytes that are still to be written.
    pub rest: OwnedFd,
}

/// The host's ends of a tap: what the producer writes into the first goes into the second.
#[derive(Debug)]
pub struct PipelineTapEnds {
    /// The read end of the producer's pipe.
    pub from: OwnedFd,
    /// The write end of the reader's pipe.
    pub to: OwnedFd,
}

impl PipelineTapEnds {
    /// Opens both pipes. Returns the ends of the shell as well: one to read from, and one to write to. Each pipe has
    /// the room of a plain one: what a program leaves there when it exits reaches the reader.
    ///
    /// # Errors
    /// If no descriptors are free.
    pub fn open() -> io::Result<(Self, [OwnedFd; 2])> {
        let (from, write) = sys::pipe()?;
        let (read, to) = sys::pipe()?;
        sys::set_nonblocking(&from)?;
        sys::set_nonblocking(&to)?;
        Ok((Self { from, to }, [read, write]))
    }

    pub(super) fn into_list(ends: Option<Self>) -> impl Iterator<Item = OwnedFd> {
        ends.into_iter().flat_map(|Self { from, to }| [from, to])
    }

    pub(super) fn of(descriptors: Vec<OwnedFd>) -> Option<Self> {
        let [from, to] = <[OwnedFd; 2]>::try_from(descriptors).ok()?;
        Some(Self { from, to })
    }
}

/// The addon's ends of a warm shell's pipes.
#[derive(Debug, Default)]
pub struct WarmShellEnds {
    /// The pipe on which the shell waits: closing it resumes the shell. `None` when no shell is ready.
    pub resume: Option<OwnedFd>,
    /// The write end of the shell's standard input, if it has one, then the read ends of its output.
    pub streams: Vec<OwnedFd>,
    /// What a world's `GuardFreshness` consists of, which shows whether the shell's world has changed.
    pub freshness: Vec<OwnedFd>,
}

impl RunDescriptors {
    /// Returns all descriptors, in the order in which [`RunDescriptors::of`] expects them.
    pub fn into_list(self) -> Vec<OwnedFd> {
        let Self { terminal, stdin, outputs, script, files, input } = self;
        let outputs = outputs.into_iter().flat_map(|OutputPipe { write, read }| [write, read]);
        let rest = script.into_iter().chain(files).chain(TaskInput::into_list(input));
        terminal.into_iter().chain(stdin).chain(outputs).chain(rest).collect()
    }

    /// Puts descriptors in the places that this plan has. Returns `None` if a descriptor is missing.
    pub fn of(plan: &ChildPlan, descriptors: Vec<OwnedFd>) -> Option<Self> {
        let mut next = descriptors.into_iter();
        let mut take = |wanted: bool| if wanted { next.next().map(Some) } else { Some(None) };
        let terminal = take(plan.terminal.is_some())?;
        let stdin = take(plan.terminal.is_none() && plan.stdin == StdinSource::Pipe)?;
        let mut outputs = Vec::with_capacity(2);
        for _ in plan.outputs() {
            outputs.push(OutputPipe { write: take(true)??, read: take(true)?? });
        }
        let script = take(plan.script_at.is_some())?;
        let files = plan.files.iter().map(|_| take(true)?).collect::<Option<Vec<_>>>()?;
        Some(Self { terminal, stdin, outputs, script, files, input: TaskInput::of(next.collect()) })
    }
}

impl TaskInput {
    /// Returns both descriptors, the pipe first.
    pub fn into_list(input: Option<Self>) -> impl Iterator<Item = OwnedFd> {
        input.into_iter().flat_map(|Self { pipe, rest }| [pipe, rest])
    }

    /// Takes both descriptors from such a list. Returns `None` if the list is empty.
    pub fn of(descriptors: Vec<OwnedFd>) -> Option<Self> {
        let mut next = descriptors.into_iter();
        next.next().zip(next.next()).map(|(pipe, rest)| Self { pipe, rest })
    }
}

impl WarmShellEnds {
    /// Returns all descriptors, in the order in which [`WarmShellEnds::of`] expects them.
    pub fn into_list(self) -> Vec<OwnedFd> {
        self.freshness.into_iter().chain(self.resume).chain(self.streams).collect()
    }

    /// Takes the descriptors from such a list. `fresh`: the number of those that show freshness.
    pub fn of(descriptors: Vec<OwnedFd>, fresh: usize) -> Self {
        let mut next = descriptors.into_iter();
        Self { freshness: next.by_ref().take(fresh).collect(), resume: next.next(), streams: next.collect() }
    }
}
