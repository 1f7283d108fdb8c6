//! Ports of a draft's loopback, reached at free ports of this machine's.
//!
//! A port here stays as long as this process has the draft open. Each connection to it goes to the server that the
//! draft has at that time: after a commit, commands run in another world.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as BlockingListener};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use nix::errno::Errno;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use super::draft_fault::{DraftFault, DraftReason};
use super::open_draft::{DraftName, OpenDraft};
use crate::error::RunError;
use crate::supervise::HelperProcesses;
use draft::draft_store::ExposedPorts;

/// The most connections to all ports of a draft.
const CONNECTIONS: usize = 512;
/// Time after which a listener is tried again that had no free descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// The ports of an open draft that lead into it, each with the port here.
#[derive(Debug)]
pub struct DraftPorts {
    open: Mutex<HashMap<u16, DraftPort>>,
    connections: Arc<Semaphore>,
}

#[derive(Debug)]
struct DraftPort {
    here: u16,
    serving: AbortHandle,
}

impl Default for DraftPorts {
    fn default() -> Self {
        Self { open: Mutex::default(), connections: Arc::new(Semaphore::new(CONNECTIONS)) }
    }
}

impl Drop for DraftPort {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

/// Returns the port of this machine at which a port of a draft is reached. `None`: the draft does not expose it, or, if
/// it exposes all, no server listens there. Blocks.
///
/// # Errors
/// If the draft is not open, or the system refuses a port.
pub fn port(name: &DraftName, port: u16) -> Result<Option<u16>, RunError> {
    let gone = || DraftFault::new(DraftReason::Unknown, format!("the draft {} is not open in this process", name.id));
    let open = name.if_open().ok_or_else(gone)?;
    let stored = name.store().find(&name.id).map_err(DraftFault::from)?;
    let helpers = HelperProcesses::shared().map_err(|error| RunError::helper(error, ""))?;
    match &stored.record.settings.expose {
        Some(ExposedPorts::Listed(ports)) if ports.contains(&port) => {}
        Some(ExposedPorts::Any(_)) if helpers.runtime().block_on(reach(&open, port)).is_ok() => {}
        _ => return Ok(None),
    }
    let mut ports = open.ports.open.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = ports.get(&port) {
        return Ok(Some(known.here));
    }
    let made = DraftPort::open(&open, port, helpers);
    let made = made.map_err(|error| RunError::from(DraftFault::new(DraftReason::Unsupported, error.to_string())))?;
    let here = made.here;
    ports.insert(port, made);
    Ok(Some(here))
}

impl DraftPort {
    /// Listens at a free port of this machine's loopback.
    fn open(draft: &Arc<OpenDraft>, port: u16, helpers: &'static HelperProcesses) -> io::Result<Self> {
        let listener = BlockingListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let here = listener.local_addr()?.port();
        let _within = helpers.runtime().enter();
        let listener = TcpListener::from_std(listener)?;
        let serving = tokio::spawn(serve(listener, Arc::downgrade(draft), port));
        Ok(Self { here, serving: serving.abort_handle() })
    }
}

/// Takes connections until the draft is closed.
async fn serve(listener: TcpListener, draft: Weak<OpenDraft>, port: u16) {
    loop {
        let Ok((mut visitor, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let Some(connections) = draft.upgrade().map(|draft| Arc::clone(&draft.ports.connections)) else { return };
        // This connection waits for room, and later ones wait in the system.
        let Ok(place) = connections.acquire_owned().await else { return };
        let draft = draft.clone();
        tokio::spawn(async move {
            let Some(draft) = draft.upgrade() else { return };
            let server = reach(&draft, port).await;
            drop(draft);
            if let Ok(mut server) = server {
                let _cut = copy_bidirectional(&mut visitor, &mut server).await;
            }
            drop(place);
        });
    }
}

/// Connects to the server that the draft has at a port now.
async fn reach(draft: &OpenDraft, port: u16) -> io::Result<TcpStream> {
    let nobody = || io::Error::from(Errno::ECONNREFUSED);
    let policy = draft.current_policy().ok_or_else(nobody)?;
    let helpers = HelperProcesses::if_made().ok_or_else(nobody)?;
    let (socket, address): (_, SocketAddr) = helpers.reach_server(&policy, port).await?.ok_or_else(nobody)?;
    TcpSocket::from_std_stream(socket.into()).connect(address).await
}
