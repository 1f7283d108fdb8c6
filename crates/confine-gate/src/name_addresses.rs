//! The addresses that stand for names, remembered as long as the world lives.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use confine_policy::NetworkScope;

use super::link;

/// The most names that are remembered. Beyond that, the oldest name gives its address away.
const MOST: u32 = 65_536;

/// Returns the lines of `/etc/hosts` for the names that the list of a policy has as they are. Programs that ask a
/// resolver by datagrams alone, as those of musl do, find these names where no datagram reaches one.
pub fn hosts_lines(network: &NetworkScope) -> String {
    let names = NameAddressTable::new(network).by_number;
    (0..).zip(names).map(|(number, name)| format!("{} {name}\n", link::addresses_of(number).0)).collect()
}

/// Names and their addresses.
#[derive(Debug, Default)]
pub(super) struct NameAddressTable {
    by_name: HashMap<Arc<str>, u32>,
    by_number: Vec<Arc<str>>,
    /// The number of names that keep their addresses: those which a policy lists.
    listed: u32,
    /// The number that the next name gets, once all numbers are in use.
    oldest: u32,
}

impl NameAddressTable {
    /// Makes a table with the names that the list of a policy has as they are.
    pub fn new(network: &NetworkScope) -> Self {
        let mut table = Self::default();
        // At least one address is left for others.
        for name in network.listed_names().into_iter().take(MOST as usize - 1) {
            table.remember(name);
        }
        table.listed = table.by_number.len() as u32;
        table.oldest = table.listed;
        table
    }

    /// Returns the addresses that stand for a name, which has the form of the rules.
    pub fn addresses_of(&mut self, name: &str) -> (Ipv4Addr, Ipv6Addr) {
        link::addresses_of(match self.by_name.get(name) {
            Some(number) => *number,
            None => self.remember(name),
        })
    }

    fn remember(&mut self, name: &str) -> u32 {
        let name: Arc<str> = name.into();
        let number = if (self.by_number.len() as u32) < MOST {
            self.by_number.push(name.clone());
            self.by_number.len() as u32 - 1
        } else {
            let number = self.oldest;
            self.oldest = if self.oldest + 1 == MOST { self.listed } else { self.oldest + 1 };
            let gone = std::mem::replace(&mut self.by_number[number as usize], name.clone());
            self.by_name.remove(&gone);
            number
        };
        self.by_name.insert(name, number);
        number
    }

    /// Returns the name that an address stands for.
    pub fn name_of(&self, address: IpAddr) -> Option<&str> {
        self.by_number.get(link::number_of(address)? as usize).map(AsRef::as_ref)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use confine_policy::{AllowEntry, AllowHost};

    use super::*;

    #[test]
    fn a_name_keeps_its_addresses() {
        let mut names = NameAddressTable::default();
        let (v4, v6) = names.addresses_of("a.test");
        let (other, _) = names.addresses_of("b.test");
        assert_ne!(v4, other);
        assert_eq!(names.addresses_of("a.test"), (v4, v6));
        assert_eq!((names.name_of(v4.into()), names.name_of(v6.into())), (Some("a.test"), Some("a.test")));
        assert_eq!(names.name_of([198, 18, 0, 77].into()), None);
    }

    #[test]
    fn a_listed_name_has_the_address_of_the_hosts_file_for_good() {
        let entry = |host| AllowEntry { host, port: None };
        let (listed, below) = (AllowHost::Name("a.test".into()), AllowHost::Below("b.test".into()));
        let entries = vec![entry(listed.clone()), entry(below), AllowEntry { host: listed, port: Some(1) }];
        let network = NetworkScope::Allow { entries, hosts: BTreeMap::new() };
        assert_eq!(hosts_lines(&network), "198.18.0.1 a.test\n");
        let mut names = NameAddressTable::new(&network);
        for n in 0..2 * MOST {
            names.addresses_of(&format!("{n}.b.test"));
        }
        assert_eq!(names.addresses_of("a.test").0, Ipv4Addr::new(198, 18, 0, 1));
    }

    #[test]
    fn the_oldest_name_gives_its_address_away() {
        let mut names = NameAddressTable::default();
        let (first, _) = names.addresses_of("first.test");
        for n in 0..MOST {
            names.addresses_of(&format!("{n}.test"));
        }
        assert_eq!(names.name_of(first.into()), Some(format!("{}.test", MOST - 1).as_str()));
        assert_eq!((names.by_name.len(), names.by_number.len()), (MOST as usize, MOST as usize));
        assert_ne!(names.addresses_of("first.test").0, first);
    }
}
