//! Sentences about paths that a record, or an undo, does not cover. Pure.

use std::path::{Path, PathBuf};

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
    format!("{}: {why}", named(path))
}

/// Returns a path as a sentence shows it: between quotes if it could be read as a part of the sentence. `foreignName`
/// of the TypeScript layer does the same with names that are no part of a sentence yet.
pub fn named(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = text.chars().all(|c| c.is_alphanumeric() || "._-/~+@:=%#$!&*?^[]".contains(c));
    if is_plain { text } else { format!("{text:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_part_of_the_sentence() {
        for (name, shown) in [
            ("/a/src/[id]/b-1_2.ts", "/a/src/[id]/b-1_2.ts"),
            ("/a/x: nothing else was changed", "\"/a/x: nothing else was changed\""),
            ("/a/b\n[undone]", r#""/a/b\n[undone]""#),
            ("/a/b\"; c", r#""/a/b\"; c""#),
        ] {
            assert_eq!(gap(&(name.into(), "is a mount".into())), format!("{shown}: is a mount"));
        }
    }

    #[test]
    fn paths_beyond_the_first_are_counted() {
        for (count, last) in [(1, "0"), (100, "99"), (101, "one more path"), (1000, "900 more paths")] {
            let found = gaps((0..count).map(|at| at.to_string()).chain(["0".to_owned()]));
            assert_eq!((found.len(), found.last().map(String::as_str)), (count.min(101), Some(last)));
        }
        assert!(gaps([]).is_empty());
    }
}
