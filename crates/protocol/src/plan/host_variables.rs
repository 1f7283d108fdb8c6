//! Variables for the host process alone, which would mislead or break its children.

use std::sync::LazyLock;

use super::name_pattern::NamePatternSet;

/// A variable of the host that children do not inherit.
pub(super) struct HostOnlyVariable {
    pub(super) glob: &'static str,
    /// Parts of values to which the row applies; empty for all values.
    pub(super) holding: &'static [&'static str],
    /// Why, for docs/environment.md.
    pub(super) why: &'static str,
}

const fn row(glob: &'static str, why: &'static str) -> HostOnlyVariable {
    HostOnlyVariable { glob, holding: &[], why }
}

const fn holding(glob: &'static str, holding: &'static [&'static str], why: &'static str) -> HostOnlyVariable {
    HostOnlyVariable { glob, holding, why }
}

/// Variables that are never inherited, whatever the mode: they describe the host's own directory, command or
/// descriptors and would be wrong in a child.
pub(super) const UNTRUE: [&str; 6] =
    ["PWD", "OLDPWD", "_", "NODE_CHANNEL_FD", "NODE_CHANNEL_SERIALIZATION_MODE", "AGENT_BASH_ID"];

/// Variables that a command with a terminal of its own does not inherit: they describe the host's terminal.
pub(super) const OTHER_TERMINAL: [&str; 16] = [
    "COLUMNS",
    "LINES",
    "TERMCAP",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "TERM_SESSION_ID",
    "VTE_VERSION",
    "KITTY_WINDOW_ID",
    "KITTY_PID",
    "ITERM_SESSION_ID",
    "KONSOLE_VERSION",
    "WT_SESSION",
    "WINDOWID",
    "TMUX",
    "TMUX_PANE",
    "STY",
];

/// Variables that 'safe' leaves out. Kept on purpose, since commands need them: LD_LIBRARY_PATH, DYLD_LIBRARY_PATH,
/// PYTHONPATH, RUBYOPT and PERL5OPT (toolchains need them), SSH_AUTH_SOCK and GPG_AGENT_INFO (`git push`, signing),
/// GIT_SSH_COMMAND, GIT_AUTHOR_*, GIT_CEILING_DIRECTORIES, the proxies, XAUTHORITY, NODE_ENV, SHLVL (bash counts on
/// from it).
pub(super) const ROWS: &[HostOnlyVariable] = &[
    // the shell itself
    row("BASH_ENV", "a file that a fresh bash runs first"),
    row("ENV", "the same for sh"),
    row("BASH_FUNC_*", "exported functions replace programs"),
    row("SHELLOPTS", "set -e, -x … of the host's shell"),
    row("BASHOPTS", "the same for shopt"),
    row("BASH_COMPAT", "makes bash behave as an older one"),
    row("BASH_XTRACEFD", "names a descriptor that is not there"),
    row("POSIXLY_CORRECT", "puts bash into its POSIX mode"),
    row("PROMPT_COMMAND", "code of an interactive shell"),
    row("PS4", "expanded, command substitutions too, before each line of set -x"),
    row("CDPATH", "`cd src` may go elsewhere, and prints where"),
    row("GLOBIGNORE", "globs leave files out"),
    row("EXECIGNORE", "bash overlooks programs"),
    row("TMOUT", "`read` gives up, bash ends by itself"),
    // code put into every process
    row("LD_PRELOAD", "a library loaded into every program"),
    row("LD_AUDIT", "the same through the linker's audit interface"),
    row("LD_DEBUG", "the linker's trace on everybody's stderr"),
    row("DYLD_INSERT_LIBRARIES", "LD_PRELOAD on macOS"),
    holding(
        "NODE_OPTIONS",
        &["--inspect", "--debug", "--require", "-r ", "--import", "--loader", "--experimental-loader"],
        "a debugger or code of the host in every node; memory limits alone are kept",
    ),
    row("VSCODE_INSPECTOR_OPTIONS", "a debugger waits for every node"),
    // a terminal that the command does not have
    row("COLUMNS", "width of the host's terminal: `ps` cuts its lines there"),
    row("LINES", "its height"),
    row("GPG_TTY", "asks for passphrases on the host's terminal"),
    // roles of the host among its own relations
    row("NODE_UNIQUE_ID", "a node child takes itself for a worker of the host's cluster"),
    row("NODE_TEST_CONTEXT", "`node --test` skips everything, being a part of the host's test run"),
    row("ELECTRON_RUN_AS_NODE", "Electron programs start as plain node"),
    row("NOTIFY_SOCKET", "a child tells systemd that the host is ready or stopping"),
    row("WATCHDOG_*", "a child keeps the host's watchdog quiet"),
    row("LISTEN_FDS", "sockets that are not there"),
    row("LISTEN_PID", "goes with it"),
    row("LISTEN_FDNAMES", "goes with it"),
    holding("MAKEFLAGS", &["jobserver"], "the jobserver of the make above, whose descriptors are not there"),
    holding("MFLAGS", &["jobserver"], "the same"),
    holding("CARGO_MAKEFLAGS", &["jobserver"], "the same for cargo"),
    row("MAKELEVEL", "make takes itself for a recursive one"),
    // what npm tells the one script it runs: nested npm calls take it for their own options
    row("npm_package_*", "the host's package.json"),
    row("npm_lifecycle_*", "the host's script"),
    row("npm_command", "the host's npm command"),
    row("npm_config_local_prefix", "npm works in the host's directory"),
    row("npm_config_prefix", "nvm refuses to work"),
    row("npm_config_global", "npm installs globally"),
    row("npm_config_global_prefix", "npm installs into the host's place"),
    row("npm_config_workspace", "«No workspaces found»"),
    row("npm_config_workspaces", "the same"),
    row("npm_config_include_workspace_root", "the same"),
    row("npm_config_package", "npx runs the package that the host was started from"),
    row("npm_config_call", "npx runs the host's command"),
    row("INIT_CWD", "the directory where the host was started"),
    // Variables that select the repository of a hook that started the host: `git rev-parse --local-env-vars` and the
    // variables that hooks get.
    // GIT_CONFIG_COUNT, _KEY_n and _VALUE_n are not here: containers set safe.directory by them.
    row("GIT_DIR", "another repository"),
    row("GIT_COMMON_DIR", "another repository"),
    row("GIT_WORK_TREE", "another work tree"),
    row("GIT_IMPLICIT_WORK_TREE", "another work tree"),
    row("GIT_INDEX_FILE", "another index: commits what was not meant"),
    row("GIT_OBJECT_DIRECTORY", "another object store"),
    row("GIT_ALTERNATE_OBJECT_DIRECTORIES", "another object store"),
    row("GIT_QUARANTINE_PATH", "objects that are not accepted yet"),
    row("GIT_CONFIG", "another configuration for `git config`"),
    row("GIT_CONFIG_PARAMETERS", "options of the git above"),
    row("GIT_GRAFT_FILE", "another history"),
    row("GIT_SHALLOW_FILE", "another history"),
    row("GIT_NO_REPLACE_OBJECTS", "another history"),
    row("GIT_REPLACE_REF_BASE", "another history"),
    row("GIT_PREFIX", "the directory of the git above"),
    row("GIT_NAMESPACE", "another set of refs"),
    row("GIT_REFLOG_ACTION", "the command of the git above"),
    row("GIT_TRACE*", "the host's traces on everybody's stderr"),
];

static GLOBS: LazyLock<NamePatternSet> = LazyLock::new(|| NamePatternSet::new(ROWS.iter().map(|row| row.glob)));

/// Returns whether a child is better off without this variable of the host.
pub(super) fn breaks_children(name: &str, value: &str) -> bool {
    GLOBS.find(name.as_bytes()).is_some_and(|row| {
        let holding = ROWS[row].holding;
        holding.is_empty() || holding.iter().any(|part| value.contains(part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_holds() {
        for row in ROWS {
            assert!(!row.why.is_empty(), "{}", row.glob);
            let name = row.glob.replace('*', "x");
            if row.holding.is_empty() {
                assert!(breaks_children(&name, "x"), "{name}");
            }
            for part in row.holding {
                assert!(breaks_children(&name, &format!("a {part} b")), "{name} {part}");
                assert!(!breaks_children(&name, "--max-old-space-size=8192"), "{name}");
            }
            assert!(!breaks_children(&format!("X_{name}"), "x"), "{name}");
        }
    }

    #[test]
    fn no_pattern_twice() {
        let mut globs: Vec<_> = ROWS.iter().map(|row| row.glob).collect();
        globs.sort_unstable();
        assert!(globs.windows(2).all(|pair| pair[0] != pair[1]));
    }

    #[test]
    fn what_commands_need_stays() {
        for name in [
            "PATH",
            "HOME",
            "USER",
            "SHELL",
            "TMPDIR",
            "SSH_AUTH_SOCK",
            "SSH_AGENT_PID",
            "GPG_AGENT_INFO",
            "LD_LIBRARY_PATH",
            "PYTHONPATH",
            "VIRTUAL_ENV",
            "JAVA_HOME",
            "GOPATH",
            "NVM_DIR",
            "CARGO_HOME",
            "NODE_ENV",
            "NODE_PATH",
            "GIT_SSH_COMMAND",
            "GIT_AUTHOR_NAME",
            "GIT_CONFIG_GLOBAL",
            "GIT_CONFIG_NOSYSTEM",
            "GIT_CONFIG_COUNT",
            "GIT_CEILING_DIRECTORIES",
            "GIT_EXEC_PATH",
            "DOCKER_HOST",
            "KUBECONFIG",
            "XAUTHORITY",
            "DISPLAY",
            "http_proxy",
            "NO_PROXY",
            "npm_config_registry",
            "NPM_CONFIG_PREFIX",
            "SHLVL",
            "MAKE",
            "PS1",
        ] {
            assert!(!breaks_children(name, "x"), "{name}");
        }
        assert!(!breaks_children("MAKEFLAGS", "-j8"));
    }
}
