//! The safety engine as JavaScript sees it. Answers are JSON: a text crosses faster than an object with its properties.

use std::collections::HashMap;

use napi::{Error, Result, Status};
use napi_derive::napi;
use serde::Serialize;

use crate::request::Guard;
use crate::safety::decide::{Permissions, decide as weigh};
use crate::safety::{Analysis, Environment, Policy, RULES, Setting, Verdict, WrapperKind, analyze as judge};

/// How commands are judged.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct NativeSafety {
    /// Not at all.
    pub off: Option<bool>,
    /// What a person would be asked about is refused.
    pub deny_ask: Option<bool>,
    /// Ids of rules and their levels in turn.
    pub rules: Option<Vec<String>>,
    /// Names of wrappers and their kinds in turn.
    pub wrappers: Option<Vec<String>>,
}

/// Says what a command does: `Analysis` as JSON. `host_env` are its variables, `NAME=VALUE` each ended by a NUL.
///
/// # Errors
/// When there is no such rule, level or kind of wrapper.
#[napi]
pub fn analyze(
    command: String,
    cwd: String,
    home: String,
    host_env: String,
    options: Option<NativeSafety>,
) -> Result<String> {
    let policy = policy(options.as_ref()).map_err(refused)?;
    let setting = Setting { cwd: &cwd, home: &home, environment: Environment(&host_env), ..Setting::default() };
    json(&judge(&command, setting, &policy))
}

/// Decides by an analysis, `Analysis` as JSON, and a host's rules: `Decision` as JSON. `allow` null: the analysis decides.
///
/// # Errors
/// When a rule means nothing, or the text is no analysis.
#[napi]
pub fn decide(analysis: String, allow: Option<Vec<String>>, ask: Vec<String>, deny: Vec<String>) -> Result<String> {
    let analysis: Analysis =
        serde_json::from_str(&analysis).map_err(|error| refused(format!("this is no analysis: {error}")))?;
    let permissions = Permissions::parse(allow.as_deref(), &ask, &deny).map_err(|error| refused(error.to_string()))?;
    json(&weigh(&analysis, &permissions))
}

/// All rules as JSON: id, level, doc, and examples that match and that pass.
///
/// # Errors
/// None that is known of.
#[napi]
pub fn safety_rules() -> Result<String> {
    #[derive(Serialize)]
    struct Entry {
        id: &'static str,
        level: Verdict,
        doc: &'static str,
        matches: &'static [&'static str],
        passes: &'static [&'static str],
    }
    let entry = |rule: &&crate::safety::Rule| Entry {
        id: rule.id,
        level: rule.level,
        doc: rule.doc,
        matches: rule.matches,
        passes: rule.passes,
    };
    json(&RULES.iter().map(entry).collect::<Vec<_>>())
}

/// How a command of `Bridge.start` is judged.
///
/// # Errors
/// The sentence that says which rule, level or kind there is not.
pub(super) fn guard(given: Option<&NativeSafety>) -> std::result::Result<Option<Guard>, String> {
    if given.is_some_and(|given| given.off == Some(true)) {
        return Ok(None);
    }
    let denies_ask = given.is_some_and(|given| given.deny_ask == Some(true));
    Ok(Some(Guard { policy: policy(given)?, denies_ask }))
}

fn policy(given: Option<&NativeSafety>) -> std::result::Result<Policy, String> {
    let Some(given) = given else { return Ok(Policy::default()) };
    let levels = pairs(given.rules.as_deref(), |id, level| {
        if !RULES.iter().any(|rule| rule.id == id) {
            let known: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
            return Err(format!("safety.rules: there is no rule {id:?}; there are {}", known.join(", ")));
        }
        match level {
            "off" => Ok(Verdict::Allow),
            "warn" => Ok(Verdict::Warn),
            "ask" => Ok(Verdict::Ask),
            "deny" => Ok(Verdict::Deny),
            _ => Err(format!("safety.rules.{id}: {level:?} is not one of off, warn, ask, deny")),
        }
    })?;
    let wrappers = pairs(given.wrappers.as_deref(), |name, kind| match kind {
        "exec-rest" => Ok(WrapperKind::ExecRest),
        "shell-string" => Ok(WrapperKind::ShellString),
        "stdin-script" => Ok(WrapperKind::StdinScript),
        "per-item" => Ok(WrapperKind::PerItem),
        _ => Err(format!(
            "safety.wrappers.{name}: {kind:?} is not one of exec-rest, shell-string, stdin-script, per-item"
        )),
    })?;
    Ok(Policy { levels, wrappers })
}

fn pairs<T>(
    given: Option<&[String]>,
    value: impl Fn(&str, &str) -> std::result::Result<T, String>,
) -> std::result::Result<HashMap<String, T>, String> {
    let pairs = given.unwrap_or_default().as_chunks::<2>().0;
    pairs.iter().map(|[name, text]| Ok((name.clone(), value(name, text)?))).collect()
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::from_reason(error.to_string()))
}

fn refused(message: String) -> Error {
    Error::new(Status::InvalidArg, message)
}
