//! The addon's part in the tests, with a real shim in another process.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::unistd::Pid;

use crate::tree;
use protocol::plan::{ChildPlan, CommandLimits, MARK, StdinSource};
use protocol::task::{TaskSpec, new_id};
use protocol::{
    self, FrameReader, FromShim, FromShimOrTask, FromTask, ReceiveOutcome, ShellExitReport, ShimOrder,
    SurvivingProcess, TaskTransfer, ToShim,
};
use protocol::{CommandOrder, CommandPipes};
use sys::Signal;

/// Marks the process of this test program that is a shim.
const AS_SHIM: &str = "AGENT_BASH_TEST_SHIM";
/// Bound against a hang.
pub const HANG: Duration = Duration::from_secs(60);
pub const GRACE: Duration = Duration::from_millis(450);
/// Longer than any grace and any drain of these commands.
pub const LATER: Duration = Duration::from_millis(1200);

/// Leaves two survivors that hold the pipes. The second ignores SIGTERM.
pub const SURVIVORS: &str = "sleep 1000 & (trap '' TERM; exec sleep 1000) & echo hi";
/// Runs until it is terminated, beside two survivors like these.
pub const ENDLESS: &str = "sleep 1000 & (trap '' TERM; exec sleep 1000) & sleep 1000";
/// Leaves a survivor that holds no pipe, and has closed them all before the shell exits.
pub const DAEMON: &str =
    "exec 3< <(exec </dev/null 2>/dev/null; echo up; exec setsid sleep 1000 >/dev/null); read -u 3; echo hi";

/// The process of [`Addon::new`]. Passes at once in any other process.
#[test]
fn acts_as_a_shim_for_the_other_tests() {
    if std::env::var_os(AS_SHIM).is_none() {
        return;
    }
    let lifeline = std::io::stderr().as_fd().try_clone_to_owned().expect("the lifeline is standard error");
    let socket = sys::take_stdin().expect("the socket is standard input");
    sys::reset_signals().expect("signals");
    let place = crate::shim::ShimPlace { supervisor: nix::unistd::getppid(), world: None };
    let code = i32::from(crate::shim::serve(socket, lifeline, None, place).is_err());
    sys::exit_now(code)
}

/// The addon's part, with a shim of its own.
pub struct TestAddon {
    pub shim: Child,
    pub socket: Option<OwnedFd>,
    pub reader: FrameReader,
    pub lifeline: Option<OwnedFd>,
    pub pipes: Option<CommandPipes>,
    pub mark: String,
    pub folder: PathBuf,
}

impl TestAddon {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("ends-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("agent-bash-{mark}"));
        std::fs::create_dir(&folder).expect("a directory");
        let (ours, theirs) = sys::socket_pair().expect("a socket pair");
        sys::set_nonblocking(&ours).expect("a socket");
        let (lifeline, held) = sys::pipe().expect("a pipe");
        let shim = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", concat!(module_path!(), "::acts_as_a_shim_for_the_other_tests")].map(strip_crate))
            .arg("--test-threads=1")
            .env(AS_SHIM, "1")
            .stdin(theirs)
            .stdout(Stdio::null())
            .stderr(lifeline)
            .spawn()
            .expect("a shim");
        let reader = FrameReader::default();
        Self { shim, socket: Some(ours), reader, lifeline: Some(held), pipes: None, mark, folder }
    }

    /// Returns a shim that has started this command.
    pub fn with(command: &str) -> Self {
        let mut addon = Self::new();
        addon.run(command, None);
        assert!(matches!(addon.next(), FromShimOrTask::Shim(FromShim::Started(_))));
        addon
    }

    /// Returns a shim whose shell has exited, with survivors.
    pub fn with_survivors(command: &str) -> Self {
        let mut addon = Self::with(command);
        assert!(addon.ended().alive);
        addon
    }

    /// Returns a shim whose command is a task.
    pub fn with_task(command: &str) -> (Self, i32) {
        let mut addon = Self::new();
        let spec = addon.spec(false);
        addon.run(command, Some(spec));
        let shell = addon.task();
        (addon, shell)
    }

    pub fn run(&mut self, command: &str, task: Option<TaskSpec>) {
        let plan = ChildPlan {
            program: b"/bin/bash".to_vec(),
            argv: [&b"bash"[..], b"-c", command.as_bytes()].map(<[u8]>::to_vec).into(),
            script_at: None,
            env: format!("PATH=/usr/bin:/bin\0{MARK}={}\0", self.mark).into_bytes(),
            cwd: b"/".to_vec(),
            umask: 0o022,
            stdin: StdinSource::Null,
            merge: false,
            terminal: None,
            limit: None,
            grace: GRACE,
            limits: CommandLimits::default(),
            world: None,
            files: Vec::new(),
            record: None,
        };
        let order = CommandOrder {
            plan,
            script: None,
            files: Vec::new(),
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
        self.pipes = Some(pipes);
        self.send(ToShim::Run(Box::new(ShimOrder { plan: order.plan, task: order.task, opening: None, descriptors })));
    }

    pub fn spec(&self, detached: bool) -> TaskSpec {
        let folder = self.folder.clone();
        TaskSpec { folder, max_log_bytes: 1 << 20, detached, limit_ms: 1_000_000, ..TaskSpec::sample(&new_id()) }
    }

    pub fn send(&self, message: ToShim) {
        protocol::send(self.socket.as_ref().expect("a socket"), message).expect("a message");
    }

    pub fn next(&mut self) -> FromShimOrTask {
        let mut message = None;
        until("a message of the shim", || {
            message = match self.reader.receive(self.socket.as_ref().expect("a socket")).expect("a shim") {
                ReceiveOutcome::Message(message) => Some(message),
                ReceiveOutcome::Pending => None,
                ReceiveOutcome::Closed => panic!("the shim has closed its socket"),
            };
            message.is_some()
        });
        message.expect("until it arrived")
    }

    pub fn ended(&mut self) -> ShellExitReport {
        match self.next() {
            FromShimOrTask::Shim(FromShim::Ended(ended)) => ended,
            other => panic!("{other:?}"),
        }
    }

    pub fn released(&mut self) -> Vec<SurvivingProcess> {
        match self.next() {
            FromShimOrTask::Shim(FromShim::Released(released)) => released.survivors,
            other => panic!("{other:?}"),
        }
    }

    pub fn refused(&mut self) {
        let answer = self.next();
        assert!(matches!(answer, FromShimOrTask::Shim(FromShim::Refused(libc::ENOENT))), "{answer:?}");
    }

    pub fn task(&mut self) -> i32 {
        match self.next() {
            FromShimOrTask::Task(FromTask::Task(task)) => task.pid,
            other => panic!("{other:?}"),
        }
    }

    pub fn release(&self, registry: SurvivorRegistry) {
        let detached = match registry {
            SurvivorRegistry::None => return self.send(ToShim::Release(None)),
            SurvivorRegistry::Temporary => false,
            SurvivorRegistry::Kept => true,
        };
        self.send(ToShim::Release(Some(TaskTransfer { spec: self.spec(detached), resume: vec![Vec::new(); 2] })));
    }

    /// The host is killed: all its descriptors close.
    pub fn close(&mut self) {
        self.socket = None;
        self.pipes = None;
    }

    pub fn event(&mut self, event: HostEvent) {
        match event {
            HostEvent::HostGone => self.close(),
            HostEvent::End => self.send(ToShim::End { at_limit: false }),
        }
    }

    /// Lets all of this happen at one moment for the shim.
    pub fn at_once(&mut self, events: impl FnOnce(&mut Self)) {
        let pid = self.pid();
        sys::signal(pid, Signal::SIGSTOP);
        until("the shim is stopped", || sys::identity(pid).is_some_and(|identity| identity.stopped));
        events(self);
        sys::signal(pid, Signal::SIGCONT);
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.shim.id()).expect("a pid"))
    }

    pub fn left(&self) -> usize {
        tree::marked_members(&self.mark).len()
    }

    pub fn nothing_is_left(&self) {
        until("no process of the command is left", || self.left() == 0);
    }

    /// The survivors go on, and the shim exits with the last of them.
    pub fn survivors_go_on(mut self, survivors: usize) {
        std::thread::sleep(LATER);
        assert_eq!(self.left(), survivors, "survivors that go on");
        assert!(self.shim.try_wait().expect("a shim").is_none(), "the shim stays");
        self.kill_all();
        self.shim_exits();
    }

    pub fn shim_exits(&mut self) {
        until("the shim has exited", || self.shim.try_wait().expect("a shim").is_some());
    }

    pub fn kill_all(&self) {
        until("all are killed", || {
            tree::kill_members(&tree::marked_members(&self.mark));
            self.left() == 0
        });
    }
}

impl Drop for TestAddon {
    fn drop(&mut self) {
        let _ = self.shim.kill();
        let _ = self.shim.wait();
        tree::kill_members(&tree::marked_members(&self.mark));
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The registry of a command with survivors.
#[derive(Debug, Clone, Copy)]
pub enum SurvivorRegistry {
    None,
    /// The tasks end with the host.
    Temporary,
    /// The tasks outlive the host.
    Kept,
}

#[derive(Debug, Clone, Copy)]
pub enum HostEvent {
    HostGone,
    End,
}

pub const REGISTRIES: [SurvivorRegistry; 3] =
    [SurvivorRegistry::None, SurvivorRegistry::Temporary, SurvivorRegistry::Kept];

/// Removes the crate name from the path of a test: the filter of the test harness has none.
fn strip_crate(argument: &'static str) -> &'static str {
    argument.split_once("::").filter(|_| !argument.starts_with('-')).map_or(argument, |(_, path)| path)
}

pub fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < HANG, "{what}: not within {HANG:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

pub fn is_gone(pid: i32) -> bool {
    sys::identity(Pid::from_raw(pid)).is_none()
}

pub fn remove(folder: &Path) {
    std::fs::remove_dir_all(folder).expect("the directory of the task");
}
