//! Unlikely texts: long ones, and pieces of statements in any order.

use proptest::prelude::*;

use super::tests::{ALL, found};
use super::{SqlDialect, losses, opens_file, shell_commands};

#[test]
#[ignore = "stress: it measures time"]
fn long_texts_are_scanned_in_time() {
    for text in [
        "(".repeat(60_000),
        "DELETE FROM a WHERE (".repeat(8_000),
        "with a as (update x as (".repeat(6_000),
        "BEGIN DELETE FROM a THEN ".repeat(6_000) + "WHERE x = 1",
        "EXPLAIN ANALYZE ".repeat(10_000),
        "/*".repeat(60_000),
        "$a$ $b$ ".repeat(16_000),
        "'".repeat(100_001),
        "1=1 OR ((x) AND ".repeat(8_000),
        "EXEC 'x' ".repeat(12_000),
        "CREATE TRIGGER BEGIN ;".repeat(6_000),
        "DELETE FROM a WHERE ".to_owned() + &"(".repeat(40_000) + "1" + &")".repeat(40_000),
        "\\g \\x ".repeat(16_000),
    ] {
        for dialect in ALL {
            let start = std::time::Instant::now();
            losses(&text, dialect);
            shell_commands(&text, dialect);
            let took = start.elapsed();
            assert!(took.as_secs() < 20, "{took:?} {dialect:?}: {}", &text[..20]);
        }
    }
}

/// Pieces of statements.
const PIECES: &[&str] = &[
    "DROP",
    "TABLE",
    "TRUNCATE",
    "DELETE",
    "FROM",
    "UPDATE",
    "SET",
    "WHERE",
    "ALTER",
    "x",
    "1",
    "=",
    "'",
    "\"",
    "`",
    "[",
    "]",
    "(",
    ")",
    ";",
    "--",
    "/*",
    "*/",
    "#",
    "\n",
    "\\",
    "\\!",
    "$$",
    "$a$",
    "\0",
    "é",
    "E'",
    "GO",
    "DELIMITER //",
    "//",
    ".",
    "WITH",
    "AS",
    "EXPLAIN",
    "ANALYZE",
    "BEGIN",
    "END",
    "CREATE",
    "TRIGGER",
    "DO",
    "EXEC",
    "ROLLBACK",
    "/*!4",
    "'''",
    "TOP",
];

/// Returns a text in quotes of each kind, which no statement in it leaves.
fn harmless(dialect: SqlDialect, text: &str) -> Vec<String> {
    let plain: String = text.chars().filter(|char| !"'\"`[]$*/\\\n\0".contains(*char)).collect();
    let mut all = vec![
        format!("SELECT '{plain}'"),
        format!("SELECT 1 -- {plain}"),
        format!("SELECT 1 /* {plain} */"),
        format!("SELECT \"{plain}\" FROM t"),
        format!("SELECT `{plain}` FROM t"),
    ];
    if dialect.dollar_quotes() {
        all.push(format!("SELECT $q$ {plain} $q$"));
    }
    if dialect.hash_comments() {
        all.push(format!("SELECT 1 # {plain}"));
    }
    all
}

proptest! {
    #[test]
    fn any_pieces_are_scanned(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..40),
        space in proptest::sample::select(&["", " "][..]),
        dialect in proptest::sample::select(&ALL[..]),
    ) {
        let text = pieces.join(space);
        for loss in losses(&text, dialect) {
            prop_assert!(!loss.to_string().contains('\0'));
        }
        shell_commands(&text, dialect);
        opens_file(&text, dialect);
    }

    #[test]
    fn any_text_is_scanned(text: String, dialect in proptest::sample::select(&ALL[..])) {
        losses(&text, dialect);
    }

    #[test]
    fn words_in_strings_names_and_comments_never_count(
        pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..20),
        dialect in proptest::sample::select(&ALL[..]),
    ) {
        for text in harmless(dialect, &pieces.join(" ")) {
            prop_assert_eq!(found(&text, dialect), Vec::<String>::new(), "{}", text);
            let behind = format!("{text}\n; DROP TABLE behind");
            prop_assert_eq!(found(&behind, dialect), ["drops the table behind"], "{}", behind);
        }
    }
}
