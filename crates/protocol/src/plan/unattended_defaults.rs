//! The defaults of an unattended command: no program waits for an answer, a turned page or a closed editor.

/// A default.
pub(super) struct UnattendedDefault {
    pub(super) name: &'static str,
    /// `None` removes an inherited variable.
    pub(super) value: Option<&'static str>,
    /// The default is not set if the caller's `env` sets any of these names, which mean the opposite.
    pub(super) unless: &'static [&'static str],
    /// The default also holds in a terminal, where a person answers.
    pub(super) always: bool,
    /// Why, for docs/environment.md.
    pub(super) why: &'static str,
}

impl UnattendedDefault {
    /// Returns whether any value of the variable means an unattended command, or no colours.
    pub(super) fn is_verdict(&self) -> bool {
        matches!(self.name, "CI" | "NO_COLOR")
    }
}

const fn set(name: &'static str, value: &'static str, why: &'static str) -> UnattendedDefault {
    UnattendedDefault { name, value: Some(value), unless: &[], always: false, why }
}

const fn always(name: &'static str, value: &'static str, why: &'static str) -> UnattendedDefault {
    UnattendedDefault { name, value: Some(value), unless: &[], always: true, why }
}

const fn gone(name: &'static str, why: &'static str) -> UnattendedDefault {
    UnattendedDefault { name, value: None, unless: &[], always: false, why }
}

/// The type of our terminals.
pub(super) const TERM: &str = "xterm-256color";

/// The defaults. They override the inherited variables, in every mode, and the caller's `env` overrides them.
pub(super) const DEFAULTS: &[UnattendedDefault] = &[
    // who runs this
    always("AGENT_BASH", "1", "programs can tell"),
    set("CI", "1", "most tools ask nothing, watch nothing and draw nothing then"),
    // pagers
    set("PAGER", "cat", "the general one"),
    set("GIT_PAGER", "cat", "goes before core.pager of the user"),
    set("MANPAGER", "cat", "goes before PAGER in man"),
    set("SYSTEMD_PAGER", "cat", "journalctl, systemctl"),
    set("BAT_PAGER", "cat", "goes before PAGER in bat"),
    set("DELTA_PAGER", "cat", "goes before PAGER in delta"),
    set("GH_PAGER", "cat", "goes before the user's setting in gh"),
    set("GLAB_PAGER", "cat", "the same in glab"),
    set("AWS_PAGER", "", "empty is off: aws would run less"),
    set("PSQL_PAGER", "cat", "goes before PAGER in psql"),
    // editors: `true` keeps the text as it is. So `git commit` without -m fails at once with "Aborting commit due to
    // empty commit message", `git tag -a` with "no tag message?" and `crontab -e` with "no changes", while --amend,
    // merge, revert, `rebase --continue` and `rebase -i --autosquash` use the text that they have.
    set("EDITOR", "true", "the general one"),
    set("VISUAL", "true", "goes before EDITOR"),
    set("GIT_EDITOR", "true", "goes before core.editor, and before an EDITOR that the command exports"),
    set("GIT_SEQUENCE_EDITOR", "true", "goes before sequence.editor"),
    set("HGEDITOR", "true", "goes before ui.editor"),
    set("SVN_EDITOR", "true", "goes before editor-cmd"),
    set("JJ_EDITOR", "true", "goes before ui.editor"),
    set("GH_EDITOR", "true", "goes before the user's setting"),
    gone("KUBE_EDITOR", "EDITOR holds then"),
    gone("SUDO_EDITOR", "EDITOR holds then"),
    gone("CVSEDITOR", "EDITOR holds then"),
    gone("P4EDITOR", "EDITOR holds then"),
    gone("FCEDIT", "EDITOR holds then"),
    always("BROWSER", "none", "dev servers and logins open no window on the user's screen"),
    // passwords and answers
    set("GIT_TERMINAL_PROMPT", "0", "git says that prompts are disabled"),
    set("GIT_ASKPASS", "", "no window of an editor; empty, unlike `false`, adds no error of its own"),
    set("SSH_ASKPASS", "false", "answers no to every question of ssh"),
    set("SSH_ASKPASS_REQUIRE", "force", "and is asked even where there is a terminal"),
    set("SUDO_ASKPASS", "/bin/false", "the same for sudo -A, which wants a path"),
    set("GCM_INTERACTIVE", "never", "no window of git's credential manager"),
    set("GH_PROMPT_DISABLED", "1", "gh names the flags that it misses"),
    set("AWS_CLI_AUTO_PROMPT", "off", "no full-screen prompt"),
    set("TF_INPUT", "0", "terraform names the variables that it misses"),
    set("TF_IN_AUTOMATION", "1", "no advice on the next command"),
    // package managers
    set("DEBIAN_FRONTEND", "noninteractive", "debconf asks nothing"),
    set("APT_LISTCHANGES_FRONTEND", "none", "no pager in the middle of an upgrade"),
    set("npm_config_yes", "true", "npx and npm init ask nothing"),
    always("npm_config_fund", "false", "no advertisement"),
    always("npm_config_update_notifier", "false", "no advertisement"),
    always("NO_UPDATE_NOTIFIER", "1", "the same in many node tools"),
    set("COREPACK_ENABLE_DOWNLOAD_PROMPT", "0", "yarn and pnpm are fetched without a question"),
    set("YARN_ENABLE_IMMUTABLE_INSTALLS", "0", "CI would forbid `yarn install` to write the lock file"),
    set("pnpm_config_frozen_lockfile", "false", "CI would forbid `pnpm install` the same"),
    set("PIP_NO_INPUT", "1", "pip asks nothing"),
    always("PIP_DISABLE_PIP_VERSION_CHECK", "1", "no advertisement"),
    set("POETRY_NO_INTERACTION", "1", "poetry asks nothing"),
    set("COMPOSER_NO_INTERACTION", "1", "composer asks nothing"),
    always("HOMEBREW_NO_AUTO_UPDATE", "1", "brew install takes seconds, not minutes"),
    always("HOMEBREW_NO_ENV_HINTS", "1", "no advice"),
    set("NONINTERACTIVE", "1", "Homebrew's installer asks nothing"),
    // first runs that ask or advertise
    always("NEXT_TELEMETRY_DISABLED", "1", "no notice"),
    always("ASTRO_TELEMETRY_DISABLED", "1", "no notice"),
    always("NUXT_TELEMETRY_DISABLED", "1", "asks for consent"),
    always("NG_CLI_ANALYTICS", "false", "asks for consent"),
    always("WRANGLER_SEND_METRICS", "false", "asks for consent"),
    always("DOTNET_CLI_TELEMETRY_OPTOUT", "1", "a page of notice"),
    always("DOTNET_NOLOGO", "1", "a page of welcome"),
    always("GH_NO_UPDATE_NOTIFIER", "1", "no advertisement"),
    always("DOCKER_CLI_HINTS", "false", "no advertisement"),
    // the format of the output
    set("TERM", "dumb", "no cursor movement"),
    UnattendedDefault {
        name: "NO_COLOR",
        value: Some("1"),
        unless: &["FORCE_COLOR", "CLICOLOR_FORCE"],
        always: false,
        why: "no colours",
    },
    gone("FORCE_COLOR", "says the opposite of NO_COLOR; node warns about both"),
    gone("CLICOLOR_FORCE", "says the opposite"),
    gone("COLORTERM", "says the opposite of TERM"),
    gone("FORCE_HYPERLINK", "says the opposite of TERM"),
    gone("CARGO_TERM_COLOR", "goes before NO_COLOR"),
    gone("PY_COLORS", "goes before NO_COLOR"),
    set("PYTHONUNBUFFERED", "1", "prints are seen when they happen, and kept when the process is killed"),
];

/// PATH if neither the host nor the caller sets it. The list built into bash ends with `.` on many systems, so that a
/// file of the working directory could replace a program, and children of bash would not inherit that list.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{host_variables, secret_variables};

    #[test]
    fn every_row_holds_together() {
        for (at, row) in DEFAULTS.iter().enumerate() {
            assert!(!row.why.is_empty(), "{}", row.name);
            assert!(!row.name.is_empty() && !row.name.contains(['=', '\0']), "{}", row.name);
            assert!(DEFAULTS[at + 1..].iter().all(|other| other.name != row.name), "{} twice", row.name);
            let value = row.value.unwrap_or_default();
            assert!(!secret_variables::is_secret(row.name, value), "{} would be withheld", row.name);
            assert!(!host_variables::breaks_children(row.name, value), "{} is the host's", row.name);
        }
    }

    #[test]
    fn promised_ones() {
        for (name, value) in [
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("SSH_ASKPASS", "false"),
            ("CI", "1"),
            ("TERM", "dumb"),
            ("NO_COLOR", "1"),
            ("AGENT_BASH", "1"),
        ] {
            assert!(DEFAULTS.iter().any(|row| row.name == name && row.value == Some(value)), "{name}");
        }
    }
}
