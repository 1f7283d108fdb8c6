//! A command of which only the filter runs: what its source would write is known from a stored run.

use std::path::PathBuf;
use std::sync::Arc;

use super::outcome::{CommandOutcome, CommandStatus};
use super::tapped_output::TappedOutput;
use crate::reuse::{PipelineSource, StoredRun};
use evidence::{CommandEnd, EvidencePart};

/// What labels the result of such a command.
pub struct FilteredReuse {
    /// The run of its source.
    pub stored: Arc<StoredRun>,
    /// The root of their tree.
    pub root: PathBuf,
    /// The source.
    pub source: PipelineSource,
    /// The tap of the source, if it is to have one.
    pub tap: Option<TappedOutput>,
}

impl FilteredReuse {
    /// Labels the result.
    pub fn label(self, outcome: &mut CommandOutcome) {
        let Self { stored, root, source, tap } = self;
        let (Some(written), Some(filter)) = (&stored.written, &source.filter) else { return };
        let by_itself = outcome.status == CommandStatus::Exited && outcome.ended_by.is_none();
        let end = CommandEnd { code: outcome.exit_code, signal: None, by_itself };
        let producer = EvidencePart { span: Some(source.span), ..written.part.clone() };
        outcome.evidence = Some(evidence::filtered_evidence(&stored.evidence, producer, &filter.source, end));
        outcome.reused = Some(stored.to_reused(&root, true));
        outcome.tap = tap;
    }
}
