//! Drives targets as the addon does, over a transport of this machine.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::Signal;
use remote::client::{
    DistantRegistry, DistantRunEnd, ProgramEncoding, ProgramFile, RemoteTarget, TargetAddress, TargetErrorReason,
    TargetProgram, TargetSettings, TargetState, TransportQuoting, UnansweredRequest,
};
use remote::{RegistryOpening, TargetCommand, TargetCommandPlace, TargetRequest, TargetResponse, TargetSessionRequest};
use runner::error::RunError;
use runner::pty::{CommandTerminal, TerminalError};
use runner::request::RawOptions;
use runner::run::outcome::CommandStatus;
use runner::run::{BlockedPrompt, CallerReply, CommandListener, LiveView, judge_distant};
use sys::TerminalSize;

use crate::support::{
    PATIENCE, RunningTestCommand, begin, cut, is_gone, judgement, lines, order, run, run_in, run_in_terminal, settings,
    signal_carriers, until, within,
};

/// Links to the programs that a connection needs, but those that hash.
const TOOLS: [&str; 14] =
    ["bash", "cat", "chmod", "env", "head", "id", "ls", "mkdir", "mv", "rm", "setsid", "sh", "uname", "wc"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "stress: a program that is not optimized takes seconds for its hash"]
async fn without_a_tool_there_a_damaged_program_is_sent_again() {
    let home = tempfile::tempdir().expect("a directory");
    let bin = home.path().join("bin");
    std::fs::create_dir(&bin).expect("our directory");
    for name in TOOLS {
        let found =
            ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name)).into_iter().find(|path| path.exists());
        std::os::unix::fs::symlink(found.expect(name), bin.join(name)).expect("a link");
    }
    let mut settings = settings(home.path(), PATIENCE);
    let TargetAddress::Command { command, .. } = &mut settings.address else { panic!("a command") };
    command[2] = format!("PATH={}", bin.display());
    let mut sent = Vec::new();
    for damages in [false, true, true] {
        let target = RemoteTarget::connect(settings.clone()).await.expect("a target");
        let (facts, was_sent) = target.facts();
        sent.push(was_sent);
        let path = facts.path.clone();
        target.close();
        if damages {
            let mut bytes = std::fs::read(&path).expect("the program");
            *bytes.last_mut().expect("bytes") ^= 1;
            let damaged = home.path().join("damaged");
            std::fs::write(&damaged, bytes).expect("room");
            std::fs::set_permissions(&damaged, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("ours");
            std::fs::rename(damaged, path).expect("our file");
        }
    }
    assert_eq!(sent, [true, false, true]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_program_is_sent_once_and_commands_run_by_it() {
    let home = tempfile::tempdir().expect("a directory");
    for sent in [true, false] {
        let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
        let (facts, was_sent) = target.facts();
        assert_eq!((was_sent, facts.home.as_str()), (sent, home.path().to_str().expect("text")));
        let outcome = run(&target, "echo out; echo err >&2; exit 3", "{}").outcome().await;
        let ended = (outcome.stdout.as_str(), outcome.stderr.as_str(), outcome.exit_code, outcome.notes.len());
        assert_eq!(ended, ("out\n", "err\n", Some(3), 0));
        let own = std::process::Command::new("sh").args(["-c", "umask"]).output().expect("a shell").stdout;
        assert_eq!(run(&target, "sh -c umask", "{}").outcome().await.stdout.into_bytes(), own);
        target.close();
        let error = within("the refusal", run(&target, "echo", "{}").ended).await.expect("no panic");
        assert!(matches!(error, DistantRunEnd::Failed(error) if error.code() == "ERR_BASH_CLOSED"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_goes_on_through_cuts_and_calls_wait_for_the_link() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let long = run(&target, "for i in {1..200}; do echo line $i; sleep 0.01; done", r#"{"live":true}"#);
    for at in ["line 20\n", "line 60\n", "line 100\n"] {
        long.until("a line", |text, _| text.contains(at)).await;
        let mut states = target.watch();
        assert!(cut(home.path()));
        within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
        let short = run(&target, "echo during", "{}");
        assert_eq!(short.outcome().await.stdout, "during\n");
    }
    let ear = long.ear.clone();
    let outcome = long.outcome().await;
    assert_eq!((outcome.exit_code, outcome.status), (Some(0), CommandStatus::Exited));
    assert_eq!(*ear.text.lock().expect("no panic"), lines(200));
    assert_eq!(outcome.stdout, lines(200));
    assert!(outcome.notes.iter().any(|note| note.contains("was cut while the command ran")), "{:?}", outcome.notes);
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_was_killed_loses_its_commands_and_the_target_heals() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let lost = run(&target, "echo begun; sleep 1000", r#"{"live":true,"starts":true}"#);
    lost.until("the start", |text, pid| pid > 0 && text == "begun\n").await;
    let shell = *lost.ear.pid.lock().expect("no panic");
    let (facts, _) = target.facts();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(facts.pid), nix::sys::signal::Signal::SIGKILL)
        .expect("the program");
    let outcome = lost.outcome().await;
    assert_eq!((outcome.status, outcome.exit_code), (CommandStatus::Lost, None));
    assert!(outcome.notes.iter().any(|note| note.starts_with("the command is lost: ")), "{:?}", outcome.notes);
    within("the end of the shell", async {
        while Path::new(&format!("/proc/{shell}")).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(run(&target, "echo healed", "{}").outcome().await.stdout, "healed\n");
    assert_ne!(target.facts().0.pid, facts.pid);
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_ends_a_command_there_and_one_before_its_start_runs_nothing() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let aborted = run(&target, "sleep 1000", r#"{"starts":true}"#);
    aborted.until("the start", |_, pid| pid > 0).await;
    aborted.ear.replies.send(CallerReply::Abort).expect("it runs");
    let outcome = aborted.outcome().await;
    assert_eq!((outcome.status, outcome.exit_code), (CommandStatus::Aborted, Some(130)));
    // While no link is there, a command has not begun.
    let mut states = target.watch();
    assert!(cut(home.path()));
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
    let made = home.path().join("made");
    let never = run(&target, &format!("touch {}", made.display()), "{}");
    never.ear.replies.send(CallerReply::Abort).expect("it waits");
    let outcome = never.outcome().await;
    assert_eq!((outcome.status, outcome.pid), (CommandStatus::Aborted, 0));
    assert_eq!(run(&target, "echo later", "{}").outcome().await.stdout, "later\n");
    assert!(!made.exists());
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_is_aborted_while_the_link_is_down_ends_when_it_is_back() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let aborted = run(&target, "sleep 1000", r#"{"starts":true,"timeoutMs":600000}"#);
    aborted.until("the start", |_, pid| pid > 0).await;
    let shell = *aborted.ear.pid.lock().expect("no panic");
    let mut states = target.watch();
    std::fs::write(home.path().join("down"), "").expect("room");
    assert!(cut(home.path()));
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
    aborted.ear.replies.send(CallerReply::Abort).expect("it runs");
    let outcome = aborted.outcome().await;
    assert!(outcome.notes.iter().any(|note| note.contains("until the connection is back")), "{:?}", outcome.notes);
    assert!(Path::new(&format!("/proc/{shell}")).exists());
    std::fs::remove_file(home.path().join("down")).expect("our file");
    within("the end of the shell", async {
        while Path::new(&format!("/proc/{shell}")).exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_cannot_be_reached_says_why() {
    let home = tempfile::tempdir().expect("a directory");
    let fails = async |words: &[&str]| {
        let command = words.iter().map(|word| (*word).to_owned()).collect();
        let address = TargetAddress::Command { command, quoting: TransportQuoting::Argv };
        let settings = TargetSettings { address, patience: Duration::from_secs(5), ..settings(home.path(), PATIENCE) };
        within("the error", RemoteTarget::connect(settings)).await.err().expect("no target")
    };
    let error = fails(&["/none/transport"]).await;
    assert!(error.message.contains("/none/transport: No such file or directory"), "{error}");
    let error = fails(&["sh", "-c", "echo no account >&2; exit 1"]).await;
    assert_eq!((error.reason, error.stderr.as_str()), (TargetErrorReason::Shell, "no account"));
    let leaves = "setsid sh -c 'while [ -d $0 ]; do sleep 0.1; done' $0 & echo no account >&2; exit 1";
    let error = fails(&["sh", "-c", leaves, home.path().to_str().expect("text")]).await;
    assert_eq!((error.reason, error.stderr.as_str()), (TargetErrorReason::Shell, "no account"));
    let error = fails(&["sh", "-c", "yes | head -c 100000; sleep 1000"]).await;
    assert_eq!(error.reason, TargetErrorReason::Shell);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_program_to_send_the_error_has_the_remedy() {
    let home = tempfile::tempdir().expect("a directory");
    let none = TargetSettings { programs: Vec::new(), ..settings(home.path(), PATIENCE) };
    let mut absent = settings(home.path(), PATIENCE);
    absent.programs[0].forms.clear();
    for (settings, message) in [(none, ""), (absent, concat!("no program for Linux ", "x86_64: "))] {
        let error = RemoteTarget::connect(settings).await.err().expect("no target");
        let message = message.replace("x86_64", std::env::consts::ARCH);
        assert!(
            error.reason == TargetErrorReason::NoProgram
                && error.message.contains(&format!(": {message}no program here")),
            "{error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_may_ask_for_what_was_offered_and_not_for_ever() {
    let home = tempfile::tempdir().expect("a directory");
    let file = home.path().join("program");
    std::fs::write(&file, "x").expect("room");
    // It finds the mark in our text.
    let asks = r#"for w; do :; done; m=${w#*m=}; eval "m=${m%%;*}"; cat >/dev/null & while echo; echo "$m send $0"; do :; done"#;
    for (asked, told) in [
        ("Linux m zstd", "1 times, for m and zstd"),
        ("Linux other cat", "1 times, for other and cat"),
        ("Linux m cat", "7 times, for m and cat"),
    ] {
        let command = ["sh", "-c", asks, asked].map(str::to_owned).to_vec();
        let forms = vec![ProgramFile { coding: ProgramEncoding::Raw, bytes: 1, path: file.clone() }];
        let program = TargetProgram { machine: "m".into(), sha256: "0".repeat(64), bytes: 1, forms };
        let address = TargetAddress::Command { command, quoting: TransportQuoting::Argv };
        let settings = TargetSettings { address, programs: vec![program], ..settings(home.path(), PATIENCE) };
        let error = within("the error", RemoteTarget::connect(settings)).await.err().expect("no target");
        assert!(error.reason == TargetErrorReason::Protocol && error.message.contains(told), "{error}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_remembers_there_and_runs_in_the_order_of_the_calls() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let ask = async |of_session| within("the answer", target.request(TargetRequest::Session(7, of_session))).await;
    assert_eq!(ask(TargetSessionRequest::Begin("/usr".into())).await.expect("a session"), TargetResponse::Done);
    let place = TargetCommandPlace::Session(7);
    let first = run_in(&target, place, "", "sleep 0.1; cd lib; x=1", "{}");
    let second = run_in(&target, place, "", "echo $PWD $x", "{}");
    assert_eq!(first.outcome().await.exit_code, Some(0));
    assert_eq!(second.outcome().await.stdout, "/usr/lib 1\n");
    ask(TargetSessionRequest::Reset).await.expect("a session");
    assert_eq!(run_in(&target, place, "", "echo $PWD $x", "{}").outcome().await.stdout, "/usr\n");
    ask(TargetSessionRequest::Close).await.expect("a session");
    let refused = within("the refusal", run_in(&target, place, "", "echo", "{}").ended).await.expect("no panic");
    assert!(matches!(refused, DistantRunEnd::Failed(error) if error.code() == "ERR_BASH_CLOSED"));
    target.close();
    let refused = ask(TargetSessionRequest::Reset).await.expect_err("a closed target");
    assert!(matches!(refused, UnansweredRequest::Failed(error) if error.code() == "ERR_BASH_CLOSED"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_shows_a_program_there_and_takes_keys_through_a_cut() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let terminal = CommandTerminal::new(TerminalSize { cols: 40, rows: 5 });
    terminal.on_start_known();
    terminal.set_listened(true);
    let shown = run_in_terminal(&target, &terminal, "stty size; read -p name: x; echo got $x; stty size; read; exit 4");
    let line = |at: usize| terminal.screen().lines[at].clone();
    shown.until("the prompt", |text, _| text.contains("name:")).await;
    assert_eq!((line(0).as_str(), line(1).as_str()), ("5 40", "name:"));
    let mut states = target.watch();
    assert!(cut(home.path()));
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
    terminal.resize(TerminalSize { cols: 50, rows: 6 });
    let typed = terminal.write(b"me\r".to_vec()).expect("it runs").expect("it is not typed yet");
    within("the keys", typed).await.expect("they are typed");
    shown.until("the rest", |text, _| text.contains("6 50")).await;
    assert_eq!((line(1).as_str(), line(2).as_str()), ("name:me", "got me"));
    assert!(terminal.write(b"\r".to_vec()).is_ok());
    assert_eq!(shown.outcome().await.exit_code, Some(4));
    assert!(matches!(
        target.run_in_terminal(order("echo"), judgement(), &terminal),
        Err(RunError::Terminal(TerminalError::Used))
    ));
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_of_a_program_is_answered_there_and_a_flood_without_a_listener_passes() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let terminal = CommandTerminal::new(TerminalSize { cols: 40, rows: 5 });
    terminal.on_start_known();
    let ask =
        r"stty raw -echo; printf '\e[6n'; IFS= read -rd R x; stty sane; printf %s $x >~/answer; seq 300000; echo end";
    let outcome = run_in_terminal(&target, &terminal, ask).outcome().await;
    let answer = std::fs::read(home.path().join("answer")).expect("an answer");
    assert_eq!((outcome.exit_code, answer.as_slice()), (Some(0), &b"\x1b[1;1"[..]));
    assert!(terminal.screen().lines.iter().any(|line| line == "end"), "{:?}", terminal.screen().lines);
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_that_freezes_in_the_middle_of_a_message_is_dropped_without_a_goodbye() {
    let home = tempfile::tempdir().expect("a directory");
    let target =
        RemoteTarget::connect(TargetSettings { alive: Duration::from_secs(1), ..settings(home.path(), PATIENCE) });
    let target = within("the connection", target).await.expect("a target");
    let running = run(&target, "until [ -e ~/go ]; do sleep 0.01; done; echo on", r#"{"starts":true}"#);
    running.until("the start", |_, pid| pid > 0).await;
    let frozen = signal_carriers(home.path(), Signal::SIGSTOP);
    std::fs::write(home.path().join("down"), "").expect("room");
    let mut states = target.watch();
    let counted = begin(None, "/", ("wc -c", "{}"), &target, |order, judged| {
        target.run(TargetCommand { stdin: Some(vec![b'x'; 8_000_000]), ..order }, judged)
    });
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
    signal_carriers(home.path(), Signal::SIGCONT);
    until("the end of the transport", || frozen.iter().all(|pid| is_gone(*pid))).await;
    std::fs::remove_file(home.path().join("down")).expect("our file");
    let counted = counted.outcome().await;
    assert_eq!(counted.stdout, "8000000\n", "{:?}", counted.notes);
    std::fs::write(home.path().join("go"), "").expect("room");
    assert_eq!(running.outcome().await.stdout, "on\n");
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_wait_for_a_link_are_bounded_and_one_too_many_or_too_large_is_refused_at_once() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    let mut states = target.watch();
    std::fs::write(home.path().join("down"), "").expect("room");
    assert!(cut(home.path()));
    within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
    let with_input = |bytes: usize| {
        begin(None, "/", ("cat", "{}"), &target, |order, judged| {
            target.run(TargetCommand { stdin: Some(vec![b'x'; bytes]), ..order }, judged)
        })
    };
    let refused = async |run: RunningTestCommand| match within("the refusal", run.ended).await.expect("no panic") {
        DistantRunEnd::Failed(error) => (error.code(), error.to_string()),
        _ => panic!("it is refused"),
    };
    let (code, message) = refused(with_input(wire::MAX_MESSAGE)).await;
    assert!(code == "ERR_BASH_INVALID_ARG" && message.contains("too large"), "{message}");
    let waiting: Vec<RunningTestCommand> = (0..4).map(|_| with_input(wire::MAX_MESSAGE - 1_000_000)).collect();
    let (code, message) = refused(with_input(5_000_000)).await;
    assert!(code == "ERR_BASH_SPAWN" && message.contains("command:test"), "{message}");
    for run in waiting {
        run.ear.replies.send(CallerReply::Abort).expect("it waits");
        assert_eq!(run.outcome().await.pid, 0);
    }
    let short = with_input(5_000);
    std::fs::remove_file(home.path().join("down")).expect("our file");
    assert_eq!(short.outcome().await.stdout.len(), 5_000);
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_settles_while_the_link_is_frozen_and_reaches_the_command_later() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(TargetSettings { alive: 10 * PATIENCE, ..settings(home.path(), PATIENCE) });
    let target = within("the connection", target).await.expect("a target");
    let aborted = run(&target, "sleep 1000", r#"{"starts":true,"graceMs":100}"#);
    aborted.until("the start", |_, pid| pid > 0).await;
    let shell = *aborted.ear.pid.lock().expect("no panic");
    signal_carriers(home.path(), Signal::SIGSTOP);
    aborted.ear.replies.send(CallerReply::Abort).expect("it runs");
    let outcome = aborted.outcome().await;
    assert_eq!((outcome.status, outcome.exit_code), (CommandStatus::Aborted, Some(130)));
    assert!(outcome.notes.iter().any(|note| note.contains("until the connection is back")), "{:?}", outcome.notes);
    assert!(target.state() == TargetState::Connected && !is_gone(shell));
    signal_carriers(home.path(), Signal::SIGCONT);
    until("the end of the shell", || is_gone(shell)).await;
    target.close();
}

/// A listener that never takes output.
struct NeverTakingListener(tokio::sync::mpsc::UnboundedSender<()>);

impl CommandListener for NeverTakingListener {
    fn output(&self, _stream: capture::OutputStream, _text: String) {
        let _ = self.0.send(());
    }
    fn live_view(&self, _view: LiveView) {}
    fn prompt(&self, _prompt: BlockedPrompt) {}
    fn allocate(&self, _stream: capture::OutputStream) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_takes_nothing_holds_a_result_back_as_here() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    // What ends the wait: the limit of the command, an abort after its end, the end of the target.
    for (command, options, aborts, closes) in [
        ("echo; sleep 1000", r#"{"live":true,"timeoutMs":500,"graceMs":100}"#, false, false),
        ("echo", r#"{"live":true,"graceMs":100}"#, true, false),
        ("echo", r#"{"live":true,"graceMs":15000}"#, false, true),
    ] {
        let order = TargetCommand { options: options.into(), ..order(command) };
        let raw =
            RawOptions { command: command.into(), cwd: "/".into(), ..RawOptions::from_json(options).expect("json") };
        let (replies, inbox) = tokio::sync::mpsc::unbounded_channel();
        let (told, mut heard) = tokio::sync::mpsc::unbounded_channel();
        let run = target.run(order, judge_distant(raw, "test", None).expect("harmless")).expect("an open target");
        let ended = tokio::spawn(run.finish(NeverTakingListener(told), inbox));
        within("output", heard.recv()).await.expect("it runs");
        // By then the first one has ended, too.
        assert_eq!(
            run_in(&target, TargetCommandPlace::Shell, "/", "sleep 0.1", "{}").outcome().await.exit_code,
            Some(0)
        );
        if aborts {
            replies.send(CallerReply::Abort).expect("it waits");
        }
        if closes {
            target.close();
        }
        let DistantRunEnd::Outcome(outcome, _) = within("the end", ended).await.expect("no panic") else {
            panic!("{command}")
        };
        let note = "the onOutput listener did not take all output in time".to_owned();
        assert!(
            closes && outcome.status == CommandStatus::Lost || outcome.notes.contains(&note),
            "{:?}",
            outcome.notes
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_runs_than_a_program_takes_at_once_wait_for_the_end_of_others() {
    let home = tempfile::tempdir().expect("a directory");
    let target = RemoteTarget::connect(settings(home.path(), PATIENCE)).await.expect("a target");
    within("a session", target.request(TargetRequest::Session(7, TargetSessionRequest::Begin("/".into()))))
        .await
        .expect("a session");
    let first = run_in(&target, TargetCommandPlace::Session(7), "", "until [ -e ~/go ]; do sleep 0.01; done", "{}");
    // Each of these is a run that waits for its turn, without a process.
    let resets: Vec<_> = (0..1_100)
        .map(|_| tokio::spawn(target.request(TargetRequest::Session(7, TargetSessionRequest::Reset))))
        .collect();
    // A registry takes no place of theirs.
    let retention = Duration::from_secs(60);
    let opening = RegistryOpening { dir: None, max_tasks: 8, max_log_bytes: 1 << 30, retention, output: false };
    let registry = DistantRegistry::open(&target, opening, &tokio::runtime::Handle::current()).expect("a registry");
    within("the registry", registry.wait_until_open()).await.expect("a directory");
    let never = run(&target, "touch ~/made", "{}");
    never.ear.replies.send(CallerReply::Abort).expect("it waits");
    let outcome = never.outcome().await;
    assert_eq!((outcome.status, outcome.pid, target.state()), (CommandStatus::Aborted, 0, TargetState::Connected));
    let last = run_in(&target, TargetCommandPlace::Session(7), "", "echo last", "{}");
    std::fs::write(home.path().join("go"), "").expect("room");
    assert_eq!(first.outcome().await.exit_code, Some(0));
    for reset in resets {
        assert_eq!(within("a reset", reset).await.expect("no panic").expect("an answer"), TargetResponse::Done);
    }
    assert_eq!(last.outcome().await.stdout, "last\n");
    assert!(!home.path().join("made").exists());
    target.close();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_at_the_moment_of_close_settle_also_while_a_link_is_resumed() {
    let home = tempfile::tempdir().expect("a directory");
    for cuts in [false, true, false, true] {
        let lease = Duration::from_secs(2);
        let target = RemoteTarget::connect(settings(home.path(), lease)).await.expect("a target");
        let pid = target.facts().0.pid;
        if cuts {
            let mut states = target.watch();
            assert!(cut(home.path()));
            within("the cut", states.wait_for(|state| *state == TargetState::Disconnected)).await.expect("a target");
        }
        let caller = Arc::clone(&target);
        let (began, begun) = tokio::sync::oneshot::channel();
        let calling = tokio::task::spawn_blocking(move || {
            let mut asked = vec![tokio::spawn(caller.request(TargetRequest::Session(7, TargetSessionRequest::Close)))];
            let _ = began.send(());
            while caller.state() != TargetState::Closed {
                asked.push(tokio::spawn(caller.request(TargetRequest::Session(7, TargetSessionRequest::Close))));
            }
            asked
        });
        begun.await.expect("calls");
        target.close();
        for answer in within("the calls", calling).await.expect("no panic") {
            let _settled = within("an answer", answer).await.expect("no panic");
        }
        within("the end of the transport", target.wait_until_ended(PATIENCE * 2)).await;
        until("the end of the program", || is_gone(pid)).await;
    }
}
