//! From a plan to a running child: pipes, a shim, and another attempt if nothing was started yet.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::error::HelperError;
use super::helpers::HelperProcesses;
use super::shim_command::{SentPlan, ShimCommand, ShimEvent};
use super::shim_pool::ShimHandle;
use crate::supervise::evidence_watch::EvidenceWatch;
use crate::supervise::inherited_state_files::InheritedStateFiles;
use crate::supervise::ready_shell::StaleShellReason;
use protocol::ShimOrder;
use protocol::plan::WarmShellKind;
use protocol::{CommandOrder, CommandPipes};

/// Attempts to start a command whose shim was killed before it took the plan, so that nothing was started.
const MAX_ATTEMPTS: u32 = 100;
/// The first attempts follow at once, because one dead shim says nothing about the next.
const IMMEDIATE_ATTEMPTS: u32 = 3;
/// Time between attempts without descriptors. Other commands exit meanwhile.
const PAUSE: Duration = Duration::from_millis(20);
/// Time a shell may take to become warm while a command waits for it.
const WARM_UP: Duration = Duration::from_secs(5);
/// Time without descriptors after which the shortage becomes an error.
const SHORT_OF_DESCRIPTORS: Duration = Duration::from_secs(10);

/// A command that was sent to a shim, or to a warm shell below it.
pub struct SentCommand {
    sent: SentPlan,
    pipes: CommandPipes,
    /// Pid and mark of the warm shell.
    shell: Option<(i32, String)>,
    /// The files that the warm shell has inherited for its state.
    files: Option<Box<InheritedStateFiles>>,
}

/// A launched command, with the events of its shim.
pub struct RunningCommand {
    /// The child.
    pub child: ShimCommand,
    /// The addon's ends of the command's pipes.
    pub pipes: CommandPipes,
    /// The pid of the warm shell that runs the command, and its mark, which is the command's.
    pub shell: Option<(i32, String)>,
    /// The files that the warm shell has inherited for its state.
    pub files: Option<InheritedStateFiles>,
}

impl SentCommand {
    /// Starts the command without blocking. Returns `None` if no shim is free.
    pub fn start_now(helpers: &'static HelperProcesses, order: &CommandOrder) -> io::Result<Option<Self>> {
        let Some(shim) = helpers.take(order.plan.world, order.warm.as_ref().map(|warm| &*warm.kind)) else {
            return Ok(None);
        };
        match Self::give_to_warm_shell(helpers, shim, order) {
            WarmAttempt::Given(launched) => Ok(Some(launched)),
            // The shim's shell must become ready first, which is not awaited here.
            WarmAttempt::NoReadyShell(shim) if order.warm.as_ref().is_some_and(|warm| warm.prestarts) => {
                helpers.give_back(shim);
                Ok(None)
            }
            WarmAttempt::NoReadyShell(shim) => Self::send_to_shim(helpers, shim, order).map(Some),
            WarmAttempt::Lost => Ok(None),
        }
    }

    /// Gives the command to the warm shell below this shim, if one is ready.
    fn give_to_warm_shell(
        helpers: &'static HelperProcesses,
        mut shim: ShimHandle,
        order: &CommandOrder,
    ) -> WarmAttempt {
        let Some(warm) = &order.warm else { return WarmAttempt::NoReadyShell(shim) };
        let Some((ready, mark, own)) = shim.take_ready(&warm.kind) else { return WarmAttempt::NoReadyShell(shim) };
        let shell = ready.shell();
        // Without its shim the shell would run unsupervised, and a shim that was just killed may still exist.
        if shim.is_gone() {
            helpers.count_stale_shell(shim.world, StaleShellReason::Gone);
            helpers.request_replacement(shim.world);
            return WarmAttempt::Lost;
        }
        // Without its record, nothing may start.
        let record = order.plan.record.as_ref().filter(|record| record.require);
        let asks = record.is_some() || shim.world.is_some() && !ready.refresh_world();
        if asks && !shim.protect(record) {
            helpers.count_stale_shell(shim.world, StaleShellReason::Gone);
            helpers.request_replacement(shim.world);
            return WarmAttempt::Lost;
        }
        let watched = order.evidence.then(|| own.watched.ignoring_past().with_tap(order.tap));
        match ready.give_command(&shim.socket, order, warm) {
            Ok(pipes) => {
                helpers.count_used_shell(shim.world);
                let sent = SentPlan::nothing(shim).watched(watched);
                WarmAttempt::Given(Self { sent, pipes, shell: Some((shell, mark)), files: own.state })
            }
            Err(why) => {
                helpers.count_stale_shell(shim.world, why);
                if why == StaleShellReason::Gone {
                    // The shim may believe that the shell has its command, so it ends with its socket.
                    helpers.request_replacement(shim.world);
                    return WarmAttempt::Lost;
                }
                WarmAttempt::NoReadyShell(shim)
            }
        }
    }

    /// Sends the plan to this shim.
    fn send_to_shim(helpers: &'static HelperProcesses, shim: ShimHandle, order: &CommandOrder) -> io::Result<Self> {
        match order.open_pipes() {
            Ok((pipes, mut theirs)) => {
                let mut plan = order.plan.clone();
                let (watched, shared) = EvidenceWatch::begin_with(&mut plan, order.tap);
                theirs.files.splice(0..0, shared);
                let run = ShimOrder {
                    plan,
                    task: order.task.clone(),
                    opening: order.opening.as_deref().map(|opening| (**opening).clone()),
                    descriptors: theirs,
                };
                let sent = SentPlan::send(shim, run)?.watched(order.evidence.then_some(watched));
                Ok(Self { sent, pipes, shell: None, files: None })
            }
            Err(error) => {
                helpers.give_back(shim);
                Err(error)
            }
        }
    }

    /// Starts the command once a shim and descriptors are available.
    pub async fn start_later(helpers: &'static HelperProcesses, order: &CommandOrder) -> Result<Self, HelperError> {
        let began = Instant::now();
        let mut cold = false;
        loop {
            match Self::try_start(helpers, order, cold).await {
                Err(error) if error.is_shortage() && began.elapsed() < SHORT_OF_DESCRIPTORS => {
                    tokio::time::sleep(PAUSE).await;
                }
                // A process that keeps ending warm shells must not block this command.
                Ok(None) if !cold => cold = true,
                Ok(launched) => return launched.ok_or(HelperError::Lost),
                Err(error) => return Err(error),
            }
        }
    }

    /// Tries to start the command. Returns `None` if the shim was gone and another can be tried.
    async fn try_start(
        helpers: &'static HelperProcesses,
        order: &CommandOrder,
        cold: bool,
    ) -> Result<Option<Self>, HelperError> {
        let mut shim = match helpers.take(order.plan.world, order.warm.as_ref().map(|warm| &*warm.kind)) {
            Some(shim) => shim,
            None => helpers.shim(order.plan.world).await?,
        };
        if cold {
            return Ok(Some(Self::send_to_shim(helpers, shim, order)?));
        }
        if let Some(warm) = order.warm.as_ref().filter(|warm| warm.prestarts) {
            (shim, _) = prestart_shell(helpers, shim, &warm.kind).await?;
        }
        match Self::give_to_warm_shell(helpers, shim, order) {
            WarmAttempt::Given(launched) => Ok(Some(launched)),
            WarmAttempt::NoReadyShell(shim) => Ok(Some(Self::send_to_shim(helpers, shim, order)?)),
            WarmAttempt::Lost => Ok(None),
        }
    }

    /// Continues in the runtime, where events can be awaited.
    pub fn follow(self) -> io::Result<RunningCommand> {
        let Self { sent, pipes, shell, files } = self;
        let mut child = sent.follow()?;
        if shell.is_some() {
            child.set_started();
        }
        Ok(RunningCommand { child, pipes, shell, files: files.map(|files| *files) })
    }

    /// Waits before another attempt. Returns whether an attempt is allowed.
    pub async fn may_retry(tries: u32) -> bool {
        if tries >= IMMEDIATE_ATTEMPTS {
            tokio::time::sleep(PAUSE).await;
        }
        tries < MAX_ATTEMPTS
    }
}

/// The result of giving a command to a warm shell.
enum WarmAttempt {
    /// The command runs.
    Given(SentCommand),
    /// No shell is ready. The shim can start one.
    NoReadyShell(ShimHandle),
    /// The shim must not be used again.
    Lost,
}

/// Prepares a warm shell of this kind below this shim, unless it has one. The shell may fail. Returns whether the shim
/// was lost meanwhile: a killed shim may still look alive.
async fn prestart_shell(
    helpers: &'static HelperProcesses,
    mut shim: ShimHandle,
    kind: &Arc<WarmShellKind>,
) -> io::Result<(ShimHandle, bool)> {
    shim.on_readable();
    if shim.is_ready(kind) || !helpers.can_warm_shells(shim.world) {
        return Ok((shim, false));
    }
    if !shim.has_shell_of(kind) {
        shim.prepare(Arc::clone(kind));
    }
    let Some(shell) = shim.shell.take() else { return Ok((shim, false)) };
    let mut child = SentPlan::nothing(shim).follow()?;
    child.set_prepares();
    let arrived = async {
        loop {
            match child.next_event().await {
                ShimEvent::Prepared(mark, ready) if mark == shell.mark => return Some(ready),
                // A report about an earlier shell.
                ShimEvent::Prepared(..) => {}
                _ => return None,
            }
        }
    };
    let arrived = tokio::time::timeout(WARM_UP, arrived).await;
    let is_lost = matches!(arrived, Ok(None));
    let mut shim = child.into_shim();
    shim.shell = arrived.ok().flatten().flatten().map(|ready| shell.into_ready(ready));
    Ok((shim, is_lost))
}

/// Prepares a warm shell of this kind, unless one exists. Returns whether a shell is ready then.
pub async fn warm_up(helpers: &'static HelperProcesses, kind: Arc<WarmShellKind>) -> Result<bool, HelperError> {
    for tries in 1.. {
        let shim = match helpers.take_any(&kind) {
            Some(shim) => shim,
            None => helpers.shim(kind.plan.world).await?,
        };
        let (shim, is_lost) = prestart_shell(helpers, shim, &kind).await?;
        if !is_lost && !shim.is_gone() {
            let waits = shim.is_ready(&kind);
            helpers.give_back(shim);
            return Ok(waits);
        }
        // A killed shim says nothing about the next shim. Back in its pool, it would be taken again.
        drop(shim);
        helpers.request_replacement(kind.plan.world);
        if !SentCommand::may_retry(tries).await {
            break;
        }
    }
    Ok(false)
}
