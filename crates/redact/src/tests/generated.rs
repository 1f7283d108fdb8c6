//! What holds for every text, and for secrets and expansions of every look.

use proptest::prelude::*;

use super::{MAX_STEPS, steps_of};
use crate::secret_spans::MARKER;
use crate::{MAX_ROUNDS, may_hold_secret, redact, redact_until_settled};

/// Commands with a secret in place of `@`, which stands alone or between double quotes there.
const FORMS: &[&str] = &[
    "app --password @ -v",
    "app --password=@ -v",
    "app --password \"@\" -v",
    "curl -u me:@ http://x",
    "curl -u \"me:@\" http://x",
    "X_TOKEN=@ app",
    "export X_TOKEN=\"@\"",
    "declare -x X_TOKEN=@",
    "curl -H \"Authorization: Bearer @\" http://x",
    "curl -H \"X-Api-Key: @\" http://x",
    "curl -H \"Cookie: @\" http://x",
    "curl \"https://h/x?token=@&a=b\"",
    "git clone https://me:@@h/x",
    "git clone \"https://me:@@h/x\"",
    "mysql -p@ db",
    "mysql -p\"@\" db",
    "docker login -u me -p @ h",
    "redis-cli -a @ ping",
    "openssl x -passin pass:@ -y",
    "openssl x -passin \"pass:@\" -y",
    "sshpass -p @ ssh h",
    "sudo env X_TOKEN=@ app",
    "ssh h \"mysql -p@ db\"",
    "bash -c \"app --token @\"",
    "echo @ | docker login -u me --password-stdin",
    "docker login --password-stdin <<< @",
    "xargs redis-cli -a @ ping",
    "cat > x.env <<EOF\nA=b\nDB_PASSWORD=@\nEOF",
    "curl -d \"{\\\"password\\\":\\\"@\\\"}\" http://x",
    "printf 'TOKEN=%s' @",
];

/// Puts a secret or an expansion in its place.
fn filled(form: &str, value: &str) -> String {
    match form.split_once("@@h") {
        Some((before, after)) => format!("{before}{value}@h{after}"),
        None => form.replace('@', value),
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "'",
        "\"",
        "\\",
        "$",
        "`",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        "<<E\n",
        "E\n",
        "<<<",
        "=",
        ":",
        "@",
        "//",
        "é",
        "\u{1f600}",
        " ",
        "\n",
        "|",
        ";",
        "&",
        ",",
        "<",
        ">",
        "-",
        "%",
        "%s",
        "x",
        "1",
        "password",
        "--token",
        "--password ",
        "Authorization",
        "Bearer ",
        "Cookie: ",
        "mysql -p",
        "bash -c ",
        "curl -u ",
        "me:",
        "https://",
        "X_TOKEN=",
        "export ",
        "sudo ",
        "echo ",
        "printf ",
        "cat ",
        "x.sh",
        "docker login --password-stdin",
        "ENV ",
        "name: ",
        "value: ",
        "${",
        ":-",
        "$'\\x",
        MARKER,
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Returns whether a text is the other one with a marker in place of some of its parts.
fn is_made_of(redacted: &str, whole: &str) -> bool {
    let mut rest = whole;
    for (at, piece) in redacted.split(MARKER).enumerate() {
        let Some(place) = rest.find(piece).filter(|place| at > 0 || *place == 0) else { return false };
        rest = &rest[place + piece.len()..];
    }
    redacted.ends_with(MARKER) || whole.ends_with(redacted.rsplit(MARKER).next().unwrap_or_default())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_text_keeps_what_is_no_secret_and_is_redacted_once(text in pieces()) {
        let once = redact(&text);
        prop_assert!(is_made_of(&once.text, &text), "{text:?}\n{:?}", once.text);
        prop_assert_eq!(once.redacted, once.text != text);
        prop_assert!(may_hold_secret(&text) || !once.redacted);
        let twice = redact(&once.text);
        prop_assert_eq!(&twice.text, &once.text, "{:?}", text);
        prop_assert!(!twice.redacted);
    }

    #[test]
    fn a_text_that_does_not_settle_shows_nothing_behind_its_first_marker(text in pieces(), rounds in 0_usize..2) {
        let once = redact_until_settled(&text, rounds);
        prop_assert_eq!(&redact_until_settled(&once.text, MAX_ROUNDS).text, &once.text);
        let settles = redact(&text).text == once.text;
        prop_assert!(settles || once.text.find(MARKER) == Some(once.text.len() - MARKER.len()), "{:?}", once.text);
    }

    #[test]
    fn every_secret_is_taken_out_and_nothing_else(
        form in prop::sample::select(FORMS),
        secret in "[A-Za-z][A-Za-z0-9+]{6,20}[0-9]",
    ) {
        let command = filled(form, &secret);
        prop_assert_eq!(redact(&command).text, filled(form, MARKER));
    }

    #[test]
    fn every_expansion_stays(
        form in prop::sample::select(FORMS),
        // Bash refuses `$(do)`; no reserved word ends like this.
        name in "[A-Za-z_][A-Za-z0-9_]{0,7}_",
        kind in prop::sample::select(vec!["$@", "${@}", "$(@)", "$(@ a b)", "`@`", "${@:0:4}", "${@:?}", "$1", "$@$@"]),
    ) {
        let command = filled(form, &kind.replace('@', &name));
        let found = redact(&command);
        prop_assert!(!found.redacted, "{command}\n{}", found.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_work_on_a_repeated_text_grows_with_its_length(unit in pieces().prop_filter("a part", |unit| !unit.is_empty())) {
        let steps = steps_of(&unit, 8 * 1024);
        prop_assert!(steps <= MAX_STEPS * 8 * 1024, "{:?}: {}", unit, steps);
    }
}
