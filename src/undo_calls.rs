//! Undoes runs, and lists the undo points.

use std::path::{Path, PathBuf};

use napi_derive::napi;

use super::bridge::Bridge;
use super::native_event::NativeEvent;
use super::undo::{UndoPoint, Undone};
use runner::undoing::{newest_to_undo, undo_points, undo_points_of, undo_run};
use undo::UndoRequest;

/// The options of an undo.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct NativeUndoOptions {
    /// Only report the effect of an undo.
    pub dry_run: Option<bool>,
    /// Absolute paths. Only these and everything below them are undone.
    pub paths: Option<Vec<String>>,
    /// The directory of the store, absolute. Default: the user's store.
    pub dir: Option<String>,
}

#[napi]
impl Bridge {
    /// Undoes a run; answered by `undone` or `error`. `host_env` as for `start`.
    #[napi]
    pub fn undo(&self, run_id: String, host_env: Option<String>, options: Option<NativeUndoOptions>) -> u32 {
        let options = options.unwrap_or_default();
        self.blocking("undo", move || {
            let paths: Vec<PathBuf> = options.paths.unwrap_or_default().into_iter().map(PathBuf::from).collect();
            let wanted = UndoRequest { dry_run: options.dry_run.unwrap_or(false), paths: &paths };
            let undone = undo_run(&run_id, wanted, options.dir.as_deref(), &environment(host_env))?;
            Ok(NativeEvent::Undone { undone: Undone::of(run_id, undone) })
        })
    }

    /// Lists the undo points, the newest first; answered by `undoPoints` or `error`. With `cwd`, an absolute path,
    /// lists only the points of commands that ran there or below.
    #[napi]
    pub fn undo_points(&self, cwd: Option<String>, dir: Option<String>, host_env: Option<String>) -> u32 {
        self.blocking("undo", move || {
            let points = undo_points(cwd.as_deref().map(Path::new), dir.as_deref(), &environment(host_env))?;
            Ok(NativeEvent::UndoPoints { points: points.into_iter().map(UndoPoint::from).collect() })
        })
    }

    /// Finds the newest run of an absolute directory that an undo would take back; answered by `newestToUndo` or
    /// `error`. With `paths`, absolute ones, only what an undo for these would take back counts.
    #[napi]
    pub fn newest_to_undo(
        &self,
        cwd: String,
        paths: Option<Vec<String>>,
        dir: Option<String>,
        host_env: Option<String>,
    ) -> u32 {
        self.blocking("undo", move || {
            let paths: Vec<PathBuf> = paths.unwrap_or_default().into_iter().map(PathBuf::from).collect();
            let run = newest_to_undo(Path::new(&cwd), &paths, dir.as_deref(), &environment(host_env))?;
            Ok(NativeEvent::NewestToUndo { run })
        })
    }

    /// Lists the undo points of these runs that were not evicted; answered by `undoPoints` or `error`.
    #[napi]
    pub fn undo_points_of(&self, run_ids: Vec<String>, host_env: Option<String>) -> u32 {
        self.blocking("undo", move || {
            let points = undo_points_of(&run_ids, &environment(host_env))?;
            Ok(NativeEvent::UndoPoints { points: points.into_iter().map(UndoPoint::from).collect() })
        })
    }
}

fn environment(host_env: Option<String>) -> String {
    host_env.unwrap_or_else(sys::environment)
}
