//! Dates and times of day.

use std::mem::MaybeUninit;

/// A moment in a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CivilTime {
    /// The year.
    pub year: i32,
    /// The month, 1…12.
    pub month: i32,
    /// The day of the month, 1…31.
    pub day: i32,
    /// The hour, 0…23.
    pub hour: i32,
    /// The minute, 0…59.
    pub minute: i32,
    /// The second, 0…60.
    pub second: i32,
}

/// A function of libc that breaks a time down, which has 64 bits on all platforms.
type TimeBreakdown = unsafe extern "C" fn(*const i64, *mut libc::tm) -> *mut libc::tm;

/// Returns the moment (ms since 1970) in UTC.
pub fn utc_time(at: u64) -> CivilTime {
    broken_down(at, libc::gmtime_r)
}

/// Returns the moment (ms since 1970) in the time zone of this process.
pub fn local_time(at: u64) -> CivilTime {
    broken_down(at, libc::localtime_r)
}

/// Breaks a time down. A year beyond the calendar of the system is the first one.
fn broken_down(at: u64, calendar: TimeBreakdown) -> CivilTime {
    let seconds = i64::try_from(at / 1000).unwrap_or(0);
    let mut parts = MaybeUninit::<libc::tm>::zeroed();
    // SAFETY: both pointers are valid for the call, and the function keeps neither.
    unsafe { calendar(&raw const seconds, parts.as_mut_ptr()) };
    // SAFETY: all of it was zeroed, and zero is a valid value of each field.
    let parts = unsafe { parts.assume_init() };
    CivilTime {
        year: 1900 + parts.tm_year,
        month: 1 + parts.tm_mon,
        day: parts.tm_mday.max(1),
        hour: parts.tm_hour,
        minute: parts.tm_min,
        second: parts.tm_sec,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_its_date_and_time_in_utc() {
        for (at, expected) in [
            (0, (1970, 1, 1, 0, 0, 0)),
            (86_399_999, (1970, 1, 1, 23, 59, 59)),
            (951_782_400_000, (2000, 2, 29, 0, 0, 0)),
            (1_767_225_599_999, (2025, 12, 31, 23, 59, 59)),
            (4_107_542_400_000, (2100, 3, 1, 0, 0, 0)),
        ] {
            let CivilTime { year, month, day, hour, minute, second } = utc_time(at);
            assert_eq!((year, month, day, hour, minute, second), expected, "{at}");
        }
    }

    #[test]
    fn the_local_time_differs_by_whole_minutes() {
        let (local, utc) = (local_time(1_767_225_599_999), utc_time(1_767_225_599_999));
        assert_eq!(local.second, utc.second);
        assert!((local.year - utc.year).abs() <= 1);
        assert!((1..=12).contains(&utc_time(u64::MAX).month));
    }
}
