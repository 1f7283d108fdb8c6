//! The plan of an undo: three states, before the run, as the run left it and now, become the steps that take the run
//! back. Pure: the current tree is behind a trait.
//!
//! For each path, the three states are compared. If the file is as the run left it, the earlier file comes back. If it
//! is as before, nothing is done. Anything else is a conflict, and stays.

mod decide;
pub mod git;
mod moved;
mod obstacles;
mod planner;
mod steps;
mod types;

use std::path::PathBuf;

use self::planner::Planner;
pub use self::types::{Conflict, Now, Plan, Step};
use super::manifest::Point;

/// Plans the undo of a run for these paths and everything below them. Without paths, plans the undo of all of it.
pub fn plan(point: &Point, now: &dyn Now, paths: &[PathBuf]) -> Plan {
    let mut planner = Planner::new(point, now, paths);
    planner.decide();
    planner.emit();
    planner.plan
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
