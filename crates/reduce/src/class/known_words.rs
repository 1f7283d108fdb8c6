//! The words of a command, as far as they are known without running it.

use safety::parse::{WordPart, WordSyntax};

/// Returns the value of a word. An expansion reads as `$`, so that the rest of the word can still be judged. `None` if
/// the word has nothing but expansions.
pub(super) fn known_value(word: &WordSyntax) -> Option<String> {
    let mut text = String::new();
    let mut says = false;
    for part in &word.parts {
        add(part, &mut text, &mut says);
    }
    (says || text.is_empty()).then_some(text)
}

fn add(part: &WordPart, text: &mut String, says: &mut bool) {
    match part {
        WordPart::Text(part) | WordPart::Quoted(part) => {
            text.push_str(part);
            *says = true;
        }
        WordPart::Double(parts) => parts.iter().for_each(|part| add(part, text, says)),
        WordPart::Pattern(pattern) => {
            text.push_str(&pattern.source);
            *says = true;
        }
        WordPart::Parameter(_)
        | WordPart::Command(_)
        | WordPart::Arithmetic(_)
        | WordPart::Process(_)
        | WordPart::Array(_) => text.push('$'),
    }
}
