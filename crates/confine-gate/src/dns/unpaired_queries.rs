//! A program that looks for a host asks twice, for IPv4 and for IPv6 addresses. Both queries are one attempt.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::message::DnsRecordKind;

/// Time between the two queries of a pair.
const APART: Duration = Duration::from_secs(2);
/// The most names that are remembered.
const MOST: usize = 32;

/// Queries whose counterpart was not seen yet.
#[derive(Debug, Default)]
pub(crate) struct UnpairedQueries(VecDeque<(String, DnsRecordKind, Instant)>);

impl UnpairedQueries {
    /// Returns whether a query is the second of a pair.
    pub(super) fn completes_pair(&mut self, name: &str, kind: DnsRecordKind, now: Instant) -> bool {
        let other = match kind {
            DnsRecordKind::A => DnsRecordKind::Aaaa,
            DnsRecordKind::Aaaa => DnsRecordKind::A,
            DnsRecordKind::Ptr | DnsRecordKind::Service | DnsRecordKind::Other => return false,
        };
        self.0.retain(|(.., at)| now.saturating_duration_since(*at) < APART);
        if let Some(at) = self.0.iter().position(|(asked, of, _)| asked == name && *of == other) {
            self.0.remove(at);
            return true;
        }
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((name.to_owned(), kind, now));
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_one_attempt() {
        let (mut pairs, now) = (UnpairedQueries::default(), Instant::now());
        let mut asked = |name, kind| !pairs.completes_pair(name, kind, now);
        let counted = [
            asked("a", DnsRecordKind::A),
            asked("a", DnsRecordKind::Aaaa),
            asked("a", DnsRecordKind::Aaaa),
            asked("b", DnsRecordKind::A),
            asked("a", DnsRecordKind::A),
            asked("b", DnsRecordKind::A),
            asked("c", DnsRecordKind::Other),
            asked("c", DnsRecordKind::Other),
        ];
        assert_eq!(counted, [true, false, true, true, false, true, true, true]);
        assert!(!pairs.completes_pair("b", DnsRecordKind::Aaaa, now + APART), "too late");
    }
}
