//! Against bash itself.

use std::fs;
use std::process::Command;

use super::*;

#[test]
fn the_word_trap_is_found_however_it_is_quoted() {
    for text in ["trap x EXIT", "a;trap", "\\trap - INT", "t'r'ap", "\"trap\" x", "tr\\\nap x", "x=trap; $x"] {
        assert!(mentions_trap(text), "{text}");
    }
    for text in ["", "strap", "traps", "trap_x", "_trap", "tra p"] {
        assert!(!mentions_trap(text), "{text}");
    }
}

#[test]
fn texts_that_a_line_can_follow() {
    let heredocs = ["cat <<E\nx\nE", "cat <<E\nx\nE\n", "a <<E b <<'F'\nE\n$(\nF", "x=$(cat <<E\ny\nE\n)"];
    let others = ["", "true", "true # it's", "true;", "true &", "f() { x; }", "echo 'a\nb'", "case x in a) ;; esac"];
    for text in heredocs.into_iter().chain(others) {
        assert!(is_complete(text), "{text}");
        assert!(bash_says_complete(text), "{text}");
    }
}

#[test]
fn texts_that_a_line_would_belong_to() {
    let quotes = ["echo 'a", "echo \"a", "`true", "echo $(true", "echo ${x", "a=(1", "true \\", "true # \\"];
    let heredocs = ["cat <<E", "cat <<E\nx", "cat <<E\nE2\n", "cat <<-E\n x\n E", "a <<E b <<F\nE", "cat <<''\nx\n"];
    let lists = ["{ true", "( true", "if true", "true &&", "true |", "f()", "[[ a", "((1", "case x in", "a[1", "fi"];
    for text in quotes.into_iter().chain(heredocs).chain(lists) {
        assert!(!is_complete(text), "{text}");
    }
}

#[test]
#[ignore = "stress: it takes more than a second"]
fn nothing_is_complete_that_bash_would_go_on_with() {
    let corpus = corpus();
    let (mut complete, mut wrong) = (0, Vec::new());
    let is_chosen =
        |index: usize, text: &str| index.is_multiple_of(40) || (index.is_multiple_of(4) && text.contains("<<"));
    for (index, text) in corpus.iter().enumerate().filter(|(index, text)| is_chosen(*index, text)) {
        // The whole text, and its remainder after a cut.
        let cut = text.char_indices().map(|(at, _)| at).nth(index * 7 % text.chars().count().max(1)).unwrap_or(0);
        for text in [text.as_str(), &text[..cut]] {
            if !text.contains('\0') && is_complete(text) {
                complete += 1;
                wrong.extend((!bash_says_complete(text)).then(|| text.to_owned()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(complete > 200, "{complete}");
}

/// Returns the commands of the corpus of safety.
fn corpus() -> Vec<String> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../__test__/safety/corpus");
    let mut files: Vec<_> =
        fs::read_dir(directory).expect("the corpus").map(|entry| entry.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let texts = files.iter().map(|file| fs::read_to_string(file).expect("lines of JSON"));
    let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
    let command = |line: String| {
        let (_, _, command, _): (String, Option<String>, String, String) = serde_json::from_str(&line).expect("a line");
        command
    };
    lines.filter(|line| !line.trim().is_empty()).map(command).collect()
}

/// Returns whether bash reads it without an error, and reports an error in a line after it at its place.
fn bash_says_complete(text: &str) -> bool {
    let read = |text: &str| {
        let output = Command::new("bash").args(["-O", "extglob", "-n", "-c", text]).output().expect("bash runs");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let error = read(&format!("{text}\n;;"));
    read(text).is_empty() && error.contains(&format!("line {}: `;;'", text.matches('\n').count() + 2))
}
