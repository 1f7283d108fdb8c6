//! A shim with or without a world, in a process of its own that plays supervisor and addon.

use std::fs;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use crate::shim::{ShimPlace, serve};
use crate::supervisor::worlds::{ForkedShim, SupervisorWorlds};
use crate::tree;
use confine_world::testing::WorldTestScene;
use protocol::plan::{
    ChangeJournalLimits, ChangeJournalOutcome, ChangeJournalPlan, ChangeJournalPurpose, ChildPlan, CommandLimits,
    InheritedDescriptor, MARK, StdinSource, WorldId, next_mark,
};
use protocol::task::{MachineIdentity, TaskSpec, now_ms};
use protocol::{CommandOrder, CommandPipes};
use protocol::{FrameReader, FromShim, ReceiveOutcome, ReleasedSurvivors, ShellExitReport, ShimOrder, ToShim};
use sys::{ChildExit, ForkOutcome};
use undo::{RunManifest, UndoStore, manifest};

const WORLD: WorldId = WorldId(1);
/// Bound against a hang, ms.
const HANG: u16 = 60_000;

/// A shim, and all that its commands may use.
pub struct JournalTestShim<'a> {
    pub scene: &'a WorldTestScene,
    worlds: Option<SupervisorWorlds>,
    pub socket: Option<OwnedFd>,
    held: Option<OwnedFd>,
    pub shim: Pid,
    reader: FrameReader,
    pipes: Option<CommandPipes>,
    pub record: ChangeJournalPlan,
    pub files: Vec<(InheritedDescriptor, Arc<OwnedFd>)>,
    runs: Vec<String>,
}

/// A command that has exited.
pub struct FinishedCommand {
    pub run: String,
    pub ended: ShellExitReport,
    /// Output of the command to both streams.
    pub output: String,
}

impl<'a> JournalTestShim<'a> {
    /// Starts a shim, in a world if `confined`.
    pub fn new(scene: &'a WorldTestScene, confined: bool) -> Self {
        let _ = MachineIdentity::here();
        let (ours, theirs) = sys::socket_pair().expect("a socket pair");
        sys::set_nonblocking(&ours).expect("a socket");
        let (lifeline, held) = sys::pipe().expect("a pipe");
        let supervisor = getpid();
        let mut worlds = confined.then(SupervisorWorlds::default);
        let forked = match &mut worlds {
            None => match sys::fork().expect("forked") {
                ForkOutcome::Parent(pid) => ForkedShim::Parent(pid.into()),
                ForkOutcome::Child => ForkedShim::Child(None),
            },
            Some(worlds) => {
                worlds.make(WORLD, &scene.policy(), &scene.state, None).expect("a world");
                worlds.fork_shim(WORLD).expect("a shim")
            }
        };
        let shim = match forked {
            ForkedShim::Parent(pids) => pids.child,
            ForkedShim::Child(world) => {
                drop((ours, held));
                let place = ShimPlace { supervisor, world: world.map(|world| *world) };
                sys::exit_now(i32::from(serve(theirs, lifeline, None, place).is_err()))
            }
        };
        let record = ChangeJournalPlan {
            purpose: ChangeJournalPurpose::Undo,
            store: scene.state.join("undo"),
            limits: ChangeJournalLimits { file_bytes: 1 << 20, run_bytes: 1 << 30, store_bytes: 1 << 30 },
            require: false,
            command: "the test".into(),
            at: now_ms(),
            beyond: Vec::new(),
            tree: scene.root.clone(),
            only_tree: false,
        };
        let (socket, held) = (Some(ours), Some(held));
        let (reader, pipes) = (FrameReader::default(), None);
        Self { scene, worlds, socket, held, shim, reader, pipes, record, files: Vec::new(), runs: Vec::new() }
    }

    /// Returns the directory of the commands.
    pub fn root(&self) -> &'a Path {
        &self.scene.root
    }

    pub fn store(&self) -> UndoStore {
        UndoStore::open(&self.record.store).expect("a store")
    }

    pub fn point(&self, run: &str) -> RunManifest {
        manifest::read(&self.store().manifest_path(run).expect("an id")).expect("a manifest")
    }

    /// Starts a command, with a record or without. Returns its run.
    pub fn start(&mut self, command: &str, recorded: bool) -> String {
        self.start_as(command, recorded, None)
    }

    /// The same as [`Self::start`], for a task if there is a specification of one.
    pub fn start_as(&mut self, command: &str, recorded: bool, task: Option<TaskSpec>) -> String {
        let run = next_mark();
        self.runs.push(run.clone());
        let home = self.root().display();
        let plan = ChildPlan {
            program: b"/bin/bash".to_vec(),
            argv: [&b"bash"[..], b"-c", command.as_bytes()].map(<[u8]>::to_vec).into(),
            script_at: None,
            env: format!("PATH=/usr/bin:/bin\0HOME={home}\0{MARK}={run}\0").into_bytes(),
            cwd: self.root().as_os_str().as_bytes().to_vec(),
            umask: 0o022,
            stdin: StdinSource::Null,
            merge: true,
            terminal: None,
            limit: None,
            grace: Duration::from_millis(100),
            limits: CommandLimits::default(),
            world: self.worlds.as_ref().map(|_| WORLD),
            files: self.files.iter().map(|(number, _)| *number).collect(),
            record: recorded.then(|| self.record.clone()),
        };
        let files = self.files.iter().map(|(_, file)| Arc::clone(file)).collect();
        let order = CommandOrder {
            plan,
            script: None,
            files,
            evidence: false,
            tap: false,
            task,
            input: None,
            terminal: None,
            warm: None,
            opening: None,
            draft: None,
        };
        let (pipes, descriptors) = order.open_pipes().expect("pipes");
        sys::set_nonblocking(&pipes.stdout).expect("a pipe");
        self.pipes = Some(pipes);
        self.send(ToShim::Run(Box::new(ShimOrder { plan: order.plan, task: order.task, opening: None, descriptors })));
        run
    }

    pub fn send(&self, message: ToShim) {
        protocol::send(self.socket.as_ref().expect("a socket"), message).expect("a message");
    }

    /// Returns the next message, and adds the output that arrives until then.
    pub fn next(&mut self, output: &mut String) -> FromShim {
        loop {
            let socket = self.socket.as_ref().expect("a socket");
            match self.reader.receive(socket).expect("a shim") {
                ReceiveOutcome::Message(message) => return message,
                ReceiveOutcome::Closed => panic!("the shim has closed its socket"),
                ReceiveOutcome::Pending => {}
            }
            let pipe = self.pipes.as_ref().map(|pipes| pipes.stdout.as_fd());
            let mut fds: Vec<_> =
                [Some(socket.as_fd()), pipe].iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
            let ready = poll(&mut fds, PollTimeout::from(HANG)).expect("polled");
            assert!(ready > 0, "no message of the shim");
            self.read(output);
        }
    }

    /// Reads the output that is there.
    fn read(&mut self, output: &mut String) {
        let Some(pipes) = &self.pipes else { return };
        let mut file = fs::File::from(pipes.stdout.try_clone().expect("a pipe"));
        let mut buffer = [0; 4096];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => {
                    self.pipes = None;
                    return;
                }
                Ok(length) => output.push_str(&String::from_utf8_lossy(&buffer[..length])),
                Err(_) => return,
            }
        }
    }

    /// Runs a command until its shell has exited.
    pub fn run(&mut self, command: &str, recorded: bool) -> FinishedCommand {
        let run = self.start(command, recorded);
        let mut output = String::new();
        let ended = self.finish(&mut output);
        FinishedCommand { run, ended, output }
    }

    /// Waits for the end of the shell of a command that was started.
    pub fn finish(&mut self, output: &mut String) -> ShellExitReport {
        loop {
            match self.next(output) {
                FromShim::Started(_) | FromShim::Denied(_) => {}
                FromShim::Ended(ended) => {
                    self.read(output);
                    return ended;
                }
                other => panic!("{other:?}"),
            }
        }
    }

    /// Runs a recorded command that succeeds and leaves no process.
    pub fn recorded(&mut self, command: &str) -> String {
        let FinishedCommand { run, ended, output } = self.run(command, true);
        assert_eq!(ended.end, ChildExit::Code(0), "{command}: {output}");
        assert_eq!((&ended.record, ended.alive), (&ChangeJournalOutcome::Done, false), "{command}: {output}");
        run
    }

    pub fn released(&mut self) -> ReleasedSurvivors {
        self.send(ToShim::Release(None));
        match self.next(&mut String::new()) {
            FromShim::Released(released) => released,
            other => panic!("{other:?}"),
        }
    }

    /// Runs a script without a shim.
    pub fn prepare(&self, script: &str) {
        let bash = std::process::Command::new("/bin/bash").args(["-ec", script]).current_dir(self.root()).output();
        let output = bash.expect("bash");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The host is gone: the sockets close.
    pub fn lose_host(&mut self) {
        (self.socket, self.pipes) = (None, None);
    }

    /// Waits for the end of the shim.
    pub fn shim_exits(&mut self) {
        self.lose_host();
        assert_eq!(waitpid(self.shim, None), Ok(WaitStatus::Exited(self.shim, 0)));
    }
}

impl Drop for JournalTestShim<'_> {
    fn drop(&mut self) {
        // A test that fails may leave processes.
        self.runs.iter().for_each(|run| tree::kill_members(&tree::marked_members(run)));
        (self.socket, self.pipes, self.held) = (None, None, None);
        let _ = waitpid(self.shim, None);
        if let Some(mut worlds) = self.worlds.take() {
            worlds.end(WORLD);
            worlds.clear();
        }
        // All that belong to the world.
        while waitpid(None::<Pid>, None).is_ok() {}
    }
}
