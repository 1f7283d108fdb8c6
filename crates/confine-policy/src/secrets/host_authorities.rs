//! The certificate authorities that the host trusts.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::policy_environment::PolicyEnvironment;

/// The files in which systems keep the authorities that programs trust: Debian, Alpine, Fedora, SUSE, macOS.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/ssl/cert.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/var/lib/ca-certificates/ca-bundle.pem",
];

/// Where the authorities of the host are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostAuthorities {
    /// The files of the system, without links, each once. Programs find those of the world in their place.
    pub system: Vec<PathBuf>,
    /// The file that `SSL_CERT_FILE` of the host names.
    pub file: Option<PathBuf>,
    /// The directories that `SSL_CERT_DIR` of the host names.
    pub directories: Vec<PathBuf>,
}

impl HostAuthorities {
    /// Finds the authorities of a host.
    pub fn of(host: &impl PolicyEnvironment) -> Self {
        let mut system: Vec<_> = BUNDLES.iter().filter_map(|path| host.resolve(Path::new(path)).ok()).collect();
        system.sort();
        system.dedup();
        let directories = host.variable("SSL_CERT_DIR").unwrap_or_default().split(':').filter(|path| !path.is_empty());
        let directories = directories.map(PathBuf::from).collect();
        Self { system, file: host.variable("SSL_CERT_FILE").map(PathBuf::from), directories }
    }

    /// Returns the files with authorities.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.system.iter().chain(&self.file).map(PathBuf::as_path)
    }
}
