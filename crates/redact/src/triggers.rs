//! A first look at a text, in a fraction of a microsecond: whether it could hold a secret at all.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::programs;
use protocol::plan;

/// Parts of names under which secrets stand.
const NAMES: &[&str] = &[
    "pass",
    "pwd",
    "pw",
    "psk",
    "secret",
    "token",
    "key",
    "auth",
    "cred",
    "bearer",
    "cookie",
    "connection",
    "service_account",
    "kubeconfig",
    "kube_config",
    "webhook",
    "headers",
    "session",
    "mnemonic",
    "seed",
    "pat",
    "jwt",
    "sas",
    "salt",
];

/// Other parts of texts with secrets.
const TEXTS: &[&str] = &["://", "@tcp(", "@unix(", "identified", "-----begin", "?sig=", "&sig=", "signature", "bot"];

fn compile(patterns: impl IntoIterator<Item = &'static str>) -> Option<AhoCorasick> {
    let builder = AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(patterns);
    builder.ok()
}

static IN_NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| compile(NAMES.iter().copied()));

static IN_TEXTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let texts = NAMES.iter().chain(TEXTS).copied();
    compile(texts.chain(plan::leads()).chain(programs::names()))
});

/// Whether a name could be that of a secret.
pub fn may_name(name: &str) -> bool {
    IN_NAMES.as_ref().is_none_or(|names| names.is_match(name))
}

/// Whether a text could hold a secret.
pub fn may_hold(text: &str) -> bool {
    IN_TEXTS.as_ref().is_none_or(|texts| texts.is_match(text))
}
