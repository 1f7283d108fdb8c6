//! Reads `${…}`.

use super::reader::{ScriptReader, ScriptResult};
use super::syntax::{ParameterExpansion, ParameterOp};

/// Operators. A longer operator precedes its prefixes.
const OPERATORS: [(&str, ParameterOp); 23] = [
    (":-", ParameterOp::Default { empty: true }),
    (":=", ParameterOp::Assign { empty: true }),
    (":+", ParameterOp::Alternative { empty: true }),
    (":?", ParameterOp::Require { empty: true }),
    ("##", ParameterOp::CutFront { longest: true }),
    ("%%", ParameterOp::CutBack { longest: true }),
    ("//", ParameterOp::Replace { all: true }),
    ("/#", ParameterOp::ReplaceEnd),
    ("/%", ParameterOp::ReplaceEnd),
    ("^^", ParameterOp::Upper { all: true }),
    (",,", ParameterOp::Lower { all: true }),
    ("-", ParameterOp::Default { empty: false }),
    ("=", ParameterOp::Assign { empty: false }),
    ("+", ParameterOp::Alternative { empty: false }),
    ("?", ParameterOp::Require { empty: false }),
    ("#", ParameterOp::CutFront { longest: false }),
    ("%", ParameterOp::CutBack { longest: false }),
    ("/", ParameterOp::Replace { all: false }),
    ("^", ParameterOp::Upper { all: false }),
    (",", ParameterOp::Lower { all: false }),
    ("@", ParameterOp::Transform),
    ("~", ParameterOp::Transform),
    (":", ParameterOp::Slice),
];

impl ScriptReader<'_> {
    /// Reads from `${` to its closing brace.
    pub(super) fn braced(&mut self, quoted: bool) -> ScriptResult<ParameterExpansion> {
        self.expect("${")?;
        let mut parameter = ParameterExpansion::default();
        // `${ cmd; }` of bash 5.3 is not a parameter.
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
        // `${!prefix*}` lists names of variables.
        if parameter.indirect && (self.looking_at("*}") || self.looking_at("@}")) {
            self.at += 1;
        }
        // Bash reads it without an operator, too, and reports an error when it runs.
        if let Some((sign, op)) = OPERATORS.iter().find(|(sign, _)| self.looking_at(sign)) {
            self.at += sign.len();
            parameter.op = *op;
        }
        // `"${x:$'…'}"` is arithmetic.
        parameter.word = self.parts_in_braces(quoted && parameter.op != ParameterOp::Slice)?;
        self.expect("}")?;
        Ok(parameter)
    }

    /// Returns whether the text is an operator on `$#`, as in `${#-…}` and `${#?…}`.
    fn length_is_name(&self) -> bool {
        matches!(self.peek_at(1), Some(b':' | b'%' | b'=' | b'+' | b'/' | b'^' | b','))
            || (matches!(self.peek_at(1), Some(b'-' | b'?' | b'#')) && self.peek_at(2) != Some(b'}'))
    }

    /// Reads a name: letters and digits, or one sign.
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
