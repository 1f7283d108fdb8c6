//! Clients of HTTP, ordinary and odd.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::random::SeededRandom;
use super::servers::{ExchangeStep, RealServer};
use super::{ALLOWED, OTHER, ServerDialect, ServerReading};

/// Bytes of a request, shown as text.
#[derive(Clone, Copy)]
pub struct RequestText(&'static [u8]);

impl std::fmt::Debug for RequestText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:?}", self.0.escape_ascii().to_string())
    }
}

/// A part of a request.
#[derive(Debug, Clone, Copy)]
pub enum RequestPart {
    Front,
    Method,
    Gap,
    Target,
    SecondGap,
    Version,
    LineEnd,
    HeaderEnd,
    End,
}

/// The length of a body, as its headers and chunks tell it. `$` stands for it, in decimal or hexadecimal digits.
#[derive(Debug, Clone, Copy)]
pub enum BodyFraming {
    Length(RequestText),
    Chunks { header: RequestText, size: RequestText, end: RequestText },
}

/// A change of a stream of requests. The number says which request it changes.
#[derive(Debug, Clone)]
pub enum RequestChange {
    /// Another request behind the others, for the name that is allowed or not.
    Another(bool),
    /// Another text for a part.
    Part(usize, RequestPart, RequestText),
    /// Other lines in place of `Host`.
    Host(usize, RequestText),
    /// More lines.
    Lines(usize, RequestText),
    /// A body.
    Body(usize, BodyFraming, RequestText),
    /// A text that is repeated so often, in a part.
    Long(usize, RequestPart, RequestText, usize),
    /// A client that waits behind this request.
    Pause(usize),
    /// Writes that end at these places.
    Cuts(Vec<usize>),
}

struct GeneratedRequest {
    parts: [Vec<u8>; 9],
    host: Vec<u8>,
    lines: Vec<u8>,
    body: Vec<u8>,
    pause: bool,
}

impl GeneratedRequest {
    fn new(name: &str) -> Self {
        let parts = [&b""[..], b"GET", b" ", b"/", b" ", b"HTTP/1.1", b"\r\n", b"\r\n", b"\r\n"].map(<[u8]>::to_vec);
        Self { parts, host: format!("Host: {name}").into(), lines: vec![], body: vec![], pause: false }
    }

    fn bytes(&self) -> Vec<u8> {
        let [front, method, gap, target, second, version, line_end, header_end, end] = &self.parts;
        let host_end = if self.host.is_empty() { &[][..] } else { header_end };
        [front, method, gap, target, second, version, line_end, &self.host, host_end, &self.lines, end, &self.body]
            .map(|part: &[u8]| part)
            .concat()
    }

    fn frame(&mut self, framing: BodyFraming, body: &[u8]) {
        let filled = |RequestText(text): RequestText, number: String| {
            let text = text.escape_ascii().to_string().replace('$', &number);
            unescaped(&text)
        };
        match framing {
            BodyFraming::Length(header) => {
                self.lines.extend(filled(header, body.len().to_string()));
                self.body = body.to_vec();
            }
            BodyFraming::Chunks { header: RequestText(header), size, end: RequestText(end) } => {
                self.lines.extend_from_slice(header);
                self.body = [&filled(size, format!("{:x}", body.len())), body, end].concat();
            }
        }
    }
}

/// Reverses `escape_ascii`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match (byte, if byte == b'\\' { rest.next() } else { None }) {
            (b'\\', Some(b'x')) => {
                let digits = [rest.next().expect("a digit"), rest.next().expect("a digit")];
                let digits = std::str::from_utf8(&digits).expect("digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("a number"));
            }
            (b'\\', Some(b'r')) => bytes.push(b'\r'),
            (b'\\', Some(b'n')) => bytes.push(b'\n'),
            (b'\\', Some(b't')) => bytes.push(b'\t'),
            (b'\\', Some(other)) => bytes.push(other),
            (byte, _) => bytes.push(byte),
        }
    }
    bytes
}

/// The texts of requests, by their headings.
static TEXTS: LazyLock<BTreeMap<&str, Vec<Vec<u8>>>> = LazyLock::new(|| {
    let (mut texts, mut heading) = (BTreeMap::<_, Vec<_>>::new(), "");
    for line in include_str!("requests.txt").lines() {
        match line.split_at_checked(1) {
            Some(("#", name)) => heading = name.trim(),
            Some(("|", text)) => texts.entry(heading).or_default().push(unescaped(text)),
            _ => {}
        }
    }
    texts
});

fn text(random: &mut SeededRandom, heading: &str) -> RequestText {
    let texts = &TEXTS[heading];
    RequestText(&texts[random.below(texts.len())])
}

fn part(random: &mut SeededRandom) -> (RequestPart, RequestText) {
    let (part, heading) = random.pick(&[
        (RequestPart::Front, "fronts"),
        (RequestPart::Method, "methods"),
        (RequestPart::Gap, "gaps"),
        (RequestPart::Target, "targets"),
        (RequestPart::SecondGap, "gaps"),
        (RequestPart::Version, "versions"),
        (RequestPart::LineEnd, "ends"),
        (RequestPart::HeaderEnd, "ends"),
        (RequestPart::End, "ends"),
    ]);
    (part, text(random, heading))
}

fn body(random: &mut SeededRandom) -> RequestChange {
    // Most have one oddity, which then matters.
    let mut odd = |heading| if random.percent(60) { RequestText(&TEXTS[heading][0]) } else { text(random, heading) };
    let framing = BodyFraming::Chunks { header: odd("codings"), size: odd("sizes"), end: odd("lasts") };
    let framing = if random.percent(40) { BodyFraming::Length(text(random, "lengths")) } else { framing };
    RequestChange::Body(random.below(2), framing, text(random, "bodies"))
}

fn change(random: &mut SeededRandom) -> RequestChange {
    let at = random.below(3);
    match random.below(20) {
        0..=2 => RequestChange::Another(random.percent(70)),
        3..=8 => {
            let (part, text) = part(random);
            RequestChange::Part(at, part, text)
        }
        9..=12 => RequestChange::Host(at, text(random, "hosts")),
        13..=14 => RequestChange::Lines(at, text(random, "lines")),
        15..=16 => body(random),
        17 => {
            let (part, text) = part(random);
            RequestChange::Long(at, part, text, random.pick(&[2, 3, 10, 33, 100, 1_000, 9_000]))
        }
        18 => RequestChange::Pause(at),
        _ => RequestChange::Cuts(random.places(40, 300)),
    }
}

fn apply(requests: &mut Vec<GeneratedRequest>, change: &RequestChange) {
    let count = requests.len();
    match change {
        RequestChange::Another(wrong) => requests.push(GeneratedRequest::new(if *wrong { OTHER } else { ALLOWED })),
        RequestChange::Part(at, part, RequestText(text)) => requests[at % count].parts[*part as usize] = text.to_vec(),
        RequestChange::Host(at, RequestText(text)) => requests[at % count].host = text.to_vec(),
        RequestChange::Lines(at, RequestText(text)) => requests[at % count].lines.extend_from_slice(text),
        RequestChange::Body(at, framing, RequestText(body)) => requests[at % count].frame(*framing, body),
        RequestChange::Long(at, part, RequestText(text), times) => {
            requests[at % count].parts[*part as usize] = text.repeat(*times)
        }
        RequestChange::Pause(at) => requests[at % count].pause = true,
        RequestChange::Cuts(_) => {}
    }
}

/// HTTP/1.
pub struct HttpDialect;

impl ServerDialect for HttpDialect {
    type Change = RequestChange;

    fn changes(&self, random: &mut SeededRandom) -> Vec<RequestChange> {
        let mut changes = match random.below(10) {
            // One oddity matters most where all the rest is in order.
            0..=2 => vec![change(random), RequestChange::Another(true)],
            3..=5 => vec![
                RequestChange::Part(0, RequestPart::Method, RequestText(random.pick(&[b"POST", b"PUT", b"GET", b"X"]))),
                body(random),
                RequestChange::Another(random.percent(50)),
            ],
            6 => {
                let frames = RequestChange::Part(1, RequestPart::Front, text(random, "frames"));
                let (asks, pauses) = (RequestChange::Lines(0, text(random, "upgrades")), random.percent(70));
                [asks, RequestChange::Another(true), frames]
                    .into_iter()
                    .chain(pauses.then_some(RequestChange::Pause(0)))
                    .collect()
            }
            _ => vec![],
        };
        let more = if changes.is_empty() { 1 + random.below(4) } else { random.below(3) };
        changes.extend((0..more).map(|_| change(random)));
        changes
    }

    fn steps(&self, changes: &[RequestChange]) -> Vec<ExchangeStep> {
        let mut requests = vec![GeneratedRequest::new(ALLOWED)];
        changes.iter().for_each(|change| apply(&mut requests, change));
        let cuts = changes
            .iter()
            .find_map(|change| if let RequestChange::Cuts(cuts) = change { Some(&cuts[..]) } else { None });
        let mut steps = Vec::new();
        let mut waiting = Vec::new();
        for request in &requests {
            waiting.extend(request.bytes());
            if request.pause {
                steps.extend(super::writes(&std::mem::take(&mut waiting), cuts.unwrap_or_default()));
                steps.push(ExchangeStep::Await);
            }
        }
        steps.extend(super::writes(&waiting, cuts.unwrap_or_default()));
        steps
    }

    fn read(&self, _: &RealServer, answer: &[u8]) -> Vec<ServerReading> {
        let answer = String::from_utf8_lossy(answer);
        let seen = answer.split("<<").skip(1).filter_map(|text| text.split_once(">>").map(|(seen, _)| seen));
        seen.map(|seen| {
            let [host, target, version, site] = seen.split('\x1f').collect::<Vec<_>>()[..] else {
                return ServerReading::Wrong(seen.to_owned());
            };
            let is_silent = host.is_empty() && ["HTTP/1.0", "1.0", ""].contains(&version);
            let authority = match target.split_once("://") {
                _ if target.starts_with(['/', '?']) || target == "*" => ALLOWED,
                Some((_, rest)) => rest.split(['/', '?', '#']).next().unwrap_or_default(),
                None => target,
            };
            let is_right = (is_silent || is_allowed(host)) && is_allowed(authority) && site != OTHER;
            if is_right { ServerReading::Right } else { ServerReading::Wrong(seen.replace('\x1f', " | ")) }
        })
        .collect()
    }
}

/// Returns whether a server can only mean the name that is allowed.
fn is_allowed(authority: &str) -> bool {
    let authority = authority.trim_matches([' ', '\t']).to_ascii_lowercase();
    let Some(rest) = authority.strip_prefix(ALLOWED) else { return false };
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}
