//! The syntax of a script: its lists, commands and words, as bash reads them.

use std::rc::Rc;

/// A place in the text that was read: half-open, bytes.
pub type Span = std::ops::Range<usize>;

/// The commands of a text.
#[derive(Debug, Default)]
pub struct Script {
    /// The commands that could be read.
    pub body: List,
    /// Why the rest could not be read.
    pub fault: Option<Fault>,
    /// The place of the rest: the start of the line with the fault. Without a fault, behind all commands.
    pub end: usize,
}

/// Why a text cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Bash refuses the text, at this byte.
    Syntax(usize),
    /// The text is nested deeper than the reader goes, takes too much reading ahead, or has more pieces than are read.
    Limit,
}

/// Commands joined by `;`, `&` and newlines.
pub type List = Vec<AndOr>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub struct AndOr {
    /// Each pipeline with its join to the pipeline before. The join of the first has no meaning.
    pub pipelines: Vec<(Join, Pipeline)>,
    /// Whether `&` ends the list.
    pub background: bool,
}

/// The join of two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub struct Pipeline {
    /// The commands in order. Empty for a `time` or `!` without a command.
    pub commands: Vec<Node>,
    /// Whether `!` precedes the pipeline. Bash takes a second one back.
    pub negated: bool,
    /// The place of the first `!`.
    pub negation: Option<usize>,
}

/// One command with the redirects behind it.
#[derive(Debug)]
pub struct Node {
    /// The command itself.
    pub kind: Kind,
    /// The redirects of a compound command. A simple command holds its own.
    pub redirects: Vec<Redirection>,
    /// Place from the first byte to the end of the last redirect.
    pub span: Span,
    /// Whether the next pipe takes the standard error, too: `|&`.
    pub pipes_stderr: bool,
}

impl Node {
    /// Makes a command that no pipe follows.
    pub(super) fn new(kind: Kind, redirects: Vec<Redirection>, start: usize, end: usize) -> Self {
        let end = redirects.last().map_or(end, |last| last.target.span.end.max(end));
        Self { kind, redirects, span: start..end, pipes_stderr: false }
    }
}

/// The kinds of commands.
#[derive(Debug)]
pub enum Kind {
    /// A program with its words.
    Simple(UnexpandedCommand),
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    /// `if`, with its `elif`s.
    If {
        /// The condition and the body of each arm.
        arms: Vec<(List, List)>,
        /// `else`
        otherwise: List,
    },
    /// `while`, `until`, and `for ((…))`.
    Loop {
        /// The condition of each round.
        condition: List,
        /// `for ((…; …; …))`
        expressions: Option<Word>,
        /// The body.
        body: List,
    },
    /// `for NAME in …`, `select`.
    For {
        /// The variable.
        name: String,
        /// The items. `None` for the positional parameters.
        words: Option<Vec<Word>>,
        /// The body.
        body: List,
    },
    /// `case WORD in …`
    Case {
        /// The word that is compared.
        word: Word,
        /// The patterns and the body of each arm.
        arms: Vec<(Vec<Word>, List)>,
    },
    /// `name() …`
    Function {
        /// The name of the function.
        name: String,
        /// The body of the function.
        body: Rc<Node>,
    },
    /// `[[ … ]]`: its words, without the signs between them.
    Test(Vec<Word>),
    /// `((…))`
    Arithmetic(Word),
    /// `coproc …`, with the variable that gets its descriptors.
    Coproc(String, Box<Node>),
}

/// A simple command before its words are expanded.
#[derive(Debug, Default)]
pub struct UnexpandedCommand {
    /// `NAME=value` before the words.
    pub assignments: Vec<Assignment>,
    /// The words, the program first.
    pub words: Vec<Word>,
    /// The redirects in order.
    pub redirects: Vec<Redirection>,
    /// The place in the text.
    pub span: Span,
}

/// `NAME=value`
#[derive(Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The text between the brackets of `NAME[…]=`.
    pub index: Option<Vec<Part>>,
    /// Whether the assignment appends: `NAME+=`.
    pub append: bool,
    /// The value.
    pub value: Word,
    /// The source.
    pub source: String,
}

/// A redirect.
#[derive(Debug)]
pub struct Redirection {
    /// The operator: `>`, `<<` …
    pub op: &'static str,
    /// The descriptor in front of it.
    pub fd: Option<u32>,
    /// The file, descriptor or text behind the operator. For a heredoc, its delimiter.
    pub target: Word,
    /// The index of the heredoc's body. `None` for other redirects.
    pub heredoc: Option<usize>,
}

/// A word.
#[derive(Clone, Debug, Default)]
pub struct Word {
    /// The parts in order.
    pub parts: Vec<Part>,
    /// The place in the text.
    pub span: Span,
}

impl Word {
    /// Returns the text, if the word has no quotes and no expansions.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A part of a word.
#[derive(Clone, Debug)]
pub enum Part {
    /// Unquoted text: braces, globs and a tilde in it count.
    Text(String),
    /// Quoted text, whichever quotes it has.
    Quoted(String),
    /// `"…"`
    Double(Vec<Part>),
    /// `$x`, `${…}`
    Parameter(Box<Parameter>),
    /// `$(…)`, backticks.
    Command(Rc<Nested>),
    /// `$((…))`, with the expansions in it.
    Arithmetic(Vec<Part>),
    /// `<(…)`, `>(…)`
    Process(Rc<Nested>),
    /// `@(a|b)` and the like.
    Pattern(Box<ExtendedPattern>),
    /// `(…)` behind `NAME=`.
    Array(Vec<Word>),
}

/// `@(a|b)` and the like.
#[derive(Clone, Debug)]
pub struct ExtendedPattern {
    /// The source.
    pub source: String,
    /// The expansions in it.
    pub parts: Vec<Part>,
}

/// Commands in a word.
#[derive(Debug)]
pub struct Nested {
    /// The commands.
    pub list: List,
    /// The text that the places refer to, for commands between backticks. `None` for the whole text.
    pub text: Option<Rc<str>>,
}

/// `${…}`
#[derive(Clone, Debug, Default)]
pub struct Parameter {
    /// The name: `x`, `1`, `@`, `?` …
    pub name: String,
    /// Whether this is `${!x}`.
    pub indirect: bool,
    /// Whether this is `${#x}`.
    pub length: bool,
    /// The subscript: `@`, `*`, or an expression.
    pub index: Option<Vec<Part>>,
    /// The operator.
    pub op: ParameterOp,
    /// The text behind the operator.
    pub word: Vec<Part>,
}

/// The operator of `${…}`. `empty`: with a colon, which counts an empty value as not set.
#[expect(missing_docs, reason = "the comments of the variants show the two forms")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ParameterOp {
    /// No operator.
    #[default]
    None,
    /// `-`, `:-`
    Default { empty: bool },
    /// `=`, `:=`
    Assign { empty: bool },
    /// `+`, `:+`
    Alternative { empty: bool },
    /// `?`, `:?`
    Require { empty: bool },
    /// `:`
    Slice,
    /// `#`, `##`
    CutFront { longest: bool },
    /// `%`, `%%`
    CutBack { longest: bool },
    /// `/`, `//`
    Replace { all: bool },
    /// `/#`, `/%`
    ReplaceEnd,
    /// `^`, `^^`
    Upper { all: bool },
    /// `,`, `,,`
    Lower { all: bool },
    /// `@`, `~`
    Transform,
}

/// The body of a heredoc.
#[derive(Clone, Debug, Default)]
pub struct Heredoc {
    /// The text that the command reads.
    pub parts: Vec<Part>,
    /// The place in the text.
    pub span: Span,
}

/// A heredoc whose body is still to be read: it begins on the line after its command.
pub(super) struct PendingHeredoc {
    /// The index among the heredocs of the text.
    pub number: usize,
    /// The line that ends the body.
    pub delimiter: String,
    /// Whether a part of the delimiter is quoted: nothing in the body is expanded.
    pub quoted: bool,
    /// Whether tabs at the beginning of lines are removed: `<<-`.
    pub strips_tabs: bool,
}
