//! The values of secrets in the memory of the host, by their stand-ins. The gates of worlds ask for them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::raw_secret::{RawSecret, SecretText};
use super::secret_rule::SecretRule;

/// A question of a gate. It travels with a socket for its answer.
#[derive(Debug, Serialize, Deserialize)]
pub struct ValueQuestion {
    /// The stand-in of the value.
    pub stand_in: String,
}

/// The answer of the host: a value, or why there is none.
pub type ValueAnswer = Result<String, String>;

/// The value of a stand-in.
struct KeptValue {
    owner: u64,
    value: SecretText,
}

static KEPT: LazyLock<Mutex<HashMap<String, KeptValue>>> = LazyLock::new(Mutex::default);

fn kept() -> MutexGuard<'static, HashMap<String, KeptValue>> {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the values of an owner's rules. Those of functions may be newer than the ones that are kept.
pub fn keep_values(owner: u64, rules: &[SecretRule], given: &BTreeMap<String, RawSecret>) {
    let mut kept = kept();
    for rule in rules {
        if let Some(raw) = given.get(&rule.name) {
            kept.insert(rule.stand_in.clone(), KeptValue { owner, value: raw.value.clone() });
        }
    }
}

/// Forgets the values of an owner that has ended.
pub fn forget_values(owner: u64) {
    kept().retain(|_, value| value.owner != owner);
}

/// Returns the value that a stand-in stands for, or why there is none.
///
/// # Errors
/// In words, without a value.
pub fn value_of(stand_in: &str) -> ValueAnswer {
    match kept().get(stand_in).map(|kept| &kept.value) {
        Some(SecretText { text: Some(text), .. }) => Ok(text.clone()),
        Some(SecretText { failure, .. }) => Err(failure.clone().unwrap_or_else(|| "its function has failed".into())),
        None => Err("its owner has ended".into()),
    }
}
