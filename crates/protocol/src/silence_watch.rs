//! The limit on silence: how long a command may write nothing.

use std::time::{Duration, Instant};

use crate::exceeded_limit::seconds;

/// The silence of a command, and whether it was too long.
#[derive(Debug, Clone, Copy)]
pub enum SilenceWatch {
    /// The command may be silent.
    Off,
    /// The command has not been silent for too long yet.
    Counting {
        /// The longest silence that is allowed.
        most: Duration,
        /// Time of the start or of the last output.
        since: Instant,
    },
    /// The command was silent for this long.
    Reached(Duration),
}

impl SilenceWatch {
    /// Starts to count. `most` is the longest silence that is allowed, if there is a limit.
    pub fn begin(most: Option<Duration>, now: Instant) -> Self {
        most.map_or(Self::Off, |most| Self::Counting { most, since: now })
    }

    /// Records output. Any byte counts, and so does the start of the command.
    pub fn on_output(&mut self, now: Instant) {
        if let Self::Counting { since, .. } = self {
            *since = now.max(*since);
        }
    }

    /// Returns when the silence is too long if no more output arrives.
    pub fn due_at(&self) -> Option<Instant> {
        match self {
            Self::Counting { most, since } => Some(*since + *most),
            Self::Off | Self::Reached(_) => None,
        }
    }

    /// Returns whether the silence is too long. The caller then reads once more before it acts, since a reader without
    /// processor time must not take its own silence for the command's.
    pub fn is_due(&self, now: Instant) -> bool {
        self.due_at().is_some_and(|at| now >= at)
    }

    /// Records that the silence was too long, and stops counting.
    pub fn on_reached(&mut self) {
        if let Self::Counting { most, .. } = self {
            *self = Self::Reached(*most);
        }
    }

    /// Stops counting, because the command is over or is terminated for another reason.
    pub fn stop(&mut self) {
        if matches!(self, Self::Counting { .. }) {
            *self = Self::Off;
        }
    }

    /// Returns the longest silence that was allowed, if it was reached.
    pub fn reached(&self) -> Option<Duration> {
        match self {
            Self::Reached(most) => Some(*most),
            Self::Off | Self::Counting { .. } => None,
        }
    }
}

/// Returns the note on a command that was silent for this long.
pub fn note_of_silence(most: Duration) -> String {
    let ms = u64::try_from(most.as_millis()).unwrap_or(u64::MAX);
    format!("silence: the command wrote nothing for {} s (idleTimeoutMs), which counts as its time limit", seconds(ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_millis(500);

    #[test]
    fn silence_counts_from_the_start_and_from_each_output() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut silence = SilenceWatch::begin(Some(MOST), start);
        assert!(!silence.is_due(at(499)) && silence.is_due(at(500)));
        silence.on_output(at(400));
        assert!(!silence.is_due(at(899)) && silence.is_due(at(900)));
        silence.on_output(at(300));
        assert_eq!(silence.due_at(), Some(at(900)), "an older output changes nothing");
    }

    #[test]
    fn a_silence_is_reached_once_and_stays_reached() {
        let start = Instant::now();
        let mut silence = SilenceWatch::begin(Some(MOST), start);
        assert_eq!(silence.reached(), None);
        silence.on_reached();
        silence.stop();
        assert_eq!((silence.reached(), silence.due_at()), (Some(MOST), None));
        silence.on_output(start + MOST);
        assert_eq!((silence.reached(), silence.due_at()), (Some(MOST), None));
    }

    #[test]
    fn nothing_is_counted_without_a_limit_and_after_the_end() {
        let start = Instant::now();
        let mut stopped = SilenceWatch::begin(Some(MOST), start);
        stopped.stop();
        for mut silence in [SilenceWatch::begin(None, start), stopped] {
            silence.on_output(start);
            silence.on_reached();
            assert!(silence.due_at().is_none() && silence.reached().is_none());
        }
    }

    #[test]
    fn the_note_names_the_silence_and_its_length() {
        let note = note_of_silence(Duration::from_millis(1_500));
        let expected = "silence: the command wrote nothing for 1.5 s (idleTimeoutMs), which counts as its time limit";
        assert_eq!(note, expected);
    }
}
