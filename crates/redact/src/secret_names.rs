//! Names of options, variables, headers and fields whose values are secrets.

use std::collections::HashSet;
use std::sync::LazyLock;

use protocol::plan;

/// Last words of names that hold facts about a secret, or the place of one: `--password-file`, `tokenName`.
static ABOUT: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    word_set(
        "\
    ALGO ALGORITHM CMD COLUMN COMMAND COUNT DIR DIRECTORY ENABLED ENDPOINT ENV EXPIRES EXPIRY FD FIELD FILE FILES \
    FORMAT FROM HEADER HELPER HINT ID INDEX JAR LABEL LENGTH LIMIT MANAGER NAME NAMES PARAM PATH PATTERN POLICY \
    PROGRAM PROMPT PROVIDER REGEX REQUIRED RESET ROUNDS SIZE STDIN STORE STRENGTH TIMEOUT TTL TYPE URI VERSION",
    )
});

/// Words that name the way in which a header carries a credential.
const SCHEMES: &[&str] = &["apikey", "basic", "bearer", "digest", "negotiate", "ntlm", "oauth", "token"];

/// First words of options that do something with a secret that is elsewhere: `--delete-secret-keys ID`.
const VERBS: &[&str] = &[
    "allow", "ask", "delete", "disable", "export", "gen", "generate", "list", "no", "print", "prompt", "remove",
    "require", "revoke", "rotate", "show", "skip", "use",
];

/// Ends of names that count beside those of variables, in capitals and without separators.
const ALSO: &[&str] = &[
    "ACCOUNTKEY",
    "ADMINPASS",
    "AUTHCRED",
    "AUTHKEY",
    "AUTHPASS",
    "BINDPASS",
    "BINDPW",
    "CREDS",
    "DBPASS",
    "JWT",
    "KEYPASS",
    "KEYMATERIAL",
    "MASTERPASS",
    "MYSQLPASS",
    "PASSPHRASE",
    "REMOTEPASS",
    "REQUIREPASS",
    "ROOTPASS",
    "SETUPKEY",
    "SMTPPASS",
    "SONARLOGIN",
    "SSHPASS",
    "STOREPASS",
    "USERPASS",
    "USERPWD",
    "XAPIKEY",
];

/// Whole names of the same kind.
const WHOLE: &[&str] = &["PSK", "PW", "PWD"];

/// Names that count in the query of an address alone.
static IN_QUERY: LazyLock<HashSet<&str>> =
    LazyLock::new(|| word_set("SIG SIGNATURE XAMZSIGNATURE XAMZCREDENTIAL XGOOGSIGNATURE HMAC"));

/// The same, if the value looks random.
const IN_QUERY_IF_RANDOM: &[&str] = &["KEY", "AUTH", "CODE", "SID"];

/// Values that say yes, no or nothing.
const SWITCHES: &[&str] = &["true", "false", "yes", "no", "on", "off", "none", "null", "nil", "undefined", "0", "1"];

/// Leads of values that say where a secret is, that a program puts one in its place, or that are a pattern.
const NOT_VALUES: &[&str] =
    &["op://", "%s", "%b", "%q", "%v", "\\K", "\\w", "\\S", "\\d", "[^", "[a-z", "[A-Z", "[0-9"];

/// Returns whether a value under this name is a secret.
pub fn holds_secret(name: &str, value: &str) -> bool {
    if value.is_empty() || is_switch(value) || NOT_VALUES.iter().any(|lead| value.starts_with(lead)) {
        return false;
    }
    let plain = normalized_name(name);
    let is_about = ABOUT.contains(last_word(name).to_ascii_uppercase().as_str()) && !plain.ends_with("ACCESSKEYID");
    let is_verb = name.trim_start_matches('-').split_once('-').is_some_and(|(verb, _)| VERBS.contains(&verb));
    if plain.is_empty() || plain.starts_with("ASK") || is_about || is_verb {
        return false;
    }
    if plain == "AUTH" {
        return is_encoded(value);
    }
    if WHOLE.contains(&plain.as_str()) || ALSO.iter().any(|end| plain.ends_with(end)) {
        return !is_path(value) || plain == "PSK";
    }
    let is_place = ["KEY", "CREDENTIAL", "COOKIE", "AUTH"].iter().any(|word| plain.contains(word)) && is_path(value);
    !is_place && plan::is_secret_name(name.trim_start_matches(['-', '_']), value)
}

/// Returns whether a value under this name could be a secret.
pub fn may_hold_secret(name: &str) -> bool {
    holds_secret(name, "a plain value") || normalized_name(name) == "AUTH"
}

/// Returns whether a value under this name in the query of an address is a secret.
pub fn holds_secret_in_query(name: &str, value: &str) -> bool {
    let plain = normalized_name(name);
    holds_secret(name, value)
        || !value.is_empty() && IN_QUERY.contains(plain.as_str())
        || IN_QUERY_IF_RANDOM.contains(&plain.as_str()) && is_random(value)
}

/// Returns whether a value is the name of a scheme alone: `rg "Authorization: Bearer"`.
fn is_scheme(value: &str) -> bool {
    SCHEMES.iter().any(|scheme| value.trim().eq_ignore_ascii_case(scheme))
}

/// Returns whether the value of such a header is one, and no other text behind a word: `cookie: string`.
pub fn is_header_value(name: &str, value: &str) -> bool {
    let is_plain = || name.starts_with(|first: char| first.is_ascii_lowercase()) && !name.contains('-');
    let is_credential = || value.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=');
    let has_scheme = || value.split_once(' ').is_some_and(|(scheme, _)| is_scheme(scheme));
    !is_scheme(value) && (!is_plain() || is_credential() || has_scheme())
}

/// Returns whether this is the name of a header that carries a secret.
pub fn is_header(name: &str) -> bool {
    let plain = normalized_name(name);
    matches!(plain.as_str(), "AUTHORIZATION" | "PROXYAUTHORIZATION" | "COOKIE" | "SETCOOKIE" | "XAUTH" | "XAPIKEY")
        || plain.contains("SUBSCRIPTIONKEY")
        || plain.contains("FUNCTIONSKEY")
        || (name.contains('-') && holds_secret(name, "value"))
}

fn word_set(text: &str) -> HashSet<&str> {
    text.split_ascii_whitespace().collect()
}

/// Returns the name in capitals and without separators.
fn normalized_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|next| next.to_ascii_uppercase()).collect()
}

/// Returns the last word of a name: behind the last separator, or from the last capital of a camel on.
fn last_word(name: &str) -> &str {
    let word = name.rsplit(|next: char| !next.is_ascii_alphanumeric()).next().unwrap_or(name);
    if word.bytes().all(|byte| !byte.is_ascii_lowercase()) {
        return word;
    }
    word.rfind(|next: char| next.is_ascii_uppercase()).map_or(word, |at| &word[at..])
}

/// Returns whether a value looks like `user:password` in base64, as in the settings of docker.
fn is_encoded(value: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    value.len() >= 12
        && value.bytes().all(is_base64)
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
        && value.bytes().any(|byte| byte.is_ascii_digit() || byte == b'=')
}

/// Returns the start of the secret in the value of a name: behind the user of `CREDS=user:X`.
pub fn behind_user(name: &str, value: &str) -> usize {
    let is_login = || ["CREDS", "AUTHCRED"].iter().any(|end| normalized_name(name).ends_with(end));
    value.find(':').filter(|colon| colon + 1 < value.len() && is_login()).map_or(0, |colon| colon + 1)
}

/// Returns whether a value looks random, unlike a word with a number: letters and digits alternate, among small letters
/// are capitals and signs, or digits and letters are one long run.
pub fn is_random(value: &str) -> bool {
    let kind = |byte: u8| match byte {
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        b'0'..=b'9' => 3,
        _ => 0,
    };
    let bytes = &value.as_bytes()[..value.len().min(256)];
    let changes = bytes.windows(2).filter(|pair| match (kind(pair[0]), kind(pair[1])) {
        (0, _) | (_, 0) | (2, 1) => false,
        (one, other) => one != other,
    });
    let is_word = !bytes.iter().any(u8::is_ascii_whitespace) && !value.contains("://") && !is_path(value);
    let has = |test: fn(&u8) -> bool| bytes.iter().any(test);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    let has_sign = has(|byte| b"!@#%^&*+?".contains(byte));
    is_word
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (bytes.len() >= 6 && changes.count() + usize::from(is_mixed) + usize::from(has_sign) >= 3
            || is_long_run(bytes))
}

/// Returns whether a run of letters and digits is too long for a word.
fn is_long_run(bytes: &[u8]) -> bool {
    bytes.split(|byte| !byte.is_ascii_alphanumeric()).any(|run| run.len() >= 20 && run.iter().any(u8::is_ascii_digit))
}

/// Returns whether a value that is a secret in one place is so telling that it is one wherever it stands: long, and no
/// word of a language, number or path.
pub fn is_distinctive(value: &str) -> bool {
    let has = |test: fn(&u8) -> bool| value.bytes().any(|byte| test(&byte));
    let kinds =
        [u8::is_ascii_digit, u8::is_ascii_lowercase, u8::is_ascii_uppercase].into_iter().filter(|kind| has(*kind));
    let is_one_word = !has(u8::is_ascii_whitespace) || value.len() >= 16;
    value.len() >= 6 && kinds.count() >= 2 && is_one_word && !value.contains("[redacted]") && !is_path(value)
}

/// Returns whether a value says yes or no, or how many, or where something is.
pub fn is_setting(value: &str) -> bool {
    let is_count = value.len() < 4 && value.bytes().all(|byte| byte.is_ascii_digit());
    is_count || is_switch(value) || is_path(value) && !value.contains(char::is_whitespace)
}

fn is_switch(value: &str) -> bool {
    SWITCHES.iter().any(|switch| value.eq_ignore_ascii_case(switch))
}

/// Returns whether a value is the path of a file.
pub fn is_path(value: &str) -> bool {
    const ENDS: [&str; 14] = [
        ".pem", ".key", ".pub", ".json", ".txt", ".crt", ".cer", ".cfg", ".conf", ".yaml", ".yml", ".env", ".ini",
        ".p12",
    ];
    value.starts_with(['/', '~', '.']) || ENDS.iter().any(|end| value.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_style_are_read() {
        for name in [
            "password",
            "db-password",
            "spring.datasource.password",
            "X_TOKEN",
            "apiKey",
            "clientSecret",
            "accessToken",
            "api-key",
            "requirepass",
            "AWS_ACCESS_KEY_ID",
            "PGPASSWORD",
            "mysql_pwd",
            "psk",
        ] {
            assert!(holds_secret(name, "hunter2"), "{name}");
        }
        for name in [
            "password-file",
            "passwordFile",
            "token_name",
            "tokenName",
            "max_tokens",
            "tokenizer",
            "author",
            "monkey",
            "key",
            "secret-type",
            "password-stdin",
            "TOKENIZERS_PARALLELISM",
            "partition_key",
            "passes",
            "compass",
            "credential.helper",
            "",
        ] {
            assert!(!holds_secret(name, "hunter2"), "{name}");
        }
    }

    #[test]
    fn switches_and_paths_are_no_secrets() {
        for (name, value) in [
            ("password", "true"),
            ("secret", ""),
            ("ssh_key", "/root/.ssh/id"),
            ("api_key", "server.key"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/etc/gcp.json"),
            ("PWD", "/srv"),
        ] {
            assert!(!holds_secret(name, value), "{name} {value}");
        }
        assert!(holds_secret("password", "/abc"), "a password may begin with a slash");
    }

    #[test]
    fn passwords_look_random_and_words_with_numbers_do_not() {
        for value in ["Xq9tR4mz", "s3cr3t", "P@ssw0rd!", "Summer2024!", "hunter2Secret", "a8f3k2l9", "a1b2c3"] {
            assert!(is_random(value), "{value}");
        }
        for value in [
            "production",
            "node18",
            "us-east-1",
            "v1.2.3-rc.4",
            "x86_64",
            "sha256sum",
            "Python3.11",
            "ES2022",
            "utf-8",
            "42",
            "2024-01-31",
            "README2.md",
            "t3.micro",
            "ann@example2.com",
            "https://x1y2z3a4/",
            "/a1b2c3d4",
            "feature/a-1",
        ] {
            assert!(!is_random(value), "{value}");
        }
    }

    #[test]
    fn some_names_count_in_queries_alone() {
        assert!(holds_secret_in_query("sig", "abc") && holds_secret_in_query("key", "a1b2c3"));
        assert!(
            !holds_secret_in_query("key", "value")
                && !holds_secret("sig", "abc")
                && !holds_secret_in_query("page", "2")
        );
    }

    #[test]
    fn headers_are_known_by_their_names() {
        for name in ["Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "PRIVATE-TOKEN", "X-Vault-Token"] {
            assert!(is_header(name), "{name}");
        }
        for name in ["Accept", "Content-Type", "Host", "X-Request-Id", "token", "Origin"] {
            assert!(!is_header(name), "{name}");
        }
    }
}
