//! Finds the variables that carry secrets, by their names and by the shapes of their values. Each row is a test.

use std::ops::Range;
use std::sync::LazyLock;

use super::glob::Globs;

/// How strongly a name suggests a secret.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Says {
    /// A secret, whatever else the name says.
    Always,
    /// A secret, unless the name is in `HARMLESS`.
    Usually,
    /// A secret, unless the name is in `HARMLESS` or the value is a switch (`1`, `true`, `off` …), empty, or a path.
    Maybe,
}
use Says::{Always, Maybe, Usually};

/// Patterns of names in capitals, each with a name that it must find. In names `-`, `.`, `:` and `/` count as `_`, and
/// a number at the end (`GH_TOKEN_2`) does not count.
pub(super) const NAMES: &[(&str, Says, &str)] = &[
    ("*PASSWORD*", Always, "DB_PASSWORD_OLD"),
    ("*CREDENTIAL*", Always, "GOOGLE_APPLICATION_CREDENTIALS"),
    ("*PASSWD*", Always, "LDAP_PASSWD"),
    ("*PASSPHRASE*", Always, "GPG_PASSPHRASE"),
    ("*PASSCODE", Always, "APP_PASSCODE"),
    ("*SECRET", Always, "AZURE_CLIENT_SECRET"),
    ("*SECRET*", Usually, "AWS_SECRET_ACCESS_KEY"),
    ("*TOKEN", Always, "GITHUB_TOKEN"),
    ("*AUTH_TOKEN*", Usually, "NPM_AUTH_TOKEN_RO"),
    ("*AUTHTOKEN*", Usually, "npm_config__authToken"),
    ("*ACCESS_TOKEN*", Usually, "GITLAB_ACCESS_TOKENS"),
    ("*API_TOKEN*", Usually, "CLOUDFLARE_API_TOKEN_EU"),
    ("*SESSION_TOKEN*", Usually, "AWS_SESSION_TOKEN_PROD"),
    ("*REFRESH_TOKEN*", Usually, "GOOGLE_REFRESH_TOKEN_OLD"),
    ("*BEARER*", Usually, "TWITTER_BEARER"),
    ("TF_TOKEN_*", Usually, "TF_TOKEN_app_terraform_io"),
    ("*_KEY", Usually, "OPENAI_API_KEY"),
    ("*API_KEY*", Usually, "ANTHROPIC_API_KEY_PROD"),
    ("*APIKEY*", Usually, "openaiApiKey"),
    ("*ACCESS_KEY*", Usually, "AWS_ACCESS_KEY_ID"),
    ("*ACCESSKEY*", Usually, "MINIO_ACCESSKEY"),
    ("*PRIVATE_KEY*", Usually, "SSH_PRIVATE_KEY_B64"),
    ("*PRIVATEKEY*", Usually, "WALLET_PRIVATEKEY"),
    ("*ENCRYPTION_KEY*", Usually, "ENCRYPTION_KEYS"),
    ("*SIGNING_KEY*", Usually, "SIGNING_KEY_BASE64"),
    ("*DEPLOY_KEY*", Usually, "DEPLOY_KEY_PEM"),
    ("*CONNECTION_STRING*", Usually, "AZURE_STORAGE_CONNECTION_STRING"),
    ("*CONNECTIONSTRING*", Usually, "APPINSIGHTS_CONNECTIONSTRING"),
    ("CONNECTIONSTRINGS_*", Usually, "ConnectionStrings__Default"),
    ("*SERVICE_ACCOUNT_JSON*", Usually, "GOOGLE_SERVICE_ACCOUNT_JSON"),
    ("*KUBECONFIG_*", Usually, "KUBECONFIG_BASE64"),
    ("*KUBE_CONFIG_DATA", Always, "KUBE_CONFIG_DATA"),
    ("*WEBHOOK_URL", Always, "SLACK_WEBHOOK_URL"),
    ("*WEBHOOK", Maybe, "DISCORD_WEBHOOK"),
    ("DOCKER_AUTH_CONFIG", Always, "DOCKER_AUTH_CONFIG"),
    ("ANTHROPIC_CUSTOM_HEADERS", Always, "ANTHROPIC_CUSTOM_HEADERS"),
    ("*OTLP_HEADERS", Always, "OTEL_EXPORTER_OTLP_HEADERS"),
    ("*OTLP_TRACES_HEADERS", Always, "OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
    ("BW_SESSION", Always, "BW_SESSION"),
    ("OP_SESSION_*", Always, "OP_SESSION_my"),
    ("*MNEMONIC", Usually, "WALLET_MNEMONIC"),
    ("*SEED_PHRASE", Usually, "SEED_PHRASE"),
    ("*_AUTH", Maybe, "REDISCLI_AUTH"),
    ("*_PASS", Maybe, "SMTP_PASS"),
    ("PASS", Maybe, "PASS"),
    ("*_PWD", Maybe, "MYSQL_PWD"),
    ("*_PW", Maybe, "LDAP_BIND_PW"),
    ("*_PAT", Maybe, "AZURE_DEVOPS_EXT_PAT"),
    ("*_JWT", Maybe, "CI_JOB_JWT"),
    ("*_SAS", Maybe, "BLOB_SAS"),
    ("*_SALT", Maybe, "COOKIE_SALT"),
    ("*_COOKIE", Maybe, "SESSION_COOKIE"),
];

/// Names that match `NAMES` but clearly hold no secret, each with an example. Rows that say `Always` ignore this list.
pub(super) const HARMLESS: &[(&str, &str)] = &[
    ("*PUBLIC_KEY", "SIGNING_PUBLIC_KEY"),
    ("*PUBLISHABLE_KEY", "STRIPE_PUBLISHABLE_KEY"),
    ("*CACHE_KEY", "TURBO_CACHE_KEY"),
    ("*SORT_KEY", "TABLE_SORT_KEY"),
    ("*PARTITION_KEY", "TABLE_PARTITION_KEY"),
    ("*HOST_KEY", "SSH_HOST_KEY"),
    ("*_FILE", "API_KEY_FILE"),
    ("*_PATH", "PRIVATE_KEY_PATH"),
    ("*_DIR", "SECRETS_DIR"),
    ("*_URL", "ACCESS_TOKEN_URL"),
    ("*_URI", "SECRETS_URI"),
    ("*_ENDPOINT", "SECRETSMANAGER_ENDPOINT"),
    ("*_NAME", "K8S_SECRET_NAME"),
    ("*_ARN", "DB_SECRET_ARN"),
    ("*_TTL", "ACCESS_TOKEN_TTL"),
    ("*_HEADER", "API_KEY_HEADER"),
    ("*_LENGTH", "API_KEY_LENGTH"),
    ("*_EXPIRY", "ACCESS_TOKEN_EXPIRY"),
    ("*_ALGORITHM", "ACCESS_TOKEN_ALGORITHM"),
    ("*_ENABLED", "SECRETS_ENABLED"),
    ("*_VERSION", "SECRETS_VERSION"),
    ("*SECRETARY*", "SECRETARY_OF"),
];

/// The characters that may follow the lead of a token.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Rest {
    Alnum,
    Hex,
    Capitals,
    /// Letters, digits, `_` and `-`.
    Word,
    /// Letters, digits, `_`, `-` and `.`: tokens of several parts.
    Dotted,
    /// Anything but white space and quotes.
    Any,
}

/// A well-known shape of a token: `lead` at the beginning of a word, then at least `min` characters of `rest`.
/// Rows have no whole example, or scanners would report this file as a leak. The tests make up examples.
pub(super) struct Shape {
    pub(super) lead: &'static str,
    pub(super) rest: Rest,
    pub(super) min: usize,
    /// `min` characters and no more.
    pub(super) exact: bool,
}

const fn shape(lead: &'static str, rest: Rest, min: usize) -> Shape {
    Shape { lead, rest, min, exact: false }
}

const fn exact(lead: &'static str, rest: Rest, min: usize) -> Shape {
    Shape { lead, rest, min, exact: true }
}

/// A lead that ends in `=` or a blank is a name before its value and is matched in any case.
pub(super) const SHAPES: &[Shape] = &[
    // models
    shape("sk-", Rest::Word, 20), // OpenAI, Anthropic, OpenRouter, DeepSeek …
    shape("AIza", Rest::Word, 30),
    shape("hf_", Rest::Alnum, 30),
    shape("gsk_", Rest::Alnum, 40),
    shape("xai-", Rest::Alnum, 40),
    shape("r8_", Rest::Alnum, 30),
    shape("pplx-", Rest::Alnum, 40),
    shape("fw_", Rest::Alnum, 22),
    shape("tvly-", Rest::Word, 20),
    shape("vck_", Rest::Alnum, 20),
    shape("lsv2_", Rest::Word, 30),
    // code and packages
    shape("ghp_", Rest::Alnum, 30),
    shape("gho_", Rest::Alnum, 30),
    shape("ghu_", Rest::Alnum, 30),
    shape("ghs_", Rest::Alnum, 30),
    shape("ghr_", Rest::Alnum, 30),
    shape("github_pat_", Rest::Word, 30),
    shape("glpat-", Rest::Word, 20),
    shape("gldt-", Rest::Word, 20),
    shape("glrt-", Rest::Word, 20),
    shape("npm_", Rest::Alnum, 36),
    shape("pypi-AgE", Rest::Word, 30),
    shape("rubygems_", Rest::Hex, 40),
    shape("dckr_pat_", Rest::Word, 20),
    shape("ATATT3", Rest::Word, 30),
    shape("lin_api_", Rest::Alnum, 30),
    shape("sntrys_", Rest::Word, 30),
    shape("ntn_", Rest::Alnum, 40),
    // clouds and services
    exact("AKIA", Rest::Capitals, 16),
    exact("ASIA", Rest::Capitals, 16),
    shape("ya29.", Rest::Dotted, 20),
    shape("dop_v1_", Rest::Hex, 40),
    shape("xoxb-", Rest::Word, 10),
    shape("xoxa-", Rest::Word, 10),
    shape("xoxp-", Rest::Word, 10),
    shape("xoxr-", Rest::Word, 10),
    shape("xoxs-", Rest::Word, 10),
    shape("xapp-", Rest::Word, 10),
    shape("sk_live_", Rest::Alnum, 10),
    shape("sk_test_", Rest::Alnum, 10),
    shape("rk_live_", Rest::Alnum, 10),
    shape("whsec_", Rest::Alnum, 20),
    shape("shpat_", Rest::Hex, 32),
    shape("SG.", Rest::Dotted, 40),
    exact("SK", Rest::Hex, 32),
    shape("hvs.", Rest::Word, 20),
    shape("dapi", Rest::Hex, 32),
    shape("sbp_", Rest::Hex, 40),
    shape("re_", Rest::Word, 30),
    shape("PMAK-", Rest::Word, 30),
    shape("tskey-", Rest::Word, 20),
    shape("hooks.slack.com/services/", Rest::Any, 10),
    shape("discord.com/api/webhooks/", Rest::Any, 10),
    // of no one vendor
    shape("eyJ", Rest::Dotted, 30),     // a JWT; a dot must be in it
    shape("-----BEGIN ", Rest::Any, 1), // a private key; `PRIVATE KEY` must be in it
    shape("AGE-SECRET-KEY-1", Rest::Alnum, 30),
    shape("authorization: ", Rest::Any, 1),
    shape("bearer ", Rest::Dotted, 16),
    shape("password=", Rest::Any, 1),
    shape("passwd=", Rest::Any, 1),
    shape("pwd=", Rest::Any, 1),
    shape("accountkey=", Rest::Any, 1),
    shape("sharedaccesskey=", Rest::Any, 1),
    shape("client_secret=", Rest::Any, 1),
    shape("access_token=", Rest::Any, 1),
    shape("_authtoken=", Rest::Any, 1),
    shape("api_key=", Rest::Any, 1),
    shape("apikey=", Rest::Any, 1),
];

static NAME_GLOBS: LazyLock<Globs> = LazyLock::new(|| Globs::new(NAMES.iter().map(|row| row.0)));
static HARMLESS_GLOBS: LazyLock<Globs> = LazyLock::new(|| Globs::new(HARMLESS.iter().map(|row| row.0)));

/// The shapes, by the first byte of their leads.
static LEADS: LazyLock<Vec<Vec<&'static Shape>>> = LazyLock::new(|| {
    let mut leads = vec![Vec::new(); 256];
    for shape in SHAPES {
        let first = shape.lead.as_bytes()[0];
        leads[usize::from(first)].push(shape);
        let upper = first.to_ascii_uppercase();
        if shape.any_case() && upper != first {
            leads[usize::from(upper)].push(shape);
        }
    }
    leads
});

/// Bytes by which a token is told from other text. Without a bound, a text of many leads would take quadratic time.
const SEEN: usize = 512;

/// Variables that are never withheld: without them nothing runs, and their values are no secrets.
pub(super) const NEEDED: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// Returns whether a variable carries a secret, by its name or by its value. Public keys, settings about secrets, paths
/// to secrets and SSH_AUTH_SOCK, without which no `git push` would work, do not count.
pub fn is_secret(name: &str, value: &str) -> bool {
    !NEEDED.contains(&name) && (has_secret_name(name, value) || has_secret_shape(value))
}

fn has_secret_name(name: &str, value: &str) -> bool {
    // The buffer is on the stack because this runs for each variable. No vendor uses longer names.
    let mut buffer = [0; 128];
    let length = name.len().min(buffer.len());
    let name = &name.as_bytes()[name.len() - length..];
    for (to, from) in buffer.iter_mut().zip(name) {
        *to = match from.to_ascii_uppercase() {
            b'-' | b'.' | b':' | b'/' => b'_',
            other => other,
        };
    }
    let name = &buffer[..length];
    let bare = name.iter().rposition(|byte| !matches!(byte, b'0'..=b'9' | b'_')).map_or(&name[..0], |at| &name[..=at]);
    let Some(row) = NAME_GLOBS.find(bare) else { return false };
    match NAMES[row].1 {
        Always => true,
        Usually => HARMLESS_GLOBS.find(bare).is_none(),
        Maybe => HARMLESS_GLOBS.find(bare).is_none() && !is_switch_or_path(value),
    }
}

fn is_switch_or_path(value: &str) -> bool {
    value.len() < 2
        || value.starts_with(['/', '~', '.'])
        || ["true", "false", "yes", "no", "on", "off", "none", "basic", "auto"]
            .iter()
            .any(|word| value.eq_ignore_ascii_case(word))
}

/// Returns whether a name says that its value is a secret. The value counts where the name alone is not enough.
pub fn is_secret_name(name: &str, value: &str) -> bool {
    !NEEDED.contains(&name) && has_secret_name(name, value)
}

/// Returns the leads of all shapes of tokens.
pub fn leads() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|shape| shape.lead)
}

/// Returns the token of a well-known shape that begins at this place of a text, or, of a shape whose lead is an address
/// or a scheme, the value behind the lead. Names before `=`, headers and private keys are left to the caller.
pub fn token_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let shapes = &LEADS[usize::from(*text.get(at)?)];
    if shapes.is_empty() || (at > 0 && text[at - 1].is_ascii_alphanumeric()) {
        return None;
    }
    let token = shapes.iter().filter(|shape| shape.is_token()).find_map(|shape| shape.token(&text[at..]))?;
    Some(at + token.start..at + token.end)
}

/// Returns whether a value holds a secret: at the start of a word, or as the password of a URL.
pub fn has_secret_shape(value: &str) -> bool {
    let bytes = value.as_bytes();
    let within_word = |at: usize| at > 0 && bytes[at - 1].is_ascii_alphanumeric();
    let has_token = bytes.iter().enumerate().any(|(at, byte)| {
        let shapes = &LEADS[usize::from(*byte)];
        !shapes.is_empty() && !within_word(at) && shapes.iter().any(|shape| shape.fits(&bytes[at..]))
    });
    has_token || has_password_before_at(bytes)
}

/// Matches `scheme://user:password@host`, `scheme://:password@host`, and Go's `user:password@tcp(host)/`.
fn has_password_before_at(value: &[u8]) -> bool {
    memchr::memchr_iter(b'@', value).any(|at| {
        let before = &value[..at];
        let word = before.iter().rposition(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b','));
        let before = &before[word.map_or(0, |space| space + 1)..];
        let user = match memchr::memmem::rfind(before, b"://") {
            Some(scheme) if scheme > 0 => &before[scheme + 3..],
            _ if value[at + 1..].starts_with(b"tcp(") || value[at + 1..].starts_with(b"unix(") => before,
            _ => return false,
        };
        !user.contains(&b'/') && memchr::memchr(b':', user).is_some_and(|colon| colon + 1 < user.len())
    })
}

impl Says {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Usually => "usually",
            Self::Maybe => "maybe",
        }
    }
}

impl Rest {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Alnum => "alnum",
            Self::Hex => "hex",
            Self::Capitals => "capitals",
            Self::Word => "word",
            Self::Dotted => "dotted",
            Self::Any => "any",
        }
    }

    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'),
            Self::Any => !byte.is_ascii_whitespace() && !matches!(byte, b'"' | b'\'' | b';' | b'&'),
        }
    }
}

impl Shape {
    fn any_case(&self) -> bool {
        self.lead.ends_with(['=', ' ']) && !self.lead.starts_with('-')
    }

    /// Returns whether the shape is that of a token by itself, or of one behind an address or a scheme.
    fn is_token(&self) -> bool {
        !self.lead.ends_with('=') && !self.lead.starts_with("authorization") && !self.lead.starts_with("-----")
    }

    /// Returns the token that `text` begins with, or the value behind a lead that is no part of it.
    fn token(&self, text: &[u8]) -> Option<Range<usize>> {
        if !self.fits(&text[..text.len().min(SEEN)]) {
            return None;
        }
        let lead = self.lead.len();
        let rest = &text[lead..];
        let end = lead + rest.iter().position(|&byte| !self.rest.has(byte)).unwrap_or(rest.len());
        Some(if self.any_case() || self.rest == Rest::Any { lead..end } else { 0..end })
    }

    /// Returns whether `text` begins with a token of this shape.
    fn fits(&self, text: &[u8]) -> bool {
        let Some((lead, rest)) = text.split_at_checked(self.lead.len()) else { return false };
        let same = if self.any_case() {
            lead.eq_ignore_ascii_case(self.lead.as_bytes())
        } else {
            lead == self.lead.as_bytes()
        };
        if !same {
            return false;
        }
        let token = &rest[..rest.iter().position(|&byte| !self.rest.has(byte)).unwrap_or(rest.len())];
        let long = if self.exact {
            token.len() == self.min && !rest.get(self.min).is_some_and(u8::is_ascii_alphanumeric)
        } else {
            token.len() >= self.min
        };
        // These leads are common enough in plain text to need a second sign.
        long && match self.lead {
            "sk-" | "re_" | "tskey-" => is_random(token),
            "eyJ" => token.contains(&b'.'),
            "-----BEGIN " => memchr::memmem::find(rest, b"PRIVATE KEY").is_some(),
            _ => true,
        }
    }
}

/// Returns whether a token is unlike `sk-learn-examples-2024`: a long run with a digit in it, or long as a whole with
/// letters of both cases.
fn is_random(token: &[u8]) -> bool {
    let has = |text: &[u8], test: fn(&u8) -> bool| text.iter().any(test);
    has(token, u8::is_ascii_digit)
        && (token.split(|byte| matches!(byte, b'-' | b'_')).any(|run| run.len() >= 16 && has(run, u8::is_ascii_digit))
            || (token.len() >= 40 && has(token, u8::is_ascii_uppercase) && has(token, u8::is_ascii_lowercase)))
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
