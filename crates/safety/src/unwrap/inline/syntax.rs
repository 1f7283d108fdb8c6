//! How programming languages write strings, names and comments, as data.

/// Computed parts of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringInterpolation {
    /// Nothing.
    Text,
    /// `#{code}`
    Hash,
    /// `$name`, `${name}`, `$name{key}`
    Dollar,
}

/// The meaning of backquotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BackquoteMeaning {
    /// Nothing: the language has none.
    None,
    /// A script that is run.
    Script,
    /// A string with `${code}`.
    Template,
}

/// A language's signs.
#[derive(Clone, Copy, Debug)]
pub(super) struct InlineSyntax {
    /// Prefixes of a comment that ends with the line.
    pub(super) comments: &'static [&'static str],
    /// The beginning and the end of a longer comment.
    pub(super) block: Option<(&'static str, &'static str)>,
    /// Whether `'` begins a string.
    pub(super) single: bool,
    /// Whether backslashes escape in a `'` string as in others.
    pub(super) single_escapes: bool,
    /// The computed parts of `"` strings.
    pub(super) inside: StringInterpolation,
    /// The meaning of backquotes.
    pub(super) backquote: BackquoteMeaning,
    /// Whether strings may have Python's `"""` and prefix letters.
    pub(super) python: bool,
    /// Perl's `q() qq() qw() qx() m() s() tr()`.
    pub(super) perl: bool,
    /// Ruby's `%w() %q() %x()`.
    pub(super) percent: bool,
    /// Lua's `[[…]]`.
    pub(super) long_brackets: bool,
    /// Whether `/…/` may be a pattern.
    pub(super) patterns: bool,
    /// Signs that a name may begin with.
    pub(super) sigils: &'static str,
    /// Operators that join strings.
    pub(super) joins: &'static [&'static str],
    /// Whether adjacent strings are joined.
    pub(super) adjacent: bool,
    /// Whether calls may have no parentheses.
    pub(super) bare_calls: bool,
}

const BASE: InlineSyntax = InlineSyntax {
    comments: &["#"],
    block: None,
    single: true,
    single_escapes: true,
    inside: StringInterpolation::Text,
    backquote: BackquoteMeaning::None,
    python: false,
    perl: false,
    percent: false,
    long_brackets: false,
    patterns: false,
    sigils: "",
    joins: &["+"],
    adjacent: false,
    bare_calls: false,
};

pub(super) static PYTHON: InlineSyntax = InlineSyntax { python: true, adjacent: true, ..BASE };
pub(super) static RUBY: InlineSyntax = InlineSyntax {
    single_escapes: false,
    inside: StringInterpolation::Hash,
    backquote: BackquoteMeaning::Script,
    percent: true,
    patterns: true,
    sigils: "$@",
    adjacent: true,
    bare_calls: true,
    ..BASE
};
pub(super) static PERL: InlineSyntax = InlineSyntax {
    single_escapes: false,
    inside: StringInterpolation::Dollar,
    backquote: BackquoteMeaning::Script,
    perl: true,
    patterns: true,
    sigils: "$@%&",
    joins: &["."],
    bare_calls: true,
    ..BASE
};
pub(super) static JAVASCRIPT: InlineSyntax = InlineSyntax {
    comments: &["//"],
    block: Some(("/*", "*/")),
    backquote: BackquoteMeaning::Template,
    patterns: true,
    sigils: "$",
    ..BASE
};
pub(super) static PHP: InlineSyntax = InlineSyntax {
    comments: &["//", "#"],
    block: Some(("/*", "*/")),
    single_escapes: false,
    inside: StringInterpolation::Dollar,
    backquote: BackquoteMeaning::Script,
    sigils: "$",
    joins: &["."],
    ..BASE
};
pub(super) static LUA: InlineSyntax = InlineSyntax {
    comments: &["--"],
    block: Some(("--[[", "]]")),
    long_brackets: true,
    joins: &[".."],
    bare_calls: true,
    ..BASE
};
pub(super) static AWK: InlineSyntax =
    InlineSyntax { single: false, patterns: true, joins: &[], adjacent: true, ..BASE };
