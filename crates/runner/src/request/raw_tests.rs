use super::*;

fn read(json: &str) -> RawOptions {
    RawOptions::from_json(json).expect("options")
}

#[test]
fn a_missing_option_has_its_default() {
    let none = read("{}");
    assert!(none.sanitize == cleaned() && none.spill.is_some() && none.on_timeout == OnTimeout::Background);
    assert!(none.undo.is_none() && none.snapshot.is_none() && none.inherit == InheritMode::Safe && none.warm.is_none());
    assert!(none.safety.guard().expect("rules").is_some());
}

#[test]
fn every_shape_of_an_option_is_read() {
    let words = read(
        r#"{"sanitize":false,"spill":false,"snapshot":true,"undo":"always","inheritEnv":"none","safety":"off",
            "onTimeout":"kill","receipt":"exact","env":[["A","1"],["B",null]],"timeoutMs":5}"#,
    );
    assert!(words.sanitize.is_none() && words.spill.is_none() && words.on_timeout == OnTimeout::Kill);
    assert_eq!(words.snapshot, Some(RawSnapshot::User));
    assert_eq!(words.undo, Some(RawUndo { when: UndoWhen::Always, ..RawUndo::default() }));
    assert_eq!(words.inherit, InheritMode::None);
    assert_eq!(words.safety.guard().expect("none"), None);
    assert_eq!(words.env, [("A".to_owned(), Some("1".to_owned())), ("B".to_owned(), None)]);
    assert_eq!(words.timeout_ms, Some(5.0));
    let parts = read(
        r#"{"sanitize":{"ansi":false,"progress":"keep"},"spill":{"dir":"/s","maxBytes":7,"allocate":true},"snapshot":"/rc",
            "undo":{"maxBytes":9,"dir":"/u"},"inheritEnv":["A"],"safety":{"rules":[["git-reset-hard","off"],["x",null]],
            "onAsk":"deny"},"confine":{"options":{"profile":"read-only"},"owner":3,"root":"/r","joins":true},
            "limits":{"cpuSeconds":1.5},"streams":{"bytes":true,"fed":false},"registry":4,"aborted":true,
            "reduce":{"budgetTokens":5,"off":[],"keepPatterns":[["a","i"]],"earlier":[{"id":1,"text":"t","hidden":[[1,2]]}]}}"#,
    );
    assert_eq!(parts.sanitize, Some(SanitizeRules { ansi: false, progress: ProgressLineHandling::Keep }));
    let spill = parts.spill.expect("a place");
    assert_eq!((spill.dir.as_deref(), spill.max_bytes, spill.allocate), (Some("/s"), Some(7.0), true));
    assert_eq!(parts.snapshot, Some(RawSnapshot::File("/rc".into())));
    let undo = RawUndo { max_bytes: Some(9.0), dir: Some("/u".into()), ..RawUndo::default() };
    assert_eq!(parts.undo, Some(undo));
    assert_eq!(parts.inherit, InheritMode::Names(vec!["A".into()]));
    let guard = parts.safety.guard().expect("rules").expect("a guard");
    assert!(guard.denies_ask && guard.policy.levels.len() == 1);
    let world =
        RawWorld { options: r#"{"profile":"read-only"}"#.into(), owner: 3, root: Some("/r".into()), joins: true };
    assert_eq!(parts.confine, Some(world));
    assert_eq!(parts.limits.and_then(|limits| limits.cpu_seconds), Some(1.5));
    assert_eq!(
        (parts.streams, parts.registry_number),
        (Some(CallerStreamOptions { bytes: true, fed: false }), Some(4))
    );
    let reduce = parts.reduce.expect("a reduction");
    assert_eq!((reduce.keep_patterns.len(), reduce.earlier[0].hidden[0]), (1, (1, 2)));
}

#[test]
fn numbers_that_json_lacks_cross_as_text() {
    let read = |json: &str| read(json).timeout_ms.expect("a number");
    assert!(read(r#"{"timeoutMs":"NaN"}"#).is_nan());
    assert_eq!(read(r#"{"timeoutMs":"-Infinity"}"#), f64::NEG_INFINITY);
}

#[test]
fn an_unknown_option_and_a_wrong_type_are_refused() {
    for json in
        [r#"{"timeoutMS":1}"#, r#"{"undo":{"size":1}}"#, r#"{"merge":1}"#, r#"{"spill":7}"#, r#"{"command":"x"}"#, "["]
    {
        assert!(RawOptions::from_json(json).is_err(), "{json}");
    }
}

#[test]
fn rules_and_wrappers_that_do_not_exist_are_named() {
    let message = |json: &str| read(json).safety.guard().expect_err("refused").to_string();
    assert!(message(r#"{"safety":{"rules":[["x","ask"]]}}"#).starts_with("safety.rules: there is no rule \"x\""));
    assert!(message(r#"{"safety":{"rules":[["publish","no"]]}}"#).contains("is not one of off, warn, ask, deny"));
    assert!(message(r#"{"safety":{"wrappers":[["w","no"]]}}"#).starts_with("safety.wrappers.w: \"no\""));
}

/// The schema is checked in, since TypeScript and the documentation are made from it: `npm run options`.
#[test]
fn the_schema_of_the_options_is_up_to_date() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/request/option_schema.json");
    let schema = serde_json::to_string_pretty(&schemars::schema_for!(RawOptions)).expect("JSON") + "\n";
    if std::env::var_os("UPDATE_OPTIONS").is_some() {
        std::fs::write(file, &schema).expect("written");
    }
    assert!(std::fs::read_to_string(file).is_ok_and(|text| text == schema), "run npm run options");
}
