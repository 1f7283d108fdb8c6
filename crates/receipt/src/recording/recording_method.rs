//! Chooses how a run is recorded, by the wishes of the caller and the obstacles. Pure.

use super::recording_request::{ReceiptSource, RecordingRequest, UndoCondition};

/// How a run is recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecordingMethod {
    /// The run is not recorded.
    #[default]
    Off,
    /// A tree of directories is watched.
    Watch,
    /// A tree of directories is watched, and compared with a snapshot, so that the run can be undone.
    Snapshot,
    /// Every change is recorded.
    Exact {
        /// Whether the earlier contents are kept, so that the run can be undone.
        point: bool,
    },
}

/// The facts about a run before it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordingFacts {
    /// Whether the run may lose something.
    pub is_risky: bool,
    /// Why the run's directory has no undo point.
    pub no_point: Option<String>,
    /// Why the changes cannot be recorded.
    pub no_record: Option<String>,
    /// The tree for a snapshot, as text.
    pub tree: Option<String>,
}

/// A run is refused, because it cannot be undone and that is required.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotUndoable {
    /// Why the run cannot be undone.
    pub why: String,
}

/// Chooses how a run is recorded. The notes name wishes that cannot be met.
///
/// # Errors
/// [`NotUndoable`]
pub fn choose(wanted: &RecordingRequest, known: RecordingFacts) -> Result<(RecordingMethod, Vec<String>), NotUndoable> {
    let undo = wanted.undo.filter(|undo| undo.when == UndoCondition::Always || known.is_risky);
    let is_required = undo.is_some_and(|undo| undo.require);
    let mut notes = Vec::new();
    let mut point = undo.is_some();
    if let Some(why) = known.no_point.filter(|_| point) {
        if is_required {
            return Err(NotUndoable { why });
        }
        notes.push(format!("the command cannot be undone: {why}"));
        point = false;
    }
    if !point && wanted.receipt != Some(ReceiptSource::Exact) {
        return Ok((if wanted.receipt.is_some() { RecordingMethod::Watch } else { RecordingMethod::Off }, notes));
    }
    let Some(why) = known.no_record else { return Ok((RecordingMethod::Exact { point }, notes)) };
    if point && is_required {
        return Err(NotUndoable { why });
    }
    if let Some(tree) = known.tree.filter(|_| point) {
        let only = format!("only changes in {tree} can be undone");
        notes.push(format!("{only}, from a snapshot, and the receipt is that of a watch: {why}"));
        return Ok((RecordingMethod::Snapshot, notes));
    }
    notes.push(if point {
        format!("the command cannot be undone, and its receipt is that of a watch: {why}")
    } else {
        format!("the receipt is that of a watch: {why}")
    });
    Ok((RecordingMethod::Watch, notes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::RequestedUndo;
    use undo::UndoLimits;

    fn wanted(receipt: Option<ReceiptSource>, undo: Option<(UndoCondition, bool)>) -> RecordingRequest {
        let undo = undo.map(|(when, require)| RequestedUndo { when, require, limits: UndoLimits::DEFAULT });
        RecordingRequest { receipt, undo, store: None }
    }

    const POINT: RecordingMethod = RecordingMethod::Exact { point: true };
    const RECORD: RecordingMethod = RecordingMethod::Exact { point: false };

    #[test]
    fn what_is_wanted_is_chosen() {
        use ReceiptSource::{Exact, Watch};
        use UndoCondition::{Always, Risky};
        for (receipt, undo, is_risky, way) in [
            (Some(Watch), None, true, RecordingMethod::Watch),
            (Some(Exact), None, false, RECORD),
            (None, Some(Always), false, POINT),
            (None, Some(Risky), true, POINT),
            (None, Some(Risky), false, RecordingMethod::Off),
            (Some(Watch), Some(Risky), false, RecordingMethod::Watch),
            (Some(Watch), Some(Risky), true, POINT),
            (Some(Exact), Some(Risky), false, RECORD),
        ] {
            let wanted = wanted(receipt, undo.map(|when| (when, true)));
            let chosen = choose(&wanted, RecordingFacts { is_risky, ..RecordingFacts::default() });
            assert_eq!(chosen, Ok((way, Vec::new())), "{wanted:?} {is_risky}");
        }
    }

    #[test]
    fn a_snapshot_serves_where_a_run_cannot_be_recorded() {
        let known =
            RecordingFacts { no_record: Some("why".into()), tree: Some("/tree".into()), ..RecordingFacts::default() };
        for (receipt, undo, way) in [
            (None, Some((UndoCondition::Always, false)), Ok(RecordingMethod::Snapshot)),
            (Some(ReceiptSource::Exact), Some((UndoCondition::Always, false)), Ok(RecordingMethod::Snapshot)),
            (None, Some((UndoCondition::Always, true)), Err(NotUndoable { why: "why".to_owned() })),
            (Some(ReceiptSource::Exact), Some((UndoCondition::Risky, false)), Ok(RecordingMethod::Watch)),
        ] {
            let chosen = choose(&wanted(receipt, undo), known.clone());
            assert_eq!(chosen.map(|(way, _)| way), way, "{receipt:?} {undo:?}");
        }
        let (_, notes) = choose(&wanted(None, Some((UndoCondition::Always, false))), known).expect("a way");
        assert_eq!(
            notes,
            ["only changes in /tree can be undone, from a snapshot, and the receipt is that of a watch: why"]
        );
    }

    #[test]
    fn what_cannot_be_had_is_a_note_or_a_refusal() {
        use ReceiptSource::{Exact, Watch};
        let always = |require| Some((UndoCondition::Always, require));
        let why = || Some("why".to_owned());
        let point = RecordingFacts { no_point: why(), ..RecordingFacts::default() };
        let record = RecordingFacts { no_record: why(), ..RecordingFacts::default() };
        let no_undo = "the command cannot be undone: why";
        let neither = "the command cannot be undone, and its receipt is that of a watch: why";
        let no_receipt = "the receipt is that of a watch: why";
        for (receipt, undo, known, expected) in [
            (None, always(false), &point, Ok((RecordingMethod::Off, no_undo))),
            (Some(Watch), always(false), &point, Ok((RecordingMethod::Watch, no_undo))),
            (Some(Exact), always(false), &point, Ok((RECORD, no_undo))),
            (Some(Exact), always(true), &point, Err("why")),
            (None, always(false), &record, Ok((RecordingMethod::Watch, neither))),
            (None, always(true), &record, Err("why")),
            (Some(Exact), None, &record, Ok((RecordingMethod::Watch, no_receipt))),
            // A command that is not risky is not to be undone.
            (Some(Exact), Some((UndoCondition::Risky, true)), &record, Ok((RecordingMethod::Watch, no_receipt))),
        ] {
            let chosen = choose(&wanted(receipt, undo), known.clone());
            let expected = expected
                .map(|(way, note)| (way, vec![note.to_owned()]))
                .map_err(|why| NotUndoable { why: why.to_owned() });
            assert_eq!(chosen, expected, "{receipt:?} {undo:?} {known:?}");
        }
        let watch = choose(&wanted(Some(Watch), None), record);
        assert_eq!(watch, Ok((RecordingMethod::Watch, Vec::new())));
    }
}
