//! Guesses about text that bash refuses.

use super::evaluation_frame::EvaluationFrame;
use super::evaluator::CommandEvaluator;
use super::simulated_shell::SimulatedShell;
use crate::verdict::AnalysisConfidence;

impl CommandEvaluator<'_> {
    /// Evaluates the statements that the tolerant grammar finds in the rest of a text, as guesses. bash runs none of
    /// them. Another shell may, and a person who is asked about the text should see them.
    pub(super) fn evaluate_refused_text(
        &mut self,
        shell: &mut SimulatedShell,
        text: &str,
        start: usize,
        frame: EvaluationFrame,
    ) {
        let rest = &text[start..];
        let rest = &rest[..rest.floor_char_boundary(grammar::PARSED)];
        // The grammar's parser is slow beside our reader.
        self.budget.spend(1_000 + 16 * rest.len());
        grammar::statements(rest, |found| {
            if self.budget.is_spent() {
                return true;
            }
            let statement = &rest[found.clone()];
            let read = self.parse_script(statement);
            if read.script.fault.is_some() {
                return false;
            }
            let mut inside = frame.as_conditional();
            inside.confidence = inside.confidence.max(AnalysisConfidence::Partial);
            inside.listed = false;
            inside.origin.fixed.get_or_insert(start + found.start..start + found.end);
            self.evaluate_parsed(shell, statement, read, inside);
            true
        });
    }
}
