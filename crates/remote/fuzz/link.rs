//! A fuzz target: what a host reads of a machine that lies, from the bytes of a link to the messages in them. It needs
//! the feature `fuzz`; `node scripts/stress.mjs fuzz` builds and runs it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use remote::{GreetingFromProgram, TargetEvent, decode, encode};
use wire::{FrameKind, Mailbox, WireFrameReader};

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (step, bytes) = input;
    read_message(&bytes);
    // Any error ends a link.
    let _broken = read_link(&bytes, usize::from(step) + 1);
});

/// Reads the bytes of a link, which arrive in parts of this length.
fn read_link(bytes: &[u8], step: usize) -> Result<(), Box<dyn std::error::Error>> {
    let (mut frames, mut mailbox) = (WireFrameReader::default(), Mailbox::default());
    for part in bytes.chunks(step) {
        frames.push(part);
        while let Some(frame) = frames.next_frame()? {
            if frame.kind == FrameKind::Greeting {
                decode::<GreetingFromProgram>(&frame.payload)?;
            } else if let Some(message) = mailbox.receive(frame)? {
                read_message(&message.payload);
            }
        }
    }
    Ok(())
}

/// Reads an event, which has to be the same when it is sent again.
fn read_message(payload: &[u8]) {
    let Ok(event) = decode::<TargetEvent>(payload) else { return };
    let Ok(sent) = encode(&event) else { return };
    let again = decode::<TargetEvent>(&sent).ok().and_then(|event| encode(&event).ok());
    assert_eq!(again, Some(sent), "{event:?}");
}
