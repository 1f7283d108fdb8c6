//! Converts the line ends of a terminal, a carriage return and a line feed, to plain line feeds.

/// Removes the carriage return before each line feed, however the text is split.
#[derive(Debug, Default)]
pub struct LineEnds {
    held: bool,
}

impl LineEnds {
    /// Converts bytes. A carriage return at the end is held until the next bytes.
    pub fn normalize(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(bytes.len() + 1);
        let mut rest = bytes;
        let Some(first) = rest.first() else { return out };
        if std::mem::take(&mut self.held) && *first != b'\n' {
            out.push(b'\r');
        }
        while let Some(at) = memchr::memchr(b'\r', rest) {
            out.extend_from_slice(&rest[..at]);
            match rest.get(at + 1) {
                Some(b'\n') => {}
                Some(_) => out.push(b'\r'),
                None => self.held = true,
            }
            rest = &rest[at + 1..];
        }
        out.extend_from_slice(rest);
        out
    }

    /// Returns the byte that is still held at the end.
    pub fn end(&mut self) -> &'static [u8] {
        if std::mem::take(&mut self.held) { b"\r" } else { b"" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_replacement_of_the_whole(text in "[a\r\n]{0,12}", cuts in proptest::collection::vec(0_usize..12, 0..4)) {
            let mut ends: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).chain([text.len()]).collect();
            ends.sort_unstable();
            let (mut lines, mut out, mut from) = (LineEnds::default(), Vec::new(), 0);
            for end in ends {
                out.extend(lines.normalize(&text.as_bytes()[from..end]));
                from = end;
            }
            out.extend_from_slice(lines.end());
            prop_assert_eq!(String::from_utf8(out).unwrap(), text.replace("\r\n", "\n"));
        }
    }
}
