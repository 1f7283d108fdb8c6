//! Conditions that hold for every row: `WHERE 1=1`.

use super::token::{SqlToken, SqlTokenKind};

/// Deepest nesting of parentheses that is read.
const MAX_DEPTH: usize = 16;

/// Returns whether a condition holds for every row. `tokens` are the tokens behind `WHERE`.
pub(super) fn is_always_true(tokens: &[SqlToken<'_>]) -> bool {
    any_part_always_holds(tokens, 0)
}

/// Judges `a OR b`: one true part is enough.
fn any_part_always_holds(tokens: &[SqlToken<'_>], depth: usize) -> bool {
    depth < MAX_DEPTH && parts(tokens, "OR").into_iter().any(|part| all_parts_always_hold(part, depth))
}

/// Judges `a AND b`: both parts must hold.
fn all_parts_always_hold(tokens: &[SqlToken<'_>], depth: usize) -> bool {
    parts(tokens, "AND").into_iter().all(|part| one(part, depth))
}

fn one(tokens: &[SqlToken<'_>], depth: usize) -> bool {
    match tokens {
        [open, inner @ .., close] if open.is_sign("(") && close.is_sign(")") => any_part_always_holds(inner, depth + 1),
        [not, rest @ ..] if not.is("NOT") => is_never_true(rest),
        [word] if word.kind == SqlTokenKind::Word => word.is("TRUE"),
        [number] => constant(number).is_some_and(|value| value != 0.0),
        [left, sign, right] if sign.is("IS") => left.is("TRUE") && right.is("TRUE"),
        [left, sign, right] if sign.kind == SqlTokenKind::Sign => compares(left, sign.text, right),
        _ => false,
    }
}

fn is_never_true(tokens: &[SqlToken<'_>]) -> bool {
    match tokens {
        [open, inner @ .., close] if open.is_sign("(") && close.is_sign(")") => is_never_true(inner),
        [word] if word.kind == SqlTokenKind::Word => word.is("FALSE"),
        [number] => constant(number) == Some(0.0),
        [left, sign, right] if sign.is_sign("=") => {
            constant(left).is_some() && constant(right).is_some() && constant(left) != constant(right)
        }
        _ => false,
    }
}

/// Returns whether a comparison always holds: `1 = 1`, `'a' = 'a'`, `id = id`, `1 < 2`.
fn compares(left: &SqlToken<'_>, sign: &str, right: &SqlToken<'_>) -> bool {
    if left.is_unknown() || right.is_unknown() {
        return false;
    }
    let numbers = constant(left).zip(constant(right));
    let same = left.kind == right.kind && left.text.eq_ignore_ascii_case(right.text);
    match sign {
        "=" | "==" => same || numbers.is_some_and(|(left, right)| left == right),
        "<>" | "!=" => {
            let texts = left.kind == SqlTokenKind::Text && right.kind == SqlTokenKind::Text && !same;
            texts || numbers.is_some_and(|(left, right)| left != right)
        }
        "<" => numbers.is_some_and(|(left, right)| left < right),
        ">" => numbers.is_some_and(|(left, right)| left > right),
        "<=" => same || numbers.is_some_and(|(left, right)| left <= right),
        ">=" => same || numbers.is_some_and(|(left, right)| left >= right),
        _ => false,
    }
}

fn constant(token: &SqlToken<'_>) -> Option<f64> {
    matches!(token.kind, SqlTokenKind::Number | SqlTokenKind::Text).then(|| token.text.trim().parse().ok()).flatten()
}

/// Splits tokens at a keyword outside of parentheses.
fn parts<'a, 'b>(tokens: &'a [SqlToken<'b>], keyword: &str) -> Vec<&'a [SqlToken<'b>]> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut from = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.is_sign("(") {
            depth += 1;
        } else if token.is_sign(")") {
            depth = depth.saturating_sub(1);
        } else if depth == 0 && token.is(keyword) {
            parts.push(&tokens[from..at]);
            from = at + 1;
        }
    }
    parts.push(&tokens[from..]);
    parts
}
