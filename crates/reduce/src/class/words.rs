//! The words of a command, as far as they are known without running it.

use safety::parse::{Part, Word};

/// Returns the value of a word. An expansion reads as `$`, so that the rest of the word can still be judged. `None` if
/// the word has nothing but expansions.
pub(super) fn known(word: &Word) -> Option<String> {
    let mut text = String::new();
    let mut says = false;
    for part in &word.parts {
        add(part, &mut text, &mut says);
    }
    (says || text.is_empty()).then_some(text)
}

fn add(part: &Part, text: &mut String, says: &mut bool) {
    match part {
        Part::Text(part) | Part::Quoted(part) => {
            text.push_str(part);
            *says = true;
        }
        Part::Double(parts) => parts.iter().for_each(|part| add(part, text, says)),
        Part::Pattern(pattern) => {
            text.push_str(&pattern.source);
            *says = true;
        }
        Part::Parameter(_) | Part::Command(_) | Part::Arithmetic(_) | Part::Process(_) | Part::Array(_) => {
            text.push('$')
        }
    }
}
