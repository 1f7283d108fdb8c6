//! The days of the ledger. Each day in UTC has a file.

/// The end of the name of each file.
const SUFFIX: &str = ".jsonl";
/// Milliseconds of a day.
pub const DAY_MS: u64 = 24 * 60 * 60 * 1000;

/// A day: the name of its file, `2026-01-31.jsonl`. Names have the order of their days.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerDay(String);

impl LedgerDay {
    /// Returns the day of a moment (ms since 1970).
    pub fn of(at: u64) -> Self {
        let date = sys::utc_time(at);
        Self(format!("{:04}-{:02}-{:02}{SUFFIX}", date.year, date.month, date.day))
    }

    /// Returns the day this many days before a moment.
    pub fn before(at: u64, days: u64) -> Self {
        Self::of(at.saturating_sub(days * DAY_MS))
    }

    /// Returns the day whose file has this name. `None` for any other name.
    pub fn of_file(name: &str) -> Option<Self> {
        let date = name.strip_suffix(SUFFIX)?;
        let fits = |(at, byte): (usize, u8)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() };
        let is_date = date.len() == 10
            && date.bytes().enumerate().all(fits)
            && ("01"..="12").contains(&&date[5..7])
            && ("01"..="31").contains(&&date[8..]);
        is_date.then(|| Self(name.to_owned()))
    }

    /// Returns the name of the day's file.
    pub fn file_name(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_the_file_of_its_date_in_utc() {
        for (at, file) in [
            (0, "1970-01-01.jsonl"),
            (DAY_MS - 1, "1970-01-01.jsonl"),
            (DAY_MS, "1970-01-02.jsonl"),
            (1_709_164_800_000, "2024-02-29.jsonl"),
            (1_767_225_599_999, "2025-12-31.jsonl"),
            (1_767_225_600_000, "2026-01-01.jsonl"),
        ] {
            assert_eq!(LedgerDay::of(at).file_name(), file, "{at}");
            assert_eq!(LedgerDay::of_file(file), Some(LedgerDay::of(at)), "{file}");
        }
        assert_eq!(LedgerDay::before(1_767_225_600_000, 1).file_name(), "2025-12-31.jsonl");
        assert!(LedgerDay::of(1_767_225_599_999) < LedgerDay::of(1_767_225_600_000));
    }

    #[test]
    fn other_names_are_no_days() {
        for name in [
            "",
            "x",
            "2026-01-01",
            "2026-01-01.json",
            "2026-1-1.jsonl",
            "2026-13-01.jsonl",
            "2026-00-01.jsonl",
            "2026-01-32.jsonl",
            "2026-01-01.jsonl.bak",
            "x2026-01-01.jsonl",
            "２０２６-01-01.jsonl",
            "../2026-01-01.jsonl",
        ] {
            assert_eq!(LedgerDay::of_file(name), None, "{name}");
        }
    }
}
