//! The words of failure in a line.

/// The meaning of the words of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FailureWords {
    /// Whether any word may matter.
    pub any: bool,
    /// Whether any character is outside of ASCII.
    pub foreign: bool,
    /// Whether a word means failure and has no zero next to it.
    pub failure: bool,
    /// Whether a word means warning.
    pub warning: bool,
    /// Whether a word means that something was done.
    pub summary: bool,
    /// Whether a number other than zero counts failures: `3 failed`, `errors=2`.
    pub counted: bool,
    /// Whether there is a digit.
    pub digit: bool,
    /// Whether there is a sign that may be behind the path of a place: a colon or an open parenthesis.
    pub place: bool,
    /// Whether there is an open bracket.
    pub bracket: bool,
}

/// The meaning of one word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FailureWordMeaning {
    Failure,
    /// Failure, also at the end of another word: `TypeError`.
    Kind,
    Warning,
    /// Only part of a phrase.
    Part,
    /// Something was done.
    Summary,
}

/// Finds the words of failure in a line, in one pass over its bytes.
pub(super) fn find(line: &[u8]) -> FailureWords {
    let mut found = FailureWords::default();
    let (mut at, mut all) = (0, 0);
    while let Some(&byte) = line.get(at) {
        let (start, mut own) = (at, CLASSES[usize::from(byte)]);
        let may_be_kind = byte.is_ascii_uppercase();
        at += 1;
        if own & LETTER != 0 {
            while let Some(&byte) = line.get(at)
                && CLASSES[usize::from(byte)] & WORD != 0
            {
                own |= CLASSES[usize::from(byte)];
                at += 1;
            }
            if let Some(says) = word_meaning(&line[start..at], may_be_kind || own & LINE != 0) {
                note(&mut found, line, start, at, says);
            }
        }
        all |= own;
    }
    found.foreign = all & FOREIGN != 0;
    found.digit = all & DIGIT != 0;
    found.place = all & PLACE != 0;
    found.bracket = all & BRACKET != 0;
    found
}

fn is_word_byte(byte: u8) -> bool {
    CLASSES[usize::from(byte)] & WORD != 0
}

/// Bits of the classes of bytes: a word begins with a letter.
const WORD: u8 = 1;
const LETTER: u8 = 2;
const FOREIGN: u8 = 4;
const DIGIT: u8 = 8;
const PLACE: u8 = 16;
const BRACKET: u8 = 32;
const LINE: u8 = 64;

/// The class of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => WORD | LETTER,
            b'0'..=b'9' => WORD | DIGIT,
            b'_' => WORD | LINE,
            b':' | b'(' => PLACE,
            b'[' => BRACKET,
            0x80.. => FOREIGN,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

fn note(found: &mut FailureWords, line: &[u8], start: usize, end: usize, says: FailureWordMeaning) {
    if says == FailureWordMeaning::Summary {
        found.summary = true;
        return;
    }
    found.any = true;
    match says {
        FailureWordMeaning::Summary => {}
        FailureWordMeaning::Part => {}
        FailureWordMeaning::Warning => found.warning |= !is_joined(line, start, end),
        FailureWordMeaning::Failure | FailureWordMeaning::Kind => {
            if is_joined(line, start, end) {
                return;
            }
            match count_beside(line, start, end) {
                Some(false) => {}
                Some(true) => {
                    found.failure = true;
                    found.counted = true;
                }
                None => found.failure |= !is_negated(line, start),
            }
        }
    }
}

/// Returns whether the word is a part of a name: `errors.ts`, `this-error`, `src/error/`, `--fail-fast`, `error()`.
fn is_joined(line: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| line[at]);
    if matches!(before, Some(b'-' | b'/' | b'_' | b'\\' | b'$' | b'@' | b'<')) {
        return true;
    }
    if before == Some(b'.') && start >= 2 && is_word_byte(line[start - 2]) && !line[start].is_ascii_uppercase() {
        return true;
    }
    let next = |ahead: usize| line.get(end + ahead).copied();
    match next(0) {
        Some(b'/' | b'\\') => true,
        Some(b'-' | b'.') => next(1).is_some_and(is_word_byte),
        Some(b'(') => next(1) == Some(b')'),
        Some(b'=') => next(1).is_some_and(|byte| !byte.is_ascii_digit()),
        _ => false,
    }
}

/// Returns whether the number next to a word is not zero: `3 failed`, `failures: 0`, `errors=2`. `None` without a
/// number.
fn count_beside(line: &[u8], start: usize, end: usize) -> Option<bool> {
    let mut at = end;
    if matches!(line.get(at), Some(b':' | b'=')) {
        at += 1;
        while line.get(at) == Some(&b' ') {
            at += 1;
        }
        if let Some(count) = number(&line[at..]) {
            return Some(count);
        }
    }
    // The last word of a line: `# fail 1`.
    let behind = line.get(end..).and_then(|behind| behind.strip_prefix(b" ")).unwrap_or_default();
    if !behind.is_empty() && behind.trim_ascii_end().iter().all(u8::is_ascii_digit) {
        return number(behind);
    }
    let before = line[..start].trim_ascii_end();
    let blanks = start - before.len();
    let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let own = before[..before.len() - digits].last().is_none_or(|&byte| !is_word_byte(byte) && byte != b'.');
    if blanks == 1 && digits > 0 && own { number(&before[before.len() - digits..]) } else { None }
}

/// Returns whether a text starts with a number other than zero. `None` if it starts with no number of its own.
fn number(text: &[u8]) -> Option<bool> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends = text.get(digits).is_none_or(|&byte| !is_word_byte(byte));
    (digits > 0 && ends).then(|| text[..digits].iter().any(|&byte| byte != b'0'))
}

/// Returns whether a negation precedes: `no errors`, `without failures`, `zero errors`, `not failed`.
fn is_negated(line: &[u8], start: usize) -> bool {
    let before = line[..start].trim_ascii_end();
    [b"no".as_slice(), b"without", b"zero", b"never", b"if"].iter().any(|no| {
        before.len() >= no.len()
            && before[before.len() - no.len()..].eq_ignore_ascii_case(no)
            && before.len().checked_sub(no.len() + 1).is_none_or(|at| !is_word_byte(before[at]))
    })
}

/// Returns the meaning of a word, whatever its case. `may_be_kind`: the word begins with a capital or has a low line.
fn word_meaning(word: &[u8], may_be_kind: bool) -> Option<FailureWordMeaning> {
    if word.len() >= 2 && word.len() <= LONGEST && GATE[gate(word)] {
        let range = RANGES[usize::from(word[0].to_ascii_lowercase() - b'a')];
        let known = WORDS[range.0..range.1].iter().find(|(known, _)| word.eq_ignore_ascii_case(known.as_bytes()));
        if let Some((_, says)) = known {
            return Some(*says);
        }
    }
    (may_be_kind && is_kind(word)).then_some(FailureWordMeaning::Kind)
}

/// Returns whether a word is the kind of an error: `TypeError`, `NullPointerException`, `ERR_MODULE_NOT_FOUND`,
/// `ENOENT`.
fn is_kind(word: &[u8]) -> bool {
    let end: &[u8] = match word {
        [.., b'o', b'r'] => b"Error",
        [.., b'o', b'n'] => b"Exception",
        [.., b'r', b'e'] => b"Failure",
        [.., b'l', b't'] => b"Fault",
        [.., b'i', b'c'] => b"Panic",
        [.., b'r', b's'] => b"Errors",
        [.., b'f', b'f'] => b"BackOff",
        [.., b'e', b'd'] => b"Denied",
        [b'E', b'R', b'R', b'_', ..] => return true,
        [b'E', b'A'..=b'Z', ..] => return CODES.contains(&word),
        _ => return false,
    };
    word.ends_with(end) && (word[0].is_ascii_uppercase() || word.contains(&b'_'))
}

/// Codes of the operating system.
const CODES: [&[u8]; 7] = [b"ENOENT", b"EACCES", b"EPERM", b"EADDRINUSE", b"ECONNREFUSED", b"ETIMEDOUT", b"ERESOLVE"];

/// Length of the longest word.
const LONGEST: usize = 12;

/// The words that matter, by their first letter.
const WORDS: [(&str, FailureWordMeaning); 122] = {
    use FailureWordMeaning::{Failure, Part, Summary, Warning};
    [
        ("abort", Failure),
        ("aborted", Failure),
        ("aborting", Failure),
        ("added", Summary),
        ("assertion", Failure),
        ("bad", Part),
        ("broken", Failure),
        ("build", Summary),
        ("built", Summary),
        ("can", Part),
        ("cannot", Failure),
        ("caused", Part),
        ("changed", Summary),
        ("code", Part),
        ("compiled", Summary),
        ("completed", Summary),
        ("conflict", Failure),
        ("conflicts", Failure),
        ("core", Part),
        ("corrupt", Failure),
        ("corrupted", Failure),
        ("could", Part),
        ("couldn", Part),
        ("coverage", Summary),
        ("crash", Failure),
        ("crashed", Failure),
        ("critical", Failure),
        ("deadlock", Failure),
        ("denied", Failure),
        ("deprecated", Warning),
        ("directory", Part),
        ("done", Summary),
        ("dumped", Failure),
        ("duration", Summary),
        ("err", Failure),
        ("error", Failure),
        ("errored", Failure),
        ("errors", Failure),
        ("exception", Failure),
        ("exceptions", Failure),
        ("exists", Part),
        ("exit", Part),
        ("exited", Part),
        ("expected", Part),
        ("fail", Failure),
        ("failed", Failure),
        ("failing", Failure),
        ("fails", Failure),
        ("failure", Failure),
        ("failures", Failure),
        ("fatal", Failure),
        ("fault", Part),
        ("finished", Summary),
        ("forbidden", Failure),
        ("found", Summary),
        ("free", Part),
        ("got", Part),
        ("http", Part),
        ("illegal", Failure),
        ("incompatible", Failure),
        ("insertions", Summary),
        ("insufficient", Failure),
        ("invalid", Failure),
        ("killed", Failure),
        ("ld", Part),
        ("library", Part),
        ("make", Part),
        ("memory", Part),
        ("mismatch", Failure),
        ("mismatched", Failure),
        ("missing", Failure),
        ("no", Part),
        ("not", Part),
        ("ok", Part),
        ("oomkilled", Failure),
        ("packages", Summary),
        ("panic", Failure),
        ("panicked", Failure),
        ("panics", Failure),
        ("passed", Summary),
        ("passing", Summary),
        ("ran", Summary),
        ("refused", Failure),
        ("rejected", Failure),
        ("returned", Part),
        ("rspec", Part),
        ("segfault", Failure),
        ("severe", Failure),
        ("sigabrt", Failure),
        ("sigkill", Failure),
        ("signal", Part),
        ("sigsegv", Failure),
        ("smashing", Part),
        ("successfully", Summary),
        ("summary", Summary),
        ("terminate", Part),
        ("terminated", Part),
        ("test", Summary),
        ("tests", Summary),
        ("time", Summary),
        ("timed", Part),
        ("timeout", Failure),
        ("total", Summary),
        ("traceback", Failure),
        ("unable", Failure),
        ("unauthorized", Failure),
        ("uncaught", Failure),
        ("undeclared", Failure),
        ("undefined", Failure),
        ("unexpected", Failure),
        ("unhandled", Failure),
        ("unknown", Failure),
        ("unmatched", Failure),
        ("unreachable", Failure),
        ("unrecognized", Failure),
        ("unresolved", Failure),
        ("unsupported", Failure),
        ("want", Part),
        ("warn", Warning),
        ("warning", Warning),
        ("warnings", Warning),
        ("wrong", Part),
    ]
};

/// Returns a number for two letters and the length of a word.
const fn gate(word: &[u8]) -> usize {
    let first = (word[0] | 0x20) as usize & 31;
    let second = (word[1] | 0x20) as usize & 31;
    first << 9 | second << 4 | word.len() & 15
}

/// Numbers of the words. Most words of a text have another number.
static GATE: [bool; 1 << 14] = {
    let mut gates = [false; 1 << 14];
    let mut at = 0;
    while at < WORDS.len() {
        gates[gate(WORDS[at].0.as_bytes())] = true;
        at += 1;
    }
    gates
};

/// Ranges of the words by first letter.
static RANGES: [(usize, usize); 26] = {
    let mut ranges = [(0, 0); 26];
    let mut at = 0;
    while at < WORDS.len() {
        let letter = (WORDS[at].0.as_bytes()[0] - b'a') as usize;
        if ranges[letter].1 == 0 {
            ranges[letter].0 = at;
        }
        at += 1;
        ranges[letter].1 = at;
    }
    ranges
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_the_order_of_their_letters() {
        assert!(WORDS.is_sorted_by_key(|(word, _)| word.as_bytes()[0]));
        assert_eq!(WORDS.iter().map(|(word, _)| word.len()).max(), Some(LONGEST));
        assert!(WORDS.iter().all(|(word, _)| word_meaning(word.as_bytes(), false).is_some()));
    }
}
