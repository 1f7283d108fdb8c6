//! How a command is watched for its evidence: by a witness, if its shell takes one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use nix::sys::resource::{Resource, getrlimit};

use crate::proof::{CommandToProve, EvidenceRequest, TreeBeforeCommand};
use evidence::{CommandEnd, CommandEvidence, EvidencePart};
use protocol::PipelineTapEnds;
use protocol::plan::{ChildPlan, InheritedDescriptor};
use reduce::counts::TestCounts;
use sys::{BashWitness, PipelineTapState, WitnessTrace};

/// A command whose evidence is wanted.
#[derive(Debug, Default)]
pub struct EvidenceWatch {
    /// The witness in the command's shell. `None`: the shell takes none.
    witness: Option<BashWitness>,
    /// The number of the first event of the command itself. A warm shell has read its startup files before.
    from: usize,
    /// The evidence that is wanted.
    wanted: Arc<EvidenceRequest>,
    /// The tree right before the start. `None` if it is not watched.
    before: Option<TreeBeforeCommand>,
    /// The ends of the command's tap, until they are taken.
    tap: Option<PipelineTapEnds>,
}

impl EvidenceWatch {
    /// Returns whether a shell takes a witness.
    pub fn is_possible(shell: &Path) -> bool {
        has_number() && sys::takes_witness(shell)
    }

    /// Creates the witness of a plan's shell, and the tap if the plan has one. Returns the descriptors for the shell as
    /// well.
    ///
    /// # Errors
    /// If the system gives no file in memory, or no descriptors are free.
    pub fn begin(plan: &ChildPlan) -> io::Result<(Self, Vec<OwnedFd>)> {
        let tap = plan.has_tap().then(PipelineTapEnds::open).transpose()?;
        let numbers = tap.as_ref().map(|_| InheritedDescriptor::TAP.map(InheritedDescriptor::number));
        let witness = BashWitness::create(plan.replaced_entry().unwrap_or_default(), numbers)?;
        let mut shared = vec![witness.share()?];
        let (tap, theirs) = tap.unzip();
        shared.extend(theirs.into_iter().flatten());
        Ok((Self { witness: Some(witness), tap, ..Self::default() }, shared))
    }

    /// Like [`Self::begin`], for the shell of a plan that may have a witness, and a command that may want its tap. The
    /// plan is changed to what the shell has.
    pub fn begin_with(plan: &mut ChildPlan, wants_tap: bool) -> (Self, Vec<OwnedFd>) {
        if !wants_tap {
            plan.files.retain(|file| !InheritedDescriptor::TAP.contains(file));
        }
        let begun = if plan.is_watched() { Self::begin(plan).ok() } else { None };
        if begun.is_none() {
            plan.files.retain(|file| *file != InheritedDescriptor::Witness && !InheritedDescriptor::TAP.contains(file));
        }
        let (watched, shared) = begun.unwrap_or_default();
        (watched.with_tap(wants_tap), shared)
    }

    /// Makes the first pipe of the command lead through this process if the command wants it. Otherwise the tap's ends
    /// are closed.
    #[must_use]
    pub fn with_tap(mut self, wants_tap: bool) -> Self {
        let wanted =
            wants_tap && self.witness.as_ref().is_some_and(|witness| witness.set_tap(PipelineTapState::Wanted).is_ok());
        self.tap.take_if(|_| !wanted);
        self
    }

    /// Takes the ends of the command's tap.
    pub fn take_tap(&mut self) -> Option<PipelineTapEnds> {
        self.tap.take()
    }

    /// Returns whether the command's first pipe led through this process.
    pub fn was_tapped(&self) -> bool {
        self.witness.as_ref().is_some_and(|witness| witness.tap() == PipelineTapState::Taken)
    }

    /// Ignores all events so far.
    #[must_use]
    pub fn ignoring_past(self) -> Self {
        let from = self.witness.as_ref().map_or(0, BashWitness::events);
        Self { from, ..self }
    }

    /// Records what is wanted. `before`: the tree right before the start.
    pub fn set_request(&mut self, wanted: Arc<EvidenceRequest>, before: Option<TreeBeforeCommand>) {
        (self.wanted, self.before) = (wanted, before);
    }

    /// Returns whether the tree of the command is watched, so that its evidence has to be read where reads may block.
    pub fn has_tree(&self) -> bool {
        self.before.is_some()
    }

    /// Reads the evidence of the command, which has ended. `named`: the run, and the command. `tests` counts the
    /// tests in its output, once its parts are known.
    pub fn prove(
        self,
        named: (&str, &str),
        end: CommandEnd,
        tests: impl FnOnce(&[EvidencePart]) -> Vec<TestCounts>,
    ) -> CommandEvidence {
        let (trace, (run, command)) = (self.trace(), named);
        self.wanted.prove(CommandToProve { run, command, trace, end, tests, before: self.before })
    }

    /// Returns the events of the command so far. `None` if it is not watched.
    fn trace(&self) -> Option<WitnessTrace> {
        self.witness.as_ref()?.read(self.from)
    }
}

/// Returns whether a child of this process can have the descriptors of a witness and a tap.
fn has_number() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    let number = u64::from(InheritedDescriptor::TapWrite.number().unsigned_abs());
    *HAS.get_or_init(|| getrlimit(Resource::RLIMIT_NOFILE).is_ok_and(|(most, _)| most > number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_witness_nothing_is_known() {
        assert!(EvidenceWatch::default().ignoring_past().trace().is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_shell_that_has_not_begun_has_no_events() {
        let witness = BashWitness::create(&[], None).expect("a file");
        let watched = EvidenceWatch { witness: Some(witness), ..EvidenceWatch::default() };
        assert!(watched.trace().is_none());
    }
}
