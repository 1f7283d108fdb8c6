//! The lines of a client, in bounded memory.

/// The bytes of a client that are no whole line yet.
#[derive(Debug, Default)]
pub struct ClientLineBuffer {
    bytes: Vec<u8>,
    /// Bytes that are known to have no newline.
    searched: usize,
    /// Bytes that were taken as lines.
    taken: usize,
}

/// A client has sent a line that is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLineTooLong;

impl ClientLineBuffer {
    /// Adds bytes that were read.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.taken);
        self.searched -= self.taken;
        self.taken = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next line, without its newline. `None` if it is not whole yet.
    ///
    /// # Errors
    /// If it is longer than `most` bytes.
    pub fn next(&mut self, most: usize) -> Result<Option<&[u8]>, ClientLineTooLong> {
        let newline = memchr::memchr(b'\n', &self.bytes[self.searched..]).map(|at| self.searched + at);
        let end = newline.unwrap_or(self.bytes.len());
        self.searched = newline.map_or(end, |newline| newline + 1);
        let line = &self.bytes[self.taken..end];
        if line.len() > most {
            return Err(ClientLineTooLong);
        }
        if newline.is_none() {
            return Ok(None);
        }
        self.taken = self.searched;
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_that_is_too_long_is_known_before_its_end() {
        let mut lines = ClientLineBuffer::default();
        lines.push(b"12345");
        assert_eq!(lines.next(5), Ok(None));
        lines.push(b"\n123456");
        assert_eq!(lines.next(5), Ok(Some(&b"12345"[..])));
        assert_eq!(lines.next(5), Err(ClientLineTooLong));
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_split(pieces in proptest::collection::vec("[ab\n]{0,6}", 0..20)) {
            let mut lines = ClientLineBuffer::default();
            let mut found = Vec::new();
            for piece in &pieces {
                lines.push(piece.as_bytes());
                while let Some(line) = lines.next(1_000).expect("short") {
                    found.push(String::from_utf8(line.to_vec()).expect("text"));
                }
            }
            let text = pieces.concat();
            let mut expected: Vec<&str> = text.split('\n').collect();
            expected.pop();
            prop_assert_eq!(found, expected);
        }
    }
}
