//! A machine with bash and nothing else: no user database, no resolver, no libraries but those of bash.

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use remote::{
    FrameLink, GreetingFromProgram, GreetingToProgram, LeaseTerms, LinkMailbox, TargetCall, TargetEvent, TargetRequest,
    TargetResponse, TransferPart, carry_frames, decode,
};
use runner::run::outcome::CommandOutcome;
use tokio::time::timeout;

use crate::support::{PROGRAM, order_with};

/// A bound against a hang.
const PATIENCE: Duration = Duration::from_secs(30);

/// Mounts what the kernel provides into a new root, and starts the program there.
const ENTER: &str = r#"mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" /program"#;

fn libraries(program: &str) -> Option<Vec<String>> {
    let Output { status, stdout, .. } = Command::new("ldd").arg(program).output().expect("ldd");
    let text = String::from_utf8(stdout).expect("text");
    // A static program has none.
    status.success().then(|| text.split_whitespace().filter(|word| word.starts_with('/')).map(str::to_owned).collect())
}

/// Makes a root of bash and the program.
fn fill(root: &Path) {
    for directory in ["proc", "dev", "tmp", "bin"] {
        fs::create_dir(root.join(directory)).expect("made");
    }
    let own = libraries(PROGRAM).unwrap_or_default();
    for path in libraries("/bin/bash").expect("libraries").into_iter().chain(own) {
        let place = root.join(&path[1..]);
        fs::create_dir_all(place.parent().expect("a directory")).expect("made");
        fs::copy(&path, place).expect("copied");
    }
    fs::copy("/bin/bash", root.join("bin/bash")).expect("copied");
    fs::copy(PROGRAM, root.join("program")).expect("copied");
}

/// Serves the link until this event comes.
async fn until<T>(link: &mut FrameLink, post: &LinkMailbox, mut found: impl FnMut(TargetEvent) -> Option<T>) -> T {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let served = carry_frames(link, post, PATIENCE, |message| {
        if let Some(result) = found(decode(&message.payload)?) {
            let _taken = sender.send(result);
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

async fn run(link: &mut FrameLink, post: &LinkMailbox, command: &str) -> CommandOutcome {
    post.send(1, &TargetCall::Run(Box::new(order_with(command, "{}")))).expect("room");
    let ended = until(link, post, |event| match event {
        TargetEvent::Ended(outcome, _) => Some(outcome),
        TargetEvent::Failed(failure) => panic!("{failure:?}"),
        _ => None,
    });
    *ended.await
}

#[tokio::test]
async fn commands_run_where_nothing_but_bash_is() {
    let root = tempfile::tempdir().expect("a directory");
    fill(root.path());
    let mut child = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "bash", "-c", ENTER])
        .arg(root.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("unshare");
    let input = child.stdout.take().map(OwnedFd::from).expect("piped");
    let output = child.stdin.take().map(OwnedFd::from).expect("piped");
    let mut link = FrameLink::new(input, output).expect("pipes");
    let ready = timeout(PATIENCE, link.receive_greeting()).await.expect("a greeting in time");
    let Ok(GreetingFromProgram::Ready(facts)) = ready else { panic!("{ready:?}") };
    assert_eq!((facts.bash.as_deref(), facts.home.as_str(), facts.user.as_str()), (Some("/bin/bash"), "/", "0"));
    link.send_greeting(&GreetingToProgram::Begin(LeaseTerms { lease_ms: 0, alive_ms: 10_000 })).await.expect("a link");
    let post = LinkMailbox::default();
    let outcome = run(&mut link, &post, "echo $BASH_VERSINFO; [[ ! -e /etc ]] && exit 3").await;
    assert_eq!((outcome.exit_code, outcome.stderr.as_str()), (Some(3), ""));
    assert!(outcome.stdout.trim().parse::<u32>().is_ok(), "{}", outcome.stdout);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    post.send(2, &TargetCall::Ask(TargetRequest::Dial("localhost".into(), port))).expect("room");
    post.send(2, &TargetCall::Part(TransferPart::End)).expect("room");
    let accepted = std::thread::spawn(move || drop(listener.accept().expect("a connection")));
    let answered = until(&mut link, &post, |event| match event {
        TargetEvent::Answered(answer) => Some(answer),
        TargetEvent::Failed(failure) => panic!("{failure:?}"),
        _ => None,
    });
    assert_eq!(answered.await, TargetResponse::Done);
    accepted.join().expect("no panic");
    drop(link);
    let ended = child.wait_with_output().expect("our child");
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}
