//! The texts that the words of a command may have.

use std::borrow::Cow;

use super::word_value::{ValuePiece, WordValue};

/// A separator of words in an unquoted text with alternatives.
pub const PARTING: &str = "\u{1f}";

/// Most alternatives of a command's words that are checked.
const MAX_CHOICES: usize = 16;

/// Returns the words with each combination of the texts that they may have.
pub fn choices(argv: &[WordValue]) -> Vec<Cow<'_, [WordValue]>> {
    let open = |value: &WordValue| value.pieces().iter().any(|piece| matches!(piece, ValuePiece::OneOf(_)));
    if !argv.iter().any(open) {
        return vec![Cow::Borrowed(argv)];
    }
    let mut choices: Vec<Vec<WordValue>> = vec![Vec::new()];
    for value in argv {
        let alone = matches!(value.pieces(), [ValuePiece::OneOf(_)]);
        let mut values = alternatives(value);
        if choices.len() * values.len() > MAX_CHOICES {
            values = vec![WordValue::unknown()];
        }
        let Some((last, others)) = values.split_last() else { return Vec::new() };
        // The words so far are copied only if there are several texts: a copy per word would be quadratic.
        let mut longer = Vec::with_capacity(choices.len() * values.len());
        for mut choice in choices {
            for value in others {
                let mut other = choice.clone();
                append(&mut other, value, alone);
                longer.push(other);
            }
            append(&mut choice, last, alone);
            longer.push(choice);
        }
        choices = longer;
    }
    choices.into_iter().map(Cow::Owned).collect()
}

/// Returns the number of combinations that [`choices`] returns at most.
pub fn count(argv: &[WordValue]) -> usize {
    let texts = argv.iter().flat_map(WordValue::pieces).filter_map(|piece| match piece {
        ValuePiece::OneOf(texts) => Some(texts.len()),
        _ => None,
    });
    texts.fold(1, |count, texts| (count * texts.max(1)).min(MAX_CHOICES))
}

/// Returns whether a word has several texts that are no numbers. Which number it is does not matter.
pub fn is_choice(value: &WordValue) -> bool {
    let number = |text: &String| text.bytes().all(|byte| byte.is_ascii_digit());
    value.pieces().iter().any(|piece| matches!(piece, ValuePiece::OneOf(texts) if !texts.iter().all(number)))
}

/// Appends the words of one text that `value` may have.
fn append(choice: &mut Vec<WordValue>, value: &WordValue, alone: bool) {
    match value.known() {
        Some(text) if text.contains(PARTING) => {
            choice.extend(text.split(PARTING).filter(|part| !part.is_empty()).map(WordValue::of));
        }
        // An unquoted word that expands to nothing is no word.
        Some("") if alone => {}
        _ => choice.push(value.clone()),
    }
}

/// Returns the texts that a word may have.
pub fn alternatives(value: &WordValue) -> Vec<WordValue> {
    let mut all = vec![WordValue::default()];
    for piece in value.pieces() {
        let texts = match piece {
            ValuePiece::OneOf(texts) => texts.clone(),
            piece => {
                for value in &mut all {
                    value.push(piece.clone());
                }
                continue;
            }
        };
        let too_many = all.len() * texts.len() > MAX_CHOICES;
        all = all
            .iter()
            .flat_map(|value| texts.iter().map(move |text| (value, text)))
            .take(if too_many { MAX_CHOICES - 1 } else { MAX_CHOICES })
            .map(|(value, text)| {
                let mut value = value.clone();
                value.push(ValuePiece::Text(text.clone()));
                value
            })
            .collect();
        if too_many {
            // Stands for all other texts.
            all.push(WordValue::unknown());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::SafetyVerdict;
    use crate::corpus_tests::judge;

    #[test]
    fn a_word_with_too_many_texts_is_unknown() {
        let one_of = |name: &str| {
            format!("if t; then {name}=a; elif u; then {name}=b; elif v; then {name}=c; else {name}=d; fi\n")
        };
        let words = format!("{}{}{}", one_of("x"), one_of("y"), one_of("z"));
        assert_eq!(judge(&format!("{words}\"run-$x$y\"")).verdict, SafetyVerdict::Allow);
        assert_eq!(judge(&format!("{words}\"run-$x$y$z\"")).verdict, SafetyVerdict::Ask);
    }
}
