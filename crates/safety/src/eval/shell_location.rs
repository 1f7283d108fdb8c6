//! The directories that a shell may be in.

use std::rc::Rc;

use crate::word_value::{WordValue, weight};

/// The directories in which a shell may be.
const MAX_CANDIDATES: usize = 4;
/// Directories on the stack of `pushd` that are kept. Below them, nothing is known.
const MAX_STACK: usize = 64;

/// The directory of a shell, as far as it is known.
#[derive(Clone, Debug)]
pub(super) struct ShellLocation {
    /// The directories that it may be in. It is in the first one if no command failed.
    pub candidates: Rc<Vec<WordValue>>,
    /// The directory that it left: `cd -`.
    pub previous: WordValue,
    /// Directories that `pushd` left, the last one last.
    stack: Vec<WordValue>,
}

impl ShellLocation {
    pub(super) fn new(cwd: WordValue) -> Self {
        Self { candidates: Rc::new(vec![cwd]), previous: WordValue::unknown(), stack: Vec::new() }
    }

    /// The location of a program that starts here.
    pub(super) fn child(&self) -> Self {
        Self { candidates: Rc::clone(&self.candidates), previous: self.previous.clone(), stack: Vec::new() }
    }

    /// The likeliest directory.
    pub(super) fn cwd(&self) -> &WordValue {
        &self.candidates[0]
    }

    /// `cd`
    pub(super) fn enter(&mut self, directory: WordValue) {
        self.previous = self.cwd().clone();
        self.candidates = Rc::new(vec![directory]);
    }

    /// `pushd`
    pub(super) fn push(&mut self, directory: WordValue) {
        if self.stack.len() == MAX_STACK {
            self.stack.remove(0);
        }
        self.stack.push(directory);
    }

    /// `popd`
    pub(super) fn pop(&mut self) -> WordValue {
        self.stack.pop().unwrap_or_else(WordValue::unknown)
    }

    /// How many steps a copy of it takes.
    pub(super) fn weight(&self) -> usize {
        self.stack.len() + weight(&self.candidates) / 16
    }

    /// Adds the directories that another shell may be in.
    pub(super) fn join(&mut self, other: &Self) {
        for directory in other.candidates.iter() {
            if self.candidates.len() < MAX_CANDIDATES && !self.candidates.contains(directory) {
                Rc::make_mut(&mut self.candidates).push(directory.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CANDIDATES, MAX_STACK, ShellLocation};
    use crate::word_value::WordValue;

    #[test]
    fn locations_join_up_to_a_bound() {
        let mut here = ShellLocation::new(WordValue::of("/a"));
        here.enter(WordValue::of("/b"));
        assert_eq!((here.cwd(), &here.previous), (&WordValue::of("/b"), &WordValue::of("/a")));
        for name in ["/b", "/c", "/d", "/e", "/f"] {
            here.join(&ShellLocation::new(WordValue::of(name)));
        }
        assert_eq!(here.candidates.len(), MAX_CANDIDATES);
        assert_eq!(here.cwd(), &WordValue::of("/b"));
    }

    #[test]
    fn the_deepest_directories_of_a_long_stack_are_forgotten() {
        let mut here = ShellLocation::new(WordValue::of("/"));
        for number in 0..=MAX_STACK {
            here.push(WordValue::of(format!("/{number}")));
        }
        for number in (1..=MAX_STACK).rev() {
            assert_eq!(here.pop(), WordValue::of(format!("/{number}")));
        }
        assert_eq!(here.pop(), WordValue::unknown());
    }
}
