//! A call of a program: the subcommand that its words name, and its effects.

use std::sync::LazyLock;

use super::lasting::EffectStake;
use super::program::{ProgramEffect, ProgramFact, ProgramSpec};
use crate::name_lists::{has_word, paths, words};
use crate::name_map::NameMap;
use crate::options::OptionSpec;
use crate::programs;
use crate::word_value::{ValuePiece, WordValue};

/// Most operands that may name a subcommand.
const MAX_OPERANDS: usize = 8;
/// Most programs that contain one another: the words behind a subcommand belong to another program.
const MAX_CONTAINED: usize = 4;

/// An effect of the subcommand that the words of a call name.
#[derive(Clone, Copy, Debug)]
pub struct CallEffect {
    /// The program of the subcommand: the called program, or a program that it contains.
    pub program: &'static ProgramSpec,
    /// The number of arguments before the subcommand.
    pub start: usize,
    /// The number of arguments up to the end of the subcommand.
    pub end: usize,
    /// The effect.
    pub effect: &'static ProgramEffect,
    /// Closeness of the match between the path and the operands.
    fit: usize,
}

/// One path of a program's table of subcommands.
#[derive(Clone, Copy)]
struct SubcommandEntry {
    effect: &'static ProgramEffect,
    /// Path of the subcommand. Empty for the program itself.
    path: &'static str,
    /// First part of the path if this part is a plain word. The path cannot fit another operand.
    first: Option<&'static str>,
}

/// Returns the paths of a program's table in order. The tables' texts are parsed only once.
fn entries(program: &'static ProgramSpec) -> &'static [SubcommandEntry] {
    static ENTRIES: LazyLock<NameMap<usize, Vec<SubcommandEntry>>> = LazyLock::new(|| {
        let entries = |program: &'static ProgramSpec| {
            let mut entries = Vec::new();
            for (effect, list) in program.subcommands {
                if list.is_empty() {
                    entries.push(SubcommandEntry { effect, path: "", first: None });
                }
                for path in paths(list) {
                    let first = path.split(' ').next().filter(|part| is_plain(part));
                    entries.push(SubcommandEntry { effect, path, first });
                }
            }
            entries
        };
        let address = |program: &'static ProgramSpec| std::ptr::from_ref(program).addr();
        programs::all().map(|program| (address(program), entries(program))).collect()
    });
    if program.subcommands.is_empty() {
        return &[];
    }
    ENTRIES.get(&std::ptr::from_ref(program).addr()).map_or(&[], Vec::as_slice)
}

/// Returns whether a part of a path fits only the equal word.
fn is_plain(part: &str) -> bool {
    part != "…" && !part.contains('*') && !(part.starts_with('-') && part.ends_with('-'))
}

/// Index of an operand among the arguments, and its text if the text is known.
type IndexedOperand<'a> = (usize, Option<&'a str>);

/// Returns the effects of a call: the effects of the path that fits best. A path may have several effects under
/// different conditions.
pub fn effects(program: &'static ProgramSpec, args: &[WordValue]) -> Vec<CallEffect> {
    let mut program = program;
    let mut from = 0;
    for _ in 0..MAX_CONTAINED {
        let Some((at, Some(first))) = operands(program, args, from, 1).first().copied() else { break };
        let Some(inner) = contained(program, first) else { break };
        program = inner;
        from = at + 1;
    }
    let operands = operands(program, args, from, MAX_OPERANDS);
    let mut found = Vec::new();
    let tasks = program.has(|fact| matches!(fact, ProgramFact::RunsTasks));
    for &SubcommandEntry { effect, path, first } in entries(program) {
        if path.is_empty() {
            found.push(CallEffect { program, start: from, end: from, effect, fit: 0 });
            continue;
        }
        let starts = if tasks { operands.len() } else { 1 };
        for start in 0..starts.min(operands.len()) {
            // Most paths belong to other subcommands.
            if first.is_some_and(|first| operands[start].1 != Some(first)) {
                continue;
            }
            if let Some((mut fit, first, last)) = fit_path(path, &operands[start..]) {
                if tasks {
                    // `publishToMavenLocal` rather than `publish*`
                    fit = path.len();
                }
                found.push(CallEffect { program, start: first, end: last + 1, effect, fit });
            }
        }
    }
    // Each task has its own effects.
    let competes = |one: &CallEffect, other: &CallEffect| !tasks || one.start == other.start;
    let closest = |one: &CallEffect| !found.iter().any(|other| competes(one, other) && other.fit > one.fit);
    found.iter().filter(|one| closest(one)).copied().collect()
}

/// Returns the kinds of lasting effects of a program and of the programs that it contains.
pub fn stakes(program: &ProgramSpec) -> impl Iterator<Item = EffectStake> {
    let contained = program.facts.iter().flat_map(|fact| match fact {
        ProgramFact::Contains(list) => *list,
        _ => &[],
    });
    let programs = contained.map(|(_, program)| programs::of(program).subcommands);
    let lasting = programs.chain([program.subcommands]).flatten().filter_map(|(effect, _)| match effect {
        ProgramEffect::Lasts(lasting) => Some(lasting.stake),
        _ => None,
    });
    let queries = program.facts.iter().filter(|fact| matches!(fact, ProgramFact::Queries(_)));
    lasting.chain(queries.map(|_| EffectStake::Database))
}

/// Returns the program whose words follow this subcommand.
fn contained(program: &ProgramSpec, subcommand: &str) -> Option<&'static ProgramSpec> {
    program.facts.iter().find_map(|fact| match fact {
        ProgramFact::Contains(list) => {
            list.iter().find(|(names, _)| has_word(names, subcommand)).map(|(_, program)| programs::of(program))
        }
        _ => None,
    })
}

impl CallEffect {
    /// Returns whether the effect may last and puts `stake` at risk.
    pub fn is_at_stake(&self, stake: EffectStake) -> bool {
        matches!(self.effect, ProgramEffect::Lasts(lasting) if lasting.stake == stake)
    }
}

/// Returns the first operands from an argument on. A word of which nothing is known may be an option, or nothing.
fn operands<'a>(program: &ProgramSpec, args: &'a [WordValue], from: usize, most: usize) -> Vec<IndexedOperand<'a>> {
    let mut found = Vec::with_capacity(most);
    let mut at = from;
    while let Some(word) = args.get(at).filter(|_| found.len() < most) {
        let text = word.prefix();
        if text.len() > 1 && text.starts_with('-') {
            at += usize::from(takes_next(&program.options, text));
        } else if !word.pieces().iter().all(|piece| matches!(piece, ValuePiece::Unknown(true))) {
            found.push((at, word.known()));
        }
        at += 1;
    }
    found
}

/// Returns whether the value of an option is the next word.
fn takes_next(spec: &OptionSpec, option: &str) -> bool {
    let long = option.strip_prefix("--").or_else(|| option.strip_prefix('-').filter(|_| spec.go));
    if let Some(long) = long {
        return !long.is_empty()
            && words(spec.long).any(|entry| entry.strip_suffix('=').is_some_and(|name| name == long));
    }
    // The first letter with a value takes the rest of the cluster, if there is any.
    let takes = |letter: char| {
        let behind = spec.short.find(letter).map_or("", |at| &spec.short[at + letter.len_utf8()..]);
        behind.starts_with(':')
    };
    let mut letters = option[1..].char_indices();
    let first = letters.find(|(_, letter)| *letter != ':' && takes(*letter));
    first.is_some_and(|(at, letter)| {
        1 + at + letter.len_utf8() == option.len() && !spec.short.contains(&format!("{letter}::"))
    })
}

/// Returns how closely a path fits operands, and the indices of the first and the last argument in the path.
fn fit_path(path: &str, operands: &[IndexedOperand]) -> Option<(usize, usize, usize)> {
    let begins = |path: &str, operands: &[IndexedOperand]| {
        let mut count = 0;
        for part in path.split(' ') {
            fits_path_part(part, operands.get(count)?.1).then_some(())?;
            count += 1;
        }
        Some((count, operands[0].0, operands[count - 1].0))
    };
    match path.strip_prefix("… ") {
        // The earliest place counts: `instances delete list` deletes.
        Some(path) => (0..operands.len()).find_map(|start| {
            let (_, first, last) = begins(path, &operands[start..])?;
            Some((MAX_OPERANDS - start, first, last))
        }),
        None => begins(path, operands).map(|(count, first, last)| (MAX_OPERANDS + count, first, last)),
    }
}

/// Returns whether an operand fits one part of a path.
fn fits_path_part(part: &str, operand: Option<&str>) -> bool {
    let Some(operand) = operand else { return part == "*" };
    if part == operand || part == "*" {
        return true;
    }
    if let Some(inner) = part.strip_prefix('-').and_then(|part| part.strip_suffix('-')) {
        return operand.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|own| own == inner);
    }
    part.contains('*') && fits_star_part(part, operand)
}

/// Returns whether an operand fits a part in which `*` stands for any letters.
fn fits_star_part(part: &str, operand: &str) -> bool {
    let mut pieces = part.split('*');
    let Some(mut rest) = pieces.next().and_then(|start| operand.strip_prefix(start)) else { return false };
    let mut pieces = pieces.peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs;

    /// Returns the end of the call's subcommand, once for each effect.
    fn ends(line: &str) -> Vec<usize> {
        let argv: Vec<WordValue> = line.split(' ').map(WordValue::of).collect();
        effects(programs::of(line.split(' ').next().unwrap()), &argv[1..]).iter().map(|found| found.end).collect()
    }

    #[test]
    fn subcommands_are_found_behind_options() {
        assert_eq!(ends("kubectl -n prod --context x delete pod"), [5]);
        assert_eq!(ends("kubectl -nprod get delete"), [2]);
        assert_eq!(ends("terraform -chdir=a state rm x"), [3]);
        assert_eq!(ends("unheard-of delete x"), [] as [usize; 0]);
    }

    #[test]
    fn parts_of_paths_fit_words() {
        for (part, word, fits) in [
            ("delete", "delete", true),
            ("delete", "deleted", false),
            ("*", "x", true),
            ("publish*", "publishPlugins", true),
            ("*:publish*Local", ":lib:publishToLocal", true),
            ("*:publish*Local", ":lib:publish", false),
            ("-delete-", "batch-delete-image", true),
            ("-delete-", "undelete", false),
        ] {
            assert_eq!(fits_path_part(part, Some(word)), fits, "{part} {word}");
        }
        assert!(fits_path_part("*", None) && !fits_path_part("delete", None));
    }
}
