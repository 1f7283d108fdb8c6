//! How much work an evaluation may take.

/// Commands, words and parts that are evaluated in all. A script that takes more is not judged whole.
const MAX_STEPS: usize = 60_000;

/// Counts steps instead of time, so that a busy machine changes no verdict.
pub(super) struct EvaluationBudget {
    steps: usize,
    limit: usize,
    complete: bool,
}

impl Default for EvaluationBudget {
    fn default() -> Self {
        Self { steps: 0, limit: MAX_STEPS, complete: true }
    }
}

impl EvaluationBudget {
    /// Counts work.
    pub(super) fn spend(&mut self, steps: usize) {
        self.steps += steps;
    }

    /// Allows for more work.
    pub(super) fn extend(&mut self, steps: usize) {
        self.limit += steps;
    }

    /// Whether nothing more may be evaluated. If so, the evaluation is not complete.
    pub(super) fn is_spent(&mut self) -> bool {
        let spent = self.steps > self.limit;
        self.complete &= !spent;
        spent
    }

    /// Notes that a part of the command is not evaluated.
    pub(super) fn give_up(&mut self) {
        self.complete = false;
    }

    /// Whether all of the command was evaluated.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}

#[cfg(test)]
mod tests {
    use super::{EvaluationBudget, MAX_STEPS};

    #[test]
    fn a_spent_budget_is_not_complete() {
        let mut budget = EvaluationBudget::default();
        budget.spend(MAX_STEPS);
        assert!(!budget.is_spent() && budget.is_complete());
        budget.spend(1);
        assert!(budget.is_complete());
        assert!(budget.is_spent() && !budget.is_complete());
        budget.extend(1);
        assert!(!budget.is_spent() && !budget.is_complete());
    }
}
