//! The processes of a command whose helpers were killed, as far as the addon finds them on its own.

use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::unistd::{Pid, getpid, getsid};

use protocol::task::{Task, TaskWhereabouts};
use supervisor::cgroup;
use supervisor::tree::{self, TreeMember};

/// Time that the processes of a tree may take to exit.
const SWEEP_BOUND: Duration = Duration::from_secs(2);
/// Time between two searches for the processes.
const POLL: Duration = Duration::from_millis(10);

/// The facts that identify the processes of a command without its helpers.
pub struct ProcessTraces {
    /// The mark in the environment of the command's processes.
    pub mark: String,
    /// The shell, which leads a session of its own. `None` if it is not known, or another process may have its pid.
    pub shell: Option<Pid>,
    /// The read ends of the command's output pipes.
    pub pipes: Vec<OwnedFd>,
    /// The cgroup in which the processes started, if the command had one.
    pub group: Option<PathBuf>,
}

impl ProcessTraces {
    /// Returns the traces of a task, which its state file contains.
    pub fn of_task(task: &Task) -> Self {
        // After a restart, the path would name the cgroup of other processes, or no cgroup.
        let is_here = task.whereabouts() == TaskWhereabouts::Here;
        let group = task.cgroup.clone().filter(|group| is_here && cgroup::is_abandoned(group));
        Self { mark: task.mark.clone(), shell: None, pipes: Vec::new(), group }
    }

    /// Returns the processes that are in the cgroup, carry the mark, belong to the session of the shell, or can write
    /// to its pipes, and all below them with their sessions. Without a cgroup a process is not found if it has cleared
    /// its environment, left the session, closed the pipes and lost its parent.
    pub fn find(&self) -> Vec<TreeMember> {
        let all: Vec<Pid> = sys::every_process().into_iter().filter(|pid| *pid != getpid()).collect();
        let pipes: Vec<BorrowedFd<'_>> = self.pipes.iter().map(AsFd::as_fd).collect();
        // A child that this process is just starting has all its descriptors until it has become another program.
        let writers = sys::writers_of(&all, &pipes).into_iter().filter(|pid| !is_child(*pid));
        let grouped = self.group.iter().flat_map(|group| cgroup::members(group));
        let mut found: HashSet<Pid> = tree::marked_pids(&self.mark).into_iter().chain(writers).chain(grouped).collect();
        loop {
            let before = found.len();
            let led = |pid: &Pid| getsid(Some(*pid)).is_ok_and(|leader| self.is_leader(leader, &found));
            let members: Vec<Pid> = all.iter().copied().filter(led).collect();
            let below: Vec<Pid> =
                found.iter().flat_map(|pid| tree::descendants_of(*pid, |_| true)).map(|member| member.pid).collect();
            found.extend(members.into_iter().chain(below));
            if found.len() == before {
                return found.into_iter().filter_map(TreeMember::of).collect();
            }
        }
    }

    fn is_leader(&self, leader: Pid, found: &HashSet<Pid>) -> bool {
        self.shell == Some(leader) || found.contains(&leader)
    }

    /// Kills the processes until none is found.
    pub async fn kill(self) {
        let killed = tokio::task::spawn_blocking(move || {
            let until = Instant::now() + SWEEP_BOUND;
            loop {
                self.group.iter().for_each(|group| cgroup::kill(group));
                let members = self.find();
                tree::kill_members(&members);
                let gone = members.is_empty() && self.group.iter().all(|group| cgroup::remove_with_parent(group));
                if gone || Instant::now() >= until {
                    return;
                }
                std::thread::sleep(POLL);
            }
        });
        let _ = killed.await;
    }
}

fn is_child(pid: Pid) -> bool {
    sys::identity(pid).is_some_and(|identity| identity.parent == getpid())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;
    use protocol::plan::MARK;

    /// Starts a shell in a session of its own, without the mark, with its output in this pipe.
    fn shell(command: &str, write: OwnedFd) -> Child {
        let mut shell = Command::new("setsid");
        shell.args(["bash", "-c", command]).env_remove(MARK).stdin(Stdio::null()).stdout(write).stderr(Stdio::null());
        shell.spawn().expect("setsid, which does not fork here")
    }

    fn until(mut done: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(60), "not within a minute");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Returns the command lines that these traces find once `sleep N` runs.
    fn found(traces: &ProcessTraces, seconds: u32) -> bool {
        let line = format!("sleep {seconds}");
        let members = traces.find();
        let found = members.iter().any(|member| sys::command_line(member.pid).as_deref() == Some(&line));
        assert!(members.iter().all(|member| member.pid != getpid()), "this process is no part of the tree");
        found
    }

    fn seconds() -> u32 {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        100_000_000 + std::process::id() * 100 + NEXT.fetch_add(1, Ordering::Relaxed)
    }

    fn is_running(line: &str) -> bool {
        sys::every_process().into_iter().any(|pid| sys::command_line(pid).as_deref() == Some(line))
    }

    fn kill(traces: ProcessTraces, line: &str) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(traces.kill());
        until(|| !is_running(line));
    }

    #[test]
    fn a_process_without_mark_session_and_parent_is_found_by_the_pipe_that_it_writes_to() {
        let (read, write) = sys::pipe().expect("a pipe");
        let seconds = seconds();
        let mut shell = shell(&format!("env -i setsid sleep {seconds} &"), write);
        shell.wait().expect("an exit");
        let traces = ProcessTraces { mark: format!("none-{seconds}"), shell: None, pipes: vec![read], group: None };
        until(|| found(&traces, seconds));
        kill(traces, &format!("sleep {seconds}"));
    }

    #[test]
    fn a_process_without_mark_pipe_and_parent_is_found_by_the_session_of_the_shell() {
        let (read, write) = sys::pipe().expect("a pipe");
        let seconds = seconds();
        let mut shell = shell(&format!("env -i sleep {seconds} >/dev/null &"), write);
        let pid = Pid::from_raw(i32::try_from(shell.id()).expect("a pid"));
        shell.wait().expect("an exit");
        let traces =
            ProcessTraces { mark: format!("none-{seconds}"), shell: Some(pid), pipes: vec![read], group: None };
        until(|| found(&traces, seconds));
        kill(traces, &format!("sleep {seconds}"));
    }

    #[test]
    fn a_process_without_mark_session_and_pipe_is_found_below_its_parent() {
        let (read, write) = sys::pipe().expect("a pipe");
        let seconds = seconds();
        let mark = format!("traces-{seconds}");
        let command = format!("export {MARK}={mark}; bash -c 'env -i setsid sleep {seconds} >/dev/null 2>&1 & wait'");
        let mut shell = shell(&command, write);
        let traces = ProcessTraces { mark, shell: None, pipes: Vec::new(), group: None };
        until(|| found(&traces, seconds));
        kill(traces, &format!("sleep {seconds}"));
        shell.wait().expect("an exit");
        drop(read);
    }
}
