//! Modes, order, locale, and what no mode may let through.

use proptest::prelude::*;

use super::*;

fn block(vars: &[(&str, &str)]) -> String {
    vars.iter().map(|(name, value)| format!("{name}={value}\0")).collect()
}

fn over(vars: &[(&str, Option<&str>)]) -> Vec<(String, Option<String>)> {
    vars.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect()
}

fn env(host: &[(&str, &str)], inherit: &InheritMode, overlay: &[(&str, Option<&str>)]) -> CommandEnvironment {
    resolve_environment(&block(host), inherit, &over(overlay), false).expect("valid")
}

const HOST: &[(&str, &str)] = &[
    ("PATH", "/usr/bin"),
    ("LANG", "C.UTF-8"),
    ("GH_TOKEN", "gh-value"),
    ("BASH_ENV", "/x"),
    ("LD_PRELOAD", "/y"),
    ("GIT_DIR", "/z"),
    ("EDITOR", "vim"),
    ("FORCE_COLOR", "3"),
    ("PWD", "/host"),
    ("OLDPWD", "/old"),
    ("_", "/node"),
    ("DB", "postgres://a:b-pw@h/d"),
    ("NODE_CHANNEL_FD", "3"),
    ("BASH_FUNC_ls%%", "() { :; }"),
    ("AGENT_BASH_ID", "outer"),
];

#[test]
fn safe() {
    let env = env(HOST, &InheritMode::Safe, &[]);
    assert_eq!(env.get("PATH"), Some("/usr/bin"));
    assert_eq!(env.withheld, ["DB", "GH_TOKEN"]);
    for name in
        ["GH_TOKEN", "DB", "BASH_ENV", "LD_PRELOAD", "GIT_DIR", "FORCE_COLOR", "PWD", "OLDPWD", "_", "BASH_FUNC_ls%%"]
    {
        assert_eq!(env.get(name), None, "{name}");
    }
    assert_eq!(env.get("EDITOR"), Some("true"));
    assert_eq!(env.get("AGENT_BASH_ID"), None);
    let mut names: Vec<_> = env.vars().map(|(name, _)| name).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "each name once");
}

#[test]
fn all_is_unchanged_but_for_what_would_be_untrue() {
    let env = env(HOST, &InheritMode::All, &[]);
    for name in ["GH_TOKEN", "DB", "BASH_ENV", "LD_PRELOAD", "GIT_DIR", "BASH_FUNC_ls%%"] {
        assert_eq!(env.get(name), HOST.iter().find(|(n, _)| *n == name).map(|(_, value)| *value), "{name}");
    }
    for name in ["PWD", "OLDPWD", "_", "NODE_CHANNEL_FD"] {
        assert_eq!(env.get(name), None, "{name}");
    }
    assert!(env.withheld.is_empty());
}

#[test]
fn names_and_none() {
    let names = InheritMode::Names(vec!["GH_TOKEN".into(), "PWD".into(), "MISSING".into(), "LANG".into()]);
    let some = env(HOST, &names, &[]);
    let none = env(HOST, &InheritMode::None, &[]);
    assert_eq!(some.get("GH_TOKEN"), Some("gh-value"));
    assert_eq!(some.get("PWD"), None);
    assert_eq!(some.get("PATH"), Some(unattended_defaults::PATH));
    let defaults = DEFAULTS.iter().filter(|row| row.value.is_some()).count();
    assert_eq!(none.vars().count(), defaults + 2, "a PATH and a UTF-8 locale besides");
    assert_eq!(none.get("PATH"), Some(unattended_defaults::PATH));
    assert_eq!(env(HOST, &InheritMode::None, &[("PATH", None)]).get("PATH"), None);
    assert_eq!(env(HOST, &InheritMode::None, &[("PATH", Some("/mine"))]).get("PATH"), Some("/mine"));
    assert_eq!(env(&[("PATH", "")], &InheritMode::Safe, &[]).get("PATH"), Some(""));
}

#[test]
fn the_overlay_wins() {
    let env = env(
        HOST,
        &InheritMode::Safe,
        &[
            ("GH_TOKEN", Some("mine")),
            ("BASH_ENV", Some("/mine")),
            ("PAGER", None),
            ("EDITOR", Some("ed")),
            ("DB", None),
            ("A", Some("1")),
            ("A", Some("2")),
            ("a", Some("3")),
            ("PWD", Some("/lie")),
            ("AGENT_BASH_ID", Some("lie")),
        ],
    );
    for (name, value) in [
        ("GH_TOKEN", Some("mine")),
        ("BASH_ENV", Some("/mine")),
        ("PAGER", None),
        ("EDITOR", Some("ed")),
        ("A", Some("2")),
        ("a", Some("3")),
        ("PWD", None),
        ("AGENT_BASH_ID", None),
        ("GIT_PAGER", Some("cat")),
        ("DB", None),
    ] {
        assert_eq!(env.get(name), value, "{name}");
    }
    assert!(env.withheld.is_empty(), "what the caller mentions is not withheld");
}

#[test]
fn colours_the_caller_asks_for() {
    assert_eq!(env(HOST, &InheritMode::Safe, &[]).get("NO_COLOR"), Some("1"));
    let asked = env(&[("NO_COLOR", "1")], &InheritMode::Safe, &[("FORCE_COLOR", Some("1"))]);
    assert_eq!((asked.get("NO_COLOR"), asked.get("FORCE_COLOR")), (None, Some("1")));
    assert_eq!(env(HOST, &InheritMode::Safe, &[("FORCE_COLOR", None)]).get("NO_COLOR"), Some("1"));
}

#[test]
fn the_locale_is_utf8_unless_the_caller_says() {
    let ctype = |host: &[(&str, &str)], overlay: &[(&str, Option<&str>)]| {
        let env = env(host, &InheritMode::Safe, overlay);
        (
            env.get("LC_ALL").map(str::to_owned),
            env.get("LC_CTYPE").map(str::to_owned),
            env.get("LANG").map(str::to_owned),
        )
    };
    let some = |value: &str| Some(value.to_owned());
    let utf8 = sys::UTF8_LOCALE;
    assert_eq!(ctype(&[("LC_CTYPE", "C"), ("LANG", "de_DE.UTF-8")], &[]), (None, some(utf8), some("de_DE.UTF-8")));
    assert_eq!(ctype(&[("LC_ALL", "C")], &[]), (None, some(utf8), some("C")));
    assert_eq!(ctype(&[], &[("LC_ALL", Some("C"))]), (some("C"), None, None));
    assert_eq!(ctype(&[], &[("LC_CTYPE", None)]), (None, None, None));
    assert_eq!(ctype(&[("LANG", "en_US.UTF-8")], &[("LANG", None)]), (None, some(utf8), None));
}

#[test]
fn git_configuration_by_numbers_stays_whole() {
    let safe_directory =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "safe.directory"), ("GIT_CONFIG_VALUE_0", "*")];
    let kept = env(&safe_directory, &InheritMode::Safe, &[]);
    assert_eq!(kept.get("GIT_CONFIG_KEY_0"), Some("safe.directory"));
    assert!(kept.withheld.is_empty());
    let header = [
        ("GIT_CONFIG_COUNT", "2"),
        ("GIT_CONFIG_KEY_0", "safe.directory"),
        ("GIT_CONFIG_VALUE_0", "*"),
        ("GIT_CONFIG_KEY_1", "http.extraHeader"),
        ("GIT_CONFIG_VALUE_1", "Authorization: Basic eDp5"),
    ];
    let gone = env(&header, &InheritMode::Safe, &[]);
    assert!(!gone.vars().any(|(name, _)| name.starts_with("GIT_CONFIG_")));
    assert_eq!(gone.withheld, ["GIT_CONFIG_VALUE_1"]);
}

#[test]
fn what_no_environment_holds_is_an_error_without_the_value() {
    for (name, value, why) in [
        ("", "hidden", "empty"),
        ("A=B", "hidden", "a ="),
        ("A\0B", "hidden", "a NUL in its name"),
        ("A", "hid\0den", "a NUL in its value"),
    ] {
        let error = resolve_environment("", &InheritMode::Safe, &over(&[(name, Some(value))]), false).expect_err(name);
        assert!(error.why.contains(why), "{error}");
        assert!(!error.to_string().contains("hid"), "{error}");
    }
}

#[test]
fn odd_entries_of_the_host() {
    let env = resolve_environment("A=1\0\0=x\0nothing\0B=x=y\0C=\0A=2", &InheritMode::Safe, &[], false).expect("valid");
    for (name, value) in [("A", "2"), ("B", "x=y"), ("C", "")] {
        assert_eq!(env.get(name), Some(value));
    }
    // A later entry of a name decides whether it is a secret.
    let env =
        resolve_environment("A=sk-aaaaaaaaaaaaaaaaaaaa1\0A=plain\0", &InheritMode::Safe, &[], false).expect("valid");
    assert_eq!(env.get("A"), Some("plain"));
}

#[test]
fn the_block() {
    let env = env(&[("A", "1"), ("B", "")], &InheritMode::All, &[("C", Some("x=y"))]);
    let block = env.block(b"/some/folder");
    assert!(block.starts_with(b"A=1\0B=\0"));
    assert!(memchr::memmem::find(&block, b"\0C=x=y\0").is_some());
    assert!(block.ends_with(b"\0PWD=/some/folder\0"));
}

fn name() -> impl Strategy<Value = String> {
    let ends =
        prop::sample::select(vec!["_KEY", "_TOKEN", "_SECRET", "_AUTH", "PASSWORD", "_DIR", "", "_URL", "S", "_ID"]);
    ("[A-Z][A-Z_]{0,6}", ends).prop_map(|(start, end)| start + end)
}

proptest! {
    /// Values are marked, so that a mark in the output means that its value got through.
    #[test]
    fn no_withheld_value_gets_through(names in prop::collection::vec(name(), 0..40), lead in "(ghp_|sk-|x://u:|)") {
        let host: String = names.iter().enumerate()
            .map(|(at, name)| format!("{name}={lead}{at:09}0aZ9bY8cX7dW6eV5fU4gT3hS2iR1jQ0k@h\0")).collect();
        let env = resolve_environment(&host, &InheritMode::Safe, &[], false).expect("valid");
        let out = String::from_utf8(env.block(b"/")).expect("text");
        let last: HashMap<_, _> = entries(&host).collect();
        for name in &env.withheld {
            prop_assert!(!out.contains(last[name.as_str()]), "{}", name);
            prop_assert_eq!(env.get(name), None);
        }
        prop_assert!(env.withheld.is_sorted());
        // All these values have the shape of a secret.
        for (name, value) in last.iter().filter(|_| !lead.is_empty()) {
            let withheld = env.withheld.iter().any(|other| other == name);
            let replaced = env.get(name).is_some_and(|now| now != *value);
            let unfit = host_variables::UNTRUE.contains(name) || host_variables::breaks_children(name, value);
            prop_assert!(withheld || replaced || unfit || secret_variables::NEEDED.contains(name), "{}", name);
        }
    }

    #[test]
    fn overlays_win(
        host in prop::collection::vec(("[A-C_]{1,2}|PAGER|CI|FORCE_COLOR", "[a-z]{0,3}"), 0..20),
        overlay in prop::collection::vec(("[A-C]{1,2}|PAGER|CI|FORCE_COLOR|LC_ALL", prop::option::of("[a-z]{0,3}")), 0..20),
    ) {
        let host: String = host.iter().map(|(name, value)| format!("{name}={value}\0")).collect();
        for inherit in [InheritMode::Safe, InheritMode::All, InheritMode::None, InheritMode::Names(vec!["A".into(), "PAGER".into()])] {
            let env = resolve_environment(&host, &inherit, &overlay, false).expect("valid");
            let last: HashMap<_, _> = overlay.iter().map(|(name, value)| (name.as_str(), value.as_deref())).collect();
            for (name, value) in last {
                prop_assert_eq!(env.get(name), value, "{}", name);
            }
        }
    }
}
