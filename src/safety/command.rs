//! One simple command, as rules see it: every word expanded, wrappers taken off.

use super::value::Value;

/// One simple command.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Its words, the head first. Empty where it is only assignments or redirects.
    pub argv: &'a [Value],
    /// `NAME=value` in front of it.
    pub assignments: &'a [(String, Value)],
    /// Its redirects, those of a group around it included.
    pub redirects: &'a [Redirect],
    /// The folder that it runs in, absolute as far as it is known.
    pub cwd: &'a Value,
    /// Where all of it happens.
    pub scene: &'a Scene,
}

impl<'a> Command<'a> {
    /// The name of the program without its folder; `None` where it is not known or there is none.
    pub fn name(&self) -> Option<&'a str> {
        self.argv.first().and_then(Value::base_name).filter(|name| !name.is_empty())
    }

    /// The words after the head.
    pub fn args(&self) -> &'a [Value] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// One redirect.
#[derive(Clone, Debug)]
pub struct Redirect {
    /// As it is written: `>`, `>>`, `>|`, `<`, `<>`, `&>`, `&>>`, `>&`, `<&`, `<<`, `<<-`, `<<<`.
    pub op: String,
    /// The descriptor, where one is written.
    pub fd: Option<u32>,
    /// File, descriptor, here-string or the delimiter of a heredoc.
    pub target: Value,
    /// The target as it is written.
    pub source: String,
    /// The folder that a relative target is resolved against.
    pub cwd: Value,
}

impl Redirect {
    /// Whether a file is written (and not only a descriptor doubled).
    pub fn writes_file(&self) -> bool {
        match self.op.as_str() {
            ">" | ">>" | ">|" | "&>" | "&>>" | "<>" => true,
            ">&" => !self
                .target
                .known()
                .is_some_and(|text| text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit())),
            _ => false,
        }
    }
}

/// What a command reads on its standard input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// What the script itself reads.
    #[default]
    Inherited,
    /// This text, and where it comes from.
    Text(Value, Source),
    /// What cannot be known: another program's output, a file. With that program's name, where it is known.
    Opaque(Option<String>),
}

/// Where a text on standard input comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// `<<EOF`
    Heredoc,
    /// `<<< text`
    HereString,
    /// `echo text |`
    #[default]
    Pipe,
}

impl Source {
    /// As a chain of nesting names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heredoc => "heredoc",
            Self::HereString => "here-string",
            Self::Pipe => "pipe",
        }
    }
}

/// Where a command is run.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    /// The folder that the whole command starts in, absolute and normalised.
    pub cwd: String,
    /// The user's home, absolute and normalised.
    pub home: String,
    /// Folders for temporary files, absolute and normalised: `/tmp`, `/var/tmp`, `TMPDIR` …
    pub temp: Vec<String>,
}
