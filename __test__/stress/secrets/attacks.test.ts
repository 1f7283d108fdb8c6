import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Confinement } from 'agent-bash';
import { describe, expect, onTestFinished, test } from 'vitest';
import { AUTHORITY, HOST, ways } from '../../confine/secrets/support.ts';
import { folder, host as nodeHost } from '../../support/index.ts';
import { answers } from './attempts/answers.ts';
import { connections } from './attempts/connections.ts';
import { http2 } from './attempts/http2.ts';
import { processes } from './attempts/processes.ts';
import { requests } from './attempts/requests.ts';
import { AWS, exposes, OTHER, TOKEN } from './support/forms.ts';
import {
  type Answer,
  type Answer2,
  type Heard,
  http2Host,
  type Listener,
  ok,
  plainHost,
  rawHost,
  tlsHost,
} from './support/hosts.ts';

const support = join(import.meta.dirname, 'support');
const LEAK = 'leak.example.test';

/** A bound against a hang, as a group of attempts takes half a minute where nothing else runs. */
const LONGEST = 230_000;

interface Ran {
  stdout: string;
  stderr: string;
  exitCode: number | null;
  confinement: Confinement;
}

const idOf = (name: string) => name.replace(/[^\w.]+/g, '-').slice(0, 80);

/** Compiles the program that reads other processes. */
function compile(to: string): void {
  const { status, stderr } = spawnSync('cc', ['-O1', '-w', '-o', to, join(support, 'reach.c')]);
  if (status !== 0) throw new Error(`${stderr}`);
}

/** The hosts of one group of attempts, and what a command with secrets sends them. */
class Raid {
  readonly seen = new Map<string, Heard>();
  readonly answers = new Map<string, Answer>();
  readonly answers2 = new Map<string, Answer2>();
  readonly place = folder();
  #hosts: Listener[] = [];

  /** `way`: the environment of a host that confines in one way. */
  constructor(readonly way: NodeJS.ProcessEnv) {}

  async open() {
    this.answers.set('echo', ({ head }) => ok([], head));
    const slow = (heard: string) => (heard.includes('/last') ? this.#last() : ok([], 'plain').toString());
    this.#hosts = [
      await rawHost(this.answers, this.seen),
      await http2Host(this.answers2, this.seen),
      await plainHost(ok([], 'taken').toString()),
      await tlsHost(),
      await tlsHost(),
      await plainHost(slow),
    ];
    const [, , leak] = this.ports;
    this.answers.set('redirect', ({ key }) =>
      ok([`Location: https://${LEAK}:${leak}/?t=${key}`, `Set-Cookie: t=${key}`], '', '302 Found'),
    );
    return this;
  }

  #last() {
    return ok([`X-Last: ${TOKEN}`], `the last token was ${TOKEN}`).toString();
  }

  get ports() {
    return this.#hosts.map(({ port }) => port) as [number, number, number, number, number, number];
  }

  get secretHeard() {
    return `${this.#hosts[0]?.heard()}${this.#hosts[1]?.heard()}`;
  }

  /** What hosts have heard to which the token does not go. The last one is the secret's, in plain text. */
  get leaked(): Buffer {
    return Buffer.from(
      this.#hosts
        .slice(2)
        .map(({ heard }) => heard())
        .join('\n'),
      'latin1',
    );
  }

  /** The hosts that requests named which the host of the secret has got. */
  otherHosts() {
    const heads = this.#hosts.slice(0, 2).map(({ heads }) => heads?.());
    const named = [...heads.join('').matchAll(/^(?:host|:authority):(.*)\r$/gim)].map(([, name = '']) => name.trim());
    const own = [`${HOST}:${this.ports[0]}`, `${HOST}:${this.ports[1]}`];
    return named.filter((name) => !own.includes(name));
  }

  get confine() {
    const [raw, h2, leak, leakTls, other, plain] = this.ports;
    const names = [HOST, 'other.example.test', LEAK, 'rebound.example.test'];
    return {
      network: {
        allow: [`${LEAK}:${leak}`, `${LEAK}:${leakTls}`],
        hosts: Object.fromEntries(names.map((name) => [name, '127.0.0.1'])),
      },
      secrets: {
        TOKEN: { value: TOKEN, hosts: [raw, h2, plain].map((port) => `${HOST}:${port}`) },
        AWS: { value: AWS, hosts: [`${HOST}:${raw}`] },
        OTHER: { value: OTHER, hosts: [`other.example.test:${other}`] },
      },
    };
  }

  /** Puts ports and names into the text of an attempt. */
  filled(text: string) {
    const [raw, h2, leak, , other, plain] = this.ports;
    return text
      .replaceAll('{HOST}', `${HOST}:${raw}`)
      .replaceAll('{HOST2}', `${HOST}:${h2}`)
      .replaceAll('{LEAK}', `${LEAK}:${leak}`)
      .replaceAll('{OTHERHOST}', `other.example.test:${other}`)
      .replaceAll('{PLAIN}', `${HOST}:${plain}`);
  }

  /** Runs a command with the secrets. */
  async run(command: string, env: Record<string, string> = {}) {
    const [raw, , leak] = this.ports;
    const options = {
      cwd: this.place,
      confine: this.confine,
      safety: 'off',
      timeoutMs: 200_000,
      env: { SECRET_HOST: `${HOST}:${raw}`, LEAK_PORT: `${leak}`, ...env },
    };
    const running = nodeHost(
      `console.log(JSON.stringify(await bash(${JSON.stringify(command)}, ${JSON.stringify(options)})));`,
      { env: { SSL_CERT_FILE: AUTHORITY, ...this.way } },
    );
    const result = (await running.says(/^(\{.*\})\n/m, LONGEST))[1] ?? '';
    return JSON.parse(result) as Ran;
  }

  /** Makes the attempts of a plan, each an entry of `client.py`. Returns what each got. */
  async make(plan: { id: string; [key: string]: unknown }[], env?: Record<string, string>) {
    for (const name of ['client.py', 'hpack.py']) copyFileSync(join(support, name), join(this.place, name));
    writeFileSync(join(this.place, 'plan.json'), JSON.stringify(plan));
    const result = await this.run('python3 client.py plan.json out', env);
    expect(result.stdout, result.stderr).toContain(`done ${plan.length}`);
    expect(exposes(Buffer.from(JSON.stringify(result)))).toBe(false);
    const got = plan.map(({ id }): [string, Buffer] => [id, readFileSync(join(this.place, 'out', id))]);
    return new Map(got);
  }

  /** Checks that nothing that the command could read or reach has a value. */
  check(got: Map<string, Buffer>, except: string[] = []) {
    const bad = [...got].filter(([id, bytes]) => exposes(bytes) && !except.includes(id)).map(([id]) => id);
    if (process.env.AGENT_BASH_SHOW) {
      for (const id of bad) console.log(`--- ${id}\n${got.get(id)?.toString('latin1').slice(0, 2000)}`);
    }
    expect(bad).toEqual([]);
    expect(exposes(this.leaked)).toBe(false);
    expect(filesWithValues(this.place, [join(this.place, 'out')])).toEqual([]);
  }
}

/** The files below a directory that have a value. */
function filesWithValues(directory: string, except: string[] = []): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (except.includes(path)) return [];
    if (entry.isDirectory()) return filesWithValues(path, except);
    return entry.isFile() && statSync(path).size < 2 ** 28 && exposes(readFileSync(path)) ? [path] : [];
  });
}

describe.runIf(process.platform === 'linux').each(ways)(
  'with %s a value is not given away',
  { timeout: 280_000 },
  (_, way) => {
    test(`by ${answers.length} answers`, async () => {
      const raid = await new Raid(way).open();
      const [port] = raid.ports;
      for (const { name, answer } of answers) raid.answers.set(idOf(name), answer);
      const plan = answers.map(({ name, method = 'GET', more = [] }) => {
        const lines = [`${method} /${idOf(name)} HTTP/1.1`, `Host: {HOST}`, 'X-Key: {TOKEN}', 'X-Aws: {AWS}', ...more];
        return { id: idOf(name), host: HOST, port, wait: 2, send: [raid.filled(`${lines.join('\r\n')}\r\n\r\n`)] };
      });
      const got = await raid.make(plan);
      // Each host has had the value, so each attempt was one.
      const idle = plan.filter(({ id }) => raid.seen.get(id)?.key !== TOKEN || raid.seen.get(id)?.aws !== AWS);
      expect(idle.map(({ id }) => id)).toEqual([]);
      const unpromised = answers.filter((one) => one.unpromised).map(({ name }) => idOf(name));
      raid.check(got, unpromised);
    });

    test('by parts of an answer', async () => {
      const raid = await new Raid(way).open();
      const [port] = raid.ports;
      const text = ({ key }: Heard) => `${'-'.repeat(33)}token=${key}\n${'+'.repeat(40)}`;
      const part = (heard: Heard) => {
        const whole = text(heard);
        const [, first, last] = /(\d+)-(\d*)/.exec(heard.range) ?? [];
        if (first === undefined) return { whole, bytes: whole, first: 0, last: whole.length - 1 };
        const end = Math.min(last ? Number(last) : whole.length - 1, whole.length - 1);
        return { whole, bytes: whole.slice(Number(first), end + 1), first: Number(first), last: end };
      };
      const ranges: [name: string, line: (of: ReturnType<typeof part>) => string[]][] = [
        ['ranges', ({ first, last, whole }) => [`Content-Range: bytes ${first}-${last}/${whole.length}`]],
        ['ranges of an unknown whole', ({ first, last }) => [`Content-Range: bytes ${first}-${last}/*`]],
        ['ranges with capitals', ({ first, last, whole }) => [`Content-Range: Bytes ${first}-${last}/${whole.length}`]],
        ['ranges that are not named', () => []],
        ['ranges that lie', ({ whole }) => [`Content-Range: bytes 0-3/${whole.length}`]],
        ['ranges of several parts', () => ['Content-Type: multipart/byteranges; boundary=B']],
        [
          'ranges in gzip',
          ({ first, last, whole }) => [
            `Content-Range: bytes ${first}-${last}/${whole.length}`,
            'Content-Encoding: identity',
          ],
        ],
      ];
      const forms: [name: string, lines: string, method?: string][] = [
        ['', 'Range: bytes={RANGE}'],
        [' in capitals', 'RANGE: BYTES={RANGE}'],
        [' twice', 'Range: bytes={RANGE}\r\nRange: bytes=0-3'],
        [' by If-Range', 'If-Range: "x"\r\nRange: bytes={RANGE}'],
        [' of POST', 'Range: bytes={RANGE}\r\nContent-Length: 0', 'POST'],
      ];
      const plan = ranges.flatMap(([name, lines]) =>
        forms.map(([form, line, method = 'GET']) => {
          const id = idOf(name + form);
          raid.answers.set(id, (heard) => {
            const of = part(heard);
            const partial = heard.range !== '';
            return ok(partial ? lines(of) : [], of.bytes, partial ? '206 Partial Content' : '200 OK');
          });
          const send = [
            raid.filled(
              `${method} /${id} HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN}\r\nConnection: close\r\n${line}\r\n\r\n`,
            ),
          ];
          return { id, host: HOST, port, wait: 1.5, ranges: 120, step: 15, send };
        }),
      );
      const got = await raid.make(plan);
      expect(plan.filter(({ id }) => raid.seen.get(id)?.key !== TOKEN)).toEqual([]);
      raid.check(got);
    });

    test(`by ${requests.length} requests`, async () => {
      const raid = await new Raid(way).open();
      const [port] = raid.ports;
      const foreign = await foreignStandIn(raid);
      const plan = requests.map(({ name, send, pause }) => ({
        id: idOf(name),
        host: HOST,
        port,
        pause,
        wait: 1.5,
        send: send.map((piece) => raid.filled(piece)),
      }));
      raid.check(await raid.make(plan, { FOREIGN: foreign }));
      expect(raid.secretHeard).toContain(TOKEN);
      // No request that the host has got names another one, or has the value of another world.
      expect(raid.otherHosts()).toEqual([]);
      expect(raid.secretHeard).not.toContain(OTHER);
    });

    test(`by ${http2.length} connections of HTTP/2`, async () => {
      const raid = await new Raid(way).open();
      const [, port] = raid.ports;
      for (const { name, answer } of http2) if (answer) raid.answers2.set(name.slice(4).replace(/\W+/g, '-'), answer);
      const foreign = await foreignStandIn(raid);
      const plan = http2.map(({ name, frames }) => ({
        id: idOf(name),
        host: HOST,
        port,
        alpn: ['h2'],
        wait: 1.5,
        frames: JSON.parse(raid.filled(JSON.stringify(frames))),
      }));
      raid.check(await raid.make(plan, { FOREIGN: foreign }));
      expect(raid.secretHeard).toContain(TOKEN);
      expect(raid.otherHosts()).toEqual([]);
      expect(raid.secretHeard).not.toContain(OTHER);
    });

    test(`by ${connections.length} ways to a host`, async () => {
      const raid = await new Raid(way).open();
      const [raw, , leak, leakTls, other, plain] = raid.ports;
      const ports = { secret: raw, leak, 'leak-tls': leakTls, other, plain };
      const plan = connections.map(({ name, host = HOST, at = 'secret', send, before, ...more }) => ({
        id: idOf(name),
        host,
        port: ports[at],
        wait: 1.5,
        ...more,
        ...(before && { before: raid.filled(before) }),
        send: (send ?? ['GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Key: {TOKEN}\r\n\r\n']).map((piece) => raid.filled(piece)),
      }));
      raid.check(await raid.make(plan));
    });

    test(`by ${processes.length} deeds of processes`, async () => {
      const raid = await new Raid(way).open();
      compile(join(raid.place, 'reach'));
      const deeds = processes.map(({ name, script, ends = false }) => {
        writeFileSync(join(raid.place, `${idOf(name)}.sh`), script);
        return { ends, line: `timeout 30 bash ${idOf(name)}.sh >out/${idOf(name)} 2>&1\n` };
      });
      const lines = (which: boolean) => deeds.flatMap(({ ends, line }) => (ends === which ? [line] : [])).join('');
      // The host and the gate exist as long as this command runs, and the gate has the value.
      const first = 'mkdir out; curl -s -H "X-Key: $TOKEN" "https://$SECRET_HOST/echo"\n';
      const command = `${first}${lines(false)}echo done\n${lines(true)}`;
      const result = await raid.run(command, { HOST_PID: `${process.pid}`, GATE_PID: `${process.pid + 1}` });
      expect(result.stdout, result.stderr).toContain('done');
      expect(raid.secretHeard).toContain(TOKEN);
      expect(exposes(Buffer.from(JSON.stringify(result)))).toBe(false);
      const got = new Map(
        processes.map(({ name }): [string, Buffer] => {
          const path = join(raid.place, 'out', idOf(name));
          return [idOf(name), existsSync(path) ? readFileSync(path) : Buffer.alloc(0)];
        }),
      );
      raid.check(got);
      const taken = [...got].filter(([, bytes]) => bytes.includes('PWNED: descriptor') && !bytes.includes('of self'));
      for (const [id, bytes] of taken) expect(strangers(bytes.toString()), id).toEqual([]);
    });
  },
);

/** The processes of which descriptors were taken that are none of the command: here those with the lowest numbers. */
function strangers(text: string): string[] {
  return [...text.matchAll(/descriptor \d+ of (\d+)/g)].map(([, pid]) => pid ?? '').filter((pid) => Number(pid) <= 1);
}

/** The stand-in of the same secret in another world that lives on. */
async function foreignStandIn(raid: Raid): Promise<string> {
  const options = { cwd: folder(), confine: raid.confine, safety: 'off' };
  const other = nodeHost(
    `const { stdout } = await bash('echo $TOKEN', ${JSON.stringify(options)});
     console.log('stand-in', stdout.trim());
     setInterval(() => undefined, 1000);`,
    { env: { SSL_CERT_FILE: AUTHORITY, ...raid.way } },
  );
  onTestFinished(() => void other.process.kill('SIGKILL'));
  return (await other.says(/stand-in (\S+)/))[1] ?? '';
}
