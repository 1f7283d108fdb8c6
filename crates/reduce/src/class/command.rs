//! Finds out what the output of a command consists of, through chains, pipes, loops and nested scripts.

use std::collections::HashMap;
use std::rc::Rc;

use super::program::{Prints, prints, shows};
use super::words::known;
use safety::WrappedCommand;
use safety::parse::{CommandList, CommandNode, CommandNodeKind, PipelineSyntax, RedirectSyntax, WordSyntax, read};

/// Longest command that is read, in bytes.
pub(super) const LONGEST: usize = 64 << 10;
/// Deepest nesting of scripts.
const DEPTH: usize = 8;

/// The parts of the output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Whether a part of the output is the contents of a file, a difference or data.
    pub exact: bool,
    /// Whether all of the output is rows of a search or a list. A word of failure in such rows is plain text.
    pub rows: bool,
    /// Whether each program only shows files or searches, also where it feeds another one.
    pub shows: bool,
    /// Whether a program prints contents of files or a difference, perhaps beside others that say something themselves.
    pub contents: bool,
    /// Whether a program reads the output of another one, and may have left lines of it out.
    pub filtered: bool,
    /// The programs whose output is a part of this output, with their first words. Rules match their hints against
    /// these.
    pub programs: Vec<String>,
    /// Whether a program says something itself.
    says: bool,
}

impl Printed {
    /// Returns whether the output is what programs say themselves: no contents, no rows.
    pub fn speaks(&self) -> bool {
        self.says && !self.exact && !self.rows
    }
}

/// Reads a command.
pub fn printed(command: &str) -> Printed {
    if command.len() > LONGEST {
        return Printed::default();
    }
    let mut reader = Reader::default();
    reader.script(command, 0);
    let rows = reader.rows && !reader.other;
    let shows = reader.shows && !reader.speaks;
    let Reader { exact, contents, filtered, programs, speaks, .. } = reader;
    Printed { exact, rows, shows, contents, filtered, programs, says: speaks }
}

#[derive(Default)]
struct Reader {
    exact: bool,
    rows: bool,
    other: bool,
    /// Whether a program shows files or searches, and whether one says something itself.
    shows: bool,
    speaks: bool,
    contents: bool,
    filtered: bool,
    programs: Vec<String>,
    /// The functions of the script.
    functions: HashMap<String, Rc<CommandNode>>,
}

impl Reader {
    fn script(&mut self, text: &str, depth: usize) {
        let parsed = read(text);
        self.list(&parsed.script.body, depth);
        if parsed.script.fault.is_some() {
            self.other = true;
            self.speaks = true;
        }
    }

    fn list(&mut self, list: &CommandList, depth: usize) {
        if depth > DEPTH {
            self.other = true;
            self.speaks = true;
            return;
        }
        for and_or in list {
            for (_, pipeline) in &and_or.pipelines {
                let said = self.pipeline(pipeline, depth);
                self.note(said);
            }
        }
    }

    fn note(&mut self, said: Prints) {
        match said {
            Prints::Exact => self.exact = true,
            Prints::Rows => self.rows = true,
            Prints::Text => self.other = true,
            Prints::Nothing | Prints::Input => {}
        }
    }

    /// Returns the output of a pipeline. Its last command decides, or the command before if the last one passes its
    /// input on.
    fn pipeline(&mut self, pipeline: &PipelineSyntax, depth: usize) -> Prints {
        let mut flows = Prints::Nothing;
        let last = pipeline.commands.len().saturating_sub(1);
        for (at, node) in pipeline.commands.iter().enumerate() {
            let said = self.node(node, at > 0, depth);
            self.filtered |= at > 0 && !passes_all_on(node);
            flows = if said == Prints::Input { flows } else { said };
            if at < last && matches!(flows, Prints::Nothing) {
                flows = Prints::Text;
            }
        }
        flows
    }

    fn node(&mut self, node: &CommandNode, piped: bool, depth: usize) -> Prints {
        if to_file(&node.redirects) {
            return Prints::Nothing;
        }
        match &node.kind {
            CommandNodeKind::Simple(command) => {
                if to_file(&command.redirects) {
                    return Prints::Nothing;
                }
                let words: Vec<Option<String>> = command.words.iter().map(known).collect();
                let reads = reads_file(&command.redirects);
                match self.simple(&words, piped || reads, depth) {
                    // What a program passes on is then the contents of a file.
                    Prints::Input if reads => {
                        self.contents = true;
                        Prints::Exact
                    }
                    said => said,
                }
            }
            CommandNodeKind::Group(list) | CommandNodeKind::Subshell(list) => self.compound(&[list], depth),
            CommandNodeKind::If { arms, otherwise } => {
                let mut lists: Vec<&CommandList> =
                    arms.iter().flat_map(|(condition, body)| [condition, body]).collect();
                lists.push(otherwise);
                self.compound(&lists, depth)
            }
            CommandNodeKind::Loop { condition, body, .. } => self.compound(&[condition, body], depth),
            CommandNodeKind::For { body, .. } => self.compound(&[body], depth),
            CommandNodeKind::Case { arms, .. } => {
                self.compound(&arms.iter().map(|(_, list)| list).collect::<Vec<_>>(), depth)
            }
            CommandNodeKind::Function { name, body } => {
                self.functions.insert(name.clone(), body.clone());
                Prints::Nothing
            }
            CommandNodeKind::Test(_) | CommandNodeKind::Arithmetic(_) => Prints::Nothing,
            CommandNodeKind::Coproc(..) => {
                self.speaks = true;
                Prints::Text
            }
        }
    }

    /// Returns the output of a compound command: the most exact of its parts.
    fn compound(&mut self, lists: &[&CommandList], depth: usize) -> Prints {
        let mut inner = Self { functions: self.functions.clone(), ..Self::default() };
        for list in lists {
            inner.list(list, depth + 1);
        }
        self.programs.append(&mut inner.programs);
        self.shows |= inner.shows;
        self.speaks |= inner.speaks;
        self.contents |= inner.contents;
        self.filtered |= inner.filtered;
        match inner {
            Self { exact: true, .. } => Prints::Exact,
            Self { other: true, .. } => Prints::Text,
            Self { rows: true, .. } => Prints::Rows,
            _ => Prints::Nothing,
        }
    }

    fn simple(&mut self, words: &[Option<String>], piped: bool, depth: usize) -> Prints {
        let mut words = words;
        let mut is_unknown = false;
        for _ in 0..DEPTH {
            match inside(words) {
                Some(WrappedCommand::Words(from)) => words = words.get(from..).unwrap_or_default(),
                Some(WrappedCommand::Script(text)) => return self.nested(&text, depth),
                Some(WrappedCommand::Argv(argv)) if depth < DEPTH => return self.simple(&argv, piped, depth + 1),
                unknown => {
                    is_unknown = unknown.is_some();
                    break;
                }
            }
        }
        let Some(program) = words.first() else { return Prints::Nothing };
        let Some(program) = program else {
            self.speaks = true;
            return Prints::Text;
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        if depth < DEPTH
            && let Some(body) = self.functions.get(name).cloned()
        {
            return self.node(&body, piped, depth + 1);
        }
        let said = prints(name, &words[1..], piped);
        let is_shown = shows(name) || name == "git" && matches!(said, Prints::Exact | Prints::Rows);
        self.shows |= is_shown;
        self.contents |= is_shown && said == Prints::Exact;
        self.speaks |= !is_shown && (is_unknown || said != Prints::Nothing);
        if matches!(said, Prints::Text | Prints::Rows) && !is_unknown {
            self.programs.push(with_subcommands(name, &words[1..]));
        }
        said
    }

    /// Returns the output of a script that a command runs: `bash -c TEXT`, `eval TEXT`, `ssh HOST TEXT`.
    fn nested(&mut self, text: &str, depth: usize) -> Prints {
        if depth >= DEPTH {
            self.speaks = true;
            return Prints::Text;
        }
        let mut inner = Self { functions: self.functions.clone(), ..Self::default() };
        inner.script(text, depth + 1);
        self.programs.append(&mut inner.programs);
        self.shows |= inner.shows;
        self.speaks |= inner.speaks;
        self.contents |= inner.contents;
        self.filtered |= inner.filtered;
        match inner {
            Self { exact: true, .. } => Prints::Exact,
            Self { other: false, rows: true, .. } => Prints::Rows,
            _ => Prints::Text,
        }
    }
}

/// Returns the words of a command without the programs that run it: `npm test` of `timeout 60 npm test`.
pub fn unwrapped(words: &[String]) -> Vec<String> {
    let mut words: Vec<_> = words.iter().cloned().map(Some).collect();
    for _ in 0..DEPTH {
        match inside(&words) {
            Some(WrappedCommand::Words(from)) => words.drain(..from.min(words.len())).for_each(drop),
            Some(WrappedCommand::Argv(argv)) => words = argv,
            Some(WrappedCommand::Script(_) | WrappedCommand::Unknown) | None => break,
        }
    }
    words.into_iter().flatten().collect()
}

/// Returns the command inside a command. `python -m pytest` is read as pytest.
fn inside(words: &[Option<String>]) -> Option<WrappedCommand> {
    match words {
        [Some(python), Some(option), ..] if python.starts_with("python") && option == "-m" => {
            Some(WrappedCommand::Words(2))
        }
        // The script of a trap runs later.
        [Some(trap), ..] if trap == "trap" => None,
        _ => safety::wrapped_command(&words.iter().map(Option::as_deref).collect::<Vec<_>>()),
    }
}

/// Returns a program with the words behind it that may be its subcommands: `go test`, `python -m pytest`.
fn with_subcommands(name: &str, words: &[Option<String>]) -> String {
    let mut text = name.to_owned();
    for word in words.iter().take(3).flatten() {
        if word.len() < 40
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b':' | b'_' | b'.'))
        {
            text.push(' ');
            text.push_str(word);
        }
    }
    text
}

/// Returns whether the standard output goes into a file.
fn to_file(redirects: &[RedirectSyntax]) -> bool {
    redirects.iter().any(|redirect| match redirect.op {
        ">" | ">>" | ">|" => redirect.fd.is_none_or(|fd| fd == 1) && !is_terminal(&redirect.target),
        "&>" | "&>>" => true,
        _ => false,
    })
}

fn is_terminal(target: &WordSyntax) -> bool {
    matches!(target.bare(), Some("/dev/stdout" | "/dev/stderr" | "/dev/tty"))
}

/// Returns whether a command passes its whole input on.
fn passes_all_on(node: &CommandNode) -> bool {
    let CommandNodeKind::Simple(command) = &node.kind else { return false };
    let name = command.words.first().and_then(known);
    name.is_some_and(|name| matches!(name.as_str(), "cat" | "tee" | "less" | "more"))
}

fn reads_file(redirects: &[RedirectSyntax]) -> bool {
    redirects.iter().any(|redirect| matches!(redirect.op, "<" | "<<" | "<<<" | "<<-"))
}
