//! The part of a result that was recorded.

use serde::{Deserialize, Serialize};

use crate::{ChangeAttribution, ReceiptCompleteness, RunReceipt};
use protocol::SurvivingProcess;

/// The record of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Changes of the run. `None`: no receipt was wanted.
    pub receipt: Option<RunReceipt>,
    /// The extent of the undo. `None`: the run cannot be undone.
    pub undo: Option<RunUndoCoverage>,
    /// Facts for the notes of the result.
    pub notes: Vec<String>,
}

/// The extent of the undo of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunUndoCoverage {
    /// Whether all changed files are covered.
    pub all: bool,
    /// Effects that are not covered, as sentences.
    pub not_covered: Vec<String>,
    /// Bytes that are kept.
    pub bytes: u64,
}

/// The most processes that a receipt names.
const NAMED: usize = 3;

impl RunRecord {
    /// Returns the record of a run that cannot be undone.
    pub fn of(receipt: RunReceipt) -> Self {
        Self { receipt: Some(receipt), ..Self::default() }
    }

    /// Returns the record of a run in a watched tree, before the watching process has reported the changes.
    pub fn of_unreported_changes() -> Self {
        let mut receipt = RunReceipt::new(ChangeAttribution::Window);
        receipt.lower(ReceiptCompleteness::Unknown, "the process that watches has not said what changed".to_owned());
        Self::of(receipt)
    }

    /// Adds that processes of the run still live.
    pub fn add_survivors(&mut self, survivors: &[SurvivingProcess]) {
        if survivors.is_empty() {
            return;
        }
        self.receipt.iter_mut().for_each(|receipt| receipt.add_survivors(survivors));
        if let Some(undo) = &mut self.undo {
            undo.all = false;
            undo.not_covered
                .push(format!("later changes of processes that it left running: {}", name_survivors(survivors)));
        }
    }
}

impl RunReceipt {
    /// Adds that processes of the run still live.
    pub fn add_survivors(&mut self, survivors: &[SurvivingProcess]) {
        if !survivors.is_empty() {
            self.lower(ReceiptCompleteness::Partial, format!("{MAY_GO_ON}: {}", name_survivors(survivors)));
        }
    }
}

/// Why the receipt of a run with survivors is partial.
const MAY_GO_ON: &str = "processes that the command left running may go on changing files";

fn name_survivors(survivors: &[SurvivingProcess]) -> String {
    let names: Vec<String> =
        survivors.iter().take(NAMED).map(|survivor| format!("{} ({})", survivor.pid, survivor.command)).collect();
    let more = match survivors.len().saturating_sub(NAMED) {
        0 => String::new(),
        1 => " and one more".to_owned(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;
    use crate::{ChangedFileKind, FileChange};

    fn nothing() -> RunRecord {
        RunRecord::of(RunReceipt::new(ChangeAttribution::Command))
    }

    fn survivors(count: i32) -> Vec<SurvivingProcess> {
        (1..=count).map(|pid| SurvivingProcess { pid, command: format!("sleep {pid}"), holds: false }).collect()
    }

    #[test]
    fn a_record_is_whole_in_the_file_of_a_task() {
        let mut record = nothing();
        if let Some(receipt) = &mut record.receipt {
            let path = std::ffi::OsString::from_vec(b"/a\xff".to_vec()).into();
            receipt.created.push(FileChange { path, bytes: Some(1), bytes_before: None, kind: ChangedFileKind::File });
            receipt.directories.push("/d".into());
        }
        record.undo = Some(RunUndoCoverage { all: true, not_covered: vec!["x".into()], bytes: 7 });
        let text = serde_json::to_vec(&record).expect("written");
        assert_eq!(serde_json::from_slice::<RunRecord>(&text).expect("read"), record);
    }

    #[test]
    fn survivors_make_a_receipt_partial_and_are_named() {
        for (count, why) in [
            (1, "1 (sleep 1)"),
            (3, "1 (sleep 1), 2 (sleep 2), 3 (sleep 3)"),
            (4, "1 (sleep 1), 2 (sleep 2), 3 (sleep 3) and one more"),
            (9, "1 (sleep 1), 2 (sleep 2), 3 (sleep 3) and 6 more"),
        ] {
            let mut recorded = nothing();
            recorded.add_survivors(&survivors(count));
            let receipt = recorded.receipt.expect("a receipt");
            assert_eq!(receipt.state, ReceiptCompleteness::Partial);
            assert!(receipt.why.is_some_and(|text| text.ends_with(&format!(": {why}"))), "{count}");
        }
        let mut recorded = nothing();
        recorded.undo = Some(RunUndoCoverage { all: true, ..RunUndoCoverage::default() });
        recorded.add_survivors(&survivors(1));
        let expected = "later changes of processes that it left running: 1 (sleep 1)".to_owned();
        assert_eq!(recorded.undo, Some(RunUndoCoverage { all: false, not_covered: vec![expected], bytes: 0 }));
        let mut recorded = nothing();
        recorded.add_survivors(&[]);
        assert_eq!(recorded, nothing());
    }
}
