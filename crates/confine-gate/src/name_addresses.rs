//! The addresses that stand for names, remembered as long as the world lives.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use super::link;

/// The most names that are remembered. Beyond that, the oldest name gives its address away.
const MOST: u32 = 65_536;

/// Names and their addresses.
#[derive(Debug, Default)]
pub(super) struct NameAddressTable {
    by_name: HashMap<Arc<str>, u32>,
    by_number: Vec<Arc<str>>,
    /// The number that the next name gets, once all numbers are in use.
    oldest: u32,
}

impl NameAddressTable {
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
            self.oldest = (self.oldest + 1) % MOST;
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
