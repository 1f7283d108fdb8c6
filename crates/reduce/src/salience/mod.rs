//! Leaves out the lines that say least, so that the rest stays within a budget. Failures, the block of the first one,
//! the end and the lines that the caller keeps always stay.

pub mod mask;
pub mod render;
pub mod select;
pub mod unit;
