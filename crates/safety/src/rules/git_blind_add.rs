//! `git add` of everything.

use super::safety_rule::{RuleHit, RulePrograms, SafetyRule};
use super::support::git_call::GitCall;
use super::support::operand_paths::{DirectoryLandmarks, OperandPlace};
use super::support::pathspec;
use crate::options::ParsedArguments;
use crate::programs::git::ADD;
use crate::simple_command_view::{CommandDirectories, SimpleCommandView};
use crate::verdict::SafetyVerdict;
use crate::word_value::{FileSetKind, WordValue};

pub static RULE: SafetyRule = SafetyRule {
    id: "git-blind-add",
    level: SafetyVerdict::Deny,
    doc: "Stages everything at once, and so may commit secrets, build output and other people's work unnoticed. Name \
          the files instead; `git add -u` stages those that are tracked.",
    programs: RulePrograms::Named(&["git", "git.exe"]),
    check,
    matches: &[
        "git add .",
        "git add ./",
        "git add -A",
        "git add --all",
        "git add --al",
        "git add -A src",
        "git add src -A",
        "git add -vA",
        "git add -fA",
        "git add --no-ignore-removal",
        "git stage .",
        "git add *",
        "git add '*'",
        "git add -- .",
        "git add ..",
        "git add :/",
        "git add :",
        "git add ':!x'",
        "git add ':(top)'",
        "git add src/..",
        "git add \"$PWD\"",
        "git -C sub add .",
        "git -C .. add project",
        "cd .. && git add project",
        "git add ../project",
        "git --no-pager add .",
        "git -c core.autocrlf=false add --all",
        "git -c alias.x='add -A' x",
        "git add . ':!secret'",
    ],
    passes: &[
        "git add src/main.rs",
        "cd $(mktemp -d) && git init -q && touch a && git add .",
        "git add src",
        "git add src/",
        "git add '*.js'",
        "git add *.md",
        "git add -p",
        "git add -p .",
        "git add -u",
        "git add -u .",
        "git add -n .",
        "git add --dry-run -A",
        "git add --renormalize .",
        "git add --no-all src",
        "git add -- -A",
        "git add .gitignore",
        "git add ./src/a.ts ./src/b.ts",
        "git add --help",
        "git commit -am 'git add .'",
        "git help add",
        "git log --all",
    ],
};

fn check(command: &SimpleCommandView) -> Option<RuleHit> {
    let git = GitCall::of(command, &["add", "stage"])?;
    let parsed = git.parse(&ADD);
    // A dry run, a manual choice, or only tracked files.
    let mild = "n dry-run i interactive p patch e edit refresh renormalize";
    // In a scratch repository all is the command's own.
    if parsed.has(mild) && !parsed.has("no-dry-run") || git.is_in_scratch(command.directories) {
        return None;
    }
    let tracked = parsed.has("u update") && !parsed.has("no-update");
    let whole = all(&parsed) || !tracked && whole(&git, &parsed, command.directories);
    let listed = || git.operands(&parsed).any(|operand| names_project(operand, command.directories));
    if !whole && (tracked || !listed()) {
        return None;
    }
    let refused = RuleHit::exact(
        "permission denied: blind git add commands (git add -A, git add ., git add --all, git add *) are not allowed, specify files explicitly",
        "git status --short",
    );
    let hit = refused.or_asked(
        "this stages everything at once, also files that nobody has looked at, such as secrets and build output. Name \
         the files, or look at what it would stage first",
    );
    // Which files a listing has is not known.
    Some(if whole { hit } else { hit.partial() })
}

/// Returns whether a word names everything in the project that changed, also what git does not know.
fn names_project(operand: &WordValue, directories: &CommandDirectories) -> bool {
    let files = operand.files().filter(|files| files.listing != FileSetKind::Tracked);
    let place = |files| DirectoryLandmarks::new(directories).place_of_files(files, &WordValue::default());
    files.is_some_and(|files| matches!(place(files), OperandPlace::Critical { .. }))
}

/// Returns whether `-A` is given and no later option takes it back.
fn all(parsed: &ParsedArguments) -> bool {
    let last = parsed.last("A all no-ignore-removal no-all ignore-removal");
    last.is_some_and(|last| matches!(last.name.as_str(), "A" | "all" | "no-ignore-removal"))
}

/// Returns whether an operand means everything, or all operands only exclude files.
fn whole(git: &GitCall, parsed: &ParsedArguments, directories: &CommandDirectories) -> bool {
    let first = WordValue::of(directories.cwd.as_str());
    let mut excluded = false;
    let mut included = parsed.has("pathspec-from-file");
    for operand in git.operands(parsed) {
        let Some(text) = pathspec::text(operand).filter(|text| !text.is_empty()) else {
            included = true;
            continue;
        };
        let spec = pathspec::read(&text);
        excluded |= spec.exclude;
        included |= !spec.exclude;
        if !spec.exclude && spec.is_whole(&git.cwd, &first) {
            return true;
        }
    }
    excluded && !included
}
