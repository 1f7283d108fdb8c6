//! Finds the command inside a command, for callers that know only the words.

use super::dispatch::unwrap;
use super::inner_command::{CustomWrappers, InnerCommand};
use crate::options::parse;
use crate::programs;
use crate::programs::program::ProgramFact;
use crate::programs::wrapper::WrappedCommandForm;
use crate::simple_command_view::{CommandDirectories, CommandStdin, SimpleCommandView};
use crate::verdict::AnalysisConfidence;
use crate::word_value::WordValue;

/// The command that a wrapper or a shell runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrappedCommand {
    /// The words from this index on.
    Words(usize),
    /// Other words: `env -S 'A=1 npm test'`.
    Argv(Vec<Option<String>>),
    /// A script.
    Script(String),
    /// A command that the words do not tell: `bash install.sh`.
    Unknown,
}

/// Returns the command that a command runs, one level deep: `timeout 60 npm test` of `sudo -E timeout 60 npm test`.
/// `None` if the program does more than that, or runs a command in a container. A word that is `None` is not known.
pub fn wrapped_command(words: &[Option<&str>]) -> Option<WrappedCommand> {
    let argv: Vec<WordValue> = words.iter().map(|word| word.map_or_else(WordValue::unknown, WordValue::of)).collect();
    let directories = CommandDirectories { cwd: String::new(), home: String::new(), temp: Vec::new(), writable: None };
    let (cwd, input) = (WordValue::unknown(), CommandStdin::Inherited);
    let command = SimpleCommandView {
        argv: &argv,
        assignments: &[],
        redirects: &[],
        cwd: &cwd,
        input: &input,
        via: &[],
        directories: &directories,
    };
    let program = programs::of(command.name()?);
    let only_runs = program.only_runs_commands();
    match program.wrappers {
        [] if !only_runs => return None,
        // xargs: the words behind its options are the command, with items that are not known.
        [] if !program.has(|fact| matches!(fact, ProgramFact::RunsElsewhere)) && !program.options.short.is_empty() => {
            let first = parse(command.args(), &program.options).operands.first().copied();
            return first.map(|at| WrappedCommand::Words(at + 1));
        }
        // hyperfine prints its own output, not the output of its commands.
        wrappers if wrappers.iter().any(|wrapper| wrapper.form == WrappedCommandForm::Each) => return None,
        _ => {}
    }
    let found = unwrap(&command, &input, &CustomWrappers::new());
    let inside = found.into_iter().find_map(|inner| match inner {
        InnerCommand::Words { from, elsewhere: false, confidence: AnalysisConfidence::Exact, .. } => {
            Some(WrappedCommand::Words(from))
        }
        InnerCommand::Script { text, elsewhere, confidence: AnalysisConfidence::Exact, .. }
            if !elsewhere || only_runs =>
        {
            text.known().map(|text| WrappedCommand::Script(text.to_owned()))
        }
        InnerCommand::Argv { argv, elsewhere: false, confidence: AnalysisConfidence::Exact, .. } => {
            Some(WrappedCommand::Argv(argv.iter().map(|word| word.known().map(str::to_owned)).collect()))
        }
        _ => None,
    });
    inside.or_else(|| only_runs.then_some(WrappedCommand::Unknown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrappers_and_shells_have_a_command_inside() {
        let script = |text: &str| Some(WrappedCommand::Script(text.to_owned()));
        for (line, expected) in [
            ("sudo -E timeout 5 cat x", Some(WrappedCommand::Words(2))),
            ("timeout -k 1 5 cat x", Some(WrappedCommand::Words(4))),
            ("env -u B A=1 cat x", Some(WrappedCommand::Words(4))),
            ("xargs -n 1 wc -l", Some(WrappedCommand::Words(3))),
            ("xargs -I{} wc {}", Some(WrappedCommand::Words(2))),
            ("npx --yes jest", Some(WrappedCommand::Words(2))),
            ("uv run pytest", Some(WrappedCommand::Words(2))),
            ("bash -c ls", script("ls")),
            ("ssh host ls -l", script("ls -l")),
            ("watch ls", script("ls")),
            ("bash install.sh", Some(WrappedCommand::Unknown)),
            ("hyperfine ls", None),
            ("env", None),
            ("uv pip list", None),
            ("docker exec box ls", None),
            ("git status", None),
            ("mytool rm x", None),
        ] {
            let words: Vec<Option<&str>> = line.split(' ').map(Some).collect();
            assert_eq!(wrapped_command(&words), expected, "{line}");
        }
        assert_eq!(wrapped_command(&[Some("sudo"), Some("-u"), None, Some("ls")]), Some(WrappedCommand::Words(3)));
        assert_eq!(wrapped_command(&[None]), None);
    }
}
