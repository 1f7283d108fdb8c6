//! Undos and undo points as they cross to JavaScript.

use std::path::PathBuf;

use napi_derive::napi;

use super::receipt::text;
use undo::ReportedConflict;

/// The effect of an undo, or of a dry run.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Undone {
    /// The run that was undone.
    pub run_id: String,
    /// Paths of things that are again as before the run, sorted.
    pub restored: Vec<String>,
    /// Paths of removed things that the run had made.
    pub removed: Vec<String>,
    /// Things that stay unchanged, because they changed after the run.
    pub conflicts: Vec<UndoConflict>,
    /// Effects that no undo takes back, as sentences. At most 100 paths are named, and the others are counted.
    pub not_covered: Vec<String>,
    /// Names this undo, which is itself undone by `undo(undoId)`. Empty if nothing changed.
    pub undo_id: String,
}

/// A thing that an undo does not touch.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct UndoConflict {
    /// The path of the thing.
    pub path: String,
    /// The reason, as a sentence.
    pub why: String,
    /// The place that keeps the earlier thing, for as long as points are kept, or `null`.
    pub kept_at: Option<String>,
}

/// A run that can be undone, or could before its point was evicted. Undos are listed, too.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct UndoPoint {
    /// The argument of `undo`.
    pub run_id: String,
    /// The command as the caller gave it.
    pub command: String,
    /// The directory of the command.
    pub cwd: String,
    /// The start of the command, Unix time in ms.
    pub at: f64,
    /// Whether an undo covers all changed files.
    #[napi(ts_type = "'all' | 'part'")]
    pub covers: String,
    /// Bytes that are kept for the point.
    pub bytes: f64,
    /// Why the point is gone, or `null` if it still exists.
    pub evicted: Option<String>,
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
fn number(value: u64) -> f64 {
    value as f64
}

impl Undone {
    pub(super) fn of(run_id: String, undone: undo::UndoOutcome) -> Self {
        let texts = |paths: Vec<PathBuf>| paths.iter().map(|path| text(path)).collect();
        Self {
            run_id,
            restored: texts(undone.restored),
            removed: texts(undone.removed),
            conflicts: undone.conflicts.into_iter().map(UndoConflict::from).collect(),
            not_covered: undone.not_covered,
            undo_id: undone.undo,
        }
    }
}

impl From<ReportedConflict> for UndoConflict {
    fn from(stayed: ReportedConflict) -> Self {
        Self { path: text(&stayed.path), why: stayed.why, kept_at: stayed.kept_at.as_deref().map(text) }
    }
}

impl From<undo::ListedUndoPoint> for UndoPoint {
    fn from(point: undo::ListedUndoPoint) -> Self {
        Self {
            run_id: point.run,
            command: point.command,
            cwd: point.cwd,
            at: number(point.at),
            covers: if point.all { "all" } else { "part" }.to_owned(),
            bytes: number(point.bytes),
            evicted: point.evicted,
        }
    }
}
