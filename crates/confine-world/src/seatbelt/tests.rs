use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;
use confine_policy::{AllowHost, PolicyProfile, TmpPlacement};

fn policy() -> ConfinementPolicy {
    ConfinementPolicy {
        hide: vec!["/Users/me/.ssh".into()],
        caches: (CacheAccess::Overlay, vec!["/Users/me/.npm".into()]),
        ..ConfinementPolicy::sample("/work".as_ref())
    }
}

fn places() -> SeatbeltPaths {
    SeatbeltPaths {
        protected: ["/work/.envrc".into(), "/work/.git/config".into()].into(),
        pinned: ["/work/.git".into()].into(),
        tmp: Some("/state/world-1/tmp".into()),
    }
}

fn text(policy: &ConfinementPolicy) -> String {
    profile_of_policy(policy, &places()).expect("a profile").into_string().expect("UTF-8")
}

/// Returns the rules of a profile, one per line, in their order.
fn rules(policy: &ConfinementPolicy) -> Vec<String> {
    let text = text(policy);
    assert_eq!(text.matches('(').count(), text.matches(')').count(), "{text}");
    let joined = text.replace("\n  ", " ");
    joined.lines().map(str::to_owned).collect()
}

/// Returns the position of a rule. The last matching rule counts, so the order is a part of the meaning.
fn at(rules: &[String], rule: &str) -> usize {
    rules.iter().position(|other| other == rule).unwrap_or_else(|| panic!("no {rule} in\n{}", rules.join("\n")))
}

#[test]
fn a_workspace_may_be_changed_but_for_protected_and_hidden_paths() {
    let rules = rules(&policy());
    assert_eq!(rules[..2], ["(version 1)", "(deny default)"]);
    let order = [
        "(allow file-read*)",
        r#"(allow file-read* file-write* (subpath "/work") (subpath "/state/world-1/tmp"))"#,
        r#"(deny file-write-unlink (literal "/work"))"#,
        r#"(deny file-write-unlink (literal "/work/.git"))"#,
        r#"(deny file-write* (subpath "/work/.envrc") (subpath "/work/.git/config"))"#,
        r#"(deny file-read* file-write* (subpath "/Users/me/.ssh"))"#,
        r#"(allow file-read* file-write* (subpath "/state/world-1/tmp"))"#,
    ];
    let places: Vec<_> = order.iter().map(|rule| at(&rules, rule)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn nothing_may_be_changed_without_write_roots_but_devices_and_the_own_tmp() {
    let all = rules(&ConfinementPolicy { profile: PolicyProfile::ReadOnly, write: Vec::new(), ..policy() });
    let changing = all.iter().filter(|rule| rule.starts_with("(allow") && rule.contains("file-write"));
    let others: Vec<_> = changing.filter(|rule| !rule.contains("/dev/null") && !rule.contains("world-1/tmp")).collect();
    assert_eq!(others, Vec::<&String>::new());
    // A rule without filters would count for every file.
    assert!(!all.iter().any(|rule| rule.contains("file-write-unlink)") || rule.contains("file-write*)")));
}

#[test]
fn a_list_of_readable_paths_is_with_those_of_the_system_and_the_way_to_them() {
    let rules = rules(&ConfinementPolicy { read: ReadScope::Only(vec!["/data/set".into()]), ..policy() });
    assert!(!rules.contains(&"(allow file-read*)".to_owned()));
    let reading = rules.iter().find(|rule| rule.contains(r#"(subpath "/data/set")"#)).expect("a rule");
    assert!(reading.starts_with("(allow file-read* (") && reading.contains(r#"(subpath "/System")"#), "{reading}");
    let above = rules.iter().find(|rule| rule.starts_with("(allow file-read-metadata")).expect("a rule");
    assert!(above.contains(r#"(literal "/data")"#) && above.contains(r#"(literal "/")"#), "{above}");
    assert!(!above.contains("subpath"), "{above}");
}

#[test]
fn the_network_is_nothing_the_exposed_ports_those_of_the_list_or_everything() {
    let host = AllowHost::Name("example.org".into());
    let entries = vec![
        AllowEntry { host: host.clone(), port: None },
        AllowEntry { host: host.clone(), port: Some(5432) },
        AllowEntry { host, port: Some(443) },
    ];
    let listed = NetworkScope::Allow { entries, hosts: BTreeMap::new() };
    let outbound = |policy: &ConfinementPolicy| -> Vec<String> {
        let is_of_network = |rule: &String| rule.starts_with("(allow network") && !rule.contains("unix-socket");
        rules(policy).into_iter().filter(is_of_network).collect()
    };
    assert_eq!(outbound(&policy()), Vec::<String>::new());
    assert_eq!(
        outbound(&ConfinementPolicy { expose: vec![3000], ..policy() }),
        [
            r#"(allow network-bind network-inbound (local tcp "localhost:3000"))"#,
            r#"(allow network-outbound (remote tcp "localhost:3000"))"#,
        ]
    );
    let resolver = r#"(allow network-outbound (literal "/private/var/run/mDNSResponder"))"#;
    assert_eq!(
        outbound(&ConfinementPolicy { network: listed, ..policy() }),
        [
            resolver,
            r#"(allow network-outbound (remote tcp "*:80"))"#,
            r#"(allow network-outbound (remote tcp "*:443"))"#,
            r#"(allow network-outbound (remote tcp "*:5432"))"#,
        ]
    );
    assert_eq!(
        outbound(&ConfinementPolicy { network: NetworkScope::Full, ..policy() }),
        [resolver, "(allow network*)"]
    );
}

#[test]
fn sockets_by_path_work_where_files_may_be_changed() {
    let rules = rules(&policy());
    at(
        &rules,
        r#"(allow network-bind network-inbound (local unix-socket (subpath "/work")) (local unix-socket (subpath "/state/world-1/tmp")))"#,
    );
    at(
        &rules,
        r#"(allow network-outbound (remote unix-socket (subpath "/work")) (remote unix-socket (subpath "/state/world-1/tmp")))"#,
    );
}

#[test]
fn shared_places_are_writable() {
    let shared = ConfinementPolicy {
        tmp: TmpPlacement::Shared,
        caches: (CacheAccess::Shared, vec!["/Users/me/.npm".into()]),
        ..policy()
    };
    let text = text(&shared);
    for path in ["/Users/me/.npm", "/private/tmp", "/private/var/tmp", "/private/var/folders"] {
        assert!(text.contains(&format!("(subpath \"{path}\")")), "{path}");
    }
    assert!(!self::text(&policy()).contains("/private/tmp"));
}

#[test]
fn a_path_cannot_end_its_string() {
    let hostile = r#"/work/") (allow default) (x "\"#;
    let text = text(&ConfinementPolicy { write: vec![hostile.into()], ..policy() });
    assert!(text.contains(r#"(subpath "/work/\") (allow default) (x \"\\")"#), "{text}");
    for path in [OsStr::from_bytes(b"/work/\xff"), OsStr::new("/work/a\nb"), OsStr::new("/work/\u{7f}")] {
        let refused = profile_of_policy(&ConfinementPolicy { write: vec![path.into()], ..policy() }, &places());
        assert_eq!(refused.expect_err("refused").kind(), io::ErrorKind::InvalidInput, "{path:?}");
    }
}

#[test]
fn signals_and_process_information_stay_inside_the_sandbox() {
    let rules = rules(&policy());
    at(&rules, "(allow signal process-info* mach-priv-task-port (target same-sandbox))");
    // Services that start programs or send events for others would be a way out.
    for service in ["launchservicesd", "coreservices", "appleevent", "securityd", "pasteboard"] {
        assert!(!rules.iter().any(|rule| rule.contains(service)), "{service}");
    }
}
