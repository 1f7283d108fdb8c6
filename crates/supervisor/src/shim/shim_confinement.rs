//! A shim and its world.

use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use super::ShimProcess;
use super::shim_world::ShimWorld;
use super::task_server::TaskServer;
use confine_policy::CommandDenials;
use protocol::FromShim;
use protocol::plan::ChangeJournalPlan;
use sys::{ChildConfinement, LaunchError, LaunchStep};

impl ShimProcess {
    /// Announces a command to the world, with the journal of its changes. Returns the confinement of the command.
    pub(super) fn confine(&mut self, journal: Option<OwnedFd>) -> Result<Option<Rc<ChildConfinement>>, LaunchError> {
        let step = LaunchStep::Protect;
        let failed = |error: io::Error| LaunchError { step, errno: error.raw_os_error().unwrap_or(libc::EIO) };
        self.world.as_mut().map(|world| world.begin(journal).map_err(failed)).transpose()
    }

    /// Handles a command that cannot be confined. This shim takes no other command, since its ways into the world may
    /// be gone. If a process of the world is gone, the command gets another world.
    pub(super) fn refuse(&mut self, failure: LaunchError) -> io::Result<()> {
        self.records.discard();
        let is_intact = self.world.as_ref().is_none_or(ShimWorld::is_intact);
        self.send(if is_intact { FromShim::Failed(failure) } else { FromShim::WorldGone });
        Err(io::Error::from_raw_os_error(failure.errno))
    }

    /// Answers whether the warm shell may be given a command, whose changes must be recorded with `record`.
    pub(super) fn protect(&mut self, record: Option<&ChangeJournalPlan>) {
        let is_protected = self.world.as_mut().is_none_or(|world| world.protect_new_paths().is_ok());
        let mut begin = |record| self.warm.as_ref().is_some_and(|warm| self.records.begin_warm(record, warm).is_ok());
        let may = is_protected && record.is_none_or(&mut begin);
        self.send(FromShim::Protected(may));
    }

    /// Keeps others from changing the draft of the warm shell, which is about to get a command.
    pub(super) fn hold_draft(&mut self, lock: Option<OwnedFd>) {
        if let Some((world, lock)) = self.world.as_mut().zip(lock) {
            world.hold_draft(lock);
        }
    }

    /// Connects a task with its world, which may read its log from now on. Returns the denials so far.
    pub(super) fn confine_task(&mut self, server: &mut TaskServer, mark: Option<&str>) -> CommandDenials {
        let Some(world) = &mut self.world else { return CommandDenials::default() };
        world.show_file(&server.log_path());
        let news = world.denial_news();
        let denials = world.take_denials(mark);
        server.enter_world(world.home(), news, denials.clone());
        denials
    }

    /// Adds the world's denials since the last call to a task.
    pub(super) fn collect_denials(&mut self, mark: Option<&str>) {
        if let Some((world, server)) = self.world.as_mut().zip(self.server.as_mut()) {
            server.add_denials(world.take_denials(mark));
            if world.has_lost_listener() {
                server.end_announcements();
            }
        }
    }

    /// Sends the denials of a command that goes on.
    pub(super) fn answer_denials(&mut self, mark: Option<&str>) {
        let denials = self.world.as_mut().map(|world| world.take_denials(mark)).unwrap_or_default();
        self.entries.add_secrets(&denials.secrets);
        self.send(FromShim::Denied(denials));
    }

    /// Reports the world's denials to a command, which ends unless processes of it are left.
    pub(super) fn report_denials(&mut self, mark: Option<&str>, alive: bool) {
        let take = if alive { ShimWorld::take_denials } else { ShimWorld::end_command };
        let denials = self.world.as_mut().map(|world| take(world, mark)).unwrap_or_default();
        if !denials.is_empty() {
            self.entries.add_secrets(&denials.secrets);
            self.send(FromShim::Denied(denials));
        }
    }
}
