//! What a script says: its lists, commands and words, as bash would read them.

use std::rc::Rc;

/// Half-open, in bytes of the text that was read.
pub type Span = std::ops::Range<usize>;

/// One text, read.
#[derive(Debug, Default)]
pub struct Script {
    /// Its commands, as far as they could be read.
    pub body: List,
    /// Why the rest could not.
    pub fault: Option<Fault>,
}

/// Why a text is no script of bash, or not for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Not the syntax of bash, at this byte.
    Syntax(usize),
    /// Nested deeper, or longer, than we follow.
    Limit,
}

/// Commands joined by `;`, `&` and newlines.
pub type List = Vec<AndOr>;

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub struct AndOr {
    /// Each with what joins it to the one before; of the first it has no meaning.
    pub pipelines: Vec<(Join, Pipeline)>,
    /// Ended by `&`.
    pub background: bool,
}

/// What joins two pipelines.
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
    /// In order.
    pub commands: Vec<Node>,
}

/// One command with the redirects behind it.
#[derive(Debug)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Of a compound command; a simple one has them within.
    pub redirects: Vec<Redirection>,
}

/// What a command is.
#[derive(Debug)]
pub enum Kind {
    /// Words, assignments, redirects.
    Simple(Simple),
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    /// `if`, with its `elif`s.
    If {
        /// Condition and body of each.
        arms: Vec<(List, List)>,
        /// `else`
        otherwise: List,
    },
    /// `while`, `until`, and `for ((…))` with its expressions as words.
    Loop {
        /// What is tried first each time.
        condition: List,
        /// `for ((…; …; …))`
        expressions: Vec<Word>,
        /// What is repeated.
        body: List,
    },
    /// `for NAME in …`, `select`.
    For {
        /// The variable.
        name: String,
        /// `None` where it is the positional parameters.
        words: Option<Vec<Word>>,
        /// What is repeated.
        body: List,
    },
    /// `case WORD in …`
    Case {
        /// What is looked at.
        word: Word,
        /// Patterns and body of each.
        arms: Vec<(Vec<Word>, List)>,
    },
    /// `name() …`
    Function {
        /// As it is called.
        name: String,
        /// What it does.
        body: Rc<Node>,
    },
    /// `[[ … ]]` and `((…))`: words in which commands may be nested.
    Test(Vec<Word>),
    /// `coproc …`, with the variable that gets its descriptors.
    Coproc(String, Box<Node>),
}

/// A simple command.
#[derive(Debug, Default)]
pub struct Simple {
    /// `NAME=value` before the words.
    pub assignments: Vec<Assignment>,
    /// The head first.
    pub words: Vec<Word>,
    /// In order.
    pub redirects: Vec<Redirection>,
    /// All of it.
    pub span: Span,
}

/// `NAME=value`
#[derive(Debug)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// `NAME[…]=`: what stands between the brackets.
    pub index: Option<Vec<Part>>,
    /// `NAME+=`
    pub append: bool,
    /// What it gets.
    pub value: Word,
    /// As it is written.
    pub source: String,
}

/// A redirect.
#[derive(Debug)]
pub struct Redirection {
    /// `>`, `<<` …
    pub op: &'static str,
    /// The descriptor in front of it.
    pub fd: Option<u32>,
    /// What follows; of a heredoc its delimiter.
    pub target: Word,
    /// A heredoc's number among the bodies.
    pub heredoc: Option<usize>,
}

/// A word.
#[derive(Clone, Debug, Default)]
pub struct Word {
    /// What it is put together from.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}

impl Word {
    /// Its text, where it is written without any quotes or expansions.
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
    /// Without quotes: braces, globs and a tilde in it mean something.
    Text(String),
    /// Quoted, whichever way.
    Quoted(String),
    /// `"…"`
    Double(Vec<Part>),
    /// `$x`, `${…}`
    Parameter(Box<Parameter>),
    /// `$(…)`, backticks.
    Command(Rc<Nested>),
    /// `$((…))`: what is nested in it.
    Arithmetic(Vec<Part>),
    /// `<(…)`, `>(…)`
    Process(Rc<Nested>),
    /// `@(a|b)` and the like, with what is nested in it.
    Pattern(String, Vec<Part>),
    /// `(…)` behind `NAME=`.
    Array(Vec<Word>),
}

/// Commands in a word.
#[derive(Debug)]
pub struct Nested {
    /// What runs.
    pub list: List,
    /// Between backticks: the text that its places are places of. Otherwise it is a part of the whole text.
    pub text: Option<Rc<str>>,
}

/// `${…}`
#[derive(Clone, Debug, Default)]
pub struct Parameter {
    /// `x`, `1`, `@`, `?` …
    pub name: String,
    /// `${!x}`
    pub indirect: bool,
    /// `${#x}`
    pub length: bool,
    /// `[…]`: `@`, `*`, or what it is.
    pub index: Option<Vec<Part>>,
    /// `:-`, `##`, `/` … and empty where there is none.
    pub op: String,
    /// What follows the operator.
    pub word: Vec<Part>,
}

/// The body of a heredoc.
#[derive(Clone, Debug, Default)]
pub struct Heredoc {
    /// As the command reads it.
    pub parts: Vec<Part>,
    /// Where it stands.
    pub span: Span,
}
