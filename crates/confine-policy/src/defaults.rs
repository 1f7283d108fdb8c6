//! The default lists that count without any option of the caller, as data.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

use super::policy_environment::PolicyEnvironment;

/// Names that are protected below each write root and each repository in it, because other programs run or trust these
/// files.
pub const PROTECT: [&str; 26] = [
    ".git/hooks",
    ".git/config",
    ".vscode",
    ".idea",
    ".mcp.json",
    ".claude",
    ".cursor",
    ".envrc",
    ".gitconfig",
    ".npmrc",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
];

/// Paths below the home that are protected. Elsewhere `.config` is a directory like any other.
const PROTECT_AT_HOME: [&str; 1] = [".config/fish"];

/// A path that is hidden: keys, tokens, passwords, sessions and histories, and sockets that lead out.
#[derive(Debug, Deserialize)]
pub(super) struct HiddenPath {
    pub path: String,
    /// What lies there, in the words of the documents.
    pub what: String,
    /// The document that says so.
    pub source: String,
}

/// The paths of `data/hidden.json`.
#[derive(Debug, Deserialize)]
pub(super) struct HiddenPaths {
    /// Relative to the home.
    pub home: Vec<HiddenPath>,
    /// Of the system. An ordinary user cannot read most of them.
    pub system: Vec<HiddenPath>,
}

/// The default list of hidden paths.
pub(super) static HIDE: LazyLock<HiddenPaths> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/hidden.json")).expect("a test reads the same text"));

/// Files of `/proc` about the whole machine, which no command reads.
pub const OF_MACHINE: [&str; 6] = ["kcore", "keys", "kmsg", "sched_debug", "sysrq-trigger", "timer_list"];

/// Directories that can always be read: system directories with programs and their libraries.
pub const SYSTEM: [&str; 24] = [
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/home/linuxbrew/.linuxbrew",
    "/run/current-system",
    "/run/opengl-driver",
    "/var/lib/ca-certificates",
    "/var/lib/dpkg",
    "/var/cache/fontconfig",
    "/dev",
    "/proc",
    "/sys",
    "/System",
    "/Library",
    "/private/etc",
];

/// Caches of package managers. Each row has the variable that moves the cache, the path below the variable's directory,
/// and the usual place in the home.
const CACHES: [(&str, &str, &str); 33] = [
    ("npm_config_cache", "", ".npm"),
    ("YARN_CACHE_FOLDER", "", ".cache/yarn"),
    ("", "", ".yarn/berry"),
    ("PNPM_HOME", "store", ".local/share/pnpm/store"),
    ("", "", ".pnpm-store"),
    ("", "", ".cache/pnpm"),
    ("BUN_INSTALL_CACHE_DIR", "", ".bun/install/cache"),
    ("DENO_DIR", "", ".cache/deno"),
    ("COREPACK_HOME", "", ".cache/node"),
    ("", "", ".cache/node-gyp"),
    ("PIP_CACHE_DIR", "", ".cache/pip"),
    ("UV_CACHE_DIR", "", ".cache/uv"),
    ("POETRY_CACHE_DIR", "", ".cache/pypoetry"),
    ("", "", ".cache/pdm"),
    ("PIPENV_CACHE_DIR", "", ".cache/pipenv"),
    ("", "", ".conda/pkgs"),
    ("CARGO_HOME", "registry", ".cargo/registry"),
    ("CARGO_HOME", "git", ".cargo/git"),
    ("GOMODCACHE", "", "go/pkg/mod"),
    ("GOPATH", "pkg/mod", "go/pkg/mod"),
    ("GOCACHE", "", ".cache/go-build"),
    ("GRADLE_USER_HOME", "", ".gradle"),
    ("", "", ".m2/repository"),
    ("", "", ".ivy2/cache"),
    ("COURSIER_CACHE", "", ".cache/coursier"),
    ("NUGET_PACKAGES", "", ".nuget/packages"),
    ("", "", ".local/share/NuGet"),
    ("", "", ".bundle/cache"),
    ("COMPOSER_CACHE_DIR", "", ".cache/composer"),
    ("CCACHE_DIR", "", ".cache/ccache"),
    ("", "", ".ccache"),
    ("SCCACHE_DIR", "", ".cache/sccache"),
    ("", "", ".cache/pre-commit"),
];

/// The prefix of the name of a directory that keeps files for undos on their own mount. The user's number follows.
pub const UNDO_PLACE: &str = ".agent-bash-undo-";

/// The same for the changes of drafts.
pub const DRAFTS_PLACE: &str = ".agent-bash-drafts-";

/// Returns the homes of the user: `$HOME`, and the home in the user database.
pub(super) fn user_homes(host: &impl PolicyEnvironment) -> Vec<PathBuf> {
    let mut homes: Vec<PathBuf> = Vec::new();
    let own = host.variable("HOME").map(Path::new);
    for home in own.into_iter().chain(host.home()).filter(|home| home.is_absolute()) {
        if !homes.iter().any(|one| one == home) {
            homes.push(home.to_owned());
        }
    }
    homes
}

/// Returns the default list of hidden paths. It includes our own directories: the tasks and the output of other
/// commands, the state of the user's shell, and the sockets of hosts.
pub(super) fn default_hidden_paths(host: &impl PolicyEnvironment, homes: &[PathBuf]) -> Vec<PathBuf> {
    let mut hidden: Vec<PathBuf> = Vec::new();
    for home in homes {
        hidden.extend(HIDE.home.iter().map(|one| home.join(&one.path)));
        hidden.extend([home.join(".local/state/agent-bash"), home.join(".cache/agent-bash")]);
    }
    hidden.extend(HIDE.system.iter().map(|one| PathBuf::from(&one.path)));
    let moved =
        ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"].into_iter().filter_map(|name| host.variable(name));
    hidden.extend(moved.map(|directory| Path::new(directory).join("agent-bash")));
    hidden.push(PathBuf::from(format!("/run/user/{}/agent-bash", host.user())));
    let own = format!("agent-bash-{}", host.user());
    let temporary = ["/tmp", "/var/tmp"].into_iter().chain(host.variable("TMPDIR"));
    hidden.extend(temporary.map(|directory| Path::new(directory).join(&own)));
    hidden.retain(|path| path.is_absolute());
    hidden
}

/// Returns the directories in which stores lie unless another one is given.
pub(super) fn user_states(host: &impl PolicyEnvironment, homes: &[PathBuf]) -> Vec<PathBuf> {
    let moved = host.variable("XDG_STATE_HOME").map(|directory| vec![PathBuf::from(directory)]);
    moved.unwrap_or_else(|| homes.iter().map(|home| home.join(".local/state")).collect())
}

/// Returns the default list of protected names and paths.
pub(super) fn default_protected_paths(homes: &[PathBuf]) -> Vec<PathBuf> {
    let at_home = homes.iter().flat_map(|home| PROTECT_AT_HOME.iter().map(|name| home.join(name)));
    PROTECT.iter().map(PathBuf::from).chain(at_home).collect()
}

/// Returns the places in which caches may lie, with the user's whole cache directory, because a program may create new
/// entries there.
pub(super) fn default_cache_paths(host: &impl PolicyEnvironment, homes: &[PathBuf]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for (variable, below, in_home) in CACHES {
        match host.variable(variable) {
            Some(directory) => places.push(Path::new(directory).join(below)),
            None => places.extend(homes.iter().map(|home| home.join(in_home))),
        }
    }
    places.extend(host.variable("XDG_CACHE_HOME").map(PathBuf::from));
    places.extend(homes.iter().map(|home| home.join(".cache")));
    places.retain(|path| path.is_absolute());
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_without_repetition_and_relative() {
        let (home, system) = (&HIDE.home, &HIDE.system);
        let hidden: Vec<_> = home.iter().map(|one| one.path.as_str()).collect();
        for list in [&PROTECT[..], &hidden] {
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), list.len());
            assert!(list.iter().all(|name| !name.starts_with(['/', '~']) && !name.ends_with('/')));
        }
        assert!(system.iter().all(|one| one.path.starts_with('/') && !one.path.ends_with('/')));
        let is_told =
            |one: &HiddenPath| !one.what.is_empty() && (one.source.contains("://") || one.source.contains('('));
        assert!(home.iter().chain(system).all(is_told));
        assert!(SYSTEM.iter().all(|name| name.starts_with('/')));
    }
}
