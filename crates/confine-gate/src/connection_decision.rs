//! The destination of a connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use confine_policy::SuggestedGrant;
use sys::InternetTransport;

use super::allowed_hosts::AllowedHosts;
use super::forbidden_addresses::{is_own, is_public};
use super::handshake::{DialledDestination, HandshakeMismatch};
use super::name_addresses::NameAddressTable;

/// The destination of a connection that a program opens.
#[derive(Debug)]
pub(super) enum ConnectionDecision {
    /// The gate dials one of these addresses.
    Dial(Vec<SocketAddr>, DialledDestination),
    /// The gate resolves this name first.
    Resolve(String),
    /// The gate refuses the connection.
    Refuse(RefusedTarget),
}

/// A refusal, as a result reports it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefusedTarget {
    /// `host:port`.
    pub target: String,
    /// The change of the options that would allow the connection.
    pub grant: Option<SuggestedGrant>,
}

impl RefusedTarget {
    /// Returns the refusal of a host without an entry, which an entry would allow.
    fn of_stranger(target: String) -> Self {
        let grant = Some(SuggestedGrant::Host(target.clone()));
        Self { target, grant }
    }

    /// Returns the refusal of a packet without a listener. Datagrams are never allowed, even where connections are.
    pub fn by_kernel(
        rules: &AllowedHosts,
        names: &NameAddressTable,
        transport: InternetTransport,
        to: SocketAddr,
    ) -> Self {
        let target = target_text(names, to);
        if transport == InternetTransport::Tcp {
            return Self::of_stranger(target);
        }
        let ip = to.ip().to_canonical();
        let allowed = names.name_of(ip).map(|name| rules.allows_name(name, to.port()));
        let allowed = allowed.unwrap_or_else(|| rules.allows_address(ip, to.port()));
        Self { target: if allowed { format!("{target}/udp") } else { target }, grant: None }
    }

    /// Returns the refusal of a connection whose handshake names another host, or no host. No entry allows such a
    /// connection.
    pub fn of_handshake(dialled: Option<&DialledDestination>, to: SocketAddr, mismatch: HandshakeMismatch) -> Self {
        let host = match (mismatch.claimed, dialled) {
            (Some(claimed), _) => claimed,
            (None, Some(DialledDestination::Name { name, .. })) => name.clone(),
            (None, _) => return Self { target: to.to_string(), grant: None },
        };
        Self { target: format!("{host}:{}", to.port()), grant: None }
    }
}

/// Decides about a connection to an address, which may stand for a name.
pub(super) fn decide_by_address(
    rules: &Arc<AllowedHosts>,
    names: &NameAddressTable,
    to: SocketAddr,
) -> ConnectionDecision {
    let (ip, port) = (to.ip().to_canonical(), to.port());
    let Some(name) = names.name_of(ip) else {
        if rules.allows_address(ip, port) {
            let dialled = DialledDestination::Address { address: ip, port, rules: rules.clone() };
            return ConnectionDecision::Dial(vec![SocketAddr::new(ip, port)], dialled);
        }
        return ConnectionDecision::Refuse(RefusedTarget::of_stranger(target_text(names, to)));
    };
    if !rules.allows_name(name, port) {
        return ConnectionDecision::Refuse(RefusedTarget::of_stranger(target_text(names, to)));
    }
    match rules.mapped_address(name) {
        Some(ip) => {
            let dialled = DialledDestination::Name { name: name.to_owned(), mapped: true };
            ConnectionDecision::Dial(vec![SocketAddr::new(ip, port)], dialled)
        }
        None => ConnectionDecision::Resolve(name.to_owned()),
    }
}

/// Decides which addresses of a name may be dialled.
pub(super) fn decide_by_resolved_name(
    rules: &AllowedHosts,
    name: &str,
    port: u16,
    addresses: &[IpAddr],
) -> ConnectionDecision {
    let may = |ip: &IpAddr| (is_public(*ip) && !is_own(*ip)) || rules.allows_address(*ip, port);
    let all: Vec<IpAddr> = addresses.iter().map(IpAddr::to_canonical).collect();
    let checked: Vec<SocketAddr> = all.iter().copied().filter(may).map(|ip| SocketAddr::new(ip, port)).collect();
    match (checked.is_empty(), all.first()) {
        // An entry with the address itself would allow the connection.
        (true, Some(ip)) => {
            let grant = Some(SuggestedGrant::Host(SocketAddr::new(*ip, port).to_string()));
            ConnectionDecision::Refuse(RefusedTarget { target: format!("{name}:{port}"), grant })
        }
        _ => ConnectionDecision::Dial(checked, DialledDestination::Name { name: name.to_owned(), mapped: false }),
    }
}

/// Returns the text for the destination of a program: the name that the address stands for, or else the address.
pub(super) fn target_text(names: &NameAddressTable, to: SocketAddr) -> String {
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
    use confine_policy::{AllowEntry, AllowHost, NetworkScope};

    fn rules() -> Arc<AllowedHosts> {
        let entry = |host, port| AllowEntry { host, port };
        let name = |name: &str| AllowHost::Name(name.to_owned());
        let entries = vec![
            entry(name("a.test"), None),
            entry(name("mapped.test"), Some(3000)),
            entry(AllowHost::Net([10, 0, 0, 5].into(), 32), Some(5432)),
            entry(AllowHost::Net([0, 0, 0, 0].into(), 0), Some(9)),
        ];
        let hosts = BTreeMap::from([("mapped.test".to_owned(), IpAddr::from([127, 0, 0, 1]))]);
        Arc::new(AllowedHosts::new(&NetworkScope::Allow { entries, hosts }))
    }

    fn text(destination: &ConnectionDecision) -> String {
        match destination {
            ConnectionDecision::Dial(to, _) => format!("dial {to:?}"),
            ConnectionDecision::Resolve(name) => format!("resolve {name}"),
            ConnectionDecision::Refuse(RefusedTarget { target, grant: Some(SuggestedGrant::Host(host)) }) => {
                format!("refuse {target}, {host}")
            }
            ConnectionDecision::Refuse(RefusedTarget { target, .. }) => format!("refuse {target}"),
        }
    }

    #[test]
    fn addresses_that_programs_dial() {
        let mut names = NameAddressTable::default();
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
            assert_eq!(text(&decide_by_address(&rules(), &names, to.parse().expect("an address"))), expected, "{to}");
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
            assert_eq!(text(&decide_by_resolved_name(&rules(), name, port, &addresses)), expected);
        }
    }
}
