import type { Actor } from 'agent-bash';
import type {
  Ask,
  Change,
  HostHello,
  HostMessage,
  Output,
  Pool,
  PoolPlace,
  Run,
  RunKind,
  Screen,
  UndoCover,
} from './protocol.ts';
import { readEnd } from './read-end.ts';
import {
  decimalOrNull,
  type Fields,
  fields,
  LAST_MS,
  LIST,
  list,
  NAME,
  number,
  numberOrNull,
  oneOf,
  text,
  textOrNull,
  texts,
} from './values.ts';

/**
 * Reads a line of a host. A field of a wrong type gets an empty value, so that the page only sees values of the
 * expected types. Returns `null` for a line that is not a message.
 */
export function readMessage(line: string): HostMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  const message = fields(value);
  if ('hello' in message) return { hello: hello(fields(message.hello)) };
  if ('re' in message) return reply(number(message.re), message);
  if ('error' in message) return { error: failure(message.error) };
  if ('state' in message) {
    const { runs, asks, pools } = fields(message.state);
    return { state: { runs: list(runs, run), asks: list(asks, ask), pools: list(pools, pool, POOLS) } };
  }
  if ('change' in message) return { change: change(fields(message.change)) };
  if ('output' in message) return { output: output(fields(message.output)) };
  if ('screen' in message) return { screen: screen(fields(message.screen)) };
  return null;
}

function hello({ protocol, pid, program, cwd, startedAt, version }: Fields): HostHello {
  return {
    protocol: number(protocol),
    pid: number(pid),
    program: text(program),
    cwd: text(cwd),
    startedAt: number(startedAt, LAST_MS),
    version: text(version),
  };
}

function reply(re: number, { error }: Fields): HostMessage {
  return error === undefined ? { re, ok: true } : { re, error: failure(error) };
}

function failure(value: unknown): { code: string; message: string } {
  const { code, message } = fields(value);
  return { code: text(code, NAME), message: text(message) };
}

const KINDS: RunKind[] = ['command', 'task', 'session', 'terminal'];

function actor(value: unknown): Actor | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Fields;
  const names = ['agent', 'session', 'toolCallId', 'user'] as const;
  return Object.fromEntries(
    names.filter((name) => typeof given[name] === 'string').map((name) => [name, text(given[name], 1_000)]),
  );
}

/** Returns a running command of which nothing else is known. */
export function bareRun(): Omit<Run, 'key'> {
  const { key: _, ...bare } = run({});
  return bare;
}

function run(given: Fields): Run {
  const waiting = given.state === 'waiting' ? fields(given.waiting) : null;
  return {
    key: text(given.key, NAME),
    runId: text(given.runId, NAME),
    kind: oneOf(given.kind, KINDS, 'command'),
    command: text(given.command),
    cwd: text(given.cwd),
    target: textOrNull(given.target, 1_000),
    actor: actor(given.actor),
    startedAt: number(given.startedAt, LAST_MS),
    state: waiting ? 'waiting' : 'running',
    waiting: waiting && {
      why: oneOf(waiting.why, ['prompt', 'stopped', 'input'], 'input'),
      text: text(waiting.text, 1_000),
    },
    lastLine: text(given.lastLine, 1_000),
    limitMs: numberOrNull(given.limitMs),
    idleMs: numberOrNull(given.idleMs),
    confinement: textOrNull(given.confinement),
    size: sizeOf(given.size),
    processes: numberOrNull(given.processes),
    cpuMs: numberOrNull(given.cpuMs),
    memory: numberOrNull(given.memory),
    pid: numberOrNull(given.pid),
    taskId: textOrNull(given.taskId, NAME),
    ports: list(
      given.ports,
      ({ port, address }) => ({ port: number(port, 65_535), address: text(address, NAME) }),
      100,
    ),
    undo: given.undo === true,
    stdin: given.stdin === true,
  };
}

function sizeOf(value: unknown): Run['size'] {
  const [columns, rows] = Array.isArray(value) ? value.map((cells) => numberOrNull(cells, CELLS)) : [];
  return columns != null && rows != null ? [columns, rows] : null;
}

function ask(given: Fields): Ask {
  return {
    key: text(given.key, NAME),
    command: text(given.command),
    cwd: text(given.cwd),
    actor: actor(given.actor),
    verdict: text(given.verdict, NAME),
    rules: texts(given.rules, 100),
    reasons: texts(given.reasons, 100),
    undo: given.undo === null ? null : oneOf<UndoCover>(given.undo, ['full', 'part', 'none'], 'none'),
    askedAt: number(given.askedAt, LAST_MS),
  };
}

/** Most pools of a host that are shown. */
export const POOLS = 20;
/** Most places of a pool that are shown. */
const PLACES = 200;

function pool(given: Fields): Pool {
  return {
    key: text(given.key, NAME),
    reportedAt: number(given.reportedAt, LAST_MS),
    perTarget: number(given.perTarget),
    waiting: number(given.waiting),
    places: list(given.places, place, PLACES),
    count: number(given.count),
  };
}

function place(given: Fields): PoolPlace {
  return {
    id: text(given.id, NAME),
    state: text(given.state, NAME),
    running: number(given.running),
    queued: number(given.queued),
    load: decimalOrNull(given.load) ?? 0,
    memoryFree: number(given.memoryFree),
    brokenUntil: numberOrNull(given.brokenUntil, LAST_MS),
  };
}

function change({ runs, ended: ends, asks, answered, pools, poolsGone }: Fields): Change {
  return {
    runs: list(runs, run),
    ended: list(ends, readEnd),
    asks: list(asks, ask),
    answered: texts(answered, LIST),
    pools: list(pools, pool, POOLS),
    poolsGone: texts(poolsGone, LIST),
  };
}

function output(given: Fields): Output {
  return {
    run: text(given.run, NAME),
    at: number(given.at),
    text: text(given.text, Number.POSITIVE_INFINITY),
    gap: number(given.gap),
    end: given.end === true,
  };
}

/** Most rows, and most columns, of a screen. */
const CELLS = 1_000;

function screen(given: Fields): Screen {
  const [row, column] = Array.isArray(given.cursor) ? given.cursor.map((at) => numberOrNull(at, CELLS)) : [];
  return {
    run: text(given.run, NAME),
    rows: number(given.rows, CELLS),
    columns: number(given.columns, CELLS),
    lines: texts(given.lines, CELLS),
    cursor: row != null && column != null ? [row, column] : null,
    title: text(given.title, 1_000),
    end: given.end === true,
  };
}
