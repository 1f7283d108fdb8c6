//! Encodes a value as JSON within another format, for types that have a form for JSON alone.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

/// Encodes a value.
///
/// # Errors
/// If JSON has no form for the value.
pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serde_json::to_string(value).map_err(S::Error::custom)?.serialize(serializer)
}

/// Decodes a value.
///
/// # Errors
/// If the text is no such value.
pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    serde_json::from_str(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A value that is shared, or none.
pub mod shared {
    use std::sync::Arc;

    use super::{DeserializeOwned, Deserializer, Serialize, Serializer};

    /// Encodes a value.
    ///
    /// # Errors
    /// If JSON has no form for the value.
    pub fn serialize<T: Serialize, S: Serializer>(value: &Option<Arc<T>>, serializer: S) -> Result<S::Ok, S::Error> {
        super::serialize(&value.as_deref(), serializer)
    }

    /// Decodes a value.
    ///
    /// # Errors
    /// If the text is no such value.
    pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<T>>, D::Error> {
        Ok(super::deserialize::<Option<T>, D>(deserializer)?.map(Arc::new))
    }
}
