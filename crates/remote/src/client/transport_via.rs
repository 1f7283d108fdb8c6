//! A transport on another target, as the link through it sees it. That target's program starts it, and passes its bytes
//! on (`carried_transport`).

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::frame_link::FrameLink;

/// Time the other target has to tell the last words of a transport.
const WORDS_TIMEOUT: Duration = Duration::from_secs(10);
/// Time it has to tell what a transport has said that is given up.
const GIVE_UP_TIMEOUT: Duration = Duration::from_secs(1);

/// A target whose program starts transports.
pub trait TransportOrigin: Send + Sync {
    /// Starts a transport, now or once a link is there. Returns the link through it.
    ///
    /// # Errors
    /// If the target was closed, or takes no more.
    fn start_transport(self: Arc<Self>, argv: Vec<String>) -> Result<(FrameLink, TransportVia), ViaFailure>;

    /// Returns whether it was closed.
    fn is_closed(&self) -> bool;
}

/// Why a transport could not be started, or has ended with more than its own words.
#[derive(Debug, Clone)]
pub enum ViaFailure {
    /// It could not be started, or the target through which it led is lost or cannot be reached.
    Failed(String),
    /// The target through which it led was closed.
    Closed(String),
}

/// The exit code and the messages of a transport.
pub type TransportWords = (Option<i32>, String);

/// A transport on another target.
pub struct TransportVia {
    /// Completes when the transport has ended.
    pub relay: JoinHandle<Result<TransportWords, ViaFailure>>,
    /// Ends the transport without a goodbye. Without a word, it ends with its link, and says goodbye.
    pub drops: oneshot::Sender<()>,
    /// Why the other target has ended the link.
    pub cut: Arc<OnceLock<String>>,
}

impl TransportVia {
    /// Waits for the exit of a transport whose link has ended. Returns its exit code and its messages.
    pub async fn last_words(self) -> Result<TransportWords, ViaFailure> {
        match timeout(WORDS_TIMEOUT, self.relay).await {
            Ok(Ok(ended)) => ended,
            _ => Ok((None, String::new())),
        }
    }

    /// Ends the transport without a goodbye. Returns its messages.
    pub async fn give_up(self) -> String {
        let Self { relay, drops, .. } = self;
        // It may have ended by itself.
        let _ended = drops.send(());
        match timeout(GIVE_UP_TIMEOUT, relay).await {
            Ok(Ok(Ok((_, said)))) => said,
            _ => String::new(),
        }
    }

    /// Ends the transport, without a goodbye. Waits for nothing.
    pub fn drop_link(self) {
        let _ended = self.drops.send(());
    }

    /// Returns why the other target has ended the link, if it has.
    pub fn cut_reason(&self) -> Option<&str> {
        self.cut.get().map(String::as_str)
    }
}
