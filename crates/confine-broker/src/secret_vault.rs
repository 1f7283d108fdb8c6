//! The values of secrets in the memory of the gate, asked of the host when a request first needs one.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zeroize::Zeroizing;

use confine_policy::{SecretRule, ValueAnswer, ValueQuestion};

/// The largest answer, in bytes: a value and what postcard adds.
const LARGEST: usize = 64 * 1024 + 64;

/// Time the host may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The values of a secret that are remembered, as an answer may hold one from before it was replaced.
const REMEMBERED: usize = 4;

/// A value, whose memory is overwritten at its end.
pub(crate) type SecretValue = Arc<Zeroizing<String>>;

/// A value and when it was asked for, the newest first.
type KnownValues = Vec<(SecretValue, Instant)>;

/// Asks for values, and remembers them.
pub(crate) struct SecretVault {
    host: Arc<OwnedFd>,
    known: Mutex<HashMap<String, KnownValues>>,
    /// The number of times that a value was learned.
    learned: AtomicUsize,
}

impl SecretVault {
    /// Returns a vault that asks over this socket.
    pub fn new(host: OwnedFd) -> Self {
        Self { host: Arc::new(host), known: Mutex::default(), learned: AtomicUsize::new(0) }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, KnownValues>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a number that changes with the values that were asked for so far.
    pub fn learned(&self) -> usize {
        self.learned.load(Ordering::Acquire)
    }

    /// Returns the values of a secret that were asked for so far.
    pub fn known_values(&self, rule: &SecretRule) -> Vec<SecretValue> {
        self.known().get(&rule.stand_in).into_iter().flatten().map(|(value, _)| Arc::clone(value)).collect()
    }

    /// Returns the value of a secret, or why there is none.
    pub async fn value(&self, rule: &SecretRule) -> Result<SecretValue, String> {
        let is_fresh = |asked: &Instant| rule.ttl_ms.is_none_or(|ttl| asked.elapsed() < Duration::from_millis(ttl));
        if let Some((value, asked)) = self.known().get(&rule.stand_in).and_then(|known| known.first())
            && is_fresh(asked)
        {
            return Ok(Arc::clone(value));
        }
        let (host, stand_in) = (Arc::clone(&self.host), rule.stand_in.clone());
        let asked = tokio::task::spawn_blocking(move || ask(&host, stand_in)).await;
        let text =
            asked.map_err(io::Error::other).flatten().map_err(|error| format!("the host was not asked: {error}"))??;
        let value = SecretValue::new(Zeroizing::new(text));
        // An ordinary user may lock little memory, and the request does not fail for that.
        let _unlocked = sys::keep_out_of_swap(value.as_bytes());
        let mut known = self.known();
        let values = known.entry(rule.stand_in.clone()).or_default();
        values.retain(|(other, _)| **other != *value);
        values.insert(0, (Arc::clone(&value), Instant::now()));
        values.truncate(REMEMBERED);
        self.learned.fetch_add(1, Ordering::Release);
        Ok(value)
    }
}

/// Asks the host, and waits for its answer.
fn ask(host: &OwnedFd, stand_in: String) -> io::Result<ValueAnswer> {
    let question = postcard::to_allocvec(&ValueQuestion { stand_in }).map_err(io::Error::other)?;
    let answer = Zeroizing::new(sys::ask(host.as_fd(), &question, PATIENCE, LARGEST)?);
    postcard::from_bytes(&answer).map_err(io::Error::other)
}
