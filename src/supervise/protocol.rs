//! What the three processes say to each other.
//!
//! | from → to | kind | body | descriptors |
//! |---|---|---|---|
//! | addon → supervisor | `WANT_SHIM` | | |
//! | addon → supervisor | `END_SHIM` | its pid: it does not answer any more | |
//! | supervisor → addon | `SHIM` | its pid, 0 and an errno when none could be made | its socket |
//! | addon → supervisor | `REMOVE_AT_END` | a folder that goes with the host | |
//! | addon → supervisor | `REMOVE_NO_MORE` | the same: it has gone already | |
//! | addon → shim | `RUN` | a plan; for a task its order | standard input; for output and error both ends; script: those that the plan has, or its terminal; for a task with input the other end and a file |
//! | shim → addon | `STARTED` | pid | |
//! | shim → addon | `FAILED` | step, errno | |
//! | addon → shim | `SIGNAL` | a signal, the group of processes that the terminal's keys go to | |
//! | addon → shim | `END` | 1 when its time is up | |
//! | shim → addon | `ENDED` | how the shell ended | |
//! | shim → addon | `BROKEN` | a limit that was broken after `ENDED`, before the `RELEASED` | |
//! | addon → shim | `RELEASE` | with a registry: an order for what still holds the pipes, and how far each was read | |
//! | shim → addon | `RELEASED` | what is left running, who of it holds the pipes | |
//! | addon → shim | `HAND_OVER` | an order, and how far each pipe was read | the other end of its input and a file, if there is more of it |
//! | shim → addon | `REFUSED` | errno: it is not a task | |
//! | addon → shim | `PREPARE` | a kind of shell that is to wait | |
//! | shim → addon | `PREPARED` | the mark of the shell, where its command goes; nothing: it does not wait, or has died | what lets it go on; to its standard input, if it has one; the reading ends of its output |
//! | addon → shim | `GIVEN` | the shell that waits has its command: limit, grace, since when | |
//! | addon → shim | `LOOK` | who waits for what nobody gives? Answered by `WAITS` | |
//! | shim → addon | `WAITS` | that, also unasked at a limit, before anything is done about it | |
//! | addon → shim | `HEEDED` | an answer to the unasked one: what waits may be signalled | |
//! | addon → shim | `DISMISS` | the shell that waits is not needed any more | |
//!
//! A shim that says `ENDED` with nothing alive, or `RELEASED` with nothing left, is ready for the next `RUN`. One that
//! says `TASK` belongs to that task from then on, and speaks with the addon as with anybody else who opens its socket:
//!
//! | from → to | kind | body |
//! |---|---|---|
//! | shim → anybody | `TASK` | the state of the task that it keeps now |
//! | shim → anybody | `TASK_ENDED` | its last state |
//! | anybody → shim | `WATCH` | tell me once the log has more bytes than these; 1: or when an unfinished line changes |
//! | shim → anybody | `GREW` | bytes of output in the log; unfinished lines, if they were asked for |
//! | anybody → shim | `SETTLE` | write unfinished lines down |
//! | anybody → shim | `END` | |

mod plan;
mod shells;
mod terminals;
mod waits;

use std::time::Duration;

pub use plan::*;
pub use shells::*;
pub use terminals::*;
pub use waits::*;

use super::frames::{Fields, Writer};
use super::limits::{Broken, Limited};
use crate::background::Order;
use crate::sys::{End, LaunchError, LaunchStep, Usage};

pub const WANT_SHIM: u8 = 1;
pub const END_SHIM: u8 = 2;
pub const SHIM: u8 = 3;
pub const REMOVE_AT_END: u8 = 4;
pub const REMOVE_NO_MORE: u8 = 5;
pub const RUN: u8 = 16;
pub const STARTED: u8 = 17;
pub const FAILED: u8 = 18;
pub const END: u8 = 19;
pub const ENDED: u8 = 20;
pub const RELEASE: u8 = 21;
pub const RELEASED: u8 = 22;
pub const HAND_OVER: u8 = 23;
pub const REFUSED: u8 = 24;
pub const BROKEN: u8 = 25;
pub const PREPARE: u8 = 26;
pub const PREPARED: u8 = 27;
pub const GIVEN: u8 = 28;
pub const DISMISS: u8 = 29;
pub const SIGNAL: u8 = 30;
pub const TASK: u8 = 32;
pub const TASK_ENDED: u8 = 33;
pub const WATCH: u8 = 34;
pub const GREW: u8 = 35;
pub const SETTLE: u8 = 36;

/// What is told of an unfinished line: its end, bytes.
pub const MAX_PENDING: usize = 8 * 1024;

/// Why a tree was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It was not: the command ended by itself.
    Itself,
    /// The time limit.
    Limit,
    /// The addon asked for it.
    Abort,
    /// The host is gone.
    Host,
    /// The supervisor is gone.
    Supervisor,
    /// It used more than it may.
    Broken(Broken),
}

/// How a shell ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Exit code or signal.
    pub end: End,
    /// What the tree used: who has ended, and who is still there.
    pub usage: Usage,
    /// From the start of the process to its end.
    pub duration: Duration,
    /// Why.
    pub cause: Cause,
    /// Whether something that it started is still there.
    pub alive: bool,
    /// The shim takes no further command: its supervisor is gone.
    pub last: bool,
}

/// A process that is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survivor {
    /// Its pid.
    pub pid: i32,
    /// Its command line.
    pub command: String,
    /// It still holds one of the command's pipes.
    pub holds: bool,
}

/// Nothing was started, and why.
pub type Failure = LaunchError;

/// A task to be, and where the readers of its pipes stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transfer {
    #[expect(missing_docs, reason = "see its type")]
    pub order: Order,
    /// For each pipe what brings a cleaner to where the addon's is.
    pub resume: Vec<Vec<u8>>,
}

impl Transfer {
    /// As the body of `HAND_OVER` and `RELEASE`.
    pub fn encode(&self) -> Vec<u8> {
        let order = serde_json::to_vec(&self.order).unwrap_or_default();
        self.resume.iter().fold(Writer::default().bytes(&order), |writer, bytes| writer.bytes(bytes)).finish()
    }

    /// From such a body; `None` when it is damaged, or empty.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let order = serde_json::from_slice(fields.bytes()?).ok()?;
        let resume = std::iter::from_fn(|| fields.bytes().map(<[u8]>::to_vec)).collect();
        Some(Self { order, resume })
    }
}

/// `None` is 0.
fn millis(time: Option<Duration>) -> u64 {
    time.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// The body of `FAILED`.
pub fn encode_failure(failure: Failure) -> Vec<u8> {
    Writer::default().number(failure.step as u64).number(u64::from(failure.errno.unsigned_abs())).finish()
}

/// From the body of `FAILED`.
pub fn decode_failure(body: &[u8]) -> Option<Failure> {
    let mut fields = Fields(body);
    let step = match fields.number()? {
        2 => LaunchStep::Chdir,
        3 => LaunchStep::Exec,
        4 => LaunchStep::Stdio,
        5 => LaunchStep::Limits,
        6 => LaunchStep::Files,
        _ => LaunchStep::Fork,
    };
    Some(LaunchError { step, errno: i32::try_from(fields.number()?).ok()? })
}

impl Ended {
    /// As the body of `ENDED`.
    pub fn encode(&self) -> Vec<u8> {
        let (signalled, value) = match self.end {
            End::Code(code) => (0, code),
            End::Signal(signal) => (1, signal),
        };
        Writer::default()
            .number(signalled)
            .number(u64::from(value.unsigned_abs()))
            .number(self.usage.user_us)
            .number(self.usage.system_us)
            .number(self.usage.max_rss)
            .number(u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX))
            .bytes(&self.cause.encode())
            .number(u64::from(self.alive))
            .number(u64::from(self.last))
            .finish()
    }

    /// From the body of `ENDED`; `None` when it is damaged.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let signalled = fields.number()? == 1;
        let value = i32::try_from(fields.number()?).ok()?;
        let usage = Usage { user_us: fields.number()?, system_us: fields.number()?, max_rss: fields.number()? };
        let duration = Duration::from_nanos(fields.number()?);
        let cause = Cause::decode(fields.bytes()?)?;
        let end = if signalled { End::Signal(value) } else { End::Code(value) };
        Some(Self { end, usage, duration, cause, alive: fields.number()? == 1, last: fields.number()? == 1 })
    }
}

impl Cause {
    fn encode(self) -> Vec<u8> {
        let number = match self {
            Self::Itself => 0,
            Self::Limit => 1,
            Self::Abort => 2,
            Self::Host => 3,
            Self::Supervisor => 4,
            Self::Broken(broken) => return broken.encode(),
        };
        Writer::default().number(number).finish()
    }

    fn decode(body: &[u8]) -> Option<Self> {
        Some(match Fields(body).number()? {
            0 => Self::Itself,
            1 => Self::Limit,
            2 => Self::Abort,
            3 => Self::Host,
            4 => Self::Supervisor,
            _ => Self::Broken(Broken::decode(body)?),
        })
    }
}

impl Broken {
    /// As the body of `BROKEN`.
    pub fn encode(self) -> Vec<u8> {
        let number = match self.limit {
            Limited::Cpu => 5,
            Limited::Memory => 6,
            Limited::Processes => 7,
        };
        Writer::default().number(number).number(self.used).number(self.allowed).finish()
    }

    /// From the body of `BROKEN`; `None` when it is damaged.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let limit = match fields.number()? {
            5 => Limited::Cpu,
            6 => Limited::Memory,
            7 => Limited::Processes,
            _ => return None,
        };
        Some(Self { limit, used: fields.number()?, allowed: fields.number()? })
    }
}

/// The body of `RELEASED`.
pub fn encode_survivors(survivors: &[Survivor]) -> Vec<u8> {
    let mut writer = Writer::default().number(survivors.len() as u64);
    for survivor in survivors {
        writer = writer
            .number(u64::from(survivor.pid.unsigned_abs()))
            .number(u64::from(survivor.holds))
            .bytes(survivor.command.as_bytes());
    }
    writer.finish()
}

/// From the body of `RELEASED`; what is damaged is left out.
pub fn decode_survivors(body: &[u8]) -> Vec<Survivor> {
    let mut fields = Fields(body);
    let count = fields.number().unwrap_or(0);
    (0..count)
        .map_while(|_| {
            let pid = i32::try_from(fields.number()?).ok()?;
            let holds = fields.number()? == 1;
            Some(Survivor { pid, command: String::from_utf8_lossy(fields.bytes()?).into_owned(), holds })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn damaged_bodies_are_refused_not_believed(bytes: Vec<u8>) {
            let _ = decode_run(&bytes);
            let _ = decode_prepare(&bytes);
            let _ = (Given::decode(&bytes), decode_prepared(&bytes));
            let _ = Transfer::decode(&bytes);
            let _ = Ended::decode(&bytes);
            let _ = Broken::decode(&bytes);
            let _ = decode_failure(&bytes);
            let _ = decode_survivors(&bytes);
        }
    }

    #[test]
    fn an_end_arrives_as_it_was_sent() {
        let broken = [Limited::Cpu, Limited::Memory, Limited::Processes]
            .map(|limit| (End::Signal(9), Cause::Broken(Broken { limit, used: 8, allowed: 7 })));
        let others = [Cause::Itself, Cause::Limit, Cause::Abort, Cause::Host, Cause::Supervisor];
        for (end, cause) in others.map(|cause| (End::Code(7), cause)).into_iter().chain(broken) {
            let ended = Ended {
                end,
                usage: Usage { user_us: 1, system_us: 2, max_rss: 3 },
                duration: Duration::from_nanos(5),
                cause,
                alive: true,
                last: true,
            };
            assert_eq!(Ended::decode(&ended.encode()), Some(ended));
        }
    }
}
