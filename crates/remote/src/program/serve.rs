//! Serves one host: over its link, and without one until the lease ends.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::time::{Instant, sleep_until};

use super::door::{Door, Passed};
use super::installed::Installed;
use super::run::Runs;
use crate::link::{Cut, Link, carry};
use crate::messages::{Begin, FromProgram};
use crate::post::Post;

/// Serves the host until it says goodbye, breaks the protocol, or is away for longer than the lease. `umask`: the mode
/// mask of commands. Returns whether the program is to remove itself.
pub async fn serve(link: Link, door: &Door, begin: Begin, umask: u32) -> bool {
    if let Some(installed) = Installed::own() {
        installed.refresh();
    }
    let post = Arc::new(Post::default());
    let runs = Runs::new(Arc::clone(&post), umask);
    serve_runs(link, door, begin, &post, &runs).await;
    runs.shut().await
}

async fn serve_runs(link: Link, door: &Door, begin: Begin, post: &Post, runs: &Arc<Runs>) {
    let alive = Duration::from_millis(begin.alive_ms.max(1));
    let lease = Duration::from_millis(begin.lease_ms);
    // The program that has passed the link on lives as long as the link.
    let mut present: Option<(Link, Option<UnixStream>)> = Some((link, None));
    let mut away_since = Instant::now();
    loop {
        let passed = match &mut present {
            Some((link, _)) => tokio::select! {
                cut = carry(link, post, alive, |message| runs.take(message)) => match cut {
                    Cut::Goodbye | Cut::Broken(_) => return,
                    Cut::Lost(_) => None,
                },
                // The host is often back before the cut is seen here.
                passed = door.visit() => Some(passed),
            },
            None => tokio::select! {
                passed = door.visit() => Some(passed),
                () = sleep_until(away_since + lease) => return,
            },
        };
        // Nothing more is taken from the old link, so what was received is known.
        if present.take().is_some() {
            away_since = Instant::now();
        }
        if let Some(passed) = passed {
            present = resumed(passed, post).await;
        }
    }
}

/// Continues over a link that was passed on. `None`: it is cut already, or its host does not belong to this program.
async fn resumed(passed: Passed, post: &Post) -> Option<(Link, Option<UnixStream>)> {
    let Passed { ends: [input, output], received, visitor } = passed;
    let mut link = Link::new(input, output).ok()?;
    post.resume(received).ok()?;
    link.greet(&FromProgram::Resumed { received: post.received() }).await.ok()?;
    Some((link, Some(visitor)))
}
