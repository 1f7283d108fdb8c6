//! The items that `xargs` and `parallel` run a command for.

use super::placeholder_text::PlaceholderText;
use crate::word_value::{ValuePiece, WordValue};

/// How a text is cut into items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemSplitting {
    /// At blanks, with quotes and backslashes, as xargs does it.
    Words,
    /// At the ends of lines.
    Lines,
    /// At this character.
    At(char),
}

/// The items in a text.
pub(super) fn split_items(text: &WordValue, how: ItemSplitting) -> Vec<WordValue> {
    let flat = PlaceholderText::of(text);
    let items: Vec<String> = match how {
        ItemSplitting::Words => words(&flat.text),
        ItemSplitting::Lines => flat
            .text
            .split(['\n', '\0'])
            .map(|line| line.trim_start().to_owned())
            .filter(|line| !line.is_empty())
            .collect(),
        ItemSplitting::At(letter) => {
            let text = flat.text.strip_suffix(letter).unwrap_or(&flat.text);
            if text.is_empty() { Vec::new() } else { text.split(letter).map(str::to_owned).collect() }
        }
    };
    items.iter().map(|item| flat.value(item).derived_from(text)).collect()
}

/// Splits words as xargs and `env -S` do.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '\\') => word.get_or_insert_default().extend(letters.next()),
            // An argument ends at a NUL.
            (None, _) if letter.is_ascii_whitespace() || letter == '\0' => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// Returns a word with an item in place of each `mark`. `None` if the word has no mark.
pub(super) fn replace_mark(word: &WordValue, mark: &str, item: &WordValue) -> Option<WordValue> {
    let mut hit = false;
    let mut made = WordValue::default();
    for piece in word.pieces() {
        match piece {
            ValuePiece::Text(text) if !mark.is_empty() && text.contains(mark) => {
                hit = true;
                for (index, part) in text.split(mark).enumerate() {
                    if index > 0 {
                        made.extend(item);
                    }
                    made.push(ValuePiece::Text(part.to_owned()));
                }
            }
            piece => made.push(piece.clone()),
        }
    }
    hit.then(|| made.derived_from(word))
}

/// Returns at most `most` items. The rest become one item that stands for any of them.
pub(super) fn bound_items(mut items: Vec<WordValue>, most: usize) -> Vec<WordValue> {
    if items.len() <= most {
        return items;
    }
    let rest: Option<Vec<String>> = items[most..].iter().map(|item| item.known().map(str::to_owned)).collect();
    let mut any = items[most..].iter().fold(WordValue::default(), WordValue::derived_from);
    items.truncate(most);
    any.push(rest.map_or(ValuePiece::Unknown(false), ValuePiece::OneOf));
    items.push(any);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Vec<WordValue> {
        texts.iter().map(|text| WordValue::of(*text)).collect()
    }

    #[test]
    fn texts_are_cut_as_xargs_cuts_them() {
        assert_eq!(
            split_items(&WordValue::of(" a 'b c'\n\"d\"e\\ f\n"), ItemSplitting::Words),
            of(&["a", "b c", "de f"])
        );
        assert_eq!(split_items(&WordValue::of("a b\n c\n\n"), ItemSplitting::Lines), of(&["a b", "c"]));
        assert_eq!(split_items(&WordValue::of("a\0b c\0"), ItemSplitting::At('\0')), of(&["a", "b c"]));
        assert_eq!(split_items(&WordValue::of(""), ItemSplitting::At(',')), of(&[]));
        assert_eq!(split_items(&WordValue::of("''"), ItemSplitting::Words), of(&[""]));
    }

    #[test]
    fn marks_are_replaced_everywhere() {
        assert_eq!(replace_mark(&WordValue::of("x{}y{}"), "{}", &WordValue::of("/")), Some(WordValue::of("x/y/")));
        assert_eq!(replace_mark(&WordValue::of("x"), "{}", &WordValue::of("/")), None);
        assert_eq!(replace_mark(&WordValue::of("x"), "", &WordValue::of("/")), None);
    }

    #[test]
    fn many_items_come_to_one_that_is_any_of_them() {
        let items = bound_items(of(&["a", "b", "c"]), 1);
        assert_eq!(items.len(), 2);
        assert_eq!(items[1].pieces(), [ValuePiece::OneOf(vec!["b".to_owned(), "c".to_owned()])]);
    }
}
