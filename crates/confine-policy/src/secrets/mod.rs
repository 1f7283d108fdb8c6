//! Secrets that commands use and cannot read.
//!
//! A command sees a **stand-in**: a text of the same form as the value, which is worth nothing. The gate of its world
//! puts the value in its place in requests to the hosts of the secret. A policy has all about a secret but its value,
//! which stays in the host and in the memory of the gate.
//!
//! | step | where |
//! |---|---|
//! | the option as given | `raw_secret.rs` |
//! | stand-ins | `stand_in.rs` |
//! | options checked | `secret_rule.rs` |
//! | the certificate authorities of the host | `host_authorities.rs` |
//! | values, by their stand-ins | `secret_values.rs` |
//! | uses, as a result reports them | `secret_use.rs` |

mod host_authorities;
mod raw_secret;
mod secret_rule;
mod secret_use;
mod secret_values;
mod stand_in;
#[cfg(test)]
mod stand_in_tests;

pub use host_authorities::{HostAuthorities, VARIABLES_OF_AUTHORITIES};
pub use raw_secret::{RawSecret, SecretText};
pub(crate) use secret_rule::world_secrets;
pub use secret_rule::{SecretPlace, SecretRule, WorldSecrets};
pub use secret_use::{CountedSecretUse, SecretUses};
pub(crate) use secret_values::forget_values;
pub use secret_values::{ValueAnswer, ValueQuestion, keep_values, value_of};
