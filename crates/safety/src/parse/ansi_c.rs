//! The escapes of `$'…'`.

use super::reader::{ScriptReader, ScriptResult};

impl ScriptReader<'_> {
    /// Reads the text of `$'…'`, behind its opening quote.
    pub(super) fn ansi_c(&mut self) -> ScriptResult<String> {
        let mut bytes = Vec::new();
        loop {
            match self.take_char() {
                None => return self.fault(),
                Some('\'') => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                Some('\\') => self.ansi_c_escape(&mut bytes)?,
                Some(next) => bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
    }

    fn ansi_c_escape(&mut self, bytes: &mut Vec<u8>) -> ScriptResult<()> {
        let Some(next) = self.take_char() else { return self.fault() };
        let simple = match next {
            'a' => 7,
            'b' => 8,
            'e' | 'E' => 27,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'v' => 11,
            '\\' | '\'' | '"' | '?' => next as u8,
            'c' => self.take_char().map_or(0, |control| (control as u32 & 0x1f) as u8),
            '0'..='7' => {
                self.at -= 1;
                let value = self.digits(8, 3);
                (value & 0xff) as u8
            }
            'x' => (self.digits(16, 2) & 0xff) as u8,
            'u' | 'U' => {
                let value = self.digits(16, if next == 'u' { 4 } else { 8 });
                let decoded = char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER);
                bytes.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
            other => {
                bytes.push(b'\\');
                bytes.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                return Ok(());
            }
        };
        bytes.push(simple);
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut value = 0u32;
        for _ in 0..most {
            let Some(digit) = self.peek().and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            value = value.wrapping_mul(radix).wrapping_add(digit);
            self.at += 1;
        }
        value
    }
}
