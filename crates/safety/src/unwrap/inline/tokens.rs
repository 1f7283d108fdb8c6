//! The parts of a program with the places where brackets and statements end.

use super::token::Token;

/// The number of tokens of one statement that are read, not counting those in brackets.
const STATEMENT: usize = 1024;

/// How many values are put together in one expression.
pub(super) const OPERANDS: usize = 64;

/// Words that end an expression.
const END: &[&str] = &["if", "unless", "and", "or", "do", "then", "while", "end"];

/// Tokens with the places where brackets close.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) list: Vec<Token>,
    /// For a bracket that opens, where it closes; for one that closes, where it opened.
    pub(super) partner: Vec<usize>,
    /// The end of the statement at this token.
    ends: Vec<usize>,
}

impl Tokens {
    /// Finds the partners.
    pub(super) fn of(list: Vec<Token>) -> Self {
        let end = list.len();
        let mut partner = vec![end; end];
        let mut open = Vec::new();
        for (at, token) in list.iter().enumerate() {
            match token {
                Token::Sign("(" | "[" | "{") => open.push(at),
                Token::Sign(")" | "]" | "}") => {
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
                Token::Sign("(" | "[" | "{") => ends[(partner[at] + 1).min(end)],
                Token::Sign(")" | "]" | "}" | ";") | Token::Line => at,
                Token::Word(word) if END.contains(&word.as_str()) => at,
                _ => ends[at + 1],
            };
        }
        Self { list, partner, ends }
    }

    /// The end of the statement at this token. A very long one is cut.
    pub(super) fn line(&self, from: usize) -> usize {
        let end = self.ends.get(from).copied().unwrap_or(self.list.len());
        end.min(from + STATEMENT).max(from.min(self.list.len()))
    }

    /// The token there.
    pub(super) fn get(&self, at: usize) -> Option<&Token> {
        self.list.get(at)
    }

    /// Whether the token is this sign.
    pub(super) fn is(&self, at: usize, sign: &str) -> bool {
        self.get(at).is_some_and(|token| token.is(sign))
    }

    /// The name there.
    pub(super) fn word(&self, at: usize) -> Option<&str> {
        self.get(at).and_then(Token::word)
    }

    /// Whether the token leads to a member: `a.b`, `a::b`, `a->b`.
    pub(super) fn leads(&self, at: usize) -> bool {
        matches!(self.get(at), Some(Token::Sign("." | "::" | "->" | "?.")))
    }

    /// The owner of the member: `os` of `os.system`.
    pub(super) fn owner(&self, at: usize) -> &str {
        match at.checked_sub(2) {
            Some(before) if self.leads(at - 1) => self.word(before).unwrap_or(""),
            _ => "",
        }
    }
}
