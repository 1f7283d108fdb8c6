//! The owner of a port that a wait has found, if it is not the task: a server that was left before, for example.

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use protocol::plan::MARK;
use protocol::task::Task;

/// The most processes, one above another, that are looked at.
const ABOVE: usize = 64;

/// A process that does not belong to a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignPortOwner {
    /// The process.
    pub pid: i32,
    /// Its command line.
    pub command: String,
}

/// Returns the process that listens at a port of this machine, if it is known not to belong to a task.
pub fn foreign_owner_of_port(port: u16, task: &Task) -> Option<ForeignPortOwner> {
    let listeners = sys::listeners().ok()?;
    let sockets: Vec<_> = listeners.iter().filter(|one| one.port == port).map(|one| one.socket).collect();
    let owners = sys::socket_owners(&sys::every_process(), &sockets);
    // A socket whose owner is unknown may be the task's.
    let is_known = sockets.iter().all(|socket| owners.iter().any(|(owned, _)| owned == socket));
    if sockets.is_empty() || !is_known || owners.iter().any(|(_, pid)| belongs_to_task(*pid, task)) {
        return None;
    }
    let (_, pid) = *owners.first()?;
    Some(ForeignPortOwner { pid: pid.as_raw(), command: sys::command_line(pid)? })
}

/// Returns whether a process was started by the command of a task, or whether that is not known. A daemon has left the
/// task's group and session, and its parent is the task's helper process.
fn belongs_to_task(pid: Pid, task: &Task) -> bool {
    let Some(helper) = sys::identity(Pid::from_raw(task.pid)).map(|process| process.parent) else { return true };
    let above = |pid: &Pid| sys::identity(*pid).map(|process| process.parent).filter(|parent| parent.as_raw() > 1);
    let line = std::iter::successors(Some(pid), above).take(ABOVE);
    let is_marked = |pid: Pid| sys::variable_of(pid, MARK).is_some_and(|mark| mark == task.mark);
    line.into_iter().any(|pid| pid.as_raw() == task.pid || pid == helper || is_marked(pid))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::registry::tests::registry;

    #[test]
    fn a_server_of_another_process_is_a_stranger() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a server");
        let port = listener.local_addr().expect("an address").port();
        let mut other = std::process::Command::new("sleep").arg("60").spawn().expect("started");
        let own = nix::unistd::getpid();
        let (registry, _directory) = registry(1);
        let spec = registry.task_spec("x", "/", None, None);
        let task = |pid: u32| Task::begin(&spec, pid.cast_signed(), 1, "mark", 1);
        // This process is above the other one, so it is its helper.
        assert_eq!(foreign_owner_of_port(port, &task(other.id())), None);
        assert_eq!(foreign_owner_of_port(port, &task(std::process::id())), None);
        let first = task(1);
        let found = foreign_owner_of_port(port, &first);
        assert_eq!(found.map(|found| found.pid), Some(own.as_raw()));
        other.kill().expect("killed");
        other.wait().expect("reaped");
        assert_eq!(foreign_owner_of_port(port, &task(other.id())), None, "nothing is known of a task that has ended");
        drop(listener);
        assert_eq!(foreign_owner_of_port(port, &first), None);
    }
}
