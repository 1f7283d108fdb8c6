//! The state of a command from its start on.

use std::os::fd::OwnedFd;
use std::time::Instant;

use nix::unistd::Pid;

use super::ShimProcess;
use super::process_control::SystemProcesses;
use super::shim_world::ShimWorld;
use super::supervised_command::SupervisedCommand;
use crate::draft_space::DraftSpace;
use crate::launch::mark_of;
use crate::tree_limits::LimitWatch;
use protocol::plan::ChildPlan;
use sys::ResourceUsage;

impl ShimProcess {
    /// Returns the state of a command that has just started.
    pub(super) fn new_command(
        &mut self,
        shell: Pid,
        plan: &ChildPlan,
        pipes: Vec<OwnedFd>,
        started: Instant,
    ) -> SupervisedCommand {
        let draft = self.world.as_ref().and_then(ShimWorld::draft);
        let space = draft.map(|draft| DraftSpace::begin(draft.clone(), started));
        let watch = LimitWatch::begin(plan.limits, started, self.group.clone(), space);
        self.watches = plan.limits.apply_to_tree();
        SupervisedCommand {
            shell,
            // Checked while bash starts: the end of a supervisor that was already dying does not terminate this
            // command.
            orphaned: sys::is_dying_on_host(self.supervisor.pid),
            mark: mark_of(&plan.env),
            started,
            limit: plan.limit.map(|limit| started + limit),
            reported_blocked: false,
            grace: plan.grace,
            terminal: plan.terminal.is_some(),
            usage: ResourceUsage::default(),
            shell_end: None,
            ending: None,
            pipes,
            spared: Vec::new(),
            dismissed: Vec::new(),
            tap: None,
            watch,
            group: self.group.clone(),
            processes: SystemProcesses,
        }
    }
}
