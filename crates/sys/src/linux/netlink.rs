//! Devices, addresses and routes of a network namespace, set through rtnetlink.

use std::io;
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, recv, send, socket};

use crate::RouteKind;

/// The index of the loopback device in every network namespace.
pub const LOOPBACK: u32 = 1;

const NLMSG_ERROR: u16 = 2;
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const REQUEST_ACK: u16 = 1 | 4;
const CREATE_EXCL: u16 = 0x400 | 0x200;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
/// No search for other owners of an address, which takes a second.
const IFA_F_NODAD: u8 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_BOOT: u8 = 3;
const RT_SCOPE_HOST: u8 = 254;
const RTN_UNICAST: u8 = 1;
const RTN_LOCAL: u8 = 2;
const HEADER: usize = 16;

/// A message that is being written.
struct NetlinkMessage(Vec<u8>);

impl NetlinkMessage {
    fn new(kind: u16, flags: u16, body: &[u8]) -> Self {
        let mut bytes = vec![0; HEADER];
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(REQUEST_ACK | flags).to_ne_bytes());
        bytes.extend_from_slice(body);
        Self(bytes)
    }

    /// Adds an attribute whose value is written by a closure.
    fn nest(mut self, kind: u16, write: impl FnOnce(Self) -> Self) -> Self {
        let start = self.0.len();
        self.0.extend_from_slice(&[0; 4]);
        let mut whole = write(self);
        let length = (whole.0.len() - start) as u16;
        whole.0[start..start + 2].copy_from_slice(&length.to_ne_bytes());
        whole.0[start + 2..start + 4].copy_from_slice(&kind.to_ne_bytes());
        let padded = whole.0.len().next_multiple_of(4);
        whole.0.resize(padded, 0);
        whole
    }

    fn attribute(self, kind: u16, value: &[u8]) -> Self {
        self.nest(kind, |message| message.raw(value))
    }

    fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn address(self, kind: u16, address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => self.attribute(kind, &address.octets()),
            IpAddr::V6(address) => self.attribute(kind, &address.octets()),
        }
    }
}

fn family(address: IpAddr) -> u8 {
    (if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 }) as u8
}

/// Returns a `struct ifinfomsg`, which sets the flag IFF_UP if `up`.
fn link(index: u32, up: bool) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[4..8].copy_from_slice(&index.to_ne_bytes());
    let flag = if up { libc::IFF_UP as u32 } else { 0 };
    bytes[8..12].copy_from_slice(&flag.to_ne_bytes());
    bytes[12..16].copy_from_slice(&flag.to_ne_bytes());
    bytes
}

/// The settings of the network namespace in which it was opened.
#[derive(Debug)]
pub struct NetworkSettings(OwnedFd);

impl NetworkSettings {
    /// Opens the settings of this process's network namespace.
    pub fn open() -> io::Result<Self> {
        let (family, protocol) = (AddressFamily::Netlink, SockProtocol::NetlinkRoute);
        Ok(Self(socket(family, SockType::Raw, SockFlag::SOCK_CLOEXEC, protocol)?))
    }

    /// Sends a request and waits for its acknowledgement.
    fn ask(&self, NetlinkMessage(mut bytes): NetlinkMessage) -> io::Result<()> {
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_ne_bytes());
        send(self.0.as_raw_fd(), &bytes, MsgFlags::empty())?;
        let mut answer = [0; 1024];
        let length = recv(self.0.as_raw_fd(), &mut answer, MsgFlags::empty())?;
        let kind = u16::from_ne_bytes([answer[4], answer[5]]);
        if length < HEADER + 4 || kind != NLMSG_ERROR {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut errno = [0; 4];
        errno.copy_from_slice(&answer[HEADER..HEADER + 4]);
        match i32::from_ne_bytes(errno) {
            0 => Ok(()),
            errno => Err(io::Error::from_raw_os_error(-errno)),
        }
    }

    /// Creates a pair of devices with this name and index: one here, the other in another namespace.
    pub fn create_pair(&self, name: &str, index: u32, other: BorrowedFd<'_>) -> io::Result<()> {
        let name = [name.as_bytes(), &[0]].concat();
        let other = other.as_raw_fd().to_ne_bytes();
        let peer = |message: NetlinkMessage| {
            let message = message.raw(&link(index, false)).attribute(IFLA_IFNAME, &name);
            message.attribute(IFLA_NET_NS_FD, &other)
        };
        let message = NetlinkMessage::new(RTM_NEWLINK, CREATE_EXCL, &link(index, false)).attribute(IFLA_IFNAME, &name);
        self.ask(message.nest(IFLA_LINKINFO, |info| {
            let info = info.attribute(IFLA_INFO_KIND, b"veth");
            info.nest(IFLA_INFO_DATA, |data| data.nest(VETH_INFO_PEER, peer))
        }))
    }

    /// Starts a device.
    pub fn start(&self, index: u32) -> io::Result<()> {
        self.ask(NetlinkMessage::new(RTM_NEWLINK, 0, &link(index, true)))
    }

    /// Gives a device an address in a network with this length of prefix.
    pub fn add_address(&self, index: u32, address: IpAddr, prefix: u8) -> io::Result<()> {
        let mut body = vec![family(address), prefix, IFA_F_NODAD, 0];
        body.extend_from_slice(&index.to_ne_bytes());
        let message = NetlinkMessage::new(RTM_NEWADDR, CREATE_EXCL, &body);
        self.ask(message.address(IFA_LOCAL, address).address(IFA_ADDRESS, address))
    }

    /// Routes every address of the family of `kind` that no other route names.
    pub fn add_default_route(&self, index: u32, kind: RouteKind) -> io::Result<()> {
        let (family, scope, route) = match kind {
            RouteKind::Through(gateway) => (family(gateway), 0, RTN_UNICAST),
            RouteKind::ToThisHost { v6: false } => (libc::AF_INET as u8, RT_SCOPE_HOST, RTN_LOCAL),
            RouteKind::ToThisHost { v6: true } => (libc::AF_INET6 as u8, RT_SCOPE_HOST, RTN_LOCAL),
        };
        // `struct rtmsg`: the lengths of destination, source and type of service are 0.
        let body = [family, 0, 0, 0, RT_TABLE_MAIN, RTPROT_BOOT, scope, route, 0, 0, 0, 0];
        let mut message = NetlinkMessage::new(RTM_NEWROUTE, CREATE_EXCL, &body);
        if let RouteKind::Through(gateway) = kind {
            message = message.address(RTA_GATEWAY, gateway);
        }
        self.ask(message.attribute(RTA_OIF, &index.to_ne_bytes()))
    }
}
