//! Changes the locale to UTF-8, with as few changes as possible.

/// The categories apart from LC_CTYPE. LC_ALL hides them, and they come back without it.
const OTHERS: [&str; 11] = [
    "LC_COLLATE",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_ADDRESS",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_NAME",
    "LC_PAPER",
    "LC_TELEPHONE",
];

/// Returns the changes that make LC_CTYPE UTF-8, as names and new values (`None` removes). Empty if it is UTF-8
/// already. `get` returns a variable's value. The effective LC_CTYPE is the first of LC_ALL, LC_CTYPE and LANG that is
/// set and not empty. An LC_ALL that is not UTF-8 becomes LANG, so that the other categories stay as they were.
pub(super) fn utf8_changes<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Vec<(&'static str, Option<&'a str>)> {
    let set = |name| get(name).filter(|value| !value.is_empty());
    let all = set("LC_ALL");
    let effective = all.or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    if effective.is_some_and(is_utf8) {
        return Vec::new();
    }
    let mut changes = vec![("LC_CTYPE", Some(sys::UTF8_LOCALE))];
    if let Some(all) = all {
        changes.extend([("LC_ALL", None), ("LANG", Some(all))]);
        changes.extend(OTHERS.into_iter().filter(|name| set(name).is_some()).map(|name| (name, None)));
    }
    changes
}

/// Returns the name of the three that decides the effective LC_CTYPE, or None when none is set.
pub(super) fn deciding_variable<'a>(get: impl Fn(&str) -> Option<&'a str>) -> Option<&'static str> {
    ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find(|name| get(name).is_some_and(|value| !value.is_empty()))
}

/// Returns whether a locale is UTF-8: `en_US.UTF-8`, `C.utf8`, `de_DE.UTF-8@euro`; on macOS also `UTF-8` alone.
fn is_utf8(locale: &str) -> bool {
    let charset = match locale.split_once('.') {
        Some((_, charset)) => charset.split('@').next().unwrap_or_default(),
        None if sys::BARE_CHARSET_IS_LOCALE => locale,
        None => return false,
    };
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(vars: &[(&'static str, &'static str)]) -> Vec<(&'static str, Option<&'static str>)> {
        utf8_changes(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, value)| *value))
    }

    #[test]
    fn utf8_is_left_alone() {
        for vars in [
            [("LANG", "en_US.UTF-8")],
            [("LANG", "C.utf8")],
            [("LANG", "de_DE.UTF-8@euro")],
            [("LC_CTYPE", "C.UTF-8")],
            [("LC_ALL", "C.UTF-8")],
        ] {
            assert_eq!(repaired(&vars), [], "{vars:?}");
        }
        assert_eq!(repaired(&[("LC_ALL", ""), ("LANG", "C.UTF-8")]), []);
        assert_eq!(repaired(&[("LANG", "C"), ("LC_CTYPE", "C.UTF-8")]), []);
    }

    #[test]
    fn the_rest_is_repaired() {
        let ctype = ("LC_CTYPE", Some(sys::UTF8_LOCALE));
        assert_eq!(repaired(&[]), [ctype]);
        assert_eq!(repaired(&[("LANG", "C")]), [ctype]);
        assert_eq!(repaired(&[("LANG", "de_DE")]), [ctype]);
        assert_eq!(repaired(&[("LANG", "de_DE.ISO-8859-1")]), [ctype]);
        assert_eq!(repaired(&[("LC_CTYPE", "C"), ("LANG", "C.UTF-8")]), [ctype]);
        assert_eq!(
            repaired(&[("LC_ALL", "POSIX"), ("LANG", "de_DE.UTF-8"), ("LC_TIME", "fr_FR.UTF-8")]),
            [ctype, ("LC_ALL", None), ("LANG", Some("POSIX")), ("LC_TIME", None)]
        );
    }
}
