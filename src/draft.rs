//! Drafts as they cross to JavaScript: calls and answers are JSON.

use std::path::{Path, PathBuf};

use napi::bindgen_prelude::Uint8Array;
use napi_derive::napi;
use serde::{Deserialize, Serialize};

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use super::receipt::{Change, ChangeCounts, GitChange, Rename, text};
use ::draft::draft_commit::{CommitRequest, ConflictHandling};
use ::draft::draft_store::DraftState;
use ::draft::patch::PatchLimits;
use ledger::Actor;
use receipt::net::NetEffect;
use runner::drafts::{self, CommittedDraft, DraftChanges, DraftDescription, DraftName, DraftSide, OpenDraftOptions};
use runner::error::RunError;

/// A call about drafts. Paths are absolute.
#[derive(Deserialize)]
#[serde(tag = "call", rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
enum DraftCall {
    Open {
        options: Box<OpenDraftOptions>,
    },
    List {
        root: Option<PathBuf>,
        dir: Option<PathBuf>,
    },
    Changes {
        draft: DraftName,
        #[serde(default)]
        paths: Vec<PathBuf>,
        list: usize,
    },
    Diff {
        draft: DraftName,
        #[serde(default)]
        paths: Vec<PathBuf>,
        context: usize,
        max_bytes: usize,
    },
    Read {
        draft: DraftName,
        path: PathBuf,
        side: DraftSide,
    },
    Commit {
        draft: DraftName,
        #[serde(default)]
        paths: Vec<PathBuf>,
        on_conflict: ConflictHandling,
        dry_run: bool,
    },
    Discard {
        draft: DraftName,
    },
    Port {
        draft: DraftName,
        port: u16,
    },
    Fork {
        draft: DraftName,
        name: Option<String>,
    },
    Close {
        draft: DraftName,
    },
}

/// `DraftInfo` of the contract, with the directory of all drafts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SerializedDraft {
    id: String,
    name: Option<String>,
    root: String,
    dir: String,
    created_at: u64,
    used_at: u64,
    state: &'static str,
    runs: u64,
    hosts: Vec<u32>,
    bytes: u64,
    actor: Option<Actor>,
    /// `null` unless they were asked for.
    counts: Option<ChangeCounts>,
}

/// `DraftChanges` of the contract.
#[derive(Serialize)]
struct SerializedChanges {
    created: Vec<Change>,
    modified: Vec<Change>,
    deleted: Vec<Change>,
    renamed: Vec<Rename>,
    counts: ChangeCounts,
    bytes: u64,
    conflicts: Vec<PathReason>,
    git: Vec<GitChange>,
}

/// `Committed` of the contract.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SerializedCommit {
    applied: Vec<String>,
    skipped: Vec<PathReason>,
    conflicts: Vec<CommitConflict>,
    undo_id: String,
    is_over: bool,
}

#[derive(Serialize)]
struct PathReason {
    path: String,
    why: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CommitConflict {
    path: String,
    why: String,
    kept_at: Option<String>,
}

#[napi]
impl Bridge {
    /// Makes a call about drafts, given as JSON; answered by `told`, `read` or `error`. `host_env` as for `start`.
    #[napi]
    pub fn draft(&self, call: String, host_env: Option<String>) -> u32 {
        self.blocking("draft", move || {
            let call = serde_json::from_str(&call).map_err(|error| RunError::InvalidArg(error.to_string()))?;
            answer(call, &host_env.unwrap_or_else(sys::environment))
        })
    }
}

fn answer(call: DraftCall, environment: &str) -> Result<NativeEvent, RunError> {
    Ok(match call {
        DraftCall::Open { options } => told(&SerializedDraft::of(&drafts::open(*options, environment)?, None)),
        DraftCall::List { root, dir } => {
            let found = drafts::list(root.as_deref(), dir, environment)?;
            let described = |draft: &DraftDescription| Some(SerializedDraft::of(draft, Some(draft.effect().ok()?)));
            told(&found.iter().filter_map(described).collect::<Vec<_>>())
        }
        DraftCall::Changes { draft, paths, list } => {
            told(&SerializedChanges::of(drafts::changes(&draft, &paths)?, list))
        }
        DraftCall::Diff { draft, paths, context, max_bytes } => {
            told(&drafts::diff(&draft, &paths, PatchLimits { context, bytes: max_bytes })?)
        }
        DraftCall::Read { draft, path, side } => {
            NativeEvent::Read { bytes: drafts::read(&draft, &path, side)?.map(Uint8Array::from) }
        }
        DraftCall::Commit { draft, paths, on_conflict, dry_run } => {
            let request = CommitRequest { paths, on_conflict, dry_run };
            told(&SerializedCommit::from(drafts::commit(&draft, &request, environment)?))
        }
        DraftCall::Discard { draft } => {
            drafts::discard(&draft, environment)?;
            told(&())
        }
        DraftCall::Port { draft, port } => told(&drafts::port(&draft, port)?),
        DraftCall::Close { draft } => {
            draft.close()?;
            told(&())
        }
        DraftCall::Fork { draft, name } => told(&SerializedDraft::of(&drafts::fork(&draft, name)?, None)),
    })
}

fn told(answer: &impl Serialize) -> NativeEvent {
    NativeEvent::Told { answer: serde_json::to_string(answer).unwrap_or_default() }
}

fn reason(path: &Path, why: impl Into<String>) -> PathReason {
    PathReason { path: text(path), why: why.into() }
}

impl SerializedDraft {
    fn of(DraftDescription { stored, dir }: &DraftDescription, effect: Option<NetEffect>) -> Self {
        let (runs, used_at) = stored.use_of();
        let record = &stored.record;
        Self {
            id: record.id.clone(),
            name: record.settings.name.clone(),
            root: text(&record.root),
            dir: text(dir),
            created_at: record.created_at,
            used_at,
            state: match record.state {
                DraftState::Open => "open",
                DraftState::Committing => "committing",
            },
            runs,
            hosts: stored.hosts(),
            actor: stored.actor(),
            bytes: if effect.is_some() { stored.bytes() } else { 0 },
            counts: effect.map(|effect| effect.counts().into()),
        }
    }
}

impl SerializedChanges {
    fn of(DraftChanges { effect, git, bytes, conflicts }: DraftChanges, list: usize) -> Self {
        let counts = effect.counts().into();
        let changes = |all: Vec<receipt::FileChange>| all.into_iter().take(list).map(Change::from).collect();
        Self {
            counts,
            renamed: effect.renamed.iter().take(list).map(Rename::from).collect(),
            created: changes(effect.created),
            modified: changes(effect.modified),
            deleted: changes(effect.deleted),
            bytes,
            conflicts: conflicts.into_iter().map(|(path, why)| reason(&path, why)).collect(),
            git: git.into_iter().map(GitChange::from).collect(),
        }
    }
}

impl From<CommittedDraft> for SerializedCommit {
    fn from(CommittedDraft { applied, skipped, conflicts, run, is_over }: CommittedDraft) -> Self {
        let conflict = |(path, why, kept): (PathBuf, String, Option<PathBuf>)| CommitConflict {
            path: text(&path),
            why,
            kept_at: kept.as_deref().map(text),
        };
        Self {
            applied: applied.iter().map(|path| text(path)).collect(),
            skipped: skipped.into_iter().map(|(path, why)| reason(&path, why)).collect(),
            conflicts: conflicts.into_iter().map(conflict).collect(),
            undo_id: run.unwrap_or_default(),
            is_over,
        }
    }
}
