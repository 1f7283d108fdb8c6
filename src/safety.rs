//! The safety engine for JavaScript. Answers are JSON, because a text crosses faster than an object with its
//! properties.

use std::path::Path;

use napi::{Error, Result, Status};
use napi_derive::napi;
use serde::Serialize;

use confine_policy::CommandReach;
use receipt::recording::{CommandRisk, recording_obstacle, snapshot_tree, undo_obstacle};
use runner::request::SafetyOptions;
use safety::decide::{PermissionRules, decide as weigh};
use safety::parse::outline;
use safety::{
    AnalysisContext, CommandAnalysis, ConfinementReach, EnvironmentBlock, RULES, SafetyPolicy, SafetyVerdict,
    analyze as judge, assess, json as text_of,
};
use undo::UndoLimits;

/// Analyses a command and returns `Analysis` as JSON, with each known word as its text alone. `host_env` has the
/// command's variables, `NAME=VALUE`, each terminated by a NUL; null for the variables of this process. `options` is
/// `SafetyOptions` as JSON. `reach` is what `confinement_reach` returns; null without confinement.
///
/// # Errors
/// For an unknown rule, level or kind of wrapper.
#[napi]
pub fn analyze(
    command: String,
    cwd: String,
    home: String,
    host_env: Option<String>,
    options: Option<String>,
    reach: Option<String>,
) -> Result<String> {
    let policy = policy(options.as_deref())?;
    let host_env = host_env.unwrap_or_else(sys::environment);
    let left: Option<CommandReach> = reach
        .map(|text| serde_json::from_str(&text))
        .transpose()
        .map_err(|error| Error::from_reason(format!("the reach of a confinement: {error}")))?;
    let reach =
        left.as_ref().map(|left| ConfinementReach { write: &left.write, offline: left.offline, alone: left.alone });
    let context = AnalysisContext {
        cwd: &cwd,
        home: &home,
        environment: EnvironmentBlock(&host_env),
        reach,
        ..AnalysisContext::default()
    };
    text_of(&judge(&command, context, &policy)).map_err(|error| Error::from_reason(error.to_string()))
}

/// Returns how an undo would cover a command, before it runs, as JSON with this type. The arguments are the arguments
/// of `analyze`. This function looks at the file system: whether a file exists that the command overwrites, and with
/// `most` whether the file has more bytes than `most`. Larger files are not kept.
///
/// ```ts
/// interface Undoable {
///   /** Whether `undo: 'risky'` covers the command. */
///   risky: boolean;
///   /** Why it cannot be undone; `null` if it can. */
///   why: string | null;
///   /** Its effects beyond files, and files that are too large, as parts of sentences. */
///   notCovered: string[];
///   /** If a snapshot of a tree serves where `why` is set: what that does not cover. */
///   snapshot: string | null;
/// }
/// ```
///
/// # Errors
/// For an unknown rule, level or kind of wrapper.
#[napi]
pub fn undoable(
    command: String,
    cwd: String,
    home: String,
    host_env: Option<String>,
    options: Option<String>,
    most: Option<f64>,
) -> Result<String> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct UndoabilityReport {
        risky: bool,
        why: Option<String>,
        not_covered: Vec<String>,
        snapshot: Option<String>,
    }
    let policy = policy(options.as_deref())?;
    let host_env = host_env.unwrap_or_else(sys::environment);
    let context = AnalysisContext {
        cwd: &cwd,
        home: &home,
        environment: EnvironmentBlock(&host_env),
        ..AnalysisContext::default()
    };
    let (found, reversal) = assess(&command, context, &policy);
    let risk = CommandRisk { is_found: !found.is_empty(), reversal };
    let (directory, home) = (Path::new(&cwd), Some(Path::new(&home)));
    let no_point = undo_obstacle(directory, home);
    let tree = if no_point.is_none() { snapshot_tree(directory, home) } else { None };
    let why = no_point.or_else(|| recording_obstacle(&risk, None));
    let snapshot = tree.filter(|_| why.is_some());
    let snapshot = snapshot.map(|tree| format!("changes outside of {}, of which a snapshot is taken", tree.display()));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and at least 1")]
    let most = most.map_or(UndoLimits::DEFAULT.file_bytes, |most| most as u64);
    let mut not_covered = risk.reversal.beyond.clone();
    not_covered.extend(risk.files_too_large(most));
    json(&UndoabilityReport { risky: risk.is_risky(), why, not_covered, snapshot })
}

/// Decides by an analysis, `Analysis` as JSON, and a host's rules. Returns `Decision` as JSON. With `allow` null, the
/// analysis decides.
///
/// # Errors
/// For a rule without a meaning, or a text that is not an analysis.
#[napi]
pub fn decide(analysis: String, allow: Option<Vec<String>>, ask: Vec<String>, deny: Vec<String>) -> Result<String> {
    let analysis: CommandAnalysis =
        serde_json::from_str(&analysis).map_err(|error| refused(format!("this is no analysis: {error}")))?;
    let permissions =
        PermissionRules::parse(allow.as_deref(), &ask, &deny).map_err(|error| refused(error.to_string()))?;
    json(&weigh(&analysis, &permissions))
}

/// Reads a command as bash does and lists the pipelines of its top level, as JSON with this type. Spans are half-open
/// UTF-16 offsets into the command. A text that bash would refuse has `complete: false` and the pipelines before the
/// error.
///
/// ```ts
/// interface Outline {
///   complete: boolean;
///   /** Whether a heredoc occurs anywhere: its body lies outside of the span of its command. */
///   heredocs: boolean;
///   pipelines: {
///     /** Null for the first pipeline and after `;`, `&` or a newline. */
///     join: '&&' | '||' | null;
///     /** Whether `!` precedes it. */
///     negated: boolean;
///     /** Whether `&` ends the list that it belongs to. */
///     background: boolean;
///     /** Empty for a `time` or `!` that stands alone. */
///     commands: {
///       kind: 'simple' | 'group' | 'subshell' | 'if' | 'loop' | 'for' | 'case' | 'function' | 'test' | 'coproc';
///       /** To the end of its last word or redirect. */
///       span: [number, number];
///       /** Whether `|&` follows. */
///       pipesStderr: boolean;
///       /** Of a simple command, its program first. `known`: `text` is its value; otherwise it is the source. */
///       words: { text: string; known: boolean; span: [number, number] }[];
///       assignments: number;
///       redirects: number;
///     }[];
///   }[];
/// }
/// ```
///
/// # Errors
/// None known.
#[napi]
pub fn command_outline(command: String) -> Result<String> {
    json(&outline(&command))
}

/// Returns all rules as JSON: id, level, doc, and examples that match and that pass.
///
/// # Errors
/// None known.
#[napi]
pub fn safety_rules() -> Result<String> {
    #[derive(Serialize)]
    struct SafetyRuleEntry {
        id: &'static str,
        level: SafetyVerdict,
        doc: &'static str,
        matches: &'static [&'static str],
        passes: &'static [&'static str],
    }
    let entry = |rule: &&safety::SafetyRule| SafetyRuleEntry {
        id: rule.id,
        level: rule.level,
        doc: rule.doc,
        matches: rule.matches,
        passes: rule.passes,
    };
    json(&RULES.iter().map(entry).collect::<Vec<_>>())
}

/// Reads `SafetyOptions`. `None` gives the policy of a command without options.
fn policy(given: Option<&str>) -> Result<SafetyPolicy> {
    let options: SafetyOptions =
        given.map_or(Ok(SafetyOptions::default()), serde_json::from_str).map_err(|error| refused(error.to_string()))?;
    options.policy().map_err(|error| refused(error.to_string()))
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::from_reason(error.to_string()))
}

fn refused(message: String) -> Error {
    Error::new(Status::InvalidArg, message)
}
