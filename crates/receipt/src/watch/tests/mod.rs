//! Receipts of real commands on real trees, against a comparison of all contents.

mod changed;
mod commands;
mod generated;
mod git;
mod limits;
mod speed;
mod tree;

use tree::WatchedTreeFixture;
