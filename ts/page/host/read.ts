import type { Actor } from 'agent-bash';
import type { Ask, Change, HostHello, HostMessage, Output, Run, RunKind, Screen, UndoCover } from './protocol.ts';
import { readEnd } from './read-end.ts';
import { type Fields, fields, LIST, list, number, numberOrNull, oneOf, text, textOrNull, texts } from './values.ts';

/**
 * Reads a line of a host. A field of another type has its empty value, so that a page never shows what it did not
 * expect. Returns `null` for a line that is no message.
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
  if ('re' in message) return reply(number(message.re, -1), message);
  if ('error' in message) return { error: failure(message.error) };
  if ('state' in message) {
    const { runs, asks } = fields(message.state);
    return { state: { runs: list(runs, run), asks: list(asks, ask) } };
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
    startedAt: number(startedAt),
    version: text(version),
  };
}

function reply(re: number, { error }: Fields): HostMessage {
  return error === undefined ? { re, ok: true } : { re, error: failure(error) };
}

function failure(value: unknown): { code: string; message: string } {
  const { code, message } = fields(value);
  return { code: text(code, 100), message: text(message) };
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

function run(given: Fields): Run {
  const waiting = given.state === 'waiting' ? fields(given.waiting) : null;
  return {
    key: text(given.key),
    runId: text(given.runId),
    kind: oneOf(given.kind, KINDS, 'command'),
    command: text(given.command),
    cwd: text(given.cwd),
    actor: actor(given.actor),
    startedAt: number(given.startedAt),
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
    taskId: textOrNull(given.taskId),
    ports: list(given.ports, ({ port, address }) => ({ port: number(port), address: text(address, 100) }), 100),
    undo: given.undo === true,
    stdin: given.stdin === true,
  };
}

function sizeOf(value: unknown): Run['size'] {
  const [columns, rows] = Array.isArray(value) ? value : [];
  return typeof columns === 'number' && typeof rows === 'number' ? [columns, rows] : null;
}

function ask(given: Fields): Ask {
  return {
    key: text(given.key),
    command: text(given.command),
    cwd: text(given.cwd),
    actor: actor(given.actor),
    verdict: text(given.verdict, 100),
    rules: texts(given.rules, 100),
    reasons: texts(given.reasons, 100),
    undo: given.undo === null ? null : oneOf<UndoCover>(given.undo, ['full', 'part', 'none'], 'none'),
    askedAt: number(given.askedAt),
  };
}

function change({ runs, ended: ends, asks, answered }: Fields): Change {
  return {
    runs: list(runs, run),
    ended: list(ends, readEnd),
    asks: list(asks, ask),
    answered: texts(answered, LIST),
  };
}

function output(given: Fields): Output {
  return {
    run: text(given.run),
    at: number(given.at),
    text: text(given.text, Number.POSITIVE_INFINITY),
    gap: Math.max(0, number(given.gap)),
    end: given.end === true,
  };
}

/** Rows and columns of a screen at most. */
const CELLS = 1_000;

function screen(given: Fields): Screen {
  const cursor = Array.isArray(given.cursor) ? given.cursor.map((at) => number(at, -1)) : [];
  const [row = -1, column = -1] = cursor;
  return {
    run: text(given.run),
    rows: Math.min(CELLS, number(given.rows)),
    columns: Math.min(CELLS, number(given.columns)),
    lines: texts(given.lines, CELLS),
    cursor: row >= 0 && column >= 0 ? [row, column] : null,
    title: text(given.title, 1_000),
  };
}
