//! `safety`: the judgement of a command before it starts.

use std::collections::HashMap;

use serde::Deserialize;

use safety::{RULES, SafetyPolicy, SafetyVerdict, WrapperKind};

/// `safety`, as given.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum RawSafety {
    /// `default` or `off`.
    Word(SafetyWord),
    /// Rules and wrappers.
    Options(SafetyOptions),
}

/// `safety` as a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SafetyWord {
    /// The rules with their own levels.
    Default,
    /// No rules.
    Off,
}

/// `SafetyOptions` of the contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct SafetyOptions {
    /// Ids of rules and their levels, in the order of the caller. `None`: the rule's own level.
    pub rules: Vec<(String, Option<String>)>,
    /// Names of programs that run other commands, and their kinds.
    pub wrappers: Vec<(String, Option<String>)>,
    /// The treatment of a command that a person would be asked about: `allow` (default) or `deny`.
    pub on_ask: Option<OnAsk>,
}

/// `onAsk`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnAsk {
    /// The command runs.
    Allow,
    /// The command is refused.
    Deny,
}

/// The criteria by which a command is judged before it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SafetyCriteria {
    /// Rules and wrappers.
    pub policy: SafetyPolicy,
    /// Whether a command is refused that a person would be asked about.
    pub denies_ask: bool,
}

/// An unknown rule, level or kind of wrapper.
#[derive(Debug, thiserror::Error)]
pub enum SafetyError {
    /// No rule has this id.
    #[error("safety.rules: there is no rule {id:?}; there are {}", known_rules())]
    Rule {
        /// The id.
        id: String,
    },
    /// No level has this name.
    #[error("safety.rules.{id}: {level:?} is not one of off, warn, ask, deny")]
    Level {
        /// The id of the rule.
        id: String,
        /// The level.
        level: String,
    },
    /// No kind of wrapper has this name.
    #[error("safety.wrappers.{name}: {kind:?} is not one of exec-rest, shell-string, stdin-script, per-item")]
    Wrapper {
        /// The program.
        name: String,
        /// The kind.
        kind: String,
    },
}

impl Default for RawSafety {
    fn default() -> Self {
        Self::Word(SafetyWord::Default)
    }
}

impl RawSafety {
    /// Returns the rules by which the command is judged. `None`: it is not judged.
    ///
    /// # Errors
    /// [`SafetyError`]
    pub fn guard(&self) -> Result<Option<SafetyCriteria>, SafetyError> {
        match self {
            Self::Word(SafetyWord::Off) => Ok(None),
            Self::Word(SafetyWord::Default) => Ok(Some(SafetyCriteria::default())),
            Self::Options(options) => {
                let denies_ask = options.on_ask == Some(OnAsk::Deny);
                Ok(Some(SafetyCriteria { policy: options.policy()?, denies_ask }))
            }
        }
    }
}

impl SafetyOptions {
    /// Returns the levels of rules, and the wrappers.
    ///
    /// # Errors
    /// [`SafetyError`]
    pub fn policy(&self) -> Result<SafetyPolicy, SafetyError> {
        let levels = read(&self.rules, |id, level| {
            if !RULES.iter().any(|rule| rule.id == id) {
                return Err(SafetyError::Rule { id: id.to_owned() });
            }
            match level {
                "off" => Ok(SafetyVerdict::Allow),
                "warn" => Ok(SafetyVerdict::Warn),
                "ask" => Ok(SafetyVerdict::Ask),
                "deny" => Ok(SafetyVerdict::Deny),
                _ => Err(SafetyError::Level { id: id.to_owned(), level: level.to_owned() }),
            }
        })?;
        let wrappers = read(&self.wrappers, |name, kind| match kind {
            "exec-rest" => Ok(WrapperKind::ExecRest),
            "shell-string" => Ok(WrapperKind::ShellString),
            "stdin-script" => Ok(WrapperKind::StdinScript),
            "per-item" => Ok(WrapperKind::PerItem),
            _ => Err(SafetyError::Wrapper { name: name.to_owned(), kind: kind.to_owned() }),
        })?;
        Ok(SafetyPolicy { levels, wrappers })
    }
}

fn read<T>(
    given: &[(String, Option<String>)],
    value: impl Fn(&str, &str) -> Result<T, SafetyError>,
) -> Result<HashMap<String, T>, SafetyError> {
    let pairs = given.iter().filter_map(|(name, text)| Some((name, text.as_deref()?)));
    pairs.map(|(name, text)| Ok((name.clone(), value(name, text)?))).collect()
}

fn known_rules() -> String {
    RULES.iter().map(|rule| rule.id).collect::<Vec<_>>().join(", ")
}
