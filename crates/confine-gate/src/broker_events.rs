//! The broker of a gate, and what happens in it, for the loop of the gate.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};

use confine_broker::{BrokerEvent, EventSink, SecretBroker};
use confine_policy::WorldSecrets;

/// Events that are kept until the loop takes them. Beyond that, a program makes more than a result can list.
const MOST: usize = 4096;

/// The broker of a world with secrets.
pub(super) struct GateBroker {
    pub broker: SecretBroker,
    events: Arc<Mutex<Vec<BrokerEvent>>>,
    /// The read end of a pipe with a byte if there are events.
    ready: File,
}

impl GateBroker {
    /// Starts the broker.
    pub fn start(secrets: WorldSecrets, host: OwnedFd) -> io::Result<Self> {
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
        Ok(Self { broker: SecretBroker::start(secrets, host, sink)?, events, ready: read.into() })
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
