//! The analysis of a command, as JavaScript gets it.

use serde::{Deserialize, Serialize};

use super::verdict::{AnalysisConfidence, SafetyVerdict};
use super::word_value::WordValue;

/// The analysis of a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandAnalysis {
    /// The command as it was given.
    pub command: String,
    /// The directory that the command starts in.
    pub cwd: String,
    /// The strictest level of the findings.
    pub verdict: SafetyVerdict,
    /// Whether all of the command was read and evaluated.
    pub complete: bool,
    /// Whether the command only reads.
    pub read_only: ReadOnly,
    /// The findings of the rules, the strictest first.
    pub findings: Vec<RuleFinding>,
    /// Every simple command in the command.
    pub commands: Vec<CommandUnit>,
}

/// Whether a command only reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadOnly {
    /// The command only reads.
    Yes,
    /// The command may change something.
    #[default]
    Unknown,
    /// The command changes something.
    No,
}

impl ReadOnly {
    /// Returns the value in the public type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Unknown => "unknown",
            Self::No => "no",
        }
    }
}

/// A finding of a rule.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleFinding {
    /// The id of the rule.
    pub rule_id: String,
    /// The level of the rule, or a lower one if the finding is not exact.
    pub level: SafetyVerdict,
    /// How sure the finding is.
    pub confidence: AnalysisConfidence,
    /// Place in the command: half-open, in UTF-16 units.
    pub span: (usize, usize),
    /// The words of the simple command.
    pub argv: Vec<String>,
    /// The chain of wrappers and scripts that leads to the simple command.
    pub via: Vec<String>,
    /// A sentence for people and models.
    pub message: String,
    /// A command to use instead, or an empty string.
    pub suggestion: String,
}

/// A simple command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandUnit {
    /// The basename of the program. Null if the program is not known.
    pub name: Option<String>,
    /// The program with its path, or its source if it is not known.
    pub path: Option<String>,
    /// The words, the program first.
    pub argv: Vec<AnalyzedWord>,
    /// The words of wrappers before the program in the same command.
    pub prefix: Vec<String>,
    /// The source of each `NAME=value` before the program.
    pub assignments: Vec<String>,
    /// The redirects of the command and of the groups around it.
    pub redirects: Vec<RedirectUnit>,
    /// The directory that the command runs in. Null if it is not known.
    pub cwd: Option<String>,
    /// The chain of wrappers and scripts that leads to the command.
    pub via: Vec<String>,
    /// Place in the command: half-open, in UTF-16 units. For nested code, the place of the word that holds it.
    pub span: (usize, usize),
    /// The source.
    pub source: String,
    /// Whether the command only runs other commands, all of which are listed.
    pub wrapper: bool,
    /// Whether the command only reads.
    #[serde(default)]
    pub read_only: ReadOnly,
}

/// A redirect.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RedirectUnit {
    /// The source.
    pub op: String,
    /// The descriptor, if one is written.
    pub fd: Option<u32>,
    /// The file, descriptor, here-string or delimiter.
    pub target: AnalyzedWord,
    /// The absolute path of the file. Null if it is not a file or not known.
    pub path: Option<String>,
}

/// A word.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AnalyzedWord {
    /// The word's value, or its source if the value is not known. Of a word that may have several values, one of them.
    pub text: String,
    /// Whether `text` is the value.
    pub known: bool,
}

impl AnalyzedWord {
    /// Returns the value of the word.
    pub fn value(&self) -> WordValue {
        if self.known { WordValue::of(self.text.as_str()) } else { WordValue::unknown() }
    }
}

impl RedirectUnit {
    /// Returns whether the redirect writes a file: `path`, or a file that is not known.
    pub fn writes_file(&self) -> bool {
        match self.op.as_str() {
            ">" | ">>" | ">|" | "&>" | "&>>" | "<>" => true,
            ">&" => self.path.is_some() || !self.target.known,
            _ => false,
        }
    }
}
