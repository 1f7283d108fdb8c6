//! The name in a TLS handshake (RFC 8446, RFC 6066). Nothing is decrypted: the ClientHello is plain text.

/// Type of a record with handshake messages.
pub(super) const HANDSHAKE: u8 = 22;
/// Type of a record with an alert.
const ALERT: u8 = 21;
/// Types of records: change of cipher, alert, handshake, data, heartbeat.
pub(super) const RECORDS: std::ops::RangeInclusive<u8> = 20..=24;
/// Length of a record's header.
const HEADER: usize = 5;
/// The longest record with plain text.
const LONGEST_RECORD: usize = 16 * 1024;
/// The most bytes of a ClientHello that are collected, including the headers of its records. Usual ClientHellos have 2
/// KiB.
const LONGEST_HELLO: usize = 32 * 1024;
/// The longest name of a session.
const LONGEST_SESSION: usize = 32;
/// Type of a ClientHello message.
const CLIENT_HELLO: u8 = 1;
/// Bytes of a message that show a ClientHello: its type, its length and its version.
const SHOWN: usize = 6;

/// A handshake that no client of ours sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MalformedHello;

/// What a client speaks, by the first bytes of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamStart {
    /// More bytes are needed.
    Unclear,
    /// TLS, with a ClientHello in front.
    Hello,
    /// TLS, or SSL of version 2, whose name servers may read and we may not.
    Refused,
    /// Something else.
    Other,
}

/// Returns what a client speaks. Servers pass over records without content in front of a ClientHello, and read one of
/// version 2, which has no name.
pub(super) fn classify_start(bytes: &[u8]) -> StreamStart {
    match bytes {
        [0x80..=0xFF, _, 1, 0 | 3, ..] => StreamStart::Refused,
        [0x80..=0xFF] | [0x80..=0xFF, _] | [0x80..=0xFF, _, 1] => StreamStart::Unclear,
        [kind, ..] if !RECORDS.contains(kind) => StreamStart::Other,
        [_] => StreamStart::Unclear,
        [HANDSHAKE, 3] => StreamStart::Unclear,
        [HANDSHAKE, 3, rest @ ..] => match rest {
            [5..=0xFF, ..] | [_, 0x41..=0xFF, ..] | [_, 0, 0, ..] => StreamStart::Refused,
            [_, _, _, CLIENT_HELLO, ..] => StreamStart::Hello,
            [_, _, _, _, ..] => StreamStart::Refused,
            _ => StreamStart::Unclear,
        },
        [_, 3, ..] => StreamStart::Refused,
        // Go and rustls take records of any version.
        [HANDSHAKE, _, _, 0, 0, ..] | [HANDSHAKE, _, _, _, _, CLIENT_HELLO, ..] => StreamStart::Refused,
        [HANDSHAKE, ..] if bytes.len() <= HEADER => StreamStart::Unclear,
        _ => StreamStart::Other,
    }
}

/// Finds where a ClientHello begins in a stream, whatever stands before it: another protocol, such as before
/// `STARTTLS`, or an earlier ClientHello.
///
/// Encrypted bytes look like the beginning of one once in 2³⁶ bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct HelloScan {
    /// The end of the stream, if a ClientHello may begin there. It was passed on.
    tail: Vec<u8>,
}

/// The beginning of a ClientHello.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HelloPosition {
    /// Its bytes that were passed on before.
    pub carried: Vec<u8>,
    /// Where it begins, or goes on, in the input.
    pub at: usize,
}

impl HelloScan {
    /// Returns whether no ClientHello begins in the input.
    pub fn has_no_hello(&self, input: &[u8]) -> bool {
        self.tail.is_empty() && memchr::memchr2(HANDSHAKE, CLIENT_HELLO, input).is_none() && cut_old(input).is_none()
    }

    /// Takes more of the stream. Returns where a ClientHello begins.
    pub fn find(&mut self, input: &[u8]) -> Option<HelloPosition> {
        let carried = self.tail.len();
        let mut all = std::mem::take(&mut self.tail);
        all.extend_from_slice(input);
        let mut unclear = cut_old(&all);
        for at in memchr::memchr2_iter(HANDSHAKE, CLIENT_HELLO, &all) {
            let (at, look) = match (all[at], at.checked_sub(2)) {
                (HANDSHAKE, _) => (at, match_hello(&all[at..])),
                (_, Some(before)) => (before, looks_old(&all[before..])),
                _ => continue,
            };
            match look {
                HelloMatch::Other => {}
                HelloMatch::Unclear => unclear = Some(unclear.map_or(at, |first| first.min(at))),
                HelloMatch::Hello => {
                    all.truncate(carried);
                    let carried = all.split_off(at.min(carried));
                    return Some(HelloPosition { at: at.saturating_sub(all.len() + carried.len()), carried });
                }
            }
        }
        self.tail = unclear.map_or_else(Vec::new, |at| all.split_off(at));
        None
    }
}

/// Returns where a ClientHello of version 2 may begin whose type is not there yet.
fn cut_old(bytes: &[u8]) -> Option<usize> {
    let end = bytes.len().saturating_sub(2);
    bytes[end..].iter().position(|byte| *byte >= 0x80).map(|at| end + at)
}

/// Returns whether a ClientHello of version 2 begins here, whose lengths have to agree.
fn looks_old(bytes: &[u8]) -> HelloMatch {
    match bytes {
        [0x80..=0xFF, _, CLIENT_HELLO, rest @ ..] if rest.len() < 8 && matches!(rest, [] | [0 | 3, ..]) => {
            HelloMatch::Unclear
        }
        [high @ 0x80..=0xFF, low, CLIENT_HELLO, 0 | 3, _, lengths @ ..] => {
            let number = |at: usize| usize::from(lengths[at]) << 8 | usize::from(lengths[at + 1]);
            let whole = usize::from(high & 0x7F) << 8 | usize::from(*low);
            let agrees = 9 + number(0) + number(2) + number(4) == whole;
            if agrees && number(2) <= LONGEST_SESSION { HelloMatch::Hello } else { HelloMatch::Other }
        }
        _ => HelloMatch::Other,
    }
}

enum HelloMatch {
    Hello,
    Unclear,
    Other,
}

/// Returns whether a ClientHello begins here. Go and rustls take any version, of records and of the message. Then a
/// second record has to follow, or the lengths in the message have to agree.
fn match_hello(bytes: &[u8]) -> HelloMatch {
    let (mut message, mut at, mut is_usual) = (Vec::new(), 0, true);
    loop {
        let header = &bytes[at..bytes.len().min(at + HEADER)];
        let is_sure = at > 0 && (is_usual || message.len() < SHOWN);
        match header {
            [HANDSHAKE, _, _, 0x42..=0xFF, ..] => return HelloMatch::Other,
            [] | [HANDSHAKE, ..] => {}
            // Servers pass over some records in the middle of a message. They would hide the rest.
            [kind, ..] if is_sure && RECORDS.contains(kind) => return HelloMatch::Hello,
            [ALERT, _, _, 0, 2] if at > 0 => return HelloMatch::Hello,
            [ALERT] | [ALERT, _] | [ALERT, _, _] | [ALERT, _, _, 0] if at > 0 => {}
            _ => return HelloMatch::Other,
        }
        let [_, major, _, high, low] = header else { return HelloMatch::Unclear };
        let length = usize::from(*high) << 8 | usize::from(*low);
        is_usual &= *major == 3;
        match length {
            0 if at == 0 => return HelloMatch::Other,
            // Behind the beginning of a message, an empty record hides the rest.
            0 => return HelloMatch::Hello,
            _ if at > 0 && message.len() >= SHOWN => return HelloMatch::Hello,
            _ => {}
        }
        let content = &bytes[at + HEADER..];
        message.extend_from_slice(&content[..length.min(content.len())]);
        match match_message_start(&message, is_usual) {
            HelloMatch::Unclear if content.len() >= length => at += HEADER + length,
            known => return known,
        }
    }
}

/// Returns whether a message is a ClientHello, by its beginning.
fn match_message_start(message: &[u8], is_usual: bool) -> HelloMatch {
    match message {
        [] | [CLIENT_HELLO] => HelloMatch::Unclear,
        [CLIENT_HELLO, 0..=2, ..] if message.len() < SHOWN => HelloMatch::Unclear,
        [CLIENT_HELLO, 0..=2, _, _, 3, ..] if is_usual => HelloMatch::Hello,
        // Servers that take other versions read no longer ones.
        [CLIENT_HELLO, 0, high, low, body @ ..] => match_lengths(usize::from(*high) << 8 | usize::from(*low), body),
        [CLIENT_HELLO, 1, 0, 0, body @ ..] => match_lengths(1 << 16, body),
        _ => HelloMatch::Other,
    }
}

/// Returns whether the lengths in the body of a ClientHello add up to its length.
fn match_lengths(whole: usize, body: &[u8]) -> HelloMatch {
    // Behind version and random are session, ciphers, compressions and extensions, which begin with their lengths.
    let mut end = 2 + 32;
    for width in [1, 2, 1, 2] {
        let length = match body.get(end..end + width) {
            Some(length) => length.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)),
            None if end < whole => return HelloMatch::Unclear,
            // There are no extensions.
            None => break,
        };
        if end < whole {
            end += width + length;
        }
    }
    if end == whole { HelloMatch::Hello } else { HelloMatch::Other }
}

/// Collects a ClientHello, which may be split over records, and records over segments.
#[derive(Debug, Default)]
pub(super) struct HelloCollector {
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
pub(super) struct ClientHello {
    /// The name in the ClientHello, in lower case.
    pub name: Option<String>,
    /// The bytes to pass on if the name is right: the records, and the bytes after them.
    pub raw: Vec<u8>,
    /// The length of the bytes after the records.
    pub rest: usize,
}

impl HelloCollector {
    /// Begins with bytes that were partly passed on already.
    pub fn continue_from(raw: Vec<u8>, sent: usize) -> Self {
        Self { raw, sent, ..Self::default() }
    }

    /// Returns the number of bytes that are kept.
    pub fn kept_bytes(&self) -> usize {
        self.raw.len() + self.message.len()
    }

    /// Takes more of the stream. Returns the ClientHello when it is whole.
    pub fn feed(&mut self, input: &[u8]) -> Result<Option<ClientHello>, MalformedHello> {
        self.raw.extend_from_slice(input);
        while let Some([kind, major, _, high, low]) = self.raw[self.read..].first_chunk::<HEADER>() {
            let length = usize::from(*high) << 8 | usize::from(*low);
            if *kind != HANDSHAKE || *major != 3 || length == 0 || length > LONGEST_RECORD {
                return Err(MalformedHello);
            }
            let end = self.read + HEADER + length;
            let Some(fragment) = self.raw.get(self.read + HEADER..end) else { break };
            self.message.extend_from_slice(fragment);
            self.read = end;
            if let Some(body) = complete_body(&self.message)? {
                let name = server_name(body)?;
                let raw = self.raw.split_off(self.sent);
                return Ok(Some(ClientHello { name, rest: self.sent + raw.len() - end, raw }));
            }
        }
        if self.raw.len() > LONGEST_HELLO { Err(MalformedHello) } else { Ok(None) }
    }
}

/// Returns the body of a ClientHello, if the message is whole. Nothing may follow it in its record.
fn complete_body(message: &[u8]) -> Result<Option<&[u8]>, MalformedHello> {
    if message.first().is_some_and(|kind| *kind != CLIENT_HELLO) {
        return Err(MalformedHello);
    }
    let Some([_, a, b, c]) = message.first_chunk::<4>() else { return Ok(None) };
    let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
    match message.len().cmp(&(4 + length)) {
        _ if length > LONGEST_HELLO => Err(MalformedHello),
        std::cmp::Ordering::Less => Ok(None),
        std::cmp::Ordering::Equal => Ok(Some(&message[4..])),
        std::cmp::Ordering::Greater => Err(MalformedHello),
    }
}

/// Reads from the front of a message.
struct TlsFieldReader<'a>(&'a [u8]);

impl<'a> TlsFieldReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], MalformedHello> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(MalformedHello)?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<usize, MalformedHello> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Takes a field that begins with its length in this many bytes.
    fn vector(&mut self, bytes: usize) -> Result<&'a [u8], MalformedHello> {
        let length = self.number(bytes)?;
        self.take(length)
    }
}

/// Returns the name in the body of a ClientHello, in lower case.
pub(super) fn server_name(body: &[u8]) -> Result<Option<String>, MalformedHello> {
    let mut fields = TlsFieldReader(body);
    // Version, random, session, ciphers, compressions.
    fields.take(2 + 32)?;
    fields.vector(1)?;
    fields.vector(2)?;
    fields.vector(1)?;
    if fields.0.is_empty() {
        return Ok(None);
    }
    let mut extensions = TlsFieldReader(fields.vector(2)?);
    if !fields.0.is_empty() {
        return Err(MalformedHello);
    }
    let mut found = None;
    while !extensions.0.is_empty() {
        let kind = extensions.number(2)?;
        let data = extensions.vector(2)?;
        // With two names, the server could choose another name than we do.
        if kind == 0 && found.replace(name_in(data)?).is_some() {
            return Err(MalformedHello);
        }
    }
    Ok(found)
}

/// Returns the only name in an extension.
fn name_in(data: &[u8]) -> Result<String, MalformedHello> {
    let mut fields = TlsFieldReader(data);
    let mut names = TlsFieldReader(fields.vector(2)?);
    let kind = names.number(1)?;
    let name = names.vector(2)?;
    let plain = name.iter().all(u8::is_ascii_graphic);
    if kind != 0 || !plain || !names.0.is_empty() || !fields.0.is_empty() {
        return Err(MalformedHello);
    }
    // Some servers know no name with a final dot, and take it for none.
    if name.is_empty() || name.ends_with(b".") {
        return Err(MalformedHello);
    }
    Ok(String::from_utf8_lossy(name).to_ascii_lowercase())
}
