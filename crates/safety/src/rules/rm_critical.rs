//! `rm -r` of directories that cannot be restored.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::operand_paths::OperandPlace;
use super::support::{quote, removed_operands};
use crate::simple_command_view::SimpleCommandView;
use crate::verdict::SafetyVerdict;

pub static RULE: SafetyRule = SafetyRule {
    id: "rm-critical",
    level: SafetyVerdict::Deny,
    doc: "Deletes the root, a directory at its top, a home, the directory that the command starts in or a parent of \
          it, a .git, or everything in one of these.",
    programs: RulePrograms::Named(removed_operands::PROGRAMS),
    check,
    matches: &[
        "rm -rf /",
        "rm -fr /",
        "rm -r -f /",
        "rm / -rf",
        "rm -R /",
        "rm --recursive --force /",
        "rm --rec /usr",
        "rm -rf --no-preserve-root /",
        "rm -rf -- /etc",
        "rm -rf /*",
        "rm -rf /usr/*",
        "rm -rf //",
        "rm -rf /./",
        "rm -rf /hom?",
        "rm -rf ~",
        "rm -rf ~/",
        "rm -rf ~/*",
        "rm -rf $HOME",
        "rm -rf $HOME/*",
        "rm -rf /home/other",
        "rm -rf .",
        "rm -rf ..",
        "rm -rf *",
        "rm -rf .*",
        "rm -rf ./*",
        "rm -rf ../*",
        "rm -rf .git",
        "rm -rf .git/",
        "rm -rf .git/*",
        "rm -rf .g*t",
        "rm -rf sub/.git",
        "rm -rf build .git",
        "rm -rf ../project",
        "rm -rf $PWD",
        "rm -rf /home/dev/project",
        "rm -rf src/../..",
        "rm -rPv ~",
        "rimraf /",
    ],
    passes: &[
        "rm -rf node_modules",
        "rm -rf node_modules dist",
        "rm -rf ./build",
        "rm -rf build/*",
        "rm -rf *.log",
        "rm -rf /tmp/x",
        "rm -rf '~'",
        "rm -rf '*'",
        "rm -rf ''",
        "rm -rf .gitignore",
        "rm -rf .github/workflows",
        "rm -rf .git/rebase-merge",
        "rm -rf /home/dev/project/dist",
        "rm -rf /tmp/clone/.git",
        "rm -f .git/index.lock",
        "rm *",
        "rm -f ~/x",
        "rm -rf --help",
        "rmdir /tmp/x",
        "git rm -r .",
        "echo rm -rf /",
        "grep -r 'rm -rf /' .",
        "rimraf dist",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let removal = removed_operands::removed_operands(command)?;
    let critical = removal.operands.iter().filter_map(|(word, place)| match place {
        OperandPlace::Critical { sure } => Some((*word, *sure && removal.sure)),
        _ => None,
    });
    // Picks a certain hit first: `sure` sorts last.
    let (word, sure) = critical.max_by_key(|(_, sure)| *sure)?;
    let hit = RuleHit::exact(
        "permission denied: this rm command could delete critical data (.git, home directory, or root). Specify the full path explicitly (no wildcards, ~, or $HOME)",
        quote::line([word])
            .filter(|text| !text.starts_with('-'))
            .map(|text| format!("ls -ld {text}"))
            .unwrap_or_default(),
    );
    Some(if sure { hit } else { hit.partial() })
}
