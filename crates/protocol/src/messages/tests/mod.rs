//! Every message arrives as it was sent, its descriptors included, and garbage is refused.

mod plans;

use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::LazyJust;

use super::frames::ProtocolMessage;
use super::*;
use crate::SurvivingProcess;
use crate::plan::{ChildPlan, CommandLimits, ShellBootCode, StdinSource, WarmShellKind, WorldId};
use crate::task::{Task, TaskSpec};
use crate::{BlockedOn, BlockedProcess};
use crate::{ExceededLimit, LimitKind};
use capture::{ProgressLineHandling, SanitizeRules};
use confine_policy::{ReportedWorldError, WorldFacts};
use plans::{limits, record, recorded};
use sys::{ChildExit, DeviceInode, LaunchError, LaunchStep, ResourceUsage, Signal, TerminalSize};

/// Sends a message over a socket and receives it.
fn sent<M: ProtocolMessage>(message: M) -> M {
    let (ours, theirs) = sys::socket_pair().expect("a socket pair");
    send(&ours, message).expect("room in the socket");
    match FrameReader::default().receive(&theirs).expect("an intact frame") {
        ReceiveOutcome::Message(message) => message,
        ReceiveOutcome::Pending | ReceiveOutcome::Closed => panic!("the message is there"),
    }
}

/// Messages hold descriptors, so the tests compare their debug output.
fn assert_arrives<M: ProtocolMessage + std::fmt::Debug>(message: M) {
    let shown = format!("{message:?}");
    assert_eq!(format!("{:?}", sent(message)), shown);
}

fn duration() -> impl Strategy<Value = Duration> {
    (0..u64::from(u32::MAX), 0..1_000_000_000_u32).prop_map(|(seconds, nanos)| Duration::new(seconds, nanos))
}

prop_compose! {
    /// A plan without descriptors. Its settings decide which pipes a command has, so the tests of descriptors have
    /// plans of their own.
    fn plan()(
        program: Vec<u8>, argv: Vec<Vec<u8>>, env: Vec<u8>, cwd: Vec<u8>, umask in 0_u32..0o777,
        script_at in proptest::option::of(0_u32..9), pipe: bool, merge: bool,
        terminal in proptest::option::of((1_u16.., 1_u16..)),
        limit in proptest::option::of(duration()), grace in duration(), limits in limits(),
        world in proptest::option::of(any::<u64>()), record in proptest::option::of(record()),
    ) -> ChildPlan {
        ChildPlan {
            program, argv, script_at, env, cwd, umask, merge, limit, grace, limits, record,
            stdin: if pipe { StdinSource::Pipe } else { StdinSource::Null },
            terminal: terminal.map(|(cols, rows)| TerminalSize { cols, rows }),
            world: world.map(WorldId),
            files: Vec::new(),
        }
    }
}

prop_compose! {
    fn spec()(
        id in ".*", folder in "(/[a-z\u{e9}]{1,8}){1,3}", command in ".*", cwd in ".*", max_log_bytes: u64,
        sanitize in proptest::option::of((any::<bool>(), any::<bool>())), detached: bool, limit_ms: u64,
        idle_ms in proptest::option::of(any::<u64>()),
    ) -> TaskSpec {
        let sanitize = sanitize.map(|(ansi, keep)| SanitizeRules {
            ansi, progress: if keep { ProgressLineHandling::Keep } else { ProgressLineHandling::Collapse },
        });
        TaskSpec { id, folder: folder.into(), command, cwd, max_log_bytes, sanitize, detached, limit_ms, idle_ms, confinement: None, draft: None, joins: false }
    }
}

prop_compose! {
    fn transfer()(spec in spec(), resume: Vec<Vec<u8>>) -> TaskTransfer {
        TaskTransfer { spec, resume }
    }
}

fn signal() -> impl Strategy<Value = Signal> {
    (1..=31_i32).prop_map(|number| Signal::from_number(number).expect("a signal of every platform"))
}

fn to_shim() -> impl Strategy<Value = ToShim> {
    prop_oneof![
        (plan(), proptest::option::of(spec())).prop_map(|(plan, task)| {
            ToShim::Run(Box::new(ShimOrder { plan, task, opening: None, descriptors: RunDescriptors::default() }))
        }),
        (signal(), any::<Option<i32>>()).prop_map(|(signal, foreground)| ToShim::Signal { signal, foreground }),
        any::<bool>().prop_map(|at_limit| ToShim::End { at_limit }),
        proptest::option::of(transfer()).prop_map(ToShim::Release),
        transfer().prop_map(|transfer| ToShim::HandOver { transfer, input: None }),
        LazyJust::new(|| ToShim::Tap { ends: None }),
        LazyJust::new(|| ToShim::HoldDraft { lock: None }),
        (plan(), any::<Vec<u8>>(), any::<Vec<u8>>(), any::<bool>()).prop_map(|(plan, early, late, recorded)| {
            let kind = WarmShellKind { plan, boot: ShellBootCode { early: early.into(), late: late.into() }, recorded };
            ToShim::Prepare { kind: Box::new(kind), files: Vec::new() }
        }),
        (proptest::option::of(duration()), duration(), any::<u64>()).prop_map(|(limit, grace, at)| ToShim::WarmStart(
            WarmCommandStart { limit, grace, at, opening: None, record: None }
        )),
        proptest::option::of(record()).prop_map(|record| ToShim::Protect(record.map(Box::new))),
        LazyJust::new(|| ToShim::Dismiss),
        LazyJust::new(|| ToShim::Scan),
        LazyJust::new(|| ToShim::Acknowledged),
    ]
}

fn exceeded() -> impl Strategy<Value = ExceededLimit> {
    let kind = prop_oneof![Just(LimitKind::Cpu), Just(LimitKind::Memory), Just(LimitKind::Processes)];
    (kind, any::<u64>(), any::<u64>()).prop_map(|(limit, used, allowed)| ExceededLimit { limit, used, allowed })
}

fn cause() -> impl Strategy<Value = TerminationCause> {
    let plain = [
        TerminationCause::Itself,
        TerminationCause::Limit,
        TerminationCause::Abort,
        TerminationCause::Host,
        TerminationCause::Supervisor,
    ];
    prop_oneof![proptest::sample::select(plain.to_vec()), exceeded().prop_map(TerminationCause::LimitExceeded)]
}

prop_compose! {
    fn ended()(
        signalled: bool, value: i32, user_us: u64, system_us: u64, max_rss: u64, duration in duration(),
        cause in cause(), alive: bool, last: bool, record in recorded(),
    ) -> ShellExitReport {
        let end = if signalled { ChildExit::Signal(value) } else { ChildExit::Code(value) };
        ShellExitReport { end, usage: ResourceUsage { user_us, system_us, max_rss }, duration, cause, alive, last, record, unwritten: None }
    }
}

fn blocked_on() -> impl Strategy<Value = BlockedOn> {
    prop_oneof![
        any::<i32>().prop_map(BlockedOn::Terminal),
        any::<i32>().prop_map(BlockedOn::Pipe),
        (any::<i32>(), ".*").prop_map(|(fd, path)| BlockedOn::Fifo(fd, path)),
        ".*".prop_map(BlockedOn::Writer),
        ".*".prop_map(BlockedOn::Reader),
        any::<bool>().prop_map(BlockedOn::Continue),
        Just(BlockedOn::Unknown),
    ]
}

prop_compose! {
    fn blocked()(pid: i32, command in ".*", on in blocked_on(), others: u32, sure: bool) -> BlockedProcess {
        BlockedProcess { pid, command, on, others, sure }
    }
}

prop_compose! {
    fn survivor()(pid: i32, command in ".*", holds: bool) -> SurvivingProcess {
        SurvivingProcess { pid, command, holds }
    }
}

fn from_shim() -> impl Strategy<Value = FromShim> {
    use LaunchStep::{Chdir, Exec, Files, Fork, Group, Limits, Record, Stdio};
    let step = proptest::sample::select(vec![Fork, Chdir, Exec, Stdio, Limits, Files, Group, Record]);
    prop_oneof![
        any::<i32>().prop_map(FromShim::Started),
        Just(()).prop_map(|()| FromShim::WorldGone),
        (step, any::<i32>()).prop_map(|(step, errno)| FromShim::Failed(LaunchError { step, errno })),
        ended().prop_map(FromShim::Ended),
        exceeded().prop_map(FromShim::LimitExceeded),
        (any::<bool>(), proptest::option::of(blocked()))
            .prop_map(|(at_limit, process)| FromShim::Blocked { at_limit, process }),
        (proptest::collection::vec(survivor(), 0..4), plans::recorded())
            .prop_map(|(survivors, record)| FromShim::Released(ReleasedSurvivors { survivors, record })),
        any::<i32>().prop_map(FromShim::Refused),
        (".*", any::<Option<[u64; 6]>>()).prop_map(|(mark, place)| {
            let place = place.map(|[shell, command, a, b, c, d]| WarmCommandPlace {
                shell: shell as i32,
                command,
                directory: DeviceInode { device: a, inode: b },
                program: DeviceInode { device: c, inode: d },
            });
            FromShim::Prepared(WarmShellReport { mark, place, guards: 0, fresh: 0, ends: WarmShellEnds::default() })
        }),
    ]
}

fn to_supervisor() -> impl Strategy<Value = ToSupervisor> {
    prop_oneof![
        proptest::option::of(any::<u64>()).prop_map(|id| ToSupervisor::WantShim { world: id.map(WorldId) }),
        any::<u64>().prop_map(|id| ToSupervisor::EndWorld(WorldId(id))),
        any::<i32>().prop_map(ToSupervisor::EndShim),
        ".*".prop_map(|path| ToSupervisor::RemoveAtEnd(path.into())),
        ".*".prop_map(|path| ToSupervisor::AlreadyRemoved(path.into())),
    ]
}

fn from_supervisor() -> impl Strategy<Value = FromSupervisor> {
    prop_oneof![
        (any::<i32>(), any::<Option<String>>()).prop_map(|(pid, group)| FromSupervisor::Shim {
            pid,
            world: None,
            group: group.map(Into::into),
            socket: None
        }),
        any::<i32>().prop_map(|errno| FromSupervisor::NoShim { world: None, errno }),
        any::<u64>().prop_map(|id| FromSupervisor::world(
            WorldId(id),
            Ok(WorldFacts::default()),
            WorldEntryPoints::default()
        )),
        (any::<u64>(), ".*", any::<i32>()).prop_map(|(id, step, errno)| FromSupervisor::world(
            WorldId(id),
            Err(ReportedWorldError::Step { step, errno }),
            WorldEntryPoints::default(),
        )),
    ]
}

fn to_task() -> impl Strategy<Value = ToTask> {
    prop_oneof![
        (any::<u64>(), any::<bool>()).prop_map(|(from, pending)| ToTask::Watch { from, pending }),
        Just(ToTask::Settle),
        Just(ToTask::End),
    ]
}

fn from_task() -> impl Strategy<Value = FromTask> {
    let task = || spec().prop_map(|spec| Box::new(Task::begin(&spec, 7, 7, "m", 1)));
    prop_oneof![
        task().prop_map(FromTask::Task),
        task().prop_map(FromTask::Ended),
        (any::<u64>(), any::<Vec<String>>()).prop_map(|(bytes, pending)| FromTask::Grew { bytes, pending }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn messages_to_a_shim_arrive_as_sent(message in to_shim()) {
        assert_arrives(message);
    }

    #[test]
    fn messages_from_a_shim_arrive_as_sent(message in from_shim()) {
        assert_arrives(message);
    }

    #[test]
    fn messages_to_and_from_the_supervisor_arrive_as_sent(to in to_supervisor(), from in from_supervisor()) {
        assert_arrives(to);
        assert_arrives(from);
    }

    #[test]
    fn messages_to_and_from_a_task_server_arrive_as_sent(to in to_task(), from in from_task()) {
        assert_arrives(to);
        assert_arrives(from);
    }

    #[test]
    fn a_damaged_message_is_refused_and_never_panics(
        to in to_shim(), from in from_shim(), at: prop::sample::Index, flip in 1_u8.., cut: prop::sample::Index,
    ) {
        for (bytes, _) in [encode(to), encode(from)].into_iter().flatten() {
            let mut flipped = bytes.clone();
            flipped[at.index(bytes.len())] ^= flip;
            garbage(&flipped);
            garbage(&bytes[..cut.index(bytes.len())]);
        }
    }

    #[test]
    fn garbage_is_refused_and_never_panics(bytes: Vec<u8>, task: bool) {
        let protocol = if task { TASK_PROTOCOL } else { BUILD };
        let length = u32::try_from(bytes.len()).expect("short");
        garbage(&bytes);
        let header = [length.to_le_bytes(), protocol.to_le_bytes()].concat();
        garbage(&[&header[..], &[0], &bytes].concat());
    }
}

/// Lets every receiver decode these bytes.
fn garbage(bytes: &[u8]) {
    fn read<T: super::frames::DecodeFrame>(bytes: &[u8]) {
        let (ours, theirs) = sys::socket_pair().expect("a socket pair");
        std::fs::File::from(ours).write_all(bytes).expect("room in the socket");
        let mut reader = FrameReader::default();
        while let Ok(ReceiveOutcome::Message(message)) = reader.receive::<T>(&theirs) {
            drop(message);
        }
    }
    read::<ToShim>(bytes);
    read::<FromShimOrTask>(bytes);
    read::<ToSupervisor>(bytes);
    read::<FromSupervisor>(bytes);
    read::<FromTaskClient>(bytes);
}

fn inode(fd: &impl AsFd) -> u64 {
    nix::sys::stat::fstat(fd.as_fd()).expect("an open descriptor").st_ino
}

fn plain_plan() -> ChildPlan {
    ChildPlan {
        program: b"/bin/sh".to_vec(),
        argv: Vec::new(),
        script_at: None,
        env: Vec::new(),
        cwd: b"/".to_vec(),
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
    }
}

#[test]
fn each_descriptor_arrives_in_its_place() {
    for (pipe, merge, script, task) in
        [(true, false, true, true), (false, true, false, false), (true, true, false, true), (false, false, true, false)]
    {
        let file = || sys::anonymous_file(b"x").expect("a file");
        let end = || sys::pipe().expect("a pipe").0;
        let descriptors = RunDescriptors {
            terminal: None,
            stdin: pipe.then(end),
            outputs: (0..if merge { 1 } else { 2 }).map(|_| OutputPipe { write: end(), read: end() }).collect(),
            script: script.then(file),
            files: Vec::new(),
            input: task.then(|| TaskInput { pipe: end(), rest: file() }),
        };
        let plan = ChildPlan {
            stdin: if pipe { StdinSource::Pipe } else { StdinSource::Null },
            merge,
            script_at: script.then_some(1),
            ..plain_plan()
        };
        let inodes = |of: &RunDescriptors| {
            let one = |fd: &Option<OwnedFd>| fd.as_ref().map(inode);
            let outputs: Vec<_> = of.outputs.iter().map(|pipe| (inode(&pipe.write), inode(&pipe.read))).collect();
            let input = of.input.as_ref().map(|input| (inode(&input.pipe), inode(&input.rest)));
            (one(&of.terminal), one(&of.stdin), outputs, one(&of.script), input)
        };
        let before = inodes(&descriptors);
        let ToShim::Run(run) = sent(ToShim::Run(Box::new(ShimOrder { plan, task: None, opening: None, descriptors })))
        else {
            panic!("a command was sent")
        };
        assert_eq!(inodes(&run.descriptors), before);
    }
}

#[test]
fn a_command_without_its_descriptors_has_none_rather_than_wrong_ones() {
    let plan = ChildPlan { stdin: StdinSource::Pipe, ..plain_plan() };
    let one = sys::pipe().expect("a pipe").0;
    assert!(RunDescriptors::of(&plan, vec![one]).is_none());
}

#[test]
fn a_message_may_arrive_in_pieces_and_several_at_once() {
    let (ours, theirs) = sys::socket_pair().expect("a socket pair");
    let (end, _) = encode(ToShim::End { at_limit: true }).expect("encoded");
    let (scan, _) = encode(ToShim::Scan).expect("encoded");
    let both = [end, scan].concat();
    let mut reader = FrameReader::default();
    let mut socket = std::fs::File::from(ours);
    for byte in &both[..both.len() - 1] {
        socket.write_all(&[*byte]).expect("room in the socket");
    }
    let Ok(ReceiveOutcome::Message(ToShim::End { at_limit: true })) = reader.receive(&theirs) else {
        panic!("the first one")
    };
    let Ok(ReceiveOutcome::Pending) = reader.receive::<ToShim>(&theirs) else {
        panic!("the second one is not whole yet")
    };
    socket.write_all(&both[both.len() - 1..]).expect("room in the socket");
    let Ok(ReceiveOutcome::Message(ToShim::Scan)) = reader.receive(&theirs) else { panic!("the second one") };
    drop(socket);
    let Ok(ReceiveOutcome::Closed) = reader.receive::<ToShim>(&theirs) else { panic!("the end") };
}

/// Processes of other releases read and write these bytes. A change to them has to increase [`TASK_PROTOCOL`].
#[test]
fn the_messages_of_a_task_are_encoded_as_ever() {
    let bytes = |message: ToTask| encode(message).expect("encoded").0;
    assert_eq!(TASK_PROTOCOL, 2);
    assert_eq!(bytes(ToTask::Watch { from: 300, pending: true }), [4, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0xac, 2, 1]);
    assert_eq!(bytes(ToTask::Settle), [1, 0, 0, 0, 2, 0, 0, 0, 0, 1]);
    assert_eq!(bytes(ToTask::End), [1, 0, 0, 0, 2, 0, 0, 0, 0, 2]);
    let grew = encode(FromTask::Grew { bytes: 1, pending: vec!["a".into()] }).expect("encoded").0;
    assert_eq!(grew, [5, 0, 0, 0, 2, 0, 0, 0, 0, 2, 1, 1, 1, b'a']);
}

#[test]
fn a_build_speaks_with_itself_alone() {
    let (mut bytes, _) = encode(ToShim::Scan).expect("encoded");
    bytes[4] ^= 1;
    let (ours, theirs) = sys::socket_pair().expect("a socket pair");
    std::fs::File::from(ours).write_all(&bytes).expect("room in the socket");
    assert!(FrameReader::default().receive::<ToShim>(&theirs).is_err());
}
