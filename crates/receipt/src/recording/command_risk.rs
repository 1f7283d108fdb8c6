//! The facts about a command before it runs.

use std::fs;

use safety::ReversalFacts;

/// The meaning of the words of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandRisk {
    /// Whether a rule matches: a person would be warned of the command, or asked about it.
    pub is_found: bool,
    /// The facts that count for an undo.
    pub reversal: ReversalFacts,
}

impl CommandRisk {
    /// Returns whether a rule matches, or the command deletes or overwrites existing files. Asks the file system.
    pub fn is_risky(&self) -> bool {
        let is_file = |path: String| fs::metadata(path).is_ok_and(|found| found.is_file());
        let mut targets = self.reversal.targets.iter().flat_map(|target| target.paths());
        self.is_found || self.reversal.overwrites || targets.any(is_file)
    }

    /// Returns the overwritten files that have more bytes than `most`, as parts of sentences. Asks the file system.
    pub fn files_too_large(&self, most: u64) -> impl Iterator<Item = String> {
        let paths = self.reversal.targets.iter().flat_map(|target| target.paths());
        paths.filter_map(move |path| {
            let size = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
            (size > most).then(|| format!("{path}, which has {size} bytes, of which at most {most} are kept"))
        })
    }

    /// Returns why the changes cannot be recorded, if they cannot.
    pub fn obstacle(&self) -> Option<String> {
        let program = self.reversal.elevated.as_ref()?;
        Some(format!("{program} needs rights that a recorded process does not get"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use safety::ReversalTarget;

    #[test]
    fn a_target_is_a_risk_if_a_file_is_there() {
        let directory = tempfile::tempdir().expect("a directory");
        fs::write(directory.path().join("file"), "x").expect("written");
        fs::create_dir(directory.path().join("empty")).expect("made");
        let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        for (target, names, is_risky) in [
            (path("file"), vec![], true),
            (path("new"), vec![], false),
            (path("empty"), vec![], false),
            (path("empty"), vec!["file".to_owned()], false),
            (path(""), vec!["other".to_owned(), "file".to_owned()], true),
            ("/dev/null".to_owned(), vec![], false),
        ] {
            let targets = vec![ReversalTarget { path: target.trim_end_matches('/').to_owned(), names }];
            let risk = CommandRisk {
                reversal: ReversalFacts { targets, ..ReversalFacts::default() },
                ..CommandRisk::default()
            };
            assert_eq!(risk.is_risky(), is_risky, "{risk:?}");
        }
        assert!(CommandRisk { is_found: true, ..CommandRisk::default() }.is_risky());
        let targets = vec![ReversalTarget { path: path("file"), names: vec![] }];
        let risk =
            CommandRisk { reversal: ReversalFacts { targets, ..ReversalFacts::default() }, ..CommandRisk::default() };
        assert_eq!((risk.files_too_large(0).count(), risk.files_too_large(1).count()), (1, 0));
    }
}
