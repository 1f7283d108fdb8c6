//! An automaton that tells at the first bytes of a line whether any of many patterns may match.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::{Anchored, Input};

use crate::file::{RuleFault, nfa};

/// The states of an answer. The start comes next.
const NO: u8 = 0;
const MAYBE: u8 = 1;
const FIRST: u8 = 2;

/// An automaton of few states.
pub struct BuiltPrefixAutomaton {
    /// The class of each byte.
    pub classes: Vec<u8>,
    /// The next state of each state for each class. The last class is the end of the line.
    pub next: Vec<Vec<u8>>,
}

/// Returns the automaton of patterns for lines. It has the states of an automaton that finds the patterns, nearest to
/// the start first, as many as a byte can number. Where it would need one more, the answer is `MAYBE`.
///
/// # Errors
/// For patterns that need too much memory.
pub fn prefixes(patterns: &[String]) -> Result<BuiltPrefixAutomaton, RuleFault> {
    let any = patterns.iter().map(|pattern| format!("(?:{pattern})")).collect::<Vec<_>>().join("|");
    let config = dense::Config::new().start_kind(StartKind::Anchored).minimize(true);
    let nfa = nfa(&[any]).map_err(|_| RuleFault::Complex)?;
    let automaton = dense::Builder::new().configure(config).build_from_nfa(&nfa).map_err(|_| RuleFault::Complex)?;
    let start =
        automaton.start_state_forward(&Input::new("").anchored(Anchored::Yes)).map_err(|_| RuleFault::Complex)?;
    let classes = automaton.byte_classes();
    let mut next = [NO, MAYBE].map(|answer| vec![answer; classes.alphabet_len()]).to_vec();
    let mut states = vec![start];
    let mut at = 0;
    while let Some(&state) = states.get(at) {
        let row = classes.representatives(..).map(|unit| {
            let to =
                unit.as_u8().map_or_else(|| automaton.next_eoi_state(state), |byte| automaton.next_state(state, byte));
            if automaton.is_dead_state(to) {
                return NO;
            }
            if automaton.is_match_state(to) {
                return MAYBE;
            }
            let place = states.iter().position(|&known| known == to).unwrap_or(states.len());
            let Some(number) = u8::try_from(place).ok().and_then(|place| place.checked_add(FIRST)) else {
                return MAYBE;
            };
            if place == states.len() {
                states.push(to);
            }
            number
        });
        next.push(row.collect());
        at += 1;
    }
    Ok(BuiltPrefixAutomaton { classes: (0..=u8::MAX).map(|byte| classes.get(byte)).collect(), next })
}
