//! Checks the engine against the corpus in `__test__/safety/corpus`. vitest does the same through the addon.

use std::path::{Path, PathBuf};

use super::{Analysis, Context, Environment, Policy, RULES, Verdict, analyze};

const VARIABLES: &str = "HOME=/home/dev\0USER=dev\0PATH=/usr/local/bin:/usr/bin:/bin\0LANG=C.UTF-8\0";

/// A line of the corpus.
pub struct Line {
    /// `allow`, `ask`, `deny`, or `stop` for either of the two.
    pub wanted: String,
    /// The ids of rules, one of which must be found.
    pub rules: Option<String>,
    /// The command to judge.
    pub command: String,
    why: String,
}

/// The whole corpus.
pub fn corpus() -> Vec<Line> {
    let mut files = files_of("");
    files.extend(outside());
    files.sort();
    files.iter().flat_map(|file| lines_of(file)).collect()
}

/// The files about what leaves the machine, or cannot be taken back there: one for each rule, written before the rule.
pub fn outside() -> Vec<PathBuf> {
    let has_rule = |file: &PathBuf| RULES.iter().any(|rule| file.file_stem().is_some_and(|stem| stem == rule.id));
    files_of("outside").into_iter().filter(has_rule).collect()
}

fn files_of(directory: &str) -> Vec<PathBuf> {
    let directory = format!("{}/__test__/safety/corpus/{directory}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

/// The lines of a file.
pub fn lines_of(file: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = |line| {
        let (wanted, rules, command, why) = serde_json::from_str(line).unwrap();
        Line { wanted, rules, command, why }
    };
    lines.map(read).collect()
}

/// Judges a command in the surroundings of the corpus.
pub fn judge(command: &str) -> Analysis {
    let environment = Environment(VARIABLES);
    let context = Context { cwd: "/home/dev/project", home: "/home/dev", environment, ..Context::default() };
    analyze(command, context, &Policy::default())
}

#[test]
fn corpus_is_judged_as_it_says() {
    let mut missed = Vec::new();
    let corpus = corpus();
    for line in &corpus {
        let analysis = judge(&line.command);
        let named = |rule: &str| analysis.findings.iter().any(|finding| finding.rule_id == rule);
        let found = line.rules.as_ref().is_none_or(|rules| rules.split('|').any(named));
        let right = match line.wanted.as_str() {
            "allow" => analysis.verdict <= Verdict::Warn && analysis.complete,
            "ask" => analysis.verdict == Verdict::Ask && found,
            "deny" => analysis.verdict == Verdict::Deny && found,
            "stop" => analysis.verdict >= Verdict::Ask && found,
            other => panic!("{other} is no verdict"),
        };
        if !right {
            let findings: Vec<_> = analysis.findings.iter().map(|finding| (&finding.rule_id, finding.level)).collect();
            missed.push(format!(
                "{} {:?}, got {:?} {findings:?} complete={}: {:?} ({})",
                line.wanted, line.rules, analysis.verdict, analysis.complete, line.command, line.why
            ));
        }
    }
    assert!(missed.is_empty(), "{}\n{} of {} lines", missed.join("\n"), missed.len(), corpus.len());
}
