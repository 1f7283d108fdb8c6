//! The record of one wrapper.

use crate::options::OptionSpec;

/// The kind of the words after a wrapper's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A command.
    Rest,
    /// A script once they are joined with blanks.
    Joined,
    /// Each of them a script.
    Each,
}

/// The meaning of `--` among its words, or of another mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dashes {
    /// That its options end.
    End,
    /// That the command begins; it may do so without one.
    Begin,
    /// That the command begins; without one there is none.
    Need,
}

/// When it starts a shell that reads its standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login {
    /// Never.
    Never,
    /// If no command is given.
    Alone,
    /// If no command is given, with one of these options.
    With(&'static str),
}

/// One wrapper, or one subcommand of a program that runs commands.
#[derive(Clone, Copy, Debug)]
pub struct Wrapper {
    /// The subcommands that it is about: `exec, compose exec`. Empty for the program itself.
    pub sub: &'static str,
    /// The options of that subcommand, or of the program itself.
    pub spec: OptionSpec,
    /// The kind of the words that follow its options.
    pub form: Form,
    /// The number of operands before the command.
    pub operands: usize,
    /// Whether `NAME=value` may precede the command.
    pub assignments: bool,
    /// Whether options may also stand behind these.
    pub again: bool,
    /// The meaning of its mark.
    pub dashes: Dashes,
    /// Its marks: `--`, or options that the command stands behind.
    pub marks: &'static str,
    /// Options that change the directory.
    pub chdir: &'static str,
    /// Options whose value is a script.
    pub script: &'static str,
    /// Options with which it runs nothing.
    pub stop: &'static str,
    /// Options that turn `Rest` into `Joined`, and the other way round.
    pub switch: &'static str,
    /// Whether it starts a shell.
    pub login: Login,
    /// Whether a single word is a whole command line.
    pub line: bool,
    /// Whether the command runs on another machine or in a container.
    pub elsewhere: bool,
    /// Whether the command takes its place, so that the wrapper's words are a prefix.
    pub prefix: bool,
}

impl Wrapper {
    /// A wrapper whose words are a command: `nohup COMMAND…`.
    pub const PLAIN: Self = Self {
        sub: "",
        spec: OptionSpec::NONE,
        form: Form::Rest,
        operands: 0,
        assignments: false,
        again: false,
        dashes: Dashes::End,
        marks: "--",
        chdir: "",
        script: "",
        stop: "",
        switch: "",
        login: Login::Never,
        line: false,
        elsewhere: false,
        prefix: true,
    };
}
