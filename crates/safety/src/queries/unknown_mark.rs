//! The mark of an unknown part of a text.

/// A part of a text that is not known. No command contains this character otherwise.
pub const UNKNOWN: char = '\0';
