//! Finds out what the output of a command consists of, through chains, pipes, loops and nested scripts.

use std::collections::HashMap;
use std::rc::Rc;

use super::known_words::known_value;
use super::printed_content::{PrintedContent, only_shows, printed_content};
use safety::WrappedCommand;
use safety::parse::{CommandList, CommandNode, CommandNodeKind, PipelineSyntax, RedirectSyntax, WordSyntax, read};

/// Longest command that is read, in bytes.
pub(super) const LONGEST: usize = 64 << 10;
/// Deepest nesting of scripts.
const DEPTH: usize = 8;

/// The parts of the output of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputProfile {
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

impl OutputProfile {
    /// Returns whether the output is what programs say themselves: no contents, no rows.
    pub fn is_messages(&self) -> bool {
        self.says && !self.exact && !self.rows
    }
}

/// Reads a command.
pub fn output_profile(command: &str) -> OutputProfile {
    if command.len() > LONGEST {
        return OutputProfile::default();
    }
    let mut reader = OutputProfileReader::default();
    reader.script(command, 0);
    let rows = reader.rows && !reader.other;
    let shows = reader.shows && !reader.speaks;
    let OutputProfileReader { exact, contents, filtered, programs, speaks, .. } = reader;
    OutputProfile { exact, rows, shows, contents, filtered, programs, says: speaks }
}

#[derive(Default)]
struct OutputProfileReader {
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

impl OutputProfileReader {
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

    fn note(&mut self, said: PrintedContent) {
        match said {
            PrintedContent::Exact => self.exact = true,
            PrintedContent::Rows => self.rows = true,
            PrintedContent::Text => self.other = true,
            PrintedContent::Nothing | PrintedContent::Input => {}
        }
    }

    /// Returns the output of a pipeline. Its last command decides, or the command before if the last one passes its
    /// input on.
    fn pipeline(&mut self, pipeline: &PipelineSyntax, depth: usize) -> PrintedContent {
        let mut flows = PrintedContent::Nothing;
        let last = pipeline.commands.len().saturating_sub(1);
        for (at, node) in pipeline.commands.iter().enumerate() {
            let said = self.node(node, at > 0, depth);
            self.filtered |= at > 0 && !passes_all_on(node);
            flows = if said == PrintedContent::Input { flows } else { said };
            if at < last && matches!(flows, PrintedContent::Nothing) {
                flows = PrintedContent::Text;
            }
        }
        flows
    }

    fn node(&mut self, node: &CommandNode, piped: bool, depth: usize) -> PrintedContent {
        if to_file(&node.redirects) {
            return PrintedContent::Nothing;
        }
        match &node.kind {
            CommandNodeKind::Simple(command) => {
                if to_file(&command.redirects) {
                    return PrintedContent::Nothing;
                }
                let words: Vec<Option<String>> = command.words.iter().map(known_value).collect();
                let reads = reads_file(&command.redirects);
                match self.simple(&words, piped || reads, depth) {
                    // What a program passes on is then the contents of a file.
                    PrintedContent::Input if reads => {
                        self.contents = true;
                        PrintedContent::Exact
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
                PrintedContent::Nothing
            }
            CommandNodeKind::Test(_) | CommandNodeKind::Arithmetic(_) => PrintedContent::Nothing,
            CommandNodeKind::Coproc(..) => {
                self.speaks = true;
                PrintedContent::Text
            }
        }
    }

    /// Returns the output of a compound command: the most exact of its parts.
    fn compound(&mut self, lists: &[&CommandList], depth: usize) -> PrintedContent {
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
            Self { exact: true, .. } => PrintedContent::Exact,
            Self { other: true, .. } => PrintedContent::Text,
            Self { rows: true, .. } => PrintedContent::Rows,
            _ => PrintedContent::Nothing,
        }
    }

    fn simple(&mut self, words: &[Option<String>], piped: bool, depth: usize) -> PrintedContent {
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
        let Some(program) = words.first() else { return PrintedContent::Nothing };
        let Some(program) = program else {
            self.speaks = true;
            return PrintedContent::Text;
        };
        let name = program.rsplit('/').next().unwrap_or(program);
        if depth < DEPTH
            && let Some(body) = self.functions.get(name).cloned()
        {
            return self.node(&body, piped, depth + 1);
        }
        let said = printed_content(name, &words[1..], piped);
        let is_shown =
            only_shows(name) || name == "git" && matches!(said, PrintedContent::Exact | PrintedContent::Rows);
        self.shows |= is_shown;
        self.contents |= is_shown && said == PrintedContent::Exact;
        self.speaks |= !is_shown && (is_unknown || said != PrintedContent::Nothing);
        if matches!(said, PrintedContent::Text | PrintedContent::Rows) && !is_unknown {
            self.programs.push(with_subcommands(name, &words[1..]));
        }
        said
    }

    /// Returns the output of a script that a command runs: `bash -c TEXT`, `eval TEXT`, `ssh HOST TEXT`.
    fn nested(&mut self, text: &str, depth: usize) -> PrintedContent {
        if depth >= DEPTH {
            self.speaks = true;
            return PrintedContent::Text;
        }
        let mut inner = Self { functions: self.functions.clone(), ..Self::default() };
        inner.script(text, depth + 1);
        self.programs.append(&mut inner.programs);
        self.shows |= inner.shows;
        self.speaks |= inner.speaks;
        self.contents |= inner.contents;
        self.filtered |= inner.filtered;
        match inner {
            Self { exact: true, .. } => PrintedContent::Exact,
            Self { other: false, rows: true, .. } => PrintedContent::Rows,
            _ => PrintedContent::Text,
        }
    }
}

/// Returns the words of a command without the programs that run it: `npm test` of `timeout 60 npm test`.
pub fn unwrap_command(words: &[String]) -> Vec<String> {
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
    let name = command.words.first().and_then(known_value);
    name.is_some_and(|name| matches!(name.as_str(), "cat" | "tee" | "less" | "more"))
}

fn reads_file(redirects: &[RedirectSyntax]) -> bool {
    redirects.iter().any(|redirect| matches!(redirect.op, "<" | "<<" | "<<<" | "<<-"))
}
