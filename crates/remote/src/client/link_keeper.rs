//! Keeps a link to a target, and connects again after a cut until the lease there has ended.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, timeout};

use super::connection_attempt::{ReachedProgram, reach_program};
use super::program_instance::{ProgramInstance, claim_program};
use super::remote_target::{RemoteTarget, TargetState};
use super::target_address::OTHER_POD;
use super::target_error::{TargetError, TargetErrorReason};
use super::target_run_updates::PROTOCOL_BROKEN;
use super::target_settings::TargetSettings;
use super::transport_process::TransportProcess;
use crate::frame_link::{LinkEnd, carry_frames};
use crate::link_mailbox::LinkMailbox;
use crate::messages::{GreetingFromProgram, GreetingToProgram, ResumeRequest, TargetFacts};

/// Pauses between two attempts: the first, and the longest.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(5)];
/// A link that lasted as long was a link: the next attempt is made at once. A machine that takes each link and ends it
/// would otherwise be given transports without end.
const MIN_LINK_LIFETIME: Duration = Duration::from_secs(1);
/// Time the earlier program has to take a link over.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(10);
/// Time it has once the target was closed.
const LAST_WAIT: Duration = Duration::from_millis(1500);

const LEASE_ENDED: &str = "the link was down for longer than the lease";
const VIA_CLOSED: &str = "the target through which it leads was closed";
const PROGRAM_GONE: &str = "the program that ran it is gone: it was killed, or its machine was restarted";

/// How serving a link ended.
enum ServedLinkEnd {
    /// The target was closed, or nobody has it any more.
    Over,
    /// What runs there is lost.
    Lost(TargetLoss),
    /// The link is cut, with the reason.
    Cut(String),
}

/// Why what runs there is lost.
struct TargetLoss {
    why: &'static str,
    /// The error of an attempt to connect, after which no other one is made.
    error: Option<TargetError>,
}

impl TargetLoss {
    /// Returns the loss of a target that no later attempt reaches either.
    fn for_good(settings: &TargetSettings, error: TargetError) -> Self {
        let via_closed = settings.via.as_ref().is_some_and(|via| via.is_closed());
        Self { why: if via_closed { VIA_CLOSED } else { OTHER_POD }, error: Some(error) }
    }
}

impl From<&'static str> for TargetLoss {
    fn from(why: &'static str) -> Self {
        Self { why, error: None }
    }
}

/// Serves the target over this link and later ones, until the target is closed. A target that is lost connects anew
/// with its next run.
pub(super) async fn keep_connected(target: Weak<RemoteTarget>, transport: TransportProcess, over: watch::Sender<bool>) {
    if let Some(transport) = serve_all(&target, transport).await {
        transport.goodbye().await;
    }
    over.send_replace(true);
}

/// Returns the transport that is left, if there is one.
async fn serve_all(target: &Weak<RemoteTarget>, mut transport: TransportProcess) -> Option<TransportProcess> {
    let mut pauses = RetryPauses::default();
    while let Some(kept) = DetachedTargetParts::detach_from(target) {
        let since = Instant::now();
        let TargetLoss { why, error } = match serve(target, &mut transport, &kept).await {
            ServedLinkEnd::Over => return Some(transport),
            ServedLinkEnd::Lost(why) => {
                // Its carrier says goodbye.
                drop(transport);
                why
            }
            ServedLinkEnd::Cut(why) => {
                set(target, TargetState::Disconnected, &why);
                transport.drop_link();
                pauses.after_link(since.elapsed());
                match reconnect_within_lease(target, &kept, &mut pauses).await {
                    Some(Ok(new)) => {
                        transport = new;
                        set(target, TargetState::Connected, "");
                        continue;
                    }
                    Some(Err(why)) => why,
                    None => return None,
                }
            }
        };
        if let Some(target) = target.upgrade() {
            // Before the loss is told: a call that is made for it connects anew.
            target.refuse_runs(&error.unwrap_or_else(|| TargetError::lost(target.id(), why)));
            target.set_state(TargetState::Lost, why);
            target.lose_runs(why);
        }
        transport = reconnect_on_demand(target, kept).await?;
    }
    Some(transport)
}

/// What is known of the target while nobody may have it any more.
struct DetachedTargetParts {
    settings: TargetSettings,
    post: Arc<LinkMailbox>,
    facts: Arc<TargetFacts>,
    state: watch::Receiver<TargetState>,
    wanted: Arc<Notify>,
}

impl DetachedTargetParts {
    fn detach_from(target: &Weak<RemoteTarget>) -> Option<Self> {
        let target = target.upgrade()?;
        let instance = target.instance();
        Some(Self {
            settings: target.settings.clone(),
            post: Arc::clone(&instance.post),
            facts: Arc::clone(&instance.facts),
            state: target.state.subscribe(),
            wanted: Arc::clone(&target.wanted),
        })
    }

    /// Waits until the target is closed, or nobody has it any more.
    async fn wait_until_closed(&self) {
        let mut state = self.state.clone();
        // An error: the target itself is gone.
        let _gone = state.wait_for(|state| *state == TargetState::Closed).await;
    }
}

/// Connects a lost target anew when a run begins. If that fails, the run is refused. `None`: the target was closed.
async fn reconnect_on_demand(target: &Weak<RemoteTarget>, kept: DetachedTargetParts) -> Option<TransportProcess> {
    loop {
        if target.upgrade()?.outbox.unbegun().is_empty() {
            tokio::select! {
                () = kept.wanted.notified() => {}
                () = kept.wait_until_closed() => return None,
            }
            continue;
        }
        let begun = tokio::select! {
            begun = start_new_program(&kept.settings) => begun,
            () = kept.wait_until_closed() => return None,
        };
        let target = target.upgrade()?;
        match begun {
            Ok((instance, transport)) => {
                target.switch_program(instance);
                target.set_state(TargetState::Connected, "");
                return Some(transport);
            }
            Err(error) => target.refuse_runs(&error),
        }
    }
}

async fn start_new_program(settings: &TargetSettings) -> Result<(ProgramInstance, TransportProcess), TargetError> {
    claim_program(settings, reach_program(settings).await?).await
}

async fn serve(
    target: &Weak<RemoteTarget>,
    transport: &mut TransportProcess,
    kept: &DetachedTargetParts,
) -> ServedLinkEnd {
    let carried = carry_frames(&mut transport.link, &kept.post, kept.settings.alive, |message| {
        target.upgrade().map_or(Ok(()), |target| target.on_message(message.run, &message.payload))
    });
    let cut = tokio::select! {
        biased;
        () = kept.wait_until_closed() => return ServedLinkEnd::Over,
        cut = carried => cut,
    };
    match cut {
        LinkEnd::Lost(error) => ServedLinkEnd::Cut(transport.cut_reason(&error)),
        // No program of ours says goodbye to its host.
        LinkEnd::Goodbye | LinkEnd::Broken(_) => ServedLinkEnd::Lost(PROTOCOL_BROKEN.into()),
    }
}

/// The pauses before attempts to connect: none after a link that lasted, then longer and longer ones.
#[derive(Debug, Default)]
struct RetryPauses(Duration);

impl RetryPauses {
    fn after_link(&mut self, lasted: Duration) {
        if lasted >= MIN_LINK_LIFETIME {
            self.0 = Duration::ZERO;
        }
    }

    /// Returns the pause before the next attempt.
    fn next(&mut self) -> Duration {
        let [first, longest] = PAUSES;
        let pause = self.0;
        self.0 = (pause * 2).clamp(first, longest);
        pause
    }
}

/// Connects again until the lease ends. Returns the new transport, or why all is lost. `None`: the target was closed.
async fn reconnect_within_lease(
    target: &Weak<RemoteTarget>,
    kept: &DetachedTargetParts,
    pauses: &mut RetryPauses,
) -> Option<Result<TransportProcess, TargetLoss>> {
    let DetachedTargetParts { settings, post, facts, .. } = kept;
    let ends = Instant::now() + settings.lease;
    loop {
        let left = ends.saturating_duration_since(Instant::now());
        tokio::select! {
            () = sleep(pauses.next().min(left)) => {}
            () = kept.wait_until_closed() => return None,
        }
        let left = ends.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Some(Err(LEASE_ENDED.into()));
        }
        let reached = tokio::select! {
            reached = timeout(left, reach_program(settings)) => reached,
            () = kept.wait_until_closed() => return None,
        };
        let reached = match reached {
            Ok(Ok(reached)) => reached,
            Ok(Err(error)) if error.reason == TargetErrorReason::Lost => {
                return Some(Err(TargetLoss::for_good(settings, error)));
            }
            Ok(Err(_)) | Err(_) => continue,
        };
        let mut resuming = pin!(resume(reached, post, facts));
        let resumed = tokio::select! {
            resumed = &mut resuming => resumed,
            () = kept.wait_until_closed() => {
                // The earlier program hears the goodbye once it has the link.
                if let Ok(ResumeOutcome::TakenOver(transport)) = timeout(LAST_WAIT, resuming).await {
                    transport.goodbye().await;
                }
                return None;
            }
        };
        match resumed {
            ResumeOutcome::TakenOver(transport) => return Some(Ok(transport)),
            ResumeOutcome::Gone(reached) => return Some(adopt_new_program(target, settings, *reached).await),
            ResumeOutcome::Elsewhere => {}
        }
    }
}

/// How a new program took the wish to resume.
enum ResumeOutcome {
    /// The earlier program took the link over.
    TakenOver(TransportProcess),
    /// The earlier program is gone.
    Gone(Box<ReachedProgram>),
    /// It is not on this machine, or cannot be reached now.
    Elsewhere,
}

async fn resume(mut reached: ReachedProgram, post: &LinkMailbox, facts: &TargetFacts) -> ResumeOutcome {
    if reached.facts.machine != facts.machine {
        reached.transport.drop_link();
        return ResumeOutcome::Elsewhere;
    }
    let resume = ResumeRequest { socket: facts.socket.clone(), token: facts.token, received: post.received() };
    let link = &mut reached.transport.link;
    let answer = timeout(TAKEOVER_TIMEOUT, async {
        link.send_greeting(&GreetingToProgram::Resume(resume)).await.map_err(LinkEnd::Lost)?;
        link.receive_greeting::<GreetingFromProgram>().await
    });
    match answer.await {
        Ok(Ok(GreetingFromProgram::Resumed { received })) if post.resume(received).is_ok() => {
            ResumeOutcome::TakenOver(reached.transport)
        }
        Ok(Ok(GreetingFromProgram::Gone)) => ResumeOutcome::Gone(Box::new(reached)),
        _ => {
            reached.transport.drop_link();
            ResumeOutcome::Elsewhere
        }
    }
}

/// Goes on with the new program. What ran in the earlier one is lost.
async fn adopt_new_program(
    target: &Weak<RemoteTarget>,
    settings: &TargetSettings,
    reached: ReachedProgram,
) -> Result<TransportProcess, TargetLoss> {
    let Ok((instance, transport)) = claim_program(settings, reached).await else { return Err(PROGRAM_GONE.into()) };
    if let Some(target) = target.upgrade() {
        target.switch_program(instance);
        target.lose_runs(PROGRAM_GONE);
    }
    Ok(transport)
}

fn set(target: &Weak<RemoteTarget>, state: TargetState, why: &str) {
    if let Some(target) = target.upgrade() {
        target.set_state(state, why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_that_ends_each_link_is_asked_less_and_less_often() {
        let mut pauses = RetryPauses::default();
        pauses.after_link(MIN_LINK_LIFETIME);
        assert_eq!(pauses.next(), Duration::ZERO, "a link that was cut is made again at once");
        let mut after = |lasted| {
            pauses.after_link(lasted);
            pauses.next()
        };
        let each: Vec<_> = (0..8).map(|_| after(Duration::ZERO).as_millis()).collect();
        assert_eq!(each, [100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
        assert_eq!(after(MIN_LINK_LIFETIME), Duration::ZERO);
    }
}
