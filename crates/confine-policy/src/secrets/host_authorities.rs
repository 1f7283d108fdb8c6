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

/// The files in which systems keep them for Java: Debian and Alpine, Fedora, SUSE.
const JAVA_STORES: [&str; 3] = [
    "/etc/ssl/certs/java/cacerts",
    "/etc/pki/ca-trust/extracted/java/cacerts",
    "/var/lib/ca-certificates/java-cacerts",
];

/// Variables that name a file of authorities for programs that bring their own.
pub const VARIABLES_OF_AUTHORITIES: [&str; 12] = [
    OF_THE_SYSTEM,
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "PIP_CERT",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "AWS_CA_BUNDLE",
    "DENO_CERT",
    "npm_config_cafile",
    "UV_SSL_CERT_FILE",
    "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
];

/// The variable that replaces the system's authorities.
const OF_THE_SYSTEM: &str = "SSL_CERT_FILE";

/// Where the authorities of the host are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HostAuthorities {
    /// The files of the system, without links, each once. Programs find those of the world in their place.
    pub system: Vec<PathBuf>,
    /// The stores of the Java that the system, `JAVA_HOME` and `PATH` have, likewise.
    pub java: Vec<PathBuf>,
    /// The file that `SSL_CERT_FILE` of the host names.
    pub file: Option<PathBuf>,
    /// The directories that `SSL_CERT_DIR` of the host names.
    pub directories: Vec<PathBuf>,
    /// The files that the other variables of the host name, which only programs trust.
    pub of_programs: Vec<PathBuf>,
}

impl HostAuthorities {
    /// Finds the authorities of a host.
    pub fn of(host: &impl PolicyEnvironment) -> Self {
        let system = existing(host, BUNDLES.map(PathBuf::from));
        let java = existing(host, java_homes(host).flat_map(stores_in).chain(JAVA_STORES.map(PathBuf::from)));
        let directories = host.variable("SSL_CERT_DIR").unwrap_or_default().split(':').filter(|path| !path.is_empty());
        let directories = directories.map(PathBuf::from).collect();
        let [file, of_programs @ ..] = VARIABLES_OF_AUTHORITIES.map(|name| host.variable(name).map(PathBuf::from));
        Self { system, java, file, directories, of_programs: of_programs.into_iter().flatten().collect() }
    }

    /// Returns the files with the authorities that vouch for the hosts of secrets.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        self.system.iter().chain(&self.file).map(PathBuf::as_path)
    }
}

/// Returns the files that exist, without links, each once.
fn existing(host: &impl PolicyEnvironment, paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut found: Vec<_> = paths.into_iter().filter_map(|path| host.resolve(&path).ok()).collect();
    found.sort();
    found.dedup();
    found
}

/// Returns the directories of the Java of `JAVA_HOME`, and of the one that commands find on `PATH`.
fn java_homes(host: &impl PolicyEnvironment) -> impl Iterator<Item = PathBuf> {
    let mut on_path = host.variable("PATH").unwrap_or_default().split(':').map(|path| Path::new(path).join("java"));
    let java = on_path.find_map(|java| host.resolve(&java).ok());
    let home = java.and_then(|java| Some(java.parent()?.parent()?.to_owned()));
    host.variable("JAVA_HOME").map(PathBuf::from).into_iter().chain(home)
}

/// Returns where a Java has its store. That of Java 8 is a level lower.
fn stores_in(home: PathBuf) -> [PathBuf; 2] {
    ["lib/security/cacerts", "jre/lib/security/cacerts"].map(|store| home.join(store))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::RealHost;

    #[test]
    fn the_stores_of_java_are_found_by_its_variable_and_by_its_program() {
        let directory = tempfile::tempdir().expect("a directory");
        let base = directory.path().canonicalize().expect("it exists");
        let stores = ["8/jre/lib/security/cacerts", "21/lib/security/cacerts"].map(|store| base.join(store));
        for file in stores.iter().chain(&[base.join("21/bin/java"), base.join("bin/other")]) {
            fs::create_dir_all(file.parent().expect("a directory")).expect("created");
            fs::write(file, "").expect("written");
        }
        symlink(base.join("21/bin/java"), base.join("bin/java")).expect("linked");
        let of = |environment: &str| {
            let mut java = HostAuthorities::of(&RealHost { environment }).java;
            java.retain(|path| path.starts_with(&base));
            java
        };
        let (home, path) = (format!("JAVA_HOME={}/8", base.display()), format!("PATH=/none:{}/bin", base.display()));
        assert_eq!(of(&format!("{home}\0{path}\0")), [stores[1].clone(), stores[0].clone()]);
        assert_eq!(of(&format!("{home}\0")), [stores[0].clone()]);
        assert_eq!(of("PATH=/none\0"), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_file_for_single_programs_vouches_for_no_host_of_a_secret() {
        let environment = "SSL_CERT_FILE=/all.pem\0NODE_EXTRA_CA_CERTS=/node.pem\0PIP_CERT=/pip.pem\0";
        let authorities = HostAuthorities::of(&RealHost { environment });
        assert_eq!(authorities.of_programs, ["/node.pem", "/pip.pem"].map(PathBuf::from));
        let others = authorities.files().filter(|path| !authorities.system.iter().any(|system| system == path));
        assert_eq!(others.collect::<Vec<_>>(), [Path::new("/all.pem")]);
    }
}
