//! Makes a program that was reached ours.

use std::sync::Arc;
use std::time::Duration;

use super::connection_attempt::ReachedProgram;
use super::target_error::{TargetError, TargetErrorReason};
use super::target_settings::TargetSettings;
use super::transport_process::TransportProcess;
use crate::link_mailbox::LinkMailbox;
use crate::messages::{GreetingToProgram, LeaseTerms, TargetFacts};

/// The program that runs the commands now.
pub(super) struct ProgramInstance {
    /// The messages to it and from it.
    pub post: Arc<LinkMailbox>,
    /// The facts that it has told.
    pub facts: Arc<TargetFacts>,
    /// Whether it was sent when it was started.
    pub sent: bool,
}

/// Makes a program ours.
pub(super) async fn claim_program(
    settings: &TargetSettings,
    reached: ReachedProgram,
) -> Result<(ProgramInstance, TransportProcess), TargetError> {
    let ReachedProgram { mut transport, facts, sent } = reached;
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let begin = LeaseTerms { lease_ms: millis(settings.lease), alive_ms: millis(settings.alive) };
    if let Err(error) = transport.link.send_greeting(&GreetingToProgram::Begin(begin)).await {
        return Err(TargetError::new(
            &settings.id,
            TargetErrorReason::Unreachable,
            &error.to_string(),
            transport.give_up().await,
        ));
    }
    Ok((ProgramInstance { post: Arc::new(LinkMailbox::told(facts.load)), facts: Arc::new(facts), sent }, transport))
}
