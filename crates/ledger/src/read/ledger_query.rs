//! Which entries are wanted.

use std::path::{Path, PathBuf};

use memchr::memmem::Finder;
use serde::Deserialize;

use super::ledger_entry::LedgerEntry;
use crate::ledger_record::{LedgerRunChanges, LedgerRunState};

/// The filters of a reader. Each one that is set has to fit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LedgerQuery {
    /// Runs that started at this moment or later, ms since 1970.
    pub since: Option<f64>,
    /// Runs that started before this moment, ms since 1970.
    pub until: Option<f64>,
    /// Runs in this directory or below, absolute.
    pub cwd: Option<PathBuf>,
    /// Runs of this agent.
    pub agent: Option<String>,
    /// Whether only runs that failed count.
    pub failed: bool,
    /// Runs that changed this path or one below, absolute.
    pub changed: Option<PathBuf>,
    /// Runs whose command has this text.
    pub text: Option<String>,
    /// The run with this id.
    pub run_id: Option<String>,
    /// The largest number of entries.
    pub limit: Option<f64>,
    /// Whether the oldest entry comes first, and then entries as they are written.
    pub follow: bool,
}

/// A query with its paths resolved.
#[derive(Debug, Default)]
pub struct LedgerFilter {
    query: LedgerQuery,
    cwd: Vec<PathBuf>,
    changed: Vec<PathBuf>,
    /// The text as it stands in JSON.
    text: Option<Finder<'static>>,
}

impl LedgerFilter {
    /// Resolves the paths: each one counts as given, and as the links in it lead.
    pub fn new(query: LedgerQuery) -> Self {
        let forms = |path: Option<&PathBuf>| {
            let mut forms: Vec<_> = path.cloned().into_iter().collect();
            forms.extend(path.and_then(|path| without_links(path)).filter(|real| Some(real) != path));
            forms
        };
        let (cwd, changed) = (forms(query.cwd.as_ref()), forms(query.changed.as_ref()));
        let in_json = |text: &String| {
            let json = serde_json::to_string(text).ok()?;
            Some(Finder::new(json.get(1..json.len() - 1)?).into_owned())
        };
        let text = query.text.as_ref().and_then(in_json);
        Self { query, cwd, changed, text }
    }

    /// Returns the moment before which no run counts.
    pub fn since(&self) -> f64 {
        self.query.since.unwrap_or(0.0)
    }

    /// Returns whether there is a moment before which no run counts.
    pub fn has_since(&self) -> bool {
        self.query.since.is_some()
    }

    /// Returns whether a run that started at this moment (ms since 1970) started before all that count.
    pub fn is_before(&self, at: u64) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "a time in ms")]
        let at = at as f64;
        at < self.since()
    }

    /// Returns whether the command of a start can have the text that is searched for, by its line.
    pub fn may_have_text(&self, line: &str) -> bool {
        self.text.as_ref().is_none_or(|text| text.find(line.as_bytes()).is_some())
    }

    /// Returns the largest number of entries.
    pub fn limit(&self) -> u64 {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number, or all")]
        self.query.limit.map_or(u64::MAX, |limit| limit as u64)
    }

    /// Returns whether a record of this run may count at all.
    pub fn may_want(&self, run: &str) -> bool {
        self.query.run_id.as_ref().is_none_or(|wanted| wanted == run)
    }

    /// Returns whether an entry is wanted.
    pub fn wants(&self, entry: &LedgerEntry<'_>) -> bool {
        #[expect(clippy::cast_precision_loss, reason = "a time in ms")]
        let at = entry.started_at() as f64;
        let LedgerQuery { until, agent, failed, text, .. } = &self.query;
        let within = |path: &str, roots: &[PathBuf]| roots.iter().any(|root| Path::new(path).starts_with(root));
        let changes = |changes: &LedgerRunChanges<'_>| changes.paths.iter().any(|path| within(path, &self.changed));
        at >= self.since()
            && until.is_none_or(|until| at < until)
            && (self.cwd.is_empty() || within(&entry.start.cwd, &self.cwd))
            && agent.as_ref().is_none_or(|agent| entry.actor().is_some_and(|actor| actor.agent.as_ref() == Some(agent)))
            && (!failed || has_failed(entry))
            && text
                .as_ref()
                .is_none_or(|text| memchr::memmem::find(entry.start.command.as_bytes(), text.as_bytes()).is_some())
            && (self.changed.is_empty() || entry.changes().is_some_and(changes))
    }
}

/// Returns the path without links. Of a path that is gone, the directory above it has to exist.
fn without_links(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| Some(path.parent()?.canonicalize().ok()?.join(path.file_name()?)))
}

/// Returns whether a run has failed.
fn has_failed(entry: &LedgerEntry<'_>) -> bool {
    match entry.state {
        LedgerRunState::Exited => entry.exit_code() != Some(0),
        LedgerRunState::Signaled
        | LedgerRunState::TimedOut
        | LedgerRunState::Aborted
        | LedgerRunState::Refused
        | LedgerRunState::Lost => true,
        LedgerRunState::Running | LedgerRunState::Backgrounded => false,
    }
}
