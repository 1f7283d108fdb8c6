//! A target on this machine, and what the tests of tasks do with it.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use capture::OutputStream;
use evidence::CommandEvidence;
use protocol::task::Task;
use receipt::recording::RunRecord;
use remote::client::{
    DistantRegistry, DistantRunEnd, RemoteTarget, TargetAddress, TargetSettings, TargetState, TransportQuoting,
};
use remote::{RegistryOpening, TargetCommand};
use runner::registry::TaskWatcher;
use runner::request::RawOptions;
use runner::run::outcome::CommandOutcome;
use runner::run::{BlockedPrompt, CallerReply, CommandListener, LiveView, judge_distant};
use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{PATIENCE, PROGRAM, order_with, program};
pub use super::{is_gone, until, within};

/// Connects to a target whose home is this directory. Its transport ends without the program there.
pub async fn connect(home: &Path) -> Arc<RemoteTarget> {
    runner::supervise::use_own_program(PROGRAM.into(), remote::program::SUPERVISOR_ARGUMENT);
    let home = home.to_str().expect("text");
    let relay = r#"setsid "$@" < <(cat) | cat"#;
    let temp = format!("TMPDIR={home}");
    let words = ["env", "-i", "PATH=/usr/bin:/bin", &temp, &format!("HOME={home}"), "bash", "-c", relay, "relay"];
    let settings = TargetSettings {
        address: TargetAddress::Command { command: words.map(str::to_owned).to_vec(), quoting: TransportQuoting::Argv },
        via: None,
        id: "command:test".into(),
        cwd: None,
        lease: PATIENCE,
        alive: Duration::from_secs(10),
        patience: PATIENCE,
        installed: None,
        programs: vec![program()],
        missing: "no program here".into(),
    };
    within("the connection", RemoteTarget::connect(settings)).await.expect("a target")
}

/// Cuts the link of the target with this home, and waits until that is seen: ends what holds its transport.
pub async fn cut(target: &RemoteTarget, home: &Path) {
    let home = home.to_str().expect("text");
    let me = nix::unistd::getpid().as_raw();
    let mut states = target.watch();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let read = |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let parent = read("stat").rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse::<i32>().ok());
        if parent == Some(me) && read("cmdline").contains(home) {
            kill(pid);
        }
    }
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
}

/// Kills the program of a target.
pub fn kill_program(target: &RemoteTarget) {
    kill(target.facts().0.pid);
}

fn kill(pid: i32) {
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL).expect("our process");
}

/// Returns the options of a registry.
pub fn opening(dir: Option<&Path>) -> RegistryOpening {
    let dir = dir.map(Path::to_owned);
    RegistryOpening { dir, max_tasks: 8, max_log_bytes: 1 << 30, retention: Duration::from_secs(60), output: false }
}

/// Opens a registry.
pub fn open(target: &Arc<RemoteTarget>, dir: Option<&Path>) -> Arc<DistantRegistry> {
    DistantRegistry::open(target, opening(dir), &Handle::current()).expect("a target that is open")
}

/// A listener that takes all output.
struct OutputTakingListener(UnboundedSender<CallerReply>);

impl CommandListener for OutputTakingListener {
    fn output(&self, _stream: OutputStream, _text: String) {
        let _ended = self.0.send(CallerReply::OutputTaken(None));
    }
    fn live_view(&self, _view: LiveView) {}
    fn prompt(&self, _prompt: BlockedPrompt) {}
    fn allocate(&self, _stream: OutputStream) {}
}

pub fn order(command: &str, registry: Option<u64>, background: bool, options: &str) -> TargetCommand {
    TargetCommand { registry, background, ..order_with(command, options) }
}

/// Runs a command as the addon does.
pub async fn run(target: &Arc<RemoteTarget>, order: TargetCommand) -> DistantRunEnd {
    let (replies, inbox) = unbounded_channel();
    let raw = RawOptions::from_json(&order.options).expect("options");
    let (command, host_env) = (order.command.clone(), target.facts().0.environment.clone());
    let raw = RawOptions { command, cwd: "/".into(), host_env, ..raw };
    let judged = judge_distant(raw, "test", None).expect("a command that may run");
    let order = TargetCommand { mark: judged.outcome.run.clone(), ..order };
    match target.run(order, judged) {
        Ok(run) => within("the end", run.finish(OutputTakingListener(replies), inbox)).await,
        Err(error) => DistantRunEnd::Failed(error),
    }
}

pub async fn outcome(target: &Arc<RemoteTarget>, order: TargetCommand) -> CommandOutcome {
    match run(target, order).await {
        DistantRunEnd::Outcome(outcome, _) => *outcome,
        DistantRunEnd::Failed(error) => panic!("{error}"),
        DistantRunEnd::Unreachable(error) => panic!("{error}: {}", error.stderr),
    }
}

/// Starts a task.
pub async fn start(target: &Arc<RemoteTarget>, registry: &DistantRegistry, command: &str, options: &str) -> Task {
    let outcome = outcome(target, order(command, Some(registry.number()), true, options)).await;
    let (task, _) = outcome.background.unwrap_or_else(|| panic!("no task: {:?}", outcome.notes));
    registry.remember_task(task.clone());
    task
}

/// An event of a registry.
pub enum ToldRegistryEvent {
    Output(String, String),
    Exit(Box<Task>, Option<Arc<RunRecord>>, Option<Arc<CommandEvidence>>),
}

/// Keeps the events of a registry.
struct RegistryEventKeeper(Mutex<UnboundedSender<ToldRegistryEvent>>);

impl RegistryEventKeeper {
    fn tell(&self, told: ToldRegistryEvent) {
        let _nobody = self.0.lock().expect("no panic").send(told);
    }
}

impl TaskWatcher for RegistryEventKeeper {
    fn exit(&self, task: Task, record: Option<Arc<RunRecord>>, evidence: Option<Arc<CommandEvidence>>) {
        self.tell(ToldRegistryEvent::Exit(Box::new(task), record, evidence));
    }
    fn output(&self, task: Task, text: String) {
        self.tell(ToldRegistryEvent::Output(task.id, text));
    }
}

/// Watches a registry.
pub fn watch(registry: &Arc<DistantRegistry>, exit: bool, output: bool) -> UnboundedReceiver<ToldRegistryEvent> {
    let (sender, told) = unbounded_channel();
    registry.watch(Arc::new(RegistryEventKeeper(Mutex::new(sender))), exit, output);
    told
}
