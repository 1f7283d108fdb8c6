//! Of commands that have a terminal.

use nix::sys::signal::Signal;
use nix::unistd::Pid;

use crate::supervise::frames::{Fields, Writer};

/// The body of `SIGNAL`.
pub fn encode_signal(signal: Signal, foreground: Option<i32>) -> Vec<u8> {
    let group = foreground.map_or(0, i32::unsigned_abs);
    Writer::default().number(signal as u64).number(u64::from(group)).finish()
}

/// From the body of `SIGNAL`; `None` when it is damaged.
pub fn decode_signal(body: &[u8]) -> Option<(Signal, Option<Pid>)> {
    let mut fields = Fields(body);
    let signal = Signal::try_from(i32::try_from(fields.number()?).ok()?).ok()?;
    let group = i32::try_from(fields.number()?).ok()?;
    Some((signal, (group > 1).then(|| Pid::from_raw(group))))
}
