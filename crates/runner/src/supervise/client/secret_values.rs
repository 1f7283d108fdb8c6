//! Answers the gates of worlds, which ask for the values of secrets.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use tokio::io::Interest;

use confine_policy::{ValueAnswer, ValueQuestion, value_of};

/// The largest question, in bytes: a stand-in is as long as its value.
const LARGEST: usize = 64 * 1024 + 64;

/// Answers the questions of a gate until it ends.
pub async fn answer_gate(gate: OwnedFd) {
    // A gate that gets no answer refuses the request and says why.
    let _ = answer_questions(gate).await;
}

async fn answer_questions(gate: OwnedFd) -> io::Result<()> {
    let gate = sys::watch(gate, Interest::READABLE)?;
    let mut buffer = vec![0; LARGEST];
    loop {
        let mut ready = gate.readable().await?;
        let mut sockets = Vec::new();
        let Ok(received) = ready.try_io(|gate| sys::receive(gate.as_fd(), &mut buffer, &mut sockets)) else { continue };
        let length = received?;
        if length == 0 {
            return Ok(());
        }
        let question: Result<ValueQuestion, _> = postcard::from_bytes(&buffer[..length]);
        let answer: ValueAnswer = match question {
            Ok(ValueQuestion { stand_in }) => value_of(&stand_in),
            Err(_) => Err("the gate's question makes no sense".to_owned()),
        };
        if let (Some(socket), Ok(bytes)) = (sockets.pop(), postcard::to_allocvec(&answer)) {
            let _ = sys::send(socket.as_fd(), &bytes, &[]);
        }
    }
}
