//! The rules of secrets: where each may go, without its value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::host_authorities::HostAuthorities;
use super::raw_secret::RawSecret;
use super::stand_in::{RandomDigits, stand_in_for};
use crate::glob::matches_glob;
use crate::hosts::{AllowEntry, AllowHost};
use crate::option_paths::expand_entry;
use crate::policy_environment::PolicyEnvironment;
use crate::policy_error::{PolicyError, PolicyFault};

/// The most secrets of a policy.
const MOST_SECRETS: usize = 64;
/// The longest value, and the longest file, in bytes.
const LONGEST_VALUE: usize = 64 * 1024;
const LONGEST_FILE: usize = 1024 * 1024;
/// The most entries of a list of a secret.
const MOST_ENTRIES: usize = 64;

/// The stand-in of a value that could not be had yet.
const UNKNOWN: &str = "aaaaaaaa00000000aaaaaaaa00000000aaaaaaaa";

/// Variables by which programs are steered, so that no secret can have their name. A final `*` stands for any rest.
const STEERING: [&str; 40] = [
    "AGENT_BASH_*",
    "BASH_*",
    "BASHOPTS",
    "CDPATH",
    "DYLD_*",
    "ENV",
    "EUID",
    "GCONV_PATH",
    "GIT_ASKPASS",
    "GIT_CONFIG*",
    "GIT_DIR",
    "GIT_EXEC_PATH",
    "GIT_SSH*",
    "GIT_SSL_*",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LANG",
    "LC_*",
    "LD_*",
    "LOGNAME",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "OLDPWD",
    "PATH",
    "PERL5*",
    "PPID",
    "PROMPT_COMMAND",
    "PS4",
    "PWD",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RUBYLIB",
    "RUBYOPT",
    "SHELL",
    "SHELLOPTS",
    "SSL_CERT_*",
    "TMPDIR",
    "UID",
    "USER",
];

/// Where a secret may stand in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum SecretPlace {
    /// `Authorization: Bearer VALUE`
    Bearer,
    /// The user or the password of `Authorization: Basic`.
    Basic,
    /// Any header.
    Header,
    /// The query of the URL.
    Query,
    /// The body.
    Body,
    /// The key by which AWS's Signature Version 4 signs a request, and its id.
    SigV4,
}

impl SecretPlace {
    /// All places, with their public names.
    const NAMED: [(&str, Self); 6] = [
        ("bearer", Self::Bearer),
        ("basic", Self::Basic),
        ("header", Self::Header),
        ("query", Self::Query),
        ("body", Self::Body),
        ("sigv4", Self::SigV4),
    ];

    /// Returns the public name.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, place)| *place == self).map_or("", |(name, _)| name)
    }
}

/// A secret, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SecretRule {
    /// The name, which is that of the variable.
    pub name: String,
    /// The text that commands see.
    pub stand_in: String,
    /// The hosts whose requests get the value.
    pub hosts: Vec<AllowEntry>,
    /// The places in which the value is put. Empty: any header, and the user and password of Basic.
    pub places: Vec<SecretPlace>,
    /// Globs of methods. `None`: all.
    pub methods: Option<Vec<String>>,
    /// Globs of paths. `None`: all.
    pub paths: Option<Vec<String>>,
    /// Whether the value is put in although no stand-in was sent. No variable is set then.
    pub inject: bool,
    /// The file that commands find, in place of a variable: its path, absolute and without links, and its content.
    pub file: Option<(PathBuf, String)>,
    /// Milliseconds after which the value is asked for again.
    pub ttl_ms: Option<u64>,
}

/// The secrets of a world.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WorldSecrets {
    /// The secrets.
    pub rules: Vec<SecretRule>,
    /// The authorities that vouch for their hosts. Without secrets there are none.
    pub authorities: HostAuthorities,
}

impl SecretRule {
    /// Returns whether requests to this host may have the value.
    pub fn goes_to(&self, name: &str, port: u16) -> bool {
        self.hosts.iter().any(|entry| entry.host.has_name(name) && entry.port.is_none_or(|own| own == port))
    }

    /// Returns whether the value may stand in this place.
    pub fn may_stand_in(&self, place: SecretPlace) -> bool {
        let asked = |place| self.places.contains(&place);
        match (self.places.is_empty(), place) {
            (true, place) => matches!(place, SecretPlace::Bearer | SecretPlace::Basic | SecretPlace::Header),
            (false, SecretPlace::Bearer) => asked(SecretPlace::Bearer) || asked(SecretPlace::Header),
            (false, place) => asked(place),
        }
    }

    /// Returns whether the secret may be used for this method.
    pub fn permits_method(&self, method: &str) -> bool {
        self.methods.as_ref().is_none_or(|globs| {
            globs.iter().any(|glob| matches_glob(glob.to_ascii_uppercase().as_bytes(), method.as_bytes()))
        })
    }

    /// Returns whether the secret may be used for this path, which begins with `/` and has no query.
    pub fn permits_path(&self, path: &str) -> bool {
        let matches = |globs: &Vec<String>| globs.iter().any(|glob| matches_glob(glob.as_bytes(), path.as_bytes()));
        self.paths.as_ref().is_none_or(matches)
    }
}

/// Returns the secrets that a caller gave.
///
/// # Errors
/// A [`PolicyError`] that names the secret and the fault, never a value.
pub(crate) fn world_secrets(
    given: &BTreeMap<String, RawSecret>,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<WorldSecrets, PolicyError> {
    if given.is_empty() {
        return Ok(WorldSecrets::default());
    }
    if given.len() > MOST_SECRETS {
        return Err(PolicyError::TooMany { option: "confine.secrets", count: given.len(), most: MOST_SECRETS });
    }
    let mut random = RandomDigits::new();
    let rules = given.iter().map(|(name, raw)| secret_rule(name, raw, homes, host, &mut random));
    let rules = rules.collect::<Result<Vec<_>, _>>()?;
    let mut files: Vec<_> = rules.iter().filter_map(|rule| Some((&rule.file.as_ref()?.0, &rule.name))).collect();
    files.sort();
    if let Some(twice) = files.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        return Err(PolicyError::invalid("confine.secrets", twice[1].1, PolicyFault::FileTwice));
    }
    Ok(WorldSecrets { rules, authorities: HostAuthorities::of(host) })
}

fn secret_rule(
    name: &str,
    raw: &RawSecret,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
    random: &mut RandomDigits,
) -> Result<SecretRule, PolicyError> {
    let fault = |fault| PolicyError::invalid("confine.secrets", name, fault);
    check_name(name).map_err(fault)?;
    for (option, list) in [
        ("confine.secrets.hosts", Some(&raw.hosts)),
        ("confine.secrets.methods", raw.methods.as_ref()),
        ("confine.secrets.paths", raw.paths.as_ref()),
    ] {
        let count = list.map_or(0, Vec::len);
        if count > MOST_ENTRIES {
            return Err(PolicyError::TooMany { option, count, most: MOST_ENTRIES });
        }
    }
    let hosts = raw.hosts.iter().map(|text| host_entry(text)).collect::<Result<Vec<_>, _>>()?;
    if hosts.is_empty() {
        return Err(fault(PolicyFault::NoSecretHost));
    }
    let places = raw.places.iter().map(|text| place(text)).collect::<Result<Vec<_>, _>>()?;
    if raw.inject && !matches!(places[..], [SecretPlace::Bearer | SecretPlace::Basic]) {
        return Err(fault(PolicyFault::InjectPlace));
    }
    if raw.template.is_some() && raw.file.is_none() {
        return Err(fault(PolicyFault::TemplateWithoutFile));
    }
    let stand_in = stand_in_of(raw, random).map_err(fault)?;
    let file = raw.file.as_ref().map(|path| secret_file(path, name, raw, &stand_in, homes, host)).transpose();
    Ok(SecretRule {
        name: name.to_owned(),
        file: file.map_err(fault)?,
        stand_in,
        hosts,
        places,
        methods: raw.methods.clone(),
        paths: raw.paths.clone(),
        inject: raw.inject,
        ttl_ms: raw.ttl_ms,
    })
}

fn check_name(name: &str) -> Result<(), PolicyFault> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_name = name.bytes().all(is_letter) && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit();
    let steers = STEERING.iter().any(|steering| matches_glob(steering.as_bytes(), name.as_bytes()));
    match () {
        () if !is_name || name.len() > 128 => Err(PolicyFault::NoVariable),
        () if steers || name.to_ascii_lowercase().ends_with("_proxy") => Err(PolicyFault::SteeringVariable),
        () => Ok(()),
    }
}

/// Returns a host that requests may go to with a secret. An address has no certificate that its user could check.
fn host_entry(text: &str) -> Result<AllowEntry, PolicyError> {
    let invalid = |fault| PolicyError::invalid("confine.secrets.hosts", text, fault);
    let entry: AllowEntry = text.parse().map_err(invalid)?;
    match entry.host {
        AllowHost::Net(..) => Err(invalid(PolicyFault::SecretAddress)),
        host if host.is_own_loopback() => Err(invalid(PolicyFault::OwnLoopback)),
        AllowHost::Name(_) | AllowHost::Below(_) => Ok(entry),
    }
}

fn place(text: &str) -> Result<SecretPlace, PolicyError> {
    let found = SecretPlace::NAMED.iter().find(|(name, _)| *name == text).map(|(_, place)| *place);
    let fault = PolicyFault::NotOneOf("bearer, basic, header, query, body, sigv4");
    found.ok_or_else(|| PolicyError::invalid("confine.secrets.as", text, fault))
}

fn stand_in_of(raw: &RawSecret, random: &mut RandomDigits) -> Result<String, PolicyFault> {
    let value = match &raw.value.text {
        Some(text) if text.is_empty() => return Err(PolicyFault::Empty),
        Some(text) if text.len() > LONGEST_VALUE => return Err(PolicyFault::LongSecret),
        Some(text) if text.contains('\0') => return Err(PolicyFault::NulInSecret),
        Some(text) => text,
        None => UNKNOWN,
    };
    let made = stand_in_for(value, random).map_err(|error| PolicyFault::NoRandom(error.to_string()))?;
    made.ok_or(PolicyFault::ShortSecret)
}

/// Returns the file that commands find. Without a template, it is the host's file with the stand-in for the value.
fn secret_file(
    path: &str,
    name: &str,
    raw: &RawSecret,
    stand_in: &str,
    homes: &[PathBuf],
    host: &impl PolicyEnvironment,
) -> Result<(PathBuf, String), PolicyFault> {
    let named = expand_entry(path, homes)?.into_iter().next().ok_or(PolicyFault::NoHome)?;
    if host.resolve(&named).is_ok_and(|found| host.is_directory(&found)) {
        return Err(PolicyFault::DirectoryForFile);
    }
    let content = match (&raw.template, &raw.value.text) {
        (Some(template), _) => {
            let mark = format!("${{{name}}}");
            template.contains(&mark).then(|| template.replace(&mark, stand_in)).ok_or(PolicyFault::TemplateWithoutMark)
        }
        (None, value) => {
            let content = host.read_text(&named).map_err(|error| PolicyFault::UnreadableFile(error.to_string()))?;
            match value {
                Some(value) if content.contains(value.as_str()) => Ok(content.replace(value.as_str(), stand_in)),
                _ => Err(PolicyFault::FileWithoutSecret),
            }
        }
    }?;
    if content.len() > LONGEST_FILE {
        return Err(PolicyFault::LongFile);
    }
    let place = |path: &Path| Some(host.resolve(path.parent()?).ok()?.join(path.file_name()?));
    Ok((host.resolve(&named).ok().or_else(|| place(&named)).ok_or(PolicyFault::NoPlaceForFile)?, content))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RealHost;

    const TOKEN: &str = "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";

    fn raw(more: &str) -> RawSecret {
        serde_json::from_str(&format!(r#"{{"value":{{"text":"{TOKEN}"}},"hosts":["api.example"]{more}}}"#))
            .expect("valid")
    }

    fn made(name: &str, raw: RawSecret) -> Result<SecretRule, String> {
        let given = BTreeMap::from([(name.to_owned(), raw)]);
        let secrets = world_secrets(&given, &[PathBuf::from("/")], &RealHost { environment: "" });
        secrets.map(|mut secrets| secrets.rules.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_impossible_is_refused_without_the_value() {
        for (name, more, expected) in [
            ("PATH", "", "steered"),
            ("LD_PRELOAD", "", "steered"),
            ("https_proxy", "", "steered"),
            ("1A", "", "no name of a variable"),
            ("A-B", "", "no name of a variable"),
            ("T", r#","as":["cookie"]"#, "is not one of"),
            ("T", r#","inject":true"#, "bearer"),
            ("T", r#","inject":true,"as":["bearer","basic"]"#, "bearer"),
            ("T", r#","template":"x""#, "file"),
            ("T", r#","file":"/tmp/x","template":"x""#, "${NAME}"),
            ("T", r#","file":"/etc/hostname""#, "does not hold"),
            ("T", r#","file":"/none/x""#, "cannot be read"),
            ("T", r#","file":"/","template":"${T}""#, "has a directory"),
            ("T", r#","file":"x","template":"${T}""#, "is relative"),
        ] {
            let error = made(name, raw(more)).expect_err(more);
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains(&TOKEN[4..]), "{error}");
        }
        for host in ["*", "10.0.0.1", "10.0.0.0/8", "localhost", "https://a.example", ""] {
            let error = made("T", RawSecret { hosts: vec![host.into()], ..raw("") }).expect_err(host);
            assert!(error.contains("confine.secrets.hosts"), "{error}");
        }
        let value = |text: &str| made("T", RawSecret { value: SecretTextOf(text).into(), ..raw("") });
        for text in ["", "short", "a\0bcdefghijklm", &"x".repeat(LONGEST_VALUE + 1)] {
            value(text).expect_err("impossible");
        }
        assert_eq!(value(TOKEN).expect("valid").stand_in.len(), TOKEN.len());
    }

    /// A fixed value.
    struct SecretTextOf<'a>(&'a str);

    impl From<SecretTextOf<'_>> for super::super::SecretText {
        fn from(of: SecretTextOf<'_>) -> Self {
            Self { text: Some(of.0.to_owned()), ..Self::default() }
        }
    }

    #[test]
    fn places_methods_paths_and_hosts() {
        let rule = made("T", raw(r#","methods":["get","PO*"],"paths":["/a/*"]"#)).expect("valid");
        assert!(rule.permits_method("GET") && rule.permits_method("POST") && !rule.permits_method("PUT"));
        assert!(rule.permits_path("/a/b/c") && !rule.permits_path("/b"));
        assert!(rule.may_stand_in(SecretPlace::Header) && rule.may_stand_in(SecretPlace::Basic));
        assert!(!rule.may_stand_in(SecretPlace::Query) && !rule.may_stand_in(SecretPlace::Body));
        assert!(rule.goes_to("api.example", 443) && rule.goes_to("api.example", 80));
        assert!(!rule.goes_to("www.api.example", 443) && !rule.goes_to("example", 443));
        let header = made("T", raw(r#","as":["header"]"#)).expect("valid");
        assert!(header.may_stand_in(SecretPlace::Bearer) && !header.may_stand_in(SecretPlace::Basic));
        let bearer = made("T", raw(r#","as":["bearer"]"#)).expect("valid");
        assert!(bearer.may_stand_in(SecretPlace::Bearer) && !bearer.may_stand_in(SecretPlace::Header));
    }

    #[test]
    fn a_file_has_the_stand_in_in_place_of_the_value() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().canonicalize().expect("it exists").join("npmrc");
        std::fs::write(&path, format!("//r.example/:_authToken={TOKEN}\nb={TOKEN}\n")).expect("written");
        let text = path.to_string_lossy();
        let rule = made("T", raw(&format!(r#","file":"{text}""#))).expect("valid");
        let (at, content) = rule.file.clone().expect("a file");
        assert_eq!(at, path);
        assert_eq!(content, format!("//r.example/:_authToken={}\nb={}\n", rule.stand_in, rule.stand_in));
        let rule = made("T", raw(&format!(r#","file":"{text}.new","template":"t=${{T}}""#))).expect("valid");
        assert_eq!(rule.file.expect("a file").1, format!("t={}", rule.stand_in));
    }
}
