//! Sentences about paths that a record, or an undo, does not cover. Pure.

use std::path::PathBuf;

/// The most paths that are named. A tree may have any number of them.
const NAMED: usize = 100;

/// Returns the sentences, without repetitions. The paths beyond the first 100 are counted.
pub fn gaps(sentences: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut named: Vec<String> = Vec::new();
    let mut more = 0_usize;
    for sentence in sentences {
        if named.contains(&sentence) {
            continue;
        }
        if named.len() < NAMED {
            named.push(sentence);
        } else {
            more += 1;
        }
    }
    match more {
        0 => {}
        1 => named.push("one more path".to_owned()),
        more => named.push(format!("{more} more paths")),
    }
    named
}

/// Returns the sentence about a path.
pub fn gap((path, why): &(PathBuf, String)) -> String {
    format!("{}: {why}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beyond_the_first_are_counted() {
        for (count, last) in [(1, "0"), (100, "99"), (101, "one more path"), (1000, "900 more paths")] {
            let found = gaps((0..count).map(|at| at.to_string()).chain(["0".to_owned()]));
            assert_eq!((found.len(), found.last().map(String::as_str)), (count.min(101), Some(last)));
        }
        assert!(gaps([]).is_empty());
    }
}
