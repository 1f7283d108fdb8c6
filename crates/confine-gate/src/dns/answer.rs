//! Decides how a query is answered.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::time::Instant;

use super::message::{self, DnsOutcome, DnsQuery, DnsRecordKind};
use super::unpaired_queries::UnpairedQueries;
use crate::allowed_hosts::AllowedHosts;
use crate::connection_decision::RefusedTarget;
use crate::name_addresses::NameAddressTable;
use confine_policy::SuggestedGrant;

/// The answer to a query.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DnsReply {
    /// The message.
    pub answer: Vec<u8>,
    /// The refusal of a name that is not allowed, unless the query completes a pair.
    pub refused: Option<RefusedTarget>,
}

/// The resolver of a world. In a world with allowed hosts each name has addresses: a name without an entry is refused
/// where a connection to it says the port that is wanted.
#[derive(Debug)]
pub(crate) struct WorldResolver<'a> {
    /// Which names exist.
    pub rules: &'a AllowedHosts,
    /// The addresses of the names.
    pub names: &'a mut NameAddressTable,
    /// Names that were refused a moment ago.
    pub pairs: &'a mut UnpairedQueries,
    /// Whether the world has IPv6.
    pub v6: bool,
}

impl WorldResolver<'_> {
    /// Answers a query. `None`: the query gets no answer.
    pub fn answer_query(&mut self, message: &[u8]) -> Option<DnsReply> {
        let query = message::parse(message)?;
        let (outcome, refused) = self.decide(&query);
        let refused = refused.filter(|name| !self.pairs.completes_pair(name, query.kind, Instant::now()));
        // Of a name with an entry a program learns nothing but its addresses.
        let grants = matches!(query.kind, DnsRecordKind::A | DnsRecordKind::Aaaa);
        let refused =
            refused.map(|target| RefusedTarget { grant: grants.then(|| SuggestedGrant::Host(target.clone())), target });
        Some(DnsReply { answer: message::build_answer(&query, outcome.as_ref()), refused })
    }

    fn decide(&mut self, query: &DnsQuery) -> (OwnedDnsOutcome, Option<String>) {
        let Some(name) = &query.name else {
            // The name has bytes that no host's name has, or there is no question at all.
            return (
                OwnedDnsOutcome::Plain(if query.is_whole() { DnsOutcome::NoName } else { DnsOutcome::Damaged }),
                None,
            );
        };
        if !query.standard {
            return (OwnedDnsOutcome::Plain(DnsOutcome::NotImplemented), None);
        }
        if let Some(address) = message::address_of_reverse_name(name) {
            let known = self.names.name_of(address).filter(|_| query.kind == DnsRecordKind::Ptr);
            return (
                known.map_or(OwnedDnsOutcome::Plain(DnsOutcome::NoName), |name| OwnedDnsOutcome::Name(name.to_owned())),
                None,
            );
        }
        // The name of the world's own loopback, whatever the rules say.
        if name == "localhost" || name.ends_with(".localhost") {
            return (self.address_outcome(query.kind, (Ipv4Addr::LOCALHOST, Ipv6Addr::LOCALHOST)), None);
        }
        // Programs look for services of a host before they ask for its address. Probes ask for the root.
        let silent = name.is_empty() || service_of(name).is_some_and(|host| self.rules.has_entry_for(host));
        if self.rules.has_entry_for(name) || (!self.rules.is_empty() && !silent) {
            let addresses = self.names.addresses_of(name);
            let is_stranger = query.kind == DnsRecordKind::Other && !self.rules.has_entry_for(name);
            return (self.address_outcome(query.kind, addresses), is_stranger.then(|| name.clone()));
        }
        (OwnedDnsOutcome::Plain(DnsOutcome::NoName), (!silent).then(|| name.clone()))
    }

    fn address_outcome(&self, kind: DnsRecordKind, (v4, v6): (Ipv4Addr, Ipv6Addr)) -> OwnedDnsOutcome {
        OwnedDnsOutcome::Plain(match kind {
            DnsRecordKind::A => DnsOutcome::Address(v4.into()),
            DnsRecordKind::Aaaa if self.v6 => DnsOutcome::Address(v6.into()),
            _ => DnsOutcome::NoData,
        })
    }
}

/// Returns the host below labels that name a service or a protocol.
fn service_of(mut name: &str) -> Option<&str> {
    while name.starts_with('_') {
        name = name.split_once('.')?.1;
    }
    Some(name)
}

/// An outcome that owns its name.
enum OwnedDnsOutcome {
    Plain(DnsOutcome<'static>),
    Name(String),
}

impl OwnedDnsOutcome {
    fn as_ref(&self) -> DnsOutcome<'_> {
        match self {
            Self::Plain(outcome) => *outcome,
            Self::Name(name) => DnsOutcome::Name(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::dns::build_query;
    use confine_policy::{AllowEntry, AllowHost, NetworkScope};

    /// Asks a query, and returns the code of the answer, the last bytes of its data, and the refused name.
    fn look(name: &str, kind: u16, v6: bool) -> (u8, Vec<u8>, Option<String>) {
        let entry = |host| AllowEntry { host, port: None };
        let entries = vec![entry(AllowHost::Name("a.test".into())), entry(AllowHost::Below("b.test".into()))];
        let (code, data, refused) = look_by(&NetworkScope::Allow { entries, hosts: BTreeMap::new() }, name, kind, v6);
        (code, data, refused.map(|refusal| refusal.target))
    }

    fn look_by(network: &NetworkScope, name: &str, kind: u16, v6: bool) -> (u8, Vec<u8>, Option<RefusedTarget>) {
        let rules = AllowedHosts::new(network);
        let (mut names, mut pairs) = (NameAddressTable::default(), UnpairedQueries::default());
        let asked = build_query(name, kind);
        let looked = WorldResolver { rules: &rules, names: &mut names, pairs: &mut pairs, v6 }
            .answer_query(&asked)
            .expect("an answer");
        let data = looked.answer.get(asked.len() + 12..).unwrap_or_default().to_vec();
        (looked.answer[3] & 0xf, data, looked.refused)
    }

    #[test]
    fn allowed_names_have_addresses_of_their_own() {
        assert_eq!(look("a.test", 1, true), (0, vec![198, 18, 0, 1], None));
        assert_eq!(look("A.Test", 1, true), (0, vec![198, 18, 0, 1], None));
        assert_eq!(look("x.y.b.test", 1, true), (0, vec![198, 18, 0, 1], None));
        let (code, data, refused) = look("a.test", 28, true);
        assert_eq!((code, data.len(), refused), (0, 16, None));
        assert_eq!(look("a.test", 28, false), (0, vec![], None), "a world without IPv6");
        assert_eq!(look("a.test", 65, true), (0, vec![], None), "no key for an encrypted name");
    }

    #[test]
    fn a_name_without_an_entry_is_refused_where_its_port_is_known() {
        for name in ["b.test", "c.test", "a.test.c.test", "secret.evil.test", "db"] {
            assert_eq!(look(name, 1, true), (0, vec![198, 18, 0, 1], None), "{name}");
            assert_eq!((look(name, 28, true).1.len(), look(name, 28, true).2), (16, None), "{name}");
            assert_eq!(look(name, 65, true), (0, vec![], None), "{name}");
            for kind in [16, 255] {
                assert_eq!(look(name, kind, true), (0, vec![], Some(name.to_owned())), "{name}");
            }
        }
    }

    #[test]
    fn no_name_exists_without_allowed_hosts() {
        for (kind, grant) in [(1, Some("c.test")), (28, Some("c.test")), (16, None), (65, None)] {
            let grant = grant.map(|host| SuggestedGrant::Host(host.to_owned()));
            let refused = RefusedTarget { target: "c.test".to_owned(), grant };
            assert_eq!(look_by(&NetworkScope::None, "c.test", kind, true), (3, vec![], Some(refused)), "{kind}");
        }
    }

    #[test]
    fn lookups_that_programs_make_by_themselves_are_no_denials() {
        assert_eq!(look("_http._tcp.a.test", 33, true), (3, vec![], None));
        assert_eq!(look("1.0.18.198.in-addr.arpa", 12, true), (3, vec![], None));
        assert_eq!(look("", 2, true), (3, vec![], None));
        assert_eq!(look("_http._tcp.c.test", 33, true).2, Some("_http._tcp.c.test".to_owned()));
    }

    #[test]
    fn localhost_is_the_world_itself() {
        assert_eq!(look("localhost", 1, true), (0, vec![127, 0, 0, 1], None));
        assert_eq!(look("x.localhost", 1, true), (0, vec![127, 0, 0, 1], None));
        assert_eq!(look("notlocalhost", 1, true).1, [198, 18, 0, 1]);
    }
}
