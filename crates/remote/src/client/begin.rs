//! Makes a program that was reached ours.

use std::sync::Arc;
use std::time::Duration;

use super::error::{Reason, TargetError};
use super::reach::Reached;
use super::settings::Settings;
use super::transport::Transport;
use crate::messages::{Begin, Facts, ToProgram};
use crate::post::Post;

/// The program that runs the commands now.
pub(super) struct Instance {
    /// The messages to it and from it.
    pub post: Arc<Post>,
    /// The facts that it has told.
    pub facts: Arc<Facts>,
    /// Whether it was sent when it was started.
    pub sent: bool,
}

/// Makes a program ours.
pub(super) async fn begin(settings: &Settings, reached: Reached) -> Result<(Instance, Transport), TargetError> {
    let Reached { mut transport, facts, sent } = reached;
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let begin = Begin { lease_ms: millis(settings.lease), alive_ms: millis(settings.alive) };
    if let Err(error) = transport.link.greet(&ToProgram::Begin(begin)).await {
        return Err(TargetError::new(&settings.id, Reason::Unreachable, &error.to_string(), transport.said()));
    }
    Ok((Instance { post: Arc::default(), facts: Arc::new(facts), sent }, transport))
}
