//! The lines of a folded text.

use super::fold_mark::FoldMark;

/// A line of a folded text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldedLine<'a> {
    /// A line of the input, without the prefix of the headings around it.
    Text(&'a str),
    /// A mark: `[x37]`, `[last 3 lines x12]`.
    Mark(FoldMark),
    /// A heading: the prefix of the next lines, and the number of these lines.
    Heading(&'a str, usize),
    /// A line for all lines of a series.
    Series(&'a str),
}
