//! Limits and records in messages.

use proptest::prelude::*;

use crate::plan::{Limits, Record, RecordLimits, RecordPurpose, Recorded};

prop_compose! {
    /// Returns the options of a record.
    pub fn record()(
        undo: bool, require: bool, store in ".*", limits: [u64; 3], command in ".*", at: u64, beyond: Vec<String>,
        tree in ".*", only_tree: bool,
    ) -> Record {
        let [file_bytes, run_bytes, store_bytes] = limits;
        Record {
            purpose: if undo { RecordPurpose::Undo } else { RecordPurpose::Receipt },
            store: store.into(),
            limits: RecordLimits { file_bytes, run_bytes, store_bytes },
            require, command, at, beyond, tree: tree.into(), only_tree,
        }
    }
}

/// Returns the outcome of a record.
pub fn recorded() -> impl Strategy<Value = Recorded> {
    prop_oneof![Just(Recorded::Off), Just(Recorded::Done), ".*".prop_map(Recorded::Failed)]
}

/// Limits of a plan.
pub fn limits() -> impl Strategy<Value = Limits> {
    proptest::array::uniform5(proptest::option::of(any::<u64>())).prop_map(
        |[cpu, memory, processes, open_files, file_bytes]| Limits { cpu, memory, processes, open_files, file_bytes },
    )
}
