//! Finds the processes of a tree that read the output of others, and can wait for the end of their input.

use std::collections::{HashMap, HashSet};

use nix::unistd::Pid;

use crate::tree::TreeMember;
use sys::ProcessProgram;

/// Shells and other programs that act on each part of their input. A part of the input can mean something else than the
/// whole, and the following lines of a script depend on the whole.
const ACT_ON_INPUT: &[&str] = &[
    "sh",
    "bash",
    "rbash",
    "dash",
    "ash",
    "zsh",
    "ksh",
    "mksh",
    "oksh",
    "yash",
    "csh",
    "tcsh",
    "fish",
    "nu",
    "pwsh",
    "xargs",
    "parallel",
    "at",
    "batch",
    "crontab",
    "sponge",
    "patch",
    "ed",
    "ex",
    "kubectl",
    "psql",
    "mysql",
    "mariadb",
    "sqlite",
    "redis-cli",
    "busybox",
    "toybox",
];
/// Interpreters that read their program from standard input if their arguments name no program.
const INTERPRETERS: &[&str] = &["python", "pypy", "node", "nodejs", "deno", "bun", "perl", "ruby", "php"];

/// A process of a tree, with its pipes.
#[derive(Debug, Clone)]
pub struct PipelineProcess {
    /// The process.
    pub member: TreeMember,
    /// The pipes that it has open for reading.
    pub reads: Vec<String>,
    /// The pipes that it has open for writing.
    pub writes: Vec<String>,
    /// Whether the process acts on each part of its input.
    pub acts: bool,
    /// Whether the process has a handler of SIGTERM.
    pub handles_terminate: bool,
}

impl PipelineProcess {
    /// Returns whether this process writes a pipe that `reader` reads. A reader that holds the write end of a pipe as
    /// well never finds its end.
    fn feeds(&self, reader: &Self) -> bool {
        let ends = |pipe: &&String| !reader.writes.contains(*pipe);
        self.member.pid != reader.member.pid && reader.reads.iter().filter(ends).any(|pipe| self.writes.contains(pipe))
    }
}

/// Returns whether a program acts on each part of its input, such as a shell that reads its commands.
pub fn acts_on_input(program: &ProcessProgram) -> bool {
    let ProcessProgram { executable, name, arguments, .. } = program;
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let called = words.first().and_then(|word| word.trim_start_matches('-').rsplit('/').next()).unwrap_or_default();
    // An executable that contains many programs is recognised only by the name of the process.
    let applet = ["busybox", "toybox"].contains(&executable.as_str());
    let names = if applet { [name.as_str(), called, ""] } else { [executable.as_str(), name.as_str(), called] };
    // `python3.12` and `bash5` are `python` and `bash`.
    let mut names =
        names.map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit() || ".-".contains(c))).into_iter();
    names.any(|name| {
        ACT_ON_INPUT.contains(&name)
            || INTERPRETERS.contains(&name)
                && (words.contains(&"-") || words.iter().skip(1).all(|word| word.starts_with('-')))
    })
}

/// Returns the processes whose signal can wait for the end of their input: the readers of pipes that other processes of
/// `stages` write. Other processes are signalled first, and end the input with their own end. The result excludes
/// readers that act on their input, readers of nothing but the output of processes below them, which they control, and
/// rings of pipes, which never end by themselves.
pub fn readers(stages: &[PipelineProcess]) -> HashSet<Pid> {
    let feeders: HashMap<Pid, Vec<Pid>> = stages
        .iter()
        .filter(|stage| !stage.acts && !stage.reads.is_empty())
        .map(|reader| {
            let feeds = |stage: &&PipelineProcess| stage.feeds(reader) && !is_below(stages, stage, reader.member.pid);
            (reader.member.pid, stages.iter().filter(feeds).map(|stage| stage.member.pid).collect())
        })
        .filter(|(_, feeders): &(Pid, Vec<Pid>)| !feeders.is_empty())
        .collect();
    let mut ring: HashSet<Pid> = feeders.keys().copied().collect();
    // A process is in no ring if no other reader feeds it, or if it feeds no other reader. The processes that are left
    // after such processes were taken away, again and again, are in a ring or between two rings.
    loop {
        let fed = |pid: &Pid| feeders[pid].iter().any(|feeder| ring.contains(feeder));
        let feeding: HashSet<Pid> = ring.iter().flat_map(|pid| &feeders[pid]).copied().collect();
        let rest: HashSet<Pid> = ring.iter().filter(|pid| fed(pid) && feeding.contains(pid)).copied().collect();
        if rest.len() == ring.len() {
            break;
        }
        ring = rest;
    }
    feeders.into_keys().filter(|pid| !ring.contains(pid)).collect()
}

/// Returns whether a process of `front`, which were signalled, still writes what a reader of `deferred` waits for. A
/// process above the reader whose children are all deferred waits for the reader itself.
pub fn is_fed(stages: &[PipelineProcess], deferred: &HashSet<Pid>) -> bool {
    let (waiting, front): (Vec<&PipelineProcess>, Vec<&PipelineProcess>) =
        stages.iter().partition(|stage| deferred.contains(&stage.member.pid));
    front.iter().any(|writer| {
        let waits = || front.iter().all(|other| other.member.parent() != writer.member.pid);
        let mut fed = waiting.iter().filter(|reader| writer.feeds(reader));
        fed.any(|reader| !is_below(stages, reader, writer.member.pid) || !waits())
    })
}

/// Returns whether `above` is the parent of a process, or an ancestor.
fn is_below(stages: &[PipelineProcess], stage: &PipelineProcess, above: Pid) -> bool {
    let mut at = stage;
    // A parent that ended while the processes were listed could lead in a circle.
    for _ in 0..stages.len() {
        let parent = at.member.parent();
        if parent == above {
            return true;
        }
        let Some(next) = stages.iter().find(|stage| stage.member.pid == parent) else { return false };
        at = next;
    }
    false
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
pub mod tests;
