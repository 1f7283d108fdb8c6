//! The plan of an undo: three states, before the run, as the run left it and now, become the steps that take the run
//! back. Pure: the current tree is behind a trait.
//!
//! For each path, the three states are compared. If the file is as the run left it, the earlier file comes back. If it
//! is as before, nothing is done. Anything else is a conflict, and stays.
//!
//! | stage | where | what |
//! |---|---|---|
//! | compare | `path_views.rs` | the three states of a path become facts |
//! | decide | `decision_tables.rs` | the facts of a path become a decision; the contract of an undo |
//! | | `decisions.rs`, `move_obstacles.rs`, `git_repositories.rs` | rules about several paths |
//! | order | `step_order.rs` | decisions become steps |
//!
//! Rules about several paths only ever keep more than the tables. All stages share an [`undo_planner::UndoPlanner`].

mod decision_tables;
mod decisions;
pub mod git_repositories;
mod move_obstacles;
mod moved_directories;
mod path_views;
mod step_order;
mod undo_plan;
mod undo_planner;

use std::path::PathBuf;

pub use self::undo_plan::{CurrentTree, PlannedConflict, UndoPlan, UndoStep};
use self::undo_planner::UndoPlanner;
use super::manifest::RunManifest;

/// Plans the undo of a run for these paths and everything below them. Without paths, plans the undo of all of it.
pub fn plan_undo(run: &RunManifest, current_tree: &dyn CurrentTree, paths: &[PathBuf]) -> UndoPlan {
    let mut planner = UndoPlanner::new(run, current_tree, paths);
    planner.decide_all();
    planner.emit_steps();
    planner.plan
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
