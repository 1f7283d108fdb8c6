//! A task whose processes, host and other clients are the test.

use std::io::Write;
use std::os::unix::net::UnixStream;

use nix::poll::{PollTimeout, poll};
use tempfile::TempDir;

use super::*;
use capture::SanitizeRules;
use protocol::task::TaskState;
use protocol::{FrameReader, ReceiveOutcome, ToShim, ToTask};

/// Longer than the shortest time between two answers to a client.
const INTERVAL: Duration = Duration::from_millis(15);

/// The other end of a client's socket.
struct TaskClientPeer(OwnedFd, FrameReader);

impl TaskClientPeer {
    fn send(&self, message: ToTask) {
        protocol::send(&self.0, message).expect("sent");
    }

    fn next(&mut self) -> Option<FromTask> {
        match self.1.receive(&self.0) {
            Ok(ReceiveOutcome::Message(message)) => Some(message),
            _ => None,
        }
    }

    fn grew(&mut self) -> Option<(u64, Vec<String>)> {
        match self.next()? {
            FromTask::Grew { bytes, pending } => Some((bytes, pending)),
            other => panic!("{other:?}"),
        }
    }
}

struct ServedTask {
    server: TaskServer,
    /// The write end of its output.
    output: File,
    folder: TempDir,
}

/// Returns a task that has just started.
fn served(detached: bool) -> ServedTask {
    served_with(|spec| spec.detached = detached)
}

/// Returns a task with the longest silence that is allowed.
fn served_with_silence(idle: Duration) -> ServedTask {
    served_with(|spec| spec.idle_ms = u64::try_from(idle.as_millis()).ok())
}

fn served_with(change: impl FnOnce(&mut TaskSpec)) -> ServedTask {
    let folder = tempfile::tempdir().expect("a directory");
    let path = folder.path().join("tasks");
    std::fs::create_dir(&path).expect("made");
    let mut spec = TaskSpec {
        folder: path.clone(),
        max_log_bytes: 1 << 20,
        sanitize: Some(SanitizeRules::default()),
        limit_ms: 1_000,
        ..TaskSpec::sample("t000000000001")
    };
    change(&mut spec);
    let log = TaskLog::lock_and_continue(TaskStore::at(path).create_log(&spec.id).expect("made"), spec.max_log_bytes)
        .expect("locked");
    let (read, write) = sys::pipe().expect("a pipe");
    sys::set_nonblocking(&read).expect("set");
    let outputs = vec![TaskOutputReader::new(read, spec.sanitize, &[])];
    let start = TaskStart { spec, log, outputs, feed: None, cgroup: None };
    let pid = i32::try_from(std::process::id()).expect("a pid");
    ServedTask { server: TaskServer::begin(start, pid, "mark", 1).expect("begun"), output: write.into(), folder }
}

impl ServedTask {
    /// Adds a client, which has received the task.
    fn client(&mut self, host: bool) -> TaskClientPeer {
        let (ours, theirs) = sys::socket_pair().expect("sockets");
        self.server.join(TaskClient::new(ours, host));
        let mut peer = TaskClientPeer(theirs, FrameReader::default());
        assert!(matches!(peer.next(), Some(FromTask::Task(task)) if task.id == "t000000000001"));
        peer
    }

    fn write(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).expect("written");
    }

    /// One turn of the shim's loop.
    fn turn(&mut self) {
        let mut fds = Vec::new();
        self.server.poll_fds(&mut fds);
        poll(&mut fds, PollTimeout::ZERO).expect("polled");
        let answers: Vec<bool> = fds.iter().map(|fd| fd.any().unwrap_or(false)).collect();
        drop(fds);
        self.server.serve(answers.into_iter());
    }

    fn requests(&mut self) -> (bool, bool) {
        self.turn();
        let TaskRequests { end, host_gone, .. } = self.server.take_requests();
        (end, host_gone)
    }
}

#[test]
fn a_watch_is_answered_once_when_the_log_has_more_than_the_client_knows() {
    let mut task = served(false);
    let mut peer = task.client(true);
    peer.send(ToTask::Watch { from: 0, pending: false });
    task.turn();
    assert_eq!(peer.grew(), None, "nothing was written");
    task.write("one\n");
    task.turn();
    assert_eq!(peer.grew(), Some((4, vec![])));
    task.write("two\n");
    std::thread::sleep(INTERVAL);
    task.turn();
    assert_eq!(peer.grew(), None, "not asked for");
    peer.send(ToTask::Watch { from: 8, pending: false });
    task.turn();
    assert_eq!(peer.grew(), None, "known");
    peer.send(ToTask::Watch { from: 4, pending: false });
    task.turn();
    assert_eq!(peer.grew(), Some((8, vec![])), "of two requests the lower one counts");
}

#[test]
fn an_answer_that_comes_too_early_is_held_back_until_its_time() {
    const AGAIN: Duration = Duration::from_millis(10);
    const MS: Duration = Duration::from_millis(1);
    let (ours, theirs) = sys::socket_pair().expect("sockets");
    let (mut client, mut peer) = (TaskClient::new(ours, true), TaskClientPeer(theirs, FrameReader::default()));
    let watch = |client: &mut TaskClient, peer: &TaskClientPeer, from, pending| {
        peer.send(ToTask::Watch { from, pending });
        assert!(matches!(client.next_request(), ClientRequest::Other));
    };
    let start = Instant::now();
    watch(&mut client, &peer, 0, false);
    client.answer(start, 4, &[]);
    assert_eq!((peer.grew(), client.due()), (Some((4, vec![])), None));
    watch(&mut client, &peer, 4, false);
    client.answer(start + MS, 4, &[]);
    assert_eq!((peer.grew(), client.due()), (None, None), "nothing to tell");
    for early in [MS, AGAIN - MS] {
        client.answer(start + early, 8, &[]);
        assert_eq!((peer.grew(), client.due()), (None, Some(start + AGAIN)), "{early:?}");
    }
    client.answer(start + AGAIN, 8, &[]);
    assert_eq!((peer.grew(), client.due()), (Some((8, vec![])), None));
    watch(&mut client, &peer, 8, true);
    client.answer(start + AGAIN, 8, &[]);
    assert_eq!(client.due(), Some(start + AGAIN * 2), "the lines are looked at then");
    assert!(!client.wants_pending(start + AGAIN * 2 - MS) && client.wants_pending(start + AGAIN * 2));
    client.answer(start + AGAIN * 2, 8, &[String::new()]);
    assert_eq!((peer.grew(), client.due()), (None, None), "no reason to wake up until something happens");
}

#[test]
fn an_unfinished_line_is_shown_to_those_who_ask_and_written_on_request() {
    let mut task = served(false);
    let (mut asking, mut other) = (task.client(true), task.client(false));
    asking.send(ToTask::Watch { from: 0, pending: true });
    other.send(ToTask::Watch { from: 0, pending: false });
    task.write("Name: ");
    task.turn();
    assert_eq!((asking.grew(), other.grew()), (Some((0, vec!["Name: ".into()])), None));
    asking.send(ToTask::Watch { from: 0, pending: true });
    std::thread::sleep(INTERVAL);
    task.turn();
    assert_eq!(asking.grew(), None, "the same line");
    asking.send(ToTask::Settle);
    task.turn();
    assert_eq!(asking.grew().map(|(bytes, _)| bytes), Some(6));
    assert_eq!(other.grew(), Some((6, vec![])));
}

#[test]
fn the_end_of_the_host_is_reported_once_and_that_of_another_client_not_at_all() {
    let mut task = served(true);
    let (host, other) = (task.client(true), task.client(false));
    drop(other);
    assert_eq!(task.requests(), (false, false));
    drop(host);
    assert_eq!(task.requests(), (false, true));
    assert_eq!(task.requests(), (false, false));
    task.server.lose_host();
    assert!(task.server.has_work(), "no descriptor tells that this host is gone");
    assert_eq!(task.requests(), (false, true));
}

#[test]
fn a_message_to_the_shim_that_arrives_late_still_ends_the_task() {
    let mut task = served(false);
    let host = task.client(true);
    host.send(ToTask::End);
    assert_eq!(task.requests(), (true, false));
    for at_limit in [false, true] {
        protocol::send(&host.0, ToShim::End { at_limit }).expect("sent");
        assert_eq!(task.requests(), (true, false));
    }
    for late in [ToShim::Scan, ToShim::Acknowledged, ToShim::Release(None), ToShim::Dismiss] {
        protocol::send(&host.0, late).expect("sent");
        assert_eq!(task.requests(), (false, false));
    }
}

#[test]
fn every_message_that_arrived_together_is_served() {
    let mut task = served(false);
    let mut host = task.client(true);
    task.write("one\n");
    host.send(ToTask::Settle);
    host.send(ToTask::Watch { from: 0, pending: false });
    host.send(ToTask::End);
    assert_eq!(task.requests(), (true, false));
    assert_eq!(host.grew(), Some((4, vec![])));
    assert!(!task.server.has_work());
}

#[test]
fn clients_learn_of_the_end_once_its_state_is_written() {
    let mut task = served(true);
    let mut peers = [task.client(true), task.client(false)];
    task.write("one\nrest");
    task.turn();
    let (store, id) = (TaskStore::at(task.folder.path().join("tasks")), "t000000000001");
    assert!(store.socket_path(id).exists() && store.has_shim(id));
    let (outputs, clients) = task.server.end(TaskEnd::Code(3));
    assert_eq!((outputs.len(), clients.len()), (1, 2), "for a task of the survivors");
    let written = store.read(id).expect("valid").expect("there");
    assert_eq!((written.state, written.exit_code, written.output_bytes), (TaskState::Exited, Some(3), Some(8)));
    for peer in &mut peers {
        assert_eq!(peer.next(), Some(FromTask::Ended(Box::new(written.clone()))));
    }
    let log = std::fs::read_to_string(store.log_path(id)).expect("there");
    assert_eq!(log, "one\nrest\n[background process failed: exit code 3]\n");
    assert!(!store.socket_path(id).exists() && !store.has_shim(id), "nobody answers any more");
}

#[test]
fn another_process_reaches_a_task_that_outlives_its_host() {
    let mut task = served(true);
    let store = TaskStore::at(task.folder.path().join("tasks"));
    let stream = UnixStream::connect(store.socket_path("t000000000001")).expect("connected");
    let mut other = TaskClientPeer(stream.into(), FrameReader::default());
    task.turn();
    assert!(matches!(other.next(), Some(FromTask::Task(task)) if task.is_running()));
    other.send(ToTask::End);
    assert_eq!(task.requests(), (true, false));
    drop(other);
    assert_eq!(task.requests(), (false, false), "it is not the host");
}

#[test]
fn a_discarded_task_leaves_no_files_and_the_last_one_no_directory() {
    for others in [false, true] {
        let task = served(false);
        let folder = task.folder.path().join("tasks");
        if others {
            std::fs::write(folder.join("t000000000002.json"), "").expect("written");
        }
        task.server.discard();
        let left = std::fs::read_dir(&folder).map(|entries| entries.count()).ok();
        assert_eq!(left, others.then_some(1), "only the file of another task");
    }
}

#[test]
fn a_silent_task_is_at_its_limit_once_and_exactly() {
    const IDLE: Duration = Duration::from_secs(3_600);
    const MS: Duration = Duration::from_millis(1);
    let mut task = served_with_silence(IDLE);
    let due = task.server.wake_at().expect("a limit");
    assert!(!task.server.is_silent(false, due - MS));
    assert_eq!(task.server.silent_for(), None);
    assert!(task.server.is_silent(false, due));
    assert_eq!((task.server.silent_for(), task.server.wake_at()), (Some(IDLE), None));
    assert!(!task.server.is_silent(false, due + IDLE), "once");
}

#[test]
fn unread_output_of_a_task_ends_its_silence_even_if_all_of_it_is_removed() {
    for text in ["x\n", "\r", "\x1b[0m"] {
        let mut task = served_with_silence(Duration::from_secs(3_600));
        let due = task.server.wake_at().expect("a limit");
        task.write(text);
        assert!(!task.server.is_silent(false, due), "{text:?}");
        assert!(task.server.last_output().is_some() && task.server.silent_for().is_none(), "{text:?}");
    }
}

#[test]
fn a_task_that_is_being_terminated_or_has_exited_may_be_silent() {
    for exited in [false, true] {
        let mut task = served_with_silence(Duration::from_secs(3_600));
        let due = task.server.wake_at().expect("a limit");
        if exited {
            task.server.allow_silence();
        }
        assert!(!task.server.is_silent(!exited, due), "{exited}");
        assert_eq!((task.server.silent_for(), task.server.wake_at()), (None, None), "{exited}");
    }
}
