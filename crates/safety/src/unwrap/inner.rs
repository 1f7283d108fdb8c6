//! A command found inside another one.

use std::collections::HashMap;

use crate::level::Confidence;
use crate::value::{Piece, Value};

/// Wrappers that the host names, by name.
pub type CustomWrappers = HashMap<String, WrapperKind>;

/// How a program runs another command; also how hosts name wrappers of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrapperKind {
    /// The words after its options are the command: `sudo`, `env`, `nice`.
    ExecRest,
    /// A word is a script: `bash -c`, `eval`, `trap`.
    ShellString,
    /// A script comes on its standard input: `bash`, `ssh host`.
    StdinScript,
    /// The words are the beginning of a command that is run for each item: `xargs`, `find -exec`.
    PerItem,
}

/// A command that another one runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InnerCommand {
    /// Another command: its words are `argv[from..to]` of this one.
    Words {
        /// Its first word.
        from: usize,
        /// Behind its last word.
        to: usize,
        /// Variables set for it (`env A=1 cmd`).
        assignments: Vec<(String, Value)>,
        /// The directory that it runs in, if it differs (`env -C DIR`, `sudo -D DIR`), as written: relative to the
        /// directory of this command.
        cwd: Option<Value>,
        /// Words that are added at its end: the items of `xargs`, as far as they are known.
        items: Vec<Value>,
        /// `sudo`, `xargs`, `find -exec` …
        via: String,
        /// Whether exactly these words run.
        confidence: Confidence,
        /// Whether the command replaces the wrapper, whose words are then its `prefix` (`sudo` and `env`, not `xargs`).
        prefix: bool,
        /// Whether it runs on another machine or in a container, with other directories and variables.
        elsewhere: bool,
        /// Whether it reads the input of this command.
        stdin: bool,
    },
    /// A command made of other words: from a program's text, or from the arguments of a call in it.
    Argv {
        /// Its words.
        argv: Vec<Value>,
        /// `python -c`, `find -delete` …
        via: String,
        /// How sure it is that this is what runs.
        confidence: Confidence,
        /// As in `Words`.
        cwd: Option<Value>,
        /// As in `Words`.
        elsewhere: bool,
        /// As in `Words`.
        stdin: bool,
    },
    /// A script for the shell.
    Script {
        /// Its text.
        text: Value,
        /// Its positional parameters, `$0` first.
        args: Vec<Value>,
        /// `bash -c`, `eval`, `heredoc` …
        via: String,
        /// How sure it is that this is what runs.
        confidence: Confidence,
        /// Whether it runs in the shell of the command (`eval`, `source`, `trap`), whose variables and directory it
        /// sets.
        same_shell: bool,
        /// As in `Words`.
        elsewhere: bool,
        /// As in `Words`; not where the script itself is read from there.
        stdin: bool,
    },
    /// Something runs that cannot be seen: `curl … | sh`.
    Opaque {
        /// `bash`, `eval` …
        via: String,
    },
}

/// Whether nothing of a script or program is known.
pub(super) fn is_opaque(text: &Value) -> bool {
    let nothing = |piece: &Piece| match piece {
        Piece::Text(text) => text.trim().is_empty(),
        piece => matches!(piece, Piece::Unknown(_)),
    };
    text.has_unknown() && text.pieces().iter().all(nothing)
}

impl InnerCommand {
    /// Whether this certainly is the wrapper's own process, with the wrapper's words as its prefix.
    pub fn replaces_wrapper(&self) -> bool {
        matches!(self, Self::Words { prefix: true, confidence: Confidence::Exact, .. })
    }

    /// Words of the command, in the same process.
    pub(super) fn words(from: usize, to: usize, via: impl Into<String>) -> Self {
        Self::Words {
            from,
            to,
            assignments: Vec::new(),
            cwd: None,
            items: Vec::new(),
            via: via.into(),
            confidence: Confidence::Exact,
            prefix: true,
            elsewhere: false,
            stdin: true,
        }
    }

    /// The same command without input of its own.
    pub(super) fn without_stdin(mut self) -> Self {
        match &mut self {
            Self::Words { stdin, .. } | Self::Argv { stdin, .. } | Self::Script { stdin, .. } => *stdin = false,
            Self::Opaque { .. } => {}
        }
        self
    }

    /// The same command, perhaps on another machine or in a container.
    pub(super) fn elsewhere(mut self, remote: bool) -> Self {
        match &mut self {
            Self::Words { elsewhere, .. } | Self::Argv { elsewhere, .. } | Self::Script { elsewhere, .. } => {
                *elsewhere = remote;
            }
            Self::Opaque { .. } => {}
        }
        self
    }

    /// A command that is put together.
    pub(super) fn argv(argv: Vec<Value>, via: impl Into<String>) -> Self {
        Self::Argv { argv, via: via.into(), confidence: Confidence::Exact, cwd: None, elsewhere: false, stdin: true }
    }

    /// A script in a shell of its own; opaque where nothing of it is known. None where it is empty.
    pub(super) fn script(text: Value, via: impl Into<String>) -> Option<Self> {
        if text.known().is_some_and(|text| text.trim().is_empty()) {
            return None;
        }
        let via = via.into();
        if is_opaque(&text) {
            return Some(Self::Opaque { via });
        }
        Some(Self::Script {
            text,
            args: Vec::new(),
            via,
            confidence: Confidence::Exact,
            same_shell: false,
            elsewhere: false,
            stdin: true,
        })
    }
}
