//! The shapes in which the host's socket describes what lives in this process. `ended` has those of an end.

use serde::{Deserialize, Serialize};

use ledger::Actor;

/// What a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// A plain command.
    Command,
    /// A task of a registry.
    Task,
    /// A command of a session.
    Session,
    /// A command in a terminal.
    Terminal,
}

/// Whether a run goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LiveRunState {
    /// It does.
    Running,
    /// It waits for a person, see [`RunDescription::waiting`].
    Waiting,
}

/// Why a run waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunWaitReason {
    /// It asks something.
    Prompt,
    /// One of its processes was stopped by a signal.
    Stopped,
    /// It reads input that no process gives.
    Input,
}

/// What a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunWait {
    #[expect(missing_docs, reason = "see its type")]
    pub why: RunWaitReason,
    /// The line that asks, or a sentence that names the process.
    pub text: String,
}

impl RunWait {
    /// Returns the reason with its words.
    pub fn new(why: RunWaitReason, text: impl Into<String>) -> Self {
        Self { why, text: text.into() }
    }
}

/// A port that a run serves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ServedPort {
    /// The number.
    pub port: u16,
    /// The address of the listening socket. An unspecified one stands for every address of the host.
    pub address: String,
}

/// A run that goes on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunDescription {
    /// Names it among all of this process. A task has its id.
    pub key: String,
    /// `BashResult.runId`
    pub run_id: String,
    #[expect(missing_docs, reason = "see its type")]
    pub kind: RunKind,
    /// Without its secrets, at most [`COMMAND`] bytes.
    pub command: String,
    /// The directory that it started in.
    pub cwd: String,
    /// The id of the target that runs it. `None`: it runs on this machine.
    pub target: Option<String>,
    /// Who asked for it.
    pub actor: Option<Actor>,
    /// Unix time, ms.
    pub started_at: u64,
    #[expect(missing_docs, reason = "see its type")]
    pub state: LiveRunState,
    /// `None`: it goes on by itself.
    pub waiting: Option<RunWait>,
    /// The last line that is not blank, the unfinished one included.
    pub last_line: String,
    /// The time limit from the start, ms, at which a command with a registry becomes a task. `None`: there is none.
    pub limit_ms: Option<u64>,
    /// The limit on silence, ms.
    pub idle_ms: Option<u64>,
    /// The profile of its confinement. `None`: it is not confined.
    pub confinement: Option<&'static str>,
    /// Columns and rows of its terminal.
    pub size: Option<[u16; 2]>,
    /// Number of living processes. `None`: they were not counted yet, or are those of a target.
    pub processes: Option<u64>,
    /// Processor time of its processes, ms. `None`: it is not known.
    pub cpu_ms: Option<u64>,
    /// Memory that its processes use, bytes. `None`: it is not known.
    pub memory: Option<u64>,
    /// The shell. `None` before its start, and on a target.
    pub pid: Option<i32>,
    /// The task that it is.
    pub task_id: Option<String>,
    /// The ports that it serves.
    pub ports: Vec<ServedPort>,
    /// Whether it is recorded for an undo.
    pub undo: bool,
    /// Whether it takes input of a person.
    pub stdin: bool,
}

/// How far an undo would take a command back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UndoCover {
    /// All of it.
    Full,
    /// A part of it.
    Part,
    /// Nothing of it.
    None,
}

/// A question about a command that has not started.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRequest {
    /// Names it among all of this process.
    pub key: String,
    /// Without its secrets, at most [`COMMAND`] bytes.
    pub command: String,
    /// The directory that it would start in.
    pub cwd: String,
    /// Who asks.
    pub actor: Option<Actor>,
    /// The verdict of the safety engine and the rules.
    pub verdict: String,
    /// The rules behind it.
    pub rules: Vec<String>,
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
    /// `None`: its tool has no undo.
    pub undo: Option<UndoCover>,
    /// Unix time, ms.
    pub asked_at: u64,
}

/// Longest command that is shown, bytes.
pub const COMMAND: usize = 8 * 1024;
/// Longest directory that is shown, bytes.
const DIRECTORY: usize = 4 * 1024;
/// Longest name of an actor, and longest sentence, bytes.
const NAME: usize = 512;
/// Most sentences of a question.
const SENTENCES: usize = 16;

/// Takes the secrets out of a command, and brings it to the length that is shown.
pub fn shown_command(command: &str) -> String {
    let (part, is_longer) = redact::beginning_to_redact(command);
    let shown = redact::redact_beginning((part, is_longer)).text.into_owned();
    cut(if is_longer { shown + MARK } else { shown }, COMMAND)
}

/// Takes the secrets out of a command. `None` if it is too long to be shown whole.
pub fn whole_command(command: &str) -> Option<String> {
    let (part, is_longer) = redact::beginning_to_redact(command);
    let whole = (!is_longer).then(|| without_secrets(part));
    whole.filter(|command| command.len() <= COMMAND)
}

/// Takes the secrets out of a command or a command line, for people.
pub fn without_secrets(command: &str) -> String {
    redact::redact(command).text.into_owned()
}

/// Brings a directory to the length that is shown.
pub fn shown_directory(directory: String) -> String {
    cut(directory, DIRECTORY)
}

/// Stands at the end of a text that was cut.
const MARK: &str = "…";

/// Brings a text to at most this many bytes, and marks the cut.
pub fn cut(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most - MARK.len()));
        text.push_str(MARK);
    }
    text
}

/// Brings the names of an actor to the length that is shown.
pub fn shown_actor(actor: Actor) -> Actor {
    let shown = |name: Option<String>| name.map(|name| cut(name, NAME));
    let Actor { agent, session, tool_call_id, user } = actor;
    Actor { agent: shown(agent), session: shown(session), tool_call_id: shown(tool_call_id), user: shown(user) }
}

/// Brings sentences to the number and the length that are shown.
pub fn shown_sentences(sentences: Vec<String>) -> Vec<String> {
    sentences.into_iter().take(SENTENCES).map(|sentence| cut(sentence, NAME)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_between_characters_and_marked() {
        for (text, most, expected) in
            [("abc", 3, "abc"), ("abcd", 3, "…"), ("abcde", 4, "a…"), ("日本語", 8, "日…"), ("", 3, "")]
        {
            assert_eq!(cut(text.to_owned(), most), expected, "{text} {most}");
        }
    }

    #[test]
    fn a_secret_at_the_cut_is_taken_out_whole() {
        let command = format!("{} curl -u joe:hunter2hunter2 https://x.example", "x".repeat(COMMAND - 20));
        let shown = shown_command(&command);
        assert!(shown.len() <= COMMAND && !shown.contains("hunter"), "{}", &shown[COMMAND - 40..]);
    }
}
