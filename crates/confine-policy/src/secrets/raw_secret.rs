//! The option `confine.secrets` as a caller gave it.

use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// `Secret` of the contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawSecret {
    /// The value.
    #[serde(deserialize_with = "value_without_message")]
    pub value: SecretText,
    /// Names, `*.domain`, each with an optional port.
    pub hosts: Vec<String>,
    /// `bearer`, `basic`, `header`, `query`, `body`, `sigv4`.
    #[serde(rename = "as")]
    pub places: Vec<String>,
    /// Globs of methods. `None`: all.
    pub methods: Option<Vec<String>>,
    /// Globs of paths. `None`: all.
    pub paths: Option<Vec<String>>,
    /// Whether the secret is put in although the command sends no stand-in.
    pub inject: bool,
    /// The file in which commands find the secret, absolute or below `~`.
    pub file: Option<String>,
    /// The content of the file. `None`: that of the host's file.
    pub template: Option<String>,
    /// Milliseconds after which a function is called again.
    #[serde(rename = "ttlMs")]
    pub ttl_ms: Option<u64>,
}

/// The value of a secret, which no message shows. Values of one function are equal, whatever it has returned.
#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SecretText {
    /// The value. `None`: the function has failed.
    pub text: Option<String>,
    /// Why the function has failed.
    pub failure: Option<String>,
    /// The number of the function that returns the value. `None`: the value is fixed.
    pub source: Option<u64>,
}

/// Reads a value. The message of an error has no part of it.
fn value_without_message<'de, D: Deserializer<'de>>(from: D) -> Result<SecretText, D::Error> {
    let of_any_type = serde_json::Value::deserialize(from)?;
    serde_json::from_value(of_any_type).map_err(|_| D::Error::custom("the value of a secret has a wrong type"))
}

impl SecretText {
    /// Returns what makes two values equal.
    fn identity(&self) -> (Option<u64>, Option<&str>) {
        (self.source, self.text.as_deref().filter(|_| self.source.is_none()))
    }
}

impl PartialEq for SecretText {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for SecretText {}

impl Hash for SecretText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_shown() {
        let raw: RawSecret =
            serde_json::from_str(r#"{"value":{"text":"hunter2hunter2"},"hosts":["a.example"]}"#).expect("valid");
        assert_eq!(raw.value.text.as_deref(), Some("hunter2hunter2"));
        assert!(!format!("{raw:?}").contains("hunter2"), "{raw:?}");
        for value in [r#""hunter2""#, r#"{"text":["hunter2"]}"#, r#"{"hunter2":1}"#] {
            let error = serde_json::from_str::<RawSecret>(&format!(r#"{{"value":{value}}}"#)).expect_err(value);
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn values_of_one_function_are_equal() {
        let of = |text: &str, source| SecretText { text: Some(text.into()), failure: None, source };
        assert_eq!(of("a", Some(1)), of("b", Some(1)));
        assert_ne!(of("a", Some(1)), of("a", Some(2)));
        assert_ne!(of("a", None), of("b", None));
    }
}
