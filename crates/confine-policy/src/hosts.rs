//! Entries of `network.allow`, and the names of `network.hosts`.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::policy_error::PolicyFault;

/// The longest name in the DNS.
const LONGEST_NAME: usize = 253;
/// The longest label of a name.
const LONGEST_LABEL: usize = 63;

/// A host or several, with the ports that may be reached there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct AllowEntry {
    /// The host.
    pub host: AllowHost,
    /// The port. `None`: 80 and 443.
    pub port: Option<u16>,
}

/// The host of an [`AllowEntry`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AllowHost {
    /// One name, in lower case and without a final dot.
    Name(String),
    /// All names below this name, but not the name itself.
    Below(String),
    /// The addresses of a network; a single address has the longest prefix.
    Net(IpAddr, u8),
}

impl FromStr for AllowEntry {
    type Err = PolicyFault;

    fn from_str(text: &str) -> Result<Self, PolicyFault> {
        if text.is_empty() {
            return Err(PolicyFault::Empty);
        }
        if text.contains("://") {
            return Err(PolicyFault::Url);
        }
        let (host, port) = split_port(text)?;
        let port = port.map(port_of).transpose()?;
        Ok(Self { host: host_of(host)?, port })
    }
}

impl fmt::Display for AllowEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.host, self.port) {
            (host @ AllowHost::Net(IpAddr::V6(_), _), Some(port)) => write!(f, "[{host}]:{port}"),
            (host, Some(port)) => write!(f, "{host}:{port}"),
            (host, None) => host.fmt(f),
        }
    }
}

impl fmt::Display for AllowHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Below(domain) => write!(f, "*.{domain}"),
            Self::Net(address, prefix) if *prefix == address_bits(*address) => write!(f, "{address}"),
            Self::Net(address, prefix) => write!(f, "{address}/{prefix}"),
        }
    }
}

impl AllowHost {
    /// Returns the name, if this is one.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Below(_) | Self::Net(..) => None,
        }
    }

    /// Returns whether this is the loopback, which is the commands' own.
    pub fn is_own_loopback(&self) -> bool {
        match self {
            Self::Name(name) => name == "localhost",
            Self::Below(_) => false,
            Self::Net(address, prefix) => address.is_loopback() && *prefix == address_bits(*address),
        }
    }

    /// Returns whether this is the entry of a name in lower case without a final dot.
    pub fn has_name(&self, name: &str) -> bool {
        match self {
            Self::Name(own) => own == name,
            Self::Below(domain) => {
                name.strip_suffix(domain.as_str()).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            Self::Net(..) => false,
        }
    }
}

/// Splits the port off. An IPv6 address needs brackets for that.
fn split_port(text: &str) -> Result<(&str, Option<&str>), PolicyFault> {
    if let Some(rest) = text.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or(PolicyFault::NoHost)?;
        return match after.strip_prefix(':') {
            _ if !host.contains(':') => Err(PolicyFault::NoHost),
            Some(port) => Ok((host, Some(port))),
            None if after.is_empty() => Ok((host, None)),
            None => Err(PolicyFault::NoHost),
        };
    }
    match text.split_once(':') {
        Some((_, more)) if more.contains(':') => Ok((text, None)),
        Some((host, port)) => Ok((host, Some(port))),
        None => Ok((text, None)),
    }
}

fn port_of(text: &str) -> Result<u16, PolicyFault> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|port| digits && *port != 0).ok_or(PolicyFault::Port)
}

fn host_of(text: &str) -> Result<AllowHost, PolicyFault> {
    if let Some((address, prefix)) = text.split_once('/') {
        let address = address.parse().map_err(|_| PolicyFault::NoHost)?;
        return network_of_prefix(address, prefix);
    }
    if let Ok(address) = text.parse::<IpAddr>() {
        let address = address.to_canonical();
        return Ok(AllowHost::Net(address, address_bits(address)));
    }
    match text.strip_prefix('*') {
        Some("") => Err(PolicyFault::Everything),
        Some(rest) => match rest.strip_prefix('.') {
            Some("") | None => Err(PolicyFault::NoHost),
            Some(domain) => name_of(domain).map(AllowHost::Below),
        },
        None => name_of(text).map(AllowHost::Name),
    }
}

/// Returns the network of an address with a prefix (`10.0.0.0/8`).
fn network_of_prefix(address: IpAddr, prefix: &str) -> Result<AllowHost, PolicyFault> {
    let most = address_bits(address);
    let digits = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_digit());
    let prefix: u8 = prefix.parse().ok().filter(|prefix| digits && *prefix <= most).ok_or(PolicyFault::Prefix(most))?;
    let network = masked_address(address, prefix);
    if network != address {
        return Err(PolicyFault::HostBits(format!("{network}/{prefix}")));
    }
    // IPv4 addresses in IPv6 form equal the IPv4 addresses.
    match (network, network.to_canonical()) {
        (IpAddr::V6(_), IpAddr::V4(inner)) if prefix >= 96 => Ok(AllowHost::Net(IpAddr::V4(inner), prefix - 96)),
        _ => Ok(AllowHost::Net(network, prefix)),
    }
}

/// Returns the length of an address in bits.
pub(crate) fn address_bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns the network of this prefix that an address lies in.
fn masked_address(address: IpAddr, prefix: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix.min(32))).unwrap_or(0);
            IpAddr::V4((u32::from(address) & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(prefix.min(128))).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(address) & mask))
        }
    }
}

/// Returns a name in lower case without its final dot.
///
/// # Errors
/// If no host can have this name.
pub fn name_of(text: &str) -> Result<String, PolicyFault> {
    if !text.is_ascii() {
        return Err(PolicyFault::NotAscii);
    }
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let is_label = |label: &str| {
        let inner = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        inner && (1..=LONGEST_LABEL).contains(&label.len()) && !label.starts_with('-') && !label.ends_with('-')
    };
    // Many programs read a name that ends in a number as an address: 127.1, 0x7f.1.
    let is_number = |label: &str| {
        let hex = label.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        hex || label.bytes().all(|byte| byte.is_ascii_digit())
    };
    let last = name.rsplit('.').next().unwrap_or_default();
    if name.len() > LONGEST_NAME || !name.split('.').all(is_label) || is_number(last) {
        return Err(PolicyFault::NoHost);
    }
    Ok(name)
}

/// Returns the address of a name in `hosts`.
///
/// # Errors
/// [`PolicyFault::NoAddress`] if the text is not an address that can be connected to.
pub fn address_of(text: &str) -> Result<IpAddr, PolicyFault> {
    let address: IpAddr = text.parse().map_err(|_| PolicyFault::NoAddress)?;
    let address = address.to_canonical();
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    if address.is_unspecified() || address.is_multicast() || broadcast {
        Err(PolicyFault::NoAddress)
    } else {
        Ok(address)
    }
}

#[cfg(test)]
#[path = "hosts_tests.rs"]
mod tests;
