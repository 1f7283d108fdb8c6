//! Of commands that wait for what nobody gives.

use crate::supervise::frames::{Fields, Writer};
use crate::supervise::waits::{Wait, WaitsFor};

pub const LOOK: u8 = 37;
pub const WAITS: u8 = 38;
pub const HEEDED: u8 = 39;

/// The body of `WAITS`: at the command's limit or because it was asked for, and what was seen.
pub fn encode_waits(at_limit: bool, wait: Option<&Wait>) -> Vec<u8> {
    let writer = Writer::default().number(u64::from(at_limit));
    let Some(Wait { pid, command, on, others, sure }) = wait else { return writer.finish() };
    let (kind, fd, path) = match on {
        WaitsFor::Terminal(fd) => (0, *fd, ""),
        WaitsFor::Pipe(fd) => (1, *fd, ""),
        WaitsFor::Fifo(fd, path) => (2, *fd, path.as_str()),
        WaitsFor::Writer(path) => (3, 0, path.as_str()),
        WaitsFor::Reader(path) => (4, 0, path.as_str()),
        WaitsFor::Continue(background) => (5, i32::from(*background), ""),
        WaitsFor::Unknown => (6, 0, ""),
    };
    writer
        .number(u64::from(pid.unsigned_abs()))
        .bytes(command.as_bytes())
        .number(kind)
        .number(u64::from(fd.unsigned_abs()))
        .bytes(path.as_bytes())
        .number(u64::from(*others))
        .number(u64::from(*sure))
        .finish()
}

/// From the body of `WAITS`; what is damaged is left out.
pub fn decode_waits(body: &[u8]) -> (bool, Option<Wait>) {
    let mut fields = Fields(body);
    (fields.number() == Some(1), decode_wait(fields))
}

fn decode_wait(mut fields: Fields<'_>) -> Option<Wait> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let pid = i32::try_from(fields.number()?).ok()?;
    let command = text(fields.bytes()?);
    let kind = fields.number()?;
    let fd = i32::try_from(fields.number()?).ok()?;
    let path = text(fields.bytes()?);
    let on = match kind {
        0 => WaitsFor::Terminal(fd),
        1 => WaitsFor::Pipe(fd),
        2 => WaitsFor::Fifo(fd, path),
        3 => WaitsFor::Writer(path),
        4 => WaitsFor::Reader(path),
        5 => WaitsFor::Continue(fd == 1),
        6 => WaitsFor::Unknown,
        _ => return None,
    };
    let others = u32::try_from(fields.number()?).ok()?;
    Some(Wait { pid, command, on, others, sure: fields.number()? == 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_wait_arrives_as_it_was_sent() {
        let path = || "/tmp/p".to_owned();
        for on in [
            WaitsFor::Terminal(0),
            WaitsFor::Pipe(3),
            WaitsFor::Fifo(4, path()),
            WaitsFor::Writer(path()),
            WaitsFor::Reader(path()),
            WaitsFor::Continue(true),
            WaitsFor::Continue(false),
            WaitsFor::Unknown,
        ] {
            let wait = Wait { pid: 7, command: "cat".to_owned(), on, others: 2, sure: true };
            assert_eq!(decode_waits(&encode_waits(true, Some(&wait))), (true, Some(wait)));
        }
        assert_eq!(decode_waits(&encode_waits(false, None)), (false, None));
    }

    proptest! {
        #[test]
        fn damaged_bodies_are_refused_not_believed(bytes: Vec<u8>) {
            let _ = decode_waits(&bytes);
        }
    }
}
