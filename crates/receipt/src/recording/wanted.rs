//! The wishes of a caller.

use std::path::PathBuf;

use undo::Limits;

/// The wishes of a caller: a receipt of a run, and an undo. At least one of both is wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The receipt. `None`: only runs that can be undone have one.
    pub receipt: Option<Detail>,
    /// The runs that can be undone. `None`: no run.
    pub undo: Option<Undo>,
    /// The directory of the undo store. `None`: no directory is known, or none is needed.
    pub store: Option<PathBuf>,
}

/// How closely a receipt is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// From the system's reports about a tree of directories.
    Watch,
    /// From every change of the run's own processes.
    Exact,
}

/// The undo of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undo {
    /// The runs that it is wanted for.
    pub when: When,
    /// A run that it would not cover in full is refused.
    pub require: bool,
    /// How much is kept.
    pub limits: Limits,
}

/// The runs that are to be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Those that a person would be warned of or asked about, and those that delete or overwrite what exists.
    Risky,
    /// All.
    Always,
}

impl Wanted {
    /// Whether the words of the command have to be known before it runs.
    pub fn needs_analysis(&self) -> bool {
        self.undo.is_some() || self.receipt == Some(Detail::Exact)
    }
}
