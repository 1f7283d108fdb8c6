//! Ports of a draft's loopback, reached at free ports of this machine's.
//!
//! A port here stays as long as this process has the draft open. Each connection to it goes to the server that the
//! draft has at that time: after a commit, commands run in another world.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, TcpListener as BlockingListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nix::errno::Errno;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::AbortHandle;

use crate::supervise::HelperProcesses;
use confine_policy::OwnedPolicy;

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

/// Returns the confinement of the draft's commands at this time. `None`: the draft is closed.
pub type CurrentPolicy = Arc<dyn Fn() -> Option<Arc<OwnedPolicy>> + Send + Sync>;

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

impl DraftPorts {
    /// Returns the port of this machine that leads to a port of a draft.
    ///
    /// # Errors
    /// If the system refuses one.
    pub fn here(&self, port: u16, policy: CurrentPolicy, helpers: &HelperProcesses) -> io::Result<u16> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(&port) {
            return Ok(known.here);
        }
        let (here, listener) = listen(helpers)?;
        let serving = helpers.runtime().spawn(serve(listener, policy, port, Arc::clone(&self.connections)));
        open.insert(port, DraftPort { here, serving: serving.abort_handle() });
        Ok(here)
    }
}

/// Listens at a free port of this machine's loopback.
fn listen(helpers: &HelperProcesses) -> io::Result<(u16, TcpListener)> {
    let listener = BlockingListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let _within = helpers.runtime().enter();
    Ok((listener.local_addr()?.port(), TcpListener::from_std(listener)?))
}

/// Takes connections until the draft is closed.
async fn serve(listener: TcpListener, policy: CurrentPolicy, port: u16, connections: Arc<Semaphore>) {
    loop {
        let Ok((mut visitor, _)) = listener.accept().await else {
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        // This connection waits for room, and later ones wait in the system.
        let Ok(place) = Arc::clone(&connections).acquire_owned().await else { return };
        let policy = Arc::clone(&policy);
        tokio::spawn(async move {
            let is_whole = match reach(policy(), port).await {
                Ok(mut server) => copy_bidirectional(&mut visitor, &mut server).await.is_ok(),
                Err(_) => false,
            };
            if !is_whole {
                // Its other end must not take a part for the whole.
                let _gone = visitor.set_zero_linger();
            }
            drop((visitor, place));
        });
    }
}

/// Connects to the server at a port of the world that a confinement has now.
async fn reach(policy: Option<Arc<OwnedPolicy>>, port: u16) -> io::Result<TcpStream> {
    let nobody = || io::Error::from(Errno::ECONNREFUSED);
    let helpers = HelperProcesses::if_made().ok_or_else(nobody)?;
    let (socket, address) = helpers.reach_server(&policy.ok_or_else(nobody)?, port).await?.ok_or_else(nobody)?;
    TcpSocket::from_std_stream(socket.into()).connect(address).await
}
