//! Commands that check something: run tests, judge style, check types, build.

use std::sync::LazyLock;

use serde::Deserialize;

pub use crate::rules::CheckKind;

use crate::class::unwrap_command;
use crate::rules::RULES;

/// Most words that are looked at.
const WORDS: usize = 16;

/// `checks.toml`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckTable {
    test: Vec<String>,
    lint: Vec<String>,
    types: Vec<String>,
    build: Vec<String>,
    never: Vec<String>,
    valued: Vec<String>,
}

static TABLE: LazyLock<Option<CheckTable>> = LazyLock::new(|| toml::from_str(include_str!("../checks.toml")).ok());

/// The kind of check that a command is, read without the programs around it (`timeout 60`, `npx`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckClassification {
    /// Its words.
    pub words: Vec<String>,
    /// The kind of check. `None`: it is no check.
    pub check: Option<CheckKind>,
    /// The runners whose output its program prints, by the names of their rules.
    pub runners: Vec<&'static str>,
    /// Whether its program may run any other one, and so print the output of tests: a script, `make`, `npm run`.
    pub may_run_any: bool,
    /// Whether the programs around it always wait for it, and give its exit code.
    pub gives_code: bool,
}

impl CheckClassification {
    /// Reads the words of a program.
    pub fn of(words: &[String]) -> Self {
        let given = words;
        let words = unwrap_command(given);
        let around = &given[..given.len().saturating_sub(words.len())];
        let gives_code = !around.iter().any(|word| matches!(word.rsplit('/').next(), Some("setsid" | "xargs")));
        let plain = SplitCommandWords::of(&words);
        let hinted = || RULES.iter().filter(|rule| rule.has_hint(|hint| plain.begins(hint)));
        let check = plain.check().or_else(|| hinted().find_map(|rule| rule.check));
        let check = check.filter(|_| !plain.is_never());
        let runners = hinted().filter(|rule| rule.counting.is_some()).map(|rule| &*rule.name).collect();
        let may_run_any = plain.may_run_any(&words);
        Self { words, check, runners, may_run_any, gives_code }
    }
}

/// The words of a command, its options apart.
struct SplitCommandWords<'w> {
    words: Vec<&'w str>,
    options: Vec<&'w str>,
}

impl<'w> SplitCommandWords<'w> {
    fn of(words: &'w [String]) -> Self {
        let program = words.first().map_or("", |program| program.rsplit('/').next().unwrap_or(program));
        let is_valued = |option: &str| {
            let valued = TABLE.iter().flat_map(|table| &table.valued).filter_map(|valued| valued.split_once(' '));
            valued.into_iter().any(|(own, valued)| own == program && valued == option)
        };
        let mut plain = Self { words: vec![program], options: Vec::new() };
        let mut rest = words.iter().map(String::as_str).skip(1);
        while let Some(word) = rest.next() {
            if word.starts_with(['-', '+']) {
                plain.options.push(word);
                if is_valued(word) {
                    rest.next();
                }
            } else if plain.words.len() < WORDS {
                plain.words.push(word);
            }
        }
        plain
    }

    fn check(&self) -> Option<CheckKind> {
        let CheckTable { test, lint, types, build, .. } = TABLE.as_ref()?;
        let lists =
            [(test, CheckKind::Test), (lint, CheckKind::Lint), (types, CheckKind::Types), (build, CheckKind::Build)];
        lists.into_iter().find(|(list, _)| list.iter().any(|meant| self.begins(meant))).map(|(_, check)| check)
    }

    fn may_run_any(&self, given: &[String]) -> bool {
        let is_script = given.first().is_some_and(|program| program.contains('/') && !program.starts_with("/usr/"));
        let installs = matches!(self.words.get(1), Some(&("install" | "i" | "ci" | "add" | "update")));
        let [program, ..] = self.words[..] else { return false };
        let is_shell = matches!(program, "bash" | "sh" | "dash" | "zsh" | "ksh" | "perl" | "ruby" | "php");
        !installs && (is_script || is_shell || crate::rules::may_run_any(program))
    }

    fn is_never(&self) -> bool {
        TABLE.as_ref().is_some_and(|table| table.never.iter().any(|meant| self.begins(meant)))
    }

    /// Returns whether the command begins with words of the table, or of a hint.
    fn begins(&self, meant: &str) -> bool {
        let mut own = self.words.iter();
        let mut anywhere = false;
        meant.split(' ').all(|wanted| match wanted {
            "*" => {
                anywhere = true;
                true
            }
            option if option.starts_with('-') => self.options.iter().any(|own| is_option(own, option)),
            word if std::mem::take(&mut anywhere) => own.any(|own| means_word(own, word)),
            word => own.next().is_some_and(|own| means_word(own, word)),
        })
    }
}

/// Returns whether an option is meant by an option of the table: `-DskipTests`, `-DskipTests=true`.
fn is_option(own: &str, meant: &str) -> bool {
    own.strip_prefix(meant).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
}

/// Returns whether a word is meant by a word of the table: `test`, `test:unit`, `:app:test`.
fn means_word(own: &str, meant: &str) -> bool {
    own.contains(meant) && own.split(':').any(|part| part == meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checking(command: &str) -> CheckClassification {
        CheckClassification::of(&command.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn commands_check_what_the_table_and_the_rules_say() {
        assert!(TABLE.is_some());
        use CheckKind::{Build, Lint, Test, Types};
        for (command, check) in [
            ("npm test", Some(Test)),
            ("npm run -s test:unit", Some(Test)),
            ("npm run build", Some(Build)),
            ("npm run build -- test", Some(Build)),
            ("npm install", None),
            ("npm", None),
            ("make -j4 CC=gcc test", Some(Test)),
            ("make", None),
            ("make clean", None),
            ("./gradlew :app:test --info", Some(Test)),
            ("gradle tasks", None),
            ("mvn -q clean verify", Some(Test)),
            ("mvn clean", None),
            ("cargo +nightly test", Some(Test)),
            ("cargo test --workspace", Some(Test)),
            ("cargo test --no-run", None),
            ("cargo clippy --all-targets", Some(Lint)),
            ("cargo check", Some(Types)),
            ("cargo fmt", None),
            ("cargo fmt --check", Some(Lint)),
            ("tsc --noEmit", Some(Types)),
            ("tsc --watch", None),
            ("eslint .", Some(Lint)),
            ("/usr/bin/pytest -q", Some(Test)),
            ("python3 -m pytest tests", Some(Test)),
            ("timeout 60 npm test", Some(Test)),
            ("env CI=1 npx vitest run", Some(Test)),
            ("pytest --collect-only", None),
            ("pytest --version", None),
            ("go test ./...", Some(Test)),
            ("go vet ./...", Some(Lint)),
            ("node --test", Some(Test)),
            ("node --import tsx --test a.ts", Some(Test)),
            ("node a.mjs", None),
            ("prettier --write .", None),
            ("prettier . --check", Some(Lint)),
            ("playwright install", None),
            ("echo npm test", None),
            ("bash -c npm", None),
            ("latest", None),
            ("mvn -q package -DskipTests", None),
            ("mvn package -DskipTests=true", None),
            ("gradlew build -x test", None),
            ("make -n test", None),
            ("ctest -N", None),
            ("pytest --fixtures", None),
            ("go test -list .", None),
            ("tsc -v", None),
            ("npm --prefix test install", None),
            ("npm --prefix app test", Some(Test)),
            ("yarn --cwd test install", None),
            ("make -C test clean", None),
            ("make -C build -j4 check", Some(Test)),
            ("gradle -p test clean", None),
        ] {
            assert_eq!(checking(command).check, check, "{command}");
        }
    }

    #[test]
    fn programs_around_a_command_are_left_out() {
        for (command, words, runners) in [
            ("timeout 60 npx vitest run a", "vitest run a", &["vitest"] as &[_]),
            ("python3 -m pytest tests", "pytest tests", &["pytest"]),
            ("npm test", "npm test", &[]),
        ] {
            let checking = checking(command);
            assert_eq!((checking.words.join(" ").as_str(), &*checking.runners), (words, runners), "{command}");
        }
    }

    #[test]
    fn programs_that_may_run_others_and_wrappers_that_hide_a_code_are_known() {
        for (command, may_run_any, gives_code) in [
            ("bash -c x", true, true),
            ("./e2e.sh", true, true),
            ("npm run build", true, true),
            ("npm ci", false, true),
            ("true", false, true),
            ("/usr/bin/git clone x", false, true),
            ("timeout 9 pytest", false, true),
            ("setsid -f pytest", false, false),
            ("nohup setsid --fork pytest", false, false),
            ("xargs -r eslint", false, false),
        ] {
            let checking = checking(command);
            assert_eq!((checking.may_run_any, checking.gives_code), (may_run_any, gives_code), "{command}");
        }
    }
}
