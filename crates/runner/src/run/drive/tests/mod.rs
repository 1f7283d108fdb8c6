//! The loop with a shim that starts no process, real pipes, and a clock that jumps from timer to timer.

use std::fs::File;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

use nix::unistd::Pid;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;

mod drain;
mod ending;
mod limits;
mod listening;
mod moving;
mod process;
mod silence;
mod watched;

use super::*;
use crate::registry::{RegistryOptions, TaskRegistry};
use crate::request::RawOptions;
use crate::run::command_listener::{BlockedPrompt, LiveView};
use crate::run::live_registration::register_run;
use crate::supervise::Failure;
use protocol::TaskTransfer;
use protocol::plan::ChangeJournalOutcome;
use protocol::task::TaskSpec;
use sys::{ChildExit, LaunchStep, ResourceUsage, Signal};

/// The requests to the shim, or the events for the listener, in order.
type RecordedCalls = Arc<Mutex<Vec<String>>>;

struct FakeShim {
    events: UnboundedReceiver<ShimEvent>,
    asked: RecordedCalls,
    /// No process but the shell runs.
    alone: bool,
}

impl FakeShim {
    fn note(&self, what: &str) {
        self.asked.lock().expect("no panic").push(what.to_owned());
    }
}

impl ShimControl for FakeShim {
    async fn next_event(&mut self) -> ShimEvent {
        match self.events.recv().await {
            Some(event) => event,
            None => std::future::pending().await,
        }
    }

    fn try_next_event(&mut self) -> Option<ShimEvent> {
        self.events.try_recv().ok()
    }

    fn terminate(&self) {
        self.note("terminate");
    }

    fn terminate_at_limit(&self) {
        self.note("terminate at limit");
    }

    fn signal(&self, signal: Signal, _: Option<i32>) {
        self.note(&format!("signal {signal:?}"));
    }

    fn ask_for_denials(&self) {}

    fn scan(&self) {
        self.note("scan");
    }

    fn acknowledge_blocked(&self) {
        self.note("acknowledge");
    }

    fn leave_tap(&self, _: PipelineTapEnds) {
        self.note("leave tap");
    }

    fn hand_over(&self, transfer: &TaskTransfer, _: Vec<OwnedFd>) {
        self.note(&format!("hand over {}", transfer.spec.command));
    }

    fn runs_only(&self, _: Pid) -> bool {
        self.alone
    }
}

/// Records events.
struct RecordingListener(RecordedCalls);

impl RecordingListener {
    fn note(&self, what: String) {
        self.0.lock().expect("no panic").push(what);
    }
}

impl CommandListener for RecordingListener {
    fn output(&self, stream: OutputStream, text: String) {
        self.note(format!("{}: {}", stream.name(), text.len()));
    }

    fn live_view(&self, snapshot: LiveView) {
        self.note(format!("view: {}", snapshot.stdout));
    }

    fn started(&self, pid: i32, _: &std::path::Path) {
        self.note(format!("started: {pid}"));
    }

    fn prompt(&self, prompt: BlockedPrompt) {
        self.note(format!("prompt: {}", prompt.text));
    }

    fn allocate(&self, stream: OutputStream) {
        self.note(format!("allocate: {}", stream.name()));
    }
}

/// The other ends of everything that the loop is connected to.
struct DriverTestPeers {
    shim: UnboundedSender<ShimEvent>,
    replies: Option<UnboundedSender<CallerReply>>,
    /// The read end of standard input, if the command has input.
    stdin: Option<OwnedFd>,
    stdout: Option<File>,
    /// `None` if both streams share one pipe.
    stderr: Option<File>,
    asked: RecordedCalls,
    heard: RecordedCalls,
    /// The command among the runs of this process. `None` for a task.
    run: Option<Arc<LiveRun>>,
}

impl DriverTestPeers {
    fn write(&mut self, text: &str) {
        self.write_to(OutputStream::Stdout, text);
    }

    fn write_to(&mut self, stream: OutputStream, text: &str) {
        let pipe = if stream == OutputStream::Stdout { &mut self.stdout } else { &mut self.stderr };
        pipe.as_mut().expect("open").write_all(text.as_bytes()).expect("written");
    }

    /// Writes more than a listener that takes nothing lets the loop read.
    async fn flood(&mut self) {
        for _ in 0..4 {
            self.write(&"x".repeat(60_000));
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Closes the pipes, as the exit of the last process does.
    fn close(&mut self) {
        (self.stdout, self.stderr) = (None, None);
    }

    fn start(&self) {
        self.send(ShimEvent::Started(7));
    }

    fn exit(&self, cause: TerminationCause, alive: bool) {
        let (usage, duration) = (ResourceUsage::default(), Duration::from_millis(1));
        let record = ChangeJournalOutcome::Off;
        self.send(ShimEvent::Ended(ShellExitReport {
            end: ChildExit::Code(0),
            usage,
            duration,
            cause,
            alive,
            last: false,
            record,
            unwritten: None,
        }));
    }

    fn send(&self, event: ShimEvent) {
        let _ = self.shim.send(event);
    }

    fn reply(&self, reply: CallerReply) {
        let _ = self.replies.as_ref().expect("there").send(reply);
    }

    fn run(&self) -> &LiveRun {
        self.run.as_ref().expect("shown")
    }

    /// Returns what was written to standard input and not read.
    fn read_input(&self) -> Vec<u8> {
        let mut bytes = vec![0; 4096];
        let count = nix::unistd::read(self.stdin.as_ref().expect("there"), &mut bytes).expect("read");
        bytes.truncate(count);
        bytes
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no panic").clone()
    }

    fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("no panic").clone()
    }
}

/// The result of a driven command.
struct DrivenCommand {
    result: Result<(), NotStarted>,
    exit: Option<ShellExit>,
    elapsed: Duration,
    /// The time until the listener had everything.
    delivered: Duration,
    stdout: String,
    notes: Vec<String>,
    task: Option<Task>,
}

/// Drives a command to its end while `play` has the other ends.
async fn drive(raw: RawOptions, play: impl AsyncFnOnce(&mut DriverTestPeers)) -> (DrivenCommand, DriverTestPeers) {
    drive_reporting(raw, None, play).await
}

async fn drive_reporting(
    raw: RawOptions,
    report: Option<OwnedFd>,
    play: impl AsyncFnOnce(&mut DriverTestPeers),
) -> (DrivenCommand, DriverTestPeers) {
    let mut request = PlannedRun::check(raw).expect("valid");
    let alone = report.is_some();
    request.exit_report_pipe = report;
    let shown = register_run(&mut request);
    let pipe = || {
        let (read, write) = sys::pipe().expect("a pipe");
        sys::set_nonblocking(&read).expect("set");
        (read, write)
    };
    let ((stdout, out), (asked, heard)) = (pipe(), (RecordedCalls::default(), RecordedCalls::default()));
    let (stderr, err) = (!request.merge).then(pipe).unzip();
    let (unread, stdin) = request.stdin.is_some().then(pipe).unzip();
    stdin.iter().for_each(|pipe| sys::set_nonblocking(pipe).expect("set"));
    let ((shim, events), (replies, inbox)) = (unbounded_channel(), unbounded_channel());
    let mut inbox = CallerReplies::from(inbox);
    let pipes = CommandPipes { stdin, stdout, stderr, other_end: None };
    let fake = FakeShim { events, asked: Arc::clone(&asked), alone };
    let recorder = RecordingListener(Arc::clone(&heard));
    let (stdout, stderr) = (Some(out.into()), err.map(File::from));
    let mut ends = DriverTestPeers {
        shim,
        replies: Some(replies),
        stdin: unread,
        run: shown.as_ref().map(|shown| Arc::clone(shown.run())),
        stdout,
        stderr,
        asked,
        heard,
    };
    let mut drive = CommandDriver::new(&request, (fake, pipes), None, &recorder, &mut inbox).expect("watched");
    let driving = async {
        let result = drive.run().await;
        let elapsed = drive.deadlines.began().elapsed();
        drive.deliver_rest().await;
        drive.note_limit();
        (result, elapsed, drive.deadlines.began().elapsed())
    };
    let ((result, elapsed, delivered), ()) = tokio::join!(driving, play(&mut ends));
    let task = drive.output.moving.task().cloned();
    let stdout = drive.output.streams.stdout.capture.finish().text;
    let (exit, notes) = (drive.process.exit, drive.output.notes);
    (DrivenCommand { result, exit, elapsed, delivered, stdout, notes, task }, ends)
}

/// Returns a command whose streams share one pipe.
fn raw() -> RawOptions {
    let host_env = "PATH=/bin\0".into();
    RawOptions { command: "x".into(), cwd: "/".into(), host_env, merge: true, ..RawOptions::default() }
}

fn millis(driven: &DrivenCommand) -> u128 {
    driven.elapsed.as_millis()
}

/// Compares a time with milliseconds. Timers round up.
#[track_caller]
fn assert_took(time: Duration, ms: u128) {
    assert!((ms..=ms + 3).contains(&time.as_millis()), "{time:?} in place of {ms} ms");
}
