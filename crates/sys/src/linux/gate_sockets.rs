//! The system calls of a world's gate: namespaces, readiness of many sockets, refused packets.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, socketpair, sockopt};

use crate::{PollEvent, PollInterest};

/// Events that one wait returns at most.
const EVENTS: usize = 256;

/// Creates a connected pair of sockets that keep the borders of messages, both closed on exec.
pub fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?)
}

/// Creates a stream socket of the internet that does not block, closed on exec.
pub fn stream_socket(v6: bool) -> io::Result<OwnedFd> {
    let family = if v6 { AddressFamily::Inet6 } else { AddressFamily::Inet };
    Ok(socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK, None)?)
}

/// Moves this thread into the namespace of a descriptor.
pub fn enter_namespace(namespace: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a plain system call.
    if unsafe { libc::setns(namespace.as_raw_fd(), 0) } < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Closes all descriptors from 3 on but these. For a fresh child, which never uses what its parent had open.
pub fn close_all_but(kept: &[RawFd]) {
    let mut kept: Vec<u32> = kept.iter().filter_map(|fd| u32::try_from(*fd).ok()).filter(|fd| *fd > 2).collect();
    kept.sort_unstable();
    let mut from = 3;
    for fd in kept.into_iter().chain([u32::MAX]) {
        if from < fd {
            let last = if fd == u32::MAX { fd } else { fd - 1 };
            // SAFETY: the caller promises that no code uses these descriptors again.
            unsafe { libc::syscall(libc::SYS_close_range, from, last, 0) };
        }
        from = fd.saturating_add(1);
    }
}

/// Waits for the readiness of many descriptors.
pub struct DescriptorPoller(Epoll);

impl DescriptorPoller {
    /// Creates a poller that waits for nothing yet.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?))
    }

    /// Adds a descriptor. Its events carry the token. A closed descriptor is removed by itself.
    pub fn add(&self, fd: BorrowedFd<'_>, token: u64, interest: PollInterest) -> io::Result<()> {
        Ok(self.0.add(fd, EpollEvent::new(flags(interest), token))?)
    }

    /// Changes the events that are reported about a descriptor.
    pub fn change(&self, fd: BorrowedFd<'_>, token: u64, interest: PollInterest) -> io::Result<()> {
        Ok(self.0.modify(fd, &mut EpollEvent::new(flags(interest), token))?)
    }

    /// Removes a descriptor.
    pub fn remove(&self, fd: BorrowedFd<'_>) {
        let _ = self.0.delete(fd);
    }

    /// Waits until at least one descriptor is ready or the time is over. `None`: as long as it takes.
    pub fn wait(&self, timeout: Option<Duration>, ready: &mut Vec<PollEvent>) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); EVENTS];
        let timeout = timeout.map_or(EpollTimeout::NONE, |time| {
            // Rounded up, so that a deadline has passed when the wait ends.
            EpollTimeout::try_from(time.saturating_add(Duration::from_micros(999))).unwrap_or(EpollTimeout::MAX)
        });
        ready.clear();
        let count = match self.0.wait(&mut events, timeout) {
            Err(nix::errno::Errno::EINTR) => 0,
            other => other?,
        };
        ready.extend(events[..count].iter().map(|event| {
            let is = |flag| event.events().intersects(flag);
            let failed = is(EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP);
            PollEvent {
                token: event.data(),
                readable: failed || is(EpollFlags::EPOLLIN),
                writable: failed || is(EpollFlags::EPOLLOUT),
                failed: is(EpollFlags::EPOLLERR),
            }
        }));
        Ok(())
    }
}

fn flags(interest: PollInterest) -> EpollFlags {
    let mut flags = EpollFlags::empty();
    flags.set(EpollFlags::EPOLLIN, interest.readable);
    flags.set(EpollFlags::EPOLLOUT, interest.writable);
    flags
}

/// Opens a socket that receives a copy of each packet that could open a connection of TCP, and of each packet of UDP,
/// that arrives in this thread's network namespace. Packets begin with their IP header.
pub fn opening_packets() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // Protocol 0: nothing is received before the filter is in place.
    // SAFETY: a plain system call.
    let fd = unsafe { libc::socket(libc::AF_PACKET, kind, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just created it for us.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    attach_filter(socket.as_fd())?;
    // SAFETY: zeroes are valid for this structure of numbers.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    let size = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
    // SAFETY: the address is a structure of the given size.
    let bound = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), size) };
    if bound < 0 { Err(io::Error::last_os_error()) } else { Ok(socket) }
}

/// Lets only packets pass that arrive, and are UDP, or TCP with SYN and without ACK.
fn attach_filter(socket: BorrowedFd<'_>) -> io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |size: u32, at| step(libc::BPF_LD | size | libc::BPF_ABS, 0, 0, at);
    let equal = |k, jt, jf| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, jt, jf, k);
    let and = |k| step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0, 0, k);
    // The kernel's ancillary data begin at SKF_AD_OFF: protocol at 0, type of packet at 4.
    let ancillary = |at: u32| (libc::SKF_AD_OFF as u32).wrapping_add(at);
    let (tcp, udp, syn, syn_and_ack) = (6, 17, 0x02, 0x12);
    let mut program = [
        /* 00 */ load(libc::BPF_B, ancillary(4)),
        /* 01 */ equal(u32::from(libc::PACKET_OUTGOING), 17, 0),
        /* 02 */ load(libc::BPF_H, ancillary(0)),
        /* 03 */ equal(libc::ETH_P_IP as u32, 1, 0),
        /* 04 */ equal(libc::ETH_P_IPV6 as u32, 7, 14),
        /* 05 */ load(libc::BPF_B, 9),
        /* 06 */ equal(udp, 11, 0),
        /* 07 */ equal(tcp, 0, 11),
        // The length of the IPv4 header, whose options the program skips.
        /* 08 */
        step(libc::BPF_LDX | libc::BPF_B | libc::BPF_MSH, 0, 0, 0),
        /* 09 */ step(libc::BPF_LD | libc::BPF_B | libc::BPF_IND, 0, 0, 13),
        /* 10 */ and(syn_and_ack),
        /* 11 */ equal(syn, 6, 7),
        // IPv6 without extension headers, which no ordinary connection has.
        /* 12 */
        load(libc::BPF_B, 6),
        /* 13 */ equal(udp, 4, 0),
        /* 14 */ equal(tcp, 0, 4),
        /* 15 */ load(libc::BPF_B, 53),
        /* 16 */ and(syn_and_ack),
        /* 17 */ equal(syn, 0, 1),
        // The headers are all that is read.
        /* 18 */ step(libc::BPF_RET | libc::BPF_K, 0, 0, 128),
        /* 19 */ step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
    ];
    attach(socket, &mut program)
}

fn attach(socket: BorrowedFd<'_>, program: &mut [libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    set_option(socket, libc::SO_ATTACH_FILTER, &program)
}

fn set_option<T>(socket: BorrowedFd<'_>, name: libc::c_int, value: &T) -> io::Result<()> {
    let size = size_of::<T>() as libc::socklen_t;
    // SAFETY: the kernel reads a value of this size, and a filter at the place that it names, which both live.
    let done =
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, name, (&raw const *value).cast(), size) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Sets whether the kernel chooses a client's port at its connection only, so that clients of different servers share
/// ports.
pub fn choose_port_late(socket: BorrowedFd<'_>, late: bool) -> nix::Result<()> {
    setsockopt(&socket, sockopt::IpBindAddressNoPort, &late)
}

/// Drops all packets for a socket of TCP, and for the connections that it accepts, that do not come from an address.
/// The filter stays for good.
pub fn accept_only_from(socket: BorrowedFd<'_>, from: Ipv4Addr) -> io::Result<()> {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    // The header of IP lies before the segment. Its fourth word is the source.
    let source = (libc::SKF_NET_OFF as u32).wrapping_add(12);
    let mut program = [
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, source),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, from.to_bits()),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, u32::MAX),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, 0),
    ];
    attach(socket, &mut program)?;
    set_option(socket, libc::SO_LOCK_FILTER, &1)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpStream, UdpSocket};

    use super::*;

    #[test]
    fn only_packets_that_open_something_are_copied() {
        let Ok(socket) = opening_packets() else {
            assert!(std::env::var_os("AGENT_BASH_CI").is_none(), "no packet socket");
            eprintln!("skipped: packets may not be seen here");
            return;
        };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a listener");
        drop(TcpStream::connect(listener.local_addr().expect("an address")).expect("connected"));
        let datagram = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        datagram.send_to(b"x", "127.0.0.1:9").expect("sent");
        let port = |bytes: &[u8]| u16::from_be_bytes([bytes[22], bytes[23]]);
        let mut seen = Vec::new();
        let mut buffer = [0; 128];
        while let Ok(length) = nix::unistd::read(&socket, &mut buffer) {
            if buffer[0] == 0x45 && length > 24 {
                seen.push((buffer[9], port(&buffer)));
            }
        }
        let own = listener.local_addr().expect("an address").port();
        assert_eq!(seen.iter().filter(|one| **one == (6, own)).count(), 1, "{seen:?}");
        assert_eq!(seen.iter().filter(|one| **one == (17, 9)).count(), 1, "{seen:?}");
    }
}
