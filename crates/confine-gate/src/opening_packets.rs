//! Packets that open a connection, as they arrive from a world. The kernel refuses the packets that no listener of the
//! gate accepts, and they are recorded here.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use sys::InternetTransport;

/// Length of an IPv6 header.
const V6_HEADER: usize = 40;

/// A packet, by its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpeningPacket {
    /// TCP or UDP.
    pub transport: InternetTransport,
    /// The program's socket.
    pub from: SocketAddr,
    /// The address that the program wants to reach.
    pub to: SocketAddr,
}

/// Parses a packet, which begins with its IP header. `None`: it is neither TCP nor UDP.
pub(super) fn parse(packet: &[u8]) -> Option<OpeningPacket> {
    let (protocol, from, to, ports): (u8, IpAddr, IpAddr, &[u8]) = match packet.first()? >> 4 {
        4 => {
            let address = |at: usize| Some(Ipv4Addr::from(*packet.get(at..)?.first_chunk::<4>()?));
            let header = usize::from(packet[0] & 0xf) * 4;
            (*packet.get(9)?, address(12)?.into(), address(16)?.into(), packet.get(header..)?)
        }
        6 => {
            let address = |at: usize| Some(Ipv6Addr::from(*packet.get(at..)?.first_chunk::<16>()?));
            (*packet.get(6)?, address(8)?.into(), address(24)?.into(), packet.get(V6_HEADER..)?)
        }
        _ => return None,
    };
    let transport = match protocol {
        6 => InternetTransport::Tcp,
        17 => InternetTransport::Udp,
        _ => return None,
    };
    let [a, b, c, d] = *ports.first_chunk::<4>()?;
    let (source, target) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Some(OpeningPacket { transport, from: SocketAddr::new(from, source), to: SocketAddr::new(to, target) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packets() {
        let mut v4 = vec![0x46, 0, 0, 60, 0, 0, 0, 0, 64, 6, 0, 0, 198, 19, 255, 254, 8, 8, 8, 8, 0, 0, 0, 0];
        v4.extend([0xc0, 0, 0, 53, 0, 0]);
        let (from, to) = ("198.19.255.254:49152".parse().expect("one"), "8.8.8.8:53".parse().expect("two"));
        assert_eq!(parse(&v4), Some(OpeningPacket { transport: InternetTransport::Tcp, from, to }));
        let mut v6 = vec![0x60, 0, 0, 0, 0, 8, 17, 64];
        v6.extend(Ipv6Addr::LOCALHOST.octets());
        v6.extend("2001:db8::1".parse::<Ipv6Addr>().expect("an address").octets());
        v6.extend([0, 9, 1, 0xbb]);
        let (from, to) = ("[::1]:9".parse().expect("one"), "[2001:db8::1]:443".parse().expect("two"));
        assert_eq!(parse(&v6), Some(OpeningPacket { transport: InternetTransport::Udp, from, to }));
        v4[9] = 1;
        assert_eq!(parse(&v4), None, "a ping");
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..128)) {
            parse(&bytes);
        }
    }
}
