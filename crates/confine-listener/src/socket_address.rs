//! Addresses of sockets, copied from a caller or made for one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use nix::errno::Errno;

use super::pending_syscall::PendingSyscall;

/// The longest address that the kernel takes.
const LONGEST: usize = 128;
/// Bytes of a path in an address.
const PATH: usize = 108;
const UNIX: u16 = libc::AF_UNIX as u16;
const INET: u16 = libc::AF_INET as u16;
const INET6: u16 = libc::AF_INET6 as u16;

/// An address, copied once.
pub(super) struct CopiedSocketAddress(Vec<u8>);

impl CopiedSocketAddress {
    /// Copies the address and the length of these arguments.
    pub fn read(asked: &mut PendingSyscall<'_>, at: usize, length: usize) -> Result<Self, Errno> {
        let length = asked.unsigned(length) as usize;
        if length > LONGEST {
            return Err(Errno::EINVAL);
        }
        asked.copy_bytes(at, length).map(Self)
    }

    fn family(&self) -> u16 {
        self.0.first_chunk().map_or(0, |bytes| u16::from_ne_bytes(*bytes))
    }

    /// Returns whether the address ends a connection.
    pub fn is_end(&self) -> bool {
        self.family() == libc::AF_UNSPEC as u16
    }

    /// Returns the path of a socket. `None`: the address has no path, or an abstract name.
    pub fn path(&self) -> Option<&[u8]> {
        let name =
            self.0.get(2..).filter(|name| self.family() == UNIX && name.first().is_some_and(|byte| *byte != 0))?;
        Some(memchr::memchr(0, name).map_or(name, |end| &name[..end]))
    }

    /// Returns whether the address is one of this machine alone.
    pub fn is_local(&self) -> bool {
        self.family() == UNIX
    }

    pub fn is_abstract(&self) -> bool {
        self.family() == UNIX && self.0.get(2) == Some(&0)
    }

    /// Returns an internet address.
    pub fn internet(&self) -> Option<SocketAddr> {
        let port = u16::from_be_bytes(*self.0.get(2..)?.first_chunk()?);
        let ip: IpAddr = match self.family() {
            INET => Ipv4Addr::from(*self.0.get(4..)?.first_chunk::<4>()?).into(),
            INET6 => Ipv6Addr::from(*self.0.get(8..)?.first_chunk::<16>()?).into(),
            _ => return None,
        };
        Some(SocketAddr::new(ip, port))
    }

    /// Returns an internet address that leads out of the world.
    pub fn address_outside_world(&self) -> Option<SocketAddr> {
        let address = self.internet()?;
        let ip = address.ip().to_canonical();
        let inside = ip.is_loopback() || ip.is_unspecified() || ip.is_multicast();
        (!inside).then_some(SocketAddr::new(ip, address.port()))
    }

    /// Returns an internet address as a socket of IPv6 or of IPv4 has it.
    pub fn of(address: SocketAddr, v6: bool) -> Self {
        let port = address.port().to_be_bytes();
        Self(match (address.ip(), v6) {
            (IpAddr::V4(ip), false) => [&INET.to_ne_bytes()[..], &port, &ip.octets(), &[0; 8]].concat(),
            (IpAddr::V4(ip), true) => Self::of((ip.to_ipv6_mapped(), address.port()).into(), true).0,
            (IpAddr::V6(ip), _) => [&INET6.to_ne_bytes()[..], &port, &[0; 4], &ip.octets(), &[0; 4]].concat(),
        })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn of_path(path: &[u8]) -> Result<Self, Errno> {
        if path.len() >= PATH {
            return Err(Errno::ENAMETOOLONG);
        }
        Ok(Self([&UNIX.to_ne_bytes(), path, &[0]].concat()))
    }
}
