//! A command whose shim is the test.

use super::*;
use protocol::plan::ChangeJournalOutcome;
use protocol::{ReleasedSurvivors, WarmShellEnds, WarmShellReport};
use std::time::Duration;
use sys::{ChildExit, LaunchStep, ResourceUsage};

/// Returns a command, and the shim's end of its socket.
fn child() -> (ShimCommand, OwnedFd) {
    let (ours, theirs) = sys::socket_pair().expect("sockets");
    sys::set_nonblocking(&ours).expect("set");
    (SentPlan::nothing(ShimHandle::new(7, ours)).follow().expect("followed"), theirs)
}

fn ended() -> ShellExitReport {
    let (usage, duration, record) = (ResourceUsage::default(), Duration::from_millis(3), ChangeJournalOutcome::Off);
    ShellExitReport {
        end: ChildExit::Code(3),
        usage,
        duration,
        cause: protocol::TerminationCause::Itself,
        alive: true,
        last: false,
        record,
        unwritten: None,
    }
}

fn prepared() -> FromShim {
    FromShim::Prepared(WarmShellReport {
        mark: "m".into(),
        place: None,
        guards: 0,
        fresh: 0,
        ends: WarmShellEnds::default(),
    })
}

#[tokio::test]
async fn every_report_of_a_shim_reaches_the_caller_in_order() {
    let (mut child, shim) = child();
    let failure = LaunchError { step: LaunchStep::Exec, errno: 2 };
    let report = |message| protocol::send(&shim, message).expect("sent");
    report(FromShim::Started(9));
    report(FromShim::Failed(failure));
    report(FromShim::Blocked { at_limit: true, process: None });
    report(FromShim::Ended(ended()));
    report(FromShim::Refused(28));
    report(FromShim::Released(ReleasedSurvivors::default()));
    assert!(matches!(child.next_event().await, ShimEvent::Started(9)));
    assert!(matches!(child.next_event().await, ShimEvent::Failed(error) if error == failure));
    assert!(matches!(child.next_event().await, ShimEvent::Blocked(true, None)));
    assert!(matches!(child.next_event().await, ShimEvent::Ended(end) if end == ended()));
    assert!(matches!(child.next_event().await, ShimEvent::Refused(28)));
    assert!(
        matches!(child.next_event().await, ShimEvent::Released(released) if released == ReleasedSurvivors::default())
    );
    assert!(child.try_next_event().is_none());
}

#[tokio::test]
async fn a_report_about_an_earlier_warm_shell_is_no_event_of_a_command() {
    let (mut child, shim) = child();
    protocol::send(&shim, prepared()).expect("sent");
    protocol::send(&shim, FromShim::Started(9)).expect("sent");
    assert!(matches!(child.next_event().await, ShimEvent::Started(9)));
    child.set_prepares();
    protocol::send(&shim, prepared()).expect("sent");
    assert!(matches!(child.next_event().await, ShimEvent::Prepared(mark, None) if mark == "m"));
}

#[tokio::test]
async fn only_a_shim_that_leaves_its_plan_unread_has_started_nothing() {
    for (unread, started, expected) in [(true, false, true), (true, true, false), (false, false, false)] {
        let (mut child, shim) = child();
        if started {
            child.set_started();
        }
        if unread {
            child.request_scan();
        }
        drop(shim);
        let event = child.next_event().await;
        assert!(matches!(event, ShimEvent::Lost { untaken } if untaken == expected), "{unread} {started}: {event:?}");
    }
}

#[tokio::test]
async fn a_plan_that_does_not_fit_into_the_socket_is_sent_as_the_shim_reads() {
    let (ours, shim) = sys::socket_pair().expect("sockets");
    sys::set_nonblocking(&ours).expect("set");
    let bytes = vec![7_u8; 4 << 20];
    let sent = SentPlan { shim: ShimHandle::new(7, ours), rest: bytes.clone(), fds: Vec::new(), watched: None };
    let mut child = sent.follow().expect("followed");
    let reader = tokio::task::spawn_blocking(move || {
        let mut read = vec![0; 4 << 20];
        std::io::Read::read_exact(&mut std::fs::File::from(shim.try_clone().expect("cloned")), &mut read)
            .expect("read");
        protocol::send(&shim, FromShim::Started(9)).expect("sent");
        read == bytes
    });
    assert!(matches!(child.next_event().await, ShimEvent::Started(9)));
    assert!(reader.await.expect("no panic"));
}
