use std::path::PathBuf;

use super::*;
use confine_policy::DenialKind;
use receipt::{ChangeAttribution, ChangedFileKind, FileRename};

fn changes(numbers: [usize; 4]) -> RunReceipt {
    let change = |at: usize| receipt::FileChange {
        path: PathBuf::from(format!("/{at}")),
        bytes: Some(1),
        bytes_before: None,
        kind: ChangedFileKind::File,
    };
    let [created, modified, deleted, renamed] = numbers;
    let mut receipt = RunReceipt::new(ChangeAttribution::Command);
    receipt.created = (0..created).map(change).collect();
    receipt.modified = (0..modified).map(change).collect();
    receipt.deleted = (0..deleted).map(change).collect();
    receipt.renamed = (0..renamed).map(|at| FileRename { from: format!("/{at}").into(), to: "/to".into() }).collect();
    receipt
}

#[test]
fn each_kind_of_change_has_its_share_of_the_room() {
    for (numbers, expected) in [
        ([0, 0, 0, 0], [0, 0, 0, 0]),
        ([100, 100, 100, 100], [50, 50, 50, 50]),
        ([100, 0, 0, 0], [100, 0, 0, 0]),
        ([100, 100, 1, 0], [100, 99, 1, 0]),
        ([100, 100, 100, 0], [100, 50, 50, 0]),
        ([60, 60, 60, 10], [60, 60, 60, 10]),
    ] {
        let shown = RunChanges::from_receipt(Some(&changes(numbers)), None).changes.expect("a receipt");
        let kinds = [RunChangeKind::Created, RunChangeKind::Modified, RunChangeKind::Deleted, RunChangeKind::Renamed];
        assert_eq!(kinds.map(|kind| shown.iter().filter(|change| change.kind == kind).count()), expected);
    }
}

#[test]
fn a_path_is_sent_whole_or_not_at_all() {
    let mut receipt = changes([2, 0, 0, 0]);
    receipt.created[0].path = format!("/{}", "x".repeat(CHANGES.bytes)).into();
    let shown = RunChanges::from_receipt(Some(&receipt), None).changes.expect("a receipt");
    assert_eq!(shown.iter().map(|change| change.path.as_str()).collect::<Vec<_>>(), ["/1"]);
}

#[test]
fn without_a_receipt_there_are_no_changes() {
    assert_eq!(RunChanges::from_receipt(None, None), RunChanges::default());
    let undo = RunUndoCoverage { all: true, ..RunUndoCoverage::default() };
    let changed = RunChanges::from_receipt(None, Some(&undo));
    assert_eq!((changed.changes, changed.undo.map(|undo| undo.covers)), (None, Some("all")));
}

#[test]
fn denials_without_room_are_counted() {
    let mut denials = CommandDenials::default();
    (0..60).for_each(|at| denials.add(DenialKind::Write, &format!("/{at}"), "tee", None));
    let denied = RunDenials::from(&denials);
    assert_eq!((denied.denials.len(), denied.denied), (DENIALS.items, 60));
}

#[test]
fn no_secret_of_a_command_line_is_sent() {
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let mut receipt = changes([1, 0, 0, 1]);
    let why = format!("processes may go on: 7 (curl -u joe:hunter2hunter2 https://x.example), 8 (x {secret})");
    receipt.lower(ReceiptCompleteness::Partial, why.clone());
    receipt.created[0].path = format!("/p/{secret}").into();
    receipt.renamed[0].from = format!("/p/{secret}").into();
    receipt.directories.push(format!("/p/{secret}").into());
    let undo = RunUndoCoverage { not_covered: vec![why], ..RunUndoCoverage::default() };
    let mut denials = CommandDenials::default();
    let target = format!("/etc/{secret}");
    denials.add(DenialKind::Write, &target, "tee", Some(SuggestedGrant::Write(target.clone())));
    let sent = (RunDenials::from(&denials), RunChanges::from_receipt(Some(&receipt), Some(&undo)));
    let sent = serde_json::to_string(&sent).expect("JSON");
    assert!(!sent.contains("hunter2") && !sent.contains(secret), "{sent}");
    assert!(sent.contains("curl -u joe:") && sent.contains("/etc/[redacted]"), "{sent}");
}
