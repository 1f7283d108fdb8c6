//! The record of one wrapper.

use crate::options::OptionSpec;

/// The kind of the words after a wrapper's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrappedCommandForm {
    /// A command.
    Rest,
    /// One script: the words joined with blanks.
    Joined,
    /// Scripts: each word is a script.
    Each,
}

/// The meaning of `--` or another mark among the wrapper's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandMarkMeaning {
    /// The wrapper's options end.
    End,
    /// The command begins. A command may also begin without the mark.
    Begin,
    /// The command begins. Without the mark there is no command.
    Need,
}

/// The condition under which the wrapper starts a shell that reads the standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginShellCondition {
    /// Never.
    Never,
    /// If no command is given.
    Alone,
    /// If no command is given, but one of these options is.
    With(&'static str),
}

/// One wrapper, or one subcommand of a program that runs commands.
#[derive(Clone, Copy, Debug)]
pub struct WrapperSpec {
    /// The subcommands that the record describes: `exec, compose exec`. Empty for the program itself.
    pub sub: &'static str,
    /// The options of that subcommand, or of the program itself.
    pub spec: OptionSpec,
    /// The kind of the words behind the options.
    pub form: WrappedCommandForm,
    /// The number of operands before the command.
    pub operands: usize,
    /// Whether `NAME=value` may precede the command.
    pub assignments: bool,
    /// Whether options may also follow the assignments and operands.
    pub again: bool,
    /// The meaning of the mark.
    pub dashes: CommandMarkMeaning,
    /// The marks: `--`, or options that precede the command.
    pub marks: &'static str,
    /// Options that change the directory.
    pub chdir: &'static str,
    /// Options whose value is a script.
    pub script: &'static str,
    /// Options with which the wrapper runs nothing.
    pub stop: &'static str,
    /// Options that turn `Rest` into `Joined` and vice versa.
    pub switch: &'static str,
    /// Whether the wrapper starts a shell.
    pub login: LoginShellCondition,
    /// Whether a single word is a whole command line.
    pub line: bool,
    /// Whether the command runs on another machine or in a container.
    pub elsewhere: bool,
    /// Whether the command replaces the wrapper, so that the wrapper's words are a prefix.
    pub prefix: bool,
}

impl WrapperSpec {
    /// A wrapper whose words are a command: `nohup COMMAND…`.
    pub const PLAIN: Self = Self {
        sub: "",
        spec: OptionSpec::NONE,
        form: WrappedCommandForm::Rest,
        operands: 0,
        assignments: false,
        again: false,
        dashes: CommandMarkMeaning::End,
        marks: "--",
        chdir: "",
        script: "",
        stop: "",
        switch: "",
        login: LoginShellCondition::Never,
        line: false,
        elsewhere: false,
        prefix: true,
    };
}
