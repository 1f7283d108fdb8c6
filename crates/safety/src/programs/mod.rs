//! Data about programs: one record per program, in one place. `data/programs/*.toml` has the records.

pub mod call;
pub mod lasting;
pub mod output;
pub mod overwriting;
pub mod program;
pub mod query_client;
pub mod sending;
pub mod wrapper;

use std::sync::LazyLock;

use self::program::{ProgramEffect, ProgramSpec};
use super::name_lists::{paths, words};
use super::name_map::NameMap;

// One module for each family, with what rules read from the family. Also `FAMILIES`, the tables of all families
// (`SENDINGS`, `OVERWRITES` and `BEYOND`), and `EXAMPLES` for the tests.
include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// All records by name.
static BY_NAME: LazyLock<NameMap<&'static str, &'static ProgramSpec>> =
    LazyLock::new(|| all().flat_map(|program| words(program.names).map(move |name| (name, program))).collect());

/// The effects of all subcommands, by the address of their program's record and their path. The first entry counts.
static EFFECTS: LazyLock<NameMap<(usize, &'static str), ProgramEffect>> = LazyLock::new(|| {
    let mut effects = NameMap::default();
    for program in all() {
        for (effect, list) in program.subcommands {
            paths(list).for_each(|path| {
                effects.entry((std::ptr::from_ref(program).addr(), path)).or_insert(*effect);
            });
        }
    }
    effects
});

/// Returns all records.
pub fn all() -> impl Iterator<Item = &'static ProgramSpec> {
    FAMILIES.iter().copied().flatten()
}

/// Returns the record of the program with this name. The name has no path.
pub fn of(name: &str) -> &'static ProgramSpec {
    // `mkfs.` is the record of `mkfs.vfat`.
    let family = || name.get(..=name.find(['.', '_'])?).and_then(|start| BY_NAME.get(start));
    BY_NAME.get(name).or_else(family).copied().unwrap_or(&ProgramSpec::UNKNOWN)
}

/// Returns the record of the program with this name. The name of an interpreter may end in a version: `python3.12`.
pub fn of_any_version(name: &str) -> &'static ProgramSpec {
    let plain = name.trim_end_matches(|last: char| last.is_ascii_digit() || matches!(last, '.' | '-'));
    let interpreter = || BY_NAME.get(plain).filter(|program| !program.interpreters.is_empty());
    BY_NAME.get(name).or_else(interpreter).copied().unwrap_or_else(|| of(name))
}

/// Returns the effect of a subcommand, by its path of one or two words. `program` is a record returned by [`of`].
pub fn sub_effect(program: &'static ProgramSpec, path: &str) -> Option<ProgramEffect> {
    if program.subcommands.is_empty() {
        return None;
    }
    EFFECTS.get(&(std::ptr::from_ref(program).addr(), path)).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::program::ArgumentKind;
    use super::wrapper::LoginShellCondition;
    use super::*;
    use crate::corpus_tests::judge;
    use crate::name_lists::{has_word, paths};
    use crate::verdict::SafetyVerdict;
    use crate::{CommandUnit, RULES};

    #[test]
    fn each_name_stands_in_one_record() {
        let mut seen = HashSet::new();
        for name in all().flat_map(|program| words(program.names)) {
            assert!(seen.insert(name), "{name} stands twice");
        }
    }

    #[test]
    fn no_entry_of_a_program_hides_another() {
        for program in all() {
            let mut seen = HashSet::new();
            for wrapper in program.wrappers {
                let own: Vec<_> = if wrapper.sub.is_empty() { vec![""] } else { paths(wrapper.sub).collect() };
                own.into_iter().for_each(|path| assert!(seen.insert(path), "{} {path}", program.names));
            }
            let mut seen = HashSet::new();
            for path in program.sub_rules.iter().flat_map(|(_, list)| paths(list)) {
                assert!(seen.insert(path), "{}: the rule for {path}", program.names);
            }
            let mut seen = HashSet::new();
            let plain = program.subcommands.iter().filter(|(effect, _)| !matches!(effect, ProgramEffect::Lasts(_)));
            for path in plain.flat_map(|(_, list)| paths(list)) {
                assert!(seen.insert(path), "{}: the effect of {path}", program.names);
            }
        }
    }

    #[test]
    fn examples_of_records_are_judged_as_they_say() {
        let mut faults = Vec::new();
        for (names, passes, asks) in EXAMPLES {
            let wanted = passes.iter().map(|line| (line, false)).chain(asks.iter().map(|line| (line, true)));
            for (line, asks) in wanted {
                let analysis = judge(line);
                let is_of = |unit: &CommandUnit| unit.name.as_deref().is_some_and(|name| is_named(names, name));
                if !analysis.commands.iter().any(is_of) {
                    faults.push(format!("{names}: another program runs: {line}"));
                }
                if asks != (analysis.verdict >= SafetyVerdict::Ask) || !analysis.complete {
                    faults.push(format!("{names}: {:?}: {line}", analysis.verdict));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn programs_with_a_rule_have_examples_of_both_kinds() {
        let ruled: HashSet<&str> = RULES.iter().flat_map(|rule| rule.programs.names()).collect();
        let lacks = all().filter(|program| words(program.names).any(|name| ruled.contains(name))).filter(|program| {
            let own = EXAMPLES.iter().find(|(names, ..)| *names == program.names);
            own.is_none_or(|(_, passes, asks)| passes.is_empty() || asks.is_empty())
        });
        assert_eq!(lacks.map(|program| program.names).collect::<Vec<_>>(), [] as [&str; 0]);
    }

    /// Returns whether a name is in a record's list, or begins with a name in this list that ends in `.` or `_`.
    fn is_named(names: &str, name: &str) -> bool {
        words(names).any(|own| own == name || own.ends_with(['.', '_']) && name.starts_with(own))
    }

    #[test]
    fn options_that_mean_something_are_in_the_spec() {
        for program in all() {
            for wrapper in program.wrappers {
                let login = if let LoginShellCondition::With(names) = wrapper.login { names } else { "" };
                for name in
                    [wrapper.chdir, wrapper.script, wrapper.stop, wrapper.switch, login].into_iter().flat_map(words)
                {
                    assert!(wrapper.spec.has(name), "{}: {name}", program.names);
                }
            }
            for name in program.hooks.iter().flat_map(|hook| words(hook.options)) {
                assert!(program.options.has(name), "{}: {name}", program.names);
            }
            for interpreter in program.interpreters {
                for name in words(interpreter.code).chain(words(interpreter.flag)) {
                    assert!(interpreter.options.has(name), "{}: {name}", program.names);
                }
            }
            if let ProgramEffect::ReadsUnless(unless) = program.effect {
                for name in words(unless.writes).chain(words(unless.runs)) {
                    assert!(program.options.has(name), "{}: {name}", program.names);
                }
            }
        }
    }

    #[test]
    fn programs_are_found_by_name() {
        assert!(has_word(of("git").names, "git"));
        assert_eq!(of("mkfs.vfat").words, ArgumentKind::Data);
        assert!(has_word(of_any_version("python3.12").names, "python"));
        assert!(of_any_version("ls2").names.is_empty());
        for name in ["echo", "grep", "docker", "mkfs.ext4", "[", "npm", "bash", "sudo", "env", "xargs", "python3"] {
            assert!(of(name).is_known(), "{name}");
        }
        for name in ["mytool", "", "sudox"] {
            assert!(!of(name).is_known(), "{name}");
        }
    }

    #[test]
    fn some_programs_print_shell_code_about_themselves() {
        for (name, word, prints) in [
            ("ssh-agent", Some("-s"), true),
            ("ssh-agent", None, true),
            ("direnv", Some("hook"), true),
            ("direnv", Some("exec"), false),
            ("direnv", None, false),
            ("kubectl", Some("completion"), true),
            ("cat", Some("x"), false),
        ] {
            assert_eq!(of(name).prints_shell_code(word), prints, "{name} {word:?}");
        }
    }
}
