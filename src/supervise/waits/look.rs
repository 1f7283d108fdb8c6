//! A look at all processes of a command, bounded in time: it never holds up the end of one.

use std::time::{Duration, Instant};

use nix::unistd::Pid;

use super::find::find;
use super::wait::{Wait, WaitsFor, plain};
use crate::supervise::tree::Member;
use crate::sys;

/// How long a look may take: far longer than it does, since a busy machine lets nobody finish at once.
const BOUND: Duration = Duration::from_millis(100);
/// How long the look at who else has a FIFO open may take: that may be any process of the machine.
const OTHERS: Duration = Duration::from_millis(300);
/// More processes than these are not looked at.
const MOST: usize = 400;
/// A command line is told up to here, in characters.
const COMMAND: usize = 100;

/// Who of these processes waits for what nobody gives, so that the shell does, too; `None` when the command is only slow, and
/// where that is not to be known.
pub fn look(shell: Pid, members: &[Member]) -> Option<Wait> {
    if !sys::DOING_IS_KNOWN || members.len() > MOST {
        return None;
    }
    let until = Instant::now() + BOUND;
    // One that has gone meanwhile is one of a command that works.
    let seen: Vec<sys::Doing> = members.iter().map(|member| sys::doing(member.pid, until)).collect::<Option<_>>()?;
    let (pid, on, others, sure) = find(shell.as_raw(), &seen)?;
    if let WaitsFor::Fifo(_, path) = &on {
        let known: Vec<i32> = seen.iter().map(|one| one.pid).collect();
        let only_sleep = |name: &String| name == "sleep";
        let until = Instant::now() + OTHERS;
        if !sys::writers(path, &known, until)?.iter().all(only_sleep) {
            return None;
        }
    }
    let line = plain(&sys::command_line(Pid::from_raw(pid))?);
    let mut command: String = line.chars().take(COMMAND).collect();
    if command.len() < line.len() {
        command.push('…');
    }
    Some(Wait { pid, command, on, others, sure })
}
