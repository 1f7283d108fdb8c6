//! A command found inside another one.

use std::collections::HashMap;

use crate::verdict::AnalysisConfidence;
use crate::word_value::{ValuePiece, WordValue};

/// Wrappers that the host names, by name.
pub type CustomWrappers = HashMap<String, WrapperKind>;

/// How a program runs another command. Hosts also use it to name their own wrappers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WrapperKind {
    /// The words after the wrapper's options are the command: `sudo`, `env`, `nice`.
    ExecRest,
    /// A word is a script: `bash -c`, `eval`, `trap`.
    ShellString,
    /// A script comes on the standard input: `bash`, `ssh host`.
    StdinScript,
    /// The words are the beginning of a command that runs for each item: `xargs`, `find -exec`.
    PerItem,
}

/// A command that another command runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InnerCommand {
    /// Another command. Its words are `argv[from..to]` of the outer command.
    Words {
        /// Index of the first word.
        from: usize,
        /// Index behind the last word.
        to: usize,
        /// Variables set for the command (`env A=1 cmd`).
        assignments: Vec<(String, WordValue)>,
        /// The directory that the command runs in, if it differs (`env -C DIR`, `sudo -D DIR`), as written: relative to
        /// the directory of the outer command.
        cwd: Option<WordValue>,
        /// Words that are added at the end: the items of `xargs`, as far as they are known.
        items: Vec<WordValue>,
        /// `sudo`, `xargs`, `find -exec` …
        via: String,
        /// Whether exactly these words run.
        confidence: AnalysisConfidence,
        /// Whether the command replaces the wrapper, whose words are then its `prefix` (`sudo` and `env`, not `xargs`).
        prefix: bool,
        /// Whether the command runs on another machine or in a container, with other directories and variables.
        elsewhere: bool,
        /// Whether the command reads the input of the outer command.
        stdin: bool,
    },
    /// A command made of other words: from a program's text, or from the arguments of a call in it.
    Argv {
        /// The words.
        argv: Vec<WordValue>,
        /// `python -c`, `find -delete` …
        via: String,
        /// How sure it is that this command runs.
        confidence: AnalysisConfidence,
        /// As in `Words`.
        cwd: Option<WordValue>,
        /// As in `Words`.
        elsewhere: bool,
        /// As in `Words`.
        stdin: bool,
    },
    /// A script for the shell.
    Script {
        /// The text.
        text: WordValue,
        /// The positional parameters, `$0` first.
        args: Vec<WordValue>,
        /// `bash -c`, `eval`, `heredoc` …
        via: String,
        /// How sure it is that this script runs.
        confidence: AnalysisConfidence,
        /// Whether the script runs in the shell of the command (`eval`, `source`, `trap`), and so sets the variables
        /// and the directory of this shell.
        same_shell: bool,
        /// As in `Words`.
        elsewhere: bool,
        /// As in `Words`. False if the script itself is read from the input.
        stdin: bool,
    },
    /// Something runs that cannot be seen: `curl … | sh`.
    Opaque {
        /// `bash`, `eval` …
        via: String,
    },
}

/// Returns whether nothing is known about a script or program.
pub(super) fn is_opaque(text: &WordValue) -> bool {
    let nothing = |piece: &ValuePiece| match piece {
        ValuePiece::Text(text) => text.trim().is_empty(),
        piece => matches!(piece, ValuePiece::Unknown(_)),
    };
    text.has_unknown() && text.pieces().iter().all(nothing)
}

impl InnerCommand {
    /// Returns whether the command certainly replaces the wrapper's process, with the wrapper's words as its prefix.
    pub fn replaces_wrapper(&self) -> bool {
        matches!(self, Self::Words { prefix: true, confidence: AnalysisConfidence::Exact, .. })
    }

    /// Makes a command of words of the outer command, in the same process.
    pub(super) fn words(from: usize, to: usize, via: impl Into<String>) -> Self {
        Self::Words {
            from,
            to,
            assignments: Vec::new(),
            cwd: None,
            items: Vec::new(),
            via: via.into(),
            confidence: AnalysisConfidence::Exact,
            prefix: true,
            elsewhere: false,
            stdin: true,
        }
    }

    /// Takes away the input.
    pub(super) fn without_stdin(mut self) -> Self {
        match &mut self {
            Self::Words { stdin, .. } | Self::Argv { stdin, .. } | Self::Script { stdin, .. } => *stdin = false,
            Self::Opaque { .. } => {}
        }
        self
    }

    /// Sets whether the command runs on another machine or in a container.
    pub(super) fn elsewhere(mut self, remote: bool) -> Self {
        match &mut self {
            Self::Words { elsewhere, .. } | Self::Argv { elsewhere, .. } | Self::Script { elsewhere, .. } => {
                *elsewhere = remote;
            }
            Self::Opaque { .. } => {}
        }
        self
    }

    /// Makes a command of other words.
    pub(super) fn argv(argv: Vec<WordValue>, via: impl Into<String>) -> Self {
        Self::Argv {
            argv,
            via: via.into(),
            confidence: AnalysisConfidence::Exact,
            cwd: None,
            elsewhere: false,
            stdin: true,
        }
    }

    /// Makes a script in a shell of its own. Opaque if nothing is known about the script. `None` if the script is
    /// empty.
    pub(super) fn script(text: WordValue, via: impl Into<String>) -> Option<Self> {
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
            confidence: AnalysisConfidence::Exact,
            same_shell: false,
            elsewhere: false,
            stdin: true,
        })
    }
}
