//! The names in the requests of a plain HTTP connection (RFC 9112). Each request of a connection is read, because a
//! server may choose another host for each. Ambiguous requests are refused.

/// The longest head of a request, in bytes.
const LONGEST_HEAD: usize = 32 * 1024;
/// The longest first line that a server reads, in bytes: 64 KiB, of Python's http.server.
pub(super) const LONGEST_LINE: usize = 64 * 1024 + 1;
/// The most digits of a length: far less than the number type could hold.
const DIGITS: usize = 15;
/// The beginning of an answer that agrees to another protocol.
const SWITCHING: &[u8] = b"HTTP/1.1 101";

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HttpRequestFault {
    /// A server could read the request in two ways, or not at all.
    Malformed,
    /// The request names this host.
    Host(String),
}

/// The protocol after the bytes that were read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextProtocol {
    /// More requests.
    More,
    /// Another protocol, to which the server has agreed. `true`: HTTP/2.
    Other(bool),
}

/// Reads the requests of a connection.
#[derive(Debug)]
pub(super) struct HttpRequestReader {
    state: BodyState,
    /// The head of the current request.
    head: Vec<u8>,
    /// Bytes of the head that were passed on already.
    sent: usize,
    /// Requests whose heads were read.
    count: u64,
    /// `None`: the first request asks for no other protocol. `true`: it asks for HTTP/2.
    upgrade: Option<bool>,
    /// The first bytes of the server.
    served: Vec<u8>,
    /// The first line of a body that the server may take for the next request, as far as it was read.
    suspect: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyState {
    Head,
    Body(u64),
    /// The line with the size of a chunk: its digits, whether an extension has begun, whether CR was read.
    ChunkSize {
        size: u64,
        digits: usize,
        extension: bool,
        cr: bool,
    },
    Chunk(u64),
    /// The end of a chunk: whether CR was read.
    ChunkEnd(bool),
    /// The lines after the last chunk: bytes of the current line, whether CR was read.
    Trailer {
        length: usize,
        cr: bool,
    },
    /// The request is over.
    Over,
    /// The request for another protocol is over, and the server has not answered.
    AwaitingUpgrade,
}

const CHUNK_SIZE: BodyState = BodyState::ChunkSize { size: 0, digits: 0, extension: false, cr: false };

impl BodyState {
    /// Reads a byte between the chunks of a body. `None`: the byte is not allowed there.
    fn after_byte(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::ChunkSize { size, digits, cr: true, .. }, b'\n') if digits > 0 => match size {
                0 => Self::Trailer { length: 0, cr: false },
                size => Self::Chunk(size),
            },
            (Self::ChunkSize { cr: true, .. }, _) => return None,
            (Self::ChunkSize { size, digits, extension, .. }, b'\r') => {
                Self::ChunkSize { size, digits, extension, cr: true }
            }
            // A blank would make a request line of it, for servers that know no chunks.
            (Self::ChunkSize { extension: true, .. }, b'!'..=b'~') => self,
            (Self::ChunkSize { size, digits, extension: false, cr }, byte) => match char::from(byte).to_digit(16) {
                Some(digit) if digits < DIGITS => {
                    Self::ChunkSize { size: size << 4 | u64::from(digit), digits: digits + 1, extension: false, cr }
                }
                None if byte == b';' => Self::ChunkSize { size, digits, extension: true, cr },
                _ => return None,
            },
            (Self::ChunkEnd(false), b'\r') => Self::ChunkEnd(true),
            (Self::ChunkEnd(true), b'\n') => CHUNK_SIZE,
            (Self::Trailer { length: 0, cr: true }, b'\n') => Self::Over,
            (Self::Trailer { cr: true, .. }, b'\n') => Self::Trailer { length: 0, cr: false },
            (Self::Trailer { cr: true, .. }, _) | (Self::Trailer { .. }, b'\n') => return None,
            (Self::Trailer { length, .. }, b'\r') => Self::Trailer { length, cr: true },
            (Self::Trailer { length, .. }, _) if length < LONGEST_HEAD => {
                Self::Trailer { length: length + 1, cr: false }
            }
            _ => return None,
        })
    }
}

impl HttpRequestReader {
    /// Begins after the first line, which was passed on already except for its last byte.
    pub fn after_first_line(line: Vec<u8>) -> Self {
        let sent = line.len() - 1;
        Self { state: BodyState::Head, head: line, sent, count: 0, upgrade: None, served: Vec::new(), suspect: None }
    }

    /// Returns whether all of the input belongs to a body, and counts it.
    pub fn skip_body(&mut self, input: &[u8]) -> bool {
        let (BodyState::Body(left) | BodyState::Chunk(left)) = &mut self.state else { return false };
        let skips = self.suspect.is_none() && *left > input.len() as u64;
        if skips {
            *left -= input.len() as u64;
        }
        skips
    }

    /// Returns the number of bytes that are kept.
    pub fn kept_bytes(&self) -> usize {
        self.head.len() + self.suspect.as_ref().map_or(0, Vec::len)
    }

    /// Reads the server's answer. Returns whether kept bytes may now be passed on.
    pub fn on_served(&mut self, output: &[u8]) -> bool {
        let missing = SWITCHING.len().saturating_sub(self.served.len()).min(output.len());
        self.served.extend_from_slice(&output[..missing]);
        missing > 0 && self.state == BodyState::AwaitingUpgrade && self.has_switched().is_some()
    }

    /// Returns whether the server has agreed to another protocol. `None`: it has not answered.
    fn has_switched(&self) -> Option<bool> {
        let undecided = self.served.len() < SWITCHING.len() && SWITCHING.starts_with(&self.served);
        (!undecided).then(|| self.served == SWITCHING)
    }

    /// Takes more of the stream. Appends the bytes to pass on. `accepts` decides on hosts. Bytes after a request for
    /// another protocol are kept until the server has answered.
    pub fn feed(
        &mut self,
        mut input: &[u8],
        out: &mut Vec<u8>,
        accepts: &dyn Fn(&str) -> bool,
    ) -> Result<NextProtocol, HttpRequestFault> {
        loop {
            if self.state == BodyState::AwaitingUpgrade {
                return self.feed_asked(input, out, accepts);
            }
            if input.is_empty() {
                return Ok(NextProtocol::More);
            }
            let taken = match self.state {
                BodyState::Head => self.take_head(input, out, accepts)?,
                BodyState::Body(left) | BodyState::Chunk(left) => {
                    let taken = input.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    let left = left - taken as u64;
                    let body = matches!(self.state, BodyState::Body(_));
                    self.state = if body { BodyState::Body(left) } else { BodyState::Chunk(left) };
                    self.check_body_for_request(&input[..taken])?;
                    out.extend_from_slice(&input[..taken]);
                    taken
                }
                between => {
                    self.state = between.after_byte(input[0]).ok_or(HttpRequestFault::Malformed)?;
                    out.push(input[0]);
                    1
                }
            };
            input = &input[taken..];
            self.state = match self.state {
                BodyState::Chunk(0) => BodyState::ChunkEnd(false),
                BodyState::Body(0) | BodyState::Over if self.count == 1 && self.upgrade.is_some() => {
                    BodyState::AwaitingUpgrade
                }
                BodyState::Body(0) | BodyState::Over => BodyState::Head,
                state => state,
            };
        }
    }

    /// Reads the first line of a body that may be a request.
    fn check_body_for_request(&mut self, body: &[u8]) -> Result<(), HttpRequestFault> {
        let Some(mut line) = self.suspect.take() else { return Ok(()) };
        for byte in body {
            line.push(*byte);
            match byte {
                b'\n' if line.iter().all(is_blank) => line.clear(),
                b'\n' => return if is_request_line(&line) { Err(HttpRequestFault::Malformed) } else { Ok(()) },
                _ if line.len() > LONGEST_LINE => return Ok(()),
                _ => {}
            }
        }
        self.suspect = Some(line);
        Ok(())
    }

    fn feed_asked(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        accepts: &dyn Fn(&str) -> bool,
    ) -> Result<NextProtocol, HttpRequestFault> {
        self.head.extend_from_slice(input);
        match self.has_switched() {
            None if self.head.len() > LONGEST_HEAD => Err(HttpRequestFault::Malformed),
            None => Ok(NextProtocol::More),
            Some(true) => {
                out.append(&mut self.head);
                Ok(NextProtocol::Other(self.upgrade == Some(true)))
            }
            Some(false) => {
                let kept = std::mem::take(&mut self.head);
                self.upgrade = None;
                self.state = BodyState::Head;
                self.feed(&kept, out, accepts)
            }
        }
    }

    /// Takes the rest of a head, or all of the input. Returns the number of bytes taken.
    fn take_head(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        accepts: &dyn Fn(&str) -> bool,
    ) -> Result<usize, HttpRequestFault> {
        // Requests may be separated by empty lines.
        if self.head.is_empty() && matches!(input[0], b'\r' | b'\n') {
            out.push(input[0]);
            return Ok(1);
        }
        let before = self.head.len();
        let room = LONGEST_HEAD.saturating_sub(before);
        self.head.extend_from_slice(&input[..input.len().min(room)]);
        let Some(end) = end_of_head(&self.head, before.saturating_sub(1))? else {
            return if input.len() > room { Err(HttpRequestFault::Malformed) } else { Ok(input.len()) };
        };
        self.head.truncate(end);
        let head = parse(&self.head).ok_or(HttpRequestFault::Malformed)?;
        if let Some(host) = head.hosts.into_iter().find(|host| !accepts(host)) {
            return Err(HttpRequestFault::Host(host));
        }
        out.extend_from_slice(&self.head[self.sent..]);
        self.head.clear();
        self.sent = 0;
        self.count += 1;
        if self.count == 1 {
            self.upgrade = head.upgrade;
        }
        self.state = head.body;
        self.suspect = head.may_be_ignored.then(Vec::new);
        Ok(end - before)
    }
}

/// Returns the length of a head with its empty line. Lines that end without CR are an error. Bytes before `from` were
/// searched already.
fn end_of_head(head: &[u8], from: usize) -> Result<Option<usize>, HttpRequestFault> {
    for at in memchr::memchr_iter(b'\n', &head[from..]).map(|at| at + from) {
        match &head[..=at] {
            [.., b'\r', b'\n', b'\r', b'\n'] => return Ok(Some(at + 1)),
            [.., b'\r', b'\n'] => {}
            _ => return Err(HttpRequestFault::Malformed),
        }
    }
    Ok(None)
}

/// The relevant facts of a head.
#[derive(Debug, PartialEq, Eq)]
struct HttpRequestHead {
    /// The hosts that the head names, in lower case and without ports.
    hosts: Vec<String>,
    /// The state after the head.
    body: BodyState,
    /// Whether a server may read no body, and take it for the next request.
    may_be_ignored: bool,
    /// `None`: no other protocol is asked for. `true`: HTTP/2 is.
    upgrade: Option<bool>,
}

/// Returns whether a server may take a line for the first line of a request, of any version. Servers read headers also
/// after a line of the oldest version, which names none, and llhttp after one of RTSP or ICE.
pub(super) fn is_request_line(line: &[u8]) -> bool {
    let is_http = |at: &[u8]| at.eq_ignore_ascii_case(b"HTTP/");
    let is_oldest = |method: &[u8], target: &[u8]| {
        let is_method = method.iter().all(|byte| byte.is_ascii_uppercase() || b"-_".contains(byte));
        let is_target = method == b"GET" || matches!(target[0], b'/' | b'*');
        target.windows(3).any(|part| part == b"://") || is_method && is_target
    };
    let is_other = |version: &[u8]| {
        let mut parts = version.splitn(2, |byte| *byte == b'/');
        let (name, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        name.len() > 1 && name.iter().all(u8::is_ascii_alphabetic) && number.first().is_some_and(u8::is_ascii_digit)
    };
    let is_request = |is_gap: fn(&u8) -> bool| {
        let words: Vec<&[u8]> = line.split(is_gap).filter(|word| !word.is_empty()).collect();
        match words[..] {
            [method, target] => is_oldest(method, target),
            [_, _, version] => is_other(version),
            _ => false,
        }
    };
    // To Apache and nginx, other blanks are a part of the target.
    is_request(is_blank) || is_request(|byte| b" \r\n".contains(byte)) || line.windows(5).any(is_http)
}

/// Returns whether a server may take a byte for a blank of a first line. Python's http.server takes those of Latin-1.
pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1C..=b' ' | 0x85 | 0xA0)
}

/// Returns whether a byte may be part of a method or of a header's name.
pub(super) fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_token_byte)
}

/// Parses a head. `None`: a server could read the head in another way.
fn parse(head: &[u8]) -> Option<HttpRequestHead> {
    let text = std::str::from_utf8(head).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = text.split("\r\n");
    let [method, target, version] = lines.next()?.split(' ').collect::<Vec<_>>().try_into().ok()?;
    if !is_token(method) || method == "CONNECT" || target.bytes().any(|byte| byte.is_ascii_control()) {
        return None;
    }
    let recent = match version {
        "HTTP/1.1" => true,
        // The target of RTSP names the host. Servers that take it for HTTP read a header, too.
        "HTTP/1.0" | "RTSP/1.0" => false,
        _ => return None,
    };
    let mut hosts: Vec<String> = match target {
        "*" => Vec::new(),
        target if target.starts_with('/') => Vec::new(),
        target => {
            let (_, rest) = target.split_once("://")?;
            vec![host_of(rest.split(['/', '?', '#']).next()?)?]
        }
    };
    let (mut host, mut length, mut chunked, mut upgrade) = (None, None, false, None);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        if !is_token(name) || value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
            return None;
        }
        let value = value.trim_matches([' ', '\t']);
        match name.to_ascii_lowercase().as_str() {
            "host" if host.is_none() => host = Some(host_of(value)?),
            "content-length" if length.is_none() => length = Some(number(value)?),
            "transfer-encoding" if !chunked && recent && value.eq_ignore_ascii_case("chunked") => chunked = true,
            "host" | "content-length" | "transfer-encoding" => return None,
            "upgrade" => *upgrade.get_or_insert(false) |= value.to_ascii_lowercase().contains("h2c"),
            _ => {}
        }
    }
    // Version 1.0 needs no host. Without one, a server takes the host that was dialled.
    match host {
        None if recent => return None,
        host => hosts.extend(host),
    }
    let body = match (length, chunked) {
        (Some(_), true) => return None,
        (None, true) => CHUNK_SIZE,
        (length, false) => BodyState::Body(length.unwrap_or(0)),
    };
    let may_be_ignored = !matches!(method, "POST" | "PUT" | "PATCH") && matches!(body, BodyState::Body(1..));
    Some(HttpRequestHead { hosts, body, may_be_ignored, upgrade })
}

fn number(value: &str) -> Option<u64> {
    let plain = (1..=DIGITS).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| value.parse().ok())?
}

/// Returns the host of `host`, `host:port` or `[address]:port`, in lower case and without a final dot.
fn host_of(authority: &str) -> Option<String> {
    let (host, rest) = match authority.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port = rest.strip_prefix(':').unwrap_or(rest);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte);
    if !port.bytes().all(|byte| byte.is_ascii_digit()) || host.is_empty() || !host.bytes().all(plain) {
        return None;
    }
    let host = host.to_ascii_lowercase();
    Some(host.strip_suffix('.').map_or_else(|| host.clone(), str::to_owned))
}
