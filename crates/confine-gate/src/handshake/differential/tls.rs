//! Clients of TLS, ordinary and odd. They go no further than their first messages: the certificate in the answer tells
//! which name the server has read, and its length does where it is encrypted.

use std::collections::BTreeMap;

use super::random::SeededRandom;
use super::servers::{ExchangeStep, RealServer, WritePace};
use super::{ALLOWED, OTHER, ServerDialect, ServerReading};

const HANDSHAKE: u8 = 22;
const ENCRYPTED: u8 = 23;
const SERVER_HELLO: u8 = 2;
const SERVER_NAME: u16 = 0;
const SUPPORTED_VERSIONS: u16 = 43;
const KEY_SHARE: u16 = 51;

/// Encrypted answers that are shorter hold no certificate.
const SHORTEST_CERTIFICATE: usize = 100;
/// The name of the certificate for clients that give none.
const UNNAMED: &str = "default.test";

/// The way in which a ClientHello gives a name.
#[derive(Debug, Clone, Copy)]
pub enum NameField {
    /// Names with their types, in one extension.
    Names(&'static [(u8, &'static str)]),
    /// Two extensions.
    Twice(&'static str, &'static str),
    /// The bytes of the extension.
    Raw(&'static [u8]),
    /// The lengths of the list and of the name are off by so much, and bytes follow.
    Lengths(i8, i8, &'static [u8]),
    /// No extension.
    Absent,
}

/// A part of a ClientHello.
#[derive(Debug, Clone, Copy)]
pub enum HelloField {
    Version,
    Session,
    Ciphers,
    Compressions,
    Behind,
}

/// A length that a ClientHello tells.
#[derive(Debug, Clone, Copy)]
pub enum HelloLength {
    Message,
    Extensions,
    Record,
}

/// How a ClientHello follows another one.
#[derive(Debug, Clone, Copy)]
pub enum RecordJoining {
    SameRecord,
    NextRecord,
    BehindAnswer,
    BehindCipherChange,
}

/// A change of a client. The first number says which ClientHello it changes.
#[derive(Debug, Clone)]
pub enum HelloChange {
    Name(usize, NameField),
    Field(usize, HelloField, &'static [u8]),
    Extension(usize, usize, u16, &'static [u8]),
    NoExtensions(usize),
    Order(usize, usize),
    Length(usize, HelloLength, i8),
    Kind(usize, u8),
    /// Another ClientHello, for the name that is allowed or not.
    Another(bool, RecordJoining),
    /// Records that end at these places of the message.
    Records(usize, Vec<usize>),
    /// Records of so many bytes.
    RecordsOf(usize, usize),
    /// Bytes, such as records, in front of this record.
    Insert(usize, &'static [u8]),
    RecordVersion(usize, [u8; 2]),
    /// A message in front, in the same record.
    Message(usize, &'static [u8]),
    /// The form of SSL 2.
    Old(usize),
    Front(&'static [u8]),
    Cuts(Vec<usize>),
    Pieces(usize),
}

struct GeneratedHello {
    kind: u8,
    fields: [Vec<u8>; 5],
    extensions: Option<Vec<(u16, Vec<u8>)>>,
    lengths: [i8; 3],
    cuts: Vec<usize>,
    record: usize,
    inserted: Vec<(usize, &'static [u8])>,
    joining: RecordJoining,
    version: [u8; 2],
    message: &'static [u8],
    is_old: bool,
}

fn vector(bytes: usize, data: &[u8], off: i8) -> Vec<u8> {
    let length = (data.len() as u32).wrapping_add_signed(off.into());
    [&length.to_be_bytes()[4 - bytes..], data].concat()
}

fn name_list(names: &[(u8, &str)]) -> Vec<u8> {
    let entries: Vec<u8> =
        names.iter().flat_map(|(kind, name)| [&[*kind][..], &vector(2, name.as_bytes(), 0)].concat()).collect();
    vector(2, &entries, 0)
}

impl GeneratedHello {
    fn new(name: &str, joining: RecordJoining) -> Self {
        let mut share = vec![0, 36, 0, 29, 0, 32, 9];
        share.resize(38, 0);
        let extensions = vec![
            (SERVER_NAME, name_list(&[(0, name)])),
            (10, vec![0, 4, 0, 29, 0, 23]),
            (11, vec![1, 0]),
            (13, vec![0, 8, 4, 3, 8, 4, 4, 1, 2, 3]),
            (SUPPORTED_VERSIONS, vec![4, 3, 4, 3, 3]),
            (45, vec![1, 1]),
            (KEY_SHARE, share),
        ];
        let ciphers = vec![0x13, 1, 0x13, 2, 0x13, 3, 0xC0, 0x2B, 0xC0, 0x2F, 0xC0, 0x13, 0, 0x9C, 0, 0x2F, 0, 0xFF];
        Self {
            kind: 1,
            fields: [vec![3, 3], vec![9; 32], ciphers, vec![0], vec![]],
            extensions: Some(extensions),
            lengths: [0; 3],
            cuts: vec![],
            record: 16_384,
            inserted: vec![],
            joining,
            version: [3, 1],
            message: b"",
            is_old: false,
        }
    }

    fn name(&mut self, naming: NameField) {
        let Some(extensions) = &mut self.extensions else { return };
        let bodies = match naming {
            NameField::Names(names) => vec![name_list(names)],
            NameField::Twice(one, two) => [one, two].map(|name| name_list(&[(0, name)])).to_vec(),
            NameField::Raw(bytes) => vec![bytes.to_vec()],
            NameField::Lengths(list, name, behind) => {
                let entry = [&[0][..], &vector(2, OTHER.as_bytes(), name)].concat();
                vec![[&vector(2, &entry, list), behind].concat()]
            }
            NameField::Absent => vec![],
        };
        extensions.retain(|(kind, _)| *kind != SERVER_NAME);
        bodies.into_iter().rev().for_each(|body| extensions.insert(0, (SERVER_NAME, body)));
    }

    fn bytes(&self) -> Vec<u8> {
        let [version, session, ciphers, compressions, behind] = &self.fields;
        let mut body =
            [version, &[7; 32][..], &vector(1, session, 0), &vector(2, ciphers, 0), &vector(1, compressions, 0)]
                .concat();
        if let Some(extensions) = &self.extensions {
            let all: Vec<u8> = extensions
                .iter()
                .flat_map(|(kind, data)| [kind.to_be_bytes().to_vec(), vector(2, data, 0)].concat())
                .collect();
            body.extend(vector(2, &all, self.lengths[HelloLength::Extensions as usize]));
        }
        body.extend_from_slice(behind);
        let whole = [&[self.kind][..], &vector(3, &body, self.lengths[HelloLength::Message as usize])].concat();
        [self.message, &whole].concat()
    }

    /// The form of SSL 2, which has no name.
    fn old(&self) -> Vec<u8> {
        let ciphers: Vec<u8> =
            self.fields[HelloField::Ciphers as usize].chunks(2).flat_map(|cipher| [&[0], cipher].concat()).collect();
        let length = |data: &[u8]| (data.len() as u16).to_be_bytes();
        let body = [&[1, 3, 3][..], &length(&ciphers), &[0, 0, 0, 32], &ciphers, &[7; 32]].concat();
        let [high, low] = length(&body);
        [&[0x80 | high, low][..], &body].concat()
    }
}

/// The stream of a client, as far as it was made.
#[derive(Default)]
struct RecordStream {
    steps: Vec<Vec<u8>>,
    current: Vec<u8>,
    /// Messages whose records were not made.
    open: Vec<u8>,
}

impl RecordStream {
    fn add(&mut self, hello: &GeneratedHello, last: bool) {
        if hello.is_old {
            return self.current.extend(hello.old());
        }
        self.open.extend(hello.bytes());
        if last {
            self.close(hello);
        }
    }

    /// Makes the records of the messages.
    fn close(&mut self, hello: &GeneratedHello) {
        let message = std::mem::take(&mut self.open);
        let mut ends: Vec<usize> = hello.cuts.iter().copied().filter(|cut| (1..message.len()).contains(cut)).collect();
        ends.extend((0..message.len()).step_by(hello.record.max(1)));
        ends.push(message.len());
        ends.sort_unstable();
        ends.dedup();
        for (index, range) in ends.windows(2).enumerate() {
            hello
                .inserted
                .iter()
                .filter(|(at, _)| *at == index)
                .for_each(|(_, bytes)| self.current.extend_from_slice(bytes));
            let off = if index == 0 { hello.lengths[HelloLength::Record as usize] } else { 0 };
            self.current.push(HANDSHAKE);
            self.current.extend(hello.version);
            self.current.extend(vector(2, &message[range[0]..range[1]], off));
        }
    }
}

/// Node takes a name in other letters for none, and clients send it as it was typed. So it is not here.
const NAMINGS: &[NameField] = &[
    NameField::Names(&[(0, OTHER)]),
    NameField::Names(&[(0, "EVIL.test")]),
    NameField::Names(&[(0, "evil.test.")]),
    NameField::Names(&[(0, "evil.test\0")]),
    NameField::Names(&[(0, "a.test\0evil.test")]),
    NameField::Names(&[(0, "evil.test\0a.test")]),
    NameField::Names(&[(0, "a.test.")]),
    NameField::Names(&[(0, "a.test..")]),
    NameField::Names(&[(0, "")]),
    NameField::Names(&[(0, ".")]),
    NameField::Names(&[(0, " evil.test")]),
    NameField::Names(&[(0, "evil.test ")]),
    NameField::Names(&[(0, "evil.test:443")]),
    NameField::Names(&[(0, "a.test/evil.test")]),
    NameField::Names(&[(0, "x.evil.test")]),
    NameField::Names(&[(0, "*.test")]),
    NameField::Names(&[(0, "127.0.0.1")]),
    NameField::Names(&[(0, "evil.te\u{161}t")]),
    NameField::Names(&[(0, ALLOWED), (0, OTHER)]),
    NameField::Names(&[(0, OTHER), (0, ALLOWED)]),
    NameField::Names(&[(1, ALLOWED), (0, OTHER)]),
    NameField::Names(&[(0, ALLOWED), (1, OTHER)]),
    NameField::Names(&[(1, OTHER)]),
    NameField::Names(&[(0, OTHER), (1, ALLOWED)]),
    NameField::Names(&[(255, OTHER)]),
    NameField::Names(&[]),
    NameField::Twice(ALLOWED, OTHER),
    NameField::Twice(OTHER, ALLOWED),
    NameField::Twice(ALLOWED, ALLOWED),
    NameField::Raw(b""),
    NameField::Raw(b"\0"),
    NameField::Raw(b"\0\0"),
    NameField::Raw(b"\0\x0c\0\0\x09evil.testx"),
    NameField::Raw(b"\0\x09\0\0\x06a.test\0\x0c\0\0\x09evil.test"),
    NameField::Raw(b"evil.test"),
    NameField::Lengths(1, 0, b""),
    NameField::Lengths(-1, 0, b""),
    NameField::Lengths(0, 1, b""),
    NameField::Lengths(0, -1, b""),
    NameField::Lengths(0, 0, b"\0"),
    NameField::Lengths(1, 0, b"\0"),
    NameField::Lengths(1, 1, b"."),
    NameField::Lengths(3, 0, b"\x01\0\0"),
    NameField::Absent,
];

const FIELDS: &[(HelloField, &[&[u8]])] = &[
    (
        HelloField::Version,
        &[
            &[3, 0],
            &[3, 1],
            &[3, 2],
            &[3, 4],
            &[3, 5],
            &[2, 0],
            &[3, 0x7F],
            &[4, 0],
            &[0, 0],
            &[0xFE, 0xFD],
            &[0x7F, 0x1C],
            &[1, 1],
        ],
    ),
    (HelloField::Session, &[&[], &[1], &[5; 31], &[5; 33], &[5; 100], &[5; 255]]),
    (
        HelloField::Ciphers,
        &[
            &[],
            &[0x13, 1],
            &[0xC0, 0x2F],
            &[0x13],
            &[0x0A, 0x0A, 0x13, 1, 0xC0, 0x2F],
            &[0x56, 0, 0x13, 1],
            &[0, 0x2F],
            &[0x13, 1, 0xC0],
        ],
    ),
    (HelloField::Compressions, &[&[], &[1], &[1, 0], &[0, 1], &[0, 0], &[0x40, 0]]),
    (
        HelloField::Behind,
        &[
            &[0],
            &[0, 0],
            &[0; 4],
            b"\0\0\0\x0e\0\x0c\0\0\x09evil.test",
            b"\0\x12\0\0\0\x0e\0\x0c\0\0\x09evil.test",
            &[1, 0, 0, 0],
        ],
    ),
];

/// Encrypted names: as a client that knows no key of the server sends them, and shorter.
const ECH: &[&[u8]] = &[
    b"\0\0\x01\0\x01\x42\0\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    b"\0\0\x01\0\x01\x42\0\x04abcd\0\x10aaaaaaaaaaaaaaaa",
    b"\x01",
    b"\0",
    b"",
];

const EXTENSIONS: &[(u16, &[&[u8]])] = &[
    (0, &[b"", b"\0\x0c\0\0\x09evil.test", b"\0\x09\0\0\x06a.test"]),
    (
        SUPPORTED_VERSIONS,
        &[&[2, 3, 3], &[2, 3, 4], &[], &[0], &[2, 3, 2], &[4, 0x0A, 0x0A, 3, 4], &[3, 3, 4, 3], &[2, 0x7F, 0x1C]],
    ),
    (KEY_SHARE, &[&[0, 0], &[], &[0, 36], &[0, 5, 0x0A, 0x0A, 0, 1, 0], &[0, 5, 0, 23, 0, 1, 4]]),
    (16, &[b"\0\x0c\x02h2\x08http/1.1", b"\0\x09\x08http/1.1", b"\0\0", b"", b"\0\x02\x01x"]),
    (21, &[&[0; 200], &[0; 2_000], &[0; 17_000], &[0; 34_000], &[]]),
    (0xFE0D, ECH),
    (0xFFCE, &[b"\x13\x01\0\x1d\0\x04abcd\0\0\0\x04abcd"]),
    (0xFD00, &[b"\0\x01"]),
    (0x0A0A, &[b"", b"\0"]),
    (0x1A1A, &[b"\0"]),
    (35, &[b"", b"ticket"]),
    (23, &[b""]),
    (22, &[b""]),
    (5, &[b"\x01\0\0\0\0"]),
    (18, &[b""]),
    (42, &[b""]),
    (44, &[b"\0\x04abcd"]),
    (41, &[b"\0\x0a\0\x04abcd\0\0\0\0\0\x21\x20aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]),
    (28, &[b"\x40\0", b"\0\x40"]),
    (1, &[b"\x01", b"\x04"]),
    (15, &[b"\x01"]),
    (0xFF01, &[b"\0", b"\x01a", b""]),
    (0x3374, &[b""]),
    (13, &[b"\0\x02\x04\x01", b"", b"\0\0", b"\0\x02\x08\x07"]),
    (10, &[b"\0\x02\0\x17", b"\0\x04\x0a\x0a\0\x1d", b""]),
    (49, &[b""]),
    (57, &[b""]),
];

const RECORDS: &[&[u8]] = &[
    &[22, 3, 1, 0, 0],
    &[22, 3, 3, 0, 0, 22, 3, 3, 0, 0],
    &[20, 3, 3, 0, 1, 1],
    &[20, 3, 1, 0, 1, 1, 20, 3, 1, 0, 1, 1],
    &[20, 3, 3, 0, 0],
    &[20, 3, 3, 0, 1, 2],
    &[21, 3, 3, 0, 2, 1, 0],
    &[21, 3, 1, 0, 2, 1, 90],
    &[21, 3, 1, 0, 2, 1, 100],
    &[21, 3, 3, 0, 2, 1, 112],
    &[21, 3, 3, 0, 2, 2, 80],
    &[21, 3, 3, 0, 0],
    &[21, 3, 3, 0, 1, 1],
    &[21, 3, 3, 0, 4, 1, 90, 1, 90],
    &[21, 3, 3, 0, 2, 1, 41],
    &[23, 3, 3, 0, 0],
    &[23, 3, 3, 0, 1, 0],
    &[24, 3, 3, 0, 3, 1, 0, 0],
    &[24, 3, 3, 0, 0],
    &[22, 3, 1, 0, 4, 0, 0, 0, 0],
    &[25, 3, 3, 0, 0],
    &[19, 3, 3, 0, 0],
    &[0, 0, 0, 0, 0],
    &[26, 3, 3, 0, 1, 0],
    &[22, 2, 0, 0, 0],
    &[22, 3, 3, 0, 4, 20, 0, 0, 0],
    &[22, 3, 3, 0, 4, 11, 0, 0, 0],
    &[128, 3, 3, 0, 0],
    &[22, 254, 253, 0, 0],
    &[22, 3, 3, 0, 1, 1],
    &[22, 3, 3, 0, 4, 1, 0, 0, 0],
    &[22, 3, 3, 0, 4, 24, 0, 0, 0],
    b"\r\n",
    b"\n",
    b" ",
    b"\0",
    b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n",
    b"PROXY TCP4 1.1.1.1 2.2.2.2 1 2\r\n",
    b"PROXY UNKNOWN\r\n",
    b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0",
];

const RECORD_VERSIONS: &[[u8; 2]] = &[
    [3, 0],
    [3, 2],
    [3, 3],
    [3, 4],
    [3, 9],
    [2, 0],
    [4, 0],
    [0, 0],
    [3, 255],
    [5, 1],
    [15, 3],
    [16, 3],
    [254, 253],
    [255, 255],
    [1, 1],
];

const MESSAGES: &[&[u8]] = &[
    &[0, 0, 0, 0],
    &[0, 0, 0, 1, 0],
    &[1, 0, 0, 0],
    &[20, 0, 0, 0],
    &[24, 0, 0, 1, 0],
    &[0],
    &[255, 0, 0, 0],
    &[67, 0, 0, 0],
    &[4, 0, 0, 0],
];

/// The way of XMPP to TLS.
const XMPP: &[u8] = b"<?xml version='1.0'?><stream:stream to='a.test' xmlns='jabber:client' version='1.0'>\
    <starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>";
/// The way of MySQL to TLS.
const MYSQL: &[u8] = b"\x20\0\0\x01\x85\xae\x7f\0\0\0\0\x01\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

/// Protocols that agree to TLS, up to its first byte. Some begin as TLS does.
const AGREED: &[&[u8]] = &[
    b"EHLO a.test\r\nSTARTTLS\r\n",
    b"a1 STARTTLS\r\n",
    b"STLS\r\n",
    b"AUTH TLS\r\n",
    b"\0\0\0\x08\x04\xd2\x16\x2f",
    XMPP,
    b"\x30\x1d\x02\x01\x01\x77\x18\x80\x161.3.6.1.4.1.1466.20037",
    MYSQL,
    b"\x16STARTTLS\r\n",
    b"\x16\x03STARTTLS\r\n",
    b"\x16\x03\x01\0\x05\x01STARTTLS\r\n",
    b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03STARTTLS\r\n",
    b"\x15\x03\x01\0\x02STARTTLS\r\n",
    b"\x80\x10\x02STARTTLS\r\n",
    b"\x01\x02\x03STARTTLS\r\n",
    b"GET /STARTTLS\r\n",
    b"CONNECT STARTTLS\r\n",
    b"STARTTLS\r\n\r\nSTARTTLS\r\n",
];

fn change(random: &mut SeededRandom, within: bool) -> HelloChange {
    let at = random.below(2);
    match random.below(if within { 27 } else { 24 }) {
        0..=4 => HelloChange::Name(at, random.pick(NAMINGS)),
        5..=6 => {
            let (field, values) = random.pick(FIELDS);
            HelloChange::Field(at, field, random.pick(values))
        }
        7..=9 => {
            let (kind, bodies) = random.pick(EXTENSIONS);
            HelloChange::Extension(at, random.below(9), kind, random.pick(bodies))
        }
        10 => HelloChange::NoExtensions(at),
        11 => HelloChange::Order(at, random.below(7)),
        12 => HelloChange::Length(
            at,
            random.pick(&[HelloLength::Message, HelloLength::Extensions, HelloLength::Record]),
            random.pick(&[-4, -2, -1, 1, 2, 4]),
        ),
        13 => HelloChange::Kind(at, random.pick(&[0, 2, 3, 20, 255])),
        14..=16 => {
            let joinings = [
                RecordJoining::SameRecord,
                RecordJoining::NextRecord,
                RecordJoining::BehindAnswer,
                RecordJoining::BehindCipherChange,
            ];
            HelloChange::Another(random.percent(70), random.pick(&joinings))
        }
        17 => HelloChange::Records(at, random.places(8, 260)),
        18 => HelloChange::RecordsOf(at, 1 + random.below(60)),
        19..=20 => HelloChange::Insert(if random.percent(60) { 0 } else { random.below(4) }, random.pick(RECORDS)),
        21 => HelloChange::RecordVersion(at, random.pick(RECORD_VERSIONS)),
        22 if random.percent(40) => HelloChange::Old(at),
        22 => HelloChange::Message(at, random.pick(MESSAGES)),
        23 if random.percent(30) => HelloChange::Pieces(1 + random.below(7)),
        23 => HelloChange::Cuts(random.places(12, 280)),
        _ => HelloChange::Front(random.pick(AGREED)),
    }
}

fn apply(hellos: &mut Vec<GeneratedHello>, change: &HelloChange) {
    let count = hellos.len();
    match change {
        HelloChange::Name(at, naming) => hellos[at % count].name(*naming),
        HelloChange::Field(at, field, value) => hellos[at % count].fields[*field as usize] = value.to_vec(),
        HelloChange::Extension(at, place, kind, data) => {
            let Some(extensions) = &mut hellos[at % count].extensions else { return };
            // Names and others that are there twice are another change.
            if *kind != SERVER_NAME {
                extensions.retain(|(other, _)| other != kind);
            }
            extensions.insert((*place).min(extensions.len()), (*kind, data.to_vec()));
        }
        HelloChange::NoExtensions(at) => hellos[at % count].extensions = None,
        HelloChange::Order(at, by) => hellos[at % count].extensions.iter_mut().for_each(|all| {
            let by = by % all.len().max(1);
            all.rotate_left(by);
        }),
        HelloChange::Length(at, which, off) => hellos[at % count].lengths[*which as usize] = *off,
        HelloChange::Kind(at, kind) => hellos[at % count].kind = *kind,
        HelloChange::Another(wrong, joining) => {
            hellos.push(GeneratedHello::new(if *wrong { OTHER } else { ALLOWED }, *joining))
        }
        HelloChange::Records(at, cuts) => hellos[at % count].cuts.clone_from(cuts),
        HelloChange::RecordsOf(at, length) => hellos[at % count].record = *length,
        HelloChange::Insert(record, bytes) => hellos[0].inserted.push((*record, bytes)),
        HelloChange::RecordVersion(at, version) => hellos[at % count].version = *version,
        HelloChange::Message(at, message) => hellos[at % count].message = message,
        HelloChange::Old(at) => hellos[at % count].is_old = true,
        HelloChange::Front(_) | HelloChange::Cuts(_) | HelloChange::Pieces(_) => {}
    }
}

/// TLS, at once or within another protocol.
pub struct TlsDialect {
    within: bool,
    /// For each server, the lengths of its encrypted answers by name.
    lengths: BTreeMap<String, [(usize, &'static str); 3]>,
}

impl TlsDialect {
    /// Measures what the servers answer.
    pub fn for_servers(servers: &[&RealServer], within: bool) -> Self {
        let mut tls = Self { within, lengths: BTreeMap::new() };
        let namings = [
            (NameField::Names(&[(0, ALLOWED)]), ALLOWED),
            (NameField::Names(&[(0, OTHER)]), OTHER),
            (NameField::Absent, UNNAMED),
        ];
        for server in servers {
            let measured = namings.map(|(naming, name)| {
                let steps = tls.steps(&[HelloChange::Name(0, naming)]);
                (encrypted(&server.play(&steps, None, WritePace::Fast).answer), name)
            });
            let [(one, _), (two, _), (three, _)] = measured;
            assert!(one + 300 < two && two + 300 < three, "{}: {measured:?}", server.program);
            tls.lengths.insert(server.program.clone(), measured);
        }
        tls
    }
}

/// Returns the length of the encrypted records in an answer.
fn encrypted(answer: &[u8]) -> usize {
    records(answer).filter(|(kind, _)| *kind == ENCRYPTED).map(|(_, content)| content.len()).sum()
}

/// Returns the records in an answer with their types.
fn records(mut answer: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let [kind, _, _, high, low] = *answer.first_chunk::<5>()?;
        let (content, rest) = answer[5..].split_at_checked(usize::from(high) << 8 | usize::from(low))?;
        answer = rest;
        Some((kind, content))
    })
}

impl ServerDialect for TlsDialect {
    type Change = HelloChange;

    fn changes(&self, random: &mut SeededRandom) -> Vec<HelloChange> {
        let first = random.percent(60).then_some(HelloChange::Name(0, NAMINGS[0]));
        let others = 1 + random.below(4);
        first.into_iter().chain((0..others).map(|_| change(random, self.within))).collect()
    }

    fn steps(&self, changes: &[HelloChange]) -> Vec<ExchangeStep> {
        let mut hellos = vec![GeneratedHello::new(ALLOWED, RecordJoining::NextRecord)];
        changes.iter().for_each(|change| apply(&mut hellos, change));
        let mut stream = RecordStream::default();
        let front =
            changes.iter().find_map(|change| if let HelloChange::Front(front) = change { Some(*front) } else { None });
        if self.within {
            stream.current.extend_from_slice(front.unwrap_or(AGREED[0]));
        }
        for (index, hello) in hellos.iter().enumerate() {
            match hello.joining {
                RecordJoining::BehindAnswer => stream.steps.push(std::mem::take(&mut stream.current)),
                RecordJoining::BehindCipherChange => stream.current.extend([20, 3, 3, 0, 1, 1]),
                RecordJoining::SameRecord | RecordJoining::NextRecord => {}
            }
            let joined = hellos.get(index + 1).is_some_and(|next| matches!(next.joining, RecordJoining::SameRecord));
            stream.add(hello, !joined);
        }
        let RecordStream { mut steps, current, .. } = stream;
        steps.push(current);
        let cuts = changes.iter().find_map(|change| match change {
            HelloChange::Cuts(cuts) => Some(cuts.clone()),
            HelloChange::Pieces(length) => Some((0..400).step_by(*length).collect()),
            _ => None,
        });
        let parts = steps.iter().map(|part| super::writes(part, cuts.as_deref().unwrap_or_default()));
        parts.collect::<Vec<_>>().join(&ExchangeStep::Await)
    }

    fn read(&self, server: &RealServer, answer: &[u8]) -> Vec<ServerReading> {
        let is_hello = |(kind, content): (u8, &[u8])| kind == HANDSHAKE && content.first() == Some(&SERVER_HELLO);
        if !records(answer).any(is_hello) {
            return vec![];
        }
        let has = |name: &str| memchr::memmem::find(answer, name.as_bytes()).is_some();
        let plain = [OTHER, UNNAMED, ALLOWED].into_iter().find(|name| has(name));
        let length = encrypted(answer);
        let hidden = || {
            let known = self.lengths.get(&server.program)?;
            let (near, name) = known.iter().min_by_key(|(known, _)| known.abs_diff(length))?;
            (near.abs_diff(length) < 250).then_some(*name)
        };
        // A server that asks for another ClientHello has not chosen yet, and one with an alert does not.
        match plain.or_else(hidden) {
            Some(ALLOWED) => vec![ServerReading::Right],
            Some(name) => vec![ServerReading::Wrong(name.into())],
            None if length < SHORTEST_CERTIFICATE => vec![],
            None => vec![ServerReading::Wrong(format!("{length} encrypted bytes"))],
        }
    }
}
