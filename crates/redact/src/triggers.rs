//! A first look at a text, in a fraction of a microsecond: whether it could hold a secret at all.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use protocol::plan;

use crate::programs;

/// Parts of names under which secrets stand.
const NAMES: &str = "\
    pass pwd pw psk secret token key auth cred bearer cookie connection service_account kubeconfig kube_config \
    webhook headers session mnemonic seed pat jwt sas salt sonar.login keymaterial";

/// Other parts of texts with secrets.
const TEXTS: &[&str] = &[
    "://",
    "@tcp(",
    "@unix(",
    "identified",
    "-----begin",
    "?sig=",
    "&sig=",
    "signature",
    "assword",
    "assphrase",
    "private-lines",
    "\"key\"",
];

/// Parts of the names of functions that take secrets (`text/calls.rs`), where none of the others is in them.
const CALLS: &str = "login( hashpw hashsync .hash( superuser createuser create_user getconnection ldap_bind simple_bind \
    mysqli pdo( newinstance comparesync securestring";

fn compile(patterns: impl IntoIterator<Item = &'static str>) -> Option<AhoCorasick> {
    let builder = AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(patterns);
    builder.ok()
}

static IN_NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| compile(NAMES.split_ascii_whitespace()));

/// The parts of texts, and then the names of programs.
static IN_TEXTS: LazyLock<Option<(AhoCorasick, usize)>> = LazyLock::new(|| {
    let calls = CALLS.split_ascii_whitespace();
    let texts: Vec<_> = NAMES.split_ascii_whitespace().chain(TEXTS.iter().copied()).chain(calls).collect();
    let count = texts.len();
    Some((compile(texts.into_iter().chain(programs::names()))?, count))
});

/// Returns whether a name could be that of a secret.
pub fn may_name(name: &str) -> bool {
    IN_NAMES.as_ref().is_none_or(|names| names.is_match(name))
}

/// Returns whether a text could hold a secret.
pub fn may_hold(text: &str) -> bool {
    let Some((patterns, texts)) = &*IN_TEXTS else { return true };
    let bytes = text.as_bytes();
    let is_part = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let is_word = |from: usize, to: usize| !is_part(to) && (from == 0 || !is_part(from - 1));
    let mut found = patterns.find_overlapping_iter(text);
    found.any(|found| found.pattern().as_usize() < *texts || is_word(found.start(), found.end()))
        || splits_a_word(bytes)
        || plan::tokens(bytes).next().is_some()
}

/// Returns whether quotes or backslashes are within a word, where they could split the name of a program or a token:
/// `my'sql'`, `ghp_"…"`.
fn splits_a_word(bytes: &[u8]) -> bool {
    let is_part = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    memchr::memchr3_iter(b'\'', b'"', b'\\', bytes).any(|at| {
        let signs = || bytes[at..].iter().take_while(|byte| b"'\"\\".contains(byte)).count();
        at > 0 && (is_part(at - 1) || b"_-.".contains(&bytes[at - 1])) && is_part(at + signs())
    })
}
