//! `${…}`

use super::reader::{Reader, Result};
use super::syntax::Parameter;

/// Operators, the longer before the shorter that they begin with.
const OPERATORS: [&str; 23] = [
    ":-", ":=", ":+", ":?", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "+", "?", "#", "%", "/", "^", ",", "@",
    "~", ":",
];

impl Reader<'_> {
    /// From `${` to its brace.
    pub(super) fn braced(&mut self, quoted: bool) -> Result<Parameter> {
        self.expect("${")?;
        let mut parameter = Parameter::default();
        // `${ cmd; }` of bash 5.3 is no parameter.
        if matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'|') | None) {
            return self.fault();
        }
        if self.peek() == Some(b'#') && self.peek_at(1) != Some(b'}') && !self.length_is_name() {
            self.at += 1;
            parameter.length = true;
        } else if self.peek() == Some(b'!') && self.peek_at(1) != Some(b'}') {
            self.at += 1;
            parameter.indirect = true;
        }
        parameter.name = self.parameter_name(true);
        if parameter.name.is_empty() {
            return self.fault();
        }
        if self.peek() == Some(b'[') {
            let Some(close) = self.matching(self.at, b'[', b']')? else { return self.fault() };
            self.at += 1;
            parameter.index = Some(self.parts_until(close, false)?);
            self.at = close + 1;
        }
        if self.take("}") {
            return Ok(parameter);
        }
        // `${!prefix*}` names variables.
        if parameter.indirect && (self.looking_at("*}") || self.looking_at("@}")) {
            self.at += 1;
        }
        // Without an operator it is an error when it runs, not before.
        let op = OPERATORS.iter().copied().find(|op| self.looking_at(op)).unwrap_or("");
        self.at += op.len();
        op.clone_into(&mut parameter.op);
        parameter.word = self.parts_in_braces(quoted)?;
        self.expect("}")?;
        Ok(parameter)
    }

    /// `${#-…}` and `${#?…}`: operators on `$#`.
    fn length_is_name(&self) -> bool {
        matches!(self.peek_at(1), Some(b':' | b'%' | b'=' | b'+' | b'/' | b'^' | b','))
            || (matches!(self.peek_at(1), Some(b'-' | b'?' | b'#')) && self.peek_at(2) != Some(b'}'))
    }

    /// Letters, digits, or one sign.
    pub(super) fn parameter_name(&mut self, braced: bool) -> String {
        let start = self.at;
        match self.peek() {
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
                    self.at += 1;
                }
            }
            Some(byte) if byte.is_ascii_digit() => {
                self.at += 1;
                while braced && self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            Some(byte) if b"@*#?-$!".contains(&byte) => self.at += 1,
            _ => {}
        }
        self.slice(start..self.at).to_owned()
    }
}
