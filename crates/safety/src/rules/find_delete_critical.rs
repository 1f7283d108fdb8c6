//! `find -delete` of everything in a directory that cannot be restored.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::find_search::FindSearch;
use super::support::operand_paths::{DirectoryLandmarks, OperandPlace};
use super::support::quote;
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "find-delete-critical",
    level: SafetyVerdict::Deny,
    doc: "Deletes everything that find finds in the root, a directory at its top, a home, the working directory, a \
          parent of it or a .git. With a test such as -name it deletes only the files that match.",
    programs: RulePrograms::Named(&["find", "gfind"]),
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
        "find / -depth -delete",
        "find / -type f -exec rm -f {} +",
        "find . -type f -execdir rm {} \\;",
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
        "find . -name '*.o' -exec rm -f {} +",
        "find . -type f -exec grep -l rm {} +",
        "echo find / -delete",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let search = FindSearch::read(command);
    let wide = search.deletes.iter().any(|delete| !delete.narrow);
    let git = search.deletes.iter().any(|delete| delete.git);
    if !wide && !git {
        return None;
    }
    let landmarks = DirectoryLandmarks::new(command.directories);
    let mut surest: Option<bool> = None;
    for start in &search.starts {
        let sure = match landmarks.place_of(start, command.cwd) {
            OperandPlace::Critical { sure } => sure,
            OperandPlace::Inside if git => true,
            _ => continue,
        };
        surest = surest.max(Some(sure));
    }
    let sure = surest?;
    let hit = RuleHit::exact(
        "permission denied: this find command could delete critical data (.git, home directory, or root). Specify the full path explicitly (no wildcards, ~, or $HOME)",
        instead(command),
    );
    Some(if sure { hit } else { hit.partial() })
}

/// Returns the same search, which prints instead of deleting.
fn instead(command: &SimpleCommandView) -> String {
    let mut words = Vec::new();
    let mut args = command.argv.iter();
    while let Some(word) = args.next() {
        match word.known() {
            Some("-delete") => {}
            // Skips to the end of the action. `by_ref` also takes the end itself.
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                args.by_ref().find(|word| matches!(word.known(), Some(";" | "+")));
            }
            _ => words.push(word),
        }
    }
    quote::line(words).unwrap_or_default()
}
