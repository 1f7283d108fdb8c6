//! The output of a program, as far as its name tells.

use std::sync::LazyLock;

use super::outputs::{OUTPUT_DATA, OUTPUT_FILTERED, OUTPUT_INPUT, OUTPUT_MATCHES, OUTPUT_NOTHING, OUTPUT_ROWS};
use crate::name_lists::words;
use crate::name_map::NameMap;

/// The output of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramOutputKind {
    /// Nothing that matters.
    Nothing,
    /// The files among the operands, or otherwise the standard input, in some form.
    Filtered,
    /// The standard input.
    Input,
    /// Differences or data.
    Data,
    /// The lines of files or of the standard input that fit a pattern.
    Matches,
    /// Rows of a search or a list.
    Rows,
    /// Messages of the program, or anything.
    Text,
}

static BY_NAME: LazyLock<NameMap<&'static str, ProgramOutputKind>> = LazyLock::new(|| {
    let lists = [
        (OUTPUT_NOTHING, ProgramOutputKind::Nothing),
        (OUTPUT_FILTERED, ProgramOutputKind::Filtered),
        (OUTPUT_INPUT, ProgramOutputKind::Input),
        (OUTPUT_DATA, ProgramOutputKind::Data),
        (OUTPUT_MATCHES, ProgramOutputKind::Matches),
        (OUTPUT_ROWS, ProgramOutputKind::Rows),
    ];
    lists.into_iter().flat_map(|(names, output)| words(names).map(move |name| (name, output))).collect()
});

impl ProgramOutputKind {
    /// Returns the output of the program with this name, which has no path.
    pub fn of(name: &str) -> Self {
        BY_NAME.get(name).copied().unwrap_or(Self::Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_known_by_names() {
        for (name, output) in
            [("cat", ProgramOutputKind::Filtered), ("rg", ProgramOutputKind::Matches), ("npm", ProgramOutputKind::Text)]
        {
            assert_eq!(ProgramOutputKind::of(name), output, "{name}");
        }
        let all = [OUTPUT_NOTHING, OUTPUT_FILTERED, OUTPUT_INPUT, OUTPUT_DATA, OUTPUT_MATCHES, OUTPUT_ROWS];
        assert_eq!(all.into_iter().flat_map(words).count(), BY_NAME.len(), "a name stands twice");
    }
}
