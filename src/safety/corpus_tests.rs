//! The corpus of `__test__/safety/corpus`, held against the engine; vitest does the same through the addon.

use super::{Analysis, Environment, Policy, Setting, Verdict, analyze};

const VARIABLES: &str = "HOME=/home/dev\0USER=dev\0PATH=/usr/local/bin:/usr/bin:/bin\0LANG=C.UTF-8\0";

/// A line of the corpus.
pub struct Line {
    /// `allow`, `ask`, `deny`, or `stop` for either of the two.
    pub wanted: String,
    /// Rules, one of which is to be named.
    pub rules: Option<String>,
    /// What is judged.
    pub command: String,
    why: String,
}

/// All of it.
pub fn corpus() -> Vec<Line> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/__test__/safety/corpus");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let texts = files.iter().map(|file| std::fs::read_to_string(file).unwrap());
    texts
        .flat_map(|text| {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<_>>()
        })
        .map(|(wanted, rules, command, why)| Line { wanted, rules, command, why })
        .collect()
}

/// Judges as the corpus wants it.
pub fn judge(command: &str) -> Analysis {
    let environment = Environment(VARIABLES);
    let setting = Setting { cwd: "/home/dev/project", home: "/home/dev", environment, ..Setting::default() };
    analyze(command, setting, &Policy::default())
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
