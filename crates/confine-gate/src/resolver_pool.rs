//! Resolves names on the host, in a bounded number of threads, because the host's resolver blocks.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{IpAddr, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The most names that are resolved at the same time.
const THREADS: usize = 8;
/// The stack of a thread. Resolvers of some hosts load modules.
const STACK: usize = 512 * 1024;
/// Time for which an answer is reused.
const LIFETIME: Duration = Duration::from_secs(10);
/// The most answers that are remembered.
const REMEMBERED: usize = 1024;

/// A name with its addresses. Without addresses, it could not be resolved.
pub(super) type NameResolution = (String, Vec<IpAddr>);

#[derive(Default)]
struct ResolverQueue {
    waiting: VecDeque<String>,
    idle: usize,
}

struct ResolverPoolState {
    queue: Mutex<ResolverQueue>,
    arrived: Condvar,
    done: Mutex<Vec<NameResolution>>,
    wake: std::fs::File,
    resolve: fn(&str) -> Vec<IpAddr>,
}

/// Resolves names without blocking its caller.
pub(super) struct ResolverPool {
    shared: Arc<ResolverPoolState>,
    woken: std::fs::File,
    threads: usize,
    remembered: HashMap<String, (Instant, Vec<IpAddr>)>,
}

/// Asks the resolver of the host.
pub(super) fn by_host(name: &str) -> Vec<IpAddr> {
    (name, 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect()).unwrap_or_default()
}

impl ResolverPool {
    /// Returns a pool without threads, which starts threads as they are needed.
    pub fn new(resolve: fn(&str) -> Vec<IpAddr>) -> io::Result<Self> {
        let (woken, wake) = sys::pipe()?;
        sys::set_nonblocking(&woken)?;
        sys::set_nonblocking(&wake)?;
        let shared = ResolverPoolState {
            queue: Mutex::default(),
            arrived: Condvar::new(),
            done: Mutex::default(),
            wake: wake.into(),
            resolve,
        };
        Ok(Self { shared: Arc::new(shared), woken: woken.into(), threads: 0, remembered: HashMap::new() })
    }

    /// Returns the addresses of a name that was resolved a moment ago.
    pub fn remembered_addresses(&self, name: &str) -> Option<Vec<IpAddr>> {
        let (at, addresses) = self.remembered.get(name)?;
        (at.elapsed() < LIFETIME).then(|| addresses.clone())
    }

    /// Starts the resolution of a name. Its addresses are returned by [`ResolverPool::take`].
    pub fn start_resolving(&mut self, name: String) -> io::Result<()> {
        let mut queue = self.shared.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.waiting.push_back(name);
        if queue.idle < queue.waiting.len() && self.threads < THREADS {
            let shared = self.shared.clone();
            let started = thread::Builder::new().stack_size(STACK).spawn(move || shared.resolve_queued_names());
            // One thread suffices to continue.
            if started.is_err() && self.threads == 0 {
                queue.waiting.pop_back();
                return started.map(drop);
            }
            self.threads += usize::from(started.is_ok());
        }
        self.shared.arrived.notify_one();
        Ok(())
    }

    /// Takes the names that were resolved since the last call.
    pub fn take(&mut self) -> Vec<NameResolution> {
        let _ = (&self.woken).read(&mut [0; 64]);
        let done = std::mem::take(&mut *self.shared.done.lock().unwrap_or_else(PoisonError::into_inner));
        if self.remembered.len() + done.len() > REMEMBERED {
            self.remembered.clear();
        }
        for (name, addresses) in done.iter().filter(|(_, addresses)| !addresses.is_empty()) {
            self.remembered.insert(name.clone(), (Instant::now(), addresses.clone()));
        }
        done
    }
}

impl AsFd for ResolverPool {
    /// Returns a descriptor that is readable when a name was resolved.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.woken.as_fd()
    }
}

impl ResolverPoolState {
    /// Runs a thread, which ends with the process.
    fn resolve_queued_names(&self) {
        loop {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            queue.idle += 1;
            let name = loop {
                match queue.waiting.pop_front() {
                    Some(name) => break name,
                    None => queue = self.arrived.wait(queue).unwrap_or_else(PoisonError::into_inner),
                }
            };
            queue.idle -= 1;
            drop(queue);
            let addresses = (self.resolve)(&name);
            self.done.lock().unwrap_or_else(PoisonError::into_inner).push((name, addresses));
            // A full pipe wakes the reader as well.
            let _ = (&self.wake).write(&[0]);
        }
    }
}

#[cfg(test)]
mod tests {
    use nix::poll::PollFlags;

    use super::*;
    use crate::link_sockets::wait_for;

    #[test]
    fn names_are_resolved_elsewhere_and_remembered() {
        let mut pool = ResolverPool::new(|name| if name == "a.test" { vec![[1, 1, 1, 1].into()] } else { vec![] })
            .expect("a pool");
        let mut found = Vec::new();
        for name in ["a.test", "b.test"] {
            pool.start_resolving(name.into()).expect("asked");
        }
        while found.len() < 2 {
            wait_for(pool.as_fd(), PollFlags::POLLIN).expect("an answer");
            found.extend(pool.take());
        }
        found.sort();
        assert_eq!(found, [("a.test".to_owned(), vec![[1, 1, 1, 1].into()]), ("b.test".to_owned(), vec![])]);
        assert_eq!(pool.remembered_addresses("a.test"), Some(vec![[1, 1, 1, 1].into()]));
        assert_eq!(pool.remembered_addresses("b.test"), None, "a failure is tried again");
    }

    #[test]
    fn many_names_need_few_threads() {
        let mut pool = ResolverPool::new(|_| vec![[1, 1, 1, 1].into()]).expect("a pool");
        for n in 0..1_000 {
            pool.start_resolving(n.to_string()).expect("asked");
        }
        let mut found = 0;
        while found < 1_000 {
            wait_for(pool.as_fd(), PollFlags::POLLIN).expect("an answer");
            found += pool.take().len();
        }
        assert!(pool.threads <= THREADS);
    }

    #[test]
    fn the_host_knows_itself() {
        assert!(by_host("localhost").iter().all(IpAddr::is_loopback));
        assert_eq!(by_host("no such name"), Vec::<IpAddr>::new());
    }
}
