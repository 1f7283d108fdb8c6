//! One simple command as rules check it, with its words expanded and its wrappers taken off, and its surroundings.

use super::word_value::{ValueContents, WordValue};

/// One simple command.
#[derive(Clone, Copy, Debug)]
pub struct SimpleCommandView<'a> {
    /// The words, the program first. Empty for assignments or redirects alone.
    pub argv: &'a [WordValue],
    /// `NAME=value` before the program.
    pub assignments: &'a [(String, WordValue)],
    /// The redirects of the command and of the groups around it.
    pub redirects: &'a [ExpandedRedirect],
    /// The directory that the command runs in, absolute as far as it is known.
    pub cwd: &'a WordValue,
    /// The standard input.
    pub input: &'a CommandStdin,
    /// The chain of wrappers and scripts that leads to the command.
    pub via: &'a [String],
    /// The directories of the whole command.
    pub directories: &'a CommandDirectories,
}

impl<'a> SimpleCommandView<'a> {
    /// Returns the basename of the program. `None` if the program is not known or missing. For a package, the whole
    /// name without the version: `npx prisma@5`, `npx @changesets/cli`.
    pub fn name(&self) -> Option<&'a str> {
        let program = self.argv.first()?;
        let package = program.known().filter(|text| text.starts_with('@') && text.matches('/').count() == 1);
        let name = package.or_else(|| program.base_name()).filter(|name| !name.is_empty())?;
        match name.rfind('@') {
            Some(at) if at > 0 => Some(&name[..at]),
            _ => Some(name),
        }
    }

    /// Makes a command of these words alone.
    pub fn of_words(argv: &'a [WordValue], cwd: &'a WordValue, directories: &'a CommandDirectories) -> Self {
        Self { argv, assignments: &[], redirects: &[], cwd, input: &CommandStdin::Inherited, via: &[], directories }
    }

    /// Returns the words behind the program.
    pub fn args(&self) -> &'a [WordValue] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// One redirect.
#[derive(Clone, Debug)]
pub struct ExpandedRedirect {
    /// The operator: `>`, `>>`, `>|`, `<`, `<>`, `&>`, `&>>`, `>&`, `<&`, `<<`, `<<-`, `<<<`.
    pub op: String,
    /// The descriptor, if one is written.
    pub fd: Option<u32>,
    /// The file, descriptor, here-string or the delimiter of a heredoc.
    pub target: WordValue,
    /// The source of the target.
    pub source: String,
    /// The directory that a relative target is resolved against.
    pub cwd: WordValue,
}

impl ExpandedRedirect {
    /// Returns whether the redirect writes a file. `2>&1` only duplicates a descriptor.
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

    /// Returns whether the standard input comes from a file or another descriptor.
    pub fn gives_input(&self) -> bool {
        matches!(self.op.as_str(), "<" | "<&" | "<>") && self.fd.is_none_or(|fd| fd == 0)
    }

    /// Returns whether the redirect takes the standard output into a file.
    pub fn takes_output(&self) -> bool {
        self.writes_file() && self.fd.is_none_or(|fd| fd == 1)
    }
}

/// The standard input of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum CommandStdin {
    /// The standard input of the whole command.
    #[default]
    Inherited,
    /// A text, and its source.
    Text(WordValue, StdinTextSource),
    /// Input that cannot be known: a file, or the output of a program.
    Opaque {
        /// The name of the program, if it is known.
        program: Option<String>,
        /// The contents of the input, as far as they are known.
        contents: Option<ValueContents>,
    },
}

impl CommandStdin {
    /// Returns the text of the input, if it is known.
    pub fn text(&self) -> Option<&WordValue> {
        match self {
            Self::Text(text, _) => Some(text),
            Self::Inherited | Self::Opaque { .. } => None,
        }
    }

    /// Returns the contents of the input, as far as they are known.
    pub fn contents(&self) -> Option<&ValueContents> {
        match self {
            Self::Inherited => None,
            Self::Text(text, _) => text.contents(),
            Self::Opaque { contents, .. } => contents.as_ref(),
        }
    }
}

/// The source of a text on standard input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StdinTextSource {
    /// `<<EOF`
    Heredoc,
    /// `<<< text`
    HereString,
    /// `echo text |`
    #[default]
    Pipe,
}

impl StdinTextSource {
    /// Returns the name of the source in a chain of wrappers and scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Heredoc => "heredoc",
            Self::HereString => "here-string",
            Self::Pipe => "pipe",
        }
    }
}

/// The directories of a command.
#[derive(Clone, Debug, Default)]
pub struct CommandDirectories {
    /// The directory that the whole command starts in, absolute and normalized.
    pub cwd: String,
    /// The user's home, absolute and normalized.
    pub home: String,
    /// Directories for temporary files, absolute and normalized: `/tmp`, `/var/tmp`, `TMPDIR` …
    pub temp: Vec<String>,
    /// The only places that a confinement lets the command change, absolute and normalized. `None`: no confinement.
    pub writable: Option<Vec<String>>,
}

/// The state of a shell before its command.
#[derive(Clone, Copy, Debug, Default)]
pub struct InitialShellState<'a> {
    /// The code that restores the state in a fresh shell. Empty for a fresh shell.
    pub code: &'a str,
    /// Variables of this command alone. `None` removes the variable.
    pub overrides: &'a [(String, Option<String>)],
}
