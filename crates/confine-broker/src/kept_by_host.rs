//! What is kept of hosts.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};

/// The most entries. `*.domain` has any number of hosts.
const MOST: usize = 256;

/// Values by a host's name and a key. A full one begins anew.
pub(crate) struct KeptByHost<K, V>(Mutex<HashMap<(String, K), V>>);

impl<K, V> Default for KeptByHost<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> KeptByHost<K, V> {
    /// Returns a value, if it is kept.
    pub fn get(&self, host: &str, key: K) -> Option<V> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&(host.to_owned(), key)).cloned()
    }

    /// Keeps a value in the place of an earlier one.
    pub fn keep(&self, host: &str, key: K, value: V) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST {
            all.clear();
        }
        all.insert((host.to_owned(), key), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_entries_is_bounded() {
        let kept = KeptByHost::default();
        for number in 0..3 * MOST {
            kept.keep(&format!("{number}.example"), (), number);
        }
        assert_eq!(kept.get(&format!("{}.example", 3 * MOST - 1), ()), Some(3 * MOST - 1));
        assert!(kept.0.lock().expect("no panic").len() <= MOST);
    }
}
