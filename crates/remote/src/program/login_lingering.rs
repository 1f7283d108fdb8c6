//! Whether processes outlive the login that has started them.

use std::path::Path;

/// What logind does at the end of a login.
#[derive(Clone, Copy)]
struct LogindSettings<'a> {
    /// Whether systemd runs this machine.
    runs: bool,
    /// Its files of settings, the strongest last.
    settings: &'a [String],
    /// The user's name.
    user: &'a str,
}

/// Returns whether the processes of a user outlive a login here. `None`: that is not known.
pub fn outlives_login(user: &str) -> Option<bool> {
    let runs = Path::new("/run/systemd/system").is_dir();
    outlives_login_with(&LogindSettings { runs, settings: &settings(), user })
}

/// Returns the settings of logind, the strongest last.
fn settings() -> Vec<String> {
    let roots = ["/usr/lib/systemd", "/etc/systemd"];
    let mains = roots.map(|root| Path::new(root).join("logind.conf"));
    let mut more: Vec<_> = ["/usr/lib/systemd", "/run/systemd", "/etc/systemd"]
        .iter()
        .filter_map(|root| std::fs::read_dir(Path::new(root).join("logind.conf.d")).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "conf"))
        .collect();
    // They count by their names, whichever directory they are in.
    more.sort_by(|one, other| one.file_name().cmp(&other.file_name()));
    mains.into_iter().chain(more).filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// A user who lingers (`loginctl enable-linger`) is no exception: that keeps services of the user, and not what a login
/// has started.
fn outlives_login_with(logind: &LogindSettings<'_>) -> Option<bool> {
    if !logind.runs {
        return Some(true);
    }
    let setting = |key: &str| {
        let lines = logind.settings.iter().flat_map(|file| file.lines());
        lines
            .filter_map(|line| line.trim().strip_prefix(key)?.trim_start().strip_prefix('='))
            .next_back()
            .map(str::trim)
    };
    // What a system was built with is a comment in the file that comes with it.
    let kills = is_on(setting("KillUserProcesses").or_else(|| setting("#KillUserProcesses"))?)?;
    let named = |list: &str| list.split_whitespace().any(|name| name == logind.user);
    let only = setting("KillOnlyUsers").filter(|list| !list.is_empty());
    let spared = named(setting("KillExcludeUsers").unwrap_or("root")) || only.is_some_and(|only| !named(only));
    Some(!kills || spared)
}

fn is_on(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "yes" | "true" | "on" | "1" => Some(true),
        "no" | "false" | "off" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_takes_its_processes_along_where_logind_is_told_so() {
        for (runs, files, user, expected) in [
            (false, &["KillUserProcesses=yes"][..], "dev", Some(true)),
            (true, &[], "dev", None),
            (true, &["[Login]\n#NAutoVTs=6\n"], "dev", None),
            (true, &["[Login]\n#KillUserProcesses=no\n"], "dev", Some(true)),
            (true, &["[Login]\n#KillUserProcesses=yes\n"], "dev", Some(false)),
            (true, &["#KillUserProcesses=no", "KillUserProcesses = yes"], "dev", Some(false)),
            (true, &["KillUserProcesses=yes\n", "KillUserProcesses=off\n"], "dev", Some(true)),
            (true, &["KillUserProcesses=maybe"], "dev", None),
            (true, &["KillUserProcesses=yes"], "root", Some(true)),
            (true, &["KillUserProcesses=yes\nKillExcludeUsers=ci dev"], "dev", Some(true)),
            (true, &["KillUserProcesses=yes\nKillExcludeUsers="], "root", Some(false)),
            (true, &["KillUserProcesses=yes\nKillOnlyUsers=ci"], "dev", Some(true)),
            (true, &["KillUserProcesses=yes\nKillOnlyUsers=ci dev"], "dev", Some(false)),
        ] {
            let settings: Vec<_> = files.iter().map(|&file| file.to_owned()).collect();
            assert_eq!(
                outlives_login_with(&LogindSettings { runs, settings: &settings, user }),
                expected,
                "{files:?} {user}"
            );
        }
    }
}
