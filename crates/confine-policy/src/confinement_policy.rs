//! A policy: the options of the caller, checked and resolved.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::hosts::AllowEntry;
use crate::{ConfinementPart, MissingPart, WorldSecrets, WorldSsh};

/// The starting point of a confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PolicyProfile {
    /// Only the listed paths may be changed.
    ReadOnly,
    /// The directory of the owner may be changed.
    Workspace,
}

impl PolicyProfile {
    /// Returns the public name.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Workspace => "workspace",
        }
    }
}

/// The files that may be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReadScope {
    /// Every file that is not hidden.
    All,
    /// These paths, the write roots and the directories of the system.
    Only(Vec<PathBuf>),
}

/// The hosts that may be reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NetworkScope {
    /// The loopback of the world alone.
    None,
    /// Every host, as without confinement.
    Full,
    /// The hosts of a list.
    Allow {
        /// The entries.
        entries: Vec<AllowEntry>,
        /// Addresses for names, which take precedence over any resolver.
        hosts: BTreeMap<String, IpAddr>,
    },
}

impl NetworkScope {
    /// Returns the names that the list has as they are, each once.
    pub fn listed_names(&self) -> BTreeSet<&str> {
        let Self::Allow { entries, .. } = self else { return BTreeSet::new() };
        entries.iter().filter_map(|entry| entry.host.name()).collect()
    }
}

/// The place of `/tmp`, `/var/tmp` and `/dev/shm`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TmpPlacement {
    /// A directory of the world.
    Private,
    /// The directories of the host.
    Shared,
}

/// The state in which commands find the caches of package managers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum CacheAccess {
    /// Readable, with a writable layer that ends with the world.
    Overlay,
    /// The host's, writable.
    Shared,
    /// The host's, as read-only as the rest of the home.
    None,
}

/// What git may change outside of the write roots.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GitScope {
    /// Nothing.
    None,
    /// The parts of each write root's repository that git writes.
    Repository {
        /// The homes of the user. A repository whose top is a home does not count below its top.
        homes: Vec<PathBuf>,
    },
}

/// The draft in which commands run: they see copy-on-write views of directories, at their own paths.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DraftedTree {
    /// The directory of the draft.
    pub room: PathBuf,
    /// How often the draft was committed. A view from before a commit gets no further command.
    pub generation: u64,
    /// The most bytes that the changes may take on the disk.
    pub max_bytes: u64,
    /// The directories. Each is a write root.
    pub directories: Vec<DraftedDirectory>,
}

impl DraftedTree {
    /// Returns the file that is locked, shared, as long as a process of a command runs.
    pub fn lock(&self) -> PathBuf {
        Self::lock_of(&self.room)
    }

    /// Returns the file for a draft in this directory, as [`Self::lock`].
    pub fn lock_of(room: &Path) -> PathBuf {
        room.join("lock")
    }

    /// Returns the file that names the world of the views. It is locked while that world is searched or made.
    pub fn world(&self) -> PathBuf {
        self.room.join(format!("world-{}", self.generation))
    }
}

/// A directory of which commands see a copy-on-write view.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DraftedDirectory {
    /// The directory.
    pub base: PathBuf,
    /// The directory that gets the changes.
    pub upper: PathBuf,
    /// An empty directory on the file system of `upper`, in which the overlay prepares things.
    pub work: PathBuf,
}

/// The limits for the commands of one world. All paths are absolute and have no symbolic link that existed when the
/// policy was made. Equal policies of one owner share a world.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ConfinementPolicy {
    /// The profile.
    pub profile: PolicyProfile,
    /// The directory of the owner.
    pub root: PathBuf,
    /// Directories and files that may be changed. None lies below another. A world opens them without following links,
    /// because a command may have replaced one since.
    pub write: Vec<PathBuf>,
    /// The draft that gets the changes. It needs namespaces. `None`: the directories themselves are changed.
    pub draft: Option<DraftedTree>,
    /// What git may change besides.
    pub git: GitScope,
    /// Names that are protected, relative to each write root and each repository in it; or absolute paths.
    /// A name that a repository has in `.git` (`.git/hooks`) also counts for its submodules and worktrees.
    pub protect: Vec<PathBuf>,
    /// Paths that can be neither read nor listed. They need not exist. None lies below another. A hidden path may lie
    /// below a write root or a cache, and is hidden there, too.
    pub hide: Vec<PathBuf>,
    /// The files that may be read.
    pub read: ReadScope,
    /// The hosts that may be reached.
    pub network: NetworkScope,
    /// Ports of the world's loopback that the host's loopback forwards to.
    pub expose: Vec<u16>,
    /// The place of temporary files.
    pub tmp: TmpPlacement,
    /// The state of caches, and the directories of the existing caches. None lies below another, below a write root or
    /// below a hidden path. A write root may lie below a cache.
    pub caches: (CacheAccess, Vec<PathBuf>),
    /// Parts that must hold.
    pub require: Vec<ConfinementPart>,
    /// The secrets that commands use. Their hosts may be reached.
    pub secrets: WorldSecrets,
    /// The use of the host's ssh agent. Its hosts may be reached.
    pub ssh: Option<WorldSsh>,
}

/// The reach of a confined command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandReach {
    /// The only places that can be changed, absolute.
    pub write: Vec<String>,
    /// Whether no host can be reached.
    pub offline: bool,
    /// Whether no process, device or service of the machine can be reached.
    pub alone: bool,
}

impl ConfinementPolicy {
    /// Returns the parts that the options ask for, in the order of [`ConfinementPart::ALL`].
    pub fn wanted_parts(&self) -> impl Iterator<Item = ConfinementPart> {
        ConfinementPart::ALL
            .into_iter()
            .filter(|part| *part != ConfinementPart::Network || self.network != NetworkScope::Full)
    }

    /// Returns the drafted directories.
    pub fn drafted(&self) -> &[DraftedDirectory] {
        self.draft.as_ref().map_or(&[], |draft| &draft.directories)
    }

    /// Returns whether commands of another policy may run in the world of this one. All commands of a draft share a
    /// world, so those without secrets and agent of their own have those of the world, and all have its caches.
    pub fn serves(&self, other: &Self) -> bool {
        if other.draft.is_none() {
            return self == other;
        }
        let (kind, places) = &self.caches;
        // A cache may have been made since.
        let has_caches = *kind == other.caches.0
            && (*kind != CacheAccess::Shared || places.iter().all(|place| other.caches.1.contains(place)));
        let other = if has_caches { Self { caches: self.caches.clone(), ..other.clone() } } else { other.clone() };
        if !other.secrets.rules.is_empty() || other.ssh.is_some() {
            return *self == other;
        }
        // The options of a draft are the same for all of its hosts. These differ by what a host has added.
        let Self { secrets, ssh, network, hide, require, .. } = self.clone();
        let is_hidden = |path: &PathBuf| hide.iter().any(|hidden| path.starts_with(hidden));
        other.hide.iter().all(is_hidden) && *self == Self { secrets, ssh, network, hide, require, ..other }
    }

    /// Returns the draft of a write root.
    pub fn drafted_at(&self, root: &Path) -> Option<&DraftedDirectory> {
        self.drafted().iter().find(|drafted| drafted.base == root)
    }

    /// Returns the reach that the policy leaves to a command whose owner has this directory. A part that is not
    /// required may not hold, so it limits nothing.
    pub fn command_reach(&self, root: &Path) -> CommandReach {
        let holds = |part| self.require.contains(&part);
        let (caches, places) = &self.caches;
        let shared = if *caches == CacheAccess::Shared { places.as_slice() } else { &[] };
        // Also under the directory's own name, which may be a link.
        let root = (self.profile == PolicyProfile::Workspace).then_some(root);
        let everything = (!holds(ConfinementPart::Files)).then_some(Path::new("/"));
        let write = self.write.iter().chain(shared).map(PathBuf::as_path).chain(root).chain(everything);
        CommandReach {
            write: write.map(|path| path.to_string_lossy().into_owned()).collect(),
            offline: self.network == NetworkScope::None && holds(ConfinementPart::Network),
            // A service of the machine has a socket or a file.
            alone: holds(ConfinementPart::Processes) && holds(ConfinementPart::Files),
        }
    }

    /// Returns the parts that are held if these are missing.
    pub fn held_without(&self, missing: &[MissingPart]) -> Vec<ConfinementPart> {
        self.wanted_parts().filter(|part| missing.iter().all(|missing| missing.part != *part)).collect()
    }
}

#[cfg(any(test, debug_assertions))]
impl ConfinementPolicy {
    /// Returns a workspace with a private tmp and without a network, which requires, protects and hides nothing.
    pub fn sample(root: &std::path::Path) -> Self {
        Self {
            profile: PolicyProfile::Workspace,
            root: root.to_owned(),
            write: vec![root.to_owned()],
            draft: None,
            git: GitScope::Repository { homes: Vec::new() },
            protect: Vec::new(),
            hide: Vec::new(),
            read: ReadScope::All,
            network: NetworkScope::None,
            expose: Vec::new(),
            tmp: TmpPlacement::Private,
            caches: (CacheAccess::None, Vec::new()),
            require: Vec::new(),
            secrets: WorldSecrets::default(),
            ssh: None,
        }
    }
}

/// The confinement of a command, which decides on its world. Equal confinements share a world.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct OwnedPolicy {
    /// The limits for the commands of the world.
    pub policy: ConfinementPolicy,
    /// The owner of the world, as a number that no other owner of this host process has: a tool, a session, a registry.
    /// 0: the plain calls of the host.
    pub owner: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SecretRule;

    #[test]
    fn the_world_of_a_draft_serves_commands_without_secrets_of_their_own() {
        let room = PathBuf::from("/store/d1");
        let draft = Some(DraftedTree { room, generation: 1, max_bytes: 1, directories: Vec::new() });
        let plain =
            ConfinementPolicy { draft, hide: vec!["/h/below".into()], ..ConfinementPolicy::sample(Path::new("/p")) };
        let rule = |stand_in: &str| SecretRule {
            name: "TOKEN".into(),
            stand_in: stand_in.into(),
            hosts: Vec::new(),
            places: Vec::new(),
            methods: None,
            paths: None,
            inject: false,
            file: None,
            ttl_ms: None,
        };
        let with = |stand_in: &str| ConfinementPolicy {
            secrets: WorldSecrets { rules: vec![rule(stand_in)], ..WorldSecrets::default() },
            network: NetworkScope::Allow { entries: Vec::new(), hosts: BTreeMap::new() },
            hide: vec!["/agent".into(), "/h".into()],
            ..plain.clone()
        };
        assert!(with("a").serves(&plain) && with("a").serves(&with("a")) && plain.serves(&plain));
        assert!(!with("a").serves(&with("b")) && !plain.serves(&with("a")));
        for other in [
            ConfinementPolicy { hide: vec!["/other".into()], ..plain.clone() },
            ConfinementPolicy { root: "/q".into(), ..plain.clone() },
            ConfinementPolicy { draft: None, ..plain.clone() },
        ] {
            assert!(!with("a").serves(&other), "{other:?}");
        }
        let caching = |kind, places: &[&str]| ConfinementPolicy {
            caches: (kind, places.iter().map(PathBuf::from).collect()),
            ..plain.clone()
        };
        let (overlay, shared) = (CacheAccess::Overlay, CacheAccess::Shared);
        for (mine, theirs, serves) in [
            (caching(overlay, &["/h/.npm"]), caching(overlay, &["/h/.cargo"]), true),
            (caching(shared, &["/h/.npm"]), caching(shared, &["/h/.cargo", "/h/.npm"]), true),
            (caching(shared, &["/h/.npm"]), caching(shared, &["/h/.cargo"]), false),
            (caching(shared, &["/h/.npm"]), caching(overlay, &["/h/.npm"]), false),
        ] {
            assert_eq!(mine.serves(&theirs), serves, "{theirs:?}");
        }
        let undrafted = ConfinementPolicy { draft: None, ..plain.clone() };
        assert!(!ConfinementPolicy { draft: None, ..with("a") }.serves(&undrafted));
    }
}
