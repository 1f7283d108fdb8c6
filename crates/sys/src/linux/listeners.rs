//! Servers of the internet, by netlink's socket diagnosis, and who owns their sockets.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};
use nix::unistd::Pid;

use super::connections::listeners_of;
use super::proc::descriptors;
use crate::ListeningSocket;

const HEADER: usize = 16;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// NLM_F_REQUEST, NLM_F_ROOT and NLM_F_MATCH: a list of all.
const REQUEST_ALL: u16 = 1 | 0x100 | 0x200;
/// The bit of the state TCP_LISTEN.
const LISTENING: u32 = 1 << 10;
/// The length of `struct inet_diag_req_v2`.
const REQUEST: usize = 56;
/// The length of `struct inet_diag_msg`, and its fields.
const ANSWER: usize = 72;
const PORT: usize = 4;
const SOURCE: usize = 8;
const INODE: usize = 68;

/// Returns the TCP servers of this process's network namespace.
pub fn listeners() -> io::Result<Vec<ListeningSocket>> {
    let ask = || -> io::Result<Vec<ListeningSocket>> {
        let (family, flags) = (AddressFamily::Netlink, SockFlag::SOCK_CLOEXEC);
        let socket = socket(family, SockType::Raw, flags, SockProtocol::NetlinkSockDiag)?;
        let mut found = Vec::new();
        for family in [libc::AF_INET, libc::AF_INET6] {
            ask_for(&socket, family as u8, &mut found)?;
        }
        Ok(found)
    };
    // A kernel can be built without it, and a filter can forbid it.
    Ok(ask().unwrap_or_else(|_| listeners_of(nix::unistd::getpid())))
}

fn ask_for(socket: &OwnedFd, family: u8, found: &mut Vec<ListeningSocket>) -> io::Result<()> {
    let mut request = vec![0_u8; HEADER + REQUEST];
    let length = request.len() as u32;
    request[..4].copy_from_slice(&length.to_ne_bytes());
    request[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request[6..8].copy_from_slice(&REQUEST_ALL.to_ne_bytes());
    request[HEADER] = family;
    request[HEADER + 1] = libc::IPPROTO_TCP as u8;
    request[HEADER + 4..HEADER + 8].copy_from_slice(&LISTENING.to_ne_bytes());
    send(socket.as_raw_fd(), &request, MsgFlags::empty())?;
    let mut buffer = vec![0_u8; 32 * 1024];
    loop {
        let length = recv(socket.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
        let mut rest = &buffer[..length];
        while rest.len() >= HEADER {
            let length = u32::from_ne_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
            if !(HEADER..=rest.len()).contains(&length) {
                return Err(io::ErrorKind::InvalidData.into());
            }
            match u16::from_ne_bytes([rest[4], rest[5]]) {
                NLMSG_DONE => return Ok(()),
                NLMSG_ERROR => return Err(io::ErrorKind::Unsupported.into()),
                _ => found.extend(listener(family, &rest[HEADER..length])),
            }
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
    }
}

fn listener(family: u8, answer: &[u8]) -> Option<ListeningSocket> {
    let answer: &[u8; ANSWER] = answer.get(..ANSWER)?.try_into().ok()?;
    let mut address = [0; 16];
    address.copy_from_slice(&answer[SOURCE..SOURCE + 16]);
    let [a, b, c, d, ..] = address;
    let address = if i32::from(family) == libc::AF_INET {
        IpAddr::from(Ipv4Addr::new(a, b, c, d))
    } else {
        IpAddr::from(Ipv6Addr::from(address)).to_canonical()
    };
    let port = u16::from_be_bytes([answer[PORT], answer[PORT + 1]]);
    let inode = u32::from_ne_bytes(answer[INODE..INODE + 4].try_into().ok()?);
    Some(ListeningSocket { address, port, socket: inode.into() })
}

/// Returns which of these processes have these sockets open.
pub fn socket_owners(pids: &[Pid], sockets: &[u64]) -> Vec<(u64, Pid)> {
    let names: Vec<_> = sockets.iter().map(|socket| (format!("socket:[{socket}]"), *socket)).collect();
    let mut found = Vec::new();
    for pid in pids {
        for target in descriptors(*pid).filter_map(|descriptor| descriptor.target()) {
            let socket = names.iter().find(|(name, _)| target.as_os_str() == name.as_str());
            found.extend(socket.map(|(_, socket)| (*socket, *pid)));
        }
    }
    found
}
