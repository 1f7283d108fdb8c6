//! The name that a program gives in its first bytes to a server.
//!
//! Many hosts of the internet share an address, and the server chooses a host by the name in the handshake. So a
//! connection to an allowed name could be used to talk to another host. The client's bytes are read before they are
//! passed on, and a connection whose handshake names another host is refused:
//!
//! - **TLS**: the name in each ClientHello, however it is split over records and segments, at the beginning and
//!   wherever one begins later, such as after `STARTTLS`. The outer name counts where the inner name is encrypted. A
//!   handshake without a name is refused, unless the program has dialled an address. So is one in a form that only some
//!   servers take, and a stream of TLS that begins with anything else, as servers pass over such records.
//! - **HTTP/1**: the host of each request of the connection, and the host in its target. Ambiguous requests, requests
//!   of version 1.1 without a host and `CONNECT` are refused. A connection whose server has agreed to another protocol
//!   is not read any further.
//! - **HTTP/2 in plain text** is refused, because its names are compressed, unless the caller has mapped the name: then
//!   the caller has chosen the server.
//! - **Any other protocol** has no name, and is passed on as it is. The bytes of a server that speaks first are never
//!   kept back.
//!
//! Nothing is decrypted: a request in TLS may name another host than its handshake, and the server decides about it.

#[cfg(all(test, target_os = "linux"))]
mod differential;
mod http;
#[cfg(test)]
mod http_tests;
mod tls;
#[cfg(test)]
mod tls_tests;

use std::net::IpAddr;
use std::sync::Arc;

use super::allowed_hosts::AllowedHosts;

/// The longest first line that is read to find out whether it is HTTP.
const LONGEST_LINE: usize = 32 * 1024;
/// The most blanks before a first line that are passed on.
const BLANKS: usize = 32;

/// The destination that a program has dialled.
#[derive(Debug, Clone)]
pub(super) enum DialledDestination {
    /// A name, and whether the caller has mapped it to an address.
    Name {
        /// The name.
        name: String,
        /// Whether the caller has chosen its address.
        mapped: bool,
    },
    /// An address that is allowed by itself.
    Address {
        /// The address.
        address: IpAddr,
        /// The port.
        port: u16,
        /// The rules, for names that are allowed besides the address.
        rules: Arc<AllowedHosts>,
    },
}

impl DialledDestination {
    /// Returns whether a handshake may give this name.
    fn accepts(&self, claimed: &str) -> bool {
        match self {
            Self::Name { name, .. } => name == claimed,
            Self::Address { address, port, rules } => {
                claimed.parse() == Ok(*address) || rules.allows_name(claimed, *port)
            }
        }
    }

    fn may_be_silent(&self) -> bool {
        matches!(self, Self::Address { .. })
    }

    fn may_use_http2(&self) -> bool {
        matches!(self, Self::Name { mapped: true, .. })
    }
}

/// Why a connection is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HandshakeMismatch {
    /// The name in the handshake. `None`: there was no name, or no reliable one.
    pub claimed: Option<String>,
}

const UNCLEAR: HandshakeMismatch = HandshakeMismatch { claimed: None };

/// Reads the bytes of one client.
#[derive(Debug)]
pub(super) struct HandshakeInspector {
    dialled: DialledDestination,
    state: InspectionState,
    /// Looks for a ClientHello in all that is neither a handshake nor HTTP.
    scan: tls::HelloScan,
}

#[derive(Debug)]
enum InspectionState {
    /// The first bytes, which may be those of TLS. They were passed on.
    Start(Vec<u8>),
    /// The first line, which may belong to a request. All its bytes were passed on.
    Line(FirstLine),
    Hello(tls::HelloCollector),
    Http(Box<http::HttpRequestReader>),
    Opaque,
}

/// The answer to bytes of the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ForwardingDecision {
    /// All bytes may be passed on.
    Pass,
    /// These bytes may be passed on instead. The other bytes come later.
    ReplaceWith(Vec<u8>),
}

impl HandshakeInspector {
    /// Begins a connection.
    pub fn new(dialled: DialledDestination) -> Self {
        Self { dialled, state: InspectionState::Start(Vec::new()), scan: tls::HelloScan::default() }
    }

    /// Returns the number of bytes that are kept.
    pub fn kept_bytes(&self) -> usize {
        match &self.state {
            InspectionState::Line(line) => line.text.len(),
            InspectionState::Hello(hello) => hello.kept_bytes(),
            InspectionState::Http(requests) => requests.kept_bytes(),
            InspectionState::Start(_) | InspectionState::Opaque => 0,
        }
    }

    /// Takes bytes of the client, as one read has delivered them.
    pub fn feed(&mut self, input: &[u8]) -> Result<ForwardingDecision, HandshakeMismatch> {
        let passes = match &mut self.state {
            InspectionState::Opaque => self.scan.has_no_hello(input),
            InspectionState::Http(requests) => requests.skip_body(input),
            _ => false,
        };
        if passes {
            return Ok(ForwardingDecision::Pass);
        }
        let (mut out, mut rest) = (Vec::with_capacity(input.len()), input.to_vec());
        while let Some(again) = self.step(&rest, &mut out)? {
            rest = again;
        }
        Ok(ForwardingDecision::ReplaceWith(out))
    }

    /// Records bytes of the server. Returns the bytes of the client that may now be passed on.
    pub fn on_served(&mut self, output: &[u8]) -> Result<Vec<u8>, HandshakeMismatch> {
        let InspectionState::Http(requests) = &mut self.state else { return Ok(Vec::new()) };
        if !requests.on_served(output) {
            return Ok(Vec::new());
        }
        match self.feed(&[])? {
            ForwardingDecision::Pass => Ok(Vec::new()),
            ForwardingDecision::ReplaceWith(out) => Ok(out),
        }
    }

    /// Lets the current state take bytes. Returns the bytes that belong to the next state.
    fn step(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<Option<Vec<u8>>, HandshakeMismatch> {
        let Self { dialled, state, scan } = self;
        let (next, rest) = match state {
            InspectionState::Start(start) => step_start(start, scan, input, out, dialled)?,
            InspectionState::Line(line) => step_line(line, scan, input, out, dialled)?,
            InspectionState::Hello(hello) => step_hello(hello, input, out, dialled)?,
            InspectionState::Http(requests) => (step_http(requests, input, out, dialled)?, None),
            InspectionState::Opaque => step_opaque(scan, input, out),
        };
        if let Some(next) = next {
            *state = next;
        }
        Ok(rest)
    }
}

/// The next state, if the state changes, and the bytes that belong to it.
type InspectionStep = (Option<InspectionState>, Option<Vec<u8>>);

fn step_start(
    start: &mut Vec<u8>,
    scan: &mut tls::HelloScan,
    input: &[u8],
    out: &mut Vec<u8>,
    dialled: &DialledDestination,
) -> Result<InspectionStep, HandshakeMismatch> {
    for (at, byte) in input.iter().enumerate() {
        start.push(*byte);
        out.push(*byte);
        let rest = || Some(input[at + 1..].to_vec());
        match tls::classify_start(start) {
            tls::StreamStart::Unclear => {}
            tls::StreamStart::Refused => return Err(UNCLEAR),
            tls::StreamStart::Hello => {
                let sent = start.len();
                let hello = tls::HelloCollector::continue_from(std::mem::take(start), sent);
                return Ok((Some(InspectionState::Hello(hello)), rest()));
            }
            tls::StreamStart::Other => {
                let mut line = FirstLine::default();
                let next = match line.read(start, dialled)? {
                    (None, _) => InspectionState::Line(line),
                    (Some(InspectionState::Opaque), _) => InspectionState::Opaque,
                    // No request begins like that.
                    _ => return Err(UNCLEAR),
                };
                scan.find(start);
                return Ok((Some(next), rest()));
            }
        }
    }
    Ok((None, None))
}

fn step_line(
    line: &mut FirstLine,
    scan: &mut tls::HelloScan,
    input: &[u8],
    out: &mut Vec<u8>,
    dialled: &DialledDestination,
) -> Result<InspectionStep, HandshakeMismatch> {
    let found = scan.clone().find(input);
    let end = found.as_ref().map_or(input.len(), |found| found.at);
    let (next, taken) = line.read(&input[..end], dialled)?;
    // The end of a request's line is kept with its head.
    let kept = usize::from(matches!(next, Some(InspectionState::Http(_))));
    out.extend_from_slice(&input[..taken - kept]);
    match (next, found) {
        (None, Some(found)) => Ok(begin_hello(found, input)),
        (next, _) => {
            scan.find(&input[..taken]);
            let rest = next.is_some().then(|| input[taken..].to_vec());
            Ok((next, rest))
        }
    }
}

fn step_opaque(scan: &mut tls::HelloScan, input: &[u8], out: &mut Vec<u8>) -> InspectionStep {
    let found = scan.find(input);
    out.extend_from_slice(&input[..found.as_ref().map_or(input.len(), |found| found.at)]);
    found.map_or((None, None), |found| begin_hello(found, input))
}

fn begin_hello(found: tls::HelloPosition, input: &[u8]) -> InspectionStep {
    let rest = input[found.at..].to_vec();
    let sent = found.carried.len();
    (Some(InspectionState::Hello(tls::HelloCollector::continue_from(found.carried, sent))), Some(rest))
}

fn step_hello(
    hello: &mut tls::HelloCollector,
    input: &[u8],
    out: &mut Vec<u8>,
    dialled: &DialledDestination,
) -> Result<InspectionStep, HandshakeMismatch> {
    let Some(greeting) = hello.feed(input).map_err(|tls::MalformedHello| UNCLEAR)? else { return Ok((None, None)) };
    match &greeting.name {
        Some(name) if !dialled.accepts(name) => return Err(HandshakeMismatch { claimed: greeting.name }),
        None if !dialled.may_be_silent() => return Err(UNCLEAR),
        _ => {}
    }
    let (records, behind) = greeting.raw.split_at(greeting.raw.len() - greeting.rest);
    out.extend_from_slice(records);
    Ok((Some(InspectionState::Opaque), Some(behind.to_vec())))
}

fn step_http(
    requests: &mut http::HttpRequestReader,
    input: &[u8],
    out: &mut Vec<u8>,
    dialled: &DialledDestination,
) -> Result<Option<InspectionState>, HandshakeMismatch> {
    let next = requests.feed(input, out, &|host| dialled.accepts(host)).map_err(|fault| match fault {
        http::HttpRequestFault::Malformed => UNCLEAR,
        http::HttpRequestFault::Host(host) => HandshakeMismatch { claimed: Some(host) },
    })?;
    match next {
        http::NextProtocol::More => Ok(None),
        http::NextProtocol::Other(true) if !dialled.may_use_http2() => Err(UNCLEAR),
        http::NextProtocol::Other(_) => Ok(Some(InspectionState::Opaque)),
    }
}

/// The first line of a client.
#[derive(Debug, Default)]
struct FirstLine {
    text: Vec<u8>,
    /// Whether the line has text.
    begun: bool,
    /// Whether the line begins as no method can: only Python's http.server reads it as a request.
    is_odd: bool,
    /// Whether the first word is complete.
    spaced: bool,
}

impl FirstLine {
    /// Reads more of the line. Returns the next state, if it is known, and the number of bytes that belong to the line.
    fn read(
        &mut self,
        input: &[u8],
        dialled: &DialledDestination,
    ) -> Result<(Option<InspectionState>, usize), HandshakeMismatch> {
        for (at, byte) in input.iter().enumerate() {
            let space = http::is_blank(byte);
            if !self.begun && !space {
                // It goes on as a preface of proxies does.
                if *byte == 0 && self.text == b"\r\n\r\n" {
                    return Err(UNCLEAR);
                }
                // Servers skip lines without text before a request.
                self.text.clear();
                self.begun = true;
            }
            self.text.push(*byte);
            if self.begun && *byte == b'\n' {
                return Ok((Some(self.protocol_of_line(dialled)?), at + 1));
            }
            self.spaced |= self.begun && space;
            self.is_odd |= self.begun && !self.spaced && !http::is_token_byte(*byte);
            match self.text.len() {
                http::LONGEST_LINE.. if self.is_odd => return Ok((Some(InspectionState::Opaque), at + 1)),
                length if length > if self.begun { LONGEST_LINE } else { BLANKS } && !self.is_odd => {
                    return Err(UNCLEAR);
                }
                _ => {}
            }
        }
        Ok((None, input.len()))
    }

    /// Returns the protocol to which the whole line belongs.
    fn protocol_of_line(&mut self, dialled: &DialledDestination) -> Result<InspectionState, HandshakeMismatch> {
        let text = std::mem::take(&mut self.text);
        let http2 = text.starts_with(b"PRI ");
        match http::is_request_line(&text) {
            _ if text.starts_with(b"PROXY ") => Err(UNCLEAR),
            true if http2 && !dialled.may_use_http2() => Err(UNCLEAR),
            true if !http2 => Ok(InspectionState::Http(Box::new(http::HttpRequestReader::after_first_line(text)))),
            _ => Ok(InspectionState::Opaque),
        }
    }
}
