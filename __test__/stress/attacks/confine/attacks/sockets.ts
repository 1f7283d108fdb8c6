import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Attack, reached, type Sees, said } from '../../../../confine/support/attack.ts';
import type { Canaries } from '../../../../confine/support/canaries.ts';
import { ownAddresses } from '../../../../confine/support/canaries.ts';
import type { Site } from '../../../../confine/support/site.ts';

const stream = async ({ out }: Site, canaries: Canaries) => {
  await canaries.at(join(out, 'sock'));
  chmodSync(join(out, 'sock'), 0o777);
  const { uid, gid } = statSync(out);
  chownSync(join(out, 'sock'), uid, gid);
};

const unix = (name: string, script: string, more: Partial<Attack> = {}): Attack => ({
  name: `reaches a socket of the host: ${name}`,
  script,
  sees: reached,
  before: stream,
  ...more,
});

/** Datagram sockets, which Node does not have, are held by a process of their own. */
const listeners = new Map<string, { kill(): void; text(): string }>();

/** A server of the host that a C program holds. */
const served = (how: string, at: (site: Site) => string): Pick<Attack, 'before' | 'sees' | 'after'> => ({
  before: async (site) => {
    const child = spawn(attackOf(site), [how, at(site)]);
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
    });
    await once(child.stdout, 'data');
    if (!at(site).startsWith('@')) chmodSync(at(site), 0o777);
    listeners.set(site.token, { kill: () => child.kill(), text: () => text });
  },
  sees: async ({ token }) => {
    const heard = () => listeners.get(token)?.text().includes(token) ?? false;
    for (let turn = 0; turn < 20 && !heard(); turn++) await new Promise((go) => setTimeout(go, 1));
    return heard();
  },
  after: ({ token }) => listeners.get(token)?.kill(),
});

const datagram = (name: string, script: string): Attack => ({
  name: `reaches a datagram socket of the host: ${name}`,
  script,
  ...served('listen-datagrams', ({ out }) => join(out, 'sock')),
});

const abstract = (name: string, script: string): Attack => ({
  name: `reaches an abstract socket of the host: ${name}`,
  script,
  ...served('listen', ({ token }) => `@${token}-abstract`),
});

const attackOf = ({ env }: Site) => join(env.BASE ?? '', 'bin', 'attack');

/** A listener of the command, which a process of the host must not reach. */
const listens: Sees = (site) => spawnSync(attackOf(site), ['unix', `@${site.token}-inside`, 'x']).status === 0;

/** Serves an abstract name for the host. */
const within = (name: string): Attack => ({
  name,
  script: `setsid attack listen "@$TOKEN-inside" >/dev/null 2>&1 & disown
           until grep -q "$TOKEN-inside" /proc/net/unix || ! kill -0 $!; do :; done`,
  sees: listens,
  after: ({ token }) => spawnSync('pkill', ['-f', `^attack listen @${token}`]),
});

/** Sockets by path and by abstract name. */
export const unixSockets: Attack[] = [
  unix('connect', 'attack unix "$OUT/sock" "$TOKEN"'),
  unix('a relative name', 'attack unix ../out/sock "$TOKEN"'),
  unix('from its directory', 'attack unix-from-there "$OUT" sock "$TOKEN"'),
  unix('a descriptor', 'attack unix-by-descriptor "$OUT/sock" "$TOKEN"'),
  unix('/proc/self/root', 'attack unix "/proc/self/root$OUT/sock" "$TOKEN"'),
  unix('/proc/self/cwd', 'attack unix /proc/self/cwd/../out/sock "$TOKEN"'),
  unix('a symbolic link', 'ln -s "$OUT/sock" s; attack unix s "$TOKEN"'),
  unix('a link to its directory', 'ln -s "$OUT" d; attack unix d/sock "$TOKEN"'),
  unix('a hard link', 'ln "$OUT/sock" s && attack unix s "$TOKEN"'),
  unix('what was moved in', 'mv "$OUT/sock" s && attack unix s "$TOKEN"'),
  unix(
    'Python',
    `python3 -c 'import os, socket; s = socket.socket(socket.AF_UNIX); s.connect(os.environ["OUT"] + "/sock"); s.send(os.environ["TOKEN"].encode())'`,
  ),
  unix('Node', `node -e 'net.connect(process.env.OUT + "/sock").end(process.env.TOKEN)'`),
  unix('curl', 'curl -s --max-time 3 --unix-socket "$OUT/sock" "http://a/$TOKEN"'),
  unix(
    'a thread',
    `python3 -c '
import os, socket, threading
def go():
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["OUT"] + "/sock"); s.send(os.environ["TOKEN"].encode())
t = threading.Thread(target=go); t.start(); t.join()'`,
  ),
  unix('a ring', 'attack ring-unix "$OUT/sock" "$TOKEN"'),
  unix('the entry point of 32 bits', 'attack int80-unix "$OUT/sock" "$TOKEN"', {
    lacks: process.arch === 'x64' ? undefined : 'entry points of 32 bits',
  }),
  unix('in new namespaces', 'unshare -Urm attack unix "$OUT/sock" "$TOKEN"'),
  unix('below a hidden directory', 'attack unix "$OUT/sock" "$TOKEN"', { confine: ({ out }) => ({ hide: [out] }) }),
  unix('with all of the network', 'attack unix "$OUT/sock" "$TOKEN"', { confine: () => ({ network: 'full' }) }),
  unix('with a shared /tmp', 'attack unix "$OUT/sock" "$TOKEN"', { confine: () => ({ tmp: 'shared' }) }),
  abstract('connect', 'attack unix "@$TOKEN-abstract" "$TOKEN"'),
  abstract(
    'Python',
    `python3 -c 'import os, socket; t = os.environ["TOKEN"].encode(); s = socket.socket(socket.AF_UNIX); s.connect(b"\\0" + t + b"-abstract"); s.send(t)'`,
  ),
  {
    ...abstract('with all of the network', 'attack unix "@$TOKEN-abstract" "$TOKEN"'),
    confine: () => ({ network: 'full' }),
  },
  datagram('sendto', 'attack unix-sendto "$OUT/sock" "$TOKEN"'),
  datagram('sendmsg', 'attack unix-sendmsg "$OUT/sock" "$TOKEN"'),
  datagram('sendmmsg', 'attack unix-sendmmsg "$OUT/sock" "$TOKEN"'),
  datagram(
    'Python',
    `python3 -c 'import os, socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(os.environ["TOKEN"].encode(), os.environ["OUT"] + "/sock")'`,
  ),
  within('is reached by the host through an abstract name'),
  {
    ...within('is reached by the host through an abstract name, with all of the network'),
    confine: () => ({ network: 'full' }),
  },
];

const tcp = (name: string, script: string, more: Partial<Attack> = {}): Attack => ({
  name: `reaches the host: ${name}`,
  script,
  sees: reached,
  ...more,
});

const [own4 = ''] = ownAddresses().filter((address) => !address.includes(':'));
const [own6 = ''] = ownAddresses().filter((address) => address.includes(':'));
const noAddress = (address: string) => (address ? undefined : 'an address besides its loopback');

const FAMILIES: [name: string, numbers: string, as?: 'root'][] = [
  ['ICMP', '2 3 1', 'root'],
  ['raw', '2 3 255', 'root'],
  ['SCTP', '2 5 132'],
  ['SCTP over IPv6', '10 1 132'],
  ['DCCP', '2 6 33'],
  ['UDP-Lite', '2 2 136'],
  ['raw IPv6', '10 3 58', 'root'],
  ['packet', '17 3 768', 'root'],
  ['packet of datagrams', '17 2 768', 'root'],
  ['vsock', '40 1 0'],
  ['netlink: audit', '16 3 9', 'root'],
  ['netlink: generic', '16 3 16'],
  ['netlink: netfilter', '16 3 12'],
  ['netlink: uevents', '16 3 15'],
  ['netlink: connector', '16 3 11'],
  ['netlink: sockets', '16 3 4'],
  ['AF_ALG', '38 5 0'],
  ['AF_KEY', '15 3 2', 'root'],
  ['AF_XDP', '44 3 0', 'root'],
];

/** The network, when none is allowed. */
export const network: Attack[] = [
  tcp('127.0.0.1', 'attack tcp 127.0.0.1 $PORT "$TOKEN"'),
  tcp('::1', 'attack tcp ::1 $PORT "$TOKEN"'),
  tcp('IPv4 in IPv6', 'attack tcp ::ffff:127.0.0.1 $PORT "$TOKEN"'),
  tcp('0.0.0.0', 'attack tcp 0.0.0.0 $PORT "$TOKEN"'),
  tcp('::', 'attack tcp :: $PORT "$TOKEN"'),
  tcp('its own IPv4 address', `attack tcp ${own4} $PORT "$TOKEN"`, { lacks: noAddress(own4) }),
  tcp('its own IPv6 address', `attack tcp ${own6} $PORT "$TOKEN"`, { lacks: noAddress(own6) }),
  tcp('the shell', 'echo "$TOKEN" >/dev/tcp/127.0.0.1/$PORT'),
  tcp('the shell, UDP', 'echo "$TOKEN" >/dev/udp/127.0.0.1/$PORT'),
  tcp('localhost', 'echo "$TOKEN" >/dev/tcp/localhost/$PORT'),
  tcp(
    'Python',
    `python3 -c 'import os, socket; socket.create_connection(("127.0.0.1", int(os.environ["PORT"]))).send(os.environ["TOKEN"].encode())'`,
  ),
  tcp(
    'asyncio',
    `python3 -c '
import asyncio, os
async def go():
    _, w = await asyncio.open_connection("127.0.0.1", int(os.environ["PORT"]))
    w.write(os.environ["TOKEN"].encode()); await w.drain()
asyncio.run(go())'`,
  ),
  tcp('Node', `node -e 'net.connect(+process.env.PORT, "127.0.0.1").end(process.env.TOKEN)'`),
  tcp('fetch', `node -e 'fetch("http://127.0.0.1:" + process.env.PORT + "/" + process.env.TOKEN)'`),
  tcp('curl', 'curl -s --max-time 3 "http://127.0.0.1:$PORT/$TOKEN"'),
  tcp('multipath TCP', 'attack mptcp 127.0.0.1 $PORT "$TOKEN"'),
  tcp('fast open', 'attack fast-open 127.0.0.1 $PORT "$TOKEN"'),
  tcp('a bound socket', 'attack bound 127.0.0.1 $PORT "$TOKEN"'),
  tcp('UDP', 'attack udp 127.0.0.1 $PORT "$TOKEN"'),
  tcp('UDP by sendmmsg', 'attack udp-many 127.0.0.1 $PORT "$TOKEN"'),
  tcp('UDP by connect', 'attack udp-connect 127.0.0.1 $PORT "$TOKEN"'),
  tcp('UDP over IPv6', 'attack udp ::1 $PORT "$TOKEN"'),
  tcp('a packet of its own making', 'attack raw-udp $PORT "$TOKEN"', { as: 'root' }),
  tcp(
    'a question of DNS',
    `python3 -c '
import os, socket, struct
name = b"".join(bytes([len(p)]) + p for p in (os.environ["TOKEN"].encode(), b"example", b"org"))
q = struct.pack(">6H", 1, 256, 1, 0, 0, 0) + name + b"\\0" + struct.pack(">2H", 16, 1)
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(q, ("127.0.0.1", int(os.environ["PORT"])))'`,
  ),
  tcp(
    'a process of the host',
    'for p in 1 $VICTIM; do nsenter -t $p -n attack tcp 127.0.0.1 $PORT "$TOKEN" && break; done',
    { as: 'root', victim: true },
  ),
  tcp('its parent', 'nsenter -t $PPID -n attack tcp 127.0.0.1 $PORT "$TOKEN"', { as: 'root' }),
  tcp(
    'what it left running',
    `(setsid bash -c 'until [ -e go ]; do :; done; attack tcp 127.0.0.1 $PORT "$TOKEN"; touch done' &)
                               touch go; until [ -e done ]; do :; done`,
  ),
  tcp('with an exposed port', 'attack tcp 127.0.0.1 $PORT "$TOKEN"', { confine: () => ({ expose: [46_321] }) }),
  ...FAMILIES.map(
    ([name, numbers, as]): Attack => ({
      name: `makes a socket: ${name}`,
      script: `attack family ${numbers}`,
      sees: said,
      optional: true,
      ...(as && { as }),
    }),
  ),
  {
    name: 'makes a socket with all of the network: vsock',
    script: 'attack family 40 1 0',
    sees: said,
    confine: () => ({ network: 'full' }),
  },
  {
    name: 'makes a socket with all of the network: packet',
    script: 'attack family 17 3 768',
    as: 'root',
    sees: said,
    confine: () => ({ network: 'full' }),
  },
];
