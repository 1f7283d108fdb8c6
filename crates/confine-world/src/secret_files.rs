//! The files of a world with secrets: the authorities that its programs trust, and files with stand-ins.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::file_covers::FileCovers;
use super::hidden_covers::StandInFiles;
use super::mount_layers::MountLayer;
use super::overlay_mount;
use super::private_directory::PrivateDirectory;
use super::step_failure::{StepContext, WorldStepFailure};
use confine_broker::java_store;
use confine_policy::{ConfinementPolicy, HostAuthorities, VARIABLES_OF_AUTHORITIES, WorldFacts};
use sys::MountFlags;

/// The name of the file with the authorities in the private directory of a world.
const TRUST: &str = "trust.pem";

/// The name of the directory with the socket of the agent there.
const AGENT: &str = "ssh";

/// The lines around a certificate in PEM.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";
const END: &str = "-----END CERTIFICATE-----";

/// The name of the file with the same in Java's form.
const JAVA_TRUST: &str = "trust.jks";

/// The variable with options for every Java.
pub const JAVA_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Returns the mounts of the world's own places, and adds the files that stand in the place of others. The authorities
/// are written later, when the gate has made its own, and so is the socket of the agent.
pub(super) fn secret_layers(
    policy: &ConfinementPolicy,
    private: &PrivateDirectory,
    stand_ins: &mut StandInFiles,
) -> Result<Vec<MountLayer>, WorldStepFailure> {
    let mut layers = Vec::new();
    for (name, places) in trust_files(policy) {
        let trust = private.path.join(name);
        let step = || "the file of authorities".into();
        create(&trust).at_step(step)?;
        layers.push(MountLayer::copy(&trust, &trust, MountFlags::READ_ONLY)?);
        for at in places {
            stand_ins.insert(at.clone(), sys::open_unread(&trust).at_step(step)?);
        }
    }
    if let Some(place) = create_agent_place(policy, private).at_step(|| "the place of the ssh agent".into())? {
        layers.push(MountLayer::copy(&place, &place, MountFlags::READ_ONLY)?);
    }
    let mut added = BTreeMap::new();
    for (number, (at, content)) in secret_files(policy).enumerate() {
        let is_there = at.symlink_metadata().is_ok();
        let parent = at.parent().unwrap_or(Path::new("/"));
        let step = || format!("the file of a secret at {}", at.display());
        let file = if is_there {
            private.path.join(format!("secret-{number}"))
        } else {
            let count = added.len();
            let beside = added.entry(parent).or_insert_with(|| private.path.join(format!("secrets-{count}")));
            beside.join(at.file_name().unwrap_or_default())
        };
        let written = DirBuilder::new().recursive(true).mode(0o755).create(file.parent().unwrap_or(parent));
        written.and_then(|()| create(&file)?.write_all(content.as_bytes())).at_step(step)?;
        stand_ins.insert(at.to_owned(), sys::open_unread(&file).at_step(step)?);
    }
    for (parent, beside) in added {
        let merged = MountLayer::of(overlay_mount::merged(&beside, parent), parent, MountFlags::READ_ONLY);
        layers.push(merged.at_step(|| format!("files of secrets in {}", parent.display()))?);
    }
    Ok(layers)
}

/// Covers the files in a world without namespaces.
pub(super) fn cover_secret_files(
    policy: &ConfinementPolicy,
    private: &PrivateDirectory,
    covers: &mut FileCovers,
) -> io::Result<()> {
    for (name, places) in trust_files(policy) {
        let trust = private.path.join(name);
        places.iter().chain([&trust]).for_each(|at| covers.add(at, trust.clone()));
    }
    create_agent_place(policy, private)?;
    for (number, (at, content)) in secret_files(policy).enumerate() {
        let file = private.path.join(format!("secret-{number}"));
        create(&file)?.write_all(content.as_bytes())?;
        covers.add(at, file);
    }
    Ok(())
}

/// Returns the names of the files with authorities, each with the files of the machine in whose place it stands.
fn trust_files(policy: &ConfinementPolicy) -> impl Iterator<Item = (&'static str, &Vec<PathBuf>)> {
    let HostAuthorities { system, java, .. } = &policy.secrets.authorities;
    let all = (!policy.secrets.rules.is_empty()).then_some([(TRUST, system), (JAVA_TRUST, java)]);
    all.into_iter().flatten()
}

/// Returns the files of secrets and that of the keys of hosts, each with its content.
pub(super) fn secret_files(policy: &ConfinementPolicy) -> impl Iterator<Item = (&Path, Cow<'_, str>)> {
    let of_rules = policy.secrets.rules.iter().filter_map(|rule| rule.file.as_ref());
    let of_rules = of_rules.map(|(at, content)| (at.as_path(), Cow::Borrowed(content.as_str())));
    let of_ssh = policy.ssh.iter().filter_map(|ssh| Some((ssh.known_hosts.as_deref()?, ssh.known_hosts_text().into())));
    of_rules.chain(of_ssh)
}

/// Returns the path of the agent's socket in the private directory of a world.
pub fn agent_socket(home: &Path) -> PathBuf {
    home.join(AGENT).join("agent")
}

/// Creates the directory for the socket of the agent. `None`: commands use no agent.
fn create_agent_place(policy: &ConfinementPolicy, private: &PrivateDirectory) -> io::Result<Option<PathBuf>> {
    let place = policy.ssh.as_ref().map(|_| private.path.join(AGENT));
    place.iter().try_for_each(|place| DirBuilder::new().mode(0o755).create(place))?;
    Ok(place)
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o644).open(path)
}

/// Returns whether a secret has this file, so that it is not hidden.
pub(super) fn is_secret_file(policy: &ConfinementPolicy, path: &Path) -> bool {
    secret_files(policy).any(|(at, _)| at == path)
}

/// Lets the programs of a world find its agent.
pub fn show_agent(policy: &ConfinementPolicy, facts: &mut WorldFacts) {
    let socket = policy.ssh.as_ref().and(facts.home.as_deref()).map(agent_socket);
    facts.environment.extend(socket.map(|socket| ("SSH_AUTH_SOCK".to_owned(), Some(socket.display().to_string()))));
}

/// Lets the programs of a world trust its authority, and see its stand-ins.
///
/// # Errors
/// If the file of authorities cannot be written.
pub fn show_secrets(policy: &ConfinementPolicy, facts: &mut WorldFacts, certificate: &str) -> io::Result<()> {
    let home = facts.home.as_ref().ok_or(io::ErrorKind::NotFound)?;
    let (trust, java_trust) = (home.join(TRUST), home.join(JAVA_TRUST));
    let authorities = &policy.secrets.authorities;
    let mut all = host_certificates(authorities);
    all.extend_from_slice(certificate.as_bytes());
    for (at, content) in [(&trust, &all), (&java_trust, &java_store(&all))] {
        let mut file = OpenOptions::new().write(true).truncate(true).create(true).mode(0o644).open(at)?;
        file.write_all(content)?;
    }
    let seen = authorities.system.first().unwrap_or(&trust);
    let seen = seen.to_string_lossy().into_owned();
    facts.environment.extend(VARIABLES_OF_AUTHORITIES.map(|name| (name.to_owned(), Some(seen.clone()))));
    if authorities.java.is_empty() {
        // Java tells of this variable in every run, so it has it only where there may be a Java that was not found.
        let option = format!("-Djavax.net.ssl.trustStore={}", java_trust.display());
        facts.environment.push((JAVA_OPTIONS.to_owned(), Some(option)));
    }
    let of_rules = policy.secrets.rules.iter().filter(|rule| !rule.inject && rule.file.is_none());
    facts.environment.extend(of_rules.map(|rule| (rule.name.clone(), Some(rule.stand_in.clone()))));
    Ok(())
}

/// Returns the certificates of the authorities that the host's programs trust, as PEM. A file that cannot be read has
/// none.
fn host_certificates(authorities: &HostAuthorities) -> Vec<u8> {
    let in_directories = authorities.directories.iter().filter_map(|directory| fs::read_dir(directory).ok());
    let in_directories = in_directories.flatten().flatten().map(|entry| entry.path());
    // Systems have several links to one file, and the same certificates in files and bundles. Each that a program reads
    // costs it time.
    let (mut seen, mut all) = (HashSet::new(), Vec::new());
    let files = authorities.files().map(Path::to_owned).chain(authorities.of_programs.iter().cloned());
    for path in files.chain(in_directories) {
        let content = fs::read(path).unwrap_or_default();
        for certificate in
            String::from_utf8_lossy(&content).split(BEGIN).skip(1).filter_map(|rest| rest.split_once(END))
        {
            if seen.insert(certificate.0.trim().to_owned()) {
                all.extend_from_slice([BEGIN, certificate.0, END, "\n"].concat().as_bytes());
            }
        }
    }
    all
}
