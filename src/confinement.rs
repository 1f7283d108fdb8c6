//! The confinement of a command as it crosses to JavaScript, as part of its result.

use napi_derive::napi;
use serde::Serialize;

use confine_policy::SuggestedGrant;

/// The outcome of a confinement: plain data.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
pub struct Confinement {
    /// The profile that the confinement starts from.
    #[napi(ts_type = "'read-only' | 'workspace'")]
    pub profile: String,
    /// The parts that were held.
    #[napi(ts_type = "('files' | 'network' | 'processes' | 'syscalls')[]")]
    pub held: Vec<String>,
    /// Parts that were not required and could not be held.
    pub missing: Vec<ConfineMissing>,
    /// What holds the parts.
    #[napi(ts_type = "'namespaces' | 'listener' | 'landlock' | 'filter' | 'none' | 'seatbelt'")]
    pub way: String,
    /// The files and directories that may be changed, besides private directories: those of the options, and what git
    /// needs for them.
    pub write: Vec<String>,
    /// The denials, at most 50 entries.
    pub denied: Vec<Denial>,
    /// Number of all denials, including those that are not listed.
    #[serde(rename = "deniedTotal")]
    pub denied_total: f64,
    /// The path of the private `/tmp` on the host, or `null` if it is shared.
    pub tmp: Option<String>,
    /// What secrets were used for, or refused, at most 50 entries.
    pub secrets: Vec<SecretUse>,
}

/// Equal requests that were made with a secret, or would have been.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
pub struct SecretUse {
    /// The name of the secret.
    pub name: String,
    /// The host, with its port unless that is 443.
    pub host: String,
    /// The method of the request. Empty if the connection was not opened.
    pub method: String,
    /// The path of the request, without its query. Empty if the connection was not opened.
    pub path: String,
    /// The number of requests.
    pub count: f64,
    /// The status of the host's answer, or `null` if there was none.
    pub status: Option<u16>,
    /// Why the secret was not put in, or `null` if it was.
    pub refused: Option<String>,
}

/// A part that cannot be held on this machine.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
pub struct ConfineMissing {
    /// The part.
    #[napi(ts_type = "'files' | 'network' | 'processes' | 'syscalls'")]
    pub part: String,
    /// Why it cannot be held.
    pub why: String,
    /// The remedy for the user of this machine.
    pub remedy: String,
}

/// Equal attempts that were denied.
#[napi(object, object_from_js = false, use_nullable = true)]
#[derive(Serialize)]
pub struct Denial {
    /// The kind of access that was denied.
    #[napi(ts_type = "'write' | 'read' | 'network' | 'process' | 'syscall'")]
    pub kind: String,
    /// An absolute path, `host:port`, a name, or the name of a system call.
    pub target: String,
    /// The basename of the executable whose access was denied.
    pub program: String,
    /// The number of denials.
    pub count: f64,
    /// The smallest change of the options that would allow the access. `null` if no change does.
    pub grant: Option<DenialGrant>,
}

/// A change of the options. Exactly one field is set.
#[napi(object, object_from_js = false)]
#[derive(Serialize, Default)]
pub struct DenialGrant {
    /// A path that may be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Vec<String>>,
    /// A host that may be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<GrantedNetwork>,
    /// A port that the host's loopback forwards to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expose: Option<Vec<u16>>,
}

/// Hosts that may be reached.
#[napi(object, object_from_js = false)]
#[derive(Serialize)]
pub struct GrantedNetwork {
    /// The entries of the option.
    pub allow: Vec<String>,
}

#[expect(clippy::cast_precision_loss, reason = "JavaScript counts in doubles; exact up to 2^53")]
fn number(value: u64) -> f64 {
    value as f64
}

impl From<confine_policy::ConfinementReport> for Confinement {
    fn from(held: confine_policy::ConfinementReport) -> Self {
        Self {
            profile: held.profile.name().to_owned(),
            held: held.held.iter().map(|part| part.name().to_owned()).collect(),
            missing: held.missing.into_iter().map(ConfineMissing::from).collect(),
            way: held.way.name().to_owned(),
            write: held.write.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
            denied: held.denials.listed.into_iter().map(Denial::from).collect(),
            denied_total: number(held.denials.total),
            tmp: held.tmp.map(|path| path.to_string_lossy().into_owned()),
            secrets: held.denials.secrets.0.into_iter().map(SecretUse::from).collect(),
        }
    }
}

impl From<confine_policy::CountedSecretUse> for SecretUse {
    fn from(of: confine_policy::CountedSecretUse) -> Self {
        let confine_policy::CountedSecretUse { name, host, method, path, count, status, refused } = of;
        Self { name, host, method, path, count: number(count), status, refused }
    }
}

impl From<confine_policy::MissingPart> for ConfineMissing {
    fn from(missing: confine_policy::MissingPart) -> Self {
        Self { part: missing.part.name().to_owned(), why: missing.why, remedy: missing.remedy }
    }
}

impl From<confine_policy::DeniedOperation> for Denial {
    fn from(denial: confine_policy::DeniedOperation) -> Self {
        Self {
            kind: denial.kind.name().to_owned(),
            target: denial.target,
            program: denial.program,
            count: number(denial.count),
            grant: denial.grant.map(DenialGrant::from),
        }
    }
}

impl From<SuggestedGrant> for DenialGrant {
    fn from(grant: SuggestedGrant) -> Self {
        match grant {
            SuggestedGrant::Write(path) => Self { write: Some(vec![path]), ..Self::default() },
            SuggestedGrant::Host(entry) => {
                Self { network: Some(GrantedNetwork { allow: vec![entry] }), ..Self::default() }
            }
            SuggestedGrant::Expose(port) => Self { expose: Some(vec![port]), ..Self::default() },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;
    use confine_policy::{
        CommandDenials, ConfinementMechanism, ConfinementPart, DenialKind, MissingPart, PolicyProfile,
    };

    #[test]
    fn a_confinement_crosses_as_the_contract_has_it() {
        let mut denials = CommandDenials::default();
        denials.add(DenialKind::Write, "/etc/hosts", "tee", Some(SuggestedGrant::Write("/etc/hosts".into())));
        denials.add(DenialKind::Network, "a:443", "npm", Some(SuggestedGrant::Host("a:443".into())));
        denials.add(DenialKind::Network, "127.0.0.1:3000", "curl", Some(SuggestedGrant::Expose(3000)));
        denials.add(DenialKind::Syscall, "mount", "mount", None);
        denials.secrets.add(confine_policy::CountedSecretUse {
            name: "TOKEN".into(),
            host: "a.example".into(),
            method: "GET".into(),
            path: "/user".into(),
            count: 1,
            status: Some(200),
            refused: None,
        });
        let missing = MissingPart { part: ConfinementPart::Syscalls, why: "why".into(), remedy: "remedy".into() };
        let held = confine_policy::ConfinementReport {
            profile: PolicyProfile::ReadOnly,
            held: vec![ConfinementPart::Files, ConfinementPart::Network],
            missing: vec![missing],
            way: ConfinementMechanism::Namespaces,
            write: vec![PathBuf::from("/w")],
            denials,
            tmp: Some(PathBuf::from("/w/tmp")),
        };
        let denied = json!([
            { "kind": "write", "target": "/etc/hosts", "program": "tee", "count": 1.0, "grant": { "write": ["/etc/hosts"] } },
            { "kind": "network", "target": "a:443", "program": "npm", "count": 1.0,
              "grant": { "network": { "allow": ["a:443"] } } },
            { "kind": "network", "target": "127.0.0.1:3000", "program": "curl", "count": 1.0, "grant": { "expose": [3000] } },
            { "kind": "syscall", "target": "mount", "program": "mount", "count": 1.0, "grant": null },
        ]);
        let wanted = json!({
            "profile": "read-only",
            "held": ["files", "network"],
            "missing": [{ "part": "syscalls", "why": "why", "remedy": "remedy" }],
            "way": "namespaces",
            "write": ["/w"],
            "denied": denied,
            "deniedTotal": 4.0,
            "tmp": "/w/tmp",
            "secrets": [{ "name": "TOKEN", "host": "a.example", "method": "GET", "path": "/user", "count": 1.0,
                "status": 200, "refused": null }],
        });
        assert_eq!(serde_json::to_value(Confinement::from(held)).unwrap(), wanted);
    }
}
