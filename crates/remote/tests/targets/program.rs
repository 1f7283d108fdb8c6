//! Drives the real program over pipes, as a host does.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use protocol::task::Task;
use remote::{
    FrameLink, GreetingFromProgram, GreetingToProgram, LeaseTerms, LinkEnd, LinkMailbox, RegistryOpening,
    ResumeRequest, TargetCall, TargetCommand, TargetEvent, TargetFacts, TargetFileRequest, TargetRegistryRequest,
    TargetRegistryResponse, TargetRequest, TargetResponse, TransferPart, carry_frames, decode, encode,
};
use runner::run::outcome::{CommandOutcome, CommandStatus};
use tokio::time::timeout;

use crate::support::{PROGRAM, order_with};

/// A bound against a hang.
const PATIENCE: Duration = Duration::from_secs(30);
const BEGIN: LeaseTerms = LeaseTerms { lease_ms: 30_000, alive_ms: 10_000 };

/// A program, and a link to it.
struct StartedProgram {
    child: Child,
    link: FrameLink,
    facts: TargetFacts,
}

/// What a part of the output costs of the credit.
fn cost(text: &str) -> u64 {
    text.len() as u64 + 64
}

async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    timeout(PATIENCE, work).await.unwrap_or_else(|_| panic!("{what} took too long"))
}

async fn start() -> StartedProgram {
    start_with(&[]).await
}

/// Starts a program with more variables.
async fn start_with(variables: &[(String, String)]) -> StartedProgram {
    let mut child = Command::new(PROGRAM)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let input = child.stdout.take().map(OwnedFd::from).expect("piped");
    let output = child.stdin.take().map(OwnedFd::from).expect("piped");
    let mut link = FrameLink::new(input, output).expect("pipes");
    let GreetingFromProgram::Ready(facts) = within("the greeting", link.receive_greeting()).await.expect("a greeting")
    else {
        panic!("the program is ready first")
    };
    StartedProgram { child, link, facts: *facts }
}

async fn begin(lease_ms: u64) -> StartedProgram {
    let mut started = start().await;
    started.link.send_greeting(&GreetingToProgram::Begin(LeaseTerms { lease_ms, ..BEGIN })).await.expect("a link");
    started
}

fn order(command: &str, options: &str) -> TargetCall {
    TargetCall::Run(Box::new(order_with(command, options)))
}

/// Serves the link until this event comes, and answers output if `takes`.
async fn until<T>(
    link: &mut FrameLink,
    post: &LinkMailbox,
    takes: bool,
    mut found: impl FnMut(u64, TargetEvent) -> Option<T>,
) -> T {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let served = carry_frames(link, post, PATIENCE, |message| {
        let event: TargetEvent = decode(&message.payload)?;
        if let (TargetEvent::Output(_, text), true) = (&event, takes) {
            post.send(message.run, &TargetCall::OutputTaken(cost(text)))?;
        }
        if let Some(result) = found(message.run, event) {
            let _ = sender.send(result);
        }
        Ok(())
    });
    tokio::select! {
        biased;
        result = receiver.recv() => result.expect("the sender lives"),
        cut = served => panic!("{cut:?}"),
        () = tokio::time::sleep(PATIENCE) => panic!("the event took too long"),
    }
}

fn outcome_of(run: u64) -> impl FnMut(u64, TargetEvent) -> Option<Box<CommandOutcome>> {
    move |number, event| match event {
        TargetEvent::Ended(outcome, _) if number == run => Some(outcome),
        TargetEvent::Failed(failure) => panic!("{failure:?}"),
        _ => None,
    }
}

async fn ends(child: &mut Child) -> bool {
    within("the end of the program", async {
        loop {
            if let Some(status) = child.try_wait().expect("our child") {
                return status.success();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
}

async fn gone(pid: i32) {
    within("the end of a process", async {
        while Path::new(&format!("/proc/{pid}/stat")).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_command_runs_and_its_outcome_arrives() {
    let StartedProgram { mut child, mut link, facts } = begin(30_000).await;
    assert_eq!((facts.uid, facts.pid), (nix::unistd::geteuid().as_raw(), child.id().cast_signed()));
    let post = LinkMailbox::default();
    post.send(1, &order("echo out; echo err >&2; exit 3", "{}")).expect("room");
    let outcome = until(&mut link, &post, true, outcome_of(1)).await;
    let ended = (outcome.stdout.as_str(), outcome.stderr.as_str(), outcome.exit_code, outcome.status);
    assert_eq!(ended, ("out\n", "err\n", Some(3), CommandStatus::Exited));
    drop(link);
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[test]
#[ignore = "stress: a program that is not optimized takes seconds for its hash"]
fn the_program_knows_its_own_hash() {
    let said = Command::new("sha256sum").arg(PROGRAM).output().expect("sha256sum").stdout;
    let sum = String::from_utf8_lossy(&said[..64]).into_owned();
    for (sum, code) in [(sum, 0), ("0".repeat(64), 1)] {
        let status = Command::new(PROGRAM).args(["sum", &sum]).status().expect("the program starts");
        assert_eq!(status.code(), Some(code));
    }
}

#[tokio::test]
async fn a_large_environment_arrives_and_commands_have_it() {
    let variables: Vec<_> = (0..6).map(|number| (format!("LARGE_{number}"), "x".repeat(100_000))).collect();
    let StartedProgram { mut child, mut link, facts } = start_with(&variables).await;
    for (name, value) in &variables {
        assert!(facts.environment.contains(&format!("{name}={value}\0")));
    }
    link.send_greeting(&GreetingToProgram::Begin(LeaseTerms { lease_ms: 0, ..BEGIN })).await.expect("a link");
    let post = LinkMailbox::default();
    post.send(1, &order("echo ${#LARGE_0} ${#LARGE_5}", "{}")).expect("room");
    assert_eq!(until(&mut link, &post, true, outcome_of(1)).await.stdout, "100000 100000\n");
    drop(link);
    assert!(ends(&mut child).await);
}

#[tokio::test]
async fn a_listener_that_takes_nothing_holds_the_command_back_at_the_credit() {
    let StartedProgram { mut child, mut link, .. } = begin(0).await;
    let post = LinkMailbox::default();
    let folder = tempfile::tempdir().expect("a directory");
    let passed = folder.path().join("passed");
    post.send(1, &order(&format!("yes | head -c 8000000; touch {}", passed.display()), r#"{"live":true}"#))
        .expect("room");
    let mut spent = 0;
    until(&mut link, &post, false, |_, event| {
        let TargetEvent::Output(_, text) = event else { panic!("{event:?}") };
        spent += cost(&text);
        (spent >= 1 << 20).then_some(())
    })
    .await;
    assert!(spent < (1 << 20) + (65 << 10) && !passed.exists());
    post.send(1, &TargetCall::OutputTaken(spent)).expect("room");
    let outcome = until(&mut link, &post, true, outcome_of(1)).await;
    assert_eq!(outcome.exit_code, Some(0));
    assert!(passed.exists());
    drop(link);
    assert!(ends(&mut child).await);
}

/// Cuts the link, and continues over that of a new program.
async fn resume(post: &LinkMailbox, facts: &TargetFacts) -> (Child, FrameLink) {
    let StartedProgram { child, mut link, .. } = start().await;
    let resume = ResumeRequest { socket: facts.socket.clone(), token: facts.token, received: post.received() };
    link.send_greeting(&GreetingToProgram::Resume(resume)).await.expect("a link");
    match within("the answer", link.receive_greeting()).await {
        Ok(GreetingFromProgram::Resumed { received }) => post.resume(received).expect("a number that waits"),
        other => panic!("{other:?}"),
    }
    (child, link)
}

#[tokio::test]
async fn a_command_goes_on_through_a_cut_and_nothing_is_lost_or_told_twice() {
    let StartedProgram { mut child, mut link, facts } = begin(30_000).await;
    let post = LinkMailbox::default();
    // More than the credit: the command cannot end before its host has taken some.
    post.send(1, &order("seq -f 'line %.0f' 200000", r#"{"live":true}"#)).expect("room");
    let (mut text, mut ended) = (String::new(), None);
    let mut later = Vec::new();
    for cut in 1..=6 {
        // Several messages may arrive at once, the last one among them.
        until(&mut link, &post, true, |_, event| {
            match event {
                TargetEvent::Output(_, more) => text += &more,
                TargetEvent::Ended(outcome, _) => ended = Some(outcome),
                other => panic!("{other:?}"),
            }
            (ended.is_some() || cut < 6 && text.len() > cut * 100_000).then_some(())
        })
        .await;
        if ended.is_some() {
            break;
        }
        drop(link);
        let (program, new) = resume(&post, &facts).await;
        later.push(program);
        link = new;
    }
    assert!(!later.is_empty());
    let whole: String = (1..=200_000).map(|line| format!("line {line}\n")).collect();
    assert_eq!((text == whole, ended.and_then(|outcome| outcome.exit_code)), (true, Some(0)));
    // Those that have passed an old link on go with it.
    let last = later.pop();
    for program in &mut later {
        assert!(ends(program).await);
    }
    post.send(2, &order("echo still here", "{}")).expect("room");
    assert_eq!(until(&mut link, &post, true, outcome_of(2)).await.stdout, "still here\n");
    drop(link);
    child.kill().expect("our child");
    child.wait().expect("our child");
    assert!(ends(&mut last.expect("the last")).await);
}

#[tokio::test]
async fn at_the_end_of_the_lease_the_program_and_all_that_runs_are_gone() {
    let StartedProgram { mut child, mut link, .. } = begin(300).await;
    let post = LinkMailbox::default();
    let folder = tempfile::tempdir().expect("a directory");
    let pids = folder.path().join("pid");
    post.send(1, &order(&format!("setsid sleep 1000 & echo $! > {}; wait", pids.display()), r#"{"starts":true}"#))
        .expect("room");
    let shell = until(&mut link, &post, true, |_, event| match event {
        TargetEvent::Started(pid, _) => Some(pid),
        _ => None,
    })
    .await;
    let sleeper: i32 = within("the child", async {
        loop {
            if let Some(pid) = std::fs::read_to_string(&pids).ok().and_then(|text| text.trim().parse().ok()) {
                return pid;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    drop(link);
    assert!(ends(&mut child).await);
    gone(shell).await;
    gone(sleeper).await;
}

#[tokio::test]
async fn a_wrong_token_reaches_nothing_and_the_new_program_can_be_begun() {
    let StartedProgram { mut child, link: _link, facts } = begin(30_000).await;
    let StartedProgram { child: mut other, mut link, facts: own } = start().await;
    let resume = ResumeRequest { socket: facts.socket.clone(), token: own.token, received: 0 };
    link.send_greeting(&GreetingToProgram::Resume(resume)).await.expect("a link");
    assert!(matches!(within("the answer", link.receive_greeting()).await, Ok(GreetingFromProgram::Gone)));
    link.send_greeting(&GreetingToProgram::Begin(LeaseTerms { lease_ms: 0, ..BEGIN })).await.expect("a link");
    let post = LinkMailbox::default();
    post.send(1, &order("echo new", "{}")).expect("room");
    assert_eq!(until(&mut link, &post, true, outcome_of(1)).await.stdout, "new\n");
    drop(link);
    assert!(ends(&mut other).await);
    assert!(!own.socket.exists());
    child.kill().expect("our child");
    child.wait().expect("our child");
}

#[tokio::test]
async fn a_program_that_no_host_has_answered_ends_with_its_link() {
    let StartedProgram { mut child, link, facts } = start().await;
    assert!(facts.socket.exists());
    drop(link);
    ends(&mut child).await;
    assert!(!facts.socket.exists());
}

#[tokio::test]
async fn the_socket_of_a_program_that_was_killed_goes_with_the_next_one() {
    let StartedProgram { mut child, link: _link, facts } = begin(30_000).await;
    child.kill().expect("our child");
    child.wait().expect("our child");
    assert!(facts.socket.exists());
    let StartedProgram { child: mut other, link, facts: own } = start().await;
    assert!(!facts.socket.exists() && own.socket.exists());
    drop(link);
    ends(&mut other).await;
}

#[tokio::test]
async fn garbage_from_a_host_ends_the_program() {
    let StartedProgram { mut child, link, .. } = begin(600_000).await;
    let [_, output] = link.ends().expect("nothing was read ahead");
    let mut output = File::from(output.as_fd().try_clone_to_owned().expect("a descriptor"));
    std::io::Write::write_all(&mut output, &[0xff; 64]).expect("a pipe");
    assert!(ends(&mut child).await);
}

#[tokio::test]
async fn a_message_that_no_host_sends_ends_the_program() {
    let StartedProgram { mut child, mut link, .. } = begin(600_000).await;
    let post = LinkMailbox::default();
    post.send(1, &order("sleep 1000", "{}")).expect("room");
    post.send(1, &order("echo again", "{}")).expect("room");
    let cut = within("the end", carry_frames(&mut link, &post, PATIENCE, |_| Ok(()))).await;
    assert!(matches!(cut, LinkEnd::Lost(_)), "{cut:?}");
    assert!(ends(&mut child).await);
}

#[tokio::test]
async fn events_of_a_registry_wait_for_a_host_that_takes_none() {
    const TASKS: u64 = 40;
    let StartedProgram { mut child, mut link, .. } = begin(0).await;
    let post = LinkMailbox::default();
    let opening = RegistryOpening {
        dir: None,
        max_tasks: 64,
        max_log_bytes: 1,
        retention: Duration::from_secs(60),
        output: false,
    };
    let ask = |ask| TargetCall::Ask(TargetRequest::Registry(1, ask));
    post.send(1, &ask(TargetRegistryRequest::Open(opening))).expect("room");
    let long = "x".repeat(100_000);
    for run in 2..2 + TASKS {
        let order = order_with(&format!(": {long}"), "{}");
        post.send(run, &TargetCall::Run(Box::new(TargetCommand { registry: Some(1), background: true, ..order })))
            .expect("room");
    }
    // Each list is asked for until no task runs.
    let (mut lists, mut told, mut paid) = (100, 0, 0);
    post.send(lists, &ask(TargetRegistryRequest::List)).expect("room");
    let over = |tasks: &[Task]| tasks.len() as u64 == TASKS && !tasks.iter().any(Task::is_running);
    let cost_of = |event: &TargetEvent| encode(event).expect("text").len() as u64 + 64;
    until(&mut link, &post, true, |_, event| match event {
        TargetEvent::Registry(_) => {
            told += 1;
            paid += cost_of(&event);
            None
        }
        TargetEvent::Answered(TargetResponse::Registry(TargetRegistryResponse::Listed(tasks, ..))) if over(&tasks) => {
            Some(())
        }
        TargetEvent::Answered(_) => {
            lists += 1;
            post.send(lists, &ask(TargetRegistryRequest::List)).expect("room");
            None
        }
        TargetEvent::Failed(failure) => panic!("{failure:?}"),
        _ => None,
    })
    .await;
    assert!((2..20).contains(&told), "{told}");
    post.send(1, &TargetCall::OutputTaken(paid)).expect("room");
    until(&mut link, &post, true, |_, event| {
        if matches!(event, TargetEvent::Registry(_)) {
            told += 1;
            post.send(1, &TargetCall::OutputTaken(cost_of(&event))).expect("room");
        }
        // The first event is that it is open.
        (told == TASKS + 1).then_some(())
    })
    .await;
    drop(link);
    assert!(ends(&mut child).await);
}

fn about(path: &Path, of: TargetFileRequest) -> TargetCall {
    TargetCall::Ask(TargetRequest::File(path.to_str().expect("text").to_owned(), of))
}

#[tokio::test]
async fn a_file_that_its_host_does_not_take_stops_at_the_credit_and_commands_run_beside_it() {
    let StartedProgram { mut child, mut link, .. } = begin(0).await;
    let post = LinkMailbox::default();
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("big");
    std::fs::write(&path, vec![7; 8_000_000]).expect("room");
    post.send(1, &about(&path, TargetFileRequest::Read)).expect("room");
    let mut bytes = 0;
    for (run, most) in [(2, 1 << 20), (3, (1 << 20) + 128 * 1024)] {
        post.send(run, &order("sleep 0.1; echo beside", "{}")).expect("room");
        let beside = until(&mut link, &post, true, |number, event| match event {
            TargetEvent::Part(TransferPart::Bytes(more)) => {
                bytes += more.len();
                None
            }
            event => outcome_of(run)(number, event),
        });
        assert_eq!(beside.await.stdout, "beside\n");
        assert_eq!(bytes, most);
        post.send(1, &TargetCall::Part(TransferPart::Taken(128 * 1024))).expect("room");
    }
    let whole = until(&mut link, &post, true, |_, event| {
        match event {
            TargetEvent::Part(TransferPart::Bytes(more)) => {
                bytes += more.len();
                post.send(1, &TargetCall::Part(TransferPart::Taken(bytes as u64))).expect("room");
            }
            TargetEvent::Answered(TargetResponse::File(_)) => return Some(bytes),
            other => panic!("{other:?}"),
        }
        None
    });
    assert_eq!(whole.await, 8_000_000);
    drop(link);
    assert!(ends(&mut child).await);
}

#[tokio::test]
async fn a_write_that_is_cut_off_for_good_or_goes_on_too_long_leaves_nothing() {
    let StartedProgram { mut child, mut link, .. } = begin(300).await;
    let post = LinkMailbox::default();
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("new/deep/file");
    let taken = |event| match event {
        TargetEvent::Part(TransferPart::Taken(3)) => Some(()),
        TargetEvent::Failed(failure) => panic!("{failure:?}"),
        _ => None,
    };
    post.send(1, &about(&path, TargetFileRequest::Write { bytes: 5, mode: None })).expect("room");
    post.send(1, &TargetCall::Part(TransferPart::Bytes(b"abc".to_vec()))).expect("room");
    until(&mut link, &post, true, |_, event| taken(event)).await;
    post.send(1, &TargetCall::Part(TransferPart::Bytes(b"def".to_vec()))).expect("room");
    let refused = until(&mut link, &post, true, |_, event| match event {
        TargetEvent::Failed(failure) => Some(failure.code),
        _ => None,
    });
    assert_eq!(refused.await, "ERR_BASH_INVALID_ARG");
    assert!(!folder.path().join("new").exists());
    post.send(2, &about(&path, TargetFileRequest::Write { bytes: 5, mode: None })).expect("room");
    post.send(2, &TargetCall::Part(TransferPart::Bytes(b"abc".to_vec()))).expect("room");
    until(&mut link, &post, true, |_, event| taken(event)).await;
    assert!(folder.path().join("new").exists());
    drop(link);
    assert!(ends(&mut child).await);
    assert!(!folder.path().join("new").exists());
}
