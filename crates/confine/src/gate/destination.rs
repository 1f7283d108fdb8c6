//! The destination of a connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::Grant;
use sys::Transport;

use super::addresses::{is_own, is_public};
use super::handshake::{Dialled, Mismatch};
use super::names::Names;
use super::rules::Rules;

/// The destination of a connection that a program opens.
#[derive(Debug)]
pub(super) enum Destination {
    /// The gate dials one of these addresses.
    Dial(Vec<SocketAddr>, Dialled),
    /// The gate resolves this name first.
    Resolve(String),
    /// The gate refuses the connection.
    Refuse(Refusal),
}

/// A refusal, as a result reports it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refusal {
    /// `host:port`.
    pub target: String,
    /// The change of the options that would allow the connection.
    pub grant: Option<Grant>,
}

impl Refusal {
    /// Returns the refusal of a host without an entry, which an entry would allow.
    fn of_stranger(target: String) -> Self {
        let grant = Some(Grant::Host(target.clone()));
        Self { target, grant }
    }

    /// Returns the refusal of a packet without a listener. Datagrams are never allowed, even where connections are.
    pub fn by_kernel(rules: &Rules, names: &Names, transport: Transport, to: SocketAddr) -> Self {
        let target = target(names, to);
        if transport == Transport::Tcp {
            return Self::of_stranger(target);
        }
        let ip = to.ip().to_canonical();
        let allowed = names.name_of(ip).map(|name| rules.allows_name(name, to.port()));
        let allowed = allowed.unwrap_or_else(|| rules.allows_address(ip, to.port()));
        Self { target: if allowed { format!("{target}/udp") } else { target }, grant: None }
    }

    /// Returns the refusal of a connection whose handshake names another host, or no host. No entry allows such a
    /// connection.
    pub fn of_handshake(dialled: Option<&Dialled>, to: SocketAddr, mismatch: Mismatch) -> Self {
        let host = match (mismatch.claimed, dialled) {
            (Some(claimed), _) => claimed,
            (None, Some(Dialled::Name { name, .. })) => name.clone(),
            (None, _) => return Self { target: to.to_string(), grant: None },
        };
        Self { target: format!("{host}:{}", to.port()), grant: None }
    }
}

/// Decides about a connection to an address, which may stand for a name.
pub(super) fn decide(rules: &Arc<Rules>, names: &Names, to: SocketAddr) -> Destination {
    let (ip, port) = (to.ip().to_canonical(), to.port());
    let Some(name) = names.name_of(ip) else {
        if rules.allows_address(ip, port) {
            let dialled = Dialled::Address { address: ip, port, rules: rules.clone() };
            return Destination::Dial(vec![SocketAddr::new(ip, port)], dialled);
        }
        return Destination::Refuse(Refusal::of_stranger(target(names, to)));
    };
    if !rules.allows_name(name, port) {
        return Destination::Refuse(Refusal::of_stranger(target(names, to)));
    }
    match rules.mapped(name) {
        Some(ip) => {
            let dialled = Dialled::Name { name: name.to_owned(), mapped: true };
            Destination::Dial(vec![SocketAddr::new(ip, port)], dialled)
        }
        None => Destination::Resolve(name.to_owned()),
    }
}

/// Decides which addresses of a name may be dialled.
pub(super) fn check(rules: &Rules, name: &str, port: u16, addresses: &[IpAddr]) -> Destination {
    let may = |ip: &IpAddr| (is_public(*ip) && !is_own(*ip)) || rules.allows_address(*ip, port);
    let all: Vec<IpAddr> = addresses.iter().map(IpAddr::to_canonical).collect();
    let checked: Vec<SocketAddr> = all.iter().copied().filter(may).map(|ip| SocketAddr::new(ip, port)).collect();
    match (checked.is_empty(), all.first()) {
        // An entry with the address itself would allow the connection.
        (true, Some(ip)) => {
            let grant = Some(Grant::Host(SocketAddr::new(*ip, port).to_string()));
            Destination::Refuse(Refusal { target: format!("{name}:{port}"), grant })
        }
        _ => Destination::Dial(checked, Dialled::Name { name: name.to_owned(), mapped: false }),
    }
}

/// Returns the text for the destination of a program: the name that the address stands for, or else the address.
pub(super) fn target(names: &Names, to: SocketAddr) -> String {
    let ip = to.ip().to_canonical();
    match names.name_of(ip) {
        Some(name) => format!("{name}:{}", to.port()),
        None => SocketAddr::new(ip, to.port()).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Network;
    use crate::policy::{AllowEntry, AllowHost};

    fn rules() -> Arc<Rules> {
        let entry = |host, port| AllowEntry { host, port };
        let name = |name: &str| AllowHost::Name(name.to_owned());
        let entries = vec![
            entry(name("a.test"), None),
            entry(name("mapped.test"), Some(3000)),
            entry(AllowHost::Net([10, 0, 0, 5].into(), 32), Some(5432)),
            entry(AllowHost::Net([0, 0, 0, 0].into(), 0), Some(9)),
        ];
        let hosts = BTreeMap::from([("mapped.test".to_owned(), IpAddr::from([127, 0, 0, 1]))]);
        Arc::new(Rules::new(&Network::Allow { entries, hosts }))
    }

    fn text(destination: &Destination) -> String {
        match destination {
            Destination::Dial(to, _) => format!("dial {to:?}"),
            Destination::Resolve(name) => format!("resolve {name}"),
            Destination::Refuse(Refusal { target, grant: Some(Grant::Host(host)) }) => {
                format!("refuse {target}, {host}")
            }
            Destination::Refuse(Refusal { target, .. }) => format!("refuse {target}"),
        }
    }

    #[test]
    fn addresses_that_programs_dial() {
        let mut names = Names::default();
        let mut of = |name: &str| names.addresses_of(name).0.to_string();
        let (a, mapped, gone) = (of("a.test"), of("mapped.test"), of("gone.test"));
        for (to, expected) in [
            (format!("{a}:443"), "resolve a.test"),
            (format!("{a}:22"), "refuse a.test:22, a.test:22"),
            (format!("[::ffff:{a}]:80"), "resolve a.test"),
            (format!("{mapped}:3000"), "dial [127.0.0.1:3000]"),
            (format!("{mapped}:80"), "refuse mapped.test:80, mapped.test:80"),
            (format!("{gone}:80"), "refuse gone.test:80, gone.test:80"),
            ("10.0.0.5:5432".to_owned(), "dial [10.0.0.5:5432]"),
            ("[::ffff:10.0.0.5]:5432".to_owned(), "dial [10.0.0.5:5432]"),
            ("10.0.0.6:5432".to_owned(), "refuse 10.0.0.6:5432, 10.0.0.6:5432"),
            ("8.8.8.8:9".to_owned(), "dial [8.8.8.8:9]"),
            ("169.254.169.254:9".to_owned(), "refuse 169.254.169.254:9, 169.254.169.254:9"),
            ("[2001:db8::1]:80".to_owned(), "refuse [2001:db8::1]:80, [2001:db8::1]:80"),
        ] {
            assert_eq!(text(&decide(&rules(), &names, to.parse().expect("an address"))), expected, "{to}");
        }
    }

    #[test]
    fn addresses_that_names_mean() {
        for (name, port, addresses, expected) in [
            ("a.test", 443, vec!["8.8.8.8"], "dial [8.8.8.8:443]"),
            ("a.test", 443, vec!["10.0.0.1", "8.8.8.8"], "dial [8.8.8.8:443]"),
            ("a.test", 443, vec!["10.0.0.1"], "refuse a.test:443, 10.0.0.1:443"),
            ("a.test", 443, vec!["::ffff:10.0.0.1"], "refuse a.test:443, 10.0.0.1:443"),
            ("a.test", 443, vec!["::1", "127.0.0.1"], "refuse a.test:443, [::1]:443"),
            ("a.test", 5432, vec!["10.0.0.5"], "dial [10.0.0.5:5432]"),
            ("a.test", 443, vec![], "dial []"),
        ] {
            let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().expect("an address")).collect();
            assert_eq!(text(&check(&rules(), name, port, &addresses)), expected);
        }
    }
}
