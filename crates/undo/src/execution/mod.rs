//! Carries out an undo: under a lock, with a journal of its own, one atomic step after the other.
//!
//! The undo is recorded like any run, so it can itself be undone. A killed undo continues with the same journal when it
//! is run again.
//!
//! A plan is made from a tree that other processes change meanwhile. So each step reads its path once more, below an
//! open directory that no link can replace, and leaves the thing alone if it is not as planned. A thing is made under
//! another name first and renamed into its place, so that a crash leaves either the old thing or the new one.
//!
//! | part | where | what |
//! |---|---|---|
//! | the current tree | `disk_tree.rs`, `returned_files.rs`, `kept_image.rs` | compares files with what runs have kept |
//! | steps | `undo_executor.rs`, `steps.rs`, `put_back.rs`, `metadata.rs` | take a step, or say why not |
//! | routes | `open_route.rs` | reach a thing through its open directory |
//! | conflicts | `conflict_copies.rs` | keep the earlier state beside the store |
//! | killed runs | `killed_run.rs` | complete a manifest without an end |

mod conflict_copies;
mod disk_tree;
mod kept_image;
mod killed_run;
mod metadata;
mod open_route;
mod outcome;
mod put_back;
mod returned_files;
mod step_failure;
mod steps;
mod undo_executor;

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

pub use self::disk_tree::DiskTree;
pub use self::metadata::apply_metadata;
pub use self::open_route::{OpenRoute, RouteError};
pub use self::outcome::{ReportedConflict, UndoError, UndoOutcome, UndoRequest};
use self::undo_executor::UndoExecutor;
use super::change_journal::ChangeJournal;
use super::coverage_gaps::{gap, gaps};
use super::manifest::{self, ManifestHeader, ManifestPurpose, RunManifest, VERSION};
use super::path_lookup::{names_below, top_of};
use super::path_state::{FileIdentity, FileTime};
use super::plan::{PlannedConflict, UndoPlan, UndoStep, plan_undo};
use super::run_images::UndoLimits;
use super::store::{PointSummary, UndoStore, UndoStoreError};
use protocol::plan::next_mark;
use protocol::task::MachineIdentity;

/// Undoes a run. Waits for another undo in the same store.
///
/// # Errors
/// If there is no point, the run still goes on, or the store cannot be used. Nothing is touched then.
pub fn undo(store: &UndoStore, run: &str, options: UndoRequest<'_>) -> Result<UndoOutcome, UndoError> {
    undo_with(store, run, options, &mut |_| false)
}

/// Like [`undo`]. `stops` is asked before each change of a file, with its name, and may stop the undo as a kill would.
///
/// # Errors
/// As [`undo`], and [`UndoError::Stopped`].
pub fn undo_with(
    store: &UndoStore,
    run: &str,
    options: UndoRequest<'_>,
    stops: &mut dyn FnMut(&str) -> bool,
) -> Result<UndoOutcome, UndoError> {
    if let Some(path) = options.paths.iter().find(|path| !path.is_absolute()) {
        return Err(UndoError::Relative(path.clone()));
    }
    let _lock = store.lock()?;
    let (point, unfinished) = read_run_to_undo(store, run, &store.unended_headers()?)?;
    let tree = DiskTree::new(store, &point, unfinished.as_ref());
    let plan = plan_undo(&point, &tree, options.paths);
    if options.dry_run {
        return Ok(report_plan(store, &point, &plan));
    }
    for (was, now) in &plan.remade_directories {
        // Without the note, an older undo has a conflict.
        let _none = tree.note_remade_directory(*was, *now);
    }
    let mut undone = UndoOutcome { not_covered: not_covered(store, &point, &plan), ..UndoOutcome::default() };
    // Before the first step, which may put another thing in the place of such a file.
    let copied = copy_stranded_files(store, &point, &plan)?;
    if unfinished.is_some() || !plan.steps.is_empty() {
        undone = take_steps(store, (&point, unfinished.as_ref()), &tree, &plan, stops, undone)?;
    }
    complete_restored_names(&mut undone.restored, store, &point, &plan);
    let conflicts = plan.conflicts.iter().zip(copied);
    let conflicts = conflicts.filter(|(conflict, _)| !point.is_own(store.path(), &conflict.path));
    let keep = |conflict: &PlannedConflict| {
        conflict_copies::copy_earlier_state(store, &point, &tree, &conflict.path, &conflict.state_before)
    };
    undone
        .conflicts
        .extend(conflicts.map(|(conflict, copied)| reported_conflict(conflict, copied.or_else(|| keep(conflict)))));
    if undone.conflicts.iter().any(|stayed| stayed.kept_at.is_some()) {
        store.add_kept(run)?;
    }
    Ok(undone)
}

/// Copies the files that nothing keeps and whose places are needed. Returns the copy of each conflict that has one.
fn copy_stranded_files(
    store: &UndoStore,
    point: &RunManifest,
    plan: &UndoPlan,
) -> Result<Vec<Option<PathBuf>>, UndoStoreError> {
    let copied = plan.conflicts.iter().map(|conflict| {
        let copy = |from: &PathBuf| conflict_copies::copy_current_file(store, point, from, &conflict.path);
        conflict.copy_from.as_ref().map(copy).transpose()
    });
    let failed = |source| UndoStoreError::System { path: store.path().to_owned(), source };
    copied.collect::<io::Result<_>>().map_err(failed)
}

/// Takes the steps of a plan, with a journal of their own. A killed undo of the same run has one already.
fn take_steps(
    store: &UndoStore,
    (point, unfinished): (&RunManifest, Option<&RunManifest>),
    tree: &DiskTree<'_>,
    plan: &UndoPlan,
    stops: &mut dyn FnMut(&str) -> bool,
    undone: UndoOutcome,
) -> Result<UndoOutcome, UndoError> {
    let journal = match unfinished {
        Some(unfinished) => ChangeJournal::resume(store, unfinished)?,
        None => ChangeJournal::begin(store, undo_header(point), UndoLimits::NONE)?,
    };
    let mut executor = UndoExecutor::new(point, tree, plan, journal, stops);
    if let Some(unfinished) = unfinished {
        executor.remove_leftovers(unfinished);
    }
    for step in &plan.steps {
        executor.take_step(step)?;
    }
    let undone = executor.finish(undone)?;
    if let Some(end) = &point.end {
        // The files that went back are no longer kept.
        let (size, changes) = (store.measure_point(point), point.states_before.len());
        store.add_summary(&PointSummary::of(&point.header, Some(end), size, changes))?;
    }
    Ok(undone)
}

/// Returns whether an undo of a run for these paths would do something now, or leave a conflict. The caller holds the
/// lock of the store. `unended` is [`UndoStore::unended_headers`].
pub(crate) fn would_change(
    store: &UndoStore,
    run: &str,
    paths: &[PathBuf],
    unended: &[ManifestHeader],
) -> Result<bool, UndoError> {
    let (point, unfinished) = read_run_to_undo(store, run, unended)?;
    let tree = DiskTree::new(store, &point, unfinished.as_ref());
    let UndoOutcome { restored, removed, conflicts, .. } = report_plan(store, &point, &plan_undo(&point, &tree, paths));
    Ok(restored.len() + removed.len() + conflicts.len() > 0)
}

/// Reads a point that has ended, and the record of its undo, if that undo was killed.
fn read_run_to_undo(
    store: &UndoStore,
    run: &str,
    unended: &[ManifestHeader],
) -> Result<(RunManifest, Option<RunManifest>), UndoStoreError> {
    let mut point = store.read_undoable_run(run)?;
    if point.end.is_none() {
        killed_run::complete_killed_run(&mut point, store)?;
    }
    Ok((point, read_unfinished_undo(store, run, unended)?))
}

/// Adds the other names of files that are changed in place, without those of the store.
fn complete_restored_names(restored: &mut Vec<PathBuf>, store: &UndoStore, point: &RunManifest, plan: &UndoPlan) {
    let in_place = |step: &UndoStep| match step {
        UndoStep::Restore { state_before: before, state_now: now, .. }
            if before.has_several_names() && before.id() == now.id() =>
        {
            before.id()
        }
        UndoStep::SetMeta { state_before: before, .. } if before.has_several_names() => before.id(),
        _ => None,
    };
    let changed: HashSet<FileIdentity> = plan.steps.iter().filter_map(in_place).collect();
    if !changed.is_empty() && !restored.is_empty() {
        let names =
            names_below(top_of(&point.header.cwd), |id| changed.contains(&id), |path| point.is_own(store.path(), path));
        restored.extend(names.into_iter().map(|(path, _)| path));
    }
    restored.retain(|path| !point.is_own(store.path(), path));
    restored.sort();
    restored.dedup();
}

/// Reads the record of a run that has ended. A record whose recorder was killed gets its end.
///
/// # Errors
/// If there is none, it cannot be read, or the run still goes on.
pub fn read_ended_run(store: &UndoStore, run: &str) -> Result<RunManifest, UndoStoreError> {
    let path = store.manifest_path(run)?;
    if store.is_running(run) {
        return Err(UndoStoreError::Running(run.to_owned()));
    }
    let mut point = manifest::read(&path)?;
    if point.end.is_none() {
        let _lock = store.lock()?;
        killed_run::complete_killed_run(&mut point, store)?;
    }
    Ok(point)
}

fn undo_header(point: &RunManifest) -> ManifestHeader {
    let now = FileTime::now();
    let ManifestHeader { run, cwd, .. } = &point.header;
    ManifestHeader {
        version: VERSION,
        run: next_mark(),
        command: format!("undo {run}"),
        cwd: cwd.clone(),
        at: u64::try_from(now.seconds * 1000 + now.nanoseconds / 1_000_000).unwrap_or(0),
        machine: MachineIdentity::here().clone(),
        purpose: ManifestPurpose::Undone(run.clone()),
        tree: PathBuf::new(),
    }
}

/// Returns the record of the same undo, if that undo was killed.
fn read_unfinished_undo(
    store: &UndoStore,
    run: &str,
    unended: &[ManifestHeader],
) -> Result<Option<RunManifest>, UndoStoreError> {
    for undo in store.undos_of(run, unended)? {
        let point = manifest::read(&store.manifest_path(&undo)?)?;
        if point.end.is_none() && !store.is_running(&undo) {
            return Ok(Some(point));
        }
    }
    Ok(None)
}

/// Returns the effect that the plan would have.
fn report_plan(store: &UndoStore, point: &RunManifest, plan: &UndoPlan) -> UndoOutcome {
    let mut undone = UndoOutcome { not_covered: not_covered(store, point, plan), ..UndoOutcome::default() };
    for step in &plan.steps {
        match step {
            UndoStep::Remove { shown, .. } | UndoStep::RemoveDirectory { shown, .. } => {
                undone.removed.push(shown.clone())
            }
            UndoStep::Move { is_final: false, .. } => {}
            UndoStep::Move { to: path, .. }
            | UndoStep::MakeDirectory { path, .. }
            | UndoStep::Restore { path, .. }
            | UndoStep::SetMeta { path, .. } => undone.restored.push(path.clone()),
        }
    }
    let conflicts = plan.conflicts.iter().filter(|conflict| !point.is_own(store.path(), &conflict.path));
    undone.conflicts.extend(conflicts.map(|conflict| reported_conflict(conflict, None)));
    complete_restored_names(&mut undone.restored, store, point, plan);
    undone
}

fn not_covered(store: &UndoStore, point: &RunManifest, plan: &UndoPlan) -> Vec<String> {
    let end = point.end.iter().flat_map(|end| end.not_covered.iter().cloned());
    let lost = plan.lost.iter().filter(|(path, _)| !point.is_own(store.path(), path));
    gaps(end.chain(point.uncovered.iter().map(gap)).chain(lost.map(gap)))
}

fn reported_conflict(conflict: &PlannedConflict, kept: Option<PathBuf>) -> ReportedConflict {
    let PlannedConflict { path, why, stays_at: stays, .. } = conflict;
    ReportedConflict { path: path.clone(), why: why.clone(), kept_at: stays.clone().or(kept) }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;

#[cfg(test)]
mod others_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod return_tests;
#[cfg(test)]
mod swap_tests;
#[cfg(test)]
mod user_tests;
