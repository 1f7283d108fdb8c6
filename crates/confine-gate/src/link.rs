//! The addresses of the link between a world and its gate.
//!
//! The addresses lie in ranges that no host of the internet has: 198.18.0.0/15, which is reserved for benchmarks, and a
//! unique local network of IPv6. The world sees nothing of the host's own networks. A world without a link has the
//! resolver's address on its own loopback.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The world's end of the link.
pub const WORLD_V4: Ipv4Addr = Ipv4Addr::new(198, 19, 255, 254);
/// The gate's end of the link: the default route of the world and its resolver.
pub const GATE_V4: Ipv4Addr = Ipv4Addr::new(198, 19, 255, 253);
/// The length of the prefix of both addresses.
pub const PREFIX_V4: u8 = 30;

/// The world's end of the link.
pub const WORLD_V6: Ipv6Addr = Ipv6Addr::new(0xfd61, 0x6762, 0x7368, 0, 0, 0, 0, 2);
/// The gate's end of the link.
pub const GATE_V6: Ipv6Addr = Ipv6Addr::new(0xfd61, 0x6762, 0x7368, 0, 0, 0, 0, 1);
/// The length of the prefix of both addresses.
pub const PREFIX_V6: u8 = 64;

/// The contents of the world's `/etc/resolv.conf`. An unanswered query would be a fault of ours, so programs need no
/// long timeout. A short name is asked for as it is, since below the domain of this machine it would exist as well.
pub const RESOLV_CONF: &str = "nameserver 198.19.255.253\noptions timeout:2 attempts:2 ndots:0\n";

/// The port of resolvers.
pub(super) const DNS_PORT: u16 = 53;

/// Returns whether this is the address of the world's resolver, which no policy names.
pub fn is_resolver(to: SocketAddr) -> bool {
    to.port() == DNS_PORT && (to.ip().to_canonical() == GATE_V4 || to.ip() == GATE_V6)
}

/// The first address that stands for a name.
const FIRST: u32 = u32::from_be_bytes([198, 18, 0, 1]);
/// Number of addresses that stand for names.
pub(super) const NAMES: u32 = u32::from_be_bytes([198, 19, 255, 0]) - FIRST;
/// The IPv6 network of addresses that stand for names. The last four bytes are the IPv4 address.
const NAMES_V6: [u16; 6] = [0xfd61, 0x6762, 0x7368, 1, 0, 0];

/// Returns the addresses that stand for the name with this number.
pub(super) fn addresses_of(number: u32) -> (Ipv4Addr, Ipv6Addr) {
    let v4 = Ipv4Addr::from_bits(FIRST + number % NAMES);
    let [a, b, c, d, e, f] = NAMES_V6;
    let [high, low] = [(v4.to_bits() >> 16) as u16, v4.to_bits() as u16];
    (v4, Ipv6Addr::new(a, b, c, d, e, f, high, low))
}

/// Returns the number of the name that an address stands for.
pub(super) fn number_of(address: IpAddr) -> Option<u32> {
    let bits = match address {
        IpAddr::V4(v4) => v4.to_bits(),
        IpAddr::V6(v6) => (v6.segments()[..6] == NAMES_V6).then(|| v6.to_bits() as u32)?,
    };
    bits.checked_sub(FIRST).filter(|number| *number < NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_its_own_addresses() {
        for number in [0, 1, 255, 65_536, NAMES - 1] {
            let (v4, v6) = addresses_of(number);
            assert_eq!(number_of(v4.into()), Some(number));
            assert_eq!(number_of(v6.into()), Some(number));
        }
    }

    #[test]
    fn other_addresses_have_none() {
        for address in ["198.18.0.0", "198.19.255.253", "198.17.255.255", "127.0.0.1", "fd61:6762:7368::1", "::1"] {
            assert_eq!(number_of(address.parse().expect("an address")), None, "{address}");
        }
        for end in [IpAddr::from(WORLD_V4), GATE_V4.into(), WORLD_V6.into(), GATE_V6.into()] {
            assert_eq!(number_of(end), None);
        }
    }

    #[test]
    fn the_resolver_is_the_end_of_the_gate() {
        assert!(RESOLV_CONF.starts_with(&format!("nameserver {GATE_V4}\n")));
    }
}
