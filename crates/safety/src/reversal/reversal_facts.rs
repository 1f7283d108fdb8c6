//! The facts about a command that an undo needs.

/// The facts about a command that count for its undo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReversalFacts {
    /// Whether the command deletes or overwrites something, as far as its words tell.
    pub overwrites: bool,
    /// The files that the command overwrites if they exist.
    pub targets: Vec<ReversalTarget>,
    /// The first program in the command that gets its rights from the mode of its file, such as sudo.
    pub elevated: Option<String>,
    /// The effects beyond files, as parts of sentences, each once.
    pub beyond: Vec<String>,
    /// The first directories in which the command runs git, absolute.
    pub git: Vec<String>,
}

/// A place that a command writes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReversalTarget {
    /// The absolute path of a file, or of a directory.
    pub path: String,
    /// If the path is a directory: the names that are written in it.
    pub names: Vec<String>,
}

impl ReversalTarget {
    /// Returns the path, and the paths of the names below it.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        let below = self.names.iter().map(|name| format!("{}/{name}", self.path));
        std::iter::once(self.path.clone()).chain(below)
    }
}
