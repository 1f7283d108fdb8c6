//! Automata that tell which of their patterns a line has.

use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::{Anchored, Input, MatchKind};

use crate::file::{AUTOMATON, MAKING, RuleFault, nfa, root};

/// An automaton that tells which of its patterns a line has.
pub struct BuiltPatternAutomaton {
    /// The automaton.
    pub bytes: Vec<u8>,
    /// Whether a line that begins with this byte may have one. The last place is for an empty line.
    pub first: [bool; 257],
}

/// Returns the automaton that tells which of some patterns a line has.
///
/// # Errors
/// For a pattern that is no regular expression, and for patterns that need too much memory.
pub fn which(patterns: &[String]) -> Result<BuiltPatternAutomaton, RuleFault> {
    if let Some((pattern, error)) = patterns.iter().find_map(|pattern| Some((pattern, nfa(&[pattern]).err()?))) {
        return Err(RuleFault::Pattern(format!("{pattern}: {}", root(&*error))));
    }
    let config = dense::Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .minimize(true)
        .dfa_size_limit(Some(AUTOMATON))
        .determinize_size_limit(Some(MAKING));
    let nfa = nfa(patterns).map_err(|_| RuleFault::Complex)?;
    let automaton = dense::Builder::new().configure(config).build_from_nfa(&nfa).map_err(|_| RuleFault::Complex)?;
    let start =
        automaton.start_state_forward(&Input::new("").anchored(Anchored::Yes)).map_err(|_| RuleFault::Complex)?;
    let mut first = [true; 257];
    for byte in 0..=u8::MAX {
        first[usize::from(byte)] = !automaton.is_dead_state(automaton.next_state(start, byte));
    }
    first[256] = !automaton.is_dead_state(automaton.next_eoi_state(start));
    Ok(BuiltPatternAutomaton {
        bytes: automaton.to_sparse().map_err(|_| RuleFault::Complex)?.to_bytes_little_endian(),
        first,
    })
}
