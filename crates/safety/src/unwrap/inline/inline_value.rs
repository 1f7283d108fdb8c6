//! The value of an expression in a program.

use crate::word_value::{ValuePiece, WordValue};

/// Longest text that is put together.
const LONGEST: usize = 16 * 1024;

/// A value in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InlineValue {
    /// A text, known at least at its beginning.
    Text(WordValue),
    /// Several values.
    List(Vec<InlineValue>),
    /// Named values.
    Map(Vec<(String, InlineValue)>),
    /// True or false.
    Flag(bool),
    /// Anything.
    Unknown,
}

/// An argument of a call.
#[derive(Clone, Debug)]
pub(super) struct InlineArgument {
    /// `name=`, `name:`, `name =>`
    pub(super) name: Option<String>,
    /// The value.
    pub(super) item: InlineValue,
}

impl InlineValue {
    /// Makes a known text.
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self::Text(WordValue::of(text))
    }

    /// Returns this value and another, with a text between.
    pub(super) fn joined(self, other: Self, between: &str) -> Self {
        match (self, other) {
            (Self::Text(mut text), Self::Text(more)) => {
                if length(&text) + length(&more) > LONGEST {
                    return Self::Unknown;
                }
                text.push(ValuePiece::Text(between.to_owned()));
                text.extend(&more);
                Self::Text(text)
            }
            (Self::Text(mut text), Self::Unknown) => {
                text.push(ValuePiece::Text(between.to_owned()));
                text.push(ValuePiece::Unknown(false));
                Self::Text(text)
            }
            (Self::List(mut list), Self::List(more)) => {
                if list.len() + more.len() > LONGEST {
                    return Self::Unknown;
                }
                list.extend(more);
                Self::List(list)
            }
            (Self::List(mut list), _) => {
                list.push(Self::Unknown);
                Self::List(list)
            }
            _ => Self::Unknown,
        }
    }

    /// Returns the text.
    pub(super) fn text(&self) -> Option<&WordValue> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the words of a list. An unknown word stays unknown. `None` for other items, and if the first word is
    /// unknown.
    pub(super) fn words(&self) -> Option<Vec<WordValue>> {
        let Self::List(items) = self else { return None };
        items.first()?.text()?;
        Some(flattened(items))
    }

    /// Returns a value that is any of the values in the list.
    pub(super) fn any_of_list(self) -> Self {
        let Self::List(items) = self else { return self };
        if let [one] = items.as_slice() {
            return one.clone();
        }
        let known: Option<Vec<String>> = items.iter().map(|item| item.text()?.known().map(str::to_owned)).collect();
        match known {
            Some(texts) if !texts.is_empty() => {
                let mut value = WordValue::default();
                value.push(ValuePiece::OneOf(texts));
                Self::Text(value)
            }
            _ => Self::Unknown,
        }
    }
}

/// Returns the words in a list, including the words of nested lists.
pub(super) fn flattened(items: &[InlineValue]) -> Vec<WordValue> {
    let mut words = Vec::new();
    for item in items {
        match item {
            InlineValue::Text(text) => words.push(text.clone()),
            InlineValue::List(more) => {
                words.extend(more.iter().map(|item| item.text().cloned().unwrap_or_else(WordValue::unknown)))
            }
            InlineValue::Map(_) => {}
            InlineValue::Flag(_) | InlineValue::Unknown => words.push(WordValue::unknown()),
        }
    }
    words
}

/// Estimates the length of a text.
pub(super) fn length(value: &WordValue) -> usize {
    let piece = |piece: &ValuePiece| match piece {
        ValuePiece::Text(text) | ValuePiece::Glob(text) => text.len(),
        ValuePiece::OneOf(texts) => texts.iter().map(String::len).sum(),
        ValuePiece::Unknown(_) => 1,
    };
    value.pieces().iter().map(piece).sum()
}
