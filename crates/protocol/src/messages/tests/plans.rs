//! Limits and records in messages.

use proptest::prelude::*;

use crate::plan::{ChangeJournalLimits, ChangeJournalOutcome, ChangeJournalPlan, ChangeJournalPurpose, CommandLimits};

prop_compose! {
    /// Returns the options of a record.
    pub fn record()(
        undo: bool, require: bool, store in ".*", limits: [u64; 3], command in ".*", at: u64, beyond: Vec<String>,
        tree in ".*", only_tree: bool,
    ) -> ChangeJournalPlan {
        let [file_bytes, run_bytes, store_bytes] = limits;
        ChangeJournalPlan {
            purpose: if undo { ChangeJournalPurpose::Undo } else { ChangeJournalPurpose::Receipt },
            store: store.into(),
            limits: ChangeJournalLimits { file_bytes, run_bytes, store_bytes },
            require, command, at, beyond, tree: tree.into(), only_tree,
        }
    }
}

/// Returns the outcome of a record.
pub fn recorded() -> impl Strategy<Value = ChangeJournalOutcome> {
    prop_oneof![
        Just(ChangeJournalOutcome::Off),
        Just(ChangeJournalOutcome::Done),
        ".*".prop_map(ChangeJournalOutcome::Failed)
    ]
}

/// Limits of a plan.
pub fn limits() -> impl Strategy<Value = CommandLimits> {
    proptest::array::uniform5(proptest::option::of(any::<u64>())).prop_map(
        |[cpu, memory, processes, open_files, file_bytes]| CommandLimits {
            cpu,
            memory,
            processes,
            open_files,
            file_bytes,
        },
    )
}
