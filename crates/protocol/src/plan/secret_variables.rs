//! Finds the variables that carry secrets, by their names and by the shapes of their values. Each row is a test.

use std::sync::LazyLock;

use super::name_pattern::NamePatternSet;
use super::token_shapes;

/// How strongly a name suggests a secret.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum SecretLikelihood {
    /// A secret, whatever else the name says.
    Always,
    /// A secret, unless the name is in `HARMLESS`.
    Usually,
    /// A secret, unless the name is in `HARMLESS` or the value is a switch (`1`, `true`, `off` …), empty, or a path.
    Maybe,
}
use SecretLikelihood::{Always, Maybe, Usually};

/// Patterns of names in capitals, each with a name that it must find. In names `-`, `.`, `:` and `/` count as `_`, and
/// a number at the end (`GH_TOKEN_2`) does not count.
pub(super) const NAMES: &[(&str, SecretLikelihood, &str)] = &[
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
    ("*_CREDS", Maybe, "DB_CREDS"),
    ("SSHPASS", Always, "SSHPASS"),
    ("JWT", Maybe, "JWT"),
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
    ("*PRIMARY_KEY", "PRIMARY_KEY"),
    ("*FOREIGN_KEY", "FOREIGN_KEY"),
    ("*UNIQUE_KEY", "UNIQUE_KEY"),
    ("*LOOKUP_KEY", "LOOKUP_KEY"),
    ("*OBJECT_KEY", "OBJECT_KEY"),
    ("*S3_KEY", "REPORT_S3_KEY"),
    ("*PROJECT_KEY", "SONAR_PROJECT_KEY"),
    ("*ISSUE_KEY", "JIRA_ISSUE_KEY"),
    ("*GROUP_KEY", "JOB_GROUP_KEY"),
    ("*ROW_KEY", "ROW_KEY"),
    ("*INDEX_KEY", "INDEX_KEY"),
    ("*HASH_KEY", "HASH_KEY"),
    ("*RANGE_KEY", "RANGE_KEY"),
    ("*TRANSLATION_KEY", "TRANSLATION_KEY"),
    ("*HOT_KEY", "HOT_KEY"),
    ("*SHARD_KEY", "SHARD_KEY"),
    ("*ROUTING_KEY", "AMQP_ROUTING_KEY"),
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

/// Names in texts before a value that is a secret, in any case.
pub(super) const FIELDS: &[&str] = &[
    "authorization: ",
    "password=",
    "passwd=",
    "pwd=",
    "accountkey=",
    "sharedaccesskey=",
    "client_secret=",
    "access_token=",
    "_authtoken=",
    "api_key=",
    "apikey=",
];

static NAME_GLOBS: LazyLock<NamePatternSet> = LazyLock::new(|| NamePatternSet::new(NAMES.iter().map(|row| row.0)));
static HARMLESS_GLOBS: LazyLock<NamePatternSet> =
    LazyLock::new(|| NamePatternSet::new(HARMLESS.iter().map(|row| row.0)));

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

/// Returns whether a value holds a secret: a token, a private key, a field with a value, or the password of a URL.
pub fn has_secret_shape(value: &str) -> bool {
    let bytes = value.as_bytes();
    token_shapes::find_tokens(bytes).next().is_some()
        || has_private_key(bytes)
        || has_field(bytes)
        || has_password_before_at(bytes)
}

fn has_private_key(value: &[u8]) -> bool {
    let mut begins = memchr::memmem::find_iter(value, b"-----BEGIN ");
    begins.any(|at| memchr::memmem::find(&value[at..value.len().min(at + 96)], b"PRIVATE KEY").is_some())
}

/// Returns whether a field has a value, at the start of a word.
fn has_field(value: &[u8]) -> bool {
    let is_field = |sign: usize| {
        FIELDS.iter().any(|field| {
            let Some(start) = (sign + 1).checked_sub(field.len()) else { return false };
            value[start..=sign].eq_ignore_ascii_case(field.as_bytes())
                && (start == 0 || !value[start - 1].is_ascii_alphanumeric())
        })
    };
    let has_value =
        |sign: usize| value.get(sign + 1).is_some_and(|byte| !byte.is_ascii_whitespace() && !b"\"';&".contains(byte));
    memchr::memchr2_iter(b'=', b' ', value).any(|sign| has_value(sign) && is_field(sign))
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

impl SecretLikelihood {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Always => "always",
            Self::Usually => "usually",
            Self::Maybe => "maybe",
        }
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
