import { CODINGS } from '../support/codings.ts';
import { type Answer, type Heard, ok } from '../support/hosts.ts';

/** An answer of a host that gives a value away, to a request that has it. */
export interface AnswerAttempt {
  name: string;
  answer: Answer;
  /** Lines besides those of the request. */
  more?: string[];
  method?: string;
  /** The form is none that the docs promise to find: it is reported, and no failure. */
  unpromised?: true;
}

const of = (name: string, answer: Answer, more: Partial<AnswerAttempt> = {}): AnswerAttempt => ({
  name,
  answer,
  ...more,
});

const raw = (text: string) => Buffer.from(text, 'latin1');
const chunk = (content: Buffer | string) => {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([raw(`${bytes.length.toString(16)}\r\n`), bytes, raw('\r\n')]);
};
const CHUNKED = raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
const END = raw('0\r\n\r\n');
const both = ({ key, aws }: Heard) => `token=${key} aws=${aws} end\n`;

/** Places of an answer in which a value may come back. */
const PLACES: Record<string, (value: string) => string> = {
  'a header': (v) => `HTTP/1.1 200 OK\r\nX-Echo: ${v}\r\nContent-Length: 0\r\n\r\n`,
  'the end of a header': (v) => `HTTP/1.1 200 OK\r\nX-Echo: you sent Bearer ${v}\r\nContent-Length: 0\r\n\r\n`,
  'two headers of one name': (v) => `HTTP/1.1 200 OK\r\nX-Echo: ${v}\r\nX-Echo: ${v}x${v}\r\nContent-Length: 0\r\n\r\n`,
  'the name of a header': (v) => `HTTP/1.1 200 OK\r\n${v}: 1\r\nContent-Length: 0\r\n\r\n`,
  'a part of the name of a header': (v) => `HTTP/1.1 200 OK\r\nX-${v}-Y: 1\r\nContent-Length: 0\r\n\r\n`,
  'a name and a value': (v) => `HTTP/1.1 200 OK\r\nX-${v}: ${v}\r\nContent-Length: 0\r\n\r\n`,
  Location: (v) => `HTTP/1.1 302 Found\r\nLocation: https://leak.example.test/?t=${v}\r\nContent-Length: 0\r\n\r\n`,
  'Location, escaped': (v) =>
    `HTTP/1.1 307 Temporary Redirect\r\nLocation: /${encodeURIComponent(v)}\r\nContent-Length: 0\r\n\r\n`,
  'Set-Cookie': (v) =>
    `HTTP/1.1 200 OK\r\nSet-Cookie: t=${v}; Path=/\r\nSet-Cookie: u=${v}\r\nContent-Length: 0\r\n\r\n`,
  'WWW-Authenticate': (v) =>
    `HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer error="bad token ${v}"\r\nContent-Length: 0\r\n\r\n`,
  ETag: (v) => `HTTP/1.1 304 Not Modified\r\nETag: "${v}"\r\n\r\n`,
  'Content-Type': (v) => `HTTP/1.1 200 OK\r\nContent-Type: text/plain; boundary=${v}\r\nContent-Length: 0\r\n\r\n`,
  Trailer: (v) => `HTTP/1.1 200 OK\r\nTrailer: ${v}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${v}: x\r\n\r\n`,
  Upgrade: (v) => `HTTP/1.1 426 Upgrade Required\r\nUpgrade: ${v}\r\nConnection: upgrade\r\nContent-Length: 0\r\n\r\n`,
  Connection: (v) => `HTTP/1.1 200 OK\r\nConnection: keep-alive, ${v}\r\nContent-Length: 0\r\n\r\n`,
  'Content-Encoding': (v) => `HTTP/1.1 200 OK\r\nContent-Encoding: ${v}\r\nContent-Length: 2\r\n\r\nok`,
  'Transfer-Encoding': (v) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: ${v}, chunked\r\n\r\n0\r\n\r\n`,
  'the reason': (v) => `HTTP/1.1 200 ${v}\r\nContent-Length: 0\r\n\r\n`,
  'the reason of an error': (v) => `HTTP/1.1 403 Forbidden for ${v}!\r\nContent-Length: 0\r\n\r\n`,
  'the reason of an unknown status': (v) => `HTTP/1.1 599 ${v}\r\nContent-Length: 0\r\n\r\n`,
  'a header of 100': (v) => `HTTP/1.1 100 Continue\r\nX-Echo: ${v}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  'a header of 103': (v) =>
    `HTTP/1.1 103 Early Hints\r\nLink: </${v}>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  'the reason of 102': (v) => `HTTP/1.1 102 ${v}\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  'many 1xx': (v) => `${`HTTP/1.1 103 ${v}\r\nX: ${v}\r\n\r\n`.repeat(50)}HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n`,
  'a 101 that nobody asked for': (v) => `HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n${v}`,
  'the version': (v) => `HTTP/${v} 200 OK\r\nContent-Length: 0\r\n\r\n`,
  'the status': (v) => `HTTP/1.1 ${v} OK\r\nContent-Length: 0\r\n\r\n`,
  'no HTTP at all': (v) => `${v}\r\n\r\n`,
  'an answer of HTTP/0.9': (v) => `<html>${v}</html>`,
  'an answer of HTTP/1.0': (v) => `HTTP/1.0 200 OK\r\nX: ${v}\r\n\r\n${v}`,
  'a folded header': (v) => `HTTP/1.1 200 OK\r\nX-Echo: a\r\n ${v}\r\nContent-Length: 0\r\n\r\n`,
  'a value over a fold': (v) =>
    `HTTP/1.1 200 OK\r\nX-Echo: ${v.slice(0, 20)}\r\n ${v.slice(20)}\r\nContent-Length: 0\r\n\r\n`,
  'a bare CR in a header': (v) => `HTTP/1.1 200 OK\r\nX-Echo: a\rX: ${v}\r\nContent-Length: 0\r\n\r\n`,
  'lines that end with LF': (v) => `HTTP/1.1 200 OK\nX-Echo: ${v}\nContent-Length: ${v.length}\n\n${v}`,
  'a header without a colon': (v) => `HTTP/1.1 200 OK\r\n${v}\r\nContent-Length: 0\r\n\r\n`,
  'a header with a space before its colon': (v) => `HTTP/1.1 200 OK\r\nX-Echo : ${v}\r\nContent-Length: 0\r\n\r\n`,
  'a header of bytes above ASCII': (v) => `HTTP/1.1 200 OK\r\nX-Echo: \xe4\xff${v}\xff\r\nContent-Length: 0\r\n\r\n`,
  'a body': (v) => `HTTP/1.1 200 OK\r\nContent-Length: ${v.length}\r\n\r\n${v}`,
  'a body without a length': (v) => `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${v}`,
  'a body longer than it says': (v) => `HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc${v}`,
  'a body shorter than it says': (v) => `HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n${v}`,
  'a body of 204': (v) => `HTTP/1.1 204 No Content\r\n\r\n${v}`,
  'a body of 304': (v) => `HTTP/1.1 304 Not Modified\r\nContent-Length: ${v.length}\r\n\r\n${v}`,
  'two lengths': (v) => `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: ${v.length}\r\n\r\n${v}`,
  'a length and chunks': (v) =>
    `HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n${v.length.toString(16)}\r\n${v}\r\n0\r\n\r\n`,
  'an error page': (v) => {
    const page = `<html><h1>403</h1><p>Token ${v} is not valid</p></html>`;
    return `HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`;
  },
  'a second answer': (v) => `HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 ${v}\r\nX: ${v}\r\n\r\n`,
  'the extension of a chunk': (v) =>
    `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;t=${v}\r\nok\r\n0;u=${v}\r\n\r\n`,
  'the size of a chunk': (v) => `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${v}\r\nok\r\n0\r\n\r\n`,
  'a trailer': (v) =>
    `HTTP/1.1 200 OK\r\nTrailer: X-Echo\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Echo: ${v}\r\n\r\n`,
  'the name of a trailer': (v) =>
    `HTTP/1.1 200 OK\r\nTrailer: X-${v}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-${v}: ${v}\r\n\r\n`,
};

/** Forms of a value in a body. */
const FORMS: Record<string, (value: string) => string> = {
  'as it is': (v) => v,
  'between quotes': (v) => JSON.stringify({ token: v }),
  'of a URL': encodeURIComponent,
  'of a URL in small letters': (v) => encodeURIComponent(v).replace(/%../g, (code) => code.toLowerCase()),
  'of PHP': (v) => JSON.stringify(v).replaceAll('/', '\\/'),
  'of .NET': (v) => JSON.stringify(v).replaceAll('+', '\\u002B'),
  'of Go': (v) => v.replaceAll('+', '&#43;'),
  'of Mustache': (v) => v.replaceAll('/', '&#x2F;'),
  base64: (v) => btoa(v),
  'base64 of a URL': (v) => Buffer.from(v).toString('base64url'),
  'base64 after one byte': (v) => btoa(`:${v}`),
  'base64 after two bytes': (v) => btoa(`a:${v}`),
  'base64 before others': (v) => btoa(`${v}:x`),
  'base64 of JSON': (v) => btoa(JSON.stringify({ user: 'me', token: v, more: 1 })),
  'twice in a row': (v) => v + v,
  'after half of itself': (v) => v.slice(0, 20) + v,
  'after its beginning, again and again': (v) => v.slice(0, 4).repeat(40) + v,
  'in a diff': (v) => `-${v}\n+${v}\n`,
};

/** Forms that the docs name as what nobody knows. */
const UNPROMISED: Record<string, (value: string) => string> = {
  reversed: (v) => [...v].reverse().join(''),
  hexadecimal: (v) => Buffer.from(v).toString('hex'),
  'all percent': (v) => [...Buffer.from(v)].map((byte) => `%${byte.toString(16)}`).join(''),
  'all \\u': (v) => [...Buffer.from(v)].map((byte) => `\\u00${byte.toString(16)}`).join(''),
  'all entities': (v) => [...Buffer.from(v)].map((byte) => `&#${byte};`).join(''),
  'UTF-16': (v) => Buffer.from(v, 'utf16le').toString('latin1'),
  'base64 of base64': (v) => btoa(btoa(v)),
  'base64 in lines': (v) => btoa(v).replace(/.{20}/g, '$&\r\n'),
  'capital letters': (v) => v.toUpperCase(),
  'words of four letters': (v) => v.replace(/.{4}/g, '$& '),
  rot13: (v) => v.replace(/[a-z]/gi, (c) => String.fromCharCode(c.charCodeAt(0) + (/[a-m]/i.test(c) ? 13 : -13))),
  'one character a line': (v) => [...v].join('\n'),
};

const bodyOf = (make: (value: string) => string) => (heard: Heard) =>
  `token ${make(heard.key)} aws ${make(heard.aws)} end\n`;

const places = Object.entries(PLACES).map(([name, make]) => of(`echo in ${name}`, ({ key }) => raw(make(key))));

const forms = Object.entries(FORMS).flatMap(([name, make]) => [
  of(`echo ${name}`, (heard) => ok([], bodyOf(make)(heard))),
  of(`echo ${name}, in chunks of 7`, (heard) => [
    CHUNKED,
    ...(bodyOf(make)(heard).match(/[\s\S]{1,7}/g) ?? []).map(chunk),
    END,
  ]),
]);

const unpromised = Object.entries(UNPROMISED).map(([name, make]) =>
  of(`echo ${name}`, (heard) => ok([], bodyOf(make)(heard)), { unpromised: true }),
);

const codings = Object.entries(CODINGS).flatMap(([name, make]) => {
  const line = `Content-Encoding: ${name.split(',')[0]}`;
  const more = { more: [`Accept-Encoding: ${name.split(',')[0]}`] };
  const bytes = (heard: Heard) => make(Buffer.from(both(heard)));
  return [
    of(`${name} body`, (heard) => ok([line], bytes(heard)), more),
    of(`${name} body byte by byte`, (heard) => [
      raw(`HTTP/1.1 200 OK\r\n${line}\r\nTransfer-Encoding: chunked\r\n\r\n`),
      ...[...bytes(heard)].map((byte) => chunk(Buffer.of(byte))),
      END,
    ]),
    of(`${name} body, cut`, (heard) => ok([line], bytes(heard).subarray(0, -3)), more),
  ];
});

const gzip = CODINGS.gzip ?? ((bytes: Buffer) => bytes);
const oddCodings: [name: string, line: string, make: (bytes: Buffer) => Buffer][] = [
  ['compressed twice', 'Content-Encoding: gzip, gzip', (bytes) => gzip(gzip(bytes))],
  ['compressed twice, in two lines', 'Content-Encoding: gzip\r\nContent-Encoding: gzip', (bytes) => gzip(gzip(bytes))],
  ['br of gzip', 'Content-Encoding: gzip, br', (bytes) => CODINGS.br?.(gzip(bytes)) ?? bytes],
  ['gzip with capitals', 'Content-Encoding: GZIP', gzip],
  ['gzip with identity', 'Content-Encoding: identity, gzip', gzip],
  ['plain that says gzip', 'Content-Encoding: gzip', (bytes) => bytes],
  ['plain that says br', 'Content-Encoding: br', (bytes) => bytes],
  ['plain that says zstd', 'Content-Encoding: zstd', (bytes) => bytes],
  ['plain that says deflate', 'Content-Encoding: deflate', (bytes) => bytes],
  ['plain that says identity', 'Content-Encoding: identity', (bytes) => bytes],
  ['plain that says something else', 'Content-Encoding: utf-8', (bytes) => bytes],
  ['gzip that says br', 'Content-Encoding: br', gzip],
  ['gzip that says deflate', 'Content-Encoding: deflate', gzip],
];

/** Bodies over the edges of buffers. */
const long = [1000, 4090, 8191, 16_383, 65_520, 131_060, 1_048_570].flatMap((before) => [
  of(`echo after ${before} bytes`, (heard) => ok([], `${'x'.repeat(before)}${both(heard)}${'y'.repeat(100)}`)),
  of(`echo after ${before} bytes, in two writes`, ({ key }) => [
    raw(`HTTP/1.1 200 OK\r\nContent-Length: ${before + key.length}\r\n\r\n`),
    raw('x'.repeat(before) + key.slice(0, 11)),
    30,
    raw(key.slice(11)),
  ]),
]);

const longHeads = [4000, 8180, 16_370, 60_000].map((before) =>
  of(`echo in a header after ${before} bytes`, ({ key }) =>
    ok([`X-Long: ${'x'.repeat(before)}`, `X-Echo: ${key}`], ''),
  ),
);

/** What a request may ask for so that an answer is not read. */
const asked: AnswerAttempt[] = [
  of(
    'transfer coding',
    ({ head, ...heard }) => {
      if (!/^te:.*gzip/im.test(head)) return ok([], both({ head, ...heard }));
      return Buffer.concat([
        raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n'),
        chunk(gzip(Buffer.from(both({ head, ...heard })))),
        END,
      ]);
    },
    { more: ['TE: trailers', 'TE: gzip'] },
  ),
  of('transfer coding that nobody asked for', (heard) =>
    Buffer.concat([
      raw('HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n'),
      chunk(gzip(Buffer.from(both(heard)))),
      END,
    ]),
  ),
  of(
    'coding by a list with a parameter',
    (heard) => {
      const wants = /^accept-encoding:.*compress/im.test(heard.head);
      return ok(wants ? ['Content-Encoding: compress'] : [], wants ? gzip(Buffer.from(both(heard))) : both(heard));
    },
    { more: ['Accept-Encoding: compress;q=1, *;q=0'] },
  ),
  of('HEAD', (heard) => raw(`HTTP/1.1 200 OK\r\nX: ${heard.key}\r\nContent-Length: 40\r\n\r\n`), { method: 'HEAD' }),
  of('HEAD with a body', (heard) => ok([`X: ${heard.key}`], both(heard)), { method: 'HEAD' }),
  of('HEAD of a gzip', (heard) => ok(['Content-Encoding: gzip', `X: ${heard.key}`], ''), { method: 'HEAD' }),
  of('OPTIONS', (heard) => ok([`Allow: ${heard.key}`], both(heard)), { method: 'OPTIONS' }),
  of('TRACE', ({ head }) => ok(['Content-Type: message/http'], head), { method: 'TRACE' }),
  of('PROPFIND', ({ head }) => ok(['Content-Type: text/xml'], `<a>${head}</a>`, '207 Multi-Status'), {
    method: 'PROPFIND',
  }),
  of('If-None-Match', (heard) => raw(`HTTP/1.1 304 Not Modified\r\nETag: "${heard.key}"\r\nX: ${heard.key}\r\n\r\n`), {
    more: ['If-None-Match: "x"'],
  }),
  of('events', (heard) => [
    raw('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n'),
    ...[...both(heard)].map((character) => raw(character)),
  ]),
  of('events with pauses', ({ key }) => [
    raw('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: '),
    raw(key.slice(0, 5)),
    40,
    raw(key.slice(5, 30)),
    40,
    raw(key.slice(30)),
    40,
    raw('\n\n'),
  ]),
  of(
    'a part in several parts',
    (heard) =>
      Buffer.concat([
        raw(
          'HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=B\r\nConnection: close\r\n\r\n',
        ),
        raw(
          `--B\r\nContent-Range: bytes 0-19/80\r\n\r\n${heard.key.slice(0, 20)}\r\n--B\r\n\r\n${heard.key.slice(20)}\r\n--B--`,
        ),
      ]),
    { more: ['Range: bytes=0-19,20-39'] },
  ),
];

/** A frame of a WebSocket (RFC 6455, 5.2). */
const frame = (text: string, opcode = 0x81) => Buffer.concat([Buffer.of(opcode, text.length), raw(text)]);
const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n';
const WEBSOCKET = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];
const deflated = (text: string) => {
  const bytes = (CODINGS['deflate, bare'] ?? gzip)(raw(text));
  return Buffer.concat([Buffer.of(0xc1, bytes.length), bytes]);
};

const sockets: AnswerAttempt[] = [
  of('a websocket that echoes', ({ key }) => [raw(`${SWITCH}\r\n`), frame(key), frame(`{"token":"${key}"}`)], {
    more: WEBSOCKET,
  }),
  of('a websocket that echoes in its head', ({ key }) => [raw(`${SWITCH}Sec-WebSocket-Protocol: ${key}\r\n\r\n`)], {
    more: WEBSOCKET,
  }),
  of(
    'the reason of a websocket',
    ({ key }) => [raw(`HTTP/1.1 101 ${key}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)],
    { more: WEBSOCKET },
  ),
  of('a websocket that echoes base64', ({ key }) => [raw(`${SWITCH}\r\n`), frame(btoa(key))], { more: WEBSOCKET }),
  of(
    'a websocket whose bytes come one by one',
    ({ key }) => [raw(`${SWITCH}\r\n`), ...[...frame(key)].map((byte) => Buffer.of(byte))],
    { more: WEBSOCKET },
  ),
  of('a websocket that closes with it', ({ key }) => [raw(`${SWITCH}\r\n`), frame(`\x03\xe8${key}`, 0x88)], {
    more: WEBSOCKET,
  }),
  of(
    'a websocket that offers compression',
    ({ key, head }) =>
      /^sec-websocket-extensions/im.test(head)
        ? [raw(`${SWITCH}Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n`), deflated(key)]
        : [raw(`${SWITCH}\r\n`), frame(key)],
    { more: [...WEBSOCKET, 'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'] },
  ),
  of(
    'a websocket in fragments',
    ({ key }) => [
      raw(`${SWITCH}\r\n`),
      frame(key.slice(0, 10), 1),
      frame(key.slice(10, 20), 0),
      frame(key.slice(20), 0x80),
    ],
    { more: WEBSOCKET, unpromised: true },
  ),
  of(
    'another protocol that echoes',
    ({ key }) => [raw('HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: tcp\r\n\r\n'), raw(key)],
    { more: ['Connection: upgrade', 'Upgrade: tcp'] },
  ),
  of(
    'h2c that is agreed on',
    ({ key }) => [raw('HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n'), raw(key)],
    { more: ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'] },
  ),
];

/** Answers of hosts that give back what they got, in all ways. */
export const answers: AnswerAttempt[] = [
  ...places,
  ...forms,
  ...unpromised,
  ...codings,
  ...oddCodings.map(([name, line, make]) => of(name, (heard) => ok([line], make(Buffer.from(both(heard)))))),
  ...long,
  ...longHeads,
  ...asked,
  ...sockets,
];
