//! Drives targets as the addon does, over a transport of this machine.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use capture::OutputStream;
use nix::sys::signal::Signal;
use nix::unistd::Pid;
use remote::client::{Address, Coding, Distant, DistantRun, Form, Program, Quoting, Settings, Target};
use remote::{Order, Place};
use runner::error::Error;
use runner::pty::Terminal;
use runner::request::RawOptions;
use runner::run::outcome::Outcome;
use runner::run::{Judged, Listener, LiveView, Prompt, Reply, judged};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;

mod own;
pub use own::PROGRAM;

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

pub fn program() -> Program {
    let said = std::process::Command::new("sha256sum").arg(PROGRAM).output().expect("sha256sum");
    let bytes = std::fs::metadata(PROGRAM).expect("the program").len();
    let sha256 = String::from_utf8_lossy(&said.stdout)[..64].to_owned();
    let forms = vec![Form { coding: Coding::Raw, bytes, path: PROGRAM.into() }];
    Program { machine: std::env::consts::ARCH.into(), sha256, bytes, forms }
}

/// Returns the options of a target whose home is this directory. Its transport ends without the program there,
/// and reaches nothing while a file `down` is there.
pub fn settings(home: &Path, lease: Duration) -> Settings {
    runner::supervise::use_own_program(PROGRAM.into(), remote::program::SUPERVISOR);
    let home = home.to_str().expect("text");
    let relay = r#"[ ! -e "$HOME/down" ] && setsid "$@" < <(cat) | cat"#;
    let variables = [format!("HOME={home}"), format!("XDG_RUNTIME_DIR={home}")];
    let words = ["env", "-i", "PATH=/usr/bin:/bin", &variables[0], &variables[1], "bash", "-c", relay, "relay"];
    Settings {
        address: Address::Command { command: words.map(str::to_owned).to_vec(), quoting: Quoting::Argv },
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
pub struct Ear {
    pub terminal: Option<Arc<Terminal>>,
    pub text: Arc<Mutex<String>>,
    pub pid: Arc<Mutex<i32>>,
    pub replies: UnboundedSender<Reply>,
}

impl Listener for Ear {
    fn output(&self, _stream: OutputStream, text: String) {
        self.text.lock().expect("no panic").push_str(&text);
        let _ = self.replies.send(Reply::OutputTaken(None));
    }
    fn data(&self, text: String) {
        self.text.lock().expect("no panic").push_str(&text);
        self.terminal.as_ref().expect("a terminal").heard();
        let _ = self.replies.send(Reply::DataChanged);
    }
    fn started(&self, pid: i32, _cwd: &Path) {
        *self.pid.lock().expect("no panic") = pid;
    }
    fn live_view(&self, _view: LiveView) {}
    fn prompt(&self, _prompt: Prompt) {}
    fn allocate(&self, _stream: OutputStream) {}
}

/// A running command.
pub struct Run {
    pub ear: Ear,
    pub ended: tokio::task::JoinHandle<Distant>,
}

pub fn run(target: &Arc<Target>, command: &str, options: &str) -> Run {
    run_in(target, Place::Shell, "/", command, options)
}

pub fn run_in(target: &Arc<Target>, place: Place, cwd: &str, command: &str, options: &str) -> Run {
    begin(None, cwd, (command, options), target, |order, judged| target.run(Order { place, ..order }, judged))
}

pub fn run_in_terminal(target: &Arc<Target>, terminal: &Arc<Terminal>, command: &str) -> Run {
    let start = |order, judged| target.run_in_terminal(order, judged, terminal);
    begin(Some(Arc::clone(terminal)), "/", (command, "{}"), target, start)
}

pub fn begin(
    terminal: Option<Arc<Terminal>>,
    cwd: &str,
    (command, options): (&str, &str),
    target: &Arc<Target>,
    start: impl FnOnce(Order, Judged) -> Result<DistantRun, Error>,
) -> Run {
    let (replies, inbox) = unbounded_channel();
    let ear = Ear { terminal, text: Arc::default(), pid: Arc::default(), replies };
    let raw = RawOptions::from_json(options).expect("options");
    let (facts, _) = target.facts();
    let raw = RawOptions { command: command.into(), cwd: "/".into(), host_env: facts.environment.clone(), ..raw };
    let judged = judged(raw, "test", None).expect("a command that may run");
    let run = start(Order { cwd: cwd.into(), ..own::order(command, options) }, judged);
    let listener = ear.clone();
    let ended = tokio::spawn(async move {
        match run {
            Ok(run) => run.finish(listener, inbox).await,
            Err(error) => Distant::Failed(error),
        }
    });
    Run { ear, ended }
}

impl Run {
    pub async fn outcome(self) -> Outcome {
        match within("the outcome", self.ended).await.expect("no panic") {
            Distant::Outcome(outcome, _) => *outcome,
            Distant::Failed(error) => panic!("{error}"),
            Distant::Unreachable(error) => panic!("{error}: {}", error.stderr),
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

pub fn order(command: &str) -> Order {
    own::order(command, "{}")
}

pub fn judgement() -> Judged {
    judged(RawOptions { command: "echo".into(), cwd: "/".into(), ..RawOptions::default() }, "test", None)
        .expect("a harmless command")
}

pub fn lines(count: usize) -> String {
    (1..=count).map(|line| format!("line {line}\n")).collect()
}
