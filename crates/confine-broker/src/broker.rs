//! The thread of a gate that opens connections to the hosts of secrets.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use confine_policy::{SecretRule, WorldSecrets};

use super::authority::WorldAuthority;
use super::broker_events::EventSink;
use super::host_secrets::{StandIns, search_of};
use super::opened_connection::{BrokerParts, TlsConnection, serve_connection};
use super::secret_vault::SecretVault;
use super::stream_replacer::StreamReplacer;
use super::text_forms::all_forms;
use super::upstream::{UpstreamConfigs, host_roots};

/// The most connections that are opened at once.
const CONNECTIONS: usize = 1024;

/// Looks for stand-ins in bytes, in any form and across pieces.
#[derive(Debug)]
pub struct StandInSearch {
    stream: Option<StreamReplacer>,
    stand_ins: Arc<StandIns>,
}

impl StandInSearch {
    /// Takes the next bytes. Returns the name of the secret whose stand-in they complete.
    pub fn find(&mut self, bytes: &[u8]) -> Option<String> {
        let stream = self.stream.as_mut()?;
        stream.push(Bytes::copy_from_slice(bytes));
        let number = self.stand_ins.find(stream.found()?)?;
        Some(self.stand_ins.rules[number].name.clone())
    }
}

/// Looks for values in bytes of a host, in any form and across pieces.
pub struct ValueSearch {
    parts: Arc<BrokerParts>,
    /// The number of values that the search knows.
    learned: Option<usize>,
    stream: Option<StreamReplacer>,
    forms: Vec<(Vec<u8>, usize)>,
}

impl fmt::Debug for ValueSearch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ValueSearch").finish_non_exhaustive()
    }
}

impl ValueSearch {
    /// Takes the next bytes. Returns the name of the secret whose value they complete.
    pub fn find(&mut self, bytes: &[u8]) -> Option<String> {
        let learned = self.parts.vault.learned();
        if self.learned != Some(learned) {
            self.learned = Some(learned);
            self.learn();
        }
        let stream = self.stream.as_mut()?;
        stream.push(Bytes::copy_from_slice(bytes));
        let found = stream.found()?;
        let number = self.forms.iter().find(|(form, _)| form == found)?.1;
        Some(self.parts.stand_ins.rules[number].name.clone())
    }

    /// Takes the values that are known by now. Bytes that may be the beginning of one stay.
    fn learn(&mut self) {
        let kept = self.stream.take().map(|mut stream| stream.finish());
        let rules = self.parts.stand_ins.rules.iter().enumerate();
        let values = rules.flat_map(|(number, rule)| {
            self.parts.vault.known_values(rule).into_iter().map(move |value| (value, number))
        });
        self.forms =
            values.flat_map(|(value, number)| all_forms(&value).into_iter().map(move |form| (form, number))).collect();
        self.stream = search_of(self.forms.iter().map(|(form, _)| form)).map(Arc::new).map(StreamReplacer::new);
        if let (Some(stream), Some(kept)) = (&mut self.stream, kept) {
            stream.push(kept);
        }
    }
}

/// Opens connections in a thread of its own.
pub struct SecretBroker {
    connections: mpsc::UnboundedSender<TlsConnection>,
    open: Arc<AtomicUsize>,
    parts: Arc<BrokerParts>,
    runtime: Handle,
}

impl SecretBroker {
    /// Starts the thread. `host` is a socket over which values are asked for, as `ValueQuestion`s.
    ///
    /// # Errors
    /// If the system has no random numbers or no thread.
    pub fn start(secrets: WorldSecrets, host: OwnedFd, events: EventSink) -> io::Result<Self> {
        Self::trusting(secrets.rules, host, events, host_roots(&secrets.authorities))
    }

    /// Starts the thread. Hosts are trusted if one of these authorities vouches for them.
    pub(crate) fn trusting(
        rules: Vec<SecretRule>,
        host: OwnedFd,
        events: EventSink,
        roots: RootCertStore,
    ) -> io::Result<Self> {
        let provider = Arc::new(provider());
        let authority = WorldAuthority::new(&rules, Arc::clone(&provider)).map_err(io::Error::other)?;
        let stand_ins = Arc::new(StandIns::new(rules));
        let parts = Arc::new(BrokerParts {
            authority,
            configs: UpstreamConfigs::new(roots, &provider).map_err(io::Error::other)?,
            stand_ins,
            vault: Arc::new(SecretVault::new(host)),
            events,
            memory: Arc::default(),
        });
        let (connections, mut arriving) = mpsc::unbounded_channel::<TlsConnection>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (open, of_thread) = (Arc::new(AtomicUsize::new(0)), Arc::clone(&parts));
        let counted = Arc::clone(&open);
        thread::Builder::new().name("broker".into()).spawn(move || {
            runtime.block_on(async move {
                while let Some(connection) = arriving.recv().await {
                    let (parts, counted) = (Arc::clone(&of_thread), Arc::clone(&counted));
                    tokio::spawn(async move {
                        serve_connection(connection, &parts).await;
                        counted.fetch_sub(1, Ordering::Relaxed);
                    });
                }
            });
        })?;
        Ok(Self { connections, open, parts, runtime: handle })
    }

    /// Returns the certificate that the programs of the world have to trust, as PEM.
    pub fn certificate(&self) -> &str {
        self.parts.authority.pem()
    }

    /// Returns whether a secret goes to this host, so that connections to it are opened.
    pub fn has_host(&self, name: &str, port: u16) -> bool {
        self.parts.stand_ins.has_host(name, port)
    }

    /// Returns a search for stand-ins in the bytes of a connection that is not opened.
    pub fn search(&self) -> StandInSearch {
        StandInSearch {
            stream: self.parts.stand_ins.search.clone().map(StreamReplacer::new),
            stand_ins: Arc::clone(&self.parts.stand_ins),
        }
    }

    /// Returns a search for values in what a host answers over a connection that is not opened. The host may know its
    /// own from requests of other worlds, so these are asked for now: the answer takes longer than that.
    pub fn value_search(&self, name: &str, port: u16) -> ValueSearch {
        let (parts, name) = (Arc::clone(&self.parts), name.to_owned());
        self.runtime.spawn(async move {
            for rule in parts.stand_ins.rules.iter().filter(|rule| rule.goes_to(&name, port)) {
                if parts.vault.known_values(rule).is_empty() {
                    let _ = parts.vault.value(rule).await;
                }
            }
        });
        ValueSearch { parts: Arc::clone(&self.parts), learned: None, stream: None, forms: Vec::new() }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// Returns the connection if too many are open.
    pub fn open(&self, connection: TlsConnection) -> Result<(), TlsConnection> {
        if self.open.fetch_add(1, Ordering::Relaxed) >= CONNECTIONS {
            self.open.fetch_sub(1, Ordering::Relaxed);
            return Err(connection);
        }
        self.connections.send(connection).map_err(|unsent| unsent.0)
    }
}

/// Returns the implementation of cryptography.
pub(crate) fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}
