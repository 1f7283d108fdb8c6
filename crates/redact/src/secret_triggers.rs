//! A first look at a text, in a fraction of a microsecond: whether it could hold a secret at all, and of which kinds.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use protocol::plan;

use crate::program_secrets::{self, SecretFormSign};
use crate::secret_functions;

/// The kinds of secrets that a text could hold. Each has a pass over the text of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecretKinds(u16);

impl SecretKinds {
    /// No secret.
    pub const NONE: Self = Self(0);
    /// Values of names and headers.
    pub const NAME: Self = Self(1);
    /// Addresses with a user.
    pub const ADDRESS: Self = Self(1 << 1);
    /// Private keys.
    pub const KEY: Self = Self(1 << 2);
    /// What a script of expect sends.
    pub const SENT: Self = Self(1 << 3);
    /// Arguments of functions.
    pub const CALL: Self = Self(1 << 4);
    /// Files with a form of their own.
    pub const FILE: Self = Self(1 << 5);
    /// Rows that SQL inserts.
    pub const ROW: Self = Self(1 << 6);
    /// Tokens with a shape.
    pub const TOKEN: Self = Self(1 << 7);
    /// Arguments of programs.
    pub const PROGRAM: Self = Self(1 << 8);
    /// All of them.
    pub const ALL: Self = Self(u16::MAX);

    /// Returns whether one of these kinds is among them.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Parts of names under which secrets stand.
const NAMES: &str = "\
    pass pwd pw psk secret token key auth cred bearer cookie connection service_account kubeconfig kube_config \
    webhook headers session mnemonic seed pat jwt sas salt sonar.login keymaterial login";

/// Other parts of texts with secrets.
const TEXTS: &[(&str, SecretKinds)] = &[
    ("://", SecretKinds::ADDRESS),
    ("@tcp(", SecretKinds::ADDRESS),
    ("@unix(", SecretKinds::ADDRESS),
    ("identified", SecretKinds::NAME),
    ("?sig=", SecretKinds::NAME),
    ("&sig=", SecretKinds::NAME),
    ("signature", SecretKinds::NAME),
    ("-----begin", SecretKinds::KEY),
    ("assword", SecretKinds::SENT),
    ("assphrase", SecretKinds::SENT),
    ("pgpass", SecretKinds::FILE),
    ("kind: secret", SecretKinds::FILE),
    ("\"secret\"", SecretKinds::FILE),
    ("stringdata", SecretKinds::FILE),
    ("\"key\"", SecretKinds::FILE),
    ("private-lines", SecretKinds::FILE),
    ("into ", SecretKinds::ROW),
];

fn compile<'t>(patterns: impl IntoIterator<Item = &'t str>) -> Option<AhoCorasick> {
    let builder = AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(patterns);
    builder.ok()
}

static IN_NAMES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| compile(NAMES.split_ascii_whitespace()));

/// What announces the secrets of programs that no name does.
static SIGNS: LazyLock<Vec<SecretFormSign>> = LazyLock::new(|| program_secrets::signs(may_name_secret));

/// The parts of texts with their kinds.
static IN_TEXTS: LazyLock<Option<(AhoCorasick, Vec<SecretKinds>)>> = LazyLock::new(|| {
    let names = NAMES.split_ascii_whitespace().map(|name| (name, SecretKinds::NAME));
    let arguments = SIGNS.iter().filter_map(|sign| match sign {
        SecretFormSign::Argument(word) => Some((*word, SecretKinds::PROGRAM)),
        SecretFormSign::Program(_) => None,
    });
    let (texts, kinds): (Vec<_>, Vec<_>) = names.chain(TEXTS.iter().copied()).chain(arguments).unzip();
    Some((compile(texts)?, kinds))
});

/// The names of programs whose secrets nothing else announces, by their first letters and lengths.
static PROGRAMS: LazyLock<ProgramNameSet> = LazyLock::new(|| {
    let names = SIGNS.iter().filter_map(|sign| match sign {
        SecretFormSign::Program(name) => Some(*name),
        SecretFormSign::Argument(_) => None,
    });
    let mut all = ProgramNameSet { lengths: [0; 256], names: names.collect() };
    all.names.sort_unstable();
    all.names.dedup();
    for name in &all.names {
        all.lengths[usize::from(name.as_bytes()[0])] |= 1 << name.len().min(31);
    }
    all
});

struct ProgramNameSet {
    /// A bit for each length of a name with this first byte.
    lengths: [u32; 256],
    names: Vec<&'static str>,
}

impl ProgramNameSet {
    /// Returns whether one of the names is a word of a text.
    fn occur_in(&self, text: &[u8]) -> bool {
        let mut start = 0;
        for (at, byte) in text.iter().enumerate() {
            if !byte.is_ascii_alphanumeric() && !b"-_.".contains(byte) {
                if self.has(&text[start..at]) {
                    return true;
                }
                start = at + 1;
            }
        }
        self.has(&text[start..])
    }

    fn has(&self, word: &[u8]) -> bool {
        let word = if word.last() == Some(&b'e') { word.strip_suffix(b".exe").unwrap_or(word) } else { word };
        let lengths = word.first().map_or(0, |first| self.lengths[usize::from(*first)]);
        lengths & (1 << word.len().min(31)) != 0
            && self.names.binary_search_by(|name| name.as_bytes().cmp(word)).is_ok()
    }
}

/// Returns whether a name could be that of a secret.
pub fn may_name_secret(name: &str) -> bool {
    IN_NAMES.as_ref().is_none_or(|names| names.is_match(name))
}

/// Returns the kinds of secrets that a text could hold.
pub fn possible_kinds(command: &str) -> SecretKinds {
    let Some((patterns, of)) = &*IN_TEXTS else { return SecretKinds::ALL };
    let bytes = command.as_bytes();
    if splits_a_word(bytes) {
        return SecretKinds::ALL;
    }
    let mut kinds = SecretKinds::NONE;
    for found in patterns.find_overlapping_iter(command) {
        kinds = kinds.union(of[found.pattern().as_usize()]);
    }
    if !kinds.has(SecretKinds::NAME) {
        // Neither alone is a secret.
        kinds.0 &= !SecretKinds::ROW.0;
    }
    if secret_functions::may_call(bytes) {
        kinds = kinds.union(SecretKinds::CALL);
    }
    if PROGRAMS.occur_in(bytes) {
        kinds = kinds.union(SecretKinds::PROGRAM);
    }
    if plan::find_tokens(bytes).next().is_some() {
        kinds = kinds.union(SecretKinds::TOKEN);
    }
    kinds
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
