//! The syntax of a script: its lists, commands and words, as bash reads them.

use std::rc::Rc;

/// A place in the text that was read: half-open, bytes.
pub type ByteSpan = std::ops::Range<usize>;

/// The commands of a text.
#[derive(Debug, Default)]
pub struct ScriptSyntax {
    /// The commands that could be read.
    pub body: CommandList,
    /// Why the rest could not be read.
    pub fault: Option<ScriptFault>,
    /// The place of the rest: the start of the line with the fault. Without a fault, behind all commands.
    pub end: usize,
}

/// Why a text cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptFault {
    /// Bash refuses the text, at this byte.
    Syntax(usize),
    /// The text is nested deeper than the reader goes, takes too much reading ahead, or has more pieces than are read.
    Limit,
}

/// Commands joined by `;`, `&` and newlines.
pub type CommandList = Vec<AndOrList>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub struct AndOrList {
    /// Each pipeline with its join to the pipeline before. The join of the first has no meaning.
    pub pipelines: Vec<(AndOrOperator, PipelineSyntax)>,
    /// Whether `&` ends the list.
    pub background: bool,
}

/// The join of two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AndOrOperator {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug)]
pub struct PipelineSyntax {
    /// The commands in order. Empty for a `time` or `!` without a command.
    pub commands: Vec<CommandNode>,
    /// Whether `!` precedes the pipeline. Bash takes a second one back.
    pub negated: bool,
    /// The place of the first `!`.
    pub negation: Option<usize>,
}

/// One command with the redirects behind it.
#[derive(Debug)]
pub struct CommandNode {
    /// The command itself.
    pub kind: CommandNodeKind,
    /// The redirects of a compound command. A simple command holds its own.
    pub redirects: Vec<RedirectSyntax>,
    /// Place from the first byte to the end of the last redirect.
    pub span: ByteSpan,
    /// Whether the next pipe takes the standard error, too: `|&`.
    pub pipes_stderr: bool,
}

impl CommandNode {
    /// Makes a command that no pipe follows.
    pub(super) fn new(kind: CommandNodeKind, redirects: Vec<RedirectSyntax>, start: usize, end: usize) -> Self {
        let end = redirects.last().map_or(end, |last| last.target.span.end.max(end));
        Self { kind, redirects, span: start..end, pipes_stderr: false }
    }
}

/// The kinds of commands.
#[derive(Debug)]
pub enum CommandNodeKind {
    /// A program with its words.
    Simple(UnexpandedCommand),
    /// `{ …; }`
    Group(CommandList),
    /// `( … )`
    Subshell(CommandList),
    /// `if`, with its `elif`s.
    If {
        /// The condition and the body of each arm.
        arms: Vec<(CommandList, CommandList)>,
        /// `else`
        otherwise: CommandList,
    },
    /// `while`, `until`, and `for ((…))`.
    Loop {
        /// The condition of each round.
        condition: CommandList,
        /// `for ((…; …; …))`
        expressions: Option<WordSyntax>,
        /// The body.
        body: CommandList,
    },
    /// `for NAME in …`, `select`.
    For {
        /// The variable.
        name: String,
        /// The items. `None` for the positional parameters.
        words: Option<Vec<WordSyntax>>,
        /// The body.
        body: CommandList,
    },
    /// `case WORD in …`
    Case {
        /// The word that is compared.
        word: WordSyntax,
        /// The patterns and the body of each arm.
        arms: Vec<(Vec<WordSyntax>, CommandList)>,
    },
    /// `name() …`
    Function {
        /// The name of the function.
        name: String,
        /// The body of the function.
        body: Rc<CommandNode>,
    },
    /// `[[ … ]]`: its words, without the signs between them.
    Test(Vec<WordSyntax>),
    /// `((…))`
    Arithmetic(WordSyntax),
    /// `coproc …`, with the variable that gets its descriptors.
    Coproc(String, Box<CommandNode>),
}

/// A simple command before its words are expanded.
#[derive(Debug, Default)]
pub struct UnexpandedCommand {
    /// `NAME=value` before the words.
    pub assignments: Vec<AssignmentSyntax>,
    /// The words, the program first.
    pub words: Vec<WordSyntax>,
    /// The redirects in order.
    pub redirects: Vec<RedirectSyntax>,
    /// The place in the text.
    pub span: ByteSpan,
}

/// `NAME=value`
#[derive(Debug)]
pub struct AssignmentSyntax {
    /// The variable.
    pub name: String,
    /// The text between the brackets of `NAME[…]=`.
    pub index: Option<Vec<WordPart>>,
    /// Whether the assignment appends: `NAME+=`.
    pub append: bool,
    /// The value.
    pub value: WordSyntax,
    /// The source.
    pub source: String,
}

/// A redirect.
#[derive(Debug)]
pub struct RedirectSyntax {
    /// The operator: `>`, `<<` …
    pub op: &'static str,
    /// The descriptor in front of it.
    pub fd: Option<u32>,
    /// The file, descriptor or text behind the operator. For a heredoc, its delimiter.
    pub target: WordSyntax,
    /// The index of the heredoc's body. `None` for other redirects.
    pub heredoc: Option<usize>,
}

/// A word.
#[derive(Clone, Debug, Default)]
pub struct WordSyntax {
    /// The parts in order.
    pub parts: Vec<WordPart>,
    /// The place in the text.
    pub span: ByteSpan,
}

impl WordSyntax {
    /// Returns the text, if the word has no quotes and no expansions.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [WordPart::Text(text)] => Some(text),
            _ => None,
        }
    }
}

/// A part of a word.
#[derive(Clone, Debug)]
pub enum WordPart {
    /// Unquoted text: braces, globs and a tilde in it count.
    Text(String),
    /// Quoted text, whichever quotes it has.
    Quoted(String),
    /// `"…"`
    Double(Vec<WordPart>),
    /// `$x`, `${…}`
    Parameter(Box<ParameterExpansion>),
    /// `$(…)`, backticks.
    Command(Rc<SubstitutedCommands>),
    /// `$((…))`, with the expansions in it.
    Arithmetic(Vec<WordPart>),
    /// `<(…)`, `>(…)`
    Process(Rc<SubstitutedCommands>),
    /// `@(a|b)` and the like.
    Pattern(Box<ExtendedPattern>),
    /// `(…)` behind `NAME=`.
    Array(Vec<WordSyntax>),
}

/// `@(a|b)` and the like.
#[derive(Clone, Debug)]
pub struct ExtendedPattern {
    /// The source.
    pub source: String,
    /// The expansions in it.
    pub parts: Vec<WordPart>,
}

/// Commands in a word.
#[derive(Debug)]
pub struct SubstitutedCommands {
    /// The commands.
    pub list: CommandList,
    /// The text that the places refer to, for commands between backticks. `None` for the whole text.
    pub text: Option<Rc<str>>,
}

/// `${…}`
#[derive(Clone, Debug, Default)]
pub struct ParameterExpansion {
    /// The name: `x`, `1`, `@`, `?` …
    pub name: String,
    /// Whether this is `${!x}`.
    pub indirect: bool,
    /// Whether this is `${#x}`.
    pub length: bool,
    /// The subscript: `@`, `*`, or an expression.
    pub index: Option<Vec<WordPart>>,
    /// The operator.
    pub op: ParameterOp,
    /// The text behind the operator.
    pub word: Vec<WordPart>,
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
pub struct HeredocBody {
    /// The text that the command reads.
    pub parts: Vec<WordPart>,
    /// The place in the text.
    pub span: ByteSpan,
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
