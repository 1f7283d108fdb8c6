//! The parts of a program.

/// A part of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InlineStringPart {
    /// Literal text.
    Text(String),
    /// Code that is computed.
    Code(String),
}

/// The use of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InlineStringUse {
    /// A value.
    Text,
    /// A template: a value, unless a name precedes it.
    Template,
    /// Run as a script: backquotes, `%x()`, `qx()`.
    Run,
}

/// A part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InlineToken {
    /// A name, a keyword or a number.
    Word(String),
    /// A string.
    Text(Vec<InlineStringPart>, InlineStringUse),
    /// `%w(a b)`, `qw(a b)`
    List(Vec<String>),
    /// A sign. `->`, `=>`, `==`, `::`, `..`, `<>` and the like are one sign each.
    Sign(&'static str),
    /// The end of a line that may end a statement.
    Line,
}

impl InlineToken {
    /// Returns whether the token is this sign.
    pub(super) fn is(&self, sign: &str) -> bool {
        matches!(self, Self::Sign(own) if *own == sign)
    }

    /// Returns the name, if the token is a name.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// Signs of more than one character, longest first.
pub(super) static LONG_SIGNS: &[&str] = &[
    "===", "!==", "...", "<=>", "**=", "||=", "&&=", "->", "=>", "==", "!=", "<=", ">=", "=~", "!~", "::", "..", "+=",
    "-=", "*=", "/=", ".=", "|=", "?.", "&&", "||", "<<", ">>", "|&", "++", "--", ":=",
];

/// Signs of one character.
pub(super) static SIGNS: &[&str] = &[
    "(", ")", "[", "]", "{", "}", ".", ",", ";", ":", "=", "+", "-", "*", "/", "%", "<", ">", "!", "?", "&", "|", "^",
    "~", "@", "$", "\\", "#", "'", "`",
];
