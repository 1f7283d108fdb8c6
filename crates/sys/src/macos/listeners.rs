//! Internet servers, by the descriptors of processes. Servers of other users are not shown.

use std::io;
use std::mem::offset_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use nix::unistd::Pid;

use crate::ListeningSocket;

/// The kind of a descriptor that is a socket.
const PROX_FDTYPE_SOCKET: u32 = 2;
/// The question for the state of a socket.
const PROC_PIDFDSOCKETINFO: i32 = 3;
/// The length of `struct socket_fdinfo`, and its fields. The first 24 bytes are `struct proc_fileinfo`.
const LENGTH: usize = 792;
const CONTROL_BLOCK: usize = 24 + 144;
const KIND: usize = 24 + 232;
const LOCAL_PORT: usize = 24 + 240 + 4;
const VERSIONS: usize = 24 + 240 + 24;
const LOCAL_ADDRESS: usize = 24 + 240 + 48;
const STATE: usize = 24 + 240 + 80;
const SOCKINFO_TCP: i32 = 2;
const TSI_S_LISTEN: i32 = 1;
const INI_IPV4: u8 = 1;

/// Returns the TCP servers of this host.
pub fn listeners() -> io::Result<Vec<ListeningSocket>> {
    let mut found: Vec<ListeningSocket> = every_pid().into_iter().flat_map(listeners_of).collect();
    // Several processes can share one.
    found.sort_by_key(|listener| listener.socket);
    found.dedup_by_key(|listener| listener.socket);
    Ok(found)
}

/// Returns the TCP servers of a process.
pub fn listeners_of(pid: Pid) -> Vec<ListeningSocket> {
    sockets(pid).into_iter().filter_map(|descriptor| listener(pid, descriptor)).collect()
}

/// Returns which of these processes have these sockets open.
pub fn socket_owners(pids: &[Pid], sockets: &[u64]) -> Vec<(u64, Pid)> {
    let of = |pid: &Pid| {
        let pid = *pid;
        listeners_of(pid).into_iter().map(move |listener| (listener.socket, pid))
    };
    pids.iter().flat_map(of).filter(|(socket, _)| sockets.contains(socket)).collect()
}

fn every_pid() -> Vec<Pid> {
    // SAFETY: without a buffer the system returns their number.
    let count = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    let mut pids = vec![0_i32; usize::try_from(count).unwrap_or(0) + 64];
    let bytes = i32::try_from(pids.len() * size_of::<i32>()).unwrap_or(0);
    // SAFETY: the system writes into our buffer, no more than its length.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), bytes) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    pids.into_iter().filter(|pid| *pid > 0).map(Pid::from_raw).collect()
}

/// Returns the descriptors of a process that are sockets.
fn sockets(pid: Pid) -> Vec<i32> {
    let ask = |buffer: &mut [u8]| {
        let length = i32::try_from(buffer.len()).unwrap_or(0);
        let start = if length == 0 { std::ptr::null_mut() } else { buffer.as_mut_ptr().cast() };
        // SAFETY: the system writes into our buffer, no more than its length.
        unsafe { libc::proc_pidinfo(pid.as_raw(), libc::PROC_PIDLISTFDS, 0, start, length) }
    };
    let size = size_of::<libc::proc_fdinfo>();
    let mut buffer = vec![0; usize::try_from(ask(&mut [])).unwrap_or(0) + 16 * size];
    let length = ask(&mut buffer);
    buffer.truncate(usize::try_from(length).unwrap_or(0));
    let entries = buffer.chunks_exact(size);
    let descriptor = |entry: &[u8]| {
        let word = |at: usize| entry[at..at + 4].try_into().map(i32::from_ne_bytes).unwrap_or(-1);
        let kind = word(offset_of!(libc::proc_fdinfo, proc_fdtype)).cast_unsigned();
        (kind == PROX_FDTYPE_SOCKET).then(|| word(offset_of!(libc::proc_fdinfo, proc_fd)))
    };
    entries.filter_map(descriptor).collect()
}

fn listener(pid: Pid, descriptor: i32) -> Option<ListeningSocket> {
    let mut info = [0_u8; LENGTH];
    let (start, length) = (info.as_mut_ptr().cast(), LENGTH as i32);
    // SAFETY: the system writes into our buffer, no more than its length.
    let got = unsafe { libc::proc_pidfdinfo(pid.as_raw(), descriptor, PROC_PIDFDSOCKETINFO, start, length) };
    if got != length {
        return None;
    }
    let word = |at: usize| info[at..at + 4].try_into().map(i32::from_ne_bytes).unwrap_or(-1);
    if word(KIND) != SOCKINFO_TCP || word(STATE) != TSI_S_LISTEN {
        return None;
    }
    let octets: [u8; 16] = info[LOCAL_ADDRESS..LOCAL_ADDRESS + 16].try_into().ok()?;
    let address = if info[VERSIONS] & INI_IPV4 != 0 && octets[..12] == [0; 12] && info[VERSIONS] == INI_IPV4 {
        let [.., a, b, c, d] = octets;
        IpAddr::from(Ipv4Addr::new(a, b, c, d))
    } else {
        IpAddr::from(Ipv6Addr::from(octets)).to_canonical()
    };
    // The number is in the order of the network, in a word of the machine.
    let port = u16::from_be_bytes([info[LOCAL_PORT], info[LOCAL_PORT + 1]]);
    let socket = u64::from_ne_bytes(info[CONTROL_BLOCK..CONTROL_BLOCK + 8].try_into().ok()?);
    Some(ListeningSocket { address, port, socket })
}
