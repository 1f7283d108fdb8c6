//! The option `confine` as a caller gave it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::secrets::RawSecret;
use super::ssh_agent::RawSsh;

/// `ConfineOptions` of the contract. The types are right, the values unchecked. `None` is the default of each field.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RawConfine {
    /// `read-only` or `workspace`.
    pub profile: Option<String>,
    /// Absolute paths, or paths below `~`.
    pub write: Vec<String>,
    /// `repository` or `none`.
    pub git: Option<String>,
    /// Absolute paths, paths below `~`, or relative names. Replaces the default list.
    pub protect: Option<Vec<String>>,
    /// Absolute paths, or paths below `~`. Added to the default list.
    pub hide: Vec<String>,
    /// The files that may be read.
    pub read: Option<RawRead>,
    /// The hosts that may be reached.
    pub network: Option<RawNetwork>,
    /// Ports.
    pub expose: Vec<i64>,
    /// `private` or `shared`.
    pub tmp: Option<String>,
    /// `overlay`, `shared` or `none`.
    pub caches: Option<String>,
    /// `files`, `network`, `processes`, `syscalls`.
    pub require: Option<Vec<String>>,
    /// Secrets by the variables that commands see.
    pub secrets: BTreeMap<String, RawSecret>,
    /// The use of the host's ssh agent.
    pub ssh: Option<RawSsh>,
    /// The directory of the command's undo store, absolute. It is hidden as well, unless the command works in it.
    pub store: Option<String>,
}

/// `read` of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub enum RawRead {
    /// `all`
    Word(String),
    /// Absolute paths, or paths below `~`.
    Only(Vec<String>),
}

/// `network` of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(untagged)]
pub enum RawNetwork {
    /// `none` or `full`
    Word(String),
    /// The hosts of a list.
    Hosts {
        /// Entries.
        #[serde(default)]
        allow: Option<Vec<String>>,
        /// Addresses by name.
        #[serde(default)]
        hosts: BTreeMap<String, String>,
    },
}

impl RawConfine {
    /// Reads the option from JSON.
    ///
    /// # Errors
    /// If a type is wrong, which TypeScript checks before.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_of_the_contract_is_read() {
        let raw = RawConfine::from_json(
            r#"{"profile":"read-only","write":["/w"],"git":"none","protect":[],"hide":["~/h"],"read":["/r"],
                "network":{"allow":["a.example"],"hosts":{"a.example":"10.0.0.1"}},"expose":[3000],"tmp":"shared",
                "caches":"none","require":["files"],"store":"/s"}"#,
        );
        let hosts = BTreeMap::from([("a.example".into(), "10.0.0.1".into())]);
        let all = RawConfine {
            profile: Some("read-only".into()),
            write: vec!["/w".into()],
            git: Some("none".into()),
            protect: Some(Vec::new()),
            hide: vec!["~/h".into()],
            read: Some(RawRead::Only(vec!["/r".into()])),
            network: Some(RawNetwork::Hosts { allow: Some(vec!["a.example".into()]), hosts }),
            expose: vec![3000],
            tmp: Some("shared".into()),
            caches: Some("none".into()),
            require: Some(vec!["files".into()]),
            secrets: BTreeMap::new(),
            ssh: None,
            store: Some("/s".into()),
        };
        assert_eq!(raw.expect("valid"), all);
        assert_eq!(RawConfine::from_json("{}").expect("valid"), RawConfine::default());
        let words = RawConfine::from_json(r#"{"read":"all","network":"full"}"#).expect("valid");
        assert_eq!(words.read, Some(RawRead::Word("all".into())));
        assert_eq!(words.network, Some(RawNetwork::Word("full".into())));
    }

    #[test]
    fn a_wrong_type_or_name_is_an_error() {
        for json in [r#"{"expose":[1.5]}"#, r#"{"write":"/w"}"#, r#"{"wirte":[]}"#, r#"{"network":["a"]}"#, "1"] {
            assert!(RawConfine::from_json(json).is_err(), "{json}");
        }
    }
}
