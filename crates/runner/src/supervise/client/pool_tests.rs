//! Free shims whose other end is the test.

use super::*;
use protocol::plan::{ChildPlan, CommandLimits, ShellBootCode, StdinSource};
use protocol::{WarmCommandPlace, WarmShellEnds, WarmShellReport};
use sys::DeviceInode;

/// The shim's end of a socket.
struct ShimPeer(OwnedFd, FrameReader);

impl ShimPeer {
    fn next(&mut self) -> Option<ToShim> {
        match self.1.receive(&self.0) {
            Ok(ReceiveOutcome::Message(message)) => Some(message),
            _ => None,
        }
    }

    fn is_dropped(&mut self) -> bool {
        matches!(self.1.receive::<ToShim>(&self.0), Ok(ReceiveOutcome::Closed) | Err(_))
    }

    /// Returns the mark of the shell that the pool has asked for.
    fn prepares(&mut self) -> String {
        let Some(ToShim::Prepare { kind, .. }) = self.next() else { panic!("no shell was asked for") };
        let env = String::from_utf8(kind.plan.env).expect("text");
        env.rsplit('=').next().expect("a mark").trim_end_matches('\0').to_owned()
    }

    /// Reports a shell with this mark.
    fn report(&self, mark: &str, ready: bool) {
        let file = DeviceInode::of(std::path::Path::new("/")).expect("a file");
        let place = ready.then_some(WarmCommandPlace { shell: 1, command: 0, directory: file, program: file });
        let resume = ready.then(|| sys::pipe().expect("a pipe").1);
        let ends = WarmShellEnds { resume, streams: Vec::new(), freshness: Vec::new() };
        protocol::send(
            &self.0,
            FromShim::Prepared(WarmShellReport { mark: mark.to_owned(), place, guards: 0, fresh: 0, ends }),
        )
        .expect("sent");
    }
}

fn shim(pid: i32) -> (ShimHandle, ShimPeer) {
    let (ours, theirs) = sys::socket_pair().expect("sockets");
    sys::set_nonblocking(&ours).expect("set");
    sys::set_nonblocking(&theirs).expect("set");
    (ShimHandle::new(pid, ours), ShimPeer(theirs, FrameReader::default()))
}

/// Returns a pool with these shims, the most recently used one last.
fn pool(pids: [i32; 2]) -> (ShimPool, [ShimPeer; 2]) {
    let mut pool = ShimPool::default();
    let peers = pids.map(|pid| {
        let (shim, peer) = shim(pid);
        pool.add(shim);
        peer
    });
    (pool, peers)
}

fn kind(cwd: &str) -> Arc<WarmShellKind> {
    let plan = ChildPlan {
        program: b"/bin/bash".to_vec(),
        argv: vec![b"bash".to_vec()],
        script_at: None,
        env: Vec::new(),
        cwd: cwd.into(),
        umask: 0,
        stdin: StdinSource::Null,
        merge: false,
        terminal: None,
        limit: None,
        grace: Duration::ZERO,
        limits: CommandLimits::default(),
        world: None,
        files: Vec::new(),
        record: None,
    };
    Arc::new(WarmShellKind { plan, boot: ShellBootCode::default(), recorded: false })
}

#[test]
fn of_too_many_shims_the_oldest_without_a_shell_is_dropped() {
    let (mut pool, [mut first, mut second]) = pool([1, 2]);
    pool.prepare(1, kind("/"));
    first.prepares();
    let (third, mut peer) = shim(3);
    pool.add(third);
    assert_eq!(pool.count(), KEEP);
    assert!(second.is_dropped() && !first.is_dropped() && !peer.is_dropped(), "the first has a shell");
    pool.prepare(3, kind("/"));
    let (fourth, _peer) = shim(4);
    pool.add(fourth);
    assert_eq!(pool.count(), KEEP);
    assert!(!first.is_dropped(), "the new one is the only one without a shell");
}

#[test]
fn of_shims_that_all_have_a_shell_the_oldest_is_dropped() {
    let (mut pool, [mut first, mut second]) = pool([1, 2]);
    pool.prepare(1, kind("/a"));
    pool.prepare(2, kind("/b"));
    let (mut third, _peer) = shim(3);
    third.prepare(kind("/c"));
    pool.add(third);
    first.prepares();
    second.prepares();
    assert!(first.is_dropped() && !second.is_dropped());
}

#[test]
fn a_shim_is_taken_once_the_last_one_first_and_none_that_is_gone() {
    let (mut pool, [_first, second]) = pool([1, 2]);
    let (third, _peer) = shim(3);
    drop(second);
    assert_eq!(pool.take(None).map(|shim| shim.pid), Some(1), "the other one is gone");
    assert!(pool.take(None).is_none());
    pool.add(third);
    let (fourth, _peer) = shim(4);
    pool.add(fourth);
    assert_eq!([(); 3].map(|()| pool.take(None).map(|shim| shim.pid)), [Some(4), Some(3), None]);
}

#[test]
fn a_shell_is_taken_by_a_command_of_its_kind_once_it_is_ready() {
    let (mut pool, [mut first, _second]) = pool([1, 2]);
    let here = kind("/here");
    pool.prepare(1, Arc::clone(&here));
    let mark = first.prepares();
    assert_eq!(pool.shells().waiting, 1);
    let shim = pool.take(Some(&here)).expect("a shim");
    assert_eq!((shim.pid, shim.shell.is_none()), (2, true), "no command waits for a shell");
    pool.add(shim);
    first.report("another shell", false);
    first.report(&mark, true);
    assert_eq!(pool.take(Some(&kind("/there"))).map(|shim| shim.pid), Some(2), "another kind");
    let mut shim = pool.take(Some(&here)).expect("a shim");
    assert_eq!(shim.pid, 1);
    assert_eq!(shim.take_ready(&here).map(|(ready, of, _)| (ready.shell(), of)), Some((1, mark)));
    assert!(shim.take_ready(&here).is_none(), "taken");
}

#[test]
fn a_shell_that_has_failed_is_forgotten_and_its_shim_kept() {
    let (mut pool, [mut first, _second]) = pool([1, 2]);
    let here = kind("/here");
    pool.prepare(1, Arc::clone(&here));
    let mark = first.prepares();
    first.report(&mark, false);
    assert_eq!(pool.take(Some(&here)).map(|shim| shim.pid), Some(2));
    assert_eq!((pool.shells().waiting, pool.count()), (0, 1));
}

#[test]
fn a_kind_has_one_shell_and_a_shim_one_kind() {
    let (mut pool, [mut first, mut second]) = pool([1, 2]);
    let (here, there) = (kind("/here"), kind("/there"));
    pool.prepare_any(&here);
    pool.prepare_any(&here);
    pool.prepare(1, Arc::clone(&there));
    pool.prepare_any(&there);
    first.prepares();
    second.prepares();
    assert!(first.next().is_none() && second.next().is_none());
    assert_eq!(pool.take_any(&there).map(|shim| shim.pid), Some(2));
    assert!(pool.take_any(&there).is_none());
}

#[test]
fn a_dismissed_shell_is_ended_and_the_others_stay() {
    let (mut pool, [mut first, mut second]) = pool([1, 2]);
    pool.prepare(1, kind("/here"));
    pool.prepare(2, kind("/there"));
    first.prepares();
    second.prepares();
    pool.dismiss(|shell| shell.kind.plan.cwd == b"/here");
    assert!(matches!(first.next(), Some(ToShim::Dismiss)) && second.next().is_none());
    assert_eq!(pool.shells().waiting, 1);
    pool.dismiss(PooledShell::is_old);
    assert!(second.next().is_none(), "a new one");
}

#[test]
fn a_kind_deserves_a_shell_from_its_second_command_on_unless_it_was_long_ago() {
    let mut pool = ShimPool::default();
    let here = kind("/here");
    assert!(!pool.on_command_of(&here) && pool.on_command_of(&here) && pool.on_command_of(&here));
    (1..SEEN).for_each(|other| assert!(!pool.on_command_of(&kind(&format!("/{other}")))));
    assert!(pool.on_command_of(&here), "the last that is remembered");
    pool.on_command_of(&kind("/one-more"));
    assert!(!pool.on_command_of(&here));
}

#[test]
fn a_system_that_refuses_warm_shells_gets_none() {
    let (mut pool, [mut first, mut second]) = pool([1, 2]);
    let here = kind("/here");
    pool.on_command_of(&here);
    pool.count_stale_shell(StaleShellReason::Gone);
    assert!(pool.can_warm_shells() && pool.on_command_of(&here));
    pool.count_stale_shell(StaleShellReason::Refused);
    pool.count_stale_shell(StaleShellReason::Gone);
    assert!(!pool.can_warm_shells() && !pool.on_command_of(&here));
    pool.prepare_any(&here);
    assert!(first.next().is_none() && second.next().is_none());
    assert_eq!(pool.shells(), WarmShellCounts { waiting: 0, used: 0, stale: 3 });
}
