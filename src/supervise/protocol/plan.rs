//! The command that a shim is to run.

use std::time::Duration;

use super::millis;
use crate::background::Order;
use crate::plan::{Limits, Plan, Stdin};
use crate::supervise::frames::{Fields, Writer};
use crate::sys::TerminalSize;

impl Plan {
    /// As the body of `RUN`.
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default()
            .bytes(&self.program)
            .bytes(&self.cwd)
            .bytes(&self.env)
            .number(u64::from(self.umask))
            .number(u64::from(self.stdin == Stdin::Pipe))
            .number(u64::from(self.merge))
            .number(self.terminal.map_or(0, |size| u64::from(size.cols) << 16 | u64::from(size.rows)))
            .number(self.script_at.map_or(0, |at| u64::from(at) + 1))
            .number(millis(self.limit))
            .number(millis(Some(self.grace)));
        for limit in self.limits.all() {
            // None of them can be 0.
            writer = writer.number(limit.unwrap_or(0));
        }
        writer = writer.number(self.argv.len() as u64);
        for argument in &self.argv {
            writer = writer.bytes(argument);
        }
        writer.finish()
    }

    /// From the body of `RUN`; `None` when it is damaged.
    pub fn decode(body: &[u8]) -> Option<Self> {
        let mut fields = Fields(body);
        let program = fields.bytes()?.to_vec();
        let cwd = fields.bytes()?.to_vec();
        let env = fields.bytes()?.to_vec();
        let umask = u32::try_from(fields.number()?).ok()?;
        let stdin = if fields.number()? == 1 { Stdin::Pipe } else { Stdin::Null };
        let merge = fields.number()? == 1;
        let terminal = size_of(fields.number()?);
        let script_at = fields.number()?.checked_sub(1).and_then(|at| u32::try_from(at).ok());
        let limit = Some(fields.number()?).filter(|ms| *ms > 0).map(Duration::from_millis);
        let grace = Duration::from_millis(fields.number()?);
        let mut limits = Limits::default();
        for limit in limits.all_mut() {
            *limit = Some(fields.number()?).filter(|most| *most > 0);
        }
        let argv = (0..fields.number()?).map(|_| fields.bytes().map(<[u8]>::to_vec)).collect::<Option<_>>()?;
        Some(Self { program, argv, script_at, env, cwd, umask, stdin, merge, terminal, limit, grace, limits })
    }
}

/// The body of `RUN`.
pub fn encode_run(plan: &Plan, order: Option<&Order>) -> Vec<u8> {
    let order = order.and_then(|order| serde_json::to_vec(order).ok()).unwrap_or_default();
    Writer::default().bytes(&plan.encode()).bytes(&order).finish()
}

/// From the body of `RUN`; `None` when it is damaged.
pub fn decode_run(body: &[u8]) -> Option<(Plan, Option<Order>)> {
    let mut fields = Fields(body);
    let plan = Plan::decode(fields.bytes()?)?;
    let order = fields.bytes()?;
    let order = if order.is_empty() { None } else { Some(serde_json::from_slice(order).ok()?) };
    Some((plan, order))
}

/// `None` is 0.
fn size_of(number: u64) -> Option<TerminalSize> {
    let [cols, rows] = [number >> 16, number & 0xffff].map(|side| u16::try_from(side).ok());
    Some(TerminalSize { cols: cols.filter(|cols| *cols > 0)?, rows: rows.filter(|rows| *rows > 0)? })
}

#[cfg(test)]
mod tests {
    use super::super::{decode_prepare, encode_prepare};
    use super::*;
    use crate::plan::{Boot, Kind};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_plan_arrives_as_it_was_sent(
            program: Vec<u8>, argv: Vec<Vec<u8>>, env: Vec<u8>, cwd: Vec<u8>, umask in 0_u32..0o777,
            script_at in proptest::option::of(0_u32..9), merge: bool, pipe: bool,
            limit in proptest::option::of(1_u64..86_400_000), grace in 0_u64..15_000,
            terminal in proptest::option::of((1_u16.., 1_u16..)),
            most in proptest::array::uniform5(proptest::option::of(1_u64..)),
        ) {
            let [cpu, memory, processes, open_files, file_bytes] = most;
            let plan = Plan {
                program, argv, script_at, env, cwd, umask, merge,
                terminal: terminal.map(|(cols, rows)| TerminalSize { cols, rows }),
                stdin: if pipe { Stdin::Pipe } else { Stdin::Null },
                limit: limit.map(Duration::from_millis), grace: Duration::from_millis(grace),
                limits: Limits { cpu, memory, processes, open_files, file_bytes },
            };
            prop_assert_eq!(decode_run(&encode_run(&plan, None)), Some((plan.clone(), None)));
            let kind = Kind { plan, boot: Boot { early: [1, 2].into(), late: [3].into() } };
            prop_assert_eq!(decode_prepare(&encode_prepare(&kind)), Some(kind));
        }
    }
}
