//! The record of a command: its receipt, its undo, its evidence, and the re-use of its result.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::RequestError;
use super::ledger_entry_draft::user_state;
use super::number_option::{NumberOption, NumberWithDefault};
use super::raw_options::{EvidenceLevel, RawOptions, RawUndo, ReceiptLevel, ReuseSwitch, UndoWhen};
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
    let receipt = match raw.receipt {
        ReceiptLevel::Off => None,
        ReceiptLevel::Watch => Some(ReceiptSource::Watch),
        ReceiptLevel::Exact => Some(ReceiptSource::Exact),
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
    Ok((given.switch == ReuseSwitch::Verified).then(|| Box::new(wanted)))
}

/// Checks `evidence` and `checks`. `None`: the parts of the command are not watched. With a re-use the tree is watched.
///
/// # Errors
/// [`RequestError::Checks`]
pub fn check_evidence(raw: &RawOptions) -> Result<Option<Arc<proof::EvidenceRequest>>, RequestError> {
    let checks = NamedCommandRules::parse("checks", &raw.checks)?;
    let is_reused = raw.reuse.as_ref().is_some_and(|reuse| reuse.switch == ReuseSwitch::Verified);
    let tree = match raw.evidence {
        EvidenceLevel::Off if !is_reused => return Ok(None),
        EvidenceLevel::Off | EvidenceLevel::Tree => true,
        EvidenceLevel::Status => is_reused,
    };
    Ok(Some(Arc::new(proof::EvidenceRequest {
        cwd: raw.cwd.clone().into(),
        checks,
        tree,
        known: evidence::ShellKnowledge::default(),
    })))
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
    let when = match raw.when {
        UndoWhen::Off => return Ok(None),
        UndoWhen::Risky => UndoCondition::Risky,
        UndoWhen::Always => UndoCondition::Always,
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

    fn wanted(receipt: ReceiptLevel, undo: Option<RawUndo>) -> Result<Option<Box<RecordingRequest>>, RequestError> {
        let host_env = "HOME=/home/dev\0".to_owned();
        check_record(&RawOptions { receipt, undo, host_env, ..RawOptions::default() })
    }

    fn undo(when: UndoWhen) -> RawUndo {
        RawUndo { when, ..RawUndo::default() }
    }

    #[test]
    fn nothing_is_recorded_unless_it_is_wanted() {
        for undo in [None, Some(undo(UndoWhen::Off))] {
            assert_eq!(wanted(ReceiptLevel::Off, undo).expect("valid"), None);
        }
    }

    #[test]
    fn each_wish_has_its_shape() {
        let store = Some(PathBuf::from("/home/dev/.local/state/agent-bash/undo"));
        let watch = wanted(ReceiptLevel::Watch, None).expect("valid").expect("a receipt");
        assert_eq!(*watch, RecordingRequest { receipt: Some(ReceiptSource::Watch), undo: None, store: None });
        assert!(!watch.needs_analysis());
        let exact = wanted(ReceiptLevel::Exact, None).expect("valid").expect("a receipt");
        assert_eq!(*exact, RecordingRequest { receipt: Some(ReceiptSource::Exact), undo: None, store: store.clone() });
        let raw = RawUndo { require: true, max_file_bytes: Some(3.0), ..undo(UndoWhen::Always) };
        let always = wanted(ReceiptLevel::Off, Some(raw)).expect("valid").expect("an undo");
        let limits = UndoLimits { file_bytes: 3, ..UndoLimits::DEFAULT };
        let expected = RequestedUndo { when: UndoCondition::Always, require: true, limits };
        assert_eq!(*always, RecordingRequest { receipt: None, undo: Some(expected), store });
        assert!(exact.needs_analysis() && always.needs_analysis());
        let dir = Some("/store".to_owned());
        let own =
            wanted(ReceiptLevel::Watch, Some(RawUndo { dir, ..undo(UndoWhen::Risky) })).expect("valid").expect("both");
        assert_eq!(own.store.as_deref(), Some(Path::new("/store")));
    }

    #[test]
    fn a_reuse_watches_the_tree() {
        for (reuse, evidence, expected) in [
            (None, EvidenceLevel::Off, None),
            (Some(ReuseSwitch::Off), EvidenceLevel::Off, None),
            (Some(ReuseSwitch::Off), EvidenceLevel::Status, Some(false)),
            (Some(ReuseSwitch::Verified), EvidenceLevel::Off, Some(true)),
            (Some(ReuseSwitch::Verified), EvidenceLevel::Status, Some(true)),
            (None, EvidenceLevel::Tree, Some(true)),
        ] {
            let reuse = reuse.map(|switch| RawReuse { switch, ..RawReuse::default() });
            let raw = RawOptions { reuse, evidence, ..RawOptions::default() };
            let found = check_evidence(&raw).expect("valid").map(|wanted| wanted.tree);
            assert_eq!(found, expected, "{:?} {evidence:?}", raw.reuse);
            assert_eq!(
                check_reuse(&raw).expect("valid").is_some(),
                raw.reuse.is_some_and(|reuse| reuse.switch == ReuseSwitch::Verified)
            );
        }
    }

    #[test]
    fn a_wrong_reuse_is_named_with_the_valid_values() {
        let raw = RawReuse::default;
        for (reuse, message) in [
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
        let raw = RawUndo { max_bytes: Some(0.5), ..undo(UndoWhen::Always) };
        let dir = Some("store".to_owned());
        for (given, message) in [
            (
                wanted(ReceiptLevel::Off, Some(raw)),
                "undo.maxBytes: 0.5 is not a whole number from 1 to 9007199254740991; leave it out for 1073741824",
            ),
            (
                wanted(ReceiptLevel::Off, Some(RawUndo { dir, ..undo(UndoWhen::Off) })),
                "undo.dir: \"store\" is not the absolute path of a directory; give one, or leave it out",
            ),
        ] {
            assert_eq!(given.expect_err("invalid").to_string(), message);
        }
    }
}
