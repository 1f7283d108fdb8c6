//! The parts of a program with the places where brackets and statements end.

use super::token::InlineToken;

/// Most tokens of one statement that are read, not counting tokens in brackets.
const STATEMENT: usize = 1024;

/// Most values that are put together in one expression.
pub(super) const OPERANDS: usize = 64;

/// Words that end an expression.
const END: &[&str] = &["if", "unless", "and", "or", "do", "then", "while", "end"];

/// Tokens with the places where brackets close.
#[derive(Debug, Default)]
pub(super) struct InlineTokens {
    pub(super) list: Vec<InlineToken>,
    /// Index of the matching bracket.
    pub(super) partner: Vec<usize>,
    /// Index of the end of the statement, for each token.
    ends: Vec<usize>,
}

impl InlineTokens {
    /// Matches the brackets and finds the ends of the statements.
    pub(super) fn of(list: Vec<InlineToken>) -> Self {
        let end = list.len();
        let mut partner = vec![end; end];
        let mut open = Vec::new();
        for (at, token) in list.iter().enumerate() {
            match token {
                InlineToken::Sign("(" | "[" | "{") => open.push(at),
                InlineToken::Sign(")" | "]" | "}") => {
                    if let Some(from) = open.pop() {
                        partner[from] = at;
                        partner[at] = from;
                    }
                }
                _ => {}
            }
        }
        let mut ends = vec![end; end + 1];
        for at in (0..end).rev() {
            ends[at] = match &list[at] {
                InlineToken::Sign("(" | "[" | "{") => ends[(partner[at] + 1).min(end)],
                InlineToken::Sign(")" | "]" | "}" | ";") | InlineToken::Line => at,
                InlineToken::Word(word) if END.contains(&word.as_str()) => at,
                _ => ends[at + 1],
            };
        }
        Self { list, partner, ends }
    }

    /// Returns the end of the statement at this token. A very long statement is cut.
    pub(super) fn line(&self, from: usize) -> usize {
        let end = self.ends.get(from).copied().unwrap_or(self.list.len());
        end.min(from + STATEMENT).max(from.min(self.list.len()))
    }

    /// Returns the token at a place.
    pub(super) fn get(&self, at: usize) -> Option<&InlineToken> {
        self.list.get(at)
    }

    /// Returns whether the token is this sign.
    pub(super) fn is(&self, at: usize, sign: &str) -> bool {
        self.get(at).is_some_and(|token| token.is(sign))
    }

    /// Returns the name at a place.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.get(at).and_then(InlineToken::word)
    }

    /// Returns whether the token leads to a member: `a.b`, `a::b`, `a->b`.
    pub(super) fn leads(&self, at: usize) -> bool {
        matches!(self.get(at), Some(InlineToken::Sign("." | "::" | "->" | "?.")))
    }

    /// Returns the owner of the member: `os` of `os.system`.
    pub(super) fn owner(&self, at: usize) -> &str {
        match at.checked_sub(2) {
            Some(before) if self.leads(at - 1) => self.word(before).unwrap_or(""),
            _ => "",
        }
    }
}
