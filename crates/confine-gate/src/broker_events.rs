//! The broker and the ssh agent of a gate, and what happens in them, for the loop of the gate.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex, PoisonError};

use confine_broker::{BrokerEvent, EventSink, SecretBroker, serve_ssh_agent};
use confine_policy::{WorldSecrets, WorldSsh};

/// Events that are kept until the loop takes them. Beyond that, a program makes more than a result can list.
const MOST: usize = 4096;

/// The threads of a world with secrets or an ssh agent.
pub(super) struct GateBroker {
    /// Opens connections to the hosts of secrets. `None`: there are none.
    pub secrets: Option<SecretBroker>,
    events: Arc<Mutex<Vec<BrokerEvent>>>,
    /// The read end of a pipe with a byte if there are events.
    ready: File,
}

impl GateBroker {
    /// Starts the threads. Secrets come with the socket over which the host is asked, and an agent with the socket that
    /// programs find. `variable` tells to which command a process belongs.
    pub fn start(
        secrets: Option<(WorldSecrets, OwnedFd)>,
        agent: Option<(WorldSsh, UnixListener)>,
        variable: &str,
    ) -> io::Result<Self> {
        let (read, write) = sys::pipe()?;
        sys::set_nonblocking(&read)?;
        let events: Arc<Mutex<Vec<BrokerEvent>>> = Arc::default();
        let (sink, write) = (Arc::clone(&events), File::from(write));
        let sink = EventSink::new(move |event| {
            let mut events = sink.lock().unwrap_or_else(PoisonError::into_inner);
            if events.len() < MOST {
                events.push(event);
            }
            // One byte is enough for all events until they are taken.
            if events.len() == 1 {
                let _ = (&write).write(&[0]);
            }
        });
        if let Some((ssh, socket)) = agent {
            serve_ssh_agent(ssh, socket, variable.to_owned(), sink.clone())?;
        }
        let secrets = secrets.map(|(secrets, host)| SecretBroker::start(secrets, host, sink)).transpose()?;
        Ok(Self { secrets, events, ready: read.into() })
    }

    /// Returns a descriptor that becomes readable when there are events.
    pub fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }

    /// Takes the events.
    pub fn take(&self) -> Vec<BrokerEvent> {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = (&self.ready).read(&mut [0; 16]);
        std::mem::take(&mut *events)
    }
}
