//! A judged command, as far as a host's rules need it.

use crate::analysis::{AnalyzedWord, CommandAnalysis, CommandUnit, ReadOnly};
use crate::read_only::{git_reads, makes_programs_run};
use crate::verdict::SafetyVerdict;
use crate::word_value::WordValue;

/// Paths that are not files.
static STREAMS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero", "/dev/full"];

/// Builtins that set variables by their words.
static DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// A judged command.
#[derive(Clone, Debug)]
pub struct JudgedCommand<'a> {
    /// All simple commands in it.
    pub units: &'a [JudgedSimpleCommand<'a>],
    /// The verdict of the engine's own rules.
    pub verdict: SafetyVerdict,
    /// Whether all of it could be judged.
    pub complete: bool,
    /// The directory that the command starts in, absolute and normalised.
    pub first_cwd: &'a str,
}

/// One simple command.
#[derive(Clone, Debug, Default)]
pub struct JudgedSimpleCommand<'a> {
    /// The source text.
    pub source: &'a str,
    /// The words, and whether each is known.
    pub argv: Vec<(&'a str, bool)>,
    /// Words of wrappers before the command.
    pub prefix: Vec<&'a str>,
    /// The chain of wrappers and scripts that leads to the command: `sudo`, `bash -c`, `heredoc` …
    pub via: Vec<&'a str>,
    /// `NAME=value` before the command, as written.
    pub assignments: Vec<&'a str>,
    /// `NAME=value` behind `export` and the like.
    pub declared: Vec<&'a str>,
    /// The files that the redirects write, without `/dev/null`.
    pub writes: Vec<WritingRedirect<'a>>,
    /// The place in the whole command. A nested unit has the place of the word that holds it.
    pub span: (usize, usize),
    /// Whether the command only runs other units.
    pub wrapper: bool,
    /// Whether the command is in the body of a heredoc.
    pub heredoc: bool,
    /// Whether the command only reads, but for what a repository's settings make git run.
    pub reads: bool,
}

/// A redirect that writes.
#[derive(Clone, Copy, Debug)]
pub struct WritingRedirect<'a> {
    /// The absolute, normalised path. `None` if it is not known.
    pub path: Option<&'a str>,
    /// The source text.
    pub text: &'a str,
}

/// Returns the units of an analysis.
pub fn units(analysis: &CommandAnalysis) -> Vec<JudgedSimpleCommand<'_>> {
    analysis.commands.iter().map(JudgedSimpleCommand::new).collect()
}

impl<'a> JudgedSimpleCommand<'a> {
    fn new(unit: &'a CommandUnit) -> Self {
        let file =
            |path: Option<&str>| !path.is_some_and(|path| STREAMS.contains(&path) || path.starts_with("/dev/fd/"));
        let written = unit.redirects.iter().filter(|redirect| redirect.writes_file());
        let writes = written.map(|redirect| (redirect, redirect.path.as_deref())).filter(|(_, path)| file(*path));
        let writes: Vec<WritingRedirect> =
            writes.map(|(redirect, path)| WritingRedirect { path, text: &redirect.target.text }).collect();
        let reads = unit.read_only == ReadOnly::Yes || writes.is_empty() && reads_as_git(unit);
        let declares = unit.path.as_deref().is_some_and(|name| DECLARING.contains(&name));
        let declared = unit.argv.iter().skip(1).filter(|_| declares).map(|word| word.text.as_str()).collect();
        Self {
            declared,
            source: &unit.source,
            argv: unit.argv.iter().map(|word| (word.text.as_str(), word.known)).collect(),
            prefix: unit.prefix.iter().map(String::as_str).collect(),
            via: unit.via.iter().map(String::as_str).collect(),
            assignments: unit.assignments.iter().map(String::as_str).collect(),
            writes,
            span: unit.span,
            wrapper: unit.wrapper,
            heredoc: unit.via.iter().any(|via| via == "heredoc"),
            reads,
        }
    }
}

/// Returns whether a command is a call of git that reads, apart from what a repository's settings make git run.
fn reads_as_git(unit: &CommandUnit) -> bool {
    let runs_more = |assignment: &String| {
        let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        makes_programs_run(name, &WordValue::of(value))
    };
    unit.argv.first().is_some_and(|program| program.known && program.text == "git")
        && !unit.assignments.iter().any(runs_more)
        && git_reads(&unit.argv.iter().map(AnalyzedWord::value).collect::<Vec<_>>())
}

impl JudgedCommand<'_> {
    /// Returns a path as rules write it: relative to the first directory if the path lies below that.
    pub fn relative<'b>(&self, path: &'b str) -> &'b str {
        let cwd = self.first_cwd.trim_end_matches('/');
        let below = path.strip_prefix(cwd).and_then(|rest| rest.strip_prefix('/'));
        below.filter(|rest| !rest.is_empty() && !cwd.is_empty()).unwrap_or(path)
    }
}
