use std::collections::HashSet;

use super::{RULES, SafetyRule};
use crate::{
    AnalysisConfidence, AnalysisContext, EnvironmentBlock, RuleFinding, SafetyPolicy, SafetyVerdict, findings,
};

/// Returns the engine's findings in the directories that rule files are written for.
pub fn judge(command: &str) -> Vec<RuleFinding> {
    let environment = "HOME=/home/dev\0USER=dev\0PATH=/usr/local/bin:/usr/bin:/bin\0LANG=C.UTF-8\0";
    let environment = EnvironmentBlock(environment);
    let context =
        AnalysisContext { cwd: "/home/dev/project", home: "/home/dev", environment, ..AnalysisContext::default() };
    findings(command, context, &SafetyPolicy::default())
}

/// Checks that each command has one finding with this suggestion, whose message begins with this text.
pub fn check_messages(cases: &[(&str, &str, &str)]) {
    for (command, message, suggestion) in cases {
        let findings = judge(command);
        let [finding] = findings.as_slice() else { panic!("{command}: {findings:#?}") };
        assert!(finding.message.starts_with(message), "{command}: {}", finding.message);
        assert_eq!(finding.suggestion, *suggestion, "{command}");
    }
}

fn finds(rule: &SafetyRule, command: &str) -> bool {
    judge(command).iter().any(|finding| finding.rule_id == rule.id)
}

#[test]
fn each_rule_finds_what_it_names() {
    let mut misses = Vec::new();
    for rule in RULES {
        // A branch may have such a name. The engine asks anyway.
        let level =
            |finding: &RuleFinding| finding.level == rule.level || finding.confidence != AnalysisConfidence::Exact;
        let found = |command: &str| judge(command).iter().any(|finding| finding.rule_id == rule.id && level(finding));
        misses.extend(rule.matches.iter().filter(|command| !found(command)).map(|command| (rule.id, command)));
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn each_rule_lets_through_what_it_names() {
    let mut misses = Vec::new();
    for rule in RULES {
        misses.extend(rule.passes.iter().filter(|command| finds(rule, command)).map(|command| (rule.id, command)));
    }
    assert!(misses.is_empty(), "{misses:#?}");
}

#[test]
fn no_suggestion_is_found_fault_with() {
    for command in RULES.iter().flat_map(|rule| rule.matches) {
        for finding in judge(command) {
            let faults: Vec<_> =
                judge(&finding.suggestion).into_iter().filter(|fault| fault.level > SafetyVerdict::Warn).collect();
            assert!(faults.is_empty(), "{command} → {} {faults:#?}", finding.suggestion);
        }
    }
}

#[test]
fn ids_are_kebab_case_and_unique() {
    let ids: HashSet<_> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(ids.len(), RULES.len());
    for rule in RULES {
        assert!(rule.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{}", rule.id);
        assert!(rule.matches.len() > 3 && rule.passes.len() > 3, "{}", rule.id);
        assert!(!rule.doc.is_empty() && !rule.doc.contains("  "), "{}", rule.id);
    }
}

#[test]
#[ignore = "stress: it measures time"]
fn long_commands_are_judged_in_time() {
    let many = |start: &str, word: &str, count: usize| format!("{start} {}", vec![word; count].join(" "));
    for command in [
        many("rm -rf", "a*b?c[d-f]*", 20_000),
        many("rm -rf", "../../../../a/b/c", 20_000),
        many("git add", ":(top,glob)**/x*", 20_000),
        many("git push origin", "--for", 20_000),
        many("git -c a.b=c", "-c a.b=c", 20_000),
        many("find .", "( -name x -o", 20_000),
        many("find . -delete", "-o -delete", 20_000),
        many("cp", "/dev/sd*", 20_000),
        many("tee", "~/.x/y", 20_000),
        many("mkfs.ext4", "-Fn/dev/x", 20_000),
        format!("rm -rf {}", "*a".repeat(50_000)),
        format!("rm -rf {}", "a/../".repeat(40_000)),
        format!("git add '{}'", "*?".repeat(50_000)),
        format!("sed '{}' x", "s/a/b/;".repeat(30_000)),
        format!("awk '{}' x", "{print $1}".repeat(20_000)),
        "a=(".repeat(20_000),
        "echo $(".repeat(20_000),
        "bash -c '$(a; )'; ".repeat(5_000),
    ] {
        let start = std::time::Instant::now();
        judge(&command);
        let took = start.elapsed();
        assert!(took.as_secs() < 60, "{took:?}: {}", &command[..40]);
    }
}
