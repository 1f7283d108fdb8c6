//! The record of a command: its receipt, its undo, its evidence, and the re-use of its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::RequestError;
use super::ledger_entry_draft::user_state;
use super::number_option::{NumberOption, NumberWithDefault};
use super::raw_options::{RawOptions, RawUndo};
use crate::{proof, reuse};
use receipt::recording::{ReceiptSource, RecordingRequest, RequestedUndo, UndoCondition};
use safety::decide::NamedCommandRules;
use undo::UndoLimits;

/// The largest file that is copied for an undo, bytes.
pub const UNDO_FILE_BYTES: NumberWithDefault =
    NumberOption::from_one("undo.maxFileBytes").with_default(UndoLimits::DEFAULT.file_bytes);
/// The most bytes that are kept of one run.
pub const UNDO_RUN_BYTES: NumberWithDefault =
    NumberOption::from_one("undo.maxBytes").with_default(UndoLimits::DEFAULT.run_bytes);
/// The most bytes that are kept of all runs.
pub const UNDO_STORE_BYTES: NumberWithDefault =
    NumberOption::from_one("undo.storeBytes").with_default(UndoLimits::DEFAULT.store_bytes);
/// The highest age of a result that is given again, ms.
pub const REUSE_AGE_MS: NumberWithDefault = NumberOption::from_one("reuse.maxAgeMs").with_default(3_600_000);
/// The most bytes of the outputs of results that may be given again.
pub const REUSE_STORE_BYTES: NumberWithDefault = NumberOption::from_one("reuse.storeBytes").with_default(256 << 20);

/// Checks `receipt` and `undo`. `None`: nothing is recorded.
///
/// # Errors
/// A [`RequestError`] that names the option, its value and the valid values.
pub fn check_record(raw: &RawOptions) -> Result<Option<Box<RecordingRequest>>, RequestError> {
    let receipt = match raw.receipt.as_deref() {
        None | Some("off") => None,
        Some("watch") => Some(ReceiptSource::Watch),
        Some("exact") => Some(ReceiptSource::Exact),
        Some(other) => return Err(RequestError::UnknownReceipt(other.to_owned())),
    };
    let undo = raw.undo.as_ref().map(check_undo).transpose()?.flatten();
    if receipt.is_none() && undo.is_none() {
        return Ok(None);
    }
    let given = raw.undo.as_ref().and_then(|undo| undo.dir.as_deref());
    let keeps = undo.is_some() || receipt == Some(ReceiptSource::Exact);
    let store = if keeps { undo_store(given, &raw.host_env) } else { None };
    Ok(Some(Box::new(RecordingRequest { receipt, undo, store })))
}

/// Checks `reuse` and `fresh`. `None`: each command runs.
///
/// # Errors
/// A [`RequestError`] that names the option, its value and the valid values.
pub fn check_reuse(raw: &RawOptions) -> Result<Option<Box<reuse::ReuseRequest>>, RequestError> {
    let Some(given) = &raw.reuse else { return Ok(None) };
    let wanted = reuse::ReuseRequest {
        commands: NamedCommandRules::parse("reuse.commands", &given.commands)?,
        max_age: Duration::from_millis(REUSE_AGE_MS.get(given.max_age_ms)?),
        store_bytes: REUSE_STORE_BYTES.get(given.store_bytes)?,
        fresh: raw.fresh,
    };
    match given.how.as_str() {
        "off" => Ok(None),
        "verified" => Ok(Some(Box::new(wanted))),
        other => Err(RequestError::UnknownReuse(other.to_owned())),
    }
}

/// Checks `evidence` and `checks`. `None`: the parts of the command are not watched. With a re-use the tree is watched.
///
/// # Errors
/// [`RequestError::UnknownEvidence`], [`RequestError::Checks`]
pub fn check_evidence(raw: &RawOptions) -> Result<Option<Arc<proof::EvidenceRequest>>, RequestError> {
    let checks = NamedCommandRules::parse("checks", &raw.checks)?;
    let is_reused = raw.reuse.as_ref().is_some_and(|reuse| reuse.how != "off");
    let tree = match raw.evidence.as_deref() {
        None | Some("off") if !is_reused => return Ok(None),
        None | Some("off" | "tree") => true,
        Some("status") => is_reused,
        Some(other) => return Err(RequestError::UnknownEvidence(other.to_owned())),
    };
    Ok(Some(Arc::new(proof::EvidenceRequest {
        cwd: raw.cwd.clone().into(),
        checks,
        tree,
        known: evidence::ShellKnowledge::default(),
    })))
}

/// Checks `taps`. Returns whether commands have taps.
///
/// # Errors
/// [`RequestError::UnknownTaps`]
pub fn check_taps(raw: Option<&str>) -> Result<bool, RequestError> {
    match raw {
        None | Some("off") => Ok(false),
        Some("on") => Ok(true),
        Some(other) => Err(RequestError::UnknownTaps(other.to_owned())),
    }
}

fn check_undo(raw: &RawUndo) -> Result<Option<RequestedUndo>, RequestError> {
    let limits = UndoLimits {
        file_bytes: UNDO_FILE_BYTES.get(raw.max_file_bytes)?,
        run_bytes: UNDO_RUN_BYTES.get(raw.max_bytes)?,
        store_bytes: UNDO_STORE_BYTES.get(raw.store_bytes)?,
    };
    if let Some(dir) = raw.dir.as_ref().filter(|dir| !Path::new(dir).is_absolute() || dir.contains('\0')) {
        return Err(RequestError::UndoDir(dir.clone()));
    }
    let when = match raw.when.as_str() {
        "off" => return Ok(None),
        "risky" => UndoCondition::Risky,
        "always" => UndoCondition::Always,
        other => return Err(RequestError::UnknownUndo(other.to_owned())),
    };
    Ok(Some(RequestedUndo { when, require: raw.require, limits }))
}

/// Returns the directory of undo points: the given directory, or the default of the user with this environment, as
/// text.
pub fn undo_store(given: Option<&str>, environment: &str) -> Option<PathBuf> {
    given.map(PathBuf::from).or_else(|| user_state(environment).map(|state| undo::default_dir(&state)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::RawReuse;

    fn wanted(receipt: Option<&str>, undo: Option<RawUndo>) -> Result<Option<Box<RecordingRequest>>, RequestError> {
        let host_env = "HOME=/home/dev\0".to_owned();
        check_record(&RawOptions { receipt: receipt.map(str::to_owned), undo, host_env, ..RawOptions::default() })
    }

    fn undo(when: &str) -> RawUndo {
        RawUndo { when: when.to_owned(), ..RawUndo::default() }
    }

    #[test]
    fn nothing_is_recorded_unless_it_is_wanted() {
        for (receipt, undo) in [(None, None), (Some("off"), None), (Some("off"), Some(undo("off")))] {
            assert_eq!(wanted(receipt, undo).expect("valid"), None);
        }
    }

    #[test]
    fn each_wish_has_its_shape() {
        let store = Some(PathBuf::from("/home/dev/.local/state/agent-bash/undo"));
        let watch = wanted(Some("watch"), None).expect("valid").expect("a receipt");
        assert_eq!(*watch, RecordingRequest { receipt: Some(ReceiptSource::Watch), undo: None, store: None });
        assert!(!watch.needs_analysis());
        let exact = wanted(Some("exact"), None).expect("valid").expect("a receipt");
        assert_eq!(*exact, RecordingRequest { receipt: Some(ReceiptSource::Exact), undo: None, store: store.clone() });
        let raw = RawUndo { require: true, max_file_bytes: Some(3.0), ..undo("always") };
        let always = wanted(None, Some(raw)).expect("valid").expect("an undo");
        let limits = UndoLimits { file_bytes: 3, ..UndoLimits::DEFAULT };
        let expected = RequestedUndo { when: UndoCondition::Always, require: true, limits };
        assert_eq!(*always, RecordingRequest { receipt: None, undo: Some(expected), store });
        assert!(exact.needs_analysis() && always.needs_analysis());
        let dir = Some("/store".to_owned());
        let own = wanted(Some("watch"), Some(RawUndo { dir, ..undo("risky") })).expect("valid").expect("both");
        assert_eq!(own.store.as_deref(), Some(Path::new("/store")));
    }

    #[test]
    fn a_reuse_watches_the_tree() {
        for (reuse, evidence, expected) in [
            (None, None, None),
            (Some("off"), None, None),
            (Some("off"), Some("status"), Some(false)),
            (Some("verified"), None, Some(true)),
            (Some("verified"), Some("off"), Some(true)),
            (Some("verified"), Some("status"), Some(true)),
            (None, Some("tree"), Some(true)),
        ] {
            let reuse = reuse.map(|how: &str| RawReuse { how: how.to_owned(), ..RawReuse::default() });
            let raw = RawOptions { reuse, evidence: evidence.map(str::to_owned), ..RawOptions::default() };
            let found = check_evidence(&raw).expect("valid").map(|wanted| wanted.tree);
            assert_eq!(found, expected, "{:?} {evidence:?}", raw.reuse);
            assert_eq!(check_reuse(&raw).expect("valid").is_some(), raw.reuse.is_some_and(|reuse| reuse.how != "off"));
        }
    }

    #[test]
    fn a_wrong_reuse_is_named_with_the_valid_values() {
        let raw = RawReuse::default;
        for (reuse, message) in [
            (RawReuse { how: "always".to_owned(), ..raw() }, "reuse: \"always\" is not one of off, verified"),
            (
                RawReuse { max_age_ms: Some(0.0), ..raw() },
                "reuse.maxAgeMs: 0 is not a whole number from 1 to 9007199254740991; leave it out for 3600000",
            ),
            (
                RawReuse { commands: vec!["read-only".to_owned()], ..raw() },
                "reuse.commands: \"read-only\" names no command",
            ),
        ] {
            let raw = RawOptions { reuse: Some(reuse), ..RawOptions::default() };
            assert_eq!(check_reuse(&raw).expect_err("invalid").to_string(), message);
        }
    }

    #[test]
    fn a_wrong_value_is_named_with_the_valid_ones() {
        let raw = RawUndo { max_bytes: Some(0.5), ..undo("always") };
        let dir = Some("store".to_owned());
        for (given, message) in [
            (wanted(Some("all"), None), "receipt: \"all\" is not one of off, watch, exact"),
            (wanted(None, Some(undo("never"))), "undo: \"never\" is not one of off, risky, always"),
            (
                wanted(None, Some(raw)),
                "undo.maxBytes: 0.5 is not a whole number from 1 to 9007199254740991; leave it out for 1073741824",
            ),
            (
                wanted(None, Some(RawUndo { dir, ..undo("off") })),
                "undo.dir: \"store\" is not the absolute path of a directory; give one, or leave it out",
            ),
        ] {
            assert_eq!(given.expect_err("invalid").to_string(), message);
        }
    }
}
