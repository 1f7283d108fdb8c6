//! Leaves out the lines that tell least, so that the rest stays within a budget. These lines always stay: failures, the
//! block of the first failure, the end, and the lines that the caller keeps.

pub mod line_selection;
pub mod line_template;
pub mod output_unit;
pub mod view_writer;
