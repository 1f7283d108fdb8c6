//! Runs programs in worlds for tests.

use std::ffi::CString;
use std::fs::{self, File, Permissions};
use std::io::Read as _;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, chown};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Gid, Uid, geteuid, setgroups, setresgid, setresuid};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::git::GitDirectoryGrants;
use super::private_directory::PrivateDirectory;
use super::{ConfinedWorld, ListenerHeldWorld, WorldHostPaths, build};
use confine_policy::{ConfinementPart, ConfinementPolicy};
use sys::ForkOutcome;

/// The user of tests that need an ordinary one.
pub const ORDINARY: u32 = 65534;

/// Returns the users as which tests can run here: this one, and an ordinary one.
pub fn users() -> Vec<Option<u32>> {
    if geteuid().is_root() { vec![None, Some(ORDINARY)] } else { vec![None] }
}

/// Users that worlds belong to here, each with and without watches.
pub fn users_and_watches() -> impl Iterator<Item = (Option<u32>, bool)> {
    users().into_iter().flat_map(|user| [(user, true), (user, false)])
}

/// Runs a closure in a process with one thread, as a user. Returns its result.
pub fn isolated<T: Serialize + DeserializeOwned>(user: Option<u32>, run: impl FnOnce() -> T) -> T {
    let (read, write) = sys::pipe().expect("a pipe");
    match sys::fork().expect("forked") {
        ForkOutcome::Child => {
            drop(read);
            let result = catch_unwind(AssertUnwindSafe(|| {
                if let Some(user) = user {
                    setgroups(&[]).expect("no groups");
                    let (uid, gid) = (Uid::from_raw(user), Gid::from_raw(user));
                    setresgid(gid, gid, gid).expect("another group");
                    setresuid(uid, uid, uid).expect("another user");
                    // As a program that was executed by that user.
                    nix::sys::prctl::set_dumpable(true).expect("dumpable");
                }
                run()
            }));
            let text = |error: Box<dyn std::any::Any + Send>| {
                let text = error.downcast_ref::<String>().cloned();
                text.or_else(|| error.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
            };
            let bytes = postcard::to_allocvec(&result.map_err(text)).expect("encoded");
            std::io::Write::write_all(&mut File::from(write), &bytes).expect("written");
            sys::exit_now(0)
        }
        ForkOutcome::Parent(child) => {
            drop(write);
            let mut bytes = Vec::new();
            File::from(read).read_to_end(&mut bytes).expect("read");
            waitpid(child, None).expect("reaped");
            let result: Result<T, String> = postcard::from_bytes(&bytes).expect("a result");
            result.unwrap_or_else(|text| panic!("{text}"))
        }
    }
}

/// Returns the files of a world without namespaces, with the directory that keeps them, and one that belongs to the
/// world alone.
pub fn held(policy: &ConfinementPolicy) -> (tempfile::TempDir, ListenerHeldWorld, PathBuf) {
    let state = tempfile::tempdir().expect("a directory");
    let private = PrivateDirectory::create(state.path()).expect("private files");
    let held = ListenerHeldWorld::create(policy, GitDirectoryGrants::default(), &private).expect("made");
    let own = private.tmp();
    (state, held, own)
}

/// A directory of a test. A world may still remove its own files when the directory is removed, and of two that remove
/// one directory each may find a file gone and stop.
struct WorldTestDirectory(tempfile::TempDir);

impl Drop for WorldTestDirectory {
    fn drop(&mut self) {
        let path = self.0.path();
        let removed = || fs::remove_dir_all(path).is_ok() || !path.exists();
        for _ in 0..100 {
            if removed() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

/// Directories of a test that every user may use.
pub struct WorldTestScene {
    _directory: WorldTestDirectory,
    /// A write root.
    pub root: PathBuf,
    /// A directory of the host next to it.
    pub outside: PathBuf,
    /// Where worlds keep their files.
    pub state: PathBuf,
    /// The user of the world, if it is not root.
    pub user: Option<u32>,
    watches: bool,
}

impl WorldTestScene {
    /// Creates the directories below `parent` for a user.
    pub fn below(parent: &Path, user: Option<u32>) -> Self {
        let directory = tempfile::tempdir_in(parent).expect("a directory");
        let path = directory.path().canonicalize().expect("a path");
        let [root, outside, state] = ["root", "outside", "state"].map(|name| path.join(name));
        for path in [&path, &root, &outside, &state] {
            fs::create_dir_all(path).expect("created");
            fs::set_permissions(path, Permissions::from_mode(0o755)).expect("permitted");
            chown(path, user, user).expect("given away");
        }
        Self { _directory: WorldTestDirectory(directory), root, outside, state, user, watches: true }
    }

    /// Creates them in the directory for temporary files.
    pub fn new(user: Option<u32>) -> Self {
        Self::below(&std::env::temp_dir(), user)
    }

    /// Lets its worlds watch files, or not.
    pub fn with_watches(self, watches: bool) -> Self {
        Self { watches, ..self }
    }

    /// Returns a policy with the write root of the scene.
    pub fn policy(&self) -> ConfinementPolicy {
        ConfinementPolicy {
            protect: confine_policy::PROTECT.iter().map(PathBuf::from).collect(),
            require: ConfinementPart::ALL.to_vec(),
            ..ConfinementPolicy::sample(&self.root)
        }
    }

    /// Makes a world.
    pub fn world(&self, policy: &ConfinementPolicy) -> ConfinedWorld {
        build(policy, &WorldHostPaths { state: &self.state, readable: &[], watches: self.watches }).expect("a world")
    }

    /// Runs a script in a world of its own, as the user of the scene, and returns its output and exit code.
    pub fn run(&self, policy: &ConfinementPolicy, script: &str) -> (String, i32) {
        isolated(self.user, || {
            let world = self.world(policy);
            let result = run_in(&world, &self.root, script);
            end(world);
            result
        })
    }
}

/// Ends a world and waits until its init has exited.
pub fn end(world: ConfinedWorld) {
    let init = world.namespaces.as_ref().and_then(|spaces| spaces.init);
    drop(world);
    init.iter().for_each(|init| assert_eq!(waitpid(*init, None), Ok(WaitStatus::Exited(*init, 0))));
}

/// Runs a script in a world, and returns its output and exit code.
pub fn run_in(world: &ConfinedWorld, cwd: &Path, script: &str) -> (String, i32) {
    world.refresh().expect("refreshed");
    let spaces = world.namespaces.as_ref().expect("namespaces");
    let entrance = world.entrance().expect("an entrance");
    let (read, write) = sys::pipe().expect("a pipe");
    match sys::fork_into(spaces.user.as_fd(), spaces.processes.as_fd()).expect("forked") {
        ForkOutcome::Child => {
            let entered = sys::enter_world(&entrance).and_then(|()| {
                nix::unistd::chdir(cwd).map_err(|errno| errno as i32)?;
                sys::give_up_privileges(entrance.landlock)
            });
            nix::unistd::dup2_stdout(&write).expect("output");
            nix::unistd::dup2_stderr(&write).expect("output");
            if let Err(errno) = entered {
                println!("not entered: {}", std::io::Error::from_raw_os_error(errno));
                sys::exit_now(126);
            }
            let words = ["/bin/sh", "-c", script].map(|word| CString::new(word).expect("a word"));
            let Err(error) = nix::unistd::execv(&words[0], &words);
            println!("not executed: {error}");
            sys::exit_now(127)
        }
        ForkOutcome::Parent(child) => {
            drop(write);
            world.keep_for(child).expect("kept");
            let mut output = String::new();
            // Whatever the script has left is killed with it.
            File::from(read).read_to_string(&mut output).expect("read");
            let code = match waitpid(child, None).expect("reaped") {
                WaitStatus::Exited(_, code) => code,
                WaitStatus::Signaled(_, signal, _) => 128 + signal as i32,
                other => panic!("{other:?}"),
            };
            (output, code)
        }
    }
}
