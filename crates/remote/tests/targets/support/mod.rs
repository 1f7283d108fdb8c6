//! Drives targets as the addon does, over a transport of this machine.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use capture::OutputStream;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use remote::client::{
    DistantRun, DistantRunEnd, ProgramEncoding, ProgramFile, RemoteTarget, TargetAddress, TargetProgram,
    TargetSettings, TransportQuoting,
};
use remote::{TargetCommand, TargetCommandPlace};
use runner::error::RunError;
use runner::pty::CommandTerminal;
use runner::request::RawOptions;
use runner::run::outcome::CommandOutcome;
use runner::run::{BlockedPrompt, CallerReply, CommandListener, JudgedDistantCommand, LiveView, judge_distant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

pub mod tasks;

/// The program of this build, or the one that a variable names while the tests are compiled: the static one.
pub const PROGRAM: &str = match option_env!("AGENT_BASH_HOST_PROGRAM") {
    Some(path) => path,
    None => env!("CARGO_BIN_EXE_agent-bash-host"),
};

/// A bound against a hang.
pub const PATIENCE: Duration = Duration::from_secs(30);

pub async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("{what} took too long"))
}

/// Waits until something holds.
pub async fn until(what: &str, holds: impl Fn() -> bool) {
    within(what, async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    })
    .await;
}

pub fn is_gone(pid: i32) -> bool {
    !Path::new(&format!("/proc/{pid}")).exists()
}

pub fn program() -> TargetProgram {
    let said = std::process::Command::new("sha256sum").arg(PROGRAM).output().expect("sha256sum");
    let bytes = std::fs::metadata(PROGRAM).expect("the program").len();
    let sha256 = String::from_utf8_lossy(&said.stdout)[..64].to_owned();
    let forms = vec![ProgramFile { coding: ProgramEncoding::Raw, bytes, path: PROGRAM.into() }];
    TargetProgram { machine: std::env::consts::ARCH.into(), sha256, bytes, forms }
}

/// Returns the options of a target whose home is this directory. Its transport ends without the program there,
/// and reaches nothing while a file `down` is there.
pub fn settings(home: &Path, lease: Duration) -> TargetSettings {
    runner::supervise::use_own_program(PROGRAM.into(), remote::program::SUPERVISOR_ARGUMENT);
    let home = home.to_str().expect("text");
    let relay = r#"[ ! -e "$HOME/down" ] && setsid "$@" < <(cat) | cat"#;
    let variables = [format!("HOME={home}"), format!("XDG_RUNTIME_DIR={home}")];
    let words = ["env", "-i", "PATH=/usr/bin:/bin", &variables[0], &variables[1], "bash", "-c", relay, "relay"];
    TargetSettings {
        address: TargetAddress::Command { command: words.map(str::to_owned).to_vec(), quoting: TransportQuoting::Argv },
        via: None,
        id: "command:test".into(),
        cwd: None,
        lease,
        alive: Duration::from_secs(10),
        patience: PATIENCE,
        installed: None,
        programs: vec![program()],
        missing: "no program here".into(),
    }
}

/// Cuts the link of the target with this home: ends what holds its transport.
pub fn cut(home: &Path) -> bool {
    !signal_carriers(home, Signal::SIGKILL).is_empty()
}

/// Signals what holds the transports of the target with this home. Returns the pids.
pub fn signal_carriers(home: &Path, signal: Signal) -> Vec<i32> {
    let home = home.to_str().expect("text");
    let me = nix::unistd::getpid().as_raw();
    let mut pids = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let parent = read("stat").rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse::<i32>().ok());
        if parent == Some(me) && read("cmdline").contains(home) {
            nix::sys::signal::kill(Pid::from_raw(pid), signal).expect("our child");
            pids.push(pid);
        }
    }
    pids
}

/// What a run has said, and the way to reply.
#[derive(Clone)]
pub struct ReplyingListener {
    pub terminal: Option<Arc<CommandTerminal>>,
    pub text: Arc<Mutex<String>>,
    pub pid: Arc<Mutex<i32>>,
    pub replies: UnboundedSender<CallerReply>,
}

impl CommandListener for ReplyingListener {
    fn output(&self, _stream: OutputStream, text: String) {
        self.text.lock().expect("no panic").push_str(&text);
        let _ = self.replies.send(CallerReply::OutputTaken(None));
    }
    fn data(&self, text: String) {
        self.text.lock().expect("no panic").push_str(&text);
        self.terminal.as_ref().expect("a terminal").on_text_taken();
        let _ = self.replies.send(CallerReply::DataChanged);
    }
    fn started(&self, pid: i32, _cwd: &Path) {
        *self.pid.lock().expect("no panic") = pid;
    }
    fn live_view(&self, _view: LiveView) {}
    fn prompt(&self, _prompt: BlockedPrompt) {}
    fn allocate(&self, _stream: OutputStream) {}
}

/// A running command.
pub struct RunningTestCommand {
    pub ear: ReplyingListener,
    pub ended: tokio::task::JoinHandle<DistantRunEnd>,
}

pub fn run(target: &Arc<RemoteTarget>, command: &str, options: &str) -> RunningTestCommand {
    run_in(target, TargetCommandPlace::Shell, "/", command, options)
}

pub fn run_in(
    target: &Arc<RemoteTarget>,
    place: TargetCommandPlace,
    cwd: &str,
    command: &str,
    options: &str,
) -> RunningTestCommand {
    begin(None, cwd, (command, options), target, |order, judged| target.run(TargetCommand { place, ..order }, judged))
}

pub fn run_in_terminal(
    target: &Arc<RemoteTarget>,
    terminal: &Arc<CommandTerminal>,
    command: &str,
) -> RunningTestCommand {
    let start = |order, judged| target.run_in_terminal(order, judged, terminal);
    begin(Some(Arc::clone(terminal)), "/", (command, "{}"), target, start)
}

pub fn begin(
    terminal: Option<Arc<CommandTerminal>>,
    cwd: &str,
    (command, options): (&str, &str),
    target: &Arc<RemoteTarget>,
    start: impl FnOnce(TargetCommand, JudgedDistantCommand) -> Result<DistantRun, RunError>,
) -> RunningTestCommand {
    let (replies, inbox) = unbounded_channel();
    let ear = ReplyingListener { terminal, text: Arc::default(), pid: Arc::default(), replies };
    let raw = RawOptions::from_json(options).expect("options");
    let (facts, _) = target.facts();
    let raw = RawOptions { command: command.into(), cwd: "/".into(), host_env: facts.environment.clone(), ..raw };
    let judged = judge_distant(raw, "test", None).expect("a command that may run");
    let run = start(TargetCommand { cwd: cwd.into(), ..order_with(command, options) }, judged);
    let listener = ear.clone();
    let ended = tokio::spawn(async move {
        match run {
            Ok(run) => run.finish(listener, inbox).await,
            Err(error) => DistantRunEnd::Failed(error),
        }
    });
    RunningTestCommand { ear, ended }
}

impl RunningTestCommand {
    pub async fn outcome(self) -> CommandOutcome {
        match within("the outcome", self.ended).await.expect("no panic") {
            DistantRunEnd::Outcome(outcome, _) => *outcome,
            DistantRunEnd::Failed(error) => panic!("{error}"),
            DistantRunEnd::Unreachable(error) => panic!("{error}: {}", error.stderr),
        }
    }

    pub async fn until(&self, what: &str, holds: impl Fn(&str, i32) -> bool) {
        within(what, async {
            while !holds(&self.ear.text.lock().expect("no panic"), *self.ear.pid.lock().expect("no panic")) {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        })
        .await;
    }
}

/// Returns an order for a shell, with these options.
pub fn order_with(command: &str, options: &str) -> TargetCommand {
    TargetCommand {
        mark: String::new(),
        command: command.into(),
        cwd: "/".into(),
        options: options.into(),
        stdin: None,
        place: TargetCommandPlace::Shell,
        registry: None,
        background: false,
    }
}

pub fn order(command: &str) -> TargetCommand {
    order_with(command, "{}")
}

pub fn judgement() -> JudgedDistantCommand {
    judge_distant(RawOptions { command: "echo".into(), cwd: "/".into(), ..RawOptions::default() }, "test", None)
        .expect("a harmless command")
}

pub fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}\n")).collect()
}
