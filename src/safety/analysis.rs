//! What is said of a command: the shapes of the public contract.

use serde::{Deserialize, Serialize};

use super::level::{Confidence, Verdict};

/// All that is said of a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Analysis {
    /// As it was given.
    pub command: String,
    /// The folder that it starts in.
    pub cwd: String,
    /// The strictest of the findings' levels.
    pub verdict: Verdict,
    /// Everything in it was read and followed.
    pub complete: bool,
    /// Whether it only reads.
    pub read_only: ReadOnly,
    /// What rules found, the strictest first.
    pub findings: Vec<Finding>,
    /// Every simple command in it.
    pub commands: Vec<CommandUnit>,
}

/// Whether a command only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadOnly {
    /// It does.
    Yes,
    /// It may not.
    Unknown,
    /// It does not.
    No,
}

/// What a rule found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule.
    pub rule_id: String,
    /// What it comes to.
    pub level: Verdict,
    /// How sure it is.
    pub confidence: Confidence,
    /// Half-open, UTF-16 units of the command.
    pub span: (usize, usize),
    /// The words of the command in question.
    pub argv: Vec<String>,
    /// The chain that it came through.
    pub via: Vec<String>,
    /// For people and models.
    pub message: String,
    /// A command to use instead, or nothing.
    pub suggestion: String,
}

/// A simple command.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandUnit {
    /// Basename of the head; null where it is not known.
    pub name: Option<String>,
    /// The head as it is written.
    pub path: Option<String>,
    /// Its words, the head first.
    pub argv: Vec<Word>,
    /// Words of wrappers before it in the same command.
    pub prefix: Vec<String>,
    /// `NAME=value` as they are written.
    pub assignments: Vec<String>,
    /// Its redirects, and those of the groups that it is in.
    pub redirects: Vec<RedirectUnit>,
    /// The folder that it runs in; null where that is not known.
    pub cwd: Option<String>,
    /// The chain that it came through.
    pub via: Vec<String>,
    /// Half-open, UTF-16 units of the command; of nested code, its outer word's.
    pub span: (usize, usize),
    /// As it is written.
    pub source: String,
    /// It only runs other commands, all of which are listed.
    pub wrapper: bool,
}

/// A redirect.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RedirectUnit {
    /// As it is written.
    pub op: String,
    /// The descriptor, where one is written.
    pub fd: Option<u32>,
    /// What follows.
    pub target: Word,
    /// The file, absolute; null where it is none or not known.
    pub path: Option<String>,
}

/// A word.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Word {
    /// Its value, or as it is written.
    pub text: String,
    /// Whether it is its value.
    pub known: bool,
}

impl RedirectUnit {
    /// The file that it writes: `None` where it writes none, `Some(None)` where which one is not known.
    pub fn writes(&self) -> Option<Option<&str>> {
        let writes = match self.op.as_str() {
            ">" | ">>" | ">|" | "&>" | "&>>" | "<>" => true,
            ">&" => self.path.is_some() || !self.target.known,
            _ => false,
        };
        writes.then_some(self.path.as_deref())
    }
}
