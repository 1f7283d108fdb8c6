//! `rm -r` outside of the working directory.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::find_search::FindSearch;
use super::support::operand_paths::{DirectoryLandmarks, OperandPlace};
use super::support::{quote, removed_operands};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

pub static RULE: SafetyRule = SafetyRule {
    id: "rm-recursive",
    level: SafetyVerdict::Ask,
    doc: "Deletes directories outside of the one that the command starts in and of those for temporary files, or \
          directories whose names are known only when it runs.",
    programs: RulePrograms::Named(&["rm", "grm", "srm", "find", "gfind"]),
    check,
    matches: &[
        "rm -rf /opt/app/cache",
        "rm -rf ../other",
        "rm -r ../other/dist",
        "rm --recursive ~/Downloads/x",
        "rm -rf ~/.cache/pip",
        "rm -rf build /opt/x",
        "rm -Rf /var/lib/x",
        "rm -rf \"$(cat list)\"",
        "rm -rf $(some-command)",
        "find /opt/app -type f -delete",
        "find ../other -name '*.log' -delete",
        "rimraf ../other",
    ],
    passes: &[
        "rm -rf node_modules",
        "rm -rf dist build coverage",
        "rm -rf build/*",
        "rm -rf ./packages/a/dist",
        "rm -rf /home/dev/project/dist",
        "rm -rf /tmp/x",
        "rm -rf /var/tmp/x/y",
        "rm -f /opt/app/file",
        "rm ../notes.txt",
        "rm -rf \"$(mktemp -d)\"",
        "rm -rf ''",
        "rm -rf --help ../other",
        "find . -name '*.pyc' -delete",
        "find /tmp -mtime +7 -delete",
        "find build -delete",
        "find /opt -name x",
        "rmdir ../other",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    if matches!(command.name(), Some("find" | "gfind")) {
        let search = FindSearch::read(command);
        // The rm of `-exec rm` is judged as a command of its own.
        if search.deletes.iter().all(|delete| !delete.by.is_empty()) {
            return None;
        }
        let narrow = search.deletes.iter().all(|delete| delete.narrow);
        let landmarks = DirectoryLandmarks::new(command.directories);
        let hit = search.starts.iter().find_map(|start| match landmarks.place_of(start, command.cwd) {
            OperandPlace::Outside => Some(outside(start)),
            // If nothing narrows the search, find-delete-critical reports it.
            OperandPlace::Critical { .. } if narrow && !landmarks.within_reach(start, command.cwd) => {
                Some(outside(start))
            }
            OperandPlace::Unknown if !narrow => Some(unknown()),
            _ => None,
        });
        return hit;
    }
    let removal = removed_operands::removed_operands(command).filter(|removal| removal.sure)?;
    let worst = removal.operands.iter().find_map(|(word, place)| match place {
        OperandPlace::Outside => Some(outside(word)),
        _ => None,
    });
    worst.or_else(|| removal.operands.iter().any(|(_, place)| *place == OperandPlace::Unknown).then(unknown))
}

fn outside(word: &WordValue) -> RuleHit {
    let line = quote::line([word]).filter(|text| !text.starts_with('-'));
    RuleHit::exact(
        "this deletes a directory outside of the working directory and of temporary directories. Look at what is in it first, and delete only what belongs to the task",
        line.map(|text| format!("ls -la {text}")).unwrap_or_default(),
    )
}

fn unknown() -> RuleHit {
    RuleHit::exact(
        "this deletes directories whose names are known only when it runs. Write their paths out, or print them first",
        "",
    )
}
