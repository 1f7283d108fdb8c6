//! What happens in opened connections, for the gate.

use std::sync::{Arc, OnceLock};

use confine_policy::CountedSecretUse;

/// The command of a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionOrigin {
    /// The value of `AGENT_BASH_ID` of the command. `None`: the command is unknown.
    pub mark: Option<String>,
    /// The basename of the executable, or an empty text.
    pub program: String,
}

/// The command of a connection, which the gate looks for while the connection is opened.
pub type SharedOrigin = Arc<OnceLock<ConnectionOrigin>>;

/// What happened in opened connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BrokerEvent {
    /// A secret was put in, or refused.
    Used {
        /// The command.
        origin: SharedOrigin,
        /// The use.
        of: CountedSecretUse,
    },
    /// A stand-in was sent to a host that is not one of its secret's.
    Leaked {
        /// The command.
        origin: SharedOrigin,
        /// The name of the secret.
        name: String,
        /// `host:port`.
        to: String,
    },
    /// A handshake gave another name than the program has dialled, or none.
    OtherName {
        /// The command.
        origin: SharedOrigin,
        /// `host:port`, with the name of the handshake if there is one.
        target: String,
    },
    /// A program did not trust the authority of the world.
    Distrusted {
        /// The command.
        origin: SharedOrigin,
        /// `host:port`.
        target: String,
    },
    /// A program asked the ssh agent for something that it may not have.
    AgentRefused {
        /// The command.
        origin: SharedOrigin,
        /// The agent, with the reason.
        target: String,
    },
}

/// Takes events, at once and from any thread.
#[derive(Clone)]
pub struct EventSink(Arc<dyn Fn(BrokerEvent) + Send + Sync>);

impl EventSink {
    /// Returns a sink that calls this.
    pub fn new(on_event: impl Fn(BrokerEvent) + Send + Sync + 'static) -> Self {
        Self(Arc::new(on_event))
    }

    pub(crate) fn send(&self, event: BrokerEvent) {
        (self.0)(event);
    }
}
