//! The time limits of a command: `mode`, `timeoutMs`, `idleTimeoutMs`, `graceMs`.

use std::time::Duration;

use super::command_mode::CommandMode;
use super::error::RequestError;
use super::number_option::{NumberOption, NumberWithDefault};
use super::raw_options::{OnTimeout, RawOptions};

/// `timeoutMs`: the time limit, counted from the start of the process. The default is the limit of the mode.
pub const TIMEOUT_MS: NumberOption = NumberOption { name: "timeoutMs", least: 1, most: 86_400_000 };
/// `idleTimeoutMs`: the longest time without output. There is no default.
pub const IDLE_TIMEOUT_MS: NumberOption = NumberOption { name: "idleTimeoutMs", ..TIMEOUT_MS };
/// `graceMs`: the time between SIGTERM and SIGKILL.
pub const GRACE_MS: NumberWithDefault = NumberOption { name: "graceMs", least: 0, most: 15_000 }.with_default(2_000);
/// The limit of mode `default` for a command that moves to the background when it reaches its limit.
pub const MOVING_LIMIT: Duration = Duration::from_secs(120);

/// The place of a command, on which its time limit depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeRule {
    /// In the foreground; terminated at its limit.
    Foreground,
    /// In the foreground; moved to the background at its limit.
    Moving,
    /// In the background from its start.
    Background,
    /// In a terminal, where only the caller sets a limit.
    Terminal,
}

impl TimeRule {
    /// Returns the place that these options ask for.
    pub fn of(raw: &RawOptions, mode: CommandMode) -> Self {
        if raw.background || mode == CommandMode::Background {
            Self::Background
        } else if raw.terminal.is_some() {
            Self::Terminal
        } else if raw.on_timeout == OnTimeout::Background && raw.registry.is_some() {
            Self::Moving
        } else {
            Self::Foreground
        }
    }
}

/// Returns the time limit of a command. `None`: no limit.
///
/// # Errors
/// [`RequestError::NotInRange`]
pub fn limit(timeout_ms: Option<f64>, mode: CommandMode, place: TimeRule) -> Result<Option<Duration>, RequestError> {
    let default = match (place, mode) {
        (TimeRule::Terminal, _) => None,
        (TimeRule::Background, _) => Some(CommandMode::Background.limit()),
        (TimeRule::Moving, CommandMode::Default) => Some(MOVING_LIMIT),
        (TimeRule::Moving | TimeRule::Foreground, mode) => Some(mode.limit()),
    };
    let given = match default.and_then(|default| u64::try_from(default.as_millis()).ok()) {
        Some(default) => TIMEOUT_MS.with_default(default).get_given(timeout_ms),
        None => TIMEOUT_MS.check_given(timeout_ms),
    };
    Ok(given?.map(Duration::from_millis).or(default))
}

/// Returns the longest silence of a command. `None`: any silence is allowed. A person may leave a terminal alone for
/// any time.
///
/// # Errors
/// [`RequestError::NotInRange`]
pub fn idle_limit(idle_timeout_ms: Option<f64>, place: TimeRule) -> Result<Option<Duration>, RequestError> {
    let given = IDLE_TIMEOUT_MS.check_given(idle_timeout_ms)?;
    Ok(given.filter(|_| place != TimeRule::Terminal).map(Duration::from_millis))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_its_limit_in_each_place() {
        let seconds = |mode, place| limit(None, mode, place).expect("valid").map(|limit| limit.as_secs());
        for (place, expected) in [
            (TimeRule::Foreground, [Some(30), Some(900), Some(86_400)]),
            (TimeRule::Moving, [Some(120), Some(900), Some(86_400)]),
            (TimeRule::Background, [Some(86_400); 3]),
            (TimeRule::Terminal, [None; 3]),
        ] {
            assert_eq!(CommandMode::ALL.map(|mode| seconds(mode, place)), expected, "{place:?}");
        }
    }

    #[test]
    fn the_limit_of_the_caller_comes_first_everywhere() {
        for place in [TimeRule::Foreground, TimeRule::Moving, TimeRule::Background, TimeRule::Terminal] {
            let own = limit(Some(7.0), CommandMode::Slow, place).expect("valid");
            assert_eq!(own, Some(Duration::from_millis(7)), "{place:?}");
        }
    }

    #[test]
    fn limits_outside_their_range_are_refused() {
        for value in [0.0, -1.0, 1.5, 86_400_001.0] {
            let message =
                limit(Some(value), CommandMode::Default, TimeRule::Foreground).expect_err("refused").to_string();
            let wanted = "is not a whole number from 1 to 86400000; leave it out for 30000";
            assert_eq!(message, format!("timeoutMs: {value} {wanted}"));
        }
        assert!(GRACE_MS.get(Some(15_000.0)).is_ok() && GRACE_MS.get(Some(0.0)).is_ok());
        let message = GRACE_MS.get(Some(15_001.0)).expect_err("refused").to_string();
        assert_eq!(message, "graceMs: 15001 is not a whole number from 0 to 15000; leave it out for 2000");
    }

    #[test]
    fn silence_is_limited_on_request_and_never_in_a_terminal() {
        let limit = |ms, place| idle_limit(ms, place).expect("valid");
        for place in [TimeRule::Foreground, TimeRule::Moving, TimeRule::Background] {
            assert_eq!(limit(None, place), None, "{place:?}");
            assert_eq!(limit(Some(7.0), place), Some(Duration::from_millis(7)), "{place:?}");
        }
        assert_eq!(limit(Some(7.0), TimeRule::Terminal), None);
        for value in [0.0, 0.5, 86_400_001.0] {
            let message = idle_limit(Some(value), TimeRule::Terminal).expect_err("refused").to_string();
            assert_eq!(message, format!("idleTimeoutMs: {value} is not a whole number from 1 to 86400000"));
        }
    }

    #[test]
    fn a_command_moves_only_with_a_registry() {
        let moving = RawOptions::default();
        assert_eq!(TimeRule::of(&moving, CommandMode::Default), TimeRule::Foreground);
        assert_eq!(TimeRule::of(&moving, CommandMode::Background), TimeRule::Background);
        let task = RawOptions { background: true, ..RawOptions::default() };
        assert_eq!(TimeRule::of(&task, CommandMode::Slow), TimeRule::Background);
    }
}
