//! Finds the rules of a host that cover a command.

use std::collections::HashSet;

use super::judged_command::{JudgedCommand, JudgedSimpleCommand};
use super::permission_pattern::PermissionPattern;
use crate::options::parse;
use crate::programs;
use crate::programs::program::ProgramFact;
use crate::read_only;
use crate::word_value::WordValue;

/// Most words of wrappers that are tried as the beginning of a command. Wrappers have only a few words.
const MAX_PREFIX: usize = 64;
/// Most words that are tried before a command of git.
const MAX_GLOBAL: usize = 256;

/// Words of wrappers, followed by the words of the command, each with a flag that says whether it is known.
#[derive(Clone, Copy)]
struct PrefixedWords<'a> {
    prefix: &'a [&'a str],
    argv: &'a [(&'a str, bool)],
}

impl<'a> PrefixedWords<'a> {
    fn get(self, at: usize) -> Option<(&'a str, bool)> {
        match self.prefix.get(at) {
            Some(word) => Some((word, true)),
            None => self.argv.get(at - self.prefix.len()).copied(),
        }
    }

    /// Returns whether these words are the rule's words. An unknown word never fits a rule.
    fn fit(self, rule: &PermissionPattern, same_head: impl Fn(&str, &str) -> bool) -> bool {
        self.may_fit(rule, |own, (word, known), at| known && if at == 0 { same_head(own, word) } else { own == word })
    }

    /// Returns whether each word fits a word of the rule, given the rule's word, the word and its place.
    fn may_fit(self, rule: &PermissionPattern, fits: impl Fn(&str, (&str, bool), usize) -> bool) -> bool {
        let PermissionPattern::Command { words, prefix } = rule else { return false };
        let count = self.prefix.len() + self.argv.len();
        let all = |(at, own): (usize, &String)| self.get(at).is_some_and(|word| fits(own, word, at));
        (count == words.len() || *prefix && count > words.len()) && words.iter().enumerate().all(all)
    }
}

/// Returns whether an ask or deny rule covers this command or a file that it writes, whatever its wrappers and
/// spelling.
pub fn any_rule_stops(rules: &[PermissionPattern], unit: &JudgedSimpleCommand, cwd: &str) -> bool {
    if rules.is_empty() {
        return false;
    }
    let same_head = |rule: &str, head: &str| base_name(rule) == base_name(head);
    let plain = without_git_options(&unit.argv);
    let bare = |argv| PrefixedWords { prefix: &[], argv };
    let starts = 0..unit.prefix.len().min(MAX_PREFIX);
    let mut ways = vec![bare(unit.argv.as_slice())];
    ways.extend(plain.as_deref().map(bare));
    ways.extend(starts.map(|from| PrefixedWords { prefix: &unit.prefix[from..], argv: &unit.argv }));
    rules.iter().any(|rule| match rule {
        PermissionPattern::Write(glob) => {
            unit.writes.iter().filter_map(|write| write.path).any(|path| glob.fits(path, cwd))
        }
        PermissionPattern::ReadOnly => unit.reads,
        // A word that may have this value is enough.
        PermissionPattern::Command { .. } => ways.iter().any(|words| {
            words.may_fit(rule, |own, (word, _), at| if at == 0 { same_head(own, word) } else { own == word })
        }),
    })
}

/// Returns whether a file may be written.
pub fn may_write(allow: &[PermissionPattern], path: &str, cwd: &str) -> bool {
    allow.iter().any(|rule| matches!(rule, PermissionPattern::Write(glob) if glob.fits(path, cwd)))
}

/// Allow rules, applied to one command with everything nested in it.
pub struct AllowRuleMatcher<'a> {
    allow: &'a [PermissionPattern],
    /// Commands that a rule covers, with the rule. The rule may also cover commands inside them.
    around: Vec<(&'a JudgedSimpleCommand<'a>, &'a PermissionPattern)>,
}

impl<'a> AllowRuleMatcher<'a> {
    /// Applies allow rules to a judged command.
    pub fn new(judged: &JudgedCommand<'a>, allow: &'a [PermissionPattern]) -> Self {
        let fits = |unit: &'a JudgedSimpleCommand<'a>| {
            let words = from_elsewhere(unit).unwrap_or(PrefixedWords { prefix: &[], argv: &unit.argv });
            allow.iter().filter(move |rule| words.fit(rule, same_program_name)).map(move |rule| (unit, rule))
        };
        Self { allow, around: judged.units.iter().flat_map(fits).collect() }
    }

    /// Returns whether a rule covers this command. With rules, a command that only reads needs
    /// none. An empty list is for hosts that ask about everything.
    pub fn covers(&self, unit: &JudgedSimpleCommand) -> bool {
        if unit.assignments.iter().chain(&unit.declared).any(|assignment| assignment_hijacks(assignment)) {
            return false;
        }
        // Only assignments, or a wrapper that only runs other units.
        if unit.argv.is_empty() || unit.wrapper {
            return true;
        }
        let fits = |words: PrefixedWords| self.allow.iter().any(|rule| words.fit(rule, same_program_name));
        let nested = |(outer, _): &&(&JudgedSimpleCommand, &PermissionPattern)| {
            outer.span.0 <= unit.span.0 && unit.span.1 <= outer.span.1
        };
        let mut around = self.around.iter().filter(nested);
        // Through sudo, su and ssh only a rule that names them allows. The rule is for this command or for the wrapper
        // around its script.
        if is_elsewhere(unit) {
            return from_elsewhere(unit).is_some_and(fits)
                || around.any(|(outer, _)| outer.wrapper && from_elsewhere(outer).is_some());
        }
        if unit.reads && !self.allow.is_empty() {
            return true;
        }
        fits(PrefixedWords { prefix: &[], argv: &unit.argv })
            || !unit.prefix.is_empty() && fits(PrefixedWords { prefix: &unit.prefix, argv: &unit.argv })
            || !unit.via.is_empty() && around.any(|(_, rule)| names_inner_command(rule, unit))
    }
}

/// Returns the commands and written files that no allow rule covers. A command that occurs several times is listed
/// once.
pub fn unmatched(judged: &JudgedCommand, allow: &[PermissionPattern]) -> Vec<String> {
    let allowing = AllowRuleMatcher::new(judged, allow);
    let mut unmatched = Vec::new();
    let mut seen = HashSet::new();
    let mut written = HashSet::new();
    for unit in judged.units {
        // One source text may expand to several commands: `"$@"` in a function.
        if !allowing.covers(unit) && seen.insert((unit.source, &unit.prefix, &unit.argv)) {
            unmatched.push(unit.source.to_owned());
        }
        for write in &unit.writes {
            let may = write.path.is_some_and(|path| may_write(allow, path, judged.first_cwd));
            let name = write.path.map_or(write.text, |path| judged.relative(path));
            if !may && written.insert(name) {
                unmatched.push(format!("write:{name}"));
            }
        }
    }
    unmatched
}

/// Returns whether the names are equal. A name with a path is another name.
fn same_program_name(rule: &str, head: &str) -> bool {
    rule == head
}

/// Returns whether a rule for an outer command also names this command: `npx tsc:*` does, `find:*` does not.
fn names_inner_command(rule: &PermissionPattern, inner: &JudgedSimpleCommand) -> bool {
    let PermissionPattern::Command { words, .. } = rule else { return false };
    inner.argv.first().is_some_and(|(head, known)| *known && words.iter().skip(1).any(|word| word == head))
}

/// Returns whether the command runs as another user or on another machine.
pub fn is_elsewhere(unit: &JudgedSimpleCommand) -> bool {
    let names = |word: &&str| runs_elsewhere(word.split(' ').next().unwrap_or(word));
    unit.via.iter().any(names)
        || unit.prefix.iter().any(names)
        || unit.argv.first().is_some_and(|(head, _)| names(head))
}

/// Returns the words from `sudo` on, if `sudo` precedes the command or is the command.
fn from_elsewhere<'a>(unit: &'a JudgedSimpleCommand) -> Option<PrefixedWords<'a>> {
    match unit.prefix.iter().position(|word| runs_elsewhere(word)) {
        Some(from) => Some(PrefixedWords { prefix: &unit.prefix[from..], argv: &unit.argv }),
        None => {
            let own = unit.argv.first().is_some_and(|(head, known)| *known && runs_elsewhere(head));
            own.then_some(PrefixedWords { prefix: &[], argv: &unit.argv })
        }
    }
}

/// Returns whether an assignment before a command makes it run something else.
pub fn assignment_hijacks(assignment: &str) -> bool {
    let name = assignment.split(['=', '+', '[']).next().unwrap_or_default();
    read_only::variable_hijacks(name)
}

fn runs_elsewhere(word: &str) -> bool {
    programs::of(base_name(word)).has(|fact| matches!(fact, ProgramFact::RunsElsewhere))
}

/// Returns `git push` for `git -C sub push`. `None` if there is nothing to leave out.
fn without_git_options<'a>(argv: &[(&'a str, bool)]) -> Option<Vec<(&'a str, bool)>> {
    let at = git_command(argv).filter(|at| *at > 1)?;
    Some(argv.first().into_iter().chain(&argv[at..]).copied().collect())
}

/// Returns the index of the subcommand in a call of git.
pub fn git_command(argv: &[(&str, bool)]) -> Option<usize> {
    let (head, args) = argv.split_first()?;
    if base_name(head.0) != "git" {
        return None;
    }
    let value = |(word, known): &(&str, bool)| if *known { WordValue::of(*word) } else { WordValue::unknown() };
    let words: Vec<WordValue> = args.iter().take(MAX_GLOBAL).map(value).collect();
    Some(*parse(&words, &programs::of("git").options).operands.first()? + 1)
}

/// Returns the last component of a path.
pub fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
