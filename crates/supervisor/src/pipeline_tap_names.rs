//! The two pipes of a tap, which are one pipe for the processes at its ends.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use protocol::plan::{ChildPlan, InheritedDescriptor};
use sys::{BashWitness, PipelineTapState};

/// The names of a tap's pipes, as the lists of open pipes have them.
#[derive(Debug, Clone)]
pub struct PipelineTapNames {
    /// The pipe of the producer.
    producer: String,
    /// The pipe of the reader.
    reader: String,
    /// The witness in the shell, which knows whether the command uses them.
    witness: Arc<BashWitness>,
}

impl PipelineTapNames {
    /// Returns the names if a shell inherits the ends of a tap. `files` are those of its plan.
    pub fn of(plan: &ChildPlan, files: &[OwnedFd]) -> Option<Self> {
        let file = |file| files.get(plan.files.iter().position(|other| *other == file)?);
        let [reader, producer] = InheritedDescriptor::TAP.map(|end| sys::name_of_pipe(file(end)?.as_fd()));
        let witness = BashWitness::of(file(InheritedDescriptor::Witness)?.try_clone().ok()?)?;
        Some(Self { producer: producer?, reader: reader?, witness: Arc::new(witness) })
    }

    /// Gives both pipes one name once the first pipe of the command leads through them, so that whoever follows the
    /// pipes finds the producer behind the reader.
    pub fn join<'a>(&self, names: impl IntoIterator<Item = &'a mut String>) {
        if self.witness.tap() == PipelineTapState::Taken {
            names.into_iter().filter(|name| **name == self.reader).for_each(|name| name.clone_from(&self.producer));
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn both_pipes_of_a_tap_have_one_name_once_the_command_uses_them() {
        let witness = Arc::new(BashWitness::create(&[], None).expect("a file"));
        let (producer, reader) = ("pipe:[1]".to_owned(), "pipe:[2]".to_owned());
        let tap = PipelineTapNames { producer, reader, witness: Arc::clone(&witness) };
        let joined = || {
            let mut names = ["pipe:[1]", "pipe:[2]", "pipe:[3]"].map(str::to_owned);
            tap.join(&mut names);
            names
        };
        assert_eq!(joined(), ["pipe:[1]", "pipe:[2]", "pipe:[3]"]);
        witness.set_tap(PipelineTapState::Wanted).expect("written");
        assert_eq!(joined(), ["pipe:[1]", "pipe:[2]", "pipe:[3]"]);
        witness.set_tap(PipelineTapState::Taken).expect("written");
        assert_eq!(joined(), ["pipe:[1]", "pipe:[1]", "pipe:[3]"]);
    }
}
