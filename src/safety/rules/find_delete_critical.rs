//! `find -delete` of all that is in a folder that cannot be brought back.

use super::rule::{Hit, Rule};
use super::support::find::Search;
use super::support::paths::{Ground, Place};
use super::support::quote;
use crate::safety::command::Command;
use crate::safety::level::Verdict;
use crate::safety::value::Value;

pub static RULE: Rule = Rule {
    id: "find-delete-critical",
    level: Verdict::Deny,
    doc: "Deletes everything that find comes upon in the root, a folder at its top, a home, the working directory, a parent \
          of it or a .git. A test such as -name makes it delete only files of a kind.",
    heads: &["find", "gfind"],
    check,
    matches: &[
        "find / -delete",
        "find . -delete",
        "find -delete",
        "find ~ -type f -delete",
        "find $HOME -delete",
        "find . -type f -delete",
        "find . -mindepth 1 -delete",
        "find . -name '*' -delete",
        "find . -not -name keep -delete",
        "find .git -type f -delete",
        "find . -path './.git/*' -delete",
        "find . -name .git -delete",
        "find .. -delete",
        "find build . -delete",
        "find -L / -delete",
        "find /usr -delete",
        "find * -delete",
    ],
    passes: &[
        "find . -name '*.pyc' -delete",
        "find . -type f -name '*.o' -delete",
        "find . -type d -empty -delete",
        "find . -name __pycache__ -prune",
        "find build -delete",
        "find build -type f -delete",
        "find /tmp/x -delete",
        "find . -mtime +30 -delete",
        "find . -name -delete",
        "find . -type f",
        "find / -name x -print",
        "find . -name .DS_Store -delete",
        "find . \\( -name '*.o' -o -name '*.a' \\) -delete",
        "find . -type f -newer x -delete",
        "echo find / -delete",
    ],
};

fn check(command: &Command) -> Option<Hit> {
    let search = Search::read(command);
    let wide = search.deletes.iter().any(|delete| !delete.narrow);
    let git = search.deletes.iter().any(|delete| delete.git);
    if !wide && !git {
        return None;
    }
    let ground = Ground::new(command.scene);
    let mut surest: Option<bool> = None;
    for start in &search.starts {
        let sure = match ground.place(start, command.cwd) {
            Place::Critical { sure } => sure,
            Place::Inside if git => true,
            _ => continue,
        };
        surest = surest.max(Some(sure));
    }
    let sure = surest?;
    let hit = Hit::exact(
        "permission denied: this find command could delete critical data (.git, home directory, or root). Specify the full path explicitly (no wildcards, ~, or $HOME)",
        instead(command),
    );
    Some(if sure { hit } else { hit.partial() })
}

/// The same search, printing what it finds.
fn instead(command: &Command) -> String {
    let runs = |word: &Value| matches!(word.known(), Some("-exec" | "-execdir" | "-ok" | "-okdir"));
    if command.args().iter().any(runs) {
        return String::new();
    }
    let kept = command.argv.iter().filter(|word| word.known() != Some("-delete"));
    let words: Option<Vec<String>> = kept.map(quote::word).collect();
    words.map(|words| words.join(" ")).filter(|line| line.len() < 400).unwrap_or_default()
}
