//! Files that say where names lead: `/etc/hosts` and `/etc/resolv.conf`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The most servers that are asked, as with other resolvers.
const SERVERS: usize = 3;
/// The most dots that a name may need to be asked as it is first.
const MOST_DOTS: usize = 15;

/// How names are asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct ResolverConfig {
    /// The servers.
    pub servers: Vec<IpAddr>,
    /// The domains that a short name may be in.
    pub search: Vec<String>,
    /// A name with fewer dots is short.
    pub dots: usize,
}

impl ResolverConfig {
    /// Reads the text of `/etc/resolv.conf`.
    pub fn of(text: &str) -> Self {
        let mut asking = Self { servers: Vec::new(), search: Vec::new(), dots: 1 };
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            match words.next() {
                Some("nameserver") if asking.servers.len() < SERVERS => {
                    asking.servers.extend(words.next().and_then(|word| word.parse::<IpAddr>().ok()));
                }
                Some("search" | "domain") => {
                    asking.search = words.map(|word| word.trim_matches('.').to_owned()).collect();
                }
                Some("options") => {
                    let dots = words.filter_map(|word| word.strip_prefix("ndots:")?.parse::<usize>().ok()).next_back();
                    asking.dots = dots.map_or(asking.dots, |dots| dots.min(MOST_DOTS));
                }
                _ => {}
            }
        }
        if asking.servers.is_empty() {
            asking.servers.push(Ipv4Addr::LOCALHOST.into());
        }
        asking
    }

    /// Returns the full names to ask for, in order.
    pub fn candidate_names(&self, name: &str) -> Vec<String> {
        if let Some(full) = name.strip_suffix('.') {
            return vec![full.to_owned()];
        }
        let within = self.search.iter().filter(|domain| !domain.is_empty()).map(|domain| format!("{name}.{domain}"));
        let is_short = name.matches('.').count() < self.dots;
        let (first, last) = if is_short { (None, Some(name)) } else { (Some(name), None) };
        first.map(str::to_owned).into_iter().chain(within).chain(last.map(str::to_owned)).collect()
    }
}

/// Returns the addresses of a name without a server: of an address, by the text of `/etc/hosts`, or of this machine.
pub fn addresses_without_server(name: &str, hosts: &str) -> Vec<IpAddr> {
    if let Ok(address) = name.parse() {
        return vec![address];
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    let lines = hosts.lines().filter_map(|line| line.split('#').next()?.trim().split_once(char::is_whitespace));
    let named = lines.filter(|(_, names)| names.split_whitespace().any(|found| found.eq_ignore_ascii_case(name)));
    let found: Vec<IpAddr> = named.filter_map(|(address, _)| address.parse().ok()).collect();
    let is_local = name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
    if found.is_empty() && is_local {
        return vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(text: &str) -> ResolverConfig {
        ResolverConfig::of(text)
    }

    #[test]
    fn servers_and_domains_are_read() {
        let pod = "nameserver 10.96.0.10\n# nameserver 1.1.1.1\nsearch ns.svc.cluster.local svc.cluster.local.\n\
                   options timeout:1 ndots:5\nnameserver fd00::1\nnameserver fe80::1%eth0\n";
        let search = vec!["ns.svc.cluster.local".to_owned(), "svc.cluster.local".to_owned()];
        let servers = vec!["10.96.0.10".parse().expect("one"), "fd00::1".parse().expect("one")];
        assert_eq!(asking(pod), ResolverConfig { servers, search, dots: 5 });
        assert_eq!(asking("").servers, [IpAddr::from(Ipv4Addr::LOCALHOST)]);
    }

    #[test]
    fn short_names_are_sought_in_the_domains_first() {
        let pod = asking("search a b\noptions ndots:2");
        assert_eq!(pod.candidate_names("web"), ["web.a", "web.b", "web"]);
        assert_eq!(pod.candidate_names("web.other"), ["web.other.a", "web.other.b", "web.other"]);
        assert_eq!(pod.candidate_names("x.y.z"), ["x.y.z", "x.y.z.a", "x.y.z.b"]);
        assert_eq!(pod.candidate_names("web."), ["web"]);
        assert_eq!(asking("").candidate_names("web"), ["web"]);
    }

    #[test]
    fn some_names_need_no_server() {
        let hosts = "127.0.0.1 localhost\n10.0.0.1\tdb db.test # a comment\n::2 DB\nbad line\n";
        let found = |name| addresses_without_server(name, hosts).iter().map(IpAddr::to_string).collect::<Vec<_>>();
        assert_eq!(found("10.1.2.3"), ["10.1.2.3"]);
        assert_eq!(found("::1"), ["::1"]);
        assert_eq!(found("db"), ["10.0.0.1", "::2"]);
        assert_eq!(found("db.test."), ["10.0.0.1"]);
        assert_eq!(found("localhost"), ["127.0.0.1"]);
        assert_eq!(found("app.LocalHost"), ["127.0.0.1", "::1"]);
        assert_eq!(found("comment"), Vec::<String>::new());
    }
}
