//! Encodes byte strings, lists of byte strings and paths as a whole, not byte by byte.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// A byte string.
struct ByteString<T>(T);

impl<T: AsRef<[u8]>> Serialize for ByteString<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0.as_ref())
    }
}

impl<'de> Deserialize<'de> for ByteString<Vec<u8>> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByteCollector;
        impl<'de> Visitor<'de> for ByteCollector {
            type Value = Vec<u8>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("bytes")
            }
            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }
            // JSON has no byte strings, so it lists the bytes.
            fn visit_seq<A: SeqAccess<'de>>(self, mut bytes: A) -> Result<Vec<u8>, A::Error> {
                let mut found = Vec::new();
                while let Some(byte) = bytes.next_element()? {
                    found.push(byte);
                }
                Ok(found)
            }
        }
        deserializer.deserialize_bytes(ByteCollector).map(Self)
    }
}

/// Encodes a byte string.
pub fn serialize<S: Serializer>(bytes: &impl AsRef<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
    ByteString(bytes).serialize(serializer)
}

/// Decodes a byte string.
pub fn deserialize<'de, D: Deserializer<'de>, T: From<Vec<u8>>>(deserializer: D) -> Result<T, D::Error> {
    ByteString::deserialize(deserializer).map(|bytes| T::from(bytes.0))
}

/// A list of byte strings.
pub mod list {
    use super::{ByteString, Deserialize, Deserializer, Serializer};

    /// Encodes a list.
    pub fn serialize<S: Serializer>(list: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().map(ByteString))
    }

    /// Decodes a list.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        let list = Vec::<ByteString<Vec<u8>>>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|bytes| bytes.0).collect())
    }
}

/// A path, which need not be text.
pub mod path {
    use super::{
        ByteString, Deserialize, Deserializer, OsStrExt, OsString, OsStringExt, Path, PathBuf, Serialize, Serializer,
    };

    /// Encodes a path.
    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        ByteString(path.as_os_str().as_bytes()).serialize(serializer)
    }

    /// Decodes a path.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        ByteString::deserialize(deserializer).map(|bytes| OsString::from_vec(bytes.0).into())
    }
}

/// A path, or none.
pub mod maybe_path {
    use super::{
        ByteString, Deserialize, Deserializer, OsStrExt, OsString, OsStringExt, PathBuf, Serialize, Serializer,
    };

    /// Encodes a path.
    pub fn serialize<S: Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
        path.as_ref().map(|path| ByteString(path.as_os_str().as_bytes())).serialize(serializer)
    }

    /// Decodes a path.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
        let path = Option::<ByteString<Vec<u8>>>::deserialize(deserializer)?;
        Ok(path.map(|bytes| OsString::from_vec(bytes.0).into()))
    }
}

/// A list of paths.
pub mod paths {
    use super::{ByteString, Deserialize, Deserializer, OsStrExt, OsString, OsStringExt, PathBuf, Serializer};

    /// Encodes a list.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| ByteString(path.as_os_str().as_bytes())))
    }

    /// Decodes a list.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let list = Vec::<ByteString<Vec<u8>>>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|bytes| OsString::from_vec(bytes.0).into()).collect())
    }
}
