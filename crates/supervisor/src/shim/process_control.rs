//! The processes of a command and the clock, as its state machine uses them.

use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

use super::pipeline::{self, PipelineProcess};
use crate::cgroup::ShimCgroup;
use crate::pipeline_tap_names::PipelineTapNames;
use crate::tree::{self, TreeMember};
use sys::{ReapOutcome, Signal};

/// Longest list of processes whose pipes are compared.
const MOST: usize = 256;
/// CPU time in which the pipes of a tree are listed.
const BOUND: Duration = Duration::from_millis(50);

/// Waiting, signalling and the clock. Unit tests replace the system with queues of outcomes.
pub trait ProcessControl: Clone {
    /// Takes the next state change of a child, without waiting.
    fn reap(&self) -> ReapOutcome;
    /// Waits for children that were killed, each after its parent.
    fn wait(&self, killed: &[Pid]);
    /// Returns whether a process of the tree is alive.
    fn is_alive(&self, scope: TreeScope<'_>) -> bool;
    /// Sends these signals to the tree, and continues stopped processes, which would never receive them.
    fn terminate(&self, scope: TreeScope<'_>, signals: &[Signal]);
    /// Sends these signals to one process, and continues it if it is stopped.
    fn signal(&self, member: &TreeMember, signals: &[Signal]);
    /// Returns whether this very process is alive, which a list of the tree may lack.
    fn is_member_alive(&self, member: &TreeMember) -> bool;
    /// Returns the processes of the tree with their pipes, each after its parent. `None` if they cannot be known in
    /// time.
    fn pipeline_processes(&self, scope: TreeScope<'_>) -> Option<Vec<PipelineProcess>>;
    /// Sends SIGKILL to the tree. `reap` takes the children that have exited meanwhile.
    fn kill(&self, scope: TreeScope<'_>, reap: &mut dyn FnMut());
    /// Returns the current time.
    fn now(&self) -> Instant;
}

/// The tree of a command: all processes below this process, except for spared children.
#[derive(Clone, Copy)]
pub struct TreeScope<'a> {
    /// The mark of the command.
    pub mark: Option<&'a str>,
    /// Children of the shim that are left alone, with all processes below them.
    pub spared: &'a [Pid],
    /// The cgroup of the shim, if it has one. Spared children are in it, too.
    pub group: Option<&'a ShimCgroup>,
    /// The pipes of the shell's tap, if it has one.
    pub tap: Option<&'a PipelineTapNames>,
}

/// The processes of this machine.
#[derive(Clone, Copy, Debug)]
pub struct SystemProcesses;

impl ProcessControl for SystemProcesses {
    fn reap(&self) -> ReapOutcome {
        sys::reap(false)
    }

    fn wait(&self, killed: &[Pid]) {
        for pid in killed {
            let _ = waitpid(*pid, None);
        }
    }

    fn is_alive(&self, TreeScope { mark, spared, .. }: TreeScope<'_>) -> bool {
        !tree::members(mark, spared).is_empty()
    }

    fn terminate(&self, TreeScope { mark, spared, .. }: TreeScope<'_>, signals: &[Signal]) {
        tree::signal_and_continue(&tree::all_members(mark, spared), signals);
    }

    fn signal(&self, member: &TreeMember, signals: &[Signal]) {
        tree::signal_and_continue(std::slice::from_ref(member), signals);
    }

    fn is_member_alive(&self, member: &TreeMember) -> bool {
        member.is_alive()
    }

    fn pipeline_processes(&self, TreeScope { mark, spared, tap, .. }: TreeScope<'_>) -> Option<Vec<PipelineProcess>> {
        let until = sys::cpu_time_used() + BOUND;
        let members = tree::all_members(mark, spared);
        if members.len() > MOST {
            return None;
        }
        members.into_iter().map(|member| pipeline_process(member, until, tap)).collect()
    }

    fn kill(&self, TreeScope { mark, spared, group, .. }: TreeScope<'_>, reap: &mut dyn FnMut()) {
        if spared.is_empty() {
            group.into_iter().for_each(ShimCgroup::kill);
            tree::kill_tree(mark, reap);
        } else {
            tree::kill_members(&tree::members(mark, spared));
        }
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

fn pipeline_process(member: TreeMember, until: Duration, tap: Option<&PipelineTapNames>) -> Option<PipelineProcess> {
    let sys::OpenPipes { mut reads, mut writes } = sys::open_pipes(member.pid, until)?;
    if let Some(tap) = tap {
        tap.join(reads.iter_mut().chain(&mut writes));
    }
    // No signal ends a process of another user, so a reader would wait for such a process in vain.
    if matches!(nix::sys::signal::kill(member.pid, None), Err(Errno::EPERM)) {
        writes.clear();
    }
    let program = if reads.is_empty() { sys::ProcessProgram::default() } else { sys::process_program(member.pid) };
    let acts = pipeline::acts_on_input(&program);
    Some(PipelineProcess { member, reads, writes, acts, handles_terminate: program.handles_terminate })
}
