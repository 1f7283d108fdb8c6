//! The options for a command's output: `truncate`, `sanitize`, `spill`, `snapshotIntervalMs`.

use std::path::PathBuf;
use std::time::Duration;

use super::error::RequestError;
use super::number_option::{MAX_SAFE, NumberOption, NumberWithDefault};
use super::raw_options::{KeptEnd, RawSpill, RawTruncate};
use capture::{KeptTextLimits, TruncationPolicy};

/// `snapshotIntervalMs`: the time between two live views of a running command.
pub const SNAPSHOT_INTERVAL_MS: NumberWithDefault =
    NumberOption { name: "snapshotIntervalMs", least: 10, most: 60_000 }.with_default(250);
/// `spill.maxBytes`: the most bytes of a file with the whole output.
pub const SPILL_MAX_BYTES: NumberWithDefault = NumberOption::from_one("spill.maxBytes").with_default(1 << 30);
/// `spill.retentionMs`: the highest age of such a file.
pub const SPILL_RETENTION_MS: NumberWithDefault =
    NumberOption { name: "spill.retentionMs", least: 0, most: MAX_SAFE }.with_default(7 * 24 * 60 * 60 * 1000);
/// `truncate.maxLines`: the most lines of a stream that are kept.
pub const MAX_LINES: NumberOption = NumberOption::from_one("truncate.maxLines");
/// `truncate.maxBytes`: the most bytes of a stream that are kept.
pub const MAX_BYTES: NumberOption = NumberOption::from_one("truncate.maxBytes");
/// `truncate.maxChars`: the most UTF-16 units of a stream that are kept.
pub const MAX_CHARS: NumberOption = NumberOption::from_one("truncate.maxChars");
/// `truncate.headBytes`: with `keep: 'ends'`, the bytes that are kept of the beginning.
pub const HEAD_BYTES: NumberOption = NumberOption::from_one("truncate.headBytes");
/// `truncate.tailBytes`: with `keep: 'ends'`, the bytes that are kept of the end.
pub const TAIL_BYTES: NumberOption = NumberOption::from_one("truncate.tailBytes");

/// The files that hold whole output.
#[derive(Debug, Clone)]
pub struct SpillOptions {
    /// The party that chooses the path.
    pub place: SpillPlace,
    /// The most bytes of a file.
    pub max_bytes: u64,
    /// The highest age of a file.
    pub retention: Duration,
}

/// The party that chooses the path of whole output.
#[derive(Debug, Clone)]
pub enum SpillPlace {
    /// A private directory of ours in the directory for temporary files.
    Private,
    /// A directory of the caller's.
    Directory(PathBuf),
    /// The caller's artifact store.
    Allocated,
}

/// Checks `truncate`: which part of a stream is kept.
///
/// # Errors
/// A [`RequestError`] that names the limit, its value and the valid values.
pub fn check_truncate(raw: &RawTruncate) -> Result<TruncationPolicy, RequestError> {
    let limits = KeptTextLimits {
        max_lines: MAX_LINES.check_given(raw.max_lines)?,
        max_bytes: MAX_BYTES.check_given(raw.max_bytes)?,
        max_chars: MAX_CHARS.check_given(raw.max_chars)?,
    };
    match raw.keep {
        KeptEnd::Tail => Ok(TruncationPolicy::Tail(limits)),
        KeptEnd::Head => Ok(TruncationPolicy::Head(limits)),
        KeptEnd::Ends => check_ends(raw),
    }
}

fn check_ends(raw: &RawTruncate) -> Result<TruncationPolicy, RequestError> {
    let needed = |number: NumberOption, value: Option<f64>| {
        let value: Result<Option<u64>, RequestError> = number.check_given(value).map_err(RequestError::from);
        value?.ok_or(RequestError::Missing { option: number.name })
    };
    let max_bytes = needed(MAX_BYTES, raw.max_bytes)?;
    let head_bytes = needed(HEAD_BYTES, raw.head_bytes)?;
    let tail_bytes = needed(TAIL_BYTES, raw.tail_bytes)?;
    if head_bytes.saturating_add(tail_bytes) > max_bytes {
        return Err(RequestError::EndsTooLarge { head_bytes, tail_bytes, max_bytes });
    }
    Ok(TruncationPolicy::Ends { max_bytes, head_bytes, tail_bytes })
}

/// Checks `spill`: where whole output is written.
///
/// # Errors
/// A [`RequestError`] that names the option, its value and the valid values.
pub fn check_spill(raw: RawSpill) -> Result<SpillOptions, RequestError> {
    let place = match raw.dir {
        _ if raw.allocate => SpillPlace::Allocated,
        Some(dir) if dir.contains('\0') => return Err(RequestError::Nul { option: "spill.dir", value: dir }),
        Some(dir) => SpillPlace::Directory(dir.into()),
        None => SpillPlace::Private,
    };
    let max_bytes = SPILL_MAX_BYTES.get(raw.max_bytes)?;
    let retention = SPILL_RETENTION_MS.get_millis(raw.retention_ms)?;
    Ok(SpillOptions { place, max_bytes, retention })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(max: Option<f64>, head: Option<f64>, tail: Option<f64>) -> Result<TruncationPolicy, String> {
        let raw = RawTruncate {
            keep: KeptEnd::Ends,
            max_lines: None,
            max_bytes: max,
            max_chars: None,
            head_bytes: head,
            tail_bytes: tail,
        };
        check_truncate(&raw).map_err(|error| error.to_string())
    }

    #[test]
    fn both_ends_need_all_three_sizes_and_fit_into_the_whole() {
        let (ten, four) = (Some(10.0), Some(4.0));
        assert_eq!(ends(ten, four, four), Ok(TruncationPolicy::Ends { max_bytes: 10, head_bytes: 4, tail_bytes: 4 }));
        assert!(ends(ten, four, Some(6.0)).is_ok(), "the ends may fill the whole");
        for (max, head, tail, message) in [
            (None, four, four, "truncate.maxBytes is missing"),
            (ten, None, four, "truncate.headBytes is missing"),
            (ten, four, None, "truncate.tailBytes is missing"),
            (ten, four, Some(7.0), "truncate: headBytes 4 and tailBytes 7 are more than maxBytes 10"),
            (ten, Some(0.0), four, "truncate.headBytes: 0 is not a whole number from 1 to 9007199254740991"),
        ] {
            assert_eq!(ends(max, head, tail), Err(message.to_owned()));
        }
    }

    #[test]
    fn one_end_takes_any_of_its_limits() {
        let raw = |keep, lines| RawTruncate {
            keep,
            max_lines: lines,
            max_bytes: None,
            max_chars: Some(5.0),
            head_bytes: None,
            tail_bytes: None,
        };
        let limits = KeptTextLimits { max_lines: Some(3), max_bytes: None, max_chars: Some(5) };
        assert_eq!(check_truncate(&raw(KeptEnd::Tail, Some(3.0))).expect("valid"), TruncationPolicy::Tail(limits));
        assert_eq!(check_truncate(&raw(KeptEnd::Head, Some(3.0))).expect("valid"), TruncationPolicy::Head(limits));
        let message = check_truncate(&raw(KeptEnd::Tail, Some(1.5))).expect_err("refused").to_string();
        assert_eq!(message, "truncate.maxLines: 1.5 is not a whole number from 1 to 9007199254740991");
    }

    #[test]
    fn whole_output_goes_to_the_store_of_the_caller_before_a_directory() {
        let raw =
            |dir: Option<&str>, allocate| RawSpill { dir: dir.map(str::to_owned), allocate, ..RawSpill::default() };
        let place = |dir, allocate| check_spill(raw(dir, allocate)).map(|spill| spill.place);
        assert!(matches!(place(None, false), Ok(SpillPlace::Private)));
        assert!(matches!(place(Some("/x"), false), Ok(SpillPlace::Directory(path)) if path.as_os_str() == "/x"));
        assert!(matches!(place(Some("/x"), true), Ok(SpillPlace::Allocated)));
        let message = place(Some("a\0b"), false).expect_err("refused").to_string();
        assert_eq!(message, "spill.dir: \"a\\0b\" holds a NUL character");
    }

    #[test]
    fn files_have_the_documented_bounds() {
        let spill = check_spill(RawSpill::default()).expect("valid");
        assert_eq!((spill.max_bytes, spill.retention.as_secs()), (1_073_741_824, 604_800));
        for (raw, message) in [
            (
                RawSpill { max_bytes: Some(0.0), ..RawSpill::default() },
                "spill.maxBytes: 0 is not a whole number from 1 ",
            ),
            (
                RawSpill { retention_ms: Some(-1.0), ..RawSpill::default() },
                "spill.retentionMs: -1 is not a whole number",
            ),
        ] {
            assert!(check_spill(raw).expect_err("refused").to_string().starts_with(message));
        }
    }

    #[test]
    fn live_views_come_between_a_hundredth_of_a_second_and_a_minute() {
        assert_eq!(SNAPSHOT_INTERVAL_MS.get_millis(None).expect("the default"), Duration::from_millis(250));
        for value in [9.0, 60_001.0] {
            let message = SNAPSHOT_INTERVAL_MS.get(Some(value)).expect_err("refused").to_string();
            let wanted = "is not a whole number from 10 to 60000; leave it out for 250";
            assert_eq!(message, format!("snapshotIntervalMs: {value} {wanted}"));
        }
    }
}
