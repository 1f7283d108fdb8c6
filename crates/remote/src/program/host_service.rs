//! Serves one host: over its link, and without one until the lease ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::{Instant, sleep_until};

use super::installed_program::InstalledProgram;
use super::link_handover_socket::{HandedOverLink, LinkHandoverSocket};
use super::machine_load::measure_load;
use super::program_runs::ProgramRuns;
use crate::frame_link::{FrameLink, LinkEnd, carry_frames};
use crate::link_mailbox::LinkMailbox;
use crate::messages::{GreetingFromProgram, LeaseTerms};

/// Serves the host until it says goodbye, breaks the protocol, or is away for longer than the lease. `umask`: the mode
/// mask of commands. Returns whether the program is to remove itself.
pub async fn serve(link: FrameLink, door: &LinkHandoverSocket, begin: LeaseTerms, umask: u32) -> bool {
    if let Some(installed) = InstalledProgram::own() {
        installed.mark_used();
    }
    let post = Arc::new(LinkMailbox::telling(measure_load));
    let runs = ProgramRuns::new(Arc::clone(&post), umask);
    serve_runs(link, door, begin, &post, &runs).await;
    runs.give_requests_up().await
}

async fn serve_runs(
    link: FrameLink,
    door: &LinkHandoverSocket,
    begin: LeaseTerms,
    post: &LinkMailbox,
    runs: &Arc<ProgramRuns>,
) {
    let alive = Duration::from_millis(begin.alive_ms.max(1));
    let lease = Duration::from_millis(begin.lease_ms);
    // The program that has passed the link on lives as long as the link.
    let mut present: Option<(FrameLink, Option<UnixStream>)> = Some((link, None));
    let mut away_since = Instant::now();
    loop {
        let passed = match &mut present {
            Some((link, _)) => tokio::select! {
                cut = carry_frames(link, post, alive, |message| runs.on_message(message)) => match cut {
                    LinkEnd::Goodbye | LinkEnd::Broken(_) => return,
                    LinkEnd::Lost(_) => None,
                },
                // The host is often back before the cut is seen here.
                passed = door.next_link() => Some(passed),
            },
            None => tokio::select! {
                passed = door.next_link() => Some(passed),
                () = sleep_until(away_since + lease) => return,
            },
        };
        // Nothing more is taken from the old link, so what was received is known.
        if present.take().is_some() {
            away_since = Instant::now();
        }
        if let Some(passed) = passed {
            present = resume_over(passed, post).await;
        }
    }
}

/// Continues over a link that was passed on. `None`: it is cut already, or its host does not belong to this program.
async fn resume_over(passed: HandedOverLink, post: &LinkMailbox) -> Option<(FrameLink, Option<UnixStream>)> {
    let HandedOverLink { ends: [input, output], received, visitor } = passed;
    let mut link = FrameLink::new(input, output).ok()?;
    post.resume(received).ok()?;
    link.send_greeting(&GreetingFromProgram::Resumed { received: post.received() }).await.ok()?;
    Some((link, Some(visitor)))
}
