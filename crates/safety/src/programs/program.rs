//! The record of one program.

use super::lasting::LastingEffect;
use super::query_client::QueryClientSpec;
use super::wrapper::WrapperSpec;
use crate::name_lists::{has_path, has_word};
use crate::options::OptionSpec;

/// All that the engine knows about one program, with a few exceptions. `plan::wanted` and `plan::unattended` list the
/// variables of the environment that programs read. `unwrap` reads the words of programs that no table can describe.
/// Names with the same facts share a record. `data/programs/README.md` explains how records are written.
///
/// Lists of names are texts: `"force recursive"` are two options, `"compose up, compose down"` are two subcommands.
#[derive(Debug)]
pub struct ProgramSpec {
    /// The program's names. A name that ends in `.` or `_` is a prefix: `mkfs.` stands for `mkfs.vfat` and the like.
    pub names: &'static str,
    /// The kind of the words after the name, unless another field says more.
    pub words: ArgumentKind,
    /// The program's options. If the program has subcommands, the options that may precede the subcommand.
    pub options: OptionSpec,
    /// The ways in which the program runs a command among its words, one entry per form. The first form that fits
    /// counts.
    pub wrappers: &'static [WrapperSpec],
    /// Options whose value is a command.
    pub hooks: &'static [HookOptions],
    /// The ways to give the program code in another language. The first that fits counts.
    pub interpreters: &'static [InterpreterSpec],
    /// The number of the program's words that a permission rule repeats.
    pub rule: PermissionArity,
    /// The number of words that a permission rule repeats, by subcommand. The longest subcommand that fits counts.
    pub sub_rules: &'static [(PermissionArity, &'static str)],
    /// The program's effect on files and other processes, for every subcommand.
    pub effect: ProgramEffect,
    /// The effects of the program's subcommands: lists of paths such as `delete, auth can-i`. The empty list is the
    /// program itself. In a path `*` is any word, `-delete-` a word with this part (`delete-object`), and `publish*` a
    /// word with this prefix. A path behind `…` may begin at any operand: `… instances delete`.
    pub subcommands: &'static [(ProgramEffect, &'static str)],
    /// Everything else.
    pub facts: &'static [ProgramFact],
}

/// The kind of the words after a program's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentKind {
    /// Data: a `git` or `rm` among them is a name, not a command.
    Data,
    /// Code or a command.
    Commands,
    /// Unknown: a `git` or `rm` among them may be a command.
    Unknown,
}

/// How many words of a command a permission rule repeats before its `:*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionArity {
    /// This number of words. A command with fewer words gets a rule without `:*`.
    Words(usize),
    /// This number of words. The program alone may have any words, too: `make:*`.
    WordsOrNone(usize),
    /// All words, without `:*`: the later words decide what the command does.
    Exact,
    /// No rule can be made, because the program runs any command.
    Never,
}

/// The effect of a program or a subcommand.
#[derive(Clone, Copy, Debug)]
pub enum ProgramEffect {
    /// Unknown, or dependent on the subcommand.
    Unknown,
    /// Only reads, with any words. A builtin that changes only its own shell counts as reading.
    Reads,
    /// Only reads, with exceptions.
    ReadsUnless(ReadOnlyExceptions),
    /// Changes files, processes or the machine.
    Changes,
    /// Changes something beyond this machine, or for good. A subcommand may have several such effects. The first effect
    /// whose conditions hold counts.
    Lasts(&'static LastingEffect),
}

/// The conditions under which a program that usually only reads does more.
#[derive(Clone, Copy, Debug)]
pub struct ReadOnlyExceptions {
    /// Options with which it writes.
    pub writes: &'static str,
    /// Options with which it runs a program.
    pub runs: &'static str,
    /// With more operands than this it writes.
    pub operands: Option<usize>,
}

/// A fact that only a few programs share.
#[derive(Clone, Copy, Debug)]
pub enum ProgramFact {
    /// The program only runs the commands among its words. Each of these commands is judged by itself.
    OnlyRunsCommands,
    /// The program runs commands as another user or on another machine. A permission rule for `ls` does not allow `ls`
    /// through it.
    RunsElsewhere,
    /// The program prints a version or a help text when its only word is `--version`, `--help` or the like.
    PrintsItsVersion,
    /// The program prints shell code about itself, meant for `eval` or `source`, if its first word is in this list.
    /// Empty: always.
    PrintsShellCode(&'static str),
    /// The program overwrites each device among its words. In the lists, a single letter is part of a cluster of
    /// options, a longer entry is a word.
    Formats {
        /// The words with which it does so. Empty: always.
        writes: &'static str,
        /// The words with which it only reads.
        reads: &'static str,
    },
    /// The program writes files that its words name.
    Writes(WrittenFileWords),
    /// The program erases the content of the files that its words name, if one of these options is given. If the list
    /// is empty, it always does. `size=0` also requires the value.
    Erases(WrittenFileWords, &'static str),
    /// Each operand is a task of its own: `mvn clean deploy`.
    RunsTasks,
    /// The words behind a subcommand belong to another program, or to the program itself again: `docker compose` is
    /// `docker-compose`.
    Contains(&'static [(&'static str, &'static str)]),
    /// The program runs queries.
    Queries(&'static QueryClientSpec),
    /// Variables or options, such as `RAILS_ENV=test`, with which the program works on the database of the tests.
    TestDatabase(&'static str),
}

/// The words that name the files that a program writes.
#[derive(Clone, Copy, Debug)]
pub enum WrittenFileWords {
    /// All operands.
    Operands,
    /// All operands, if at least one of these options is given.
    OperandsWith(&'static str),
    /// The last operand, or the value of `-t`. If this is a directory, the files in it that have the names of the other
    /// operands. With one of these options nothing is written.
    LastUnless(&'static str),
    /// The values of these options.
    Values(&'static str),
    /// The rest of each word that has this prefix: `of=FILE`.
    Prefixed(&'static str),
}

/// Options whose value is a command.
#[derive(Debug)]
pub struct HookOptions {
    /// The options.
    pub options: &'static str,
    /// Prefixes of values that are commands, in any case of letters. Empty: every value is a command.
    pub begins: &'static [&'static str],
}

/// Options of subcommands whose value is a command.
#[derive(Debug)]
pub struct CommandOptionSpec {
    /// The subcommands.
    pub subcommands: &'static str,
    /// Their options, as far as words that are values need it.
    pub spec: OptionSpec,
    /// The options whose value is a command.
    pub options: &'static str,
    /// The form that a finding names.
    pub via: &'static str,
}

/// One way to give an interpreter its program.
#[derive(Debug)]
pub struct InterpreterSpec {
    /// The language of the program.
    pub language: InterpretedLanguage,
    /// The interpreter's options.
    pub options: OptionSpec,
    /// Options whose value is code. Several of them are lines of one program.
    pub code: &'static str,
    /// Options that make the first operand code.
    pub flag: &'static str,
    /// Options with which no program is read from standard input.
    pub stop: &'static str,
    /// Subcommands, one of which must be the first word.
    pub subcommand: &'static str,
}

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpretedLanguage {
    Python,
    Ruby,
    Perl,
    JavaScript,
    Php,
    Lua,
    Awk,
    /// Any other language. Its programs are not read, so they are opaque.
    Other,
}

impl ProgramSpec {
    /// A program of which nothing is known.
    pub const UNKNOWN: Self = Self {
        names: "",
        words: ArgumentKind::Unknown,
        options: OptionSpec::NONE,
        wrappers: &[],
        hooks: &[],
        interpreters: &[],
        rule: PermissionArity::Words(1),
        sub_rules: &[],
        effect: ProgramEffect::Unknown,
        subcommands: &[],
        facts: &[],
    };

    /// Returns whether the record tells the kind of the words that the program takes.
    pub fn is_known(&self) -> bool {
        self.words != ArgumentKind::Unknown || !self.wrappers.is_empty()
    }

    /// Returns whether a fact holds.
    pub fn has(&self, holds: impl Fn(&ProgramFact) -> bool) -> bool {
        self.facts.iter().any(holds)
    }

    /// Returns the arity of a subcommand such as `compose up`, if it differs from the program's arity.
    pub fn sub_rule(&self, path: &str) -> Option<PermissionArity> {
        self.sub_rules.iter().find(|(_, paths)| has_path(paths, path)).map(|(arity, _)| *arity)
    }

    /// Returns whether the program only runs the commands that it is given.
    pub fn only_runs_commands(&self) -> bool {
        self.has(|fact| matches!(fact, ProgramFact::OnlyRunsCommands))
    }

    /// Returns whether the program prints shell code about itself, given its first word.
    pub fn prints_shell_code(&self, word: Option<&str>) -> bool {
        matches!(word, Some("completion" | "completions"))
            || self.has(|fact| match fact {
                ProgramFact::PrintsShellCode(words) => {
                    words.is_empty() || word.is_some_and(|word| has_word(words, word))
                }
                _ => false,
            })
    }
}
