//! Sockets in the place of those of UDP.
//!
//! Resolvers open sockets of UDP and connect them, only to learn which families and addresses there are. musl looks up
//! no name if it may not open one. So a program that asks for a socket of UDP gets an unconnected one of `AF_UNIX` with
//! `SOCK_SEQPACKET`, which the filter lets every program make for itself: it adds nothing to what a command can reach,
//! by whatever descriptor, thread or ring it is used. The kernel sends nothing through it before it is connected to a
//! path, ignores the address of a message then, and `connect` and `bind` to a path are judged as for any other socket.
//!
//! The listener keeps what the program has to see: the family, and the address of the loopback that it has connected
//! the socket to. Nothing is sent there either, because no program of the world can bind a socket of UDP. A program
//! that confuses the listener about its descriptors deceives itself alone.

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket as make};

use super::super::host_network_fallback::DatagramPlaceholder;
use super::super::pending_syscall::PendingSyscall;
use super::super::socket_address::CopiedSocketAddress;
use super::super::syscall_reply::SyscallReply;
use super::internet_sockets::{CLOEXEC, KIND, host_network, is_inside, socket_inode, write_address};

/// Returns whether a call of `socket` asks for one of UDP that has to be replaced.
pub(super) fn is_wanted(asked: &PendingSyscall<'_>) -> bool {
    asked.shared.beside.is_some()
        && asked.int(1) & KIND == libc::SOCK_DGRAM
        && matches!(asked.int(2), 0 | libc::IPPROTO_UDP)
}

/// `socket` for UDP. Fails where this machine lacks the family.
pub(super) fn create(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    let v6 = asked.int(0) == libc::AF_INET6;
    let family = if v6 { AddressFamily::Inet6 } else { AddressFamily::Inet };
    drop(make(family, SockType::Stream, CLOEXEC, SockProtocol::Tcp)?);
    let flags = SockFlag::from_bits_truncate(asked.int(1) & !KIND);
    let socket = make(AddressFamily::Unix, SockType::SeqPacket, flags | CLOEXEC, None)?;
    let inode = sys::file_status(socket.as_fd())?.id.1;
    host_network(asked)?.add_placeholder(inode, v6);
    Ok(SyscallReply::File(socket, flags.contains(CLOEXEC)))
}

/// Returns the placeholder of a call's first argument. `None`: the socket is another one.
pub(crate) fn find(asked: &mut PendingSyscall<'_>) -> Option<DatagramPlaceholder> {
    if asked.shared.beside.as_ref()?.placeholders.is_empty() {
        return None;
    }
    let inode = socket_inode(asked).ok()?;
    asked.check_caller().ok()?;
    let placeholders = &asked.shared.beside.as_ref()?.placeholders;
    placeholders.iter().rev().find(|placeholder| placeholder.inode == inode).copied()
}

/// `connect` to an address without a path. The loopback is there, and nothing else.
pub(crate) fn connect(
    asked: &mut PendingSyscall<'_>,
    placeholder: DatagramPlaceholder,
    address: &CopiedSocketAddress,
) -> Result<SyscallReply, Errno> {
    let peer = if address.is_end() {
        None
    } else {
        let peer = address.internet().filter(|peer| placeholder.v6 || peer.is_ipv4()).ok_or(Errno::EAFNOSUPPORT)?;
        if !is_inside(peer.ip()) {
            record_datagrams(asked, address);
            return Err(Errno::ENETUNREACH);
        }
        Some(peer)
    };
    let placeholders = &mut host_network(asked)?.placeholders;
    placeholders.iter_mut().filter(|one| one.inode == placeholder.inode).for_each(|one| one.peer = peer);
    Ok(SyscallReply::DONE)
}

/// `sendto` with an address.
pub(crate) fn send(asked: &mut PendingSyscall<'_>) -> Result<SyscallReply, Errno> {
    let address = CopiedSocketAddress::read(asked, 4, 5)?;
    asked.check_caller()?;
    record_datagrams(asked, &address);
    Err(Errno::EACCES)
}

/// `getsockname`, or with `peer` `getpeername`.
pub(super) fn name(
    asked: &mut PendingSyscall<'_>,
    placeholder: DatagramPlaceholder,
    peer: bool,
) -> Result<SyscallReply, Errno> {
    let name = if peer { placeholder.peer.ok_or(Errno::ENOTCONN)? } else { placeholder.own_address() };
    write_address(asked, &CopiedSocketAddress::of(name, placeholder.v6))
}

fn record_datagrams(asked: &mut PendingSyscall<'_>, address: &CopiedSocketAddress) {
    if let Some(outside) = address.address_outside_world() {
        let program = asked.program();
        asked.record.record_datagrams(&asked.shared.settings.policy.network, outside, &program);
    }
}
