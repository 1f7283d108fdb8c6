//! Messages of the domain name system (RFC 1035), as far as a resolver that only answers one question needs them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Length of the header.
const HEADER: usize = 12;
/// The longest name, in the form of a message.
const LONGEST: usize = 255;
/// Seconds for which a program may remember an answer. The address of a name never changes.
const LIFETIME: u32 = 60;

/// The kind of a record that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DnsRecordKind {
    /// Addresses of IPv4.
    A,
    /// Addresses of IPv6.
    Aaaa,
    /// The name of an address.
    Ptr,
    /// How to reach a service, which programs ask beside the addresses.
    Service,
    /// Another kind.
    Other,
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DnsOutcome<'a> {
    /// The name exists and has this address.
    Address(IpAddr),
    /// The address has this name.
    Name(&'a str),
    /// The name exists, and has no record of this kind.
    NoData,
    /// The name does not exist.
    NoName,
    /// Programs ask no such question.
    NotImplemented,
    /// The message is damaged.
    Damaged,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DnsQuery {
    id: u16,
    /// Whether the program wants recursion, which is repeated in the answer.
    recursion: bool,
    /// The operation. 0 is a standard query.
    opcode: u8,
    /// The question, as the answer repeats it. Empty if the question is damaged.
    question: Vec<u8>,
    /// The name in lower case without a final dot. `None` if the question is damaged, or the name has bytes that no
    /// host's name has.
    pub name: Option<String>,
    /// The kind of record.
    pub kind: DnsRecordKind,
    /// Whether this is a standard query for the internet's class.
    pub standard: bool,
}

impl DnsQuery {
    /// Returns whether the query has an undamaged question.
    pub fn is_whole(&self) -> bool {
        !self.question.is_empty()
    }
}

/// Parses a query. `None`: the query cannot be answered at all, because it has no header or is an answer itself.
pub(super) fn parse(message: &[u8]) -> Option<DnsQuery> {
    let header: &[u8; HEADER] = message.first_chunk()?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    if header[2] & 0x80 != 0 {
        return None;
    }
    let opcode = header[2] >> 3 & 0xf;
    let mut query = DnsQuery {
        id: word(0),
        recursion: header[2] & 1 != 0,
        opcode,
        question: Vec::new(),
        name: None,
        kind: DnsRecordKind::Other,
        standard: false,
    };
    let Some((name, length)) = (word(4) == 1).then(|| parse_name(&message[HEADER..])).flatten() else {
        return Some(query);
    };
    let Some([a, b, c, d]) = message[HEADER + length..].first_chunk::<4>() else { return Some(query) };
    query.question = message[HEADER..HEADER + length + 4].to_vec();
    query.kind = match u16::from_be_bytes([*a, *b]) {
        1 => DnsRecordKind::A,
        28 => DnsRecordKind::Aaaa,
        12 => DnsRecordKind::Ptr,
        64 | 65 => DnsRecordKind::Service,
        _ => DnsRecordKind::Other,
    };
    query.standard = opcode == 0 && [*c, *d] == [0, 1];
    query.name = name;
    Some(query)
}

/// Parses an uncompressed name; questions never compress names. Returns the length in the message, and the name if all
/// its bytes can be part of a host's name. `None`: the name is damaged.
fn parse_name(bytes: &[u8]) -> Option<(Option<String>, usize)> {
    let (mut name, mut plain, mut at) = (String::new(), true, 0);
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        if length == 0 {
            return Some((plain.then_some(name), at));
        }
        // The two upper bits mark a pointer, which has nothing to point to in a question.
        if length > 63 || at + length >= LONGEST {
            return None;
        }
        let label = bytes.get(at..at + length)?;
        plain &= label.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().map(|byte| char::from(byte.to_ascii_lowercase())));
        at += length;
    }
}

/// Writes a name in the form of a message. `None`: no message can contain the name.
fn write_name(name: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(name.len() + 2);
    for label in name.split('.').filter(|_| !name.is_empty()) {
        if label.is_empty() || label.len() > 63 {
            return None;
        }
        bytes.push(label.len() as u8);
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.push(0);
    (bytes.len() <= LONGEST).then_some(bytes)
}

/// Builds the answer to a query.
pub(super) fn build_answer(query: &DnsQuery, outcome: DnsOutcome<'_>) -> Vec<u8> {
    let data = match outcome {
        DnsOutcome::Address(IpAddr::V4(address)) => Some(address.octets().to_vec()),
        DnsOutcome::Address(IpAddr::V6(address)) => Some(address.octets().to_vec()),
        DnsOutcome::Name(name) => write_name(name),
        _ => None,
    };
    let code: u8 = match outcome {
        DnsOutcome::Address(_) | DnsOutcome::Name(_) | DnsOutcome::NoData => 0,
        DnsOutcome::Damaged => 1,
        DnsOutcome::NoName => 3,
        DnsOutcome::NotImplemented => 4,
    };
    let questions = u8::from(!query.question.is_empty());
    let mut bytes = query.id.to_be_bytes().to_vec();
    // The header says: an answer, from an authority, with recursion.
    bytes.push(0x84 | query.opcode << 3 | u8::from(query.recursion));
    bytes.push(0x80 | code);
    bytes.extend([0, questions, 0, u8::from(data.is_some()), 0, 0, 0, 0]);
    bytes.extend_from_slice(&query.question);
    if let Some(data) = data {
        // The name of the question, as a pointer to it. Then the type and class of the question.
        bytes.extend([0xc0, HEADER as u8]);
        bytes.extend_from_slice(&query.question[query.question.len() - 4..]);
        bytes.extend(LIFETIME.to_be_bytes());
        bytes.extend((data.len() as u16).to_be_bytes());
        bytes.extend(data);
    }
    bytes
}

/// Returns the address that a name below `in-addr.arpa` or `ip6.arpa` asks about.
pub(super) fn address_of_reverse_name(name: &str) -> Option<IpAddr> {
    if let Some(labels) = name.strip_suffix(".in-addr.arpa") {
        let bytes: Vec<u8> = labels.split('.').rev().map(str::parse).collect::<Result<_, _>>().ok()?;
        return Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?).into());
    }
    let labels = name.strip_suffix(".ip6.arpa")?;
    let mut bits = 0_u128;
    let mut count = 0;
    for label in labels.split('.').rev() {
        bits = bits << 4 | u128::from_str_radix(label, 16).ok().filter(|_| label.len() == 1)?;
        count += 1;
    }
    (count == 32).then(|| Ipv6Addr::from_bits(bits).into())
}

/// Builds a query like a program's.
#[cfg(test)]
pub(crate) fn build_query(name: &str, kind: u16) -> Vec<u8> {
    let mut bytes = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    bytes.extend(write_name(name).expect("a name"));
    bytes.extend(kind.to_be_bytes());
    bytes.extend([0, 1]);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn queries() {
        for (bytes, name, kind, standard) in [
            (build_query("Example.ORG", 1), Some("example.org"), DnsRecordKind::A, true),
            (build_query("a_b-c.example.org", 28), Some("a_b-c.example.org"), DnsRecordKind::Aaaa, true),
            (build_query("", 1), Some(""), DnsRecordKind::A, true),
            (build_query("x y.example.org", 1), None, DnsRecordKind::A, true),
            (build_query("é.example.org", 1), None, DnsRecordKind::A, true),
            (build_query("example.org", 65), Some("example.org"), DnsRecordKind::Service, true),
        ] {
            let parsed = parse(&bytes).expect("a query");
            assert_eq!((parsed.name.as_deref(), parsed.kind, parsed.standard), (name, kind, standard));
        }
    }

    #[test]
    fn damaged_queries_have_no_name() {
        let good = build_query("example.org", 1);
        let with = |at: usize, byte: u8| {
            let mut bytes = good.clone();
            bytes[at] = byte;
            bytes
        };
        // A pointer, a label that is too long, two questions, none, a class of another kind, a cut.
        for bytes in [with(12, 0xc0), with(12, 64), with(12, 60), with(5, 2), with(5, 0), good[..20].to_vec()] {
            let parsed = parse(&bytes).expect("a header");
            assert_eq!(parsed.name, None, "{bytes:?}");
            assert_eq!(build_answer(&parsed, DnsOutcome::Damaged)[3], 0x81);
        }
        assert!(!parse(&with(good.len() - 1, 3)).expect("a query").standard, "the class of chaos");
        assert!(!parse(&with(2, 0x28)).expect("a query").standard, "an update");
        assert_eq!(parse(&with(2, 0x81)), None, "an answer");
        assert_eq!(parse(&good[..11]), None);
    }

    #[test]
    fn a_label_with_a_dot_is_no_border() {
        let mut bytes = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7];
        bytes.extend(b"a.b.org\0\0\x01\0\x01");
        assert_eq!(parse(&bytes).expect("a query").name, None);
    }

    #[test]
    fn answers() {
        let asked = parse(&build_query("a.test", 1)).expect("a query");
        let bytes = build_answer(&asked, DnsOutcome::Address([198, 18, 0, 1].into()));
        let mut expected = vec![0xab, 0xcd, 0x85, 0x80, 0, 1, 0, 1, 0, 0, 0, 0];
        expected.extend(b"\x01a\x04test\0\0\x01\0\x01");
        expected.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc6\x12\0\x01");
        assert_eq!(bytes, expected);
        assert_eq!(build_answer(&asked, DnsOutcome::NoName)[2..8], [0x85, 0x83, 0, 1, 0, 0]);
        assert_eq!(build_answer(&asked, DnsOutcome::NoData)[2..8], [0x85, 0x80, 0, 1, 0, 0]);
    }

    #[test]
    fn reverse_names() {
        for (name, address) in [
            ("4.3.2.1.in-addr.arpa", Some("1.2.3.4")),
            ("3.2.1.in-addr.arpa", None),
            ("256.3.2.1.in-addr.arpa", None),
            ("example.org", None),
            (".ip6.arpa", None),
        ] {
            assert_eq!(address_of_reverse_name(name), address.map(|text| text.parse().expect("an address")), "{name}");
        }
        let nibbles = format!("{}{}", "1.", "0.".repeat(31));
        assert_eq!(address_of_reverse_name(&format!("{nibbles}ip6.arpa")), Some("::1".parse().expect("an address")));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
            if let Some(query) = parse(&bytes) {
                prop_assert!(build_answer(&query, DnsOutcome::NoName).len() <= bytes.len());
            }
        }

        #[test]
        fn a_damaged_query_never_becomes_another_name(at in 0..40_usize, byte: u8) {
            let mut bytes = build_query("registry.example.org", 1);
            let at = at % bytes.len();
            bytes[at] = byte;
            if let Some(DnsQuery { name: Some(name), .. }) = parse(&bytes) {
                prop_assert!(name.len() < LONGEST);
                prop_assert!(!name.starts_with('.') && !name.ends_with('.') && !name.contains(".."));
            }
        }

        #[test]
        fn a_query_is_parsed_as_it_was_built(labels in prop::collection::vec("[a-z0-9_-]{1,20}", 1..8)) {
            let name = labels.join(".");
            let parsed = parse(&build_query(&name, 28)).expect("a query");
            prop_assert_eq!(parsed.name.as_deref(), Some(name.as_str()));
            prop_assert_eq!(parsed.kind, DnsRecordKind::Aaaa);
        }
    }
}
