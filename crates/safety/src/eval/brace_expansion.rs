//! `a{b,c}d` and `{1..3}`

use std::borrow::Cow;
use std::ops::Range;

use crate::parse::WordPart;

/// Words that one word may become.
const MAX_WORDS: usize = 64;

/// Bytes that are searched for the partners of braces, and parts that are copied, at most for one word.
const MAX_STEPS: usize = 16 * 1024;

/// Parts of a word. Only text is copied, since other parts may hold long scripts.
type BraceWordParts<'a> = Vec<Cow<'a, WordPart>>;

/// Whether a word may have braces to expand.
pub fn may_have(parts: &[WordPart]) -> bool {
    parts.iter().any(|part| matches!(part, WordPart::Text(text) if text.as_bytes().contains(&b'{')))
}

/// The words that brace expansion makes of a word. `None` if there are too many.
/// Counts its work in `steps`.
pub fn expand<'a>(parts: &'a [WordPart], steps: &mut usize) -> Option<Vec<BraceWordParts<'a>>> {
    let mut done = Vec::new();
    let all: BraceWordParts<'a> = parts.iter().map(Cow::Borrowed).collect();
    let mut waiting = vec![(all, 0)];
    let most = *steps + MAX_STEPS;
    while let Some((parts, from)) = waiting.pop() {
        let group = first(&parts, from, steps, most);
        if *steps > most || done.len() >= MAX_WORDS {
            return None;
        }
        match group {
            None => done.push(parts),
            Some(group) => {
                let choices = group.choices(&parts);
                // In reverse order, since words are taken from the end.
                for choice in choices.into_iter().rev() {
                    *steps += choice.len() + parts.len();
                    let mut word = slice(&parts, START, group.open);
                    let resume = word.len().saturating_sub(1);
                    word.extend(choice);
                    word.extend(slice(&parts, next(group.close), (parts.len(), 0)));
                    waiting.push((word, resume));
                }
            }
        }
    }
    Some(done)
}

/// A place: the index of a part, and a byte in it.
type WordPartOffset = (usize, usize);
const START: WordPartOffset = (0, 0);

fn next(at: WordPartOffset) -> WordPartOffset {
    (at.0, at.1 + 1)
}

/// A pair of braces with its commas, or with its sequence.
struct BraceGroup {
    open: WordPartOffset,
    close: WordPartOffset,
    commas: Vec<WordPartOffset>,
    range: Option<Range<usize>>,
}

/// The first pair of braces that bash expands. `None` too if the search takes more than the most steps.
fn first(parts: &[Cow<WordPart>], from: usize, steps: &mut usize, most: usize) -> Option<BraceGroup> {
    for (index, part) in parts.iter().enumerate().skip(from) {
        let WordPart::Text(text) = &**part else { continue };
        for (at, _) in text.match_indices('{') {
            let group = group(parts, (index, at), steps);
            if group.is_some() || *steps > most {
                return group;
            }
        }
    }
    None
}

fn group(parts: &[Cow<WordPart>], open: WordPartOffset, steps: &mut usize) -> Option<BraceGroup> {
    let mut depth = 0usize;
    let mut commas = Vec::new();
    for (index, part) in parts.iter().enumerate().skip(open.0) {
        let WordPart::Text(text) = &**part else { continue };
        let begin = if index == open.0 { open.1 } else { 0 };
        *steps += text.len() - begin;
        for (at, byte) in text.bytes().enumerate().skip(begin) {
            match byte {
                b'{' => depth += 1,
                b',' if depth == 1 => commas.push((index, at)),
                b'}' => {
                    depth -= 1;
                    if depth > 0 {
                        continue;
                    }
                    let close = (index, at);
                    let inside = (index == open.0).then_some(open.1 + 1..at);
                    let range = inside.filter(|inside| commas.is_empty() && sequence(&text[inside.clone()]).is_some());
                    return (range.is_some() || !commas.is_empty()).then_some(BraceGroup {
                        open,
                        close,
                        commas,
                        range,
                    });
                }
                _ => {}
            }
        }
    }
    None
}

impl BraceGroup {
    fn choices<'a>(&self, parts: &[Cow<'a, WordPart>]) -> Vec<BraceWordParts<'a>> {
        if let (Some(range), WordPart::Text(text)) = (&self.range, &*parts[self.open.0]) {
            let values = sequence(&text[range.clone()]).unwrap_or_default();
            return values.into_iter().map(|value| vec![Cow::Owned(WordPart::Quoted(value))]).collect();
        }
        let mut choices = Vec::new();
        let mut from = next(self.open);
        for end in self.commas.iter().copied().chain([self.close]) {
            choices.push(slice(parts, from, end));
            from = next(end);
        }
        choices
    }
}

/// `1..3`, `a..e`, `1..9..2`
fn sequence(text: &str) -> Option<Vec<String>> {
    let mut parts = text.split("..");
    let (from, to, step) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() {
        return None;
    }
    let ends = (from, to);
    let letter = |text: &str| (text.len() == 1).then(|| text.as_bytes()[0]).filter(u8::is_ascii_alphabetic);
    let (from, to, letters) = match (letter(from), letter(to)) {
        (Some(from), Some(to)) => (i64::from(from), i64::from(to), true),
        _ => (from.parse().ok()?, to.parse().ok()?, false),
    };
    let step = match step {
        Some(step) => step.parse::<i64>().ok()?.checked_abs()?.max(1),
        None => 1,
    };
    let count = usize::try_from(from.abs_diff(to) / step.unsigned_abs()).ok()?.min(MAX_WORDS);
    // A leading zero in either end pads all numbers.
    let padded = |text: &str| text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0');
    let width = if !letters && (padded(ends.0) || padded(ends.1)) { ends.0.len().max(ends.1.len()) } else { 0 };
    let values = (0..=count).map(|index| {
        let offset = i64::try_from(index).unwrap_or(0) * step;
        let value = if from <= to { from.saturating_add(offset) } else { from.saturating_sub(offset) };
        match u8::try_from(value) {
            Ok(byte) if letters => char::from(byte).to_string(),
            _ => format!("{value:0width$}"),
        }
    });
    Some(values.collect())
}

/// The parts from one place to another.
fn slice<'a>(parts: &[Cow<'a, WordPart>], from: WordPartOffset, to: WordPartOffset) -> BraceWordParts<'a> {
    let mut piece = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        if index < from.0 || index > to.0 || (index == to.0 && to.1 == 0 && !matches!(**part, WordPart::Text(_))) {
            continue;
        }
        match &**part {
            WordPart::Text(text) => {
                let begin = if index == from.0 { from.1.min(text.len()) } else { 0 };
                let end = if index == to.0 { to.1.min(text.len()) } else { text.len() };
                if begin < end {
                    piece.push(Cow::Owned(WordPart::Text(text[begin..end].to_owned())));
                }
            }
            _ => piece.push(part.clone()),
        }
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::expand;
    use crate::parse::WordPart;

    /// The words that unquoted text becomes, with `'` around its quoted parts.
    fn words(parts: &[WordPart]) -> Option<Vec<String>> {
        let shown = |part: &WordPart| match part {
            WordPart::Text(text) => text.clone(),
            WordPart::Quoted(text) => format!("'{text}'"),
            _ => String::new(),
        };
        Some(expand(parts, &mut 0)?.iter().map(|word| word.iter().map(|part| shown(part)).collect()).collect())
    }

    #[test]
    fn braces_expand_as_in_bash() {
        for (text, wanted) in [
            ("a{b,c}d", "abd acd"),
            ("{a,b}{c,d}", "ac ad bc bd"),
            ("{a,{b,c}}", "a b c"),
            ("{1..3}", "'1' '2' '3'"),
            ("{3..1..2}", "'3' '1'"),
            ("{08..10}", "'08' '09' '10'"),
            ("{a..c}", "'a' 'b' 'c'"),
            ("{a}", "{a}"),
            ("{}", "{}"),
            ("a{b", "a{b"),
        ] {
            assert_eq!(words(&[WordPart::Text(text.to_owned())]).unwrap().join(" "), wanted, "{text}");
        }
    }

    #[test]
    fn quoted_braces_stay_and_too_many_words_are_given_up() {
        let parts =
            [WordPart::Text("{a,".to_owned()), WordPart::Quoted("{b,c}".to_owned()), WordPart::Text("}".to_owned())];
        assert_eq!(words(&parts).unwrap(), ["a", "'{b,c}'"]);
        assert_eq!(words(&[WordPart::Text("{a,b}".repeat(10))]), None);
    }
}
