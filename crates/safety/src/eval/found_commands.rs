//! The simple commands that an evaluation found.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::simple_command::SimpleCommand;
use crate::name_map::NameMap;

/// Simple commands, each listed once.
#[derive(Default)]
pub(super) struct FoundCommands {
    commands: Vec<SimpleCommand>,
    /// The first command at each place of the text, until there is another one. Most places have one command.
    alone: NameMap<usize, Option<usize>>,
    /// Hashes of the commands at the other places.
    seen: HashSet<u64>,
}

impl FoundCommands {
    /// Lists a command, unless the same command is listed.
    pub(super) fn record(&mut self, command: SimpleCommand) {
        let next = self.commands.len();
        match self.alone.get_mut(&command.span.start) {
            None => {
                self.alone.insert(command.span.start, Some(next));
                self.commands.push(command);
                return;
            }
            Some(first) => {
                if let Some(first) = first.take() {
                    self.seen.insert(hash(&self.commands[first]));
                }
            }
        }
        if self.seen.insert(hash(&command)) {
            self.commands.push(command);
        }
    }

    /// The commands in the order in which they were found.
    pub(super) fn into_commands(self) -> Vec<SimpleCommand> {
        self.commands
    }
}

/// The hash of all that makes a command another one.
fn hash(command: &SimpleCommand) -> u64 {
    let mut bytes = HashInput(Vec::with_capacity(512));
    (command.span.start, &command.argv, &command.prefix, &command.via, &command.cwds, &command.assigned)
        .hash(&mut bytes);
    (command.traits.bomb, command.confidence, command.input.text(), command.input.contents()).hash(&mut bytes);
    for redirect in &command.redirects {
        (&redirect.op, &redirect.target).hash(&mut bytes);
    }
    let mut hasher = DefaultHasher::new();
    hasher.write(&bytes.0);
    hasher.finish()
}

/// Collects the bytes to hash, since one long text is hashed much faster than many short ones.
struct HashInput(Vec<u8>);

impl Hasher for HashInput {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        0
    }
}
