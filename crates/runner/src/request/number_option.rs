//! Whole numbers of a caller: each definition has the name, range and default.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// The largest whole number that JavaScript counts exactly.
pub const MAX_SAFE: u64 = 9_007_199_254_740_991;

/// A whole number with its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberOption {
    /// The option, as the caller writes it.
    pub name: &'static str,
    /// The smallest valid value.
    pub least: u64,
    /// The largest valid value.
    pub most: u64,
}

/// A whole number with its range, and its value when the caller leaves it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberWithDefault {
    /// The name and range.
    pub number: NumberOption,
    /// The value of an option that was left out.
    pub default: u64,
}

/// A value with a fraction, or outside its range.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: {} is not a whole number from {} to {}{}",
    number.name, shown(*value), number.least, number.most,
    default.map(|default| format!("; leave it out for {default}")).unwrap_or_default()
)]
pub struct NotInRange {
    /// The option with its range.
    pub number: NumberOption,
    /// Value of the option.
    pub value: f64,
    /// The value of an option that was left out, if it has one.
    pub default: Option<u64>,
}

/// Reads a number of a caller. JSON cannot represent NaN and the infinities, which cross as text.
///
/// # Errors
/// For a text that is no number.
pub fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum GivenNumber {
        Number(f64),
        Text(String),
    }
    match GivenNumber::deserialize(from)? {
        GivenNumber::Number(number) => Ok(Some(number)),
        GivenNumber::Text(text) => text.parse().map(Some).map_err(D::Error::custom),
    }
}

/// Returns a number in the words of JavaScript.
pub(super) fn shown(value: f64) -> String {
    if value.is_infinite() { format!("{}Infinity", if value < 0.0 { "-" } else { "" }) } else { value.to_string() }
}

impl NumberOption {
    /// Returns a number from 1 upwards.
    pub const fn from_one(name: &'static str) -> Self {
        Self { name, least: 1, most: MAX_SAFE }
    }

    /// Returns the number with a default.
    pub const fn with_default(self, default: u64) -> NumberWithDefault {
        NumberWithDefault { number: self, default }
    }

    /// Checks a value of JavaScript.
    ///
    /// # Errors
    /// [`NotInRange`] if the value has a fraction or lies outside the range.
    #[expect(clippy::cast_precision_loss, reason = "no bound is larger than MAX_SAFE")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be whole and in range")]
    pub fn check(self, value: f64) -> Result<u64, NotInRange> {
        if value.fract() == 0.0 && value >= self.least as f64 && value <= self.most as f64 {
            return Ok(value as u64);
        }
        Err(NotInRange { number: self, value, default: None })
    }

    /// Checks a value, if it is given.
    ///
    /// # Errors
    /// [`NotInRange`]
    pub fn check_given(self, value: Option<f64>) -> Result<Option<u64>, NotInRange> {
        value.map(|value| self.check(value)).transpose()
    }
}

impl NumberWithDefault {
    /// Returns the given value, if there is one.
    ///
    /// # Errors
    /// [`NotInRange`], which names the default
    pub fn get_given(self, value: Option<f64>) -> Result<Option<u64>, NotInRange> {
        let given = self.number.check_given(value);
        given.map_err(|error| NotInRange { default: Some(self.default), ..error })
    }

    /// Returns the given value, or the default.
    ///
    /// # Errors
    /// As [`Self::get_given`].
    pub fn get(self, value: Option<f64>) -> Result<u64, NotInRange> {
        Ok(self.get_given(value)?.unwrap_or(self.default))
    }

    /// Like [`Self::get`], for a number of milliseconds.
    ///
    /// # Errors
    /// [`NotInRange`]
    pub fn get_millis(self, value: Option<f64>) -> Result<Duration, NotInRange> {
        self.get(value).map(Duration::from_millis)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVEN: NumberOption = NumberOption { name: "few", least: 2, most: 4 };

    #[test]
    fn a_number_is_whole_and_in_its_range() {
        for value in [2.0, 3.0, 4.0] {
            assert!(EVEN.check(value).is_ok(), "{value}");
        }
        for (value, shown) in
            [(1.0, "1"), (5.0, "5"), (2.5, "2.5"), (-2.0, "-2"), (f64::NAN, "NaN"), (f64::INFINITY, "Infinity")]
        {
            let message = EVEN.check(value).expect_err("outside").to_string();
            assert_eq!(message, format!("few: {shown} is not a whole number from 2 to 4"));
        }
    }

    #[test]
    fn the_largest_number_of_javascript_is_valid_and_the_next_is_not() {
        let number = NumberOption::from_one("n");
        assert_eq!(number.check(9_007_199_254_740_991.0).expect("valid"), MAX_SAFE);
        let message = number.check(9_007_199_254_740_992.0).expect_err("too large").to_string();
        assert_eq!(message, "n: 9007199254740992 is not a whole number from 1 to 9007199254740991");
    }

    #[test]
    fn a_default_holds_only_when_nothing_is_given() {
        let number = EVEN.with_default(3);
        assert_eq!(number.get(None).expect("the default"), 3);
        assert_eq!(number.get(Some(4.0)).expect("given"), 4);
        assert_eq!(number.get_millis(Some(2.0)).expect("given"), Duration::from_millis(2));
        let message = number.get(Some(9.0)).expect_err("outside").to_string();
        assert_eq!(message, "few: 9 is not a whole number from 2 to 4; leave it out for 3");
    }
}
