//! The rules by which git ignores files.

use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The file with rules for its directory and everything below.
pub const FILE: &str = ".gitignore";

/// The rules for a directory. They serve only to sum up directories: a rule that cannot be read ignores nothing.
#[derive(Debug, Clone, Default)]
pub struct IgnoreRules(Option<Arc<IgnoreRulesLevel>>);

#[derive(Debug)]
struct IgnoreRulesLevel {
    rules: Gitignore,
    above: IgnoreRules,
}

impl IgnoreRules {
    /// Returns the rules of a repository, by the top of its work tree, and the directory with its `info`. The user's
    /// own rules have the lowest precedence.
    pub fn of_repository(top: &Path, common: &Path) -> Self {
        let (global, _) = Gitignore::global();
        let user = Self::add_level(global, Self::default());
        let own = Self::read(top, &common.join("info/exclude"), user);
        own.inside(top)
    }

    /// Returns the rules for a directory: the rules of the directory above, and the directory's own file of rules, if
    /// any.
    pub fn inside(&self, directory: &Path) -> Self {
        if self.0.is_none() {
            // Outside of repositories nothing is ignored.
            return Self::default();
        }
        Self::read(directory, &directory.join(FILE), self.clone())
    }

    fn read(base: &Path, file: &Path, above: Self) -> Self {
        let mut builder = GitignoreBuilder::new(base);
        // Invalid lines have no effect in git either.
        let _ = builder.add(file);
        match builder.build() {
            Ok(rules) if !rules.is_empty() => Self::add_level(rules, above),
            _ => above,
        }
    }

    fn add_level(rules: Gitignore, above: Self) -> Self {
        Self(Some(Arc::new(IgnoreRulesLevel { rules, above })))
    }

    /// Returns whether a directory is ignored by its own name. A directory below an ignored directory is ignored as
    /// well.
    pub fn ignores_directory(&self, directory: &Path) -> bool {
        self.ignores_path(directory, true)
    }

    /// Returns whether a file or a directory is ignored by its own name.
    pub fn ignores_path(&self, path: &Path, is_directory: bool) -> bool {
        let mut at = self.0.as_ref();
        while let Some(level) = at {
            match level.rules.matched(path, is_directory) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => at = level.above.0.as_ref(),
            }
        }
        false
    }
}
