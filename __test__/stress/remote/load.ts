import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BackgroundRegistry, BashSession, bash, type Target, type TargetEvent } from 'agent-bash';
import { expect } from 'vitest';
import { randomFrom } from '../../receipt/generated.ts';
import { finished, mark, sleepers, until } from '../../support/index.ts';

/** A bound in ms against a hang, for one call in a storm: it may wait through several cuts. */
const BOUND = 120_000;
/** Time in ms that a command has after an abort: its grace, and what is added to that. */
const ABORT = 2_000 + 1_000;
/** Slack in ms for two clocks of one machine, and for a busy one. */
const SLACK = 1_500;

/** A time without a link, in Unix time. */
export interface Cut {
  from: number;
  to: number;
}

/** A run of a command, for the notes about cuts. */
interface Seen {
  n: number;
  began: number;
  ended: number;
  /** When its first output was here, and its last was written there. */
  lines?: [number, number];
  noted: boolean;
}

/** A mixed load on a target. Each command has a number, and most append it to the file `log`. */
export class Load {
  over = false;
  /** How often a number must be in the log. */
  readonly logged = new Map<number, number[]>();
  readonly seen: Seen[] = [];
  readonly counts: Record<string, number> = {};
  readonly exits = new Map<string, number>();
  readonly sleeping: string[] = [];
  readonly cuts: Cut[] = [];
  readonly random: (below: number) => number;
  readonly registry: BackgroundRegistry;
  readonly #whole: Promise<string>;
  #last = 0;

  constructor(
    readonly target: Target,
    seed: number,
  ) {
    this.random = randomFrom(seed);
    this.registry = new BackgroundRegistry({ target, dir: 'tasks', maxTasks: 2_000 });
    this.registry.on('exit', ({ id }) => void this.exits.set(id, (this.exits.get(id) ?? 0) + 1));
    this.#whole = bash('seq 400000', { spill: false }).then(({ stdout }) => stdout);
    target.on('disconnected', ({ at }: TargetEvent) => void this.cuts.push({ from: at, to: Number.POSITIVE_INFINITY }));
    target.on('reconnected', ({ at }: TargetEvent) => {
      const last = this.cuts.at(-1);
      if (last) last.to = at;
    });
  }

  next(times: number[]): number {
    this.logged.set(++this.#last, times);
    return this.#last;
  }

  mark(): string {
    const seconds = mark();
    this.sleeping.push(seconds);
    return seconds;
  }

  /** Waits for a call, and fails if it hangs. */
  async settled<T>(what: string, call: Promise<T>): Promise<T> {
    const abort = new AbortController();
    const late = sleep(BOUND, undefined, { signal: abort.signal }).then(() => {
      throw new Error(`${what} has not settled within ${BOUND} ms; the target is ${this.target.state}`);
    });
    late.catch(() => {});
    try {
      return await Promise.race([call, late]);
    } catch (error) {
      throw new Error(`${what}: ${(error as Error).message}`, { cause: error });
    } finally {
      abort.abort();
    }
  }

  /** Runs a command, and keeps what is known of cuts meanwhile. */
  async run(n: number, command: string, options: Parameters<typeof bash>[1] = {}) {
    const began = Date.now();
    const result = await this.settled(command.slice(0, 100), bash(command, { target: this.target, ...options }));
    expect(result.status, `the status of ${command}: ${result.notes.join('; ')}`).not.toBe('lost');
    const noted = result.notes.some((note) => note.startsWith('the connection to the target was cut'));
    const seen: Seen = { n, began, ended: Date.now(), noted };
    this.seen.push(seen);
    return { result, seen };
  }

  /** The view of `seq 400000` on this machine. */
  whole(): Promise<string> {
    return this.#whole;
  }

  /** Runs one job of each kind. */
  async each(): Promise<void> {
    for (const job of Object.values(JOBS)) await job(this);
  }

  /** Runs jobs of all kinds, one after another, until the load is over. */
  async work(): Promise<void> {
    const kinds = Object.entries(JOBS);
    while (!this.over) {
      const [kind, job] = kinds[this.random(kinds.length)] as (typeof kinds)[number];
      await job(this);
      this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    }
  }
}

/** Checks that a run has a note if it saw a cut, and none if there was no cut. Returns how many certainly saw one. */
export function checkNotes(load: Load): number {
  let certain = 0;
  for (const { n, began, ended, lines, noted } of load.seen) {
    const near = load.cuts.some(({ from, to }) => from <= ended + SLACK && to >= began - SLACK);
    if (noted) expect(near, `the note of run ${n}`).toBe(true);
    const saw = lines && load.cuts.some(({ from }) => lines[0] < from - 50 && lines[1] > from + 50);
    if (!saw) continue;
    expect(noted, `run ${n} saw a cut and has no note`).toBe(true);
    certain++;
  }
  return certain;
}

/** A command without a listener. */
async function plain(load: Load): Promise<void> {
  const n = load.next([1]);
  const { result } = await load.run(n, `echo ${n} >> log; echo out ${n}; echo err ${n} >&2; exit ${n % 50}`);
  expect(result).toMatchObject({ status: 'exited', exitCode: n % 50, stdout: `out ${n}\n`, stderr: `err ${n}\n` });
}

/** A command whose output comes line by line. */
async function listened(load: Load): Promise<void> {
  const n = load.next([1]);
  const lines = 5 + load.random(60);
  let [text, first] = ['', 0];
  const onOutput = (chunk: { text: string }) => {
    first ||= Date.now();
    text += chunk.text;
  };
  const line = `echo "$i $EPOCHREALTIME"; sleep 0.0${load.random(9)}`;
  const command = `echo ${n} >> log; for ((i = 1; i <= ${lines}; i++)); do ${line}; done; exit ${n % 50}`;
  const { result, seen } = await load.run(n, command, { onOutput });
  expect(result).toMatchObject({ status: 'exited', exitCode: n % 50 });
  expect(text).toBe(result.stdout);
  const said = result.stdout.trimEnd().split('\n');
  expect(said.map((line) => Number(line.split(' ')[0]))).toStrictEqual(said.map((_, index) => index + 1));
  expect(said.length).toBe(lines);
  seen.lines = [first, 1_000 * Number(said.at(-1)?.split(' ')[1])];
}

/** Several MB, of which the result has the end. */
async function large(load: Load): Promise<void> {
  const n = load.next([1]);
  const { result } = await load.run(n, `echo ${n} >> log; seq 400000`, { spill: false });
  expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
  expect(result.stdout === (await load.whole()), `the view of ${n}`).toBe(true);
}

/** A listener that takes its time. */
async function slow(load: Load): Promise<void> {
  const n = load.next([1]);
  const lines = 20_000 + load.random(60_000);
  const hash = createHash('sha1');
  const onOutput = async ({ text }: { text: string }) => {
    hash.update(text);
    await sleep(load.random(4));
  };
  const { result } = await load.run(n, `echo ${n} >> log; seq ${lines}`, { onOutput, spill: false });
  expect(result).toMatchObject({ status: 'exited', exitCode: 0 });
  const whole = createHash('sha1');
  for (let line = 1; line <= lines; line++) whole.update(`${line}\n`);
  expect(hash.digest('hex'), `all output of ${n}`).toBe(whole.digest('hex'));
}

/** Much input. */
async function fed(load: Load): Promise<void> {
  const n = load.next([1]);
  const stdin = `${n} `.repeat(20_000 + load.random(60_000));
  const { result } = await load.run(n, `echo ${n} >> log; md5sum`, { stdin });
  expect(result.stdout).toBe(`${createHash('md5').update(stdin).digest('hex')}  -\n`);
}

/** A command that is aborted at a random moment. */
async function aborted(load: Load): Promise<void> {
  const n = load.next([0, 1]);
  const seconds = load.mark();
  const abort = new AbortController();
  const ran = load.run(n, `echo ${n} >> log; setsid sleep ${seconds} & sleep ${seconds}`, { signal: abort.signal });
  ran.catch(() => {});
  await sleep(load.random(600));
  const start = performance.now();
  abort.abort();
  const { result } = await ran;
  expect(performance.now() - start, `the time of the abort of ${n}`).toBeLessThan(ABORT + SLACK);
  expect(result).toMatchObject({ status: 'aborted', target: 'there' });
  // Without an answer it is not known whether it has begun.
  const unknown = result.notes.some((note) => note.startsWith('the target does not answer'));
  if (result.pid === 0 && !unknown) load.logged.set(n, [0]);
}

/** A command that reaches its time limit. */
async function timed(load: Load): Promise<void> {
  const n = load.next([1]);
  const seconds = load.mark();
  const { result } = await load.run(n, `echo ${n} >> log; sleep ${seconds}`, { timeoutMs: 300 + load.random(500) });
  expect(result).toMatchObject({ status: 'timed-out', exitCode: 124 });
  expect(sleepers(seconds)).toStrictEqual([]);
}

/** Files. */
async function files(load: Load): Promise<void> {
  const { target } = load;
  const n = load.next([0]);
  const path = `files/${n}/data`;
  const bytes = Buffer.alloc(load.random(60_000) * 25, `${n} `);
  await load.settled(`writing ${path}`, target.writeFile(path, bytes, { mode: 0o600 }));
  const read = await load.settled(`reading ${path}`, target.readFile(path));
  expect(read && bytes.equals(read), `the content of ${path}`).toBe(true);
  expect(await load.settled('stat', target.stat(path))).toMatchObject({ bytes: bytes.length, mode: 0o600 });
  expect(await load.settled('list', target.list(`files/${n}`))).toStrictEqual([{ name: 'data', kind: 'file' }]);
  expect(await load.settled('remove', target.remove(path))).toBe(true);
  expect(await load.settled('stat', target.stat(path))).toBeNull();
}

/** A task of a registry with a directory, to its end. */
async function task(load: Load): Promise<void> {
  const { registry } = load;
  const n = load.next([1]);
  const command = `echo ${n} >> log; for i in 1 2 3 4 5; do echo "${n} $i"; sleep 0.1; done; exit ${n % 50}`;
  const started = await load.settled(`starting ${n}`, registry.start(command));
  const { task: ended, output } = await load.settled(`waiting for ${n}`, registry.wait(started));
  expect(ended).toMatchObject({ state: 'exited', exitCode: n % 50, target: 'there' });
  const lines = [1, 2, 3, 4, 5].map((i) => `${n} ${i}\n`).join('');
  expect(output.slice(0, lines.length), `the output of task ${n}`).toBe(lines);
  await until(() => load.exits.has(started.id), `the end of ${n} is told`);
}

/** A task that is ended. */
async function killed(load: Load): Promise<void> {
  const { registry } = load;
  const n = load.next([1]);
  const seconds = load.mark();
  const command = `echo ${n} >> log; echo ready; setsid sleep ${seconds} & sleep ${seconds}`;
  const started = await load.settled(`starting ${n}`, registry.start(command));
  const ready = await load.settled(`waiting for ${n}`, registry.wait(started, { pattern: 'ready' }));
  expect(ready).toMatchObject({ matched: true });
  const { task: ended } = await load.settled(`killing ${n}`, registry.kill(started));
  expect(ended).toMatchObject({ state: 'killed' });
  expect(sleepers(seconds)).toStrictEqual([]);
}

/** Requests through a forwarded port. One fails only if the link was cut meanwhile. */
async function forwarded(load: Load): Promise<void> {
  const n = load.next([0]);
  const body = `${n} `.repeat(load.random(60_000));
  const server = createServer((_, response) => response.end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  finished(() => void server.close());
  const there = (server.address() as AddressInfo).port;
  const { url, close } = await load.settled('forward', load.target.forward(there));
  for (let left = 3; left > 0; ) {
    const began = Date.now();
    const get = async () => (await fetch(url, { headers: { connection: 'close' } })).text();
    const text = await load.settled(`a request to ${url}`, get()).catch((error: Error) => error);
    if (text === body) {
      left--;
      continue;
    }
    if (!(text instanceof Error)) throw new Error(`the answer of ${n} has ${text.length} of ${body.length} bytes`);
    const cut = () => load.cuts.some(({ to }) => to >= began - SLACK);
    await until(cut, `a cut explains ${text.message} ${(text.cause as Error | undefined)?.message}`, SLACK);
  }
  await load.settled('closing a port', close());
  server.close();
}

const JOBS = { plain, listened, large, slow, fed, aborted, timed, files, task, killed, forwarded };

/** Runs the commands of one session until the load is over: its state is what the earlier ones have left. */
export async function inSession(load: Load): Promise<void> {
  await using session = new BashSession({ target: load.target });
  await load.settled('mkdir', session.run('mkdir d0 d1 d2; i=0'));
  const home = load.target.info.home;
  for (let i = 1; !load.over; i++) {
    const n = load.next([1]);
    const command = `echo ${n} >> ~/log; i=$((i + 1)); cd ~/d${i % 3}; echo $i; (exit ${i % 5})`;
    const result = await load.settled(`${n} in a session`, session.run(command));
    const notes = result.notes.join('; ');
    expect(result, notes).toMatchObject({ status: 'exited', stdout: `${i}\n`, exitCode: i % 5 });
    expect(result.cwd).toBe(`${home}/d${i % 3}`);
    load.counts.session = i;
    await sleep(load.random(50));
  }
}
