//! Text that bash refuses: the statements in it are judged as guesses.

use super::{
    AnalysisConfidence, AnalysisContext, CommandAnalysis, EnvironmentBlock, SafetyPolicy, SafetyVerdict, analyze,
};

fn judge(command: &str) -> CommandAnalysis {
    let context = AnalysisContext {
        cwd: "/home/dev/project",
        home: "/home/dev",
        environment: EnvironmentBlock("HOME=/home/dev\0USER=dev\0PATH=/usr/bin:/bin\0"),
        ..AnalysisContext::default()
    };
    analyze(command, context, &SafetyPolicy::default())
}

/// The findings of rules, as `rule: text`.
fn found(command: &str) -> Vec<String> {
    let analysis = judge(command);
    assert_eq!((analysis.verdict, analysis.complete), (SafetyVerdict::Ask, false), "{command}");
    let guesses = analysis.findings.iter().filter(|finding| finding.rule_id != "incomplete");
    guesses
        .map(|finding| {
            assert_eq!(finding.confidence, AnalysisConfidence::Partial, "{command}");
            format!("{}: {}", finding.rule_id, &command[finding.span.0..finding.span.1])
        })
        .collect()
}

#[test]
fn statements_in_the_rest_are_guesses() {
    for (command, expected) in [
        ("git push --force; )(", vec!["git-force-push: git push --force"]),
        ("if true; then git push --force", vec!["git-force-push: git push --force"]),
        ("echo $(git push --force", vec!["git-force-push: git push --force"]),
        ("X=--force; git push $X; for", vec!["git-force-push: git push $X"]),
        ("cd / && rm -rf * && (", vec!["rm-critical: cd / && rm -rf *"]),
        ("echo a\necho b; )\ngit push -f", vec!["git-force-push: git push -f"]),
        ("bash -c 'git push -f; )'", vec!["git-force-push: 'git push -f; )'"]),
        ("echo 'x", vec![]),
        ("echo )", vec![]),
    ] {
        assert_eq!(found(command), expected, "{command}");
    }
}

#[test]
fn a_line_before_the_fault_is_no_guess() {
    let analysis = judge("git push --force\necho )");
    assert_eq!((analysis.verdict, analysis.findings[0].confidence), (SafetyVerdict::Deny, AnalysisConfidence::Exact));
}

#[test]
fn guesses_are_listed_only_if_something_is_found() {
    let names = judge("ls\nrm x; git push --force; )").commands.into_iter().filter_map(|command| command.name);
    assert_eq!(names.collect::<Vec<_>>(), ["ls", "git"]);
}

/// Text in another language is handed to programs that are no shell: bash's grammar finds anything in it.
#[test]
fn code_of_other_languages_is_not_guessed_at() {
    assert_eq!(judge(r#"python -c 'db.exec("rm -rf / (")'"#).verdict, SafetyVerdict::Allow);
}
