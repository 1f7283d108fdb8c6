//! Of shells that wait for their command.

use std::time::Duration;

use super::millis;
use crate::plan::{Boot, Kind, Plan};
use crate::supervise::frames::{Fields, Writer};
use crate::sys::FileId;

/// The body of `PREPARE`.
pub fn encode_prepare(kind: &Kind) -> Vec<u8> {
    Writer::default().bytes(&kind.plan.encode()).bytes(&kind.boot.early).bytes(&kind.boot.late).finish()
}

/// From the body of `PREPARE`; `None` when it is damaged.
pub fn decode_prepare(body: &[u8]) -> Option<Kind> {
    let mut fields = Fields(body);
    let plan = Plan::decode(fields.bytes()?)?;
    Some(Kind { plan, boot: Boot { early: fields.bytes()?.into(), late: fields.bytes()?.into() } })
}

/// The body of `PREPARED`: the mark of the shell that was to wait, and where it does.
pub fn encode_prepared(mark: &str, place: Option<Place>) -> Vec<u8> {
    Writer::default().bytes(mark.as_bytes()).bytes(&place.map(Place::encode).unwrap_or_default()).finish()
}

/// From the body of `PREPARED`; `None` when it is damaged.
pub fn decode_prepared(body: &[u8]) -> Option<(String, Option<Place>)> {
    let mut fields = Fields(body);
    let mark = String::from_utf8(fields.bytes()?.to_vec()).ok()?;
    Some((mark, Place::decode(fields.bytes()?)))
}

/// A shell that waits, and where its command goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its pid.
    pub shell: i32,
    /// Where in its memory.
    pub command: u64,
    /// The folder that it is in.
    pub folder: FileId,
    /// The program that it runs.
    pub program: FileId,
}

impl Place {
    fn encode(self) -> Vec<u8> {
        let ids = [self.folder, self.program];
        let writer = Writer::default().number(u64::from(self.shell.unsigned_abs())).number(self.command);
        ids.iter().fold(writer, |writer, id| writer.number(id.device).number(id.inode)).finish()
    }

    /// `None` when no shell waits.
    fn decode(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let (shell, command) = (i32::try_from(fields.number()?).ok()?, fields.number()?);
        let mut id = || Some(FileId { device: fields.number()?, inode: fields.number()? });
        Some(Self { shell, command, folder: id()?, program: id()? })
    }
}

/// A command that a shell that waited was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// As in the plan.
    pub limit: Option<Duration>,
    /// As in the plan.
    pub grace: Duration,
    /// When, by the clock of the machine, ns.
    pub at: u64,
}

impl Given {
    /// As the body of `GIVEN`.
    pub fn encode(self) -> Vec<u8> {
        Writer::default().number(millis(self.limit)).number(millis(Some(self.grace))).number(self.at).finish()
    }

    /// From the body of `GIVEN`; `None` when it is damaged.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        Some(Self {
            limit: Some(fields.number()?).filter(|ms| *ms > 0).map(Duration::from_millis),
            grace: Duration::from_millis(fields.number()?),
            at: fields.number()?,
        })
    }
}
