use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::control::{GateAnswer, GateControl, GateRequest, LARGEST, receive, send_answer};
use super::refusals::largest;

#[test]
fn an_answer_goes_to_its_asker() {
    let (ours, theirs) = sys::packet_pair().expect("a pair");
    let control = GateControl::new(ours);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| control.listens(80));
        poll(&mut [PollFd::new(theirs.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE).expect("a question");
        let (request, socket) = receive(theirs.as_fd()).expect("a request");
        assert_eq!(request, GateRequest::Listens(80));
        send_answer(&socket, &GateAnswer::Listens(true));
        assert!(asked.join().expect("no panic").expect("an answer"));
    });
}

#[test]
fn a_gate_that_is_gone_is_an_error() {
    let (ours, theirs) = sys::packet_pair().expect("a pair");
    drop(theirs);
    assert!(GateControl::new(ours).take(None).is_err());
}

#[test]
fn the_largest_answer_fits() {
    let refusals = largest();
    let (ours, theirs) = sys::packet_pair().expect("a pair");
    send_answer(&theirs, &GateAnswer::Taken(refusals.clone()));
    let mut buffer = vec![0; LARGEST];
    let length = sys::receive(ours.as_fd(), &mut buffer, &mut Vec::new()).expect("an answer");
    assert_eq!(postcard::from_bytes::<GateAnswer>(&buffer[..length]).expect("decoded"), GateAnswer::Taken(refusals));
}
