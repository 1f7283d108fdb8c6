//! The name in a TLS handshake (RFC 8446, RFC 6066). Nothing is decrypted: the ClientHello is plain text.

/// Type of a record with handshake messages.
pub(super) const HANDSHAKE: u8 = 22;
/// Types of records: change of cipher, alert, handshake, data, heartbeat.
const RECORDS: std::ops::RangeInclusive<u8> = 20..=24;
/// Length of a record's header.
const HEADER: usize = 5;
/// The longest record with plain text.
const LONGEST_RECORD: usize = 16 * 1024;
/// The most bytes of a ClientHello that are collected, including the headers of its records. Usual ClientHellos have 2
/// KiB.
const LONGEST_HELLO: usize = 32 * 1024;
/// Type of a ClientHello message.
const CLIENT_HELLO: u8 = 1;
/// Bytes at the start of a stream that show a ClientHello: the record's header and the message's type.
pub(super) const PROBE: usize = HEADER + 1;
/// Bytes of a handshake message that tell a ClientHello from an encrypted message.
const MESSAGE_PROBE: usize = 6;

/// A handshake that no client of ours sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// Returns whether a stream that begins with these bytes may go on as a ClientHello.
pub(super) fn may_be_hello(start: &[u8]) -> bool {
    start.iter().take(PROBE).enumerate().all(|(at, byte)| match at {
        0 => *byte == HANDSHAKE,
        1 => *byte == 3,
        2 => *byte <= 4,
        3 => usize::from(*byte) <= LONGEST_RECORD >> 8,
        4 => true,
        _ => *byte == CLIENT_HELLO,
    })
}

/// Collects a ClientHello, which may be split over records, and records over segments.
#[derive(Debug, Default)]
pub(super) struct Hello {
    /// The stream from its first record.
    raw: Vec<u8>,
    /// Bytes of the stream that were passed on already.
    sent: usize,
    /// Bytes of the stream whose records are in `message`.
    read: usize,
    message: Vec<u8>,
}

/// A whole ClientHello.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Greeting {
    /// The name in the ClientHello, in lower case.
    pub name: Option<String>,
    /// The bytes to pass on if the name is right: the records, and the bytes after them.
    pub raw: Vec<u8>,
    /// The length of the bytes after the records.
    pub rest: usize,
}

impl Hello {
    /// Begins with bytes that were partly passed on already.
    pub fn after(raw: Vec<u8>, sent: usize) -> Self {
        Self { raw, sent, ..Self::default() }
    }

    /// Returns the number of bytes that are kept.
    pub fn kept(&self) -> usize {
        self.raw.len() + self.message.len()
    }

    /// Takes more of the stream. Returns the ClientHello when it is whole.
    pub fn feed(&mut self, input: &[u8]) -> Result<Option<Greeting>, Malformed> {
        self.raw.extend_from_slice(input);
        while let Some([kind, major, _, high, low]) = self.raw[self.read..].first_chunk::<HEADER>() {
            let length = usize::from(*high) << 8 | usize::from(*low);
            if *kind != HANDSHAKE || *major != 3 || length == 0 || length > LONGEST_RECORD {
                return Err(Malformed);
            }
            let end = self.read + HEADER + length;
            let Some(fragment) = self.raw.get(self.read + HEADER..end) else { break };
            self.message.extend_from_slice(fragment);
            self.read = end;
            if let Some(body) = whole(&self.message)? {
                let name = server_name(body)?;
                let raw = self.raw.split_off(self.sent);
                return Ok(Some(Greeting { name, rest: self.sent + raw.len() - end, raw }));
            }
        }
        if self.raw.len() > LONGEST_HELLO { Err(Malformed) } else { Ok(None) }
    }
}

/// Returns the body of a ClientHello, if the message is whole. Nothing may follow it in its record.
fn whole(message: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
        return Err(Malformed);
    }
    let Some([_, a, b, c]) = message.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
    match message.len().cmp(&(4 + length)) {
        _ if length > LONGEST_HELLO => Err(Malformed),
        std::cmp::Ordering::Less => Ok(None),
        std::cmp::Ordering::Equal => Ok(Some(&message[4..])),
        std::cmp::Ordering::Greater => Err(Malformed),
    }
}

/// Reads from the front of a message.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<usize, Malformed> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Takes a field that begins with its length in this many bytes.
    fn vector(&mut self, bytes: usize) -> Result<&'a [u8], Malformed> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

/// Returns the name in the body of a ClientHello, in lower case and without a final dot.
pub(super) fn server_name(body: &[u8]) -> Result<Option<String>, Malformed> {
    let mut fields = Fields(body);
    // Version, random, session, ciphers, compressions.
    fields.take(2 + 32)?;
    fields.vector(1)?;
    fields.vector(2)?;
    fields.vector(1)?;
    if fields.0.is_empty() {
        return Ok(None);
    }
    let mut extensions = Fields(fields.vector(2)?);
    if !fields.0.is_empty() {
        return Err(Malformed);
    }
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let data = extensions.vector(2)?;
        // With two names, the server could choose another name than we do.
        if kind == 0 && found.replace(name_in(data)?).is_some() {
            return Err(Malformed);
        }
    }
    Ok(found)
}

/// Returns the only name in an extension.
fn name_in(data: &[u8]) -> Result<String, Malformed> {
    let mut fields = Fields(data);
    let mut names = Fields(fields.vector(2)?);
    let kind = names.number(1)?;
    let name = names.vector(2)?;
    let plain = name.iter().all(u8::is_ascii_graphic);
    if kind != 0 || !plain || !names.0.is_empty() || !fields.0.is_empty() {
        return Err(Malformed);
    }
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    let name = name.strip_suffix('.').unwrap_or(&name);
    if name.is_empty() { Err(Malformed) } else { Ok(name.to_owned()) }
}

/// Walks over the records after a ClientHello, because the server may ask for a second ClientHello.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// The start of the current record, as far as it must be seen.
    start: Vec<u8>,
    /// Bytes of the current record that need not be seen.
    left: usize,
}

/// The bytes after a ClientHello.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// More records.
    More,
    /// Another ClientHello, which begins with these bytes. None of them were passed on.
    Hello(Vec<u8>),
    /// No more records.
    Other,
}

impl Records {
    /// Returns whether all of the input belongs to a record that need not be seen, and counts it.
    pub fn skip(&mut self, input: &[u8]) -> bool {
        let skips = self.start.is_empty() && self.left >= input.len();
        if skips {
            self.left -= input.len();
        }
        skips
    }

    /// Takes more of the stream. Appends the bytes to pass on.
    pub fn feed(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<Next, Malformed> {
        loop {
            let (skipped, rest) = input.split_at(self.left.min(input.len()));
            out.extend_from_slice(skipped);
            self.left -= skipped.len();
            input = rest;
            let Some((byte, rest)) = input.split_first() else { return Ok(Next::More) };
            self.start.push(*byte);
            input = rest;
            let [kind, major, _, high, low, message @ ..] = self.start.as_slice() else { continue };
            let length = usize::from(*high) << 8 | usize::from(*low);
            if !RECORDS.contains(kind) || *major != 3 {
                out.append(&mut self.start);
                out.extend_from_slice(input);
                return Ok(Next::Other);
            }
            if *kind == HANDSHAKE {
                // The fragment hides its message. Encrypted messages are longer.
                if length < MESSAGE_PROBE {
                    return Err(Malformed);
                }
                if message.len() < MESSAGE_PROBE {
                    continue;
                }
                if matches!(message, [CLIENT_HELLO, 0, _, _, 3, ..]) {
                    let mut hello = std::mem::take(&mut self.start);
                    hello.extend_from_slice(input);
                    return Ok(Next::Hello(hello));
                }
            }
            self.left = length - message.len();
            out.append(&mut self.start);
        }
    }
}
