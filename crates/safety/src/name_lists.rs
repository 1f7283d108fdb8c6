//! Lists of names, written as one text: words with blanks between them, or paths of words with commas between them.

/// The words of a list.
pub fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split_ascii_whitespace()
}

/// The words of a list that begin so.
pub fn words_starting<'a>(list: &'a str, start: &str) -> impl Iterator<Item = &'a str> {
    let begins = |at: usize| list[..at].ends_with(|before: char| before.is_ascii_whitespace()) || at == 0;
    list.match_indices(start).filter(move |(at, _)| begins(*at)).map(|(at, _)| words(&list[at..]).next().unwrap_or(""))
}

/// Whether a list of words has this one.
pub fn has_word(list: &str, word: &str) -> bool {
    let (list, word) = (list.as_bytes(), word.as_bytes());
    let Some(&first) = word.first() else { return false };
    let is_blank = |at: usize| list.get(at).is_none_or(u8::is_ascii_whitespace);
    memchr::memchr_iter(first, list)
        .any(|at| (at == 0 || is_blank(at - 1)) && is_blank(at + word.len()) && list[at..].starts_with(word))
        && !word.iter().any(u8::is_ascii_whitespace)
}

/// The paths of a list: `"exec, compose exec"`.
pub fn paths(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(str::trim).filter(|path| !path.is_empty())
}

/// Whether a list of paths has this one.
pub fn has_path(list: &str, path: &str) -> bool {
    paths(list).any(|own| own == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_paths_are_found_whole() {
        assert!(has_word("force recursive", "force") && !has_word("force recursive", "for"));
        assert!(has_path("exec, compose exec", "compose exec") && !has_path("exec, compose exec", "compose"));
        assert!(has_word("a bc b", "b") && !has_word("a b c", "a b") && !has_word("a b", " "));
        assert!(!has_word("", "") && !has_word("a b", "") && !has_path("", ""));
        assert_eq!(words_starting("data data=x no-data da", "data").collect::<Vec<_>>(), ["data", "data=x"]);
    }
}
