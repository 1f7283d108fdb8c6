import type { Answer2 } from '../support/hosts.ts';

/** A frame: type, flags, stream, headers or text, and how often. */
export type Frame = [kind: number, flags: number, stream: number, content: string | [string, string][], times?: number];

export interface Http2Attempt {
  name: string;
  frames: Frame[];
  answer?: Answer2;
}

const [DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
];
const [END_STREAM, END_HEADERS] = [1, 4];
const BOTH = END_STREAM | END_HEADERS;

const START: Frame = [SETTINGS, 0, 0, ''];
const HEAD: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', '{HOST2}'],
  [':path', '/'],
];
const KEY: [string, string] = ['x-key', '{TOKEN}'];
const head = (changes: Record<string, string>, ...more: [string, string][]): [string, string][] => [
  ...HEAD.map(([name, value]): [string, string] => [name, changes[name] ?? value]),
  ...more,
  KEY,
];
const of = (name: string, ...frames: Frame[]): Http2Attempt => ({ name: `h2: ${name}`, frames: [START, ...frames] });
const one = (name: string, headers: [string, string][]) => of(name, [HEADERS, BOTH, 1, headers]);

const requests: Http2Attempt[] = [
  one('a request', head({})),
  one('another authority', head({ ':authority': '{LEAK}' })),
  one('two authorities', head({}, [':authority', '{LEAK}'])),
  one('an authority after headers', [...HEAD.filter(([name]) => name !== ':authority'), KEY, [':authority', '{LEAK}']]),
  one('no authority', HEAD.filter(([name]) => name !== ':authority').concat([KEY])),
  one('another Host', head({}, ['host', '{LEAK}'])),
  one('the same Host and another', head({}, ['host', '{HOST2}'], ['host', '{LEAK}'])),
  one('Host in place of the authority', [...HEAD.filter(([name]) => name !== ':authority'), ['host', '{LEAK}'], KEY]),
  one('an authority with a user', head({ ':authority': '{HOST2}@{LEAK}' })),
  one('an authority with another port', head({ ':authority': 'api.example.test:1' })),
  one('an empty authority', head({ ':authority': '' })),
  one('two paths', head({}, [':path', '/{TOKEN}'])),
  one('two methods', head({}, [':method', 'POST'])),
  one('an empty path', head({ ':path': '' })),
  one('a path that is a URL', head({ ':path': 'https://{LEAK}/' })),
  one('a path with a line', head({ ':path': '/ HTTP/1.1\r\nHost: {LEAK}\r\nX:' })),
  one('a method with a line', head({ ':method': 'GET / HTTP/1.1\r\nHost: {LEAK}\r\nX:' })),
  one('another scheme', head({ ':scheme': 'http' })),
  one('a scheme with a host', head({ ':scheme': 'https://{LEAK}/' })),
  one('an unknown pseudo header', head({}, [':protocol', 'websocket'])),
  one('a pseudo header of answers', head({}, [':status', '200'])),
  one('CONNECT', [[':method', 'CONNECT'], [':authority', '{LEAK}'], KEY]),
  one('CONNECT of a protocol', head({ ':method': 'CONNECT' }, [':protocol', 'websocket'])),
  one('capital letters', head({}, ['X-Key', '{TOKEN}'])),
  one('a header with a line', head({}, ['x-a', 'b\r\nhost: {LEAK}'])),
  one('a name with a line', head({}, ['x-a\r\nhost', '{LEAK}'])),
  one('a name with a colon', head({}, ['x-a: {TOKEN}\r\nhost', '{LEAK}'])),
  one('a header with NUL', head({}, ['x-a', '\0{TOKEN}'])),
  one('Transfer-Encoding', head({}, ['transfer-encoding', 'chunked'])),
  one('Connection', head({}, ['connection', 'x-key'])),
  one('Upgrade', head({}, ['upgrade', 'websocket'])),
  one('TE', head({}, ['te', 'gzip'])),
  one('a length that is wrong', head({}, ['content-length', '100'])),
  one('two lengths', head({}, ['content-length', '0'], ['content-length', '5'])),
  one('the stand-in in a path', head({ ':path': '/{TOKEN}' })),
  one('the stand-in as a name', head({}, ['{TOKEN.lower}', '1'])),
  one('the stand-in of another host', head({}, ['x-other', '{OTHER}'])),
  one("another world's stand-in", head({}, ['x-other', '{FOREIGN}'])),
  one('a cookie in pieces', head({}, ['cookie', 'a={TOKEN.half}'], ['cookie', '{TOKEN.rest}'])),
  of(
    'a body with the stand-in',
    [HEADERS, END_HEADERS, 1, head({ ':method': 'POST' })],
    [DATA, END_STREAM, 1, '{TOKEN}'],
  ),
  of(
    'a body in frames of one byte',
    [HEADERS, END_HEADERS, 1, head({ ':method': 'POST' })],
    [DATA, 0, 1, 'x', 200],
    [DATA, END_STREAM, 1, '{TOKEN}'],
  ),
  of(
    'trailers',
    [HEADERS, END_HEADERS, 1, head({ ':method': 'POST' })],
    [DATA, 0, 1, 'x'],
    [HEADERS, BOTH, 1, [['x-trailer', '{TOKEN}']]],
  ),
  of(
    'trailers with an authority',
    [HEADERS, END_HEADERS, 1, head({ ':method': 'POST' })],
    [HEADERS, BOTH, 1, [[':authority', '{LEAK}']]],
  ),
  of(
    'headers in continuations',
    [HEADERS, END_STREAM, 1, HEAD],
    [CONTINUATION, 0, 1, [['x-a', 'b']]],
    [CONTINUATION, END_HEADERS, 1, [KEY]],
  ),
  of('a continuation of another stream', [HEADERS, END_STREAM, 1, HEAD], [CONTINUATION, END_HEADERS, 3, [KEY]]),
  of('a flood of continuations', [HEADERS, END_STREAM, 1, head({})], [CONTINUATION, 0, 1, [['x-a', 'b']], 20_000]),
  of('a flood of empty continuations', [HEADERS, END_STREAM, 1, head({})], [CONTINUATION, 0, 1, '', 20_000]),
  of('a flood of settings', [SETTINGS, 0, 0, '\0\x03\0\0\0\x64', 20_000]),
  of('a flood of pings', [PING, 0, 0, '12345678', 20_000]),
  of('a flood of resets of nothing', [RESET, 0, 1, '\0\0\0\x08', 1000]),
  of('a flood of priorities', [PRIORITY, 0, 1, '\0\0\0\0\x10', 20_000]),
  of('a flood of windows', [WINDOW, 0, 0, '\0\0\0\x01', 20_000]),
  of('a window that overflows', [WINDOW, 0, 0, '\x7f\xff\xff\xff', 3]),
  of('a flood of empty data', [HEADERS, END_HEADERS, 1, head({ ':method': 'POST' })], [DATA, 0, 1, '', 20_000]),
  of('a push', [PUSH, END_HEADERS, 1, `\0\0\0\x02{TOKEN}`]),
  of('an end, then a request', [GOAWAY, 0, 0, '\0\0\0\0\0\0\0\0'], [HEADERS, BOTH, 1, head({})]),
  of('an unknown frame', [0x42, 0xff, 1, '{TOKEN}', 100], [HEADERS, BOTH, 1, head({})]),
  of('a frame that is too large', [HEADERS, BOTH, 1, head({}, ['x-a', 'x'.repeat(20_000)])]),
  of('a stream of the host', [HEADERS, BOTH, 2, head({})]),
  of('streams that go back', [HEADERS, BOTH, 5, head({})], [HEADERS, BOTH, 3, head({})]),
  of('one stream twice', [HEADERS, BOTH, 1, head({})], [HEADERS, BOTH, 1, head({})]),
  of(
    'reset, then data',
    [HEADERS, END_HEADERS, 1, head({ ':method': 'POST' })],
    [RESET, 0, 1, '\0\0\0\x08'],
    [DATA, END_STREAM, 1, '{TOKEN}'],
  ),
  of(
    'a hundred resets',
    ...Array.from({ length: 100 }, (_, at): Frame[] => [
      [HEADERS, BOTH, 2 * at + 1, head({})],
      [RESET, 0, 2 * at + 1, '\0\0\0\x08'],
    ]).flat(),
  ),
];

const answered = (name: string, answer: Answer2, changes: Record<string, string> = {}): Http2Attempt => ({
  name: `h2: ${name}`,
  answer,
  frames: [START, [HEADERS, BOTH, 1, head({ ':path': `/${name.replace(/\W+/g, '-')}`, ...changes })]],
});

const answers: Http2Attempt[] = [
  answered('echo in a header', (stream, { key }) => {
    stream.respond({ ':status': 200, 'x-echo': key });
    stream.end();
  }),
  answered('echo in the name of a header', (stream, { key }) => {
    stream.respond({ ':status': 200, [`x-${key.toLowerCase()}`]: '1' });
    stream.end();
  }),
  answered('echo in many cookies', (stream, { key }) => {
    stream.respond({ ':status': 200, 'set-cookie': Array.from({ length: 50 }, () => `t=${key}`) });
    stream.end(key);
  }),
  answered('echo in data', (stream, { key }) => {
    stream.respond({ ':status': 200 });
    for (const character of key) stream.write(character);
    stream.end(btoa(`x${key}`));
  }),
  answered('echo in 103', (stream, { key }) => {
    stream.additionalHeaders({ ':status': 103, link: `<${key}>` });
    stream.respond({ ':status': 200 });
    stream.end('ok');
  }),
  answered('echo in trailers', (stream, { key }) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'x-echo': key, [`x-${key.toLowerCase()}`]: key }));
    stream.end('ok');
  }),
  answered('early echo', (stream, { key }) => {
    stream.respond({ ':status': 200, 'x-echo': key });
    stream.end(key);
  }),
  answered('echo before a reset', (stream, { key }) => {
    stream.respond({ ':status': 200, 'x-echo': key });
    stream.write(key);
    setTimeout(() => stream.close(2), 30);
  }),
  answered('push', (stream, { key }) => {
    if (stream.pushAllowed)
      stream.pushStream({ ':path': `/${key}` }, (_, pushed) => {
        pushed?.respond({ ':status': 200 });
        pushed?.end(key);
      });
    stream.respond({ ':status': 200 });
    stream.end('ok');
  }),
  answered('echo of a large head', (stream, { key }) => {
    stream.respond({ ':status': 200, 'x-long': 'x'.repeat(30_000), 'x-echo': key });
    stream.end();
  }),
];

export const http2: Http2Attempt[] = [...requests, ...answers];
