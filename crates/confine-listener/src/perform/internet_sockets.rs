//! Sockets of the internet, where no namespace bounds them.
//!
//! The listener binds each server and each client to the world's address, and connects a client to a server of the
//! world or to the gate. It acts on a duplicate of the caller's socket. Where it may have none, as in Docker, it makes
//! the sockets itself, and keeps them until they listen or are connected.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, GetSockOpt, SetSockOpt, SockFlag, SockProtocol, SockType, SockaddrStorage, getpeername,
    getsockname, listen as listen_on, setsockopt, socket as make, sockopt,
};

use super::super::host_network_fallback::HostNetworkFallback;
use super::super::pending_syscall::PendingSyscall;
use super::super::proc_links::c_string;
use super::super::socket_address::CopiedSocketAddress;
use super::super::syscall_reply::SyscallReply;
use confine_gate::{AddressFamilies, RequestedConnection};

/// The kind of a socket, without its flags.
pub(super) const KIND: i32 = 0xf;
/// `SOCK_CLOEXEC`
pub(super) const CLOEXEC: SockFlag = SockFlag::from_bits_retain(libc::O_CLOEXEC);

pub(super) fn host_network<'a>(asked: &'a mut PendingSyscall<'_>) -> Result<&'a mut HostNetworkFallback, Errno> {
    asked.shared.beside.as_mut().ok_or(Errno::ENETUNREACH)
}

/// `socket`. Nothing but TCP leads to the gate.
pub(crate) fn socket(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    if asked.shared.beside.is_none() {
        return Ok(SyscallReply::CONTINUE);
    }
    let (family, kind, protocol) = (asked.int(0), asked.int(1), asked.int(2));
    match (kind & KIND, protocol) {
        (libc::SOCK_STREAM, 0 | libc::IPPROTO_TCP) => {}
        (libc::SOCK_STREAM, _) => return Err(Errno::EPROTONOSUPPORT),
        _ => return Err(Errno::EACCES),
    }
    if may_duplicate(asked)? {
        return Ok(SyscallReply::CONTINUE);
    }
    let family = if family == libc::AF_INET6 { AddressFamily::Inet6 } else { AddressFamily::Inet };
    let flags = SockFlag::from_bits_truncate(kind & !KIND);
    let socket = make(family, SockType::Stream, flags | CLOEXEC, SockProtocol::Tcp)?;
    let kept = socket.try_clone().map_err(|_| Errno::EMFILE)?;
    let inode = sys::file_status(kept.as_fd())?.id.1;
    host_network(asked)?.keep_socket(inode, kept);
    Ok(SyscallReply::File(socket, flags.contains(CLOEXEC)))
}

/// Returns whether this process may duplicate descriptors of its callers.
fn may_duplicate(asked: &mut PendingSyscall<'_>) -> Result<bool, Errno> {
    if let Some(known) = host_network(asked)?.duplicates {
        return Ok(known);
    }
    // No process has this descriptor.
    let answer = asked.caller()?.process.descriptor(i32::MAX).err();
    let may = !matches!(answer, Some(Errno::EPERM | Errno::ENOSYS));
    host_network(asked)?.duplicates = Some(may);
    Ok(may)
}

/// Returns the inode of the socket of a call's first argument.
pub(super) fn socket_inode(asked: &mut PendingSyscall<'_>) -> Result<u64, Errno> {
    let link = c_string(format!("fd/{}", asked.int(0)))?;
    let name = sys::link_text(asked.caller()?.directory.as_fd(), &link).map_err(|_| Errno::EBADF)?;
    let number = |name: &str| name.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok();
    name.to_str().ok().and_then(number).ok_or(Errno::ENOTSOCK)
}

/// A socket of a caller.
struct CallerSocket {
    socket: OwnedFd,
    /// Its inode, if this process has made it.
    made: Option<u64>,
    /// Whether it is one of IPv6. `None`: it is none of the internet.
    v6: Option<bool>,
}

impl CallerSocket {
    /// Returns the socket of a call's first argument.
    fn of(asked: &mut PendingSyscall<'_>) -> Result<Self, Errno> {
        let (socket, made) = if may_duplicate(asked)? {
            (asked.socket()?, None)
        } else {
            let inode = socket_inode(asked)?;
            let made = &host_network(asked)?.made;
            let kept = made.iter().find(|(other, _)| *other == inode).ok_or(Errno::EACCES)?;
            (kept.1.try_clone().map_err(|_| Errno::EMFILE)?, Some(inode))
        };
        let v6 = match sys::family_of(socket.as_fd())? {
            libc::AF_INET => Some(false),
            libc::AF_INET6 => Some(true),
            _ => None,
        };
        asked.check_caller()?;
        Ok(Self { socket, made, v6 })
    }

    /// Returns whether a socket of the internet is one of IPv6, and an address of the same family.
    fn family_of(&self, address: &CopiedSocketAddress) -> Result<(bool, SocketAddr), Errno> {
        let same = self.v6.zip(address.internet()).filter(|(v6, address)| *v6 == address.is_ipv6());
        same.ok_or(Errno::EAFNOSUPPORT)
    }

    fn get<O: GetSockOpt>(&self, option: O) -> Result<O::Val, Errno> {
        option.get(&self.socket)
    }

    fn set<O: SetSockOpt<Val = bool>>(&self, option: O, value: bool) -> Result<(), Errno> {
        setsockopt(&self.socket, option, &value)
    }

    /// Returns the port at the world's address. `None`: it has none yet.
    fn bound_port(&self, own: Ipv4Addr) -> Result<Option<u16>, Errno> {
        let bound = getsockname(self.socket.as_raw_fd()).map(|name| internet_address(&name))?;
        match bound.filter(|bound| bound.port() != 0) {
            Some(bound) if bound.ip() != own => Err(Errno::EACCES),
            bound => Ok(bound.map(|bound| bound.port())),
        }
    }

    /// Binds it to a port of an address of IPv4.
    fn bind_to_port(&self, v6: bool, own: Ipv4Addr, port: u16) -> Result<(), Errno> {
        if v6 {
            self.set(sockopt::Ipv6V6Only, false)?;
        }
        sys::bind_to(self.socket.as_fd(), CopiedSocketAddress::of((own, port).into(), v6).bytes())
    }

    /// Binds a server that asks for an address.
    fn bind_server(&self, asked: &mut PendingSyscall<'_>, v6: bool, address: SocketAddr) -> Result<(), Errno> {
        let families = match address.ip() {
            IpAddr::V4(_) => AddressFamilies::V4,
            IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some() => AddressFamilies::V4,
            IpAddr::V6(ip) if ip.is_unspecified() && !self.get(sockopt::Ipv6V6Only)? => AddressFamilies::Both,
            IpAddr::V6(_) => AddressFamilies::V6,
        };
        let network = host_network(asked)?;
        let port = network.gate.port_for_server(address, families)?;
        // An earlier attempt has locked the filter, or it is not permitted, which a note says.
        let _ = sys::accept_only_from(self.socket.as_fd(), network.own);
        self.bind_to_port(v6, network.own, port)
    }

    /// Forgets the socket, since nothing is to be done with it any more.
    fn forget_socket(&self, asked: &mut PendingSyscall<'_>) {
        if let (Some(inode), Ok(network)) = (self.made, host_network(asked)) {
            network.made.retain(|(other, _)| *other != inode);
        }
    }
}

/// Returns an address, with IPv4 in its own form. `None`: it is none of the internet.
fn internet_address(name: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = name.as_sockaddr_in().map(|name| SocketAddr::from((name.ip(), name.port())));
    let v6 = || name.as_sockaddr_in6().map(|name| SocketAddr::new(IpAddr::from(name.ip()).to_canonical(), name.port()));
    v4.or_else(v6)
}

/// Returns whether an address means the world itself.
pub(super) fn is_inside(ip: IpAddr) -> bool {
    let ip = ip.to_canonical();
    ip.is_loopback() || ip.is_unspecified()
}

/// `connect` to an address without a path.
pub(crate) fn connect(asked: &mut PendingSyscall<'_>, address: CopiedSocketAddress) -> Result<SyscallReply, Errno> {
    let socket = CallerSocket::of(asked)?;
    if socket.v6.is_none() || address.is_end() {
        return sys::connect_to(socket.socket.as_fd(), address.bytes()).map(|()| SyscallReply::DONE);
    }
    let (v6, to) = socket.family_of(&address)?;
    let process = asked.caller()?.pid;
    let network = host_network(asked)?;
    let own = network.own;
    if socket.bound_port(own)?.is_none() {
        // The gate has to know the port before. Other clients may share their ports, as long as the servers differ.
        sys::choose_port_late(socket.socket.as_fd(), is_inside(to.ip()))?;
        socket.bind_to_port(v6, own, 0)?;
    }
    let from = socket.bound_port(own)?.unwrap_or(0);
    let way = CopiedSocketAddress::of(network.gate.reach_address(RequestedConnection { from, to, process })?, v6);
    let connected = connect_at_once(&socket.socket, &way);
    if matches!(connected, Ok(()) | Err(Errno::EINPROGRESS)) {
        socket.forget_socket(asked);
    }
    if connected != Err(Errno::EINPROGRESS) || sys::is_nonblocking(socket.socket.as_fd()) {
        return connected.map(|()| SyscallReply::DONE);
    }
    let work = move || sys::connect_to(socket.socket.as_fd(), way.bytes()).map(|()| SyscallReply::DONE);
    asked.shared.threads.answer_in_thread(asked.listener, asked.call, work)
}

/// Connects a socket without waiting, as a server of this machine mostly permits.
fn connect_at_once(socket: &OwnedFd, way: &CopiedSocketAddress) -> Result<(), Errno> {
    if sys::is_nonblocking(socket.as_fd()) {
        return sys::connect_to(socket.as_fd(), way.bytes());
    }
    sys::set_nonblocking(socket).map_err(|_| Errno::EBADF)?;
    let begun = sys::connect_to(socket.as_fd(), way.bytes());
    // The second call tells whether it is connected by now.
    let connected = if begun == Err(Errno::EINPROGRESS) { sys::connect_to(socket.as_fd(), way.bytes()) } else { begun };
    sys::set_blocking(socket).map_err(|_| Errno::EBADF)?;
    connected.map_err(|errno| if errno == Errno::EALREADY { Errno::EINPROGRESS } else { errno })
}

/// `bind` to an address without a path.
pub(crate) fn bind(asked: &mut PendingSyscall<'_>, address: &CopiedSocketAddress) -> Result<SyscallReply, Errno> {
    let socket = CallerSocket::of(asked)?;
    if socket.v6.is_none() {
        return sys::bind_to(socket.socket.as_fd(), address.bytes()).map(|()| SyscallReply::DONE);
    }
    // The kernel would take an address of no family for one of IPv4.
    let (v6, at) = socket.family_of(address)?;
    if !is_inside(at.ip()) {
        return Err(Errno::EADDRNOTAVAIL);
    }
    if socket.bound_port(host_network(asked)?.own)?.is_some() {
        return Err(Errno::EINVAL);
    }
    socket.bind_server(asked, v6, at).map(|()| SyscallReply::DONE)
}

/// `listen`. A socket without an address would get every address of this machine.
pub(super) fn listen(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    if asked.shared.beside.is_none() {
        return Ok(SyscallReply::CONTINUE);
    }
    let socket = CallerSocket::of(asked)?;
    if let Some(v6) = socket.v6
        && socket.bound_port(host_network(asked)?.own)?.is_none()
    {
        let everywhere: IpAddr = if v6 { [0; 16].into() } else { [0; 4].into() };
        socket.bind_server(asked, v6, (everywhere, 0).into())?;
    }
    listen_on(&socket.socket, Backlog::new(asked.int(1)).unwrap_or(Backlog::MAXCONN))?;
    socket.forget_socket(asked);
    Ok(SyscallReply::DONE)
}

/// `getsockname`, or with `peer` `getpeername`. The kernel answers where nothing differs.
pub(super) fn name(asked: &mut PendingSyscall<'_>, peer: bool) -> Result<SyscallReply, Errno> {
    match program_address(asked, peer) {
        Some((name, v6)) => write_address(asked, &CopiedSocketAddress::of(name, v6)),
        None => Ok(SyscallReply::CONTINUE),
    }
}

/// Returns the address that a socket has for its program, and whether it is one of IPv6.
fn program_address(asked: &mut PendingSyscall<'_>, peer: bool) -> Option<(SocketAddr, bool)> {
    asked.shared.beside.as_ref()?;
    let socket = CallerSocket::of(asked).ok()?;
    let v6 = socket.v6?;
    let network = host_network(asked).ok()?;
    let port = socket.bound_port(network.own).ok()??;
    let other =
        peer.then(|| getpeername(socket.socket.as_raw_fd()).ok().and_then(|name| internet_address(&name))).flatten();
    let is_known = if peer { other.is_some_and(|other| other.ip() == network.own) } else { true };
    let name = is_known.then(|| network.gate.name(port, other.map(|other| other.port()))).flatten()?;
    Some((name, v6))
}

/// Writes an address to the memory of a caller, as much of it as it has room for.
pub(super) fn write_address(
    asked: &mut PendingSyscall<'_>,
    address: &CopiedSocketAddress,
) -> Result<SyscallReply, Errno> {
    let [_, at, length, ..] = asked.call.args;
    let thread = asked.call.thread;
    let room = asked.copy_bytes(2, size_of::<u32>())?;
    let room = i32::from_ne_bytes(room.try_into().map_err(|_| Errno::EFAULT)?);
    let bytes = address.bytes();
    let told = usize::try_from(room).map_err(|_| Errno::EINVAL)?.min(bytes.len());
    asked.check_caller()?;
    sys::write_foreign(thread, at, &bytes[..told])?;
    sys::write_foreign(thread, length, &u32::try_from(bytes.len()).unwrap_or(0).to_ne_bytes())?;
    Ok(SyscallReply::DONE)
}
