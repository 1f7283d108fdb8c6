//! Tells whether a command deletes or overwrites what exists, by the table in `programs::overwriting`.

use crate::name_lists::{has_path, has_word, paths};
use crate::options::{OptionSpec, ParsedArguments, parse};
use crate::programs::overwriting::OverwritingSpec;
use crate::programs::{self, OVERWRITES};
use crate::rules::{FindSearch, GitCall};
use crate::simple_command_view::SimpleCommandView;
use crate::word_value::WordValue;

/// Returns whether a command deletes or overwrites what exists.
pub fn deletes_or_overwrites(command: &SimpleCommandView) -> bool {
    let Some(name) = command.name() else { return false };
    match name {
        "git" | "git.exe" => return git(command),
        "find" | "gfind" => return !FindSearch::read(command).deletes.is_empty(),
        "tar" | "gtar" | "bsdtar" => return unpacks(command.args()),
        "awk" | "gawk" => return edits_in_place(command.args()),
        "yarn" if command.args().is_empty() => return true,
        _ => {}
    }
    let mut uses = OVERWRITES.iter().filter(|entry| has_word(entry.programs, name)).peekable();
    if uses.peek().is_none() {
        return false;
    }
    let call = OverwritingCall::of(command, &programs::of(name).options);
    !call.has("help version", false) && uses.any(|entry| fits(entry, &call))
}

/// The words of a call.
struct OverwritingCall<'a> {
    args: &'a [WordValue],
    parsed: ParsedArguments,
    operands: Vec<&'a WordValue>,
    /// Whether nothing is known about the program's options.
    is_unknown: bool,
}

impl<'a> OverwritingCall<'a> {
    fn of(command: &SimpleCommandView<'a>, spec: &OptionSpec) -> Self {
        let args = command.args();
        let parsed = parse(args, spec);
        let operands = parsed.operands.iter().filter_map(|at| args.get(*at)).collect();
        Self { args, parsed, operands, is_unknown: spec.short.is_empty() && spec.long.is_empty() }
    }

    /// Returns whether one of these options is given. `anywhere`: also behind a subcommand, whose options are not
    /// known.
    fn has(&self, options: &str, anywhere: bool) -> bool {
        self.parsed.has(options) || ((anywhere || self.is_unknown) && given(self.args, options))
    }
}

/// Returns whether one of these options is among the words, also inside clusters of letters.
fn given(args: &[WordValue], options: &str) -> bool {
    let is_one = |arg: &WordValue| {
        let text = arg.prefix();
        match text.strip_prefix("--") {
            Some(long) => has_word(options, long.split('=').next().unwrap_or(long)),
            None => text.strip_prefix('-').is_some_and(|letters| {
                letters.chars().any(|letter| has_word(options, letter.encode_utf8(&mut [0; 4])))
            }),
        }
    };
    args.iter().take_while(|arg| arg.known() != Some("--")).any(is_one)
}

fn fits(entry: &OverwritingSpec, call: &OverwritingCall<'_>) -> bool {
    let begins = |path: &str| {
        let mut own = call.operands.iter();
        path.split(' ').all(|part| own.next().is_some_and(|word| word.known() == Some(part)))
    };
    // `:app:clean`, `clean-all`
    let names = |word: &&WordValue| {
        let last = word.known().and_then(|text| text.rsplit(':').next());
        last.is_some_and(|last| has_word(entry.operands, last.split('-').next().unwrap_or(last)))
    };
    let is_sub = !entry.sub.is_empty();
    (!is_sub || paths(entry.sub).any(begins))
        && (entry.with.is_empty() || call.has(entry.with, is_sub))
        && (entry.operands.is_empty() || call.operands.iter().any(names))
        && !call.has(entry.unless, is_sub)
}

fn git(command: &SimpleCommandView) -> bool {
    let Some(git) = GitCall::new(command) else { return false };
    let given = |options: &str| given(&git.args, options);
    if given("h help") {
        return false;
    }
    let mut uses = OVERWRITES.iter().filter(|entry| has_word(entry.programs, "git"));
    let Some(entry) = uses.find(|entry| has_path(entry.sub, git.sub)) else { return false };
    if entry.operands.is_empty() {
        return (entry.with.is_empty() || given(entry.with)) && (entry.unless.is_empty() || !given(entry.unless));
    }
    match git.args.iter().find(|arg| !arg.prefix().starts_with('-')) {
        Some(action) => action.known().is_none_or(|action| has_word(entry.operands, action)),
        None => has_word(entry.operands, "-"),
    }
}

/// Returns whether tar unpacks over existing files: not to the standard output, and not if existing files are kept.
fn unpacks(args: &[WordValue]) -> bool {
    let has = |options: &[&str]| args.iter().any(|arg| options.contains(&arg.known().unwrap_or_default()));
    let letters = |letter: char| {
        let clusters = args.iter().enumerate().filter_map(|(at, arg)| {
            let text = arg.prefix();
            let cluster = text.strip_prefix('-').or((at == 0).then_some(text))?;
            (!cluster.starts_with('-')).then_some(cluster)
        });
        clusters.into_iter().any(|cluster| cluster.contains(letter))
    };
    let takes_out = has(&["--extract", "--get"]) || letters('x');
    takes_out && !letters('O') && !letters('k') && !has(&["--to-stdout", "--keep-old-files", "--skip-old-files"])
}

/// Returns whether this is `gawk -i inplace`.
fn edits_in_place(args: &[WordValue]) -> bool {
    let pairs = args.windows(2).any(|pair| {
        matches!(pair[0].known(), Some("-i" | "--include")) && pair[1].known().is_some_and(|value| value == "inplace")
    });
    pairs || args.iter().any(|arg| matches!(arg.known(), Some("-iinplace" | "--include=inplace")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name_lists::words;

    #[test]
    fn no_subcommand_of_git_stands_twice() {
        let uses = OVERWRITES.iter().filter(|entry| has_word(entry.programs, "git"));
        let mut all: Vec<_> = uses.flat_map(|entry| paths(entry.sub)).collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert!(count > 20 && all.len() == count);
    }

    #[test]
    fn each_entry_names_programs_and_is_no_shorter_form_of_another() {
        for entry in OVERWRITES {
            assert!(words(entry.programs).next().is_some());
            let is_plain = |other: &OverwritingSpec| {
                [other.sub, other.with, other.unless, other.operands].iter().all(|text| text.is_empty())
            };
            for name in words(entry.programs) {
                let entries = OVERWRITES.iter().filter(|other| has_word(other.programs, name)).count();
                assert!(!is_plain(entry) || entries == 1, "{name}");
            }
        }
    }
}
