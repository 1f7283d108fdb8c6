//! Functions and loops that are running, with the states in which they were left early.

use super::simulated_shell::SimulatedShell;
use crate::word_value::WordValue;

/// Early exits from a function or a loop whose states are kept.
const MAX_STATES: usize = 8;

/// One function that is running.
struct ActiveFunction {
    number: usize,
    argv: Vec<WordValue>,
    /// The states at each `return`.
    returned: Vec<SimulatedShell>,
    /// Whether a `return`, `break`, `continue` or `exit` was evaluated in it: what follows may not run.
    may_have_ended: bool,
}

/// All that is running, the innermost last.
#[derive(Default)]
pub(super) struct CallStack {
    functions: Vec<ActiveFunction>,
    /// Of each loop, the states at each `break` and `continue`.
    loops: Vec<Vec<SimulatedShell>>,
}

impl CallStack {
    /// A function starts.
    pub(super) fn enter(&mut self, number: usize, argv: Vec<WordValue>) {
        self.functions.push(ActiveFunction { number, argv, returned: Vec::new(), may_have_ended: false });
    }

    /// The innermost function ends. Returns the states in which it was left early.
    pub(super) fn leave(&mut self) -> Vec<SimulatedShell> {
        self.functions.pop().map(|function| function.returned).unwrap_or_default()
    }

    /// How many times a function is running.
    pub(super) fn depth_of(&self, number: usize) -> usize {
        self.functions.iter().filter(|function| function.number == number).count()
    }

    /// Whether a function is running with these words.
    pub(super) fn is_running(&self, number: usize, argv: &[WordValue]) -> bool {
        self.functions.iter().any(|function| function.number == number && function.argv == argv)
    }

    /// Whether the innermost function may have ended by now.
    pub(super) fn may_have_ended(&self) -> bool {
        self.functions.last().is_some_and(|function| function.may_have_ended)
    }

    /// `exit`
    pub(super) fn exit(&mut self) {
        if let Some(function) = self.functions.last_mut() {
            function.may_have_ended = true;
        }
    }

    /// `return`
    pub(super) fn return_from_function(&mut self, shell: &SimulatedShell) {
        keep_state(self.functions.last_mut().map(|function| &mut function.returned), shell);
        self.exit();
    }

    /// `break` and `continue`
    pub(super) fn leave_round(&mut self, shell: &SimulatedShell) {
        keep_state(self.loops.last_mut(), shell);
        self.exit();
    }

    /// A round of a loop starts.
    pub(super) fn enter_round(&mut self) {
        self.loops.push(Vec::new());
    }

    /// A round ends. Returns the states in which it was left early.
    pub(super) fn end_round(&mut self) -> Vec<SimulatedShell> {
        self.loops.pop().unwrap_or_default()
    }
}

fn keep_state(states: Option<&mut Vec<SimulatedShell>>, shell: &SimulatedShell) {
    if let Some(states) = states.filter(|states| states.len() < MAX_STATES) {
        states.push(shell.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::{CallStack, MAX_STATES};
    use crate::eval::simulated_shell::SimulatedShell;
    use crate::word_value::WordValue;

    #[test]
    fn the_innermost_function_and_loop_are_left() {
        let shell = SimulatedShell::new(WordValue::of("/"), Vec::new());
        let mut calls = CallStack::default();
        calls.return_from_function(&shell);
        calls.enter(1, vec![WordValue::of("f")]);
        calls.enter(1, vec![WordValue::of("f"), WordValue::of("x")]);
        assert_eq!((calls.depth_of(1), calls.depth_of(2)), (2, 0));
        assert!(calls.is_running(1, &[WordValue::of("f")]) && !calls.is_running(1, &[]));
        assert!(!calls.may_have_ended());
        calls.enter_round();
        for _ in 0..2 * MAX_STATES {
            calls.leave_round(&shell);
        }
        assert_eq!(calls.end_round().len(), MAX_STATES);
        calls.return_from_function(&shell);
        assert!(calls.may_have_ended());
        assert_eq!(calls.leave().len(), 1);
        assert!(!calls.may_have_ended() && calls.leave().is_empty());
    }
}
