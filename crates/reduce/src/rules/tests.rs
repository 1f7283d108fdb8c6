//! Each rule has a recorded fixture, its view, and the lines that the view must contain.

use std::fs;
use std::path::PathBuf;

use serde::Deserialize;

use super::{RULES, StreamRules, parse_user_rules};
use crate::reduced_view::DroppingRule;
use crate::{ExitOutcome, ReductionLevel, ReductionOptions, reduce};

/// The parts of a rule's file that only tests read.
#[derive(Deserialize)]
struct RuleExpectation {
    keep: Vec<String>,
    hint: Vec<String>,
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("rules")
}

/// Returns the fixture of each rule: its name, its text, and the expectations.
fn fixtures() -> impl Iterator<Item = (&'static str, String, RuleExpectation)> {
    RULES.iter().filter(|rule| rule.is_for_views()).map(|rule| {
        let read = |end: &str| fs::read_to_string(directory().join(format!("{}.{end}", rule.name))).expect(&rule.name);
        (&*rule.name, read("txt"), toml::from_str(&read("toml")).expect(&rule.name))
    })
}

#[test]
fn the_view_of_each_fixture_is_the_recorded_one() {
    let faults: Vec<String> =
        fixtures().filter_map(|fixture| Some(format!("{}: {}", fixture.0, fault(&fixture)?))).collect();
    assert!(faults.is_empty(), "UPDATE_VIEWS=1 writes the views.\n{}", faults.join("\n"));
}

/// Returns the fault in the view of a fixture. Rules without `drop` have none.
fn fault((name, text, expected): &(&'static str, String, RuleExpectation)) -> Option<String> {
    let rule = RULES.iter().find(|rule| rule.name == *name)?;
    if rule.drop.is_empty() {
        return None;
    }
    let options = ReductionOptions {
        command: Some(&expected.hint[0]),
        ..ReductionOptions::new(ReductionLevel::Salient { budget: 100_000 })
    };
    let Some(view) = reduce(text, "", ExitOutcome::Succeeded, &options) else { return Some("no view".to_owned()) };
    if !view.rules.iter().any(|rule| rule == name) {
        return Some(format!("it drops nothing: {:?}", view.rules));
    }
    let is_left_out = |number: usize| view.elided.iter().any(|gap| (gap.from..=gap.to).contains(&number));
    for line in &expected.keep {
        match text.lines().position(|each| each == line) {
            Some(number) if !is_left_out(number + 1) => {}
            Some(_) => return Some(format!("{line:?} is not in\n{}", view.text)),
            None => return Some(format!("the fixture has no {line:?}")),
        }
    }
    let path = directory().join(format!("{name}.view.txt"));
    if std::env::var_os("UPDATE_VIEWS").is_some() {
        fs::write(&path, &view.text).expect("a view");
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    (recorded != view.text).then(|| format!("its view is now\n{}", view.text))
}

#[test]
fn the_lines_that_a_rule_keeps_are_never_dropped() {
    for (name, text, expected) in fixtures() {
        let mut rules = StreamRules::of(&expected.hint, &[], &[]);
        for line in text.lines() {
            let dropped = rules.judge_line(line).dropped.is_some();
            assert!(!(dropped && expected.keep.iter().any(|kept| kept == line)), "{name}: {line}");
        }
    }
}

#[test]
fn a_rule_needs_its_proof() {
    for (name, text, expected) in fixtures() {
        let mut rules = StreamRules::of(&expected.hint, &[], &[]);
        let rule = RULES.iter().find(|rule| rule.name == name).expect(name);
        let unproven = text.lines().filter(|line| RULES.iter().all(|rule| !rule.proof.matches(line)));
        for line in unproven {
            assert_eq!(rules.judge_line(line).dropped, None, "{name}: {line}");
        }
        assert!(text.lines().any(|line| rule.proof.matches(line)), "{name}: no line proves it");
    }
}

#[test]
fn a_rule_that_is_off_drops_nothing() {
    for (name, text, expected) in fixtures() {
        let off = [name.to_owned()];
        let mut rules = StreamRules::of(&expected.hint, &[], &off);
        let is_other = |dropped: DroppingRule| super::rule_name(dropped.rule, &[]) != name;
        assert!(text.lines().all(|line| rules.judge_line(line).dropped.is_none_or(is_other)), "{name}");
    }
}

#[test]
fn a_gap_of_what_failed_is_not_the_work_of_a_rule_that_spares_failures() {
    let number = |at: usize| at * at * 31 % 10_007;
    let passed: String = (0..400).map(|at| format!("test orders::number_{} ... ok\n", number(at))).collect();
    let text = format!("running 401 tests\ntest orders::total ... FAILED\n{passed}\ntest result: FAILED. 400 passed\n");
    let options = ReductionOptions {
        command: Some("cargo test"),
        ..ReductionOptions::new(ReductionLevel::Salient { budget: 100 })
    };
    let view = reduce(&text, "", ExitOutcome::Failed, &options).expect("a view");
    assert!(!view.elided.is_empty() && view.elided.iter().all(|gap| gap.why.name() == "budget"), "{:?}", view.elided);
}

/// A rule of a user, with a line that is dropped, and a line that is pinned although `drop` matches.
const DEPLOY: &str = r#"
name = "deploy"
hint = ["deploy.sh"]
proof = ['^deploying to ']
drop = ['^uploaded ', '^ok$|^fine$']
pin = ['manifest\.json$']
on = "green"
keep = ["uploaded manifest.json", "not fine"]
"#;

fn error(text: &str) -> (usize, String) {
    let error = parse_user_rules(text).expect_err("an error");
    (error.line, error.reason.to_string())
}

#[test]
fn a_rule_of_a_user_drops_and_pins_lines_of_its_tool() {
    let own = parse_user_rules(DEPLOY).expect("a rule");
    let uploads: String = (0..200).map(|number| format!("uploaded file-{number}.css\n")).collect();
    let text = format!("deploying to staging\n{uploads}uploaded manifest.json\n{uploads}done\n");
    let options = ReductionOptions {
        command: Some("./deploy.sh staging"),
        own: &own,
        ..ReductionOptions::new(ReductionLevel::Salient { budget: 100_000 })
    };
    for command in ["deploy.sh", "./deploy.sh staging"] {
        let options = ReductionOptions { command: Some(command), ..options };
        let view = reduce(&text, "", ExitOutcome::Succeeded, &options).expect("a view");
        assert!(view.rules.contains(&"deploy".into()), "{command}: {:?}", view.rules);
        assert!(view.elided.iter().all(|gap| gap.why.name() == "deploy"), "{command}: {:?}", view.elided);
        assert!(view.text.contains("\nuploaded manifest.json\n"), "{command}: {}", view.text);
    }
    let off = ["deploy".to_owned()];
    let view = reduce(&text, "", ExitOutcome::Succeeded, &ReductionOptions { off: &off, ..options });
    assert!(view.is_none_or(|view| view.elided.is_empty()));
}

#[test]
fn a_pattern_may_have_branches_behind_its_anchor() {
    let own = parse_user_rules(DEPLOY).expect("a rule");
    let mut rules = StreamRules::of(&["deploy.sh".to_owned()], &own, &[]);
    let dropped: Vec<&str> =
        ["fine", "deploying to x", "fine", "ok", "not fine", "uploaded x", "uploaded manifest.json"]
            .into_iter()
            .filter(|line| rules.judge_line(line).dropped.is_some())
            .collect();
    assert_eq!(dropped, ["fine", "ok", "uploaded x"]);
}

#[test]
fn a_rule_of_a_user_stands_in_the_place_of_the_shipped_one_with_its_name() {
    let own = parse_user_rules(&DEPLOY.replace("\"deploy\"", "\"make\"").replace("deploy.sh", "make")).expect("a rule");
    let mut rules = StreamRules::of(&["make".to_owned()], &own, &[]);
    assert_eq!(rules.judge_line("make[1]: Entering directory '/srv/app'").dropped, None);
    rules.judge_line("deploying to x");
    let dropped = rules.judge_line("uploaded x").dropped.expect("a rule that drops it");
    assert_eq!(super::rule_name(dropped.rule, &own), "make");
}

#[test]
fn a_file_may_have_several_rules() {
    let text = format!("[[rule]]{DEPLOY}[[rule]]{}", DEPLOY.replace("\"deploy\"", "\"release\""));
    let names: Vec<String> =
        parse_user_rules(&text).expect("two rules").iter().map(|rule| rule.name.to_string()).collect();
    assert_eq!(names, ["deploy", "release"]);
    let twice = format!("[[rule]]{DEPLOY}[[rule]]{DEPLOY}");
    assert_eq!(error(&twice), (10, "there are two rules \"deploy\"".to_owned()));
}

#[test]
fn an_error_names_its_line_and_the_reason() {
    let with = |from: &str, to: &str| error(&DEPLOY.replace(from, to));
    assert_eq!(with("'^uploaded ',", "'^uploaded ', '(',"), (5, "unclosed group".to_owned()));
    assert_eq!(with("'^deploying to '", ""), (4, "a rule needs a proof: a line that only its tool prints".to_owned()));
    assert_eq!(with("\"deploy.sh\"", ""), (3, "a rule needs a hint: the programs whose output it is for".to_owned()));
    assert_eq!(
        with("manifest\\.json$", "index"),
        (8, "the rule drops a line that it must keep: \"uploaded manifest.json\"".to_owned())
    );
    assert_eq!(with("name = \"deploy\"\n", ""), (1, "a rule needs a name".to_owned()));
    let (line, reason) = with("\"deploy\"", "\"seen\"");
    assert!(line == 2 && reason.starts_with("\"seen\" is no name: "), "{line}: {reason}");
    let (line, reason) = with("on = ", "when = ");
    assert!(line == 7 && reason.contains("unknown field `when`"), "{line}: {reason}");
    assert_eq!(
        with("keep = ", "check = \"test\"\nkeep = "),
        (2, "only the rules of the package name checks and count tests".to_owned())
    );
    let (line, reason) = with("'^uploaded ',", "'^uploaded ,");
    assert!(line == 5, "{line}: {reason}");
}

#[test]
fn a_file_is_bounded() {
    let with = |drop: &str| error(&DEPLOY.replace("'^uploaded '", drop));
    assert_eq!(with(&vec!["'a'"; 101].join(",")), (5, "a list has more than 100 patterns".to_owned()));
    assert_eq!(with(&format!("'{}'", "a".repeat(1_001))), (5, "a pattern has more than 1000 bytes".to_owned()));
    let complex = (5, "it takes too much memory: simplify the patterns".to_owned());
    assert_eq!(with("'(a|b)*a(a|b){20}'"), complex);
    assert_eq!(with("'((a{100}){100}){100}'"), complex);
    assert_eq!(error(&"# \n".repeat(30_000)), (1, "the file has more than 65536 bytes".to_owned()));
    let many: String =
        (0..17).map(|at| format!("[[rule]]{}", DEPLOY.replace("\"deploy\"", &format!("\"a{at}\"")))).collect();
    assert_eq!(error(&many), (1, "the file has more than 16 rules".to_owned()));
}

#[test]
fn each_rule_says_where_its_fixture_is_from() {
    for rule in RULES.iter().filter(|rule| rule.is_for_views()) {
        let text = fs::read_to_string(directory().join(format!("{}.toml", rule.name))).expect(&rule.name);
        let head: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        let is_said =
            |line: &&str| line.starts_with("# Recorded with ") || line.starts_with("# Written by hand after ");
        assert_eq!(head.iter().filter(|line| is_said(line)).count(), 1, "{}: {head:?}", rule.name);
    }
}
