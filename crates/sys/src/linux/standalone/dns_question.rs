//! Questions to a name server, and its answers (RFC 1035).

use std::net::IpAddr;

/// Types of records.
const A: u16 = 1;
const AAAA: u16 = 28;
/// The class of addresses.
const INTERNET: u16 = 1;
/// Bytes of the head of a message.
const HEAD: usize = 12;

/// A question for the addresses of a name.
#[derive(Debug, Clone)]
pub struct DnsQuestion {
    /// The message.
    pub bytes: Vec<u8>,
    kind: u16,
}

/// What a server says.
#[derive(Debug, PartialEq, Eq)]
pub enum DnsServerAnswer {
    /// The addresses. None: there is no such name, or it has none.
    Addresses(Vec<IpAddr>),
    /// The answer does not fit, and has to be asked for over a stream.
    TooLong,
    /// The server cannot tell.
    Failed,
}

impl DnsQuestion {
    /// Asks for the addresses of a name, of both families, with these numbers. `None`: it is no name.
    pub fn for_both_families(name: &str, numbers: [u16; 2]) -> Option<[Self; 2]> {
        let mut labels = Vec::new();
        for label in name.split('.') {
            let length = u8::try_from(label.len()).ok().filter(|length| (1..=63).contains(length))?;
            labels.push(length);
            labels.extend(label.bytes());
        }
        labels.push(0);
        let is_name = name.bytes().all(|byte| byte.is_ascii_graphic()) && labels.len() <= 255;
        is_name.then(|| {
            let [first, second] = numbers;
            [(A, first), (AAAA, second)].map(|(kind, number)| Self::new(&labels, kind, number))
        })
    }

    fn new(labels: &[u8], kind: u16, number: u16) -> Self {
        let mut bytes = number.to_be_bytes().to_vec();
        // Recursion is wanted, and there is one question.
        bytes.extend([1, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
        bytes.extend(labels);
        bytes.extend([kind, INTERNET].map(u16::to_be_bytes).concat());
        Self { bytes, kind }
    }

    /// Reads an answer. `None`: it answers another question, or is no answer.
    pub fn parse_answer(&self, bytes: &[u8]) -> Option<DnsServerAnswer> {
        let asked = self.bytes.get(HEAD..)?;
        let said = bytes.get(HEAD..HEAD + asked.len())?;
        // A server may answer with other letters than were asked with.
        let is_ours = bytes[..2] == self.bytes[..2] && bytes[2] & 0x80 != 0 && said.eq_ignore_ascii_case(asked);
        if !is_ours {
            return None;
        }
        if bytes[2] & 2 != 0 {
            return Some(DnsServerAnswer::TooLong);
        }
        match bytes[3] & 15 {
            0 => {}
            3 => return Some(DnsServerAnswer::Addresses(Vec::new())),
            _ => return Some(DnsServerAnswer::Failed),
        }
        let count = u16::from_be_bytes([bytes[6], bytes[7]]);
        let mut rest = &bytes[HEAD + asked.len()..];
        let mut found = Vec::new();
        for _ in 0..count {
            let (kind, data, after) = record(rest)?;
            rest = after;
            if kind == self.kind {
                let four = <[u8; 4]>::try_from(data).map(IpAddr::from);
                found.extend(four.or_else(|_| <[u8; 16]>::try_from(data).map(IpAddr::from)));
            }
        }
        Some(DnsServerAnswer::Addresses(found))
    }
}

/// Returns the type and the data of the first record, and what follows it.
fn record(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let mut rest = bytes;
    let mut label = *rest.first()?;
    while (1..0xc0).contains(&label) {
        rest = rest.get(1 + usize::from(label)..)?;
        label = *rest.first()?;
    }
    // The rest of a name may stand elsewhere.
    let rest = rest.get(if label == 0 { 1 } else { 2 }..)?;
    let head = rest.first_chunk::<10>()?;
    let length = usize::from(u16::from_be_bytes([head[8], head[9]]));
    let data = rest.get(10..10 + length)?;
    Some((u16::from_be_bytes([head[0], head[1]]), data, &rest[10 + length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> DnsQuestion {
        DnsQuestion::for_both_families("db.test", [0x1234, 1]).expect("a name")[0].clone()
    }

    /// An answer with these flags and records, each with its type and its data.
    fn said(flags: [u8; 2], records: &[(u16, &[u8])]) -> Vec<u8> {
        let mut bytes = question().bytes;
        bytes[2..4].copy_from_slice(&flags);
        bytes[7] = u8::try_from(records.len()).expect("few");
        for (kind, data) in records {
            bytes.extend([0xc0, 12]);
            bytes.extend(kind.to_be_bytes());
            bytes.extend([0, 1, 0, 0, 0, 9]);
            bytes.extend(u16::try_from(data.len()).expect("short").to_be_bytes());
            bytes.extend(*data);
        }
        bytes
    }

    #[test]
    fn a_question_has_the_labels_of_its_name() {
        let expected = *b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x02db\x04test\0\0\x01\0\x01";
        assert_eq!(question().bytes, expected);
        for name in ["", "a..b", ".a", "a b", "\u{e9}", &"a".repeat(64), &["a"; 130].join(".")] {
            assert!(DnsQuestion::for_both_families(name, [1, 2]).is_none(), "{name}");
        }
    }

    #[test]
    fn an_answer_has_the_addresses_behind_aliases() {
        let alias: &[u8] = b"\x01x\xc0\x0c";
        let bytes = said([0x81, 0x80], &[(5, alias), (1, &[10, 0, 0, 1]), (28, &[0; 16]), (1, &[10, 0, 0, 2])]);
        let addresses = [[10, 0, 0, 1], [10, 0, 0, 2]].map(IpAddr::from).to_vec();
        assert_eq!(question().parse_answer(&bytes), Some(DnsServerAnswer::Addresses(addresses)));
    }

    #[test]
    fn other_answers_are_told_apart() {
        let answer = |flags| question().parse_answer(&said(flags, &[]));
        assert_eq!(answer([0x81, 0x83]), Some(DnsServerAnswer::Addresses(vec![])), "no such name");
        assert_eq!(answer([0x83, 0x80]), Some(DnsServerAnswer::TooLong));
        assert_eq!(answer([0x81, 0x82]), Some(DnsServerAnswer::Failed));
        assert_eq!(answer([0x01, 0x80]), None, "a question");
        let mut other = said([0x81, 0x80], &[]);
        other[0] ^= 1;
        assert_eq!(question().parse_answer(&other), None, "another number");
    }

    #[test]
    fn a_cut_answer_is_none() {
        let bytes = said([0x81, 0x80], &[(1, &[10, 0, 0, 1])]);
        for end in 0..bytes.len() {
            assert_eq!(question().parse_answer(&bytes[..end]), None, "{end}");
        }
    }
}
