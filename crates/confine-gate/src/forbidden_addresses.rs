//! Addresses that a name of the internet must not resolve to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Networks of IPv4 that no host of the internet has, as reserved by RFC 6890 and its successors.
const RESERVED_V4: [([u8; 4], u32); 16] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 31, 196, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
];

/// Networks within the global range of IPv6 that no ordinary host has: protocols of their own, tunnels that carry an
/// IPv4 address, documentation.
const RESERVED_V6: [([u16; 2], u32); 5] =
    [([0x2001, 0], 23), ([0x2001, 0xdb8], 32), ([0x2002, 0], 16), ([0x3fff, 0], 20), ([0x2620, 0x4f], 32)];

/// Returns whether an address belongs to the internet: it is not private, loopback, link-local, shared, multicast,
/// reserved, mapped or translated.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        // All of IPv6 outside 2000::/3 is not public, including the prefixes of mapped and translated addresses.
        IpAddr::V6(v6) => v6.segments()[0] & 0xe000 == 0x2000 && !RESERVED_V6.iter().any(|network| in_v6(v6, *network)),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    !RESERVED_V4
        .iter()
        .any(|(network, prefix)| (address.to_bits() ^ u32::from_be_bytes(*network)) >> (32 - prefix) == 0)
}

fn in_v6(address: Ipv6Addr, ([high, low], prefix): ([u16; 2], u32)) -> bool {
    let network = u32::from(high) << 16 | u32::from(low);
    ((address.to_bits() >> 96) as u32 ^ network) >> (32 - prefix) == 0
}

/// Returns whether this machine itself has an address. A name with such an address would reach servers of the host.
pub(super) fn is_own(address: IpAddr) -> bool {
    UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_internet() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.255",
            "192.167.255.255",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2a00::1",
        ] {
            assert!(is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn addresses_of_nobody_there() {
        for address in [
            "0.0.0.0",
            "0.255.255.255",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "203.0.113.5",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:53aa:64c:0:0:f500:1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd61:6762:7368::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address.parse().expect("an address")), "{address}");
        }
    }

    #[test]
    fn the_loopback_is_an_address_of_this_machine() {
        assert!(is_own([127, 0, 0, 1].into()));
        assert!(!is_own([192, 0, 2, 1].into()));
    }
}
