//! Switches: variables of the host's environment that turn a feature off.

use std::sync::OnceLock;

/// A variable of the host's environment that turns a feature off with one value. It is read once, in the host and in
/// its supervisor, which gets no other variables.
#[derive(Debug)]
pub struct FeatureSwitch {
    name: &'static str,
    off: &'static str,
    is_off: OnceLock<bool>,
}

impl FeatureSwitch {
    /// Names the variable, and the value that turns the feature off.
    pub const fn new(name: &'static str, off: &'static str) -> Self {
        Self { name, off, is_off: OnceLock::new() }
    }

    /// Returns whether the feature was turned off at the first call.
    pub fn is_off(&self) -> bool {
        *self.is_off.get_or_init(|| std::env::var_os(self.name).is_some_and(|value| value == self.off))
    }

    /// Returns the variable for the environment of the supervisor, if the feature is turned off.
    pub fn variable(&self) -> Option<(&'static str, &'static str)> {
        self.is_off().then_some((self.name, self.off))
    }

    /// Returns the variable and its value as a user writes them.
    pub fn words(&self) -> String {
        format!("{}={}", self.name, self.off)
    }
}
