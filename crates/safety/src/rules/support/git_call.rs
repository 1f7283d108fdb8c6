//! A command line of git: git's own options, the subcommand, the arguments.

use std::borrow::Cow;

use super::operand_paths::{DirectoryLandmarks, OperandPlace};
use super::quote;
use super::subcommand_call::SubcommandCall;
use crate::name_lists::has_word;
use crate::options::{OptionSpec, ParsedArguments, parse};
use crate::simple_command_view::{CommandDirectories, SimpleCommandView};
use crate::word_value::WordValue;

/// Most aliases that are followed one after the other. Git itself refuses circles.
const MAX_ALIASES: usize = 8;

/// One call of git.
#[derive(Clone, Debug)]
pub struct GitCall<'a> {
    /// The subcommand: `add`, `push` …
    pub sub: &'a str,
    /// The words behind the subcommand.
    pub args: Cow<'a, [WordValue]>,
    /// The words before the subcommand, `git` included.
    pub before: &'a [WordValue],
    /// The directory that git works in.
    pub cwd: WordValue,
    /// Settings given by `-c NAME=value`, names in lower case.
    pub config: Vec<(String, WordValue)>,
    /// Whether `--no-pager` is given.
    pub no_pager: bool,
}

impl<'a> GitCall<'a> {
    /// Reads a command as a call of git. `None` for other commands, and if git only prints help.
    pub fn new(command: &SimpleCommandView<'a>) -> Option<Self> {
        if !matches!(command.name()?, "git" | "git.exe") {
            return None;
        }
        let call = SubcommandCall::of(command)?;
        if call.options.has("help h version v list-cmds html-path man-path info-path") {
            return None;
        }
        let given = |name: &'static str| {
            let options = call.options.options.iter().filter(move |given| has_word(name, &given.name));
            options.filter_map(|given| given.value.as_ref())
        };
        let cwd = given("C").fold(command.cwd.clone(), |cwd, directory| directory.seen_from(&cwd));
        let config = given("c config-env").filter_map(setting).collect();
        let no_pager = call.options.has("no-pager");
        let mut git =
            Self { sub: call.name, args: Cow::Borrowed(call.args), before: call.before, cwd, config, no_pager };
        for _ in 0..MAX_ALIASES {
            if !git.follow_alias() {
                break;
            }
        }
        Some(git)
    }

    /// Reads a command as a call of one of these subcommands. `None` if the call only asks for help.
    pub fn of(command: &SimpleCommandView<'a>, subs: &[&str]) -> Option<Self> {
        // Most rules are about other subcommands.
        let names = |arg: &WordValue| match arg.known() {
            Some(text) => subs.contains(&text) || is_alias(text),
            None => is_alias(arg.prefix()),
        };
        if !command.args().iter().any(names) {
            return None;
        }
        let git = Self::new(command)?;
        let asks = |arg: &WordValue| matches!(arg.known(), Some("--help" | "-h" | "--help-all"));
        let helps = git.args.iter().take_while(|arg| arg.known() != Some("--")).any(asks);
        (subs.contains(&git.sub) && !helps).then_some(git)
    }

    /// Returns whether git works in a directory that the command has just made for temporary files, by `mktemp`.
    pub fn is_in_scratch(&self, directories: &CommandDirectories) -> bool {
        self.cwd.has_unknown()
            && DirectoryLandmarks::new(directories).place_of(&self.cwd, &self.cwd) == OperandPlace::Temp
    }

    /// Parses the arguments by the options of the subcommand.
    pub fn parse(&self, spec: &OptionSpec) -> ParsedArguments {
        parse(&self.args, spec)
    }

    /// Returns the operands.
    pub fn operands<'b>(&'b self, parsed: &'b ParsedArguments) -> impl DoubleEndedIterator<Item = &'b WordValue> {
        parsed.operands.iter().filter_map(|&at| self.args.get(at))
    }

    /// Returns the value of a setting given by `-c`.
    pub fn setting(&self, name: &str) -> Option<&WordValue> {
        self.config.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value)
    }

    /// Returns a line that begins like this call (`git -C sub`) and goes on with `rest`. Falls back to plain `git`.
    pub fn line(&self, rest: &str) -> String {
        match quote::line(self.before).filter(|_| self.config.is_empty()) {
            Some(before) => format!("{before} {rest}"),
            None => format!("git {rest}"),
        }
    }

    /// Replaces an alias: with `-c alias.x='push --force'`, `x` becomes `push --force`.
    fn follow_alias(&mut self) -> bool {
        let name = format!("alias.{}", self.sub.to_ascii_lowercase());
        let Some((_, value)) = self.config.iter().rev().find(|(own, _)| *own == name) else { return false };
        let Some(text) = value.known().filter(|text| !text.starts_with('!')) else { return false };
        let mut words = split(text).into_iter();
        let Some(sub) = words.next() else { return false };
        let Some(known) = SUBS.iter().find(|known| **known == sub) else { return false };
        self.sub = known;
        self.args = words.map(WordValue::of).chain(self.args.iter().cloned()).collect();
        true
    }
}

/// Returns whether a word may define an alias: `alias.x=push`.
fn is_alias(word: &str) -> bool {
    word.contains('.') && word.to_ascii_lowercase().contains("alias.")
}

/// The subcommands that aliases are followed to, because rules are about them.
static SUBS: &[&str] = &[
    "add",
    "stage",
    "push",
    "send-pack",
    "reset",
    "clean",
    "checkout",
    "checkout-index",
    "restore",
    "switch",
    "branch",
    "stash",
    "worktree",
    "config",
    "clone",
    "commit",
    "update-ref",
    "reflog",
    "filter-branch",
    "filter-repo",
];

fn setting(word: &WordValue) -> Option<(String, WordValue)> {
    let (name, _) = word.prefix().split_once('=').or_else(|| Some((word.known()?, "")))?;
    let mut value = WordValue::default();
    let mut skip = name.len() + 1;
    for piece in word.pieces() {
        match piece {
            crate::word_value::ValuePiece::Text(text) if skip > 0 => {
                value.push(crate::word_value::ValuePiece::Text(text.get(skip..).unwrap_or_default().to_owned()));
                skip = skip.saturating_sub(text.len());
            }
            piece => value.push(piece.clone()),
        }
    }
    Some((name.to_ascii_lowercase(), value))
}

/// Splits the words of an alias at blanks that are not in quotes.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for char in text.chars() {
        match (quote, char) {
            (Some(open), char) if open == char => quote = None,
            (Some(_), char) => word.get_or_insert_default().push(char),
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, char) if char.is_whitespace() => words.extend(word.take()),
            (None, char) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}
