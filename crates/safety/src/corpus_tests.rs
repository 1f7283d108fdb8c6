//! Checks the engine against the corpus in `__test__/safety/corpus`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{
    AnalysisConfidence, AnalysisContext, CommandAnalysis, EnvironmentBlock, RULES, RuleFinding, SafetyPolicy,
    SafetyVerdict, analyze,
};

const VARIABLES: &str = "HOME=/home/dev\0USER=dev\0PATH=/usr/local/bin:/usr/bin:/bin\0LANG=C.UTF-8\0";

/// A line of the corpus.
pub struct CorpusLine {
    /// `allow`, `ask`, `deny`, or `stop` for either of the two.
    pub wanted: String,
    /// The ids of rules. At least one of them must find something.
    pub rules: Option<String>,
    /// The command to judge.
    pub command: String,
    why: String,
}

/// Returns the whole corpus.
pub fn corpus() -> Vec<CorpusLine> {
    let mut files = files_of("");
    files.extend(outside());
    files.sort();
    files.iter().flat_map(|file| lines_of(file)).collect()
}

/// Returns the files about effects that leave the machine or cannot be undone there. Each rule has one file, written
/// before the rule.
pub fn outside() -> Vec<PathBuf> {
    let has_rule = |file: &PathBuf| RULES.iter().any(|rule| file.file_stem().is_some_and(|stem| stem == rule.id));
    files_of("outside").into_iter().filter(has_rule).collect()
}

fn files_of(directory: &str) -> Vec<PathBuf> {
    let directory = format!("{}/../../__test__/safety/corpus/{directory}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

/// Returns the lines of a file.
pub fn lines_of(file: &Path) -> Vec<CorpusLine> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let read = |line| {
        let (wanted, rules, command, why) = serde_json::from_str(line).unwrap();
        CorpusLine { wanted, rules, command, why }
    };
    lines.map(read).collect()
}

/// Judges a command in the surroundings of the corpus.
pub fn judge(command: &str) -> CommandAnalysis {
    let environment = EnvironmentBlock(VARIABLES);
    let context =
        AnalysisContext { cwd: "/home/dev/project", home: "/home/dev", environment, ..AnalysisContext::default() };
    analyze(command, context, &SafetyPolicy::default())
}

/// Returns whether an analysis agrees with a line.
fn is_right(line: &CorpusLine, analysis: &CommandAnalysis) -> bool {
    let found = |named: &str, level: Option<SafetyVerdict>| {
        let mut findings = analysis.findings.iter().filter(|finding| finding.rule_id == named);
        findings.any(|finding| level.is_none_or(|level| finding.level == level))
    };
    let names = |level| line.rules.as_ref().is_none_or(|rules| rules.split('|').any(|rule| found(rule, level)));
    let incomplete = line.rules.as_ref().is_some_and(|rules| rules.split('|').any(|rule| rule == "incomplete"));
    match line.wanted.as_str() {
        "allow" => analysis.verdict <= SafetyVerdict::Warn && analysis.complete,
        "ask" => analysis.verdict == SafetyVerdict::Ask && names(None) && !(incomplete && analysis.complete),
        "deny" => analysis.verdict == SafetyVerdict::Deny && names(Some(SafetyVerdict::Deny)),
        "stop" => analysis.verdict >= SafetyVerdict::Ask && names(None),
        other => panic!("{other} is no verdict"),
    }
}

#[test]
fn corpus_is_judged_as_it_says() {
    let mut missed = Vec::new();
    let corpus = corpus();
    for line in &corpus {
        let analysis = judge(&line.command);
        if !is_right(line, &analysis) {
            let findings: Vec<_> = analysis.findings.iter().map(|finding| (&finding.rule_id, finding.level)).collect();
            missed.push(format!(
                "{} {:?}, got {:?} {findings:?} complete={}: {:?} ({})",
                line.wanted, line.rules, analysis.verdict, analysis.complete, line.command, line.why
            ));
        }
    }
    assert!(missed.is_empty(), "{}\n{} of {} lines", missed.join("\n"), missed.len(), corpus.len());
}

#[test]
fn corpus_has_each_command_once_with_its_reason() {
    let corpus = corpus();
    let mut seen = BTreeSet::new();
    let twice: Vec<_> = corpus.iter().filter(|line| !seen.insert(&line.command)).map(|line| &line.command).collect();
    assert!(twice.is_empty(), "{twice:#?}");
    assert!(corpus.iter().all(|line| !line.why.is_empty()));
    let count = |wanted: &str| corpus.iter().filter(|line| line.wanted == wanted).count();
    assert!(count("deny") >= 250 && count("ask") >= 250 && count("allow") >= 700, "a part of the corpus is gone");
}

/// Returns the fault of a finding, if it has one.
fn fault(finding: &RuleFinding, command: &str) -> Option<&'static str> {
    let word = |word: &str| !word.is_empty() && word.bytes().all(|letter| letter.is_ascii_lowercase());
    let (start, end) = finding.span;
    let exact = finding.confidence == AnalysisConfidence::Exact;
    [
        (!finding.rule_id.split('-').all(word), "its rule's id is no name"),
        (finding.level == SafetyVerdict::Deny && !exact, "it denies and is not exact"),
        (start > end || end > command.encode_utf16().count(), "its span is outside of the command"),
        (finding.message.is_empty(), "it has no message"),
    ]
    .into_iter()
    .find_map(|(wrong, why)| wrong.then_some(why))
}

#[test]
fn findings_of_the_corpus_name_their_commands_and_suggest_what_passes() {
    let mut faults = Vec::new();
    let mut suggestions = BTreeSet::new();
    for CorpusLine { command, .. } in corpus() {
        for finding in judge(&command).findings {
            faults.extend(fault(&finding, &command).map(|why| format!("{}: {why}: {command:?}", finding.rule_id)));
            suggestions.insert(finding.suggestion);
        }
    }
    assert!(suggestions.len() > 1);
    let stopped = suggestions.iter().filter(|suggestion| judge(suggestion).verdict > SafetyVerdict::Warn);
    faults.extend(stopped.map(|suggestion| format!("a suggestion is stopped: {suggestion:?}")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
