//! The hosts that a world may reach.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use confine_policy::{AllowEntry, AllowHost, NetworkScope};

use super::forbidden_addresses::is_public;

/// The ports of an entry without a port.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// The list of allowed hosts. Names are in lower case and have no final dot.
#[derive(Debug, Clone, Default)]
pub(super) struct AllowedHosts {
    entries: Vec<AllowEntry>,
    hosts: BTreeMap<String, IpAddr>,
}

impl AllowedHosts {
    /// Returns the list of a policy, which is empty if the policy has no list.
    pub fn new(network: &NetworkScope) -> Self {
        match network {
            NetworkScope::None | NetworkScope::Full => Self::default(),
            NetworkScope::Allow { entries, hosts } => Self { entries: entries.clone(), hosts: hosts.clone() },
        }
    }

    /// Returns whether no host may be reached.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether an entry has this name, at any port.
    pub fn has_entry_for(&self, name: &str) -> bool {
        self.entries.iter().any(|entry| entry.host.has_name(name))
    }

    /// Returns whether this name may be reached at this port.
    pub fn allows_name(&self, name: &str, port: u16) -> bool {
        self.entries.iter().any(|entry| entry.host.has_name(name) && has_port(entry, port))
    }

    /// Returns whether this address may be reached at this port by itself, without a name. An address outside the
    /// internet needs an entry that includes such addresses: the whole internet does not include them.
    pub fn allows_address(&self, address: IpAddr, port: u16) -> bool {
        let means = |host: &AllowHost| {
            is_public(address) || matches!(host, AllowHost::Net(network, prefix) if is_private(*network, *prefix))
        };
        self.entries
            .iter()
            .any(|entry| matches_address(&entry.host, address) && has_port(entry, port) && means(&entry.host))
    }

    /// Returns the address that the caller gave to a name.
    pub fn mapped_address(&self, name: &str) -> Option<IpAddr> {
        self.hosts.get(name).copied()
    }

    /// Returns all ports at which some host may be reached.
    pub fn ports(&self) -> BTreeSet<u16> {
        self.entries.iter().flat_map(|entry| entry.port.map_or(DEFAULT_PORTS.to_vec(), |port| vec![port])).collect()
    }
}

fn has_port(entry: &AllowEntry, port: u16) -> bool {
    entry.port.map_or(DEFAULT_PORTS.contains(&port), |only| only == port)
}

/// Returns whether a network is wholly private. The largest private networks have prefixes of 7 and 8 bits.
fn is_private(network: IpAddr, prefix: u8) -> bool {
    prefix >= if network.is_ipv4() { 8 } else { 7 } && !is_public(network)
}

fn matches_address(host: &AllowHost, address: IpAddr) -> bool {
    let AllowHost::Net(network, prefix) = host else { return false };
    let shift = |width: u8| u32::from(width.saturating_sub(*prefix));
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            (network.to_bits() ^ address.to_bits()).checked_shr(shift(32)).unwrap_or(0) == 0
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            (network.to_bits() ^ address.to_bits()).checked_shr(shift(128)).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str, port: Option<u16>) -> AllowEntry {
        let host = name.strip_prefix("*.").map_or_else(|| AllowHost::Name(name.into()), |d| AllowHost::Below(d.into()));
        AllowEntry { host, port }
    }

    fn net(text: &str, prefix: u8, port: Option<u16>) -> AllowEntry {
        AllowEntry { host: AllowHost::Net(text.parse().expect("an address"), prefix), port }
    }

    fn rules() -> AllowedHosts {
        let entries = vec![
            name("example.org", None),
            name("*.example.net", Some(8443)),
            name("git.example.com", Some(22)),
            net("10.1.0.0", 16, Some(5432)),
            net("192.0.2.7", 32, None),
            net("2001:db8::", 32, None),
            net("0.0.0.0", 0, Some(9)),
        ];
        let hosts = BTreeMap::from([("db.example.org".to_owned(), IpAddr::from([127, 0, 0, 1]))]);
        AllowedHosts::new(&NetworkScope::Allow { entries, hosts })
    }

    #[test]
    fn names() {
        for (name, port, allowed) in [
            ("example.org", 443, true),
            ("example.org", 80, true),
            ("example.org", 8080, false),
            ("www.example.org", 443, false),
            ("example.org.evil.test", 443, false),
            ("a.example.net", 8443, true),
            ("a.b.example.net", 8443, true),
            ("a.example.net", 443, false),
            ("example.net", 8443, false),
            (".example.net", 8443, false),
            ("aexample.net", 8443, false),
            ("git.example.com", 22, true),
            ("git.example.com", 443, false),
            ("", 443, false),
            ("10.1.2.3", 5432, false),
        ] {
            assert_eq!(rules().allows_name(name, port), allowed, "{name}:{port}");
        }
        assert!(rules().has_entry_for("a.example.net") && !rules().has_entry_for("example.net"));
    }

    #[test]
    fn addresses() {
        for (address, port, allowed) in [
            ("10.1.255.255", 5432, true),
            ("10.2.0.0", 5432, false),
            ("10.1.0.1", 443, false),
            ("192.0.2.7", 443, true),
            ("192.0.2.8", 443, false),
            ("2001:db8:ffff::1", 80, true),
            ("2001:db9::", 80, false),
            ("::ffff:192.0.2.7", 443, false),
            ("8.8.8.8", 9, true),
            ("10.9.9.9", 9, false),
            ("169.254.169.254", 9, false),
            ("2001:db9::", 9, false),
        ] {
            assert_eq!(rules().allows_address(address.parse().expect("an address"), port), allowed, "{address}:{port}");
        }
    }

    #[test]
    fn ports() {
        assert_eq!(rules().ports().into_iter().collect::<Vec<_>>(), [9, 22, 80, 443, 5432, 8443]);
        assert!(AllowedHosts::new(&NetworkScope::None).ports().is_empty());
    }
}
