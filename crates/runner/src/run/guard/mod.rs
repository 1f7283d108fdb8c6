//! Judges a command before it starts.

mod harmless_commands;

use std::borrow::Cow;

use crate::error::RunError;
use crate::request::{PlannedRun, SafetyCriteria};
use receipt::recording::CommandRisk;
use safety::{
    AnalysisContext, ConfinementReach, EnvironmentBlock, InitialShellState, RuleFinding, SafetyPolicy, SafetyVerdict,
    assess, findings,
};

/// Longest command that is judged on the caller's thread, bytes.
const MAX_COMMAND_AT_ONCE: usize = 8 * 1024;
/// Longest shell state before such a command, bytes. Most of it is only read.
const MAX_STATE_AT_ONCE: usize = 64 * 1024;

/// Returns whether a command takes too long to judge on the caller's thread.
pub(super) fn takes_long(request: &PlannedRun) -> bool {
    let state = request.startup.as_ref().map_or(0, |startup| startup.boot.early.len() + startup.boot.late.len());
    (request.guard.is_some() || request.needs_risk())
        && (request.command.len() > MAX_COMMAND_AT_ONCE || state > MAX_STATE_AT_ONCE)
}

/// Judges a command. Findings that do not refuse it become notes of its outcome.
///
/// # Errors
/// [`RunError::Blocked`] for a command that is denied. With `denies_ask`, also for a command that a person would be
/// asked about.
pub(super) fn judge(request: &mut PlannedRun) -> Result<(), RunError> {
    let guard = request.guard.take();
    if request.needs_risk() {
        let policy = guard.as_ref().map(|guard| &guard.policy).cloned().unwrap_or_default();
        let (found, reversal) = in_context(request, |context| assess(&request.command, context, &policy));
        request.risk = Some(Box::new(CommandRisk { is_found: !found.is_empty(), reversal }));
        return guard.map_or(Ok(()), |guard| apply_findings(request, guard, found));
    }
    let Some(guard) = guard.filter(|guard| !harmless_commands::is_known_harmless(request, guard)) else {
        return Ok(());
    };
    let found = in_context(request, |context| findings(&request.command, context, &guard.policy));
    apply_findings(request, guard, found)
}

/// Calls `call` with the context of a command.
pub(super) fn in_context<T>(request: &PlannedRun, call: impl FnOnce(AnalysisContext<'_>) -> T) -> T {
    let own = request.environment.get("HOME").filter(|home| home.starts_with('/')).map(str::to_owned);
    let home = own.or_else(sys::home).unwrap_or_default();
    let cwd = request.cwd.to_string_lossy();
    let startup = request.startup.as_ref();
    let code = startup.map_or(Cow::Borrowed(""), |startup| startup.boot.text());
    call(AnalysisContext {
        cwd: &cwd,
        home: &home,
        environment: EnvironmentBlock(request.environment.text()),
        args: &request.args,
        // Input that is written later is not known yet.
        stdin: request.stdin.as_deref().filter(|_| !request.is_fed()).and_then(|bytes| std::str::from_utf8(bytes).ok()),
        shell_state: InitialShellState { code: &code, overrides: startup.map_or(&[], |startup| &startup.given) },
        reach: None,
    })
}

/// Refuses the command, or adds the findings to its notes.
fn apply_findings(request: &mut PlannedRun, guard: SafetyCriteria, findings: Vec<RuleFinding>) -> Result<(), RunError> {
    if let Some(entry) = &mut request.entry {
        entry.judge(&findings);
    }
    if findings.is_empty() {
        harmless_commands::remember(request, guard);
        return Ok(());
    }
    let is_denied = findings.first().is_some_and(|strictest| strictest.level == SafetyVerdict::Deny);
    // Nobody has to be asked about what the confinement prevents.
    let happening = match &request.confine {
        Some(confine) if !is_denied => findings_within(&confine.policy, request, &guard.policy),
        _ => findings,
    };
    let refused = if guard.denies_ask { SafetyVerdict::Ask } else { SafetyVerdict::Deny };
    if let Some(strictest) = happening.first().filter(|finding| finding.level >= refused) {
        return Err(RunError::Blocked { message: strictest.message.clone(), findings: happening });
    }
    request.notes.extend(happening.iter().map(note));
    request.notes.dedup();
    Ok(())
}

/// Returns the findings about effects that the confinement of a command does not prevent.
fn findings_within(
    confinement: &confine_policy::ConfinementPolicy,
    request: &PlannedRun,
    policy: &SafetyPolicy,
) -> Vec<RuleFinding> {
    let left = confinement.command_reach(&confinement.root);
    let reach = Some(ConfinementReach { write: &left.write, offline: left.offline, alone: left.alone });
    in_context(request, |context| findings(&request.command, AnalysisContext { reach, ..context }, policy))
}

fn note(finding: &RuleFinding) -> String {
    let what = if finding.level == SafetyVerdict::Ask { "a person would be asked about this" } else { "warning" };
    format!("{what}: {} ({})", finding.message, finding.rule_id)
}
