//! Against bash itself: a state is dumped, restored in a fresh shell, and dumped again.

mod lasting;
mod leaving;
mod properties;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use super::mentions_trap;
use super::{SavedShellState, call_save, save_script};

/// A directory with the files that a session of shells uses.
pub(super) struct TestShells {
    folder: tempfile::TempDir,
    env: Vec<(String, String)>,
    pub state: Option<SavedShellState>,
    /// Whether the last command saved a state.
    pub saved: bool,
}

impl TestShells {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let save = save_script(&path(&folder, "out"), &path(&folder, "code"));
        std::fs::write(folder.path().join("save"), save).expect("the script is written");
        let env = [("PATH", "/usr/bin:/bin"), ("HOME", "/"), ("LANG", "C.UTF-8"), ("GIVEN", "a b")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { folder, env, state: None, saved: false }
    }

    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn path(&self, name: &str) -> String {
        path(&self.folder, name)
    }

    pub fn block(&self) -> Vec<u8> {
        self.env.iter().flat_map(|(name, value)| format!("{name}={value}\0").into_bytes()).collect()
    }

    /// Runs a command in the state of the previous ones.
    pub fn run(&mut self, text: &str) -> Output {
        self.run_given(text, &[])
    }

    /// The same as [`Self::run`], with these variables given.
    pub fn run_given(&mut self, text: &str, given: &[(String, Option<String>)]) -> Output {
        let restore = self.state.as_ref().map(|state| state.restore_early(&self.block())).unwrap_or_default();
        let late = self.state.as_ref().map(SavedShellState::restore_late).unwrap_or_default();
        std::fs::write(self.path("restore"), restore).expect("the state is written");
        let (file, out) = (self.path("save"), self.path("out"));
        let tail = mentions_trap(text) || self.state.as_ref().is_some_and(SavedShellState::mentions_trap);
        let mut prologue = format!("{{ \\builtin . {}; }} >/dev/null 2>&1\nunset BASH_ENV\n", self.path("restore"));
        for (name, value) in given {
            prologue.push_str(&match value {
                Some(value) => format!("export {name}='{value}'\n"),
                None => format!("unset {name}\n"),
            });
        }
        let mut text = text.to_owned();
        if tail {
            text = format!("{text}\n{}", call_save(&file, &out, true));
        } else {
            prologue.push_str(&format!("trap '{}' EXIT\n", call_save(&file, &out, false)));
        }
        let mut prologue = prologue.into_bytes();
        if !late.is_empty() {
            prologue.extend([b"{ ", late.as_slice(), b"} >/dev/null 2>&1\n"].concat());
        }
        std::fs::write(self.path("prologue"), prologue).expect("the prologue is written");
        let _ = std::fs::remove_file(&out);
        let output = Command::new("bash")
            .args(["-c", &text])
            .current_dir(self.folder.path())
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .env("BASH_ENV", self.path("prologue"))
            .stdin(Stdio::null())
            .output()
            .expect("bash runs");
        let dump = std::fs::read(&out).unwrap_or_default();
        let state = SavedShellState::parse(&dump);
        self.saved = state.is_some();
        if let (Some(mut state), Some(_)) = (state, output.status.code()) {
            state.forget_given(self.state.as_ref(), given);
            self.state = Some(state);
        }
        output
    }

    /// Returns the output of a command that succeeds and saves a state.
    pub fn tell(&mut self, text: &str) -> String {
        let output = self.run(text);
        assert!(output.status.success(), "{text}: {output:?}");
        assert!(self.saved, "{text} leaves a state");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{text}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the difference to another state, as code.
    pub fn difference(&self, other: &Option<SavedShellState>) -> String {
        let code = |state: &Option<SavedShellState>| match state {
            Some(state) => String::from_utf8_lossy(&state.restore(b"SHELLOPTS=\0")).into_owned(),
            None => String::new(),
        };
        let (here, there) = (code(&self.state), code(other));
        let only = |some: &str, others: &str, sign: &str| {
            let lines = some.lines().filter(|line| !others.lines().any(|other| other == *line));
            lines.map(|line| format!("{sign} {line}\n")).collect::<String>()
        };
        only(&here, &there, "now") + &only(&there, &here, "before")
    }

    pub fn code(&self) -> String {
        let told = std::fs::read_to_string(self.path("code")).unwrap_or_default();
        told.split('\0').next().unwrap_or_default().to_owned()
    }
}

fn path(folder: &tempfile::TempDir, name: &str) -> String {
    let path: PathBuf = folder.path().join(name);
    path.to_str().expect("a plain path").to_owned()
}
