use proptest::prelude::*;

use super::*;

/// One side with what its present link has brought.
#[derive(Default)]
struct MailboxSide {
    mailbox: Mailbox,
    frames: WireFrameReader,
    arrived: Vec<MailboxMessage>,
}

impl MailboxSide {
    fn written(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        while self.mailbox.encode_next(&mut bytes) {}
        if self.mailbox.owes_acknowledgment() {
            self.mailbox.beat_frame(Vec::new()).encode(&mut bytes);
        }
        bytes
    }

    fn read(&mut self, bytes: &[u8]) {
        self.frames.push(bytes);
        while let Some(frame) = self.frames.next_frame().expect("frames of ours") {
            self.arrived.extend(self.mailbox.receive(frame).expect("the next frame"));
        }
    }
}

/// Cuts the link: what was not read is lost, and both sides continue over a new one.
fn cut(sides: &mut [MailboxSide; 2]) {
    let received = [0, 1].map(|side| sides[side].mailbox.last_received());
    for (side, peer) in [(0, 1), (1, 0)] {
        sides[side].frames = WireFrameReader::default();
        sides[side].mailbox.resume(received[peer]).expect("a number that waits");
    }
}

/// Lets bytes of each side arrive on the other one, up to this many of each.
fn pass(sides: &mut [MailboxSide; 2], most: usize) {
    for (from, to) in [(0, 1), (1, 0)] {
        let bytes = sides[from].written();
        sides[to].read(&bytes[..bytes.len().min(most)]);
    }
}

#[derive(Debug, Clone)]
enum LinkStep {
    Post(usize, u64, usize),
    /// A link that carries this many bytes each way and is cut then.
    CutAfter(usize),
    Pass,
}

fn step() -> impl Strategy<Value = LinkStep> {
    prop_oneof![
        4 => (0_usize..2, 0_u64..5, prop_oneof![9 => 0_usize..300, 1 => 0..3 * MAX_PAYLOAD])
            .prop_map(|(side, run, length)| LinkStep::Post(side, run, length)),
        2 => prop_oneof![0_usize..400, 0..2 * MAX_PAYLOAD].prop_map(LinkStep::CutAfter),
        1 => Just(LinkStep::Pass),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn each_message_arrives_once_and_in_order_through_any_cuts(steps in proptest::collection::vec(step(), 0..60)) {
        let mut sides = [MailboxSide::default(), MailboxSide::default()];
        let mut posted = [Vec::new(), Vec::new()];
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                LinkStep::Post(side, run, length) => {
                    let payload = vec![u8::try_from(number).unwrap_or(0); length];
                    sides[side].mailbox.post(run, &payload).expect("room");
                    posted[1 - side].push(MailboxMessage { run, payload });
                }
                LinkStep::CutAfter(most) => {
                    pass(&mut sides, most);
                    cut(&mut sides);
                }
                // Bytes that were written and not cut arrive in full.
                LinkStep::Pass => pass(&mut sides, usize::MAX),
            }
        }
        pass(&mut sides, usize::MAX);
        pass(&mut sides, usize::MAX);
        for (side, posted) in sides.iter().zip(posted) {
            prop_assert_eq!(&side.arrived, &posted);
            prop_assert_eq!(side.mailbox.waiting_bytes(), 0);
            prop_assert!(!side.mailbox.owes_acknowledgment());
        }
    }
}

fn numbered(kind: FrameKind, run: u64, number: u64, acked: u64) -> WireFrame {
    WireFrame { kind, run, number, acked, payload: vec![0] }
}

#[test]
fn frames_that_no_program_of_ours_sends_are_refused() {
    let after_one = || {
        let mut mailbox = Mailbox::default();
        mailbox.post(1, b"x").expect("room");
        mailbox.encode_next(&mut Vec::new());
        mailbox.receive(numbered(FrameKind::Part, 1, 1, 1)).expect("the first frame");
        mailbox
    };
    for (frame, error) in [
        (numbered(FrameKind::Message, 1, 1, 0), WireError::Number { expected: 2, found: 1 }),
        (numbered(FrameKind::Message, 1, 3, 0), WireError::Number { expected: 2, found: 3 }),
        (numbered(FrameKind::Message, 2, 2, 0), WireError::Run { expected: 1, found: 2 }),
        (numbered(FrameKind::Beat, 0, 0, 2), WireError::Acknowledged(2)),
    ] {
        assert_eq!(after_one().receive(frame), Err(error));
    }
    assert_eq!(after_one().resume(2), Err(WireError::Acknowledged(2)));
    assert_eq!(after_one().resume(0), Err(WireError::Acknowledged(0)));
    assert_eq!(after_one().resume(1), Ok(()));
}

#[test]
fn memory_is_bounded_in_both_directions() {
    let mut mailbox = Mailbox::default();
    assert_eq!(mailbox.post(1, &vec![0; MAX_MESSAGE + 1]), Err(WireError::Message));
    let part = |number| WireFrame { payload: vec![0; MAX_PAYLOAD], ..numbered(FrameKind::Part, 1, number, 0) };
    let refused = (1..).find_map(|number| mailbox.receive(part(number)).err().map(|error| (number, error)));
    let most = MAX_MESSAGE / MAX_PAYLOAD;
    assert_eq!(refused, Some((most as u64 + 1, WireError::Message)));

    let mut mailbox = Mailbox::default();
    let refused = (1..).find_map(|_| mailbox.post(1, &vec![0; MAX_MESSAGE]).err());
    assert_eq!(refused, Some(WireError::Waiting));
    assert!(mailbox.waiting_bytes() <= MAX_WAITING + MAX_WAITING / 1000);
    while mailbox.post(2, &[0; 1000]).is_ok() {}
    // What the other side waits for still fits.
    for _ in 0..10_000 {
        assert_eq!(mailbox.post_vital(2, &[0; 1000]), Ok(()));
        assert_eq!(mailbox.post(2, &[0; 1000]), Err(WireError::Waiting));
    }
    let refused = (1..).find_map(|_| mailbox.post_vital(2, &vec![0; MAX_MESSAGE / 8]).err());
    assert_eq!(refused, Some(WireError::Waiting));
    assert!(mailbox.waiting_bytes() <= MAX_WAITING + HEADROOM + MAX_WAITING / 1000);
}
