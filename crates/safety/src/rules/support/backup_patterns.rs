//! Patterns that fit backups or dumps.

use crate::name_lists::has_word;
use crate::path::resolved;
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::{ValuePiece, WordValue};

/// Words in names of backups. They may end a longer word: `mysqldump`.
static MARKS: &[&str] = &["backup", "backups", "dump", "dumps"];
/// Directories of build output, where nothing needs to be kept.
static OUTPUT: &str = "build dist out target coverage node_modules .next .nuxt .cache tmp temp __pycache__";

/// Programs that run a command for each file that they find or are given.
static SEARCHES: &str = "find gfind fd fdfind xargs gxargs parallel";

/// Returns whether a pattern fits backups by its name or by a directory that leads to it, below the first directory.
pub fn is_backups(word: &WordValue, command: &SimpleCommandView) -> bool {
    let path = text(&resolved(command.cwd, word));
    let cwd = command.directories.cwd.as_str();
    let own = path.strip_prefix(cwd).filter(|rest| rest.starts_with('/')).unwrap_or(&path);
    let names: Vec<&str> = own.split('/').filter(|name| !name.is_empty()).collect();
    // A search chooses the names by its tests. Only the directory counts then.
    let searched = command.via.iter().any(|via| via.split(' ').next().is_some_and(|name| has_word(SEARCHES, name)));
    let marked = if searched { names.split_last().map_or(&[][..], |(_, directories)| directories) } else { &names };
    marked.iter().any(|name| is_mark(name)) && !names.iter().any(|name| has_word(OUTPUT, name))
}

/// Returns the text of a path. Unknown parts are left out.
fn text(value: &WordValue) -> String {
    let part = |piece: &ValuePiece| match piece {
        ValuePiece::Text(text) | ValuePiece::Glob(text) => text.clone(),
        ValuePiece::OneOf(_) | ValuePiece::Unknown(_) => String::new(),
    };
    value.pieces().iter().map(part).collect()
}

/// Returns whether a name says that the file is a backup: `db-backup-*.sql`, `*.bak`, `pg_dump_*.gz`.
fn is_mark(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.split(|char: char| !char.is_ascii_alphanumeric()).any(|word| {
        let word = word.trim_end_matches(|last: char| last.is_ascii_digit());
        word == "bak" || MARKS.iter().any(|mark| word.ends_with(mark))
    })
}

#[cfg(test)]
mod tests {
    use super::is_mark;

    #[test]
    fn names_say_that_they_are_backups() {
        for name in ["backups", "*.bak", "db-backup-*.sql", "pg_dump_*.gz", "backup2024*", "mysqldump-*", "*Backup*"] {
            assert!(is_mark(name), "{name}");
        }
        for name in ["*.log", "dumper_*.py", "bakery", "undumped", "*.sql"] {
            assert!(!is_mark(name), "{name}");
        }
    }
}
