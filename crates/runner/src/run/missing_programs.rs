//! The hint after exit code 127: a program that is not on PATH lies in a place that is usual for it. Places are looked
//! at, and no file is read or run.

use std::cmp::Reverse;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::guard::in_context;
use super::outcome::{CommandOutcome, CommandStatus};
use crate::request::PlannedRun;
use crate::snapshot_paths;
use confine_policy::ConfinementPolicy;
use evidence::is_builtin;

/// Directories of programs in a project, below the directory of the command and those around it.
const PROJECT_PROGRAM_DIRECTORIES: [&str; 5] = ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin", "bin"];
/// Directories of programs in a home. `*` stands for a version, of which the newest counts.
const HOME_PROGRAM_DIRECTORIES: [&str; 27] = [
    ".local/bin",
    "bin",
    ".cargo/bin",
    "go/bin",
    ".nvm/versions/node/*/bin",
    ".local/share/fnm/node-versions/*/installation/bin",
    ".volta/bin",
    ".bun/bin",
    ".deno/bin",
    ".local/share/pnpm",
    ".yarn/bin",
    ".npm-global/bin",
    ".local/share/mise/shims",
    ".asdf/shims",
    ".pyenv/shims",
    ".rye/shims",
    ".poetry/bin",
    ".rbenv/shims",
    ".rbenv/bin",
    ".gem/ruby/*/bin",
    ".local/share/gem/ruby/*/bin",
    ".config/composer/vendor/bin",
    ".composer/vendor/bin",
    ".sdkman/candidates/*/current/bin",
    ".dotnet/tools",
    ".ghcup/bin",
    ".opam/default/bin",
];

/// The exit code for a program that was not found.
const NOT_FOUND: i32 = 127;
/// The most hints of one command.
const MAX_HINTS: usize = 3;
/// The most programs that are looked for.
const PROGRAMS: usize = 16;
/// The longest command that is read for a hint, bytes.
const MAX_COMMAND: usize = 64 * 1024;
/// The most directories around that of a command.
const MAX_DIRECTORIES_ABOVE: usize = 40;
/// The most versions that are compared.
const VERSIONS: usize = 256;

/// Returns a note for each program that was not found and lies elsewhere.
pub fn program_hints(request: &PlannedRun, outcome: &CommandOutcome) -> Vec<String> {
    if request.command.len() > MAX_COMMAND {
        return Vec::new();
    }
    let wanted = missing_programs(request, outcome);
    if wanted.is_empty() {
        return Vec::new();
    }
    let places = ProgramSearchPlaces::of(request);
    let mut notes = Vec::new();
    for MissingProgram { name, cwd } in wanted {
        if let Some(path) = places.find(&name, cwd.as_deref()) {
            let note = format!("«{name}» is not on PATH; it is at {path}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes.truncate(MAX_HINTS);
    notes
}

/// A program that a command starts by its name, and the directory in which it does, as far as that is known.
#[derive(Debug, PartialEq, Eq)]
struct MissingProgram {
    name: String,
    cwd: Option<PathBuf>,
}

/// Returns the programs of the command that were not found. Without evidence, a command that ended so names one.
fn missing_programs(request: &PlannedRun, outcome: &CommandOutcome) -> Vec<MissingProgram> {
    let parts = outcome.evidence.iter().flat_map(|evidence| &evidence.parts);
    let failed: Vec<_> = parts.filter(|part| part.exit_code == Some(NOT_FOUND)).filter_map(|part| part.span).collect();
    let ended = outcome.status == CommandStatus::Exited && outcome.exit_code == Some(NOT_FOUND);
    if failed.is_empty() && !ended {
        return Vec::new();
    }
    let variable = |name| variable(request, name);
    let path = variable("PATH").unwrap_or_default();
    let units =
        in_context(request, |context| safety::analyze(&request.command, context, &safety::SafetyPolicy::default()));
    // The places of programs that were not found.
    let mut gone = Vec::new();
    let mut programs = Vec::new();
    for unit in units.commands.into_iter().filter(|unit| failed.is_empty() || lies_in(&failed, unit.span)) {
        // A wrapper that is not there starts nothing: `npx vitest`.
        if !unit.via.is_empty() && lies_in(&gone, unit.span) {
            continue;
        }
        let own = unit.path.filter(|name| unit.name.as_ref() == Some(name));
        let names = unit.prefix.into_iter().take(1).chain(own);
        let missing = |name: &String| is_name(name) && !is_builtin(name) && !is_on_path(path, name, &request.cwd);
        let Some(name) = names.into_iter().find(missing) else { continue };
        if programs.len() == PROGRAMS {
            break;
        }
        gone.push(unit.span);
        let program = MissingProgram { name, cwd: unit.cwd.map(PathBuf::from) };
        if !programs.contains(&program) {
            programs.push(program);
        }
    }
    // Which of several programs was not found is not known without evidence.
    let several = programs.iter().any(|program| program.name != programs[0].name);
    if failed.is_empty() && several { Vec::new() } else { programs }
}

/// Returns whether a place lies in one of these.
fn lies_in(places: &[(usize, usize)], (from, to): (usize, usize)) -> bool {
    places.iter().any(|(start, end)| *start <= from && to <= *end)
}

/// Returns whether a word is the name of a program, and not of a file or a reserved word.
fn is_name(word: &str) -> bool {
    let may_stand = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    word.bytes().all(may_stand) && word.starts_with(|first: char| first.is_ascii_alphanumeric())
}

/// Returns the value of a variable of the command.
fn variable<'r>(request: &'r PlannedRun, name: &str) -> Option<&'r str> {
    let of_world = request.world.iter().flat_map(|world| &world.environment).find(|(given, _)| given == name);
    match of_world {
        Some((_, value)) => value.as_deref(),
        None => request.environment.get(name),
    }
}

/// Returns whether a program lies in a directory of PATH.
fn is_on_path(path: &str, name: &str, cwd: &Path) -> bool {
    path.split(':').any(|directory| is_program(&cwd.join(directory).join(name)))
}

/// Returns whether a file may be executed by anybody.
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// The places in which programs are looked for.
struct ProgramSearchPlaces<'r> {
    home: Option<PathBuf>,
    /// The directories of the user's own PATH, from a snapshot that this process has.
    own: Vec<String>,
    policy: Option<&'r ConfinementPolicy>,
}

impl<'r> ProgramSearchPlaces<'r> {
    fn of(request: &'r PlannedRun) -> Self {
        let home = variable(request, "HOME").map(str::to_owned).or_else(sys::home);
        Self {
            home: home.map(PathBuf::from).filter(|home| home.is_absolute()),
            own: snapshot_paths::remembered_directories(),
            policy: request.confine.as_ref().map(|confine| &confine.policy),
        }
    }

    /// Returns the first place of a program that the command may see. A path that is no plain text is not named.
    fn find(&self, name: &str, cwd: Option<&Path>) -> Option<String> {
        let of_project = cwd
            .into_iter()
            .flat_map(project_directories)
            .flat_map(|around| PROJECT_PROGRAM_DIRECTORIES.map(|place| around.join(place)));
        let of_home = self
            .home
            .iter()
            .flat_map(|home| HOME_PROGRAM_DIRECTORIES.iter().flat_map(|place| expand_place(home, place)));
        let own = self.own.iter().map(PathBuf::from).filter(|place| place.is_absolute());
        let mut paths = of_project.chain(of_home).chain(own).map(|place| place.join(name));
        let path = paths.find(|path| is_program(path) && self.policy.is_none_or(|policy| is_visible(policy, path)))?;
        path.to_str().filter(|text| !text.contains(char::is_control)).map(str::to_owned)
    }
}

/// Returns the directory of a command and those around it up to the top of its repository. Without a repository, only
/// the directory itself.
fn project_directories(cwd: &Path) -> Vec<&Path> {
    let around: Vec<_> = cwd.ancestors().take(MAX_DIRECTORIES_ABOVE).collect();
    let top = around.iter().position(|directory| directory.join(".git").symlink_metadata().is_ok());
    around[..=top.unwrap_or(0)].to_vec()
}

/// Returns the directories that a place of the table stands for: the newest version first.
fn expand_place(home: &Path, place: &str) -> Vec<PathBuf> {
    let Some((before, after)) = place.split_once("/*/") else { return vec![home.join(place)] };
    let entries = fs::read_dir(home.join(before)).into_iter().flatten().flatten().take(VERSIONS);
    let mut versions: Vec<_> = entries.map(|entry| entry.file_name()).collect();
    versions.sort_by_cached_key(|version| Reverse(numbers(&version.to_string_lossy())));
    versions.into_iter().map(|version| home.join(before).join(version).join(after)).collect()
}

/// Returns the numbers in the name of a version.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|each: char| !each.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
}

/// Returns whether confined commands see a file, under its own path and its real one.
fn is_visible(policy: &ConfinementPolicy, path: &Path) -> bool {
    let real = fs::canonicalize(path).ok();
    let beside =
        path.parent().zip(path.file_name()).and_then(|(place, name)| Some(place.canonicalize().ok()?.join(name)));
    [real.as_deref(), beside.as_deref()].into_iter().all(|path| path.is_some_and(|path| policy.permits_read(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, create_dir_all};

    /// A directory with these programs and directories.
    fn place(programs: &[&str], directories: &[&str]) -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("a directory");
        directories.iter().for_each(|path| create_dir_all(place.path().join(path)).expect("made"));
        for program in programs {
            let path = place.path().join(program);
            create_dir_all(path.parent().expect("a directory")).expect("made");
            File::create(&path).expect("made").set_permissions(fs::Permissions::from_mode(0o755)).expect("executable");
        }
        place
    }

    #[test]
    fn names_of_programs_are_plain_words() {
        for name in ["vitest", "g++", "python3.12", "x_y-z"] {
            assert!(is_name(name), "{name}");
        }
        for word in ["", "./x", "/bin/x", "a b", "$X", "[[", "-x", "a\n", "é"] {
            assert!(!is_name(word), "{word}");
        }
    }

    #[test]
    fn a_project_ends_at_the_top_of_its_repository() {
        let place = place(&[], &["repo/.git", "repo/app/src", "other/deep"]);
        let at = |path: &str| place.path().join(path);
        assert_eq!(project_directories(&at("repo/app/src")), [at("repo/app/src"), at("repo/app"), at("repo")]);
        assert_eq!(project_directories(&at("repo")), [at("repo")]);
        assert_eq!(project_directories(&at("other/deep")), [at("other/deep")], "no repository is around it");
    }

    #[test]
    fn the_newest_version_comes_first() {
        let programs = ["v9.1.0", "v20.2.0", "v20.11.1"].map(|version| format!(".nvm/versions/node/{version}/bin/x"));
        let home = place(&programs.each_ref().map(String::as_str), &[]);
        let places = ProgramSearchPlaces { home: Some(home.path().into()), own: Vec::new(), policy: None };
        let path = home.path().join(".nvm/versions/node/v20.11.1/bin/x");
        assert_eq!(places.find("x", None), Some(path.display().to_string()));
        assert_eq!(expand_place(home.path(), ".nvm/versions/*/nosuch").len(), 1);
        assert!(expand_place(home.path(), ".sdkman/candidates/*/current/bin").is_empty());
    }

    #[test]
    fn places_are_looked_at_in_their_order_and_only_programs_count() {
        let site = place(
            &["app/node_modules/.bin/a", ".local/bin/a", ".cargo/bin/b", "own/c", "app/bin/e/f"],
            &["app/.git", "app/src", "app/bin/d"],
        );
        File::create(site.path().join("app/bin/g")).expect("made");
        let at = |path: &str| Some(site.path().join(path).display().to_string());
        let own = vec!["relative".to_owned(), site.path().join("own").display().to_string()];
        let places = ProgramSearchPlaces { home: Some(site.path().into()), own, policy: None };
        let app = site.path().join("app/src");
        assert_eq!(places.find("a", Some(&app)), at("app/node_modules/.bin/a"));
        assert_eq!(places.find("a", None), at(".local/bin/a"), "the directory is not known");
        assert_eq!(places.find("b", Some(&app)), at(".cargo/bin/b"));
        assert_eq!(places.find("c", Some(&app)), at("own/c"));
        for name in ["d", "e", "g", "nosuch"] {
            assert_eq!(places.find(name, Some(&app)), None, "{name}");
        }
    }

    #[test]
    fn what_a_confinement_hides_is_not_named() {
        let site = place(&["app/bin/a", ".local/bin/a", "secret/b"], &["app/.git"]);
        let link = |from: &str, to: &str| {
            std::os::unix::fs::symlink(site.path().join(from), site.path().join(to)).expect("made");
        };
        link("secret/b", ".local/bin/b");
        link("secret/b", "app/bin/c");
        let real = site.path().canonicalize().expect("there");
        let hidden = ["app/bin", "secret"].map(|path| real.join(path)).to_vec();
        let policy = ConfinementPolicy {
            hide: hidden,
            tmp: confine_policy::TmpPlacement::Shared,
            ..ConfinementPolicy::sample(&real)
        };
        let find = |name, policy| {
            let home = Some(site.path().to_owned());
            ProgramSearchPlaces { home, own: Vec::new(), policy }.find(name, Some(&site.path().join("app")))
        };
        let at = |path: &str| Some(site.path().join(path).display().to_string());
        assert_eq!((find("a", None), find("b", None)), (at("app/bin/a"), at(".local/bin/b")));
        assert_eq!((find("a", Some(&policy)), find("b", Some(&policy))), (at(".local/bin/a"), None));
        assert_eq!(find("c", Some(&ConfinementPolicy { hide: vec![real.join("secret")], ..policy.clone() })), None);
    }
}
